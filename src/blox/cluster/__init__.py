"""The real cluster: the same policies and the same manager over training processes on machines.

`protocol/` and `central/` decide, without sockets, clocks or threads; `chaos/` runs them all in one process
under a simulated network with faults.
"""
