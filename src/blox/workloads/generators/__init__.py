"""Workload generators: each a frozen dataclass whose `batches(rng)` yields jobs without end."""
