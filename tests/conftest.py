"""Why: properties are searched the same way on every machine: without a clock, and in CI without chance.

A slow machine is no failure, and a run that nobody changed must not fail by luck; at home the search stays random.
"""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

settings.register_profile(
    "kit", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("kit")

# A shell that starts a job in the background has it ignore Ctrl-C, and all its children too: the tests of Ctrl-C would
# wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
