"""Why: a report's page around the notebook's cells: quiet type, one column, no request, and fit for paper."""

from __future__ import annotations

__all__ = ["CONFIG", "POLICY", "STYLE"]

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:"
)
"""The browser itself refuses any request; Vega compiles its expressions, hence `unsafe-eval`."""

CONFIG = {
    "style": {
        "guide-label": {"fill": "#4a4f57"},
        "guide-title": {"fill": "#4a4f57"},
        "group-title": {"fill": "#1c1f24"},
        "group-subtitle": {"fill": "#5d636c"},
    },
    "axis": {"gridColor": "#d9dce1", "tickColor": "#b6bbc3"},
    "text": {"color": "#24272d"},
}
"""Ink of the charts on this page; the theme leaves it to the page."""

STYLE = """
:root, :root.dark, select, input, textarea, button { color-scheme: light only !important; }
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: #24272d; font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto,
  "Helvetica Neue", Arial, sans-serif; }
main { max-width: 980px; margin: 0 auto; padding: 2.5rem 2rem 1rem; }
h1, h2, h3 { line-height: 1.25; color: #14161a; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; margin: 0 0 .4rem; }
h2 { font-size: 1.22rem; margin: 2.4rem 0 .5rem; padding-top: 1.1rem; border-top: 1px solid #e3e5e9; }
h3 { font-size: 1.02rem; margin: 1.6rem 0 .4rem; }
p { margin: .4rem 0 .8rem; max-width: 46rem; overflow-wrap: anywhere; }
code { font: .88em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: #f3f4f6;
  padding: .1em .35em; border-radius: 3px; }
pre { font: 12.5px/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-x: auto;
  white-space: pre-wrap; overflow-wrap: anywhere; }
main:has(.evk-title) > .cell:first-child h1 { font-size: .82rem; font-weight: 600; letter-spacing: .08em;
  text-transform: uppercase; color: #6b7079; margin-bottom: .2rem; }
.anchor-link { display: none; }
.evk-lead { color: #555b64; }
.chart { margin: 1rem 0 1.4rem; overflow-x: auto; }
.chart.vega-embed, .chart .vega-embed { display: block; width: 100%; padding-right: 0 !important; }
.chart svg { display: block; max-width: 100%; height: auto; }
.chart form.vega-bindings { font-size: 13px; margin-top: .6rem; display: grid; gap: .25rem 1.6rem; max-width: 46rem;
  grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); }
.chart form.vega-bindings:has(.vega-bind)::before { grid-column: 1 / -1; color: #5d636c;
  content: "Controls of the chart above; opening the page again brings the official rules back."; }
.vega-bind, .vega-bind label { min-width: 0; }
.vega-bind label { display: flex; align-items: center; gap: .6em; }
.vega-bind .vega-bind-name { flex: 0 0 10.5rem; overflow-wrap: anywhere; }
.vega-bind input[type=range] { flex: 1; min-width: 3rem; }
#vg-tooltip-element.vg-tooltip { font: 12.5px/1.45 inherit; max-width: 30rem; overflow-wrap: anywhere; }
#vg-tooltip-element.vg-tooltip table tr td.value { max-width: 22rem; max-height: none; white-space: normal; }
.evk-wrap .dt-search { text-align: left; font-size: 13px; margin-bottom: .4rem; }
.evk-wrap .dt-search input { font: inherit; padding: .25em .5em; border: 1px solid #c4c8ce; border-radius: 4px; }
table.evk { width: auto; max-width: 100%; }
.output_error pre { color: #9c1f1f; }
footer { max-width: 980px; margin: 2rem auto 0; padding: 1rem 2rem 2.5rem; font-size: 12.5px; color: #555b64; }
footer h2 { font-size: .95rem; margin: 0 0 .6rem; }
table.evk-facts { border-collapse: collapse; margin: 0 0 1rem; font-size: 12.5px; }
table.evk-facts td { padding: .1rem 1.2rem .1rem 0; vertical-align: top; overflow-wrap: anywhere; }
table.evk-facts td:first-child { color: #6b7079; white-space: nowrap; }
@media screen and (max-width: 760px) { main { padding: 1.4rem 1rem .5rem; } footer { padding: 1rem; } }
@page { margin: 16mm 14mm; }
@media print { body { font-size: 10.5pt; } main, footer { max-width: none; padding: 0; }
  h1, h2, h3, h2 + p, h3 + p, .text_cell:has(h2, h3) { break-after: avoid; }
  .text_cell:has(h2, h3) { break-inside: avoid; }
  .text_cell:has(h2, h3)::after { content: ""; display: block; height: 11rem; margin-bottom: -11rem; }
  .dt-container, .dt-container div:not(.dt-search) { display: block !important; overflow: visible !important; }
  .chart, tr, footer { break-inside: avoid; } .chart, .evk-wrap { overflow: visible; }
  .chart svg { min-width: 0 !important; } .evk-wrap { container-type: normal !important; }
  table.evk caption span { max-width: none !important; }
  table.evk { font-size: 8pt !important; } table.evk th, table.evk td { padding: .2em .4em !important; }
  table.evk { width: auto !important; max-width: 100%; }
  table.evk th, table.evk td { min-width: 0 !important; white-space: normal !important; }
  table.evk td.t { min-width: 8em !important; } table.evk td.p { min-width: 14em !important; }
  table.evk td.n, table.evk td.w { white-space: nowrap !important; } table.evk thead { display: table-header-group; }
  table.evk caption, table.evk caption span, table.evk thead { break-after: avoid; break-inside: avoid; }
  table.evk caption span { position: static; } table.evk tbody tr:first-child { break-before: avoid; }
  table.evk-short { break-inside: avoid; }
  .dt-search, .vega-bindings, .dt-column-order { display: none !important; } }
"""
