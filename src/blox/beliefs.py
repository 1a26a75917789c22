"""What policies believe about jobs. The truth stays with the backend.

A belief turns jobs as they are into jobs as policies see them. `oracle`: as they are. `noisy:sigma=0.5`: the
duration times a seeded log-normal factor, wrong by a factor of e^sigma either way for one job in three. The
number of steps and the seconds per step are then guesses as well, and their product errs by the same factor.
`limit:unlimited=7d`: the time limit that the user of a job asked for, as a batch system believes it, which
knows nothing of steps; a job without one is taken to last for `unlimited`.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from blox.backends.feed import Belief
from blox.durations import parse_duration
from blox.errors import BloxError, suggestion
from blox.registry import parse_options
from blox.workloads.table import Array, JobTable

_FORMS = {"oracle": "oracle", "noisy": "noisy:sigma=0.5", "limit": "limit:unlimited=7d"}
_STREAM = 0xBE11EF  # the belief's own stream of random numbers


def belief_from_spec(spec: str, seed: int, *, by_iterations: bool = False) -> Belief:
    """The belief that a spec names; the same seed gives every scheduler the same errors.

    `by_iterations` takes iterations x time per iteration as the duration where both are known.
    """
    where = f"belief {spec!r}"
    name, _, text = spec.strip().partition(":")
    if name not in _FORMS:
        raise BloxError(f"no belief is called {name!r}", where=where, fix=suggestion(name, _FORMS))
    options = parse_options(text, where=where)
    known = {"oracle": (), "noisy": ("sigma",), "limit": ("unlimited",)}[name]
    if unknown := set(options) - set(known):
        fix = f"{', '.join(_FORMS.values())}"
        raise BloxError(f"no option is called {min(unknown)!r}", where=where, fix=fix)
    if name == "limit":
        unlimited = options.get("unlimited")
        return _limits(math.nan if unlimited is None else parse_duration(unlimited, where=where))
    return _noise(_sigma(options, where) if name == "noisy" else 0.0, seed, by_iterations)


def draws_nothing(spec: str) -> bool:
    """Whether a belief is the same for every seed."""
    return spec.strip().partition(":")[0] != "noisy"


def _sigma(options: dict[str, str], where: str) -> float:
    try:
        sigma = float(options.get("sigma", "0.5"))
    except ValueError:
        sigma = -1.0
    if not 0 <= sigma < 10:
        raise BloxError("sigma is not a number from 0 to 10", where=where, fix="write noisy:sigma=0.5")
    return sigma


def _noise(sigma: float, seed: int, by_iterations: bool) -> Belief:
    """Durations that err by a factor; with a sigma of 0, as they are."""
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


def _limits(unlimited_s: float) -> Belief:
    """Every job lasts as long as its user said it would at most."""

    def believed(jobs: JobTable) -> JobTable:
        limit = jobs.column("limit_s")
        without = np.isnan(limit)
        if without.any() and math.isnan(unlimited_s):
            row = int(np.argmax(without))
            raise BloxError(
                f"job {jobs.columns['job_id'].item(row)!r} has no time limit, and {int(without.sum()):,} of "
                f"{len(jobs):,} jobs have none",
                where=jobs.place(row),
                fix="say how long such a job is taken to last: --belief limit:unlimited=7d",
            )
        unknown = np.full(len(jobs), math.nan)
        lasts = np.where(without, unlimited_s, limit)
        return _with(jobs, duration_s=lasts, iterations=unknown, iteration_s=unknown)

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
