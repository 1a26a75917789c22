"""Small problems, and what an allocation must never do, for the tests beside."""

import numpy as np

from blox.schedulers.gavel.problem import Pairs, Problem

TYPES = ("k80", "p100", "v100")


def problem(speeds, gpus, *, beside=0.6, **columns):
    """A problem of these jobs; any two do `beside` times as much together as alone."""
    speeds = np.array(speeds, dtype=float).reshape(-1, len(gpus))
    count = len(speeds)
    shared = np.broadcast_to(speeds[:, None, :] * beside, (count, count, len(gpus)))
    given = {name: np.array(values, dtype=float) for name, values in columns.items()}
    return Problem(TYPES[: len(gpus)], np.array(gpus), speeds, pairs=Pairs(np.arange(count), shared), **given)


def check(asked, allocation, slack=1e-7):
    """Fractions are fractions; no job has more than all its time, no type more than its GPUs."""
    held, time = np.zeros(len(asked.gpus)), np.zeros(len(asked.jobs))
    assert allocation.fractions.shape == (len(allocation.members), len(asked.gpus))
    assert np.isfinite(allocation.fractions).all() and (allocation.fractions >= 0).all()
    for members, fractions in zip(allocation.members, allocation.fractions):
        jobs = members[members >= 0]
        assert len({asked.width[job] for job in jobs}) == 1
        held += asked.width[jobs[0]] * fractions
        time[jobs] += fractions.sum()
    assert (held <= asked.gpus + slack * max(asked.gpus.max(), 1)).all()
    assert (time <= 1 + slack).all()
