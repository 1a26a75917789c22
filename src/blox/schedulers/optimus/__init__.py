"""Optimus (EuroSys'18): the policy, and what it is made of as pure functions.

`policy` is what the loop calls, `beliefs` what it knows of jobs. `convergence` and `speed` are fitted to what
jobs report; `allocation` gives out workers and servers (or plain replicas) by marginal gain; `placement` puts
them on as few servers as hold them, evenly; `servers` is both for jobs with parameter servers.
"""

from blox.schedulers.optimus.policy import Optimus

__all__ = ["Optimus"]
