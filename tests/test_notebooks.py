"""Notebooks: parameters are refused before a kernel starts, a failing cell is one line, a report is offline."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest

import evalkit
from evalkit.errors import AuthoringError, EvalkitError, MachineError, StoreError, UsageError
from evalkit.notebooks import (
    SCHEMAS,
    check_parameters,
    data_facts,
    export_html,
    find_notebook,
    machine_facts,
    report,
    run_notebook,
)
from evalkit.notebooks.provenance import public_name
from tests import made_up_runs as made

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"

REPORT = """
import sys
sys.path.insert(0, {tests!r})
from tests import made_up_runs as made
from evalkit.views import charts, frames, prose, tables
tables.interactive()
runs, case = made.{runs}(), made.case(name=made.HOSTILE[0], summary=made.HOSTILE[1])
board, run = made.board(runs), frames.chosen_run(runs)
place = made.place(runs, run.run_id)
display(prose.heading(case), prose.rules(case), prose.finding(board), charts.leaderboard(board))
display(charts.fuel_per_input(frames.one_per_model(runs)), charts.worst_overshoots(runs), charts.overshoot(run))
display(charts.placement(board, run, place), tables.leaderboard(board), *tables.results(run), tables.runs(runs * 2))
print(made.HOSTILE)
"""


@pytest.fixture(autouse=True, scope="session")
def _this_checkout(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Kernels import the package under test, and the Vega bundle is not kept in the home of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(evalkit.__file__).parents[1]))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def write(path: Path, *sources: str) -> Path:
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("report")
    source = write(folder / "made_up.ipynb", REPORT.format(tests=str(Path(__file__).parent), runs="hostile"))
    executed = run_notebook(source, {}, folder / "out" / "done.ipynb")
    return export_html(executed, folder / "out" / "done.html", title=made.HOSTILE[0]).read_text(encoding="utf-8")


# Parameters -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"cas": "x"}, "did you mean 'case'?"),
        ({"case": 3}, "case: takes str, not int 3"),
        ({"case": " "}, "case: is empty"),
        ({"case": None}, "case: takes str, not NoneType"),
        ({"jobs": "2"}, "jobs: takes int, not str '2'"),
        ({"jobs": True}, "jobs: takes int, not bool True"),
        ({"jobs": 0}, "jobs: is 0, and must be at least 1"),
        ({"solutions": "one"}, "solutions: takes list[str] or None, not str"),
        ({"solutions": ["a", 1]}, "solutions: takes list[str]"),
    ],
)
def test_a_wrong_parameter_is_one_line_that_says_what_would_fit(values: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_parameters("10_sweep_case", values)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_all_faults_are_told_together() -> None:
    with pytest.raises(UsageError, match=r"'job'.*attempts: is 0"):
        check_parameters("sweep_case", {"job": 1, "attempts": 0})


def test_values_become_plain_python_and_the_rest_takes_its_default() -> None:
    values = check_parameters("sweep_case", {"jobs": np.int64(3), "solutions": (Path("a"), "b")})
    assert values["jobs"] == 3 and type(values["jobs"]) is int
    assert values["solutions"] == ["a", "b"]
    assert values["attempts"] == 1 and values["store"] is None


def test_an_unknown_notebook_gets_a_did_you_mean() -> None:
    with pytest.raises(UsageError, match="did you mean '20_case_report'"):
        check_parameters("20_case_reprot", {})
    with pytest.raises(UsageError, match="did you mean 'case_report'"):
        find_notebook("case_rport")
    with pytest.raises(UsageError, match="no notebook at"):
        find_notebook("nowhere/x.ipynb")


def test_a_bad_parameter_is_refused_before_a_kernel_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "papermill", None)  # importing it now would fail
    with pytest.raises(UsageError, match="did you mean 'store'"):
        run_notebook("case_report", {"stor": "x"}, tmp_path / "out.ipynb")
    with pytest.raises(UsageError, match="takes no 'x'"):
        run_notebook(write(tmp_path / "mine.ipynb", "1"), {"x": 1}, tmp_path / "out.ipynb")
    assert not (tmp_path / "out.ipynb").exists()


def test_output_never_overwrites_its_source(tmp_path: Path) -> None:
    source = write(tmp_path / "mine.ipynb", "1")
    with pytest.raises(UsageError, match="overwrite"):
        run_notebook(source, {}, source)
    with pytest.raises(UsageError, match=r"\.ipynb file"):
        run_notebook(source, {}, tmp_path / "out.html")
    with pytest.raises(UsageError, match=r"\.html file"):
        report("belts", None, tmp_path / "out.pdf")
    with pytest.raises(UsageError, match="no report of kind 'sason'"):
        report("belts", None, kind="sason")


# Running --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "kind", "said"),
    [
        ("1 / 0", MachineError, "ZeroDivisionError: division by zero"),
        (
            "from evalkit.errors import AuthoringError\nraise AuthoringError('a\\nb')",
            AuthoringError,
            "AuthoringError: a b",
        ),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", MachineError, "could not be run"),
    ],
)
def test_a_failing_cell_is_one_line_that_says_where(
    tmp_path: Path, source: str, kind: type[EvalkitError], said: str
) -> None:
    target = tmp_path / "out.ipynb"
    with pytest.raises(kind) as caught:
        run_notebook(write(tmp_path / "bad.ipynb", "x = 1", source), {}, target)
    line = str(caught.value)
    assert type(caught.value) is kind
    assert str(target) in line and said in line and "\n" not in line
    if "could not" not in said:
        assert "cell 2 (In [2]) failed" in line
        assert target.is_file()


def test_kernels_use_no_ports_and_leave_no_folder_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "t") if len(str(tmp_path)) < 55 else None)
    code = "import json, ipykernel\nprint(json.load(open(ipykernel.get_connection_file()))['transport'])"
    done = nbformat.read(run_notebook(write(tmp_path / "mine.ipynb", code), {}, tmp_path / "out.ipynb"), 4)
    assert done.cells[0].outputs[0].text.strip() == "ipc"
    assert not list((tmp_path / "t").glob("evk-*"))
    assert done.metadata["evalkit"]["python"]


def test_running_writes_nothing_to_the_terminal(tmp_path: Path) -> None:
    write(tmp_path / "mine.ipynb", "1")
    line = "import sys; from evalkit.notebooks import run_notebook; run_notebook('mine.ipynb', {}, 'out.ipynb')"
    done = subprocess.run([sys.executable, "-c", line], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert done.stderr == ""


# The page -------------------------------------------------------------------------------------------------------------


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.scripts = 0
        self.handlers: list[str] = []
        self.tags: set[str] = set()
        self.shown: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.scripts += tag == "script"
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self.sources += [
            value or ""
            for name, value in attrs
            if name in ("src", "srcset", "data", "action") or (tag, name) == ("link", "href")
        ]

    def handle_data(self, data: str) -> None:
        self.shown.append(data)


def test_the_page_asks_for_nothing(page: str) -> None:
    read = _Page(page)
    assert not read.sources
    assert not read.tags & {"img", "link", "iframe", "object", "embed", "base"}
    assert "default-src &#x27;none&#x27;" in page
    outside = page[page.index("</head>\n<body>") :]
    assert not re.findall(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//|@import|url\(""", outside)
    assert "unpkg" not in page and "cdn." not in page


def test_the_page_carries_vega_once_and_stays_small(page: str) -> None:
    assert len(re.findall(r"window\.vegaEmbed\s*=[^=]", page)) == 1
    assert page.index("window.vegaEmbed") < page.index("</head>\n<body>") < page.index("vegaEmbed(")
    assert page.count('vegaEmbed("#chart-') == 5
    assert 800_000 < len(page.encode()) < 2_000_000


def test_hostile_names_are_inert(page: str) -> None:
    read = _Page(page)
    own = page.count("<script>") + page.count('<script type="module">')
    assert (
        read.scripts == own == 1 + 1 + 2 + 5 + 1
    )  # Vega, inflate, sorting and the table bundle, five charts, a long table
    assert page.count("</script>") == own
    assert read.handlers == []
    assert any("window.pwned=1" in text for text in read.shown)
    body = page[page.index("</head>\n<body>") :]  # the Vega bundle before it may hold any text
    assert "<script>window.pwned" not in page and "<img" not in body
    assert "\x1b" not in page and "\u202e" not in page
    assert page.count("<!--") == 0


def test_the_page_says_how_it_was_made(page: str) -> None:
    footer = page[page.index("<footer>") :]
    for word in ("made", "command", "made_up.ipynb, SHA-256", "wasmtime", "python", "platform"):
        assert word in footer
    assert str(Path(__file__).parents[1]) not in footer


def test_widgets_become_a_sentence_and_errors_stay_visible(tmp_path: Path) -> None:
    view = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "IntSlider()"}
    cell = nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("display_data", view)])
    node = nbformat.v4.new_notebook(
        cells=[cell], metadata={"widgets": {"application/vnd.jupyter.widget-state+json": {"state": {}}}}
    )
    nbformat.write(node, tmp_path / "w.ipynb")
    text = export_html(tmp_path / "w.ipynb", tmp_path / "w.html").read_text(encoding="utf-8")
    assert "open it in JupyterLab" in text and "widget-state" not in text
    assert "vegaEmbed" not in text  # no chart, no bundle


def test_what_is_no_notebook_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.ipynb").write_text("not json")
    with pytest.raises(UsageError, match="cannot be read as a notebook"):
        export_html(tmp_path / "x.ipynb", tmp_path / "x.html")
    (tmp_path / "file").write_text("")
    write(tmp_path / "y.ipynb", "1")
    with pytest.raises(MachineError, match="cannot write"):
        export_html(tmp_path / "y.ipynb", tmp_path / "file" / "y.html")


# Provenance -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://me:secret@db.example:5432/runs?sslmode=require", "postgresql://db.example/runs"),
        ("sqlite:////home/me/data/runs.sqlite", "sqlite://runs.sqlite"),
        ("/home/me/evalkit", "evalkit"),
        ("/home/me/cases/lattice/v1.0.0", "lattice/v1.0.0"),
        ("data/runs.sqlite", "data/runs.sqlite"),
        ("--jobs=2", "--jobs=2"),
    ],
)
def test_names_are_shown_without_folders_or_passwords(text: str, shown: str) -> None:
    assert public_name(text) == shown


def test_facts_are_plain_json_and_name_the_packages() -> None:
    facts = machine_facts(
        None, {"store": "sqlite:////home/me/runs.sqlite", "jobs": 2}, ["/usr/bin/evalkit", "report", "x y"]
    )
    assert json.loads(json.dumps(facts)) == facts
    assert facts["command"] == "evalkit report 'x y'"
    assert facts["parameters"] == {"store": "sqlite://runs.sqlite", "jobs": 2}
    assert "altair" in facts["packages"]


def test_the_digest_over_runs_follows_content_and_not_order() -> None:
    runs, case = made.every_outcome(), made.case()
    first = data_facts(case, runs)["runs digest"]
    assert data_facts(case, runs[::-1])["runs digest"] == first
    assert data_facts(case, runs[1:])["runs digest"] != first


# The committed notebooks ----------------------------------------------------------------------------------------------


def _committed() -> list[Path]:
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def test_every_schema_has_its_notebook() -> None:
    assert set(SCHEMAS) <= {path.stem for path in _committed()}


@pytest.mark.parametrize("path", _committed(), ids=lambda path: path.stem)
def test_a_committed_notebook_is_short_clean_and_opens_with_a_question(path: Path) -> None:
    node = nbformat.read(path, as_version=4)
    nbformat.validate(node)
    assert re.match(r"\d\d_", path.stem)
    assert (node.nbformat, node.nbformat_minor) == (4, 5)
    assert len(node.cells) <= 15 and all(cell.id for cell in node.cells)
    code = [cell for cell in node.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    assert node.cells[0].cell_type == "markdown" and "?" in node.cells[0].source
    assert not any(re.search(r"^\s*(def|class|for|while|try)\b", cell.source, re.MULTILINE) for cell in code)


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_parameter_cell_and_the_schema_agree(name: str) -> None:
    node = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    (cell,) = [cell for cell in node.cells if "parameters" in cell.metadata.get("tags", [])]
    found: dict[str, Any] = {}
    exec(cell.source, {}, found)
    assert found == {parameter.name: parameter.default for parameter in SCHEMAS[name]}
    assert list(found) == [parameter.name for parameter in SCHEMAS[name]]
    assert check_parameters(name, found) == found
    assert any(f'check_parameters("{name}"' in other.source for other in node.cells)


@pytest.mark.skipif(not hasattr(evalkit, "open_results"), reason="needs the committed sample")
@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("01_start_here", {}, ""), ("02_case_results", {}, ""), ("03_watch_a_factory", {}, ""),
        ("06_what_if", {"what": "season-1", "changes": ["completion=90"]}, "first: "),
        ("07_compare_two", {"what": "season-1"}, "shared cells"),
        ("07_compare_two", {"what": "lattice"}, "Fuel is exact"), ("08_browse", {}, "runs are kept"),
    ],
)  # fmt: skip
def test_a_committed_notebook_runs_on_the_sample_and_ends_with_a_finding(
    name: str, values: dict[str, Any], said: str, tmp_path: Path
) -> None:
    done = nbformat.read(run_notebook(name, values, tmp_path / "out.ipynb"), 4)
    shown = " ".join(str(output.get("data", "")) for output in done.cells[-1].outputs)
    assert "Finding: " in shown and said.casefold() in shown.casefold()


@pytest.mark.skipif(not hasattr(evalkit, "open_results"), reason="needs the committed sample")
def test_the_case_report_of_the_sample_is_one_offline_page(tmp_path: Path) -> None:
    text = report("lattice", None, tmp_path / "r.html").read_text(encoding="utf-8")
    assert (tmp_path / "r.ipynb").is_file()
    assert not _Page(text).sources and len(text) < 2_000_000


# A report that cannot be made -----------------------------------------------------------------------------------------


def test_a_report_that_fails_says_the_kits_own_line_and_leaves_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    with pytest.raises(StoreError) as caught:
        report("lattice", str(tmp_path / "none.sqlite"), folder / "lattice.html")
    assert str(caught.value).startswith("there is no store at ") and "cell" not in str(caught.value)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("1 / 0", "no report was written: cell 1 of 20_case_report.ipynb failed: ZeroDivisionError: division by zero"),
        ("import os\nos._exit(1)", "20_case_report.ipynb: the notebook could not be run"),
    ],
)
def test_a_report_that_breaks_down_leaves_the_earlier_one_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, said: str
) -> None:
    kept = {"r.html": "the page", "r.ipynb": "its notebook"}
    for name, text in kept.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "cells").mkdir()
    broken = write(tmp_path / "cells" / "20_case_report.ipynb", code)
    monkeypatch.setattr("evalkit.notebooks.run.find_notebook", lambda _: broken)
    with pytest.raises(MachineError) as caught:
        report("lattice", None, tmp_path / "r.html")
    assert str(caught.value).startswith(said) and str(tmp_path) not in str(caught.value)
    assert {path.name: path.read_text() for path in tmp_path.iterdir() if path.is_file()} == kept
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["cells"]


def test_a_report_that_is_made_leaves_its_notebook_beside_it_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cells").mkdir()
    whole = write(tmp_path / "cells" / "20_case_report.ipynb", "1")
    monkeypatch.setattr("evalkit.notebooks.run.find_notebook", lambda _: whole)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "r.ipynb").write_text("an older one")
    assert report("lattice", None, tmp_path / "out" / "r.html") == tmp_path / "out" / "r.html"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["r.html", "r.ipynb"]
    assert nbformat.read(tmp_path / "out" / "r.ipynb", 4).metadata["evalkit"]
