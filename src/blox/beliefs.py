"""What policies believe about durations. The truth stays with the backend.

`oracle`: the true duration. `noisy:sigma=0.5`: the true duration times a seeded log-normal factor, wrong
by a factor of e^sigma either way for one job in three.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from blox.errors import BloxError, suggestion
from blox.registry import parse_options
from blox.workloads.table import Array, JobTable

Belief = Callable[[JobTable], Array]


def belief_from_spec(spec: str, seed: int, *, by_iterations: bool = False) -> Belief:
    """The believed duration of each job of a batch.

    `by_iterations` takes iterations x time per iteration as the duration where both are known.
    """
    where = f"belief {spec!r}"
    name, _, text = spec.strip().partition(":")
    if name not in ("oracle", "noisy"):
        raise BloxError(
            f"no belief is called {name!r}", where=where, fix=suggestion(name, ("oracle", "noisy"))
        )
    options = parse_options(text, where=where)
    sigma = 0.0
    if name == "noisy":
        try:
            sigma = float(options.pop("sigma", "0.5"))
        except ValueError:
            sigma = -1.0
        if not 0 <= sigma < 10:
            raise BloxError("sigma is not a number from 0 to 10", where=where, fix="write noisy:sigma=0.5")
    if options:
        raise BloxError(
            f"no option is called {min(options)!r}", where=where, fix="oracle, or noisy:sigma=0.5"
        )
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0xBE11EF,)))

    def believed(jobs: JobTable) -> Array:
        duration = jobs.columns["duration_s"]
        if by_iterations:
            product = jobs.column("iterations") * jobs.column("iteration_s")
            duration = np.where(np.isnan(product), duration, product)
        return duration if not sigma else duration * rng.lognormal(0.0, sigma, len(jobs))

    return believed
