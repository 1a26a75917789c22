"""Leases: jobs that were given a GPU type get GPUs of it; a job that stays on its type keeps its own.

Tested through `Schedule.from_fractions`, whose `pinned` GPUs these are. Every job wants all of the time on
one type, so that every job that fits runs in every round.
"""

import numpy as np
import pytest

from blox import Allocation, Schedule
from blox.placement.walk.pinned import place_pinned
from blox.state.fractions import TimeShares
from support.states import admitted, idle_cluster


class Leases:
    """Jobs of these widths on a cluster. `on` says on which type each is to run; `run` gives them GPUs."""

    def __init__(self, cluster, gpus):
        self.cluster, self.jobs = idle_cluster(cluster), admitted(gpus, 1e9)
        self.shares = TimeShares(len(self.cluster.gpu_types))

    def on(self, types, pairs=()):
        """types: job -> name of a GPU type; pairs: those of them that share GPUs."""
        kinds = list(self.cluster.gpu_types)
        beside = {job: other for pair in pairs for job, other in (pair, pair[::-1])}
        members = [(job, beside.get(job, -1)) for job in types if beside.get(job, job + 1) > job]
        fractions = np.zeros((len(members), len(kinds)))
        for row, (job, _) in enumerate(members):
            fractions[row, kinds.index(types[job])] = 1.0
        self.shares.account(self.jobs, self.cluster)
        self.shares.want(np.array(members), fractions, np.ones(fractions.shape))
        return self

    def run(self):
        """A round; returns job -> GPUs."""
        schedule = Schedule.from_fractions(self.jobs, self.cluster, self.shares, fill=False)
        self.cluster.holdings.apply(place_pinned(schedule, self.cluster, self.jobs))
        self.jobs.now += 100.0
        return self.cluster.allocation.as_dict()

    def leases(self):
        """[leases, of which extended] of each job."""
        return self.shares.leases[: len(self.jobs.active)].tolist()


def test_a_single_gpu_comes_from_the_node_with_the_fewest_free_ones():
    """Nodes of 2: once job 0 has gone, job 1 is alone on the second, and job 2 joins it there."""
    leases = Leases("v100=3x2", [2, 1, 1])
    assert leases.on({0: "v100", 1: "v100"}).run() == {0: (0, 1), 1: (2,)}
    assert leases.on({1: "v100", 2: "v100"}).run() == {1: (2,), 2: (3,)}


def test_a_job_that_stays_on_its_type_keeps_its_gpus():
    leases = Leases("v100=2x2,k80=1x2", [1, 1, 2])
    first = leases.on({0: "v100", 1: "k80", 2: "v100"}).run()
    assert first == {2: (0, 1), 0: (2,), 1: (4,)}
    assert leases.run() == first
    assert leases.leases() == [[2, 1]] * 3


def test_a_job_that_changes_its_type_moves_and_the_others_stay():
    leases = Leases("v100=2x2,k80=1x2", [1, 1, 2])
    leases.on({0: "v100", 1: "k80", 2: "v100"}).run()
    assert leases.on({0: "k80", 1: "k80", 2: "v100"}).run() == {2: (0, 1), 0: (5,), 1: (4,)}
    assert leases.leases() == [[2, 0], [2, 1], [2, 1]]


def test_wide_jobs_are_served_first_and_fit_the_fullest_node_that_has_room():
    """Two nodes of 4: the job of 3 takes the first, that of 2 the second, a single one the GPU between."""
    leases = Leases("v100=2x4", [1, 2, 3])
    assert leases.on(dict.fromkeys(range(3), "v100")).run() == {2: (0, 1, 2), 1: (4, 5), 0: (3,)}


def test_a_job_wider_than_a_node_takes_the_emptiest_nodes_first():
    """Nodes of 3, one GPU of the first is held: the job of 4 takes all of the second and one of the first."""
    leases = Leases("v100=3x3", [4, 1])
    assert leases.on({1: "v100"}).run() == {1: (0,)}
    found = leases.on({0: "v100", 1: "v100"}).run()
    assert {job: set(gpus) for job, gpus in found.items()} == {0: {1, 3, 4, 5}, 1: {0}}


def test_pairs_have_the_same_gpus():
    leases = Leases("v100=1x2", [1, 1, 1])
    found = leases.on({0: "v100", 1: "v100", 2: "v100"}, pairs=[(0, 2)]).run()
    assert found[0] == found[2] and found[1] != found[0]
    assert leases.run() == found
    assert leases.leases() == [[2, 1]] * 3


def test_a_partner_that_comes_joins_the_one_that_is_there():
    leases = Leases("v100=1x2", [1, 1])
    leases.on({0: "v100", 1: "v100"}).run()
    found = leases.on({0: "v100", 1: "v100"}, pairs=[(0, 1)]).run()
    assert found == {0: (0,), 1: (0,)}
    assert leases.leases() == [[2, 1], [2, 0]], "job 1 gave up the GPU that it had"


def test_gpus_of_a_node_that_is_down_are_not_leased():
    leases = Leases("v100=2x2", [1, 1])
    leases.cluster.set_node(0, "down")
    assert leases.on({0: "v100", 1: "v100"}).run() == {0: (2,), 1: (3,)}


@pytest.mark.parametrize("pairs", [(), [(2, 3)]], ids=["alone", "beside a pair"])
def test_a_job_that_a_policy_before_spread_over_two_types_moves_to_one(pairs):
    """It holds two GPUs of each type: the other job needs all four of the second."""
    leases = Leases("v100=1x4,p100=1x4,k80=1x1", [4, 4, 1, 1])
    leases.cluster.holdings.replace(Allocation.from_dict({0: (2, 3, 4, 5)}))
    types = {0: "v100", 1: "p100", **({2: "k80", 3: "k80"} if pairs else {})}
    held = leases.on(types, pairs).run()
    assert held[0] == (0, 1, 2, 3) and held[1] == (4, 5, 6, 7)
    assert leases.leases()[:2] == [[1, 0], [1, 0]]
