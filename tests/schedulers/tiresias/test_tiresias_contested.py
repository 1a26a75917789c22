"""The line that Tiresias keeps decides, event after event, as the keys of all jobs do."""

import numpy as np
import pytest

from blox import Experiment
from blox.placement.walk import counting
from blox.placement.walk.requests import Requests
from blox.schedulers.tiresias import queues
from blox.schedulers.tiresias.sorted_places import SortedPlaces
from blox.state.schedule import Schedule


@pytest.mark.parametrize("few", [12, 30])
@pytest.mark.parametrize(
    "scheduler",
    [
        "tiresias:queues=2,threshold=3200",
        "tiresias:queues=4,threshold=600+3200+20000",
        "tiresias:queues=3,threshold=600+3200,promote=2",
    ],
)
def test_it_decides_as_the_keys_do(monkeypatch, scheduler, few):
    """`few`: with so many jobs, or more, a part of the line is looked at only if it is shorter."""
    known = []
    original = counting._start_contested

    def both(given, cluster_state, job_state, assign):
        found = original(given, cluster_state, job_state, assign)
        if found is None:
            return None
        standings = job_state.memory(policy, policy._memory).standings
        schedule = Schedule.ordered(job_state, by=standings.keys(job_state))
        plain = counting._count(Requests(schedule, cluster_state, job_state), assign)
        assert [*found] == [*plain]
        known.append(bool(len(found.launch.jobs)))
        return found

    monkeypatch.setattr(queues, "SHORT_LINE", few)
    monkeypatch.setattr(counting, "_start_contested", both)
    prepared = Experiment(
        workload="philly:jobs=1200,offered=1.3,gpus=128,max_gpus=32",
        cluster="16x8",
        scheduler=scheduler,
        placement="count",
        clock="events",
    ).prepare()
    policy = prepared.composition.scheduler
    prepared.run()
    assert len(known) > 100 and known.count(True) > 20


def test_only_the_end_of_a_long_line_is_contested():
    line, held, gpus = SortedPlaces(), [1] * 100, [1] * 100
    for row in range(100):
        line.put(row, 10 * row, waits=row in (20, 40))
    held[20] = held[40] = 0
    gpus[40] = 3
    assert line.contested(held, gpus, 0, 80) == list(range(20, 100)), "from the first who waits on"
    assert line.contested(held, gpus, 0, 79) == [20, 40, 96, 97, 98, 99], "who makes room for 1 + 3 GPUs"
    assert line.contested(held, gpus, 3, 79) == [20, 40, 99]
    assert line.contested(held, gpus, 4, 79) == [20, 40]
    assert line.contested(held, gpus, 0, 5) is None
    line.drop(99)
    line.put(98, 5, waits=False)
    line.put(20, 200, waits=False)
    line.drop(20)
    assert line.contested(held, gpus, 1, 50) == [40, 96, 97]
    assert line.contested(held, gpus, 0, 100) == [*range(40, 98)]


def test_rows_may_come_again():
    line = SortedPlaces()
    line.drop(7)
    line.put(7, 3, waits=True)
    line.drop(7)
    line.put(7, 1, waits=True)
    line.put(8, 3, waits=False)
    assert line.contested(np.zeros(9, dtype=int), np.ones(9, dtype=int), 0, 10) == [7, 8]


@pytest.mark.parametrize("jobs", [250, 300])
def test_a_promotion_around_it_counts_however_many_there_are(run, jobs):
    """By hand: all GPUs are held for 5,000 s; who comes at 10 s and waits for 100 s goes before them all."""
    found = run(
        [*(f"a{number},0,1,5000" for number in range(jobs)), "x,10,4,50"],
        f"1x{jobs}",
        scheduler="promote:policy=tiresias:threshold=1000000,after_s=100",
        placement="count",
        clock="events",
    )
    assert found.jobs["first_start_s"][-1] == 110
