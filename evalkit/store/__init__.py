"""Why: every run is kept once, whole, and never lost; what was kept comes back as records, tidy tables or plain files.

`Store` is all that the rest of the kit needs. SQLAlchemy is named in this package and nowhere else.
"""

from evalkit.store.database import default_path
from evalkit.store.files import ImportReport, Record
from evalkit.store.runs import Store, open_results

__all__ = ["ImportReport", "Record", "Store", "default_path", "open_results"]
