"""Optimus (EuroSys'18) as pure functions: when a job converges, how fast it is, who gets what, and where.

`convergence` and `speed` are fitted to what jobs report; `allocation` gives out workers and servers (or plain
replicas) by marginal gain; `placement` puts them on as few servers as hold them, evenly.
"""
