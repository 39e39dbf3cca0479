"""Why: `python -m evalkit.cli` works where the script is not on the path."""

import sys

from evalkit.cli import main

sys.exit(main())
