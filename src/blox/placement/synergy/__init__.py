"""Synergy (OSDI'22): places jobs by GPUs, CPU cores and memory, and shares cores and memory out.

`policy` is what the loop calls; `room` decides which jobs run on which nodes, `share` and `program` how much
of cores and memory each gets, `beliefs` what a model is thought to want.
"""

from blox.placement.synergy.policy import Synergy

__all__ = ["Synergy"]
