"""Look ahead: run the loop on a fork of any state, with beliefs in place of durations.

`look_ahead` is the primitive (`ahead.py`). The synthesizer (`synthesizer.py`) chooses among policies by it,
and `blox when` (`when.py`) asks it when a job would start. Nothing here changes the state that it looks ahead
from.
"""

from __future__ import annotations
