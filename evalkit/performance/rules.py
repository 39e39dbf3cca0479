"""Why: what must hold between the keys of a manifest, beyond each key's own kind; each rule is one function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from evalkit.performance.case import Case
from evalkit.reading import Table, did_you_mean, printable

__all__ = ["check_rules"]

_NOT_METERED = "it belongs to types that a person or another tool judges, and here fuel is the whole result"
REFUSED = {
    "simulation": _NOT_METERED,
    "match": "solutions are never paired here: each is measured alone, on the declared inputs",
    "replay": "nothing is played: a solution is called once for each input",
    "canvas": _NOT_METERED,
    "tool": _NOT_METERED,
    "output": "the answer's shape is [contract].output, and its size [sandbox].max_output_bytes",
    "check": "correctness is the [[case]] rows with their expected answers, or [contract].checker",
    "domain": "no person rates it: correctness and fuel are the whole result",
    "review_item": "no person reviews it: correctness and fuel are the whole result",
}
"""The tables that a performance case may not have, and why."""


def check_rules(case: Case, manifest: Table) -> None:
    """Record every rule that the case breaks, at the manifest key where its author mends it."""
    if case.is_performance:
        _refuses_reviewed_tables(manifest)
        _is_complete(case, manifest)
        _names_are_unique("case", "name", [row.name for row in case.inputs], manifest)
        _runways_narrow(case, manifest)
    else:
        _is_meant_as_reviewed(case, manifest)
        _names_are_unique("domain", "slug", [domain.slug for domain in case.domains], manifest)
        _names_are_unique("review_item", "slug", [item.slug for item in case.review_items], manifest)
        _items_have_domains(case, manifest)
    _variants_are_unique(case, manifest)
    _specs_have_their_own_place(case, manifest)
    if printable(case.version) != case.version:
        manifest.error("", f'the folder name "{case.version}" is the version, and cannot be shown: rename the folder')


def _refuses_reviewed_tables(manifest: Table) -> None:
    for key, why in REFUSED.items():
        manifest.accept(key, offer=False)
        if key in manifest:
            manifest.error(key, f"a performance case has no such table: {why}; remove it")


def _is_complete(case: Case, manifest: Table) -> None:
    for key, keys in (
        ("build", "build and module"), ("contract", "entry"), ("sandbox", "fuel_limit and max_memory_bytes"),
    ):  # fmt: skip
        if key not in manifest:
            manifest.error(key, f"is missing: a performance case needs a [{key}] table with {keys}")
    if not case.stress and ("case" not in manifest or manifest.holds_tables("case")):
        manifest.error(
            "case",
            "no stress input: add at least one [[case]] with input and expected that is not smoke, "
            "for its fuel is the score",
        )


def _names_are_unique(table: str, key: str, names: list[str], manifest: Table) -> None:
    first: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if name and first.setdefault(name, place) != place:
            what = f'"{name}" is taken by {table}#{first[name]}: give each its own {key}'
            manifest.error(f"{table}#{place}.{key}", what)


def _runways_narrow(case: Case, manifest: Table) -> None:
    seen = []
    for place, row in enumerate(case.inputs, 1):
        limit = case.runway_limit(row) if case.sandbox else 0
        if limit >= 2**63:
            manifest.error(
                f"case#{place}.fuel_runway", "the ceiling times this runway is beyond 2^63: lower one of them"
            )
        if row.kind == "stress" and row.input != case.root:
            seen.append((row.input.stat().st_size, row.fuel_runway, row.name, place))
    for size, runway, _, place in seen:
        narrower = [other for other in seen if other[0] < size and other[1] < runway]
        if narrower:
            _, least, name, _ = min(narrower, key=lambda other: other[1])
            what = f'{runway:g} is wider than the {least:g} of the smaller input "{name}": larger inputs want narrower'
            manifest.warning(f"case#{place}.fuel_runway", what)


def _is_meant_as_reviewed(case: Case, manifest: Table) -> None:
    if "case" in manifest:
        manifest.warning("case", 'is not read: only a case of type "performance" is run on inputs')
    if case.type and not case.domains and not case.review_items:
        manifest.warning("domain", "no domain and no review item: a review of this case could have no score")


def _items_have_domains(case: Case, manifest: Table) -> None:
    slugs = [domain.slug for domain in case.domains]
    for place, item in enumerate(case.review_items, 1):
        if item.domain and item.domain not in slugs:
            known = did_you_mean(item.domain, slugs) or f": it has {', '.join(slugs) or 'none'}"
            manifest.error(f"review_item#{place}.domain", f'the case has no domain "{item.domain}"{known}')


def _variants_are_unique(case: Case, manifest: Table) -> None:
    for slug in _repeated(variant.slug for variant in case.variants):
        manifest.error("variants", f'two variants have the slug "{slug}": runs could not be told apart')


def _specs_have_their_own_place(case: Case, manifest: Table) -> None:
    common = [spec.dest for spec in case.specs if spec.source != case.root]
    for dest in _repeated(common):
        manifest.error("spec", f'two specs go to "{dest}": give one another dest')
    for variant in case.variants:
        own = [spec.dest for spec in variant.spec if spec.source != case.root]
        for dest in _repeated([*own, *set(common)]):
            manifest.error("variants", f'variant "{variant.slug}" puts two specs at "{dest}": give one another dest')


def _repeated(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if name and count > 1]
