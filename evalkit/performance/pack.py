"""Why: who solves a case needs its rules, examples and a way to grade at home, and must never see what is held out.

A pack is itself a case: the same manifest, with the training scenarios where the held-out inputs were, so that
`evalkit grade` works on it. It has a version of its own, so that a run at home is in another cohort than the case's
runs and can never be taken for one. What goes in is listed here; nothing else of the folder does.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalkit.errors import AuthoringError, UsageError
from evalkit.performance.case import Case
from evalkit.reading.written import toml_text

__all__ = ["TRAINING", "pack_case", "practice_version", "training_pairs"]

TRAINING = "training"
"""The folder, beside the manifest, of scenarios that may be seen: `NAME.json` (or another suffix) with `NAME.out`."""

_ANSWER = ".out"


def practice_version(case: Case) -> str:
    """The version of a case's pack: `v1.0.0-practice`, which sorts before the case's own."""
    return f"{case.version}-practice"


@dataclass(frozen=True, slots=True)
class _Pair:
    name: str
    input: Path
    expected: Path


def training_pairs(case: Case) -> list[_Pair]:
    """The training scenarios with their answers, by name. Raises AuthoringError where one lacks its other half."""
    found: list[_Pair] = []
    files = sorted(path for path in (case.root / TRAINING).glob("*") if path.is_file())
    for path in files:
        if path.suffix == _ANSWER:
            if not any(other.stem == path.stem and other != path for other in files):
                raise AuthoringError(f"{TRAINING}/{path.name}: is an answer without its scenario: add it")
            continue
        answer = path.with_suffix(_ANSWER)
        if answer not in files:
            raise AuthoringError(f"{TRAINING}/{path.name}: has no answer: add {answer.name} beside it")
        found.append(_Pair(path.stem, path, answer))
    return found


def pack_case(case: Case, folder: Path) -> list[Path]:
    """Write what a participant may see to `folder`, and return the files' paths, relative to it, in order.

    Raises UsageError for a reviewed case, or a folder that is not empty; AuthoringError where the case has no training
    scenarios, or a file of the pack has the bytes of a held-out input or answer.
    """
    if not case.is_performance:
        raise UsageError(f"{case.slug} is a reviewed case: it holds nothing out, so hand out its specs and prompt")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: is there already: name a new or an empty folder")
    pairs = training_pairs(case)
    if not pairs:
        raise AuthoringError(
            f"{case.root / TRAINING}: holds no scenario: add some, so that a pack can be graded at home"
        )
    files = dict(_files(case, pairs))
    _refuse_held_out(case, files)
    texts = {"test-case.toml": _manifest(case, pairs), "README.md": _readme(case, pairs)}
    root = folder / case.slug / practice_version(case)
    for name, source in sorted(files.items()):
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        target.chmod(0o755 if source.stat().st_mode & 0o100 else 0o644)
    for name, text in texts.items():
        (root / name).write_text(text, encoding="utf-8")
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def _files(case: Case, pairs: list[_Pair]) -> Iterator[tuple[str, Path]]:
    """Relative name in the pack, and where it comes from."""
    assert case.contract is not None
    for path in (case.description, case.changelog, case.prompt, case.contract.input, case.contract.output):
        if path is not None:
            yield _name(case, path), path
    if case.contract.checker is not None:
        yield _name(case, case.contract.checker), case.contract.checker
    for spec in (*case.specs, *(spec for variant in case.variants for spec in variant.spec)):
        yield f"specs/{spec.dest}", spec.source
    for pair in pairs:
        yield from ((f"{TRAINING}/{path.name}", path) for path in (pair.input, pair.expected))
    if case.workspace is not None:
        for path in sorted(case.workspace.rglob("*")):
            made = case.build is not None and path == case.workspace / case.build.module
            if path.is_file() and not made and "__pycache__" not in path.parts:
                yield f"starter/{path.relative_to(case.workspace).as_posix()}", path


def _name(case: Case, path: Path) -> str:
    return path.relative_to(case.root).as_posix()


def _refuse_held_out(case: Case, files: dict[str, Path]) -> None:
    secrets = {path.read_bytes(): _name(case, path) for row in case.inputs for path in (row.input, row.expected)}
    for name, source in files.items():
        if (held := secrets.get(source.read_bytes())) is not None:
            raise AuthoringError(f"{name}: has the bytes of {held}, which is held out: take it out of the training set")


def _manifest(case: Case, pairs: list[_Pair]) -> str:
    """The case's own manifest with the training scenarios in place of its inputs: all of them stress inputs."""
    assert case.build is not None
    assert case.contract is not None
    assert case.sandbox is not None
    root: dict[str, Any] = {"slug": case.slug, "name": case.name, "type": case.type}
    optional = {"difficulty": case.difficulty, "tags": list(case.tags), "summary": case.summary}
    root |= {key: value for key, value in optional.items() if value}
    for key in ("description", "changelog", "prompt"):
        if (path := getattr(case, key)) is not None:
            root[key] = _name(case, path)
    build = {"install": case.build.install, "build": case.build.build, "module": case.build.module}
    contract: dict[str, Any] = {"entry": case.contract.entry}
    for key in ("input", "output", "checker"):
        if (path := getattr(case.contract, key)) is not None:
            contract[key] = _name(case, path)
    sandbox = {name: getattr(case.sandbox, name) for name in type(case.sandbox).__slots__}
    widest = max((row.fuel_runway for row in case.inputs), default=1.0)
    rows = [
        {
            "name": pair.name,
            "input": f"{TRAINING}/{pair.input.name}",
            "expected": f"{TRAINING}/{pair.expected.name}",
            "fuel_runway": widest,
        }
        for pair in pairs
    ]
    tables = {"build": build, "contract": contract, "sandbox": sandbox}
    document = root | {name: {k: v for k, v in table.items() if v is not None} for name, table in tables.items()}
    comment = f"The practice form of {case.slug} {case.version}: its inputs are the training scenarios."
    return toml_text({**document, "case": rows}, comment)


def _readme(case: Case, pairs: list[_Pair]) -> str:
    assert case.build is not None
    assert case.contract is not None
    assert case.sandbox is not None
    starter = "`starter/` is a slow solution that is right; begin with it or with nothing.\n" if case.workspace else ""
    return f"""# {case.name}: what a participant gets

Write a solution: a folder whose build leaves `{case.build.module}`, a WebAssembly module without imports and without a
start section that exports `memory`, `alloc(i32) -> i32` and `{case.contract.entry}(i32, i32) -> i64`. The rules are in
`specs/`. {starter}
It is graded on inputs that are not here: small ones that isolate one behaviour each, then large ones. Every answer
must be right; then the fuel of large ones is the score. Lower is better, and {case.sandbox.fuel_limit:,} passes.

## Grade it at home

Put a `solution.toml` with `model = "your name"` in the solution's folder. With evalkit installed:

```
evalkit grade {case.slug}/{practice_version(case)} SOLUTION
```

That runs the {len(pairs)} training scenarios in `{TRAINING}/` with the same build, limits and checker. A pass there is
no promise: the held-out inputs exercise every rule. The run is kept as one of {case.slug} {practice_version(case)},
and is never ranked beside runs on the held-out inputs.
"""
