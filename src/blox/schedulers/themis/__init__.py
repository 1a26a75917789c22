"""Themis (NSDI'20): auctions of GPUs between apps.

`policy` is what the loop calls; `apps` groups jobs, `rho` is finish-time fairness, `wants` the bids and
`auction` how they are answered.
"""

from blox.schedulers.themis.policy import Themis

__all__ = ["Themis"]
