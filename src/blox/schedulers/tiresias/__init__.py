"""Tiresias (NSDI'19): discretized least attained service, and Gittins.

`policy` is what the loop calls; `queues` knows the queue and place of every job, `sorted_places` sorts them.
"""

from blox.schedulers.tiresias.policy import Tiresias

__all__ = ["Tiresias"]
