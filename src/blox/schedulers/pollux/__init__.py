"""Pollux's cluster optimiser (OSDI'21, section 4.2) as pure functions over arrays of jobs x nodes.

`speedup` turns goodput models into a table, `fitness` judges allocations, `repair` makes them feasible, and
`search` looks for the best one.
"""
