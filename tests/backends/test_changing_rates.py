"""Simulations in which the speed of jobs changes by itself, inside of rounds and between them."""

from dataclasses import dataclass

import pytest

from blox import Experiment
from blox.backends.simulation import AdjustingSimulation

CHANGE_S = 250.0


class SlowerFrom(AdjustingSimulation):
    """From 250 s on every job runs at half its speed."""

    slow = False

    def _rates(self, grants, cluster_state, job_state):
        return super()._rates(grants, cluster_state, job_state) * (0.5 if self.slow else 1.0)

    def _next_own_event(self, cluster_state, job_state):
        end = super()._next_own_event(cluster_state, job_state)
        return end if self.slow else min(end, CHANGE_S)

    def collect(self, cluster_state, job_state):
        if not self.slow and job_state.now >= CHANGE_S:
            rows = cluster_state.running
            self._change_rates(rows, job_state.columns.rate[rows] / 2, CHANGE_S, job_state)
            self.slow = True


@dataclass(frozen=True)
class Slower:
    """Half as fast from 250 s on."""

    def open(self, setup):
        return SlowerFrom(setup)


def finish_s(tmp_path, jobs, skip=True, **settings):
    lines = [f"{name},{submit},1,{work}" for name, submit, work in jobs]
    (tmp_path / "jobs.csv").write_text("\n".join(["job_id,submit_s,gpus,duration_s", *lines]) + "\n")
    experiment = Experiment(
        workload=str(tmp_path / "jobs.csv"), cluster="1x16", round_s=100.0, backend=Slower(), **settings
    )
    return experiment.prepare().run(skip=skip).jobs["finish_s"].tolist()


@pytest.mark.parametrize("skip", [True, False], ids=["rounds passed over", "every round"])
@pytest.mark.parametrize("others", [0, 9], ids=["one by one", "as arrays"])
def test_rates_change_at_their_time_not_when_that_is_noticed(tmp_path, skip, others):
    """Jobs end before the change, in its round before and after it, and later; one starts later."""
    jobs = [("a", 0, 120), ("b", 0, 230), ("c", 0, 270), ("d", 0, 1000)]
    jobs += [(f"e{n}", 0, 1000) for n in range(others)] + [("late", 300, 100)]
    ends = [120.0, 230.0, 290.0, 1750.0, *[1750.0] * others, 500.0]
    assert finish_s(tmp_path, jobs, skip) == ends


def test_a_job_that_is_launching_begins_at_its_new_rate(tmp_path):
    assert finish_s(tmp_path, [("a", 200, 100)], overheads="launch=80") == [280.0 + 200.0]


def test_what_a_job_had_saved_before_the_change_stays_saved(tmp_path):
    """Saved every 100 s, last at 300 s; the node is down from 390 to 400 s."""
    (tmp_path / "outages.csv").write_text("node,down,up\n0,390,400\n")
    found = finish_s(
        tmp_path, [("a", 0, 1000)], overheads="checkpoint=100", failures=f"trace:{tmp_path}/outages.csv"
    )
    saved = 250 + 50 / 2  # at 300 s
    assert found == [400 + (1000 - saved) * 2]
