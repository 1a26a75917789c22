"""Backfilling: jobs may pass one that waits, as far as they do not delay it.

`policy` is what the loop calls; `profile` knows how many GPUs are free when, and `room` where a job fits.
"""

from blox.schedulers.backfill.policy import Backfill

__all__ = ["Backfill"]
