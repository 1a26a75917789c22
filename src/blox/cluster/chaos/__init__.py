"""A whole cluster in one process, under a simulated network with faults, seeded: a failing seed replays
exactly.

Scheduler, worker managers and ranks are the real state machines. The world around them delays, drops, repeats
and reorders messages, cuts nodes off, kills and stops any part at any point, and checks what must always
hold.
"""
