"""Gavel (OSDI'20): policies for clusters of several GPU types, as optimisation problems.

`scheduler` is what the loop calls. It makes a `Problem` of the jobs (`jobs.py`, by a belief of `beliefs.py`),
has a policy turn it into an `Allocation` of time fractions (`policies.policy(name)` finds one), and leaves
the rounds to `Schedule.from_fractions`. Programs over kinds of jobs (`program.py`) are solved by HiGHS
(`vertex.py`) or by an interior-point method (`interior.py`), and `choose.py` says which of many optima is
taken.
"""

from blox.schedulers.gavel.scheduler import Gavel

__all__ = ["Gavel"]
