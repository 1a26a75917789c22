"""Gavel's policies: each turns a `Problem` into an `Allocation` of time fractions."""
