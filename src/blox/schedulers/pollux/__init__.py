"""Pollux (OSDI'21): the policy, and its cluster optimiser (section 4.2) as pure functions of jobs x nodes.

`policy` is what the loop calls; `beliefs` is what it knows of jobs; `speedup` turns goodput models into a
table, `fitness` judges allocations, `repair` makes them feasible, and `search` looks for the best one.
"""

from blox.schedulers.pollux.policy import Pollux

__all__ = ["Pollux"]
