"""Why: jsonschema, altair, papermill and nbformat pull in format checks, and one of those builds a grammar for 3 s.

`rfc3987_syntax` parses its grammar when it is imported, for a check of the `iri` format that nothing here asks for.
jsonschema treats a missing module as "this format is not checked", so an empty slot in `sys.modules` is enough.
Import this module before the first import of any of them.
"""

from __future__ import annotations

import sys

__all__: list[str] = []

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # None is how Python marks "do not import"
