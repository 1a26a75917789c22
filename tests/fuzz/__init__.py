"""Hostile input by the thousand, seeded: each is answered by a result or in words, soon and in little memory.

A kind of case is a module with `case(rng, folder)`: it makes its input in the folder, hands it to blox, and
lets BloxError pass. Anything else that is raised is a fault of blox.
"""
