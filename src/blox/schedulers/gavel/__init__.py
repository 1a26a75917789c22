"""Gavel (OSDI'20): policies for clusters of several GPU types, as optimisation problems.

A `Problem` goes in, an `Allocation` of time fractions comes out; `policies.policy(name)` finds a policy.
Programs over kinds of jobs (`program.py`) are solved by HiGHS (`vertex.py`) or by an interior-point method
(`interior.py`), and `choose.py` says which of many optima is taken.
"""
