"""Backfilling: jobs may pass one that waits, as far as they do not delay it.

`policy` is what the loop calls, `easy` and `conservative` are its two kinds. `profile` knows how many GPUs
are free when, `room` where a job fits, and `waiting` which jobs wait.
"""

from blox.schedulers.backfill.policy import Backfill

__all__ = ["Backfill"]
