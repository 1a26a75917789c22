"""Queues with guaranteed shares, as YARN's capacity scheduler and Kueue's cohorts have them.

`tree` is what the file says; `policy` is what the loop calls.
"""

from blox.schedulers.queues.policy import Queues

__all__ = ["Queues"]
