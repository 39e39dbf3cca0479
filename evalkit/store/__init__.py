"""Why: every run is kept once, whole, and never lost; what was kept comes back as records, tidy tables or plain files.

`Store` is all that the rest of the kit needs. SQLAlchemy is named in this package and nowhere else.
"""

from evalkit.store.database import default_path
from evalkit.store.files import ImportReport, Record
from evalkit.store.results import is_sample, open_results
from evalkit.store.runs import Store

__all__ = ["ImportReport", "Record", "Store", "default_path", "is_sample", "open_results"]
