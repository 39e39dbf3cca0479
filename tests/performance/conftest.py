"""A case folder around one manifest: the files that the manifests in `valid/` and `invalid/` may name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

FILES: dict[str, bytes] = {
    "small.json": b"{}",
    "small.out": b"{}",
    "large.json": b'{"size": 1000000}',
    "list.json": b"[1]",
    "not-json.out": b"{",
    "not-a-number.json": b'{"size": NaN}',
    "latin1.out": b'"\xe9"',
    "schema.json": b'{"type": "object", "properties": {"size": {"type": "integer"}}}',
    "bad-schema.json": b'{"type": "objekt"}',
    "remote-schema.json": b'{"$ref": "https://example.invalid/schema.json"}',
    "checker.py": b"def check(input, expected, output): ...\n",
    "player.py": b"schedule = states = frames = print\n",
    "broken.py": b"def check(:\n",
    "text.md": b"Words.\n",
    "folder/file.md": b"More words.\n",
    "variants/base.toml": b'slug = "base"\nname = "Base"\nspec = []\n',
    "variants/other.toml": b'spec = [{ source = "text.md", dest = "other.md" }]\n',
    "variants/same-slug.toml": b'slug = "base"\nspec = "folder/file.md"\n',
    "variants/unknown-key.toml": b'slugg = "third"\nspec = ["absent.md"]\n',
}


@pytest.fixture
def case_folder(tmp_path: Path) -> Callable[[str], Path]:
    """Give a function that makes the folder of version v1.0.0 around the text of a manifest."""

    def make(manifest: str) -> Path:
        root = tmp_path / "case" / "v1.0.0"
        for name, data in FILES.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        (tmp_path / "secret.json").write_bytes(b"{}")
        (root / "link-out.json").symlink_to(tmp_path / "secret.json")
        (root / "loop.json").symlink_to("loop.json")
        (root / "test-case.toml").write_text(manifest, encoding="utf-8")
        return root

    return make
