"""Who submits the jobs of a generator, and which network each trains.

Tenants are the virtual clusters of the Philly trace, with their shares of its jobs. The trace as carried
over names no users: each tenant is given ten, of whom the k-th submits in proportion to 1/k (Zipf's law),
a choice of ours that gives quotas something to work on. Tenant, size and duration are independent.
"""

from __future__ import annotations

import numpy as np

from blox.workloads.distributions import Choices
from blox.workloads.philly_statistics import JOBS_BY_TENANT
from blox.workloads.table import Array

USERS_PER_TENANT = 10

# the paper's Table 2
MODELS = ("Resnet-18", "CycleGan", "Resnet-50", "LSTM", "Recoder", "Transformer", "A3C")

_RANKS = range(1, USERS_PER_TENANT + 1)
_NAMES = [(f"vc{t:02}", f"vc{t:02}-user{k:02}") for t in range(1, len(JOBS_BY_TENANT) + 1) for k in _RANKS]
_TENANTS = np.array([tenant for tenant, _ in _NAMES], dtype=object)
_USERS = np.array([user for _, user in _NAMES], dtype=object)
_SUBMITTERS = Choices(tuple(jobs / k for jobs in JOBS_BY_TENANT for k in _RANKS))


def submitters(u: Array) -> dict[str, Array]:
    """The columns user and tenant for numbers in [0, 1)."""
    index = _SUBMITTERS.at(u)
    return {"user": _USERS[index], "tenant": _TENANTS[index]}


def evenly(names: tuple[str, ...], u: Array) -> Array:
    """One of the names for each number in [0, 1), all equally likely."""
    chosen: Array = np.array(names, dtype=object)[(u * len(names)).astype(np.intp)]
    return chosen
