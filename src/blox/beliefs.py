"""What policies believe about jobs. The truth stays with the backend.

A belief turns jobs as they are into jobs as policies see them. `oracle`: as they are. `noisy:sigma=0.5`: the
duration times a seeded log-normal factor, wrong by a factor of e^sigma either way for one job in three. The
number of steps and the seconds per step are then guesses as well, and their product errs by the same factor.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from blox.backends.feed import Belief
from blox.errors import BloxError, suggestion
from blox.registry import parse_options
from blox.workloads.table import Array, JobTable

_STREAM = 0xBE11EF  # the belief's own stream of random numbers


def belief_from_spec(spec: str, seed: int, *, by_iterations: bool = False) -> Belief:
    """The belief that a spec names; the same seed gives every scheduler the same errors.

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
    duration_rng, step_rng = (
        np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
        for key in ((_STREAM,), (_STREAM, 1))
    )

    def believed(jobs: JobTable) -> JobTable:
        if by_iterations:
            product = jobs.column("iterations") * jobs.column("iteration_s")
            jobs = _with(jobs, duration_s=np.where(np.isnan(product), jobs.columns["duration_s"], product))
        if not sigma:
            return jobs
        wrong = duration_rng.lognormal(0.0, sigma, len(jobs))
        # Steps err by the root of that times a factor of their own, so their number and their length err
        # independently, each by sigma / sqrt(2): one that is known from elsewhere does not tell the duration.
        step_wrong = np.sqrt(wrong) * step_rng.lognormal(0.0, sigma / 2, len(jobs))
        return misjudged(jobs, wrong, step_wrong)

    return believed


def misjudged(jobs: JobTable, wrong: Array, step_wrong: Array) -> JobTable:
    """The jobs, each taken for `wrong` times as long as it is, and each step for `step_wrong` times."""
    return _with(
        jobs,
        duration_s=jobs.columns["duration_s"] * wrong,
        iterations=jobs.column("iterations") * (wrong / step_wrong),
        iteration_s=jobs.column("iteration_s") * step_wrong,
    )


def _with(jobs: JobTable, **columns: Array) -> JobTable:
    """The same jobs with other values in those of these columns that they have."""
    here = {name: values for name, values in columns.items() if name in jobs.columns}
    return dataclasses.replace(jobs, columns={**jobs.columns, **here})
