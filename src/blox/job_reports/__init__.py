"""What simulated jobs report about themselves as they get on: one small file per source.

On a cluster a training script pushes its metrics. A simulated job trains nothing, so a source says what it
would have reported after each of its epochs. A source is the truth about jobs: policies see what has been
reported (`job_state.metric`) and nothing else of it. `reporting.py` puts a source around a backend.
"""

from __future__ import annotations

from blox.registry import lazy_package

__getattr__ = lazy_package(__name__, "reports")
