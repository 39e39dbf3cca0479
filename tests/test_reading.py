"""A TOML file is read into typed values, and every fault of it is reported at once."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import AuthoringError
from evalkit.reading import (
    BOOLEAN,
    LINE,
    SLUG,
    TEXT,
    Faults,
    Kind,
    Table,
    Unfit,
    choice,
    did_you_mean,
    file_in,
    folder_in,
    integer,
    list_of,
    number,
    path_in,
    printable,
    read_toml,
)


def opened(tmp_path: Path, text: str | bytes) -> tuple[Table, Faults]:
    faults = Faults()
    (tmp_path / "a.toml").write_bytes(text.encode() if isinstance(text, str) else text)
    table = read_toml(tmp_path / "a.toml", "a.toml", faults)
    assert table is not None, faults.all()
    return table, faults


def test_a_value_of_its_kind_comes_back_typed(tmp_path: Path) -> None:
    table, faults = opened(tmp_path, 'a = "x"\nb = 2\nc = 3\nd = true\ne = ["u", "v"]\nf = "smoke"\ng = "a-b.c"')
    assert table.take("a", LINE) == "x"
    assert table.take("b", integer(1)) == 2
    assert isinstance(table.take("c", number()), float)
    assert table.take("d", BOOLEAN) is True
    assert table.take("e", list_of(LINE)) == ("u", "v")
    assert table.take("f", choice("smoke", "stress")) == "smoke"
    assert table.take("g", SLUG) == "a-b.c"
    assert table.take("absent", LINE, None) is None
    table.finish()
    assert faults.all() == ()
    faults.raise_errors()


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (integer(0), True),
        (integer(0), 1.0),
        (integer(0), -1),
        (integer(0), 2**63),
        pytest.param(integer(0), 16**5000, id="too many digits for a message"),
        (number(), True),
        (number(), float("nan")),
        (number(), float("inf")),
        pytest.param(number(), 16**5000, id="too large for a float"),
        (number(1.0), 0.99),
        (number(above=0), 0),
        (BOOLEAN, 1),
        (LINE, "two\nlines"),
        (LINE, "\x1b[31m"),
        (LINE, "\u202eright to left"),
        (LINE, "  "),
        (LINE, 3),
        (TEXT, "\x9b2J"),
        (SLUG, "Upper"),
        (SLUG, "a--b"),
        (SLUG, "a/b"),
        (SLUG, ""),
        (list_of(LINE), "a"),
        (list_of(LINE, least=1), []),
        (list_of(integer(0)), [1, True]),
        (choice("a", "b"), "c"),
    ],
)
def test_a_value_of_another_kind_is_unfit_in_one_printable_line(kind: Kind[Any], value: object) -> None:
    with pytest.raises(Unfit) as caught:
        kind.read(value)
    assert printable(caught.value) == str(caught.value)


def test_all_faults_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    table, faults = opened(tmp_path, "z = 1\n[[row]]\n[[row]]\nx = 1\ny = 2\n[b]\nwhat = 1\n[a]\n")
    for row in table.tables("row"):
        row.take("x", LINE)
    if inner := table.table("a"):
        inner.take("k", LINE)
    table.table("b")
    table.finish()
    assert [fault.key for fault in faults.all()] == ["z", "row#1.x", "row#2.x", "row#2.y", "b.what", "a.k"]
    with pytest.raises(AuthoringError) as caught:
        faults.raise_errors()
    assert len(caught.value.faults) == 6


def test_a_warning_forbids_nothing(tmp_path: Path) -> None:
    table, faults = opened(tmp_path, "a = 1")
    table.warning("a", "is odd")
    faults.raise_errors()
    assert [fault.severity for fault in faults.all()] == ["warning"]


def test_an_unknown_key_is_an_error_that_proposes_the_nearest(tmp_path: Path) -> None:
    table, faults = opened(tmp_path, "colour = 1\n'od.dd' = 2")
    table.take("color", integer(0), 0)
    table.finish()
    assert [str(fault) for fault in faults.all()] == [
        'a.toml: colour: is not a known key; did you mean "color"?',
        'a.toml: "od.dd": is not a known key: remove it, or use one of color',
    ]
    assert did_you_mean("nothing", ["else"]) == ""


def test_a_key_that_is_not_on_offer_is_known_and_never_proposed(tmp_path: Path) -> None:
    table, faults = opened(tmp_path, "secret = 1\nsecrets = 2")
    table.accept("secret", offer=False)
    table.finish()
    assert [str(fault) for fault in faults.all()] == ["a.toml: secrets: is not a known key: remove it, or use one of "]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"a = ", "is not TOML: Invalid value (at end of document)"),
        (b"a = 1\nb = x", "(at line 2, column 5)"),
        (b"a = 1\n\n\xff", "is not UTF-8 text (line 3, byte 7)"),
        (b"a = " + b"[" * 50_000, "is nested too deeply"),
        (b"a = " + b"9" * 5_000, "is not TOML"),
        (b"a" + b".a" * 2_000 + b" = 1", ""),
        (b"#" * (4 << 20) + b"#", "at most 4194304 are read"),
    ],
)
def test_a_file_that_is_no_toml_is_one_fault(content: bytes, what: str, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(content)
    faults = Faults()
    assert read_toml(tmp_path / "a.toml", "a.toml", faults) is None
    assert len(faults.errors()) == 1
    assert what in faults.errors()[0].what


@pytest.mark.parametrize(
    "text",
    [
        "x" + ".x" * 100_000 + " = 1",
        f'["a\\"b"{" . x" * 16}]',
        "a = 1\nt = { " + "'k'." * 16 + "k = 1 }",
        ("a." * 20 + "b=1\n") * 9,
    ],
)
def test_a_key_of_very_many_parts_is_one_fault_at_once(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(text)
    faults = Faults()
    began = time.monotonic()
    assert read_toml(tmp_path / "x.toml", "x.toml", faults) is None
    assert "a key of more than 16 parts, joined by dots" in str(faults.all()[0])
    assert time.monotonic() - began < 2


def test_what_only_looks_like_such_a_key_is_read_and_in_no_time(tmp_path: Path) -> None:
    words = f's = "{"a" * 3_000_000}"\nq = "{"a. b. " * 7}"\nf = [{"0.5, " * 9999}]\n' + "a.b.c.d.e.f = 1\n"
    (tmp_path / "x.toml").write_text(words)
    faults, began = Faults(), time.monotonic()
    assert read_toml(tmp_path / "x.toml", "x.toml", faults) is not None
    assert time.monotonic() - began < 5


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    table, _ = opened(tmp_path, b"\xef\xbb\xbfa = 1")
    assert table.take("a", integer(0)) == 1


def test_what_is_no_file_is_one_fault(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("absent", "folder", "pipe", "loop", "nul\0", "x" * 300):
        faults = Faults()
        assert read_toml(tmp_path / name, name, faults) is None
        assert len(faults.errors()) == 1
        assert str(faults.errors()[0]).isprintable()


@pytest.mark.skipif(os.geteuid() == 0, reason="everything is readable to root")
def test_a_file_that_may_not_be_read_is_one_fault(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a = 1")
    (tmp_path / "a").chmod(0)
    faults = Faults()
    assert read_toml(tmp_path / "a", "a", faults) is None
    with pytest.raises(Unfit, match="permissions"):
        file_in(tmp_path).read("a")


@pytest.mark.parametrize(
    "path",
    ["../x", "/etc/passwd", "a/../b", "~/x", "C:/x", "a\\b", "out", "out/x", "loop", "", "x\0", "\x1b[2J"],
)
def test_a_path_that_leaves_its_folder_is_unfit(path: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "x").write_text("secret")
    (root / "out").symlink_to(tmp_path)
    (root / "loop").symlink_to("loop")
    for kind in (path_in(root), file_in(root), folder_in(root)):
        with pytest.raises(Unfit):
            kind.read(path)


def test_a_path_that_stays_is_given_plainly_and_links_within_are_followed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").write_text("")
    (tmp_path / "link").symlink_to("a/file")
    assert path_in(tmp_path).read("./not//yet/there") == "not/yet/there"
    assert file_in(tmp_path).read("a/./file") == tmp_path / "a" / "file"
    assert file_in(tmp_path).read("link") == tmp_path / "link"
    assert folder_in(tmp_path).read("a") == tmp_path / "a"
    with pytest.raises(Unfit, match='"a" is not a file'):
        file_in(tmp_path).read("a")
    with pytest.raises(Unfit, match='no folder "b" here'):
        folder_in(tmp_path).read("b")
    with pytest.raises(Unfit, match="File name too long"):
        file_in(tmp_path).read("y" * 5_000)


@given(st.text())
def test_any_text_becomes_one_printable_line(text: str) -> None:
    assert printable(text).isprintable()
    assert len(printable(text, 20)) <= 20
    if text.isprintable() and len(text) < 200:
        assert printable(text) == text
