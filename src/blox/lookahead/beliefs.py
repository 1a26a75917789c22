"""What a look ahead takes for the durations of jobs: what a scheduler on a cluster could know of them.

- `learnt`: drawn for each job from the work of the jobs so far, given what it has done already. Jobs that
  have not finished count as having at least the work that they have done (Kaplan and Meier's estimator), so
  that long jobs are not taken for short ones because the short ones finish first.
- `none`: attained service only. A job is taken to need as much again as it has done; one that has done
  nothing, as much as the median of those that have done some.
- `told`: the durations that policies are told (the run's own belief). `oracle` is the same where these are
  true.
- `noisy:sigma=0.5`: as told, times a log-normal factor of each job.

The work of a finished job is known: it is what the job has done. It counts where jobs of the past come again.
A job that was ended before it did any tells nothing of others.
A job keeps its luck: its draw stays at the same rank of what is possible, so choices that follow on one
another do not differ by chance. Policies that read durations see ahead what is believed there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from blox.errors import BloxError, suggestion
from blox.lookahead.ahead import Believed
from blox.registry import parse_options
from blox.state import progress
from blox.state.columns import FINISHED
from blox.state.jobs import JobState
from blox.workloads.columns import LONGEST_S, SHORTEST_S
from blox.workloads.table import Array

Belief = Callable[[JobState, int], Believed]  # states and the number of a draw -> what is believed

NAMES = ("learnt", "none", "told", "oracle", "noisy")
UNKNOWN_S = 3600.0  # the work of a job where nothing is known of any
_STREAM = 0xA4EAD  # the look ahead's own stream of random numbers
_OVERDUE = 1.1  # a job that has outlived what was told of it is taken to be near its end


def belief_named(spec: str) -> Belief:
    """The belief that a spec names."""
    where = f"belief {spec!r}"
    name, _, text = spec.strip().partition(":")
    if name not in NAMES:
        raise BloxError(f"no belief is called {name!r}", where=where, fix=suggestion(name, NAMES))
    options = parse_options(text, where=where)
    sigma = _sigma(options.pop("sigma", "0.5"), where) if name == "noisy" else 0.0
    if options:
        fix = f"{name} has no options" if name != "noisy" else "noisy:sigma=0.5"
        raise BloxError(f"no option is called {min(options)!r}", where=where, fix=fix)
    if name == "learnt":
        return learnt
    if name == "none":
        return attained_only
    return lambda job_state, draw: told(job_state, draw, sigma=sigma)


def check_told(spec: str, told: str) -> None:
    """Refuses `oracle` where the belief of the run, which policies are told, is not the truth."""
    if spec.strip() == "oracle" and told.strip() != "oracle":
        raise BloxError(
            f"belief=oracle looks ahead with true durations, and this run has belief={told!r}",
            where="belief",
            fix="belief=told takes what policies are told; belief=learnt needs no durations at all",
        )


def reads_durations(spec: str) -> bool:
    """Whether a belief rests on what the run tells of durations."""
    return spec.strip().partition(":")[0] in ("told", "oracle", "noisy")


def estimates(spec: str) -> bool:
    """Whether a belief puts an error of its own on the durations that the run tells."""
    return spec.strip().partition(":")[0] == "noisy"


def draws(spec: str) -> bool:
    """Whether a belief draws random numbers."""
    return spec.strip().partition(":")[0] in ("learnt", "noisy")


def told(job_state: JobState, draw: int = 0, *, sigma: float = 0.0) -> Believed:
    """What policies are told, with an error where `sigma` is above 0."""
    count, done = job_state.submitted, _done_s(job_state)
    work = job_state.columns.expected_s[:count].copy()
    if sigma:
        work *= np.exp(sigma * _rng(job_state, draw).standard_normal(count))
    overdue = work < done * (1 - 1e-9)
    work[overdue] = _OVERDUE * done[overdue]
    work = _known(job_state, work, done)
    return Believed(work, work if sigma else None)


def attained_only(job_state: JobState, draw: int = 0) -> Believed:
    """A job needs as much again as it has done."""
    done = _done_s(job_state)
    begun = done[_unfinished(job_state) & (done > 0)]
    work = np.where(done > 0, 2 * done, np.median(begun) if len(begun) else UNKNOWN_S)
    work = _known(job_state, work, done)
    return Believed(work, work)


def learnt(job_state: JobState, draw: int = 0) -> Believed:
    """Drawn from the work of the jobs so far, given that a job's is above what it has done."""
    done, unfinished = _done_s(job_state), _unfinished(job_state)
    at_s, share = survival(done, ~unfinished & (done >= SHORTEST_S))
    if not len(at_s):
        return attained_only(job_state, draw)
    luck = 1.0 - _rng(job_state, draw).random(job_state.submitted)  # in (0, 1]
    given = np.append(1.0, share)[at_s.searchsorted(done, side="right")]  # of jobs, those with more than done
    place = (-share).searchsorted(-luck * given)
    longest = 2 * np.maximum(done, at_s[-1])  # beyond all that was seen: as much again
    work = np.where(place < len(at_s), np.append(at_s, 0.0)[place], longest)
    work = _known(job_state, np.maximum(work, done), done)
    return Believed(work, work)


def survival(done_s: Array, finished: Array) -> tuple[Array, Array]:
    """The work of finished jobs, ascending, and the share of all jobs that have more (Kaplan-Meier)."""
    order = np.lexsort((~finished, done_s))
    at_s, ended = done_s[order], finished[order]
    at_risk = len(at_s) - np.arange(len(at_s))
    share = np.cumprod(1.0 - ended / at_risk)
    return at_s[ended], share[ended]


def _known(job_state: JobState, work_s: Array, done_s: Array) -> Array:
    """What is believed of jobs that go on, if a job can have it; of finished jobs what they have done."""
    return np.where(_unfinished(job_state), np.clip(work_s, SHORTEST_S, LONGEST_S), done_s)


def _unfinished(job_state: JobState) -> Array:
    return np.asarray(job_state.columns.status[: job_state.submitted] != FINISHED)


def _done_s(job_state: JobState) -> Array:
    """The work that every job submitted so far has done."""
    return progress.done_s(job_state, np.arange(job_state.submitted), job_state.now)


def _rng(job_state: JobState, draw: int) -> np.random.Generator:
    """Numbers by row that stay the same as jobs come."""
    return np.random.default_rng(np.random.SeedSequence(job_state.seed, spawn_key=(_STREAM, draw)))


def _sigma(text: str, where: str) -> float:
    try:
        sigma = float(text)
    except ValueError:
        sigma = -1.0
    if not 0 <= sigma < 10:
        raise BloxError("sigma is not a number from 0 to 10", where=where, fix="write noisy:sigma=0.5")
    return sigma
