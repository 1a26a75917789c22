"""When a job would start if it were submitted in the middle of a run."""

from dataclasses import replace

import numpy as np
import pytest

from blox import Experiment
from blox.errors import BloxError
from blox.experiment.when import Away, when
from support.traces import trace
from support.worlds import World

RUN = Experiment(workload="philly:load=40,max_gpus=4", jobs=120, cluster="4x4", performance="duration")


def two_jobs(**settings):
    """One GPU: by fifo, a has it until 3000 s and b until 4200 s; by srtf, b from 300 to 1500 s."""
    jobs = (("a", 0.0, 1, 3000.0, "", "", "", "", 0), ("b", 300.0, 1, 1200.0, "", "", "", "", 0))
    return World(jobs, (1,), **settings).experiment().prepare()


def test_behind_those_that_wait_or_before_them():
    for scheduler, start in (("fifo", 4200.0), ("srtf", 1500.0)):
        found = when(two_jobs(scheduler=scheduler), 700.0, gpus=1, duration_s=600.0, belief="oracle")
        assert found.at_s == 900.0, "the first round after it comes"
        assert found.start_s.tolist() == [start] and found.finish_s.tolist() == [start + 600.0]
        assert (found.running, found.waiting, found.finished) == (1, 1, 0)
        assert found.starts_in(50) == [start - 900.0]


def test_the_truth_is_what_a_run_with_that_job_gives():
    """The same jobs and one more at the end, in a trace."""
    jobs = tuple((f"j{i}", 100.0 * i, 1 + i % 2, 900.0 + 300.0 * i, "", "", "", "", 0) for i in range(9))
    more = (*jobs, ("more", 1200.0, 2, 1000.0, "", "", "", "", 0))
    for scheduler in ("las", "srtf", "fifo:strict=false"):
        whole = World(more, (2, 2), scheduler=scheduler).run().jobs
        prepared = World(jobs, (2, 2), scheduler=scheduler).experiment().prepare()
        found = when(prepared, 1200.0, gpus=2, duration_s=1000.0, belief="oracle")
        assert found.start_s[0] == whole["first_start_s"][-1], scheduler
        assert found.finish_s[0] == whole["finish_s"][-1], scheduler


def one_wide_job(outage, **settings):
    """a has both nodes, 8 GPUs in all, for an hour; there is an outage of node 1."""
    jobs = (("a", 0.0, 8, 3600.0, "", "", "", "", 0),)
    return World(jobs, (4, 4), outages=(outage,), **settings).experiment()


AUTO = "scheduler=fifo,fifo:strict=false;every=1,belief=oracle"


@pytest.mark.parametrize("auto", ["", AUTO])
@pytest.mark.parametrize(
    ("at_s", "start_s", "away"),
    [
        (600.0, 3600.0, ()),
        (1500.0, 4200.0, (Away("gpu-1", "draining", 2400.0),)),
        (1800.0, 4200.0, (Away("gpu-1", "down", 2400.0),)),
        (2100.0, 4200.0, (Away("gpu-1", "down", 2400.0),)),
    ],
)
def test_a_drain_counts_from_its_notice_on_until_its_announced_end(at_s, start_s, away, auto):
    """Node 1 is down from 1800 to 2400, which is announced at 1500: a ends at 4200. Before, nobody knows."""
    prepared = replace(one_wide_job((1, 1800.0, 2400.0, 300.0)), auto=auto).prepare()
    found = when(prepared, at_s, gpus=8, duration_s=600.0, belief="oracle")
    assert found.start_s.tolist() == [start_s] and found.away == away


def test_nobody_knows_when_a_node_that_failed_is_back():
    failing = one_wide_job((1, 1800.0, 2400.0, None))
    found = when(failing.prepare(), 1500.0, gpus=8, duration_s=600.0, belief="oracle")
    assert found.start_s.tolist() == [3600.0] and found.away == ()
    found = when(failing.prepare(), 2100.0, gpus=8, duration_s=600.0, belief="oracle")
    assert found.never == 1 and found.away == (Away("gpu-1", "down", np.inf),)


def test_a_reservation_that_ends_later_is_waited_for(tmp_path):
    """Node 0 is maintained from 1000 to 2000, and node 1 is kept for t2 from 3000 to 6600."""
    window = '[[reservation]]\nbegin = {}\nlasts = {}\nnodes = ["{}"]\n'
    windows = window.format(1000, 1000, 0) + window.format(3000, 3600, 1) + 'tenants = ["t2"]\n'
    (tmp_path / "w.toml").write_text(windows)
    lines = ("a,0,8,900,t1", "b,0,4,1500,t1", "c,0,4,500,t2")
    (tmp_path / "t.csv").write_text("job_id,submit_s,gpus,duration_s,tenant\n" + "\n".join(lines))
    reserved = {"cluster": "2x4", "round_s": 100.0, "failures": f"reserve:{tmp_path / 'w.toml'}"}
    prepared = Experiment(workload=str(tmp_path / "t.csv"), **reserved).prepare()
    found = when(prepared, 500.0, gpus=8, duration_s=600.0, belief="oracle")
    assert (found.start_s.tolist(), found.finish_s.tolist(), found.away) == ([6600.0], [7200.0], ())
    with open(tmp_path / "t.csv", "a") as trace:
        trace.write("\nmore,500,8,600,")
    run = Experiment(workload=str(tmp_path / "t.csv"), **reserved).run()
    assert run.jobs["first_start_s"].tolist() == [0.0, 900.0, 2000.0, 6600.0]


def test_beliefs_give_a_spread_and_the_same_one_again():
    found, again = (
        when(replace(RUN, scheduler="fifo").prepare(), 4 * 3600.0, gpus=4, duration_s=600.0, samples=12)
        for _ in range(2)
    )
    assert found.start_s.tolist() == again.start_s.tolist() and len(found.start_s) == 12
    low, middle, high = found.starts_in(10, 50, 90)
    assert 0 <= low <= middle <= high < np.inf and low < high
    assert len(when(RUN.prepare(), 4 * 3600.0, gpus=4, duration_s=600.0, belief="none").start_s) == 1


def test_the_origin_goes_on_as_if_nothing_had_been_asked():
    prepared = replace(RUN, scheduler="las").prepare()
    before = prepared.run()
    when(prepared, 3600.0, gpus=4, duration_s=600.0)
    assert prepared.run().jobs["finish_s"].tolist() == before.jobs["finish_s"].tolist()


@pytest.mark.parametrize(
    ("settings", "question", "words"),
    [
        ({}, {"gpus": 17}, "asks for 17 GPUs, and the cluster has 16"),
        ({}, {"at_s": 1e7}, "the run ends after"),
        ({}, {"belief": "guess"}, "no belief is called"),
        ({"belief": "noisy"}, {"belief": "oracle"}, "true durations"),
        ({"compat": "blox:policy=Las"}, {}, "a preset behaves like another system"),
        ({"backend": "replay"}, {}, "in real time"),
        ({}, {"columns": {"colour": "red"}}, "no column is called 'colour'"),
    ],
)
def test_what_cannot_be_answered_is_told_in_words(settings, question, words):
    asked = {"at_s": 3600.0, "gpus": 4, "duration_s": 600.0, **question}
    base = replace(RUN, performance="auto") if settings else RUN
    with pytest.raises(BloxError, match=words) as fault:
        when(replace(base, **settings).prepare(), asked.pop("at_s"), **asked)
    assert fault.value.fix


@pytest.mark.parametrize("scheduler", ["las", "promote:policy=las,after_s=1200", "themis", "ftf", "backfill"])
def test_a_job_that_no_node_can_take_never_starts_whatever_the_policies_promise(tmp_path, scheduler):
    """Node 1 is down and not expected back: four GPUs are never free, and nothing else happens ahead."""
    workload = trace(tmp_path / "jobs.csv", "a,0,2,3000 c,60,1,3000 d,90,2,90000")
    (tmp_path / "down.csv").write_text("node,down,up\n1,100,20000\n")
    settings = {"workload": workload, "cluster": "2x2", "performance": "duration", "scheduler": scheduler}
    prepared = Experiment(**settings, failures=f"trace:{tmp_path / 'down.csv'}").prepare()
    assert when(prepared, 3600.0, gpus=4, duration_s=600.0, belief="oracle").never == 1


def test_looks_ahead_of_policies_that_promise_nothing_end_where_nothing_runs_any_more(tmp_path):
    """Job b needs a node that is down. Both combinations give the same average, of jobs that end ahead."""
    workload = trace(tmp_path / "jobs.csv", "a,0,2,3000 b,0,4,1000 c,60,1,3000 d,90,2,900")
    (tmp_path / "down.csv").write_text("node,down,up\n1,100,20000\n")
    settings = {"workload": workload, "cluster": "2x2", "performance": "duration"}
    settings |= {"failures": f"trace:{tmp_path / 'down.csv'}"}
    other = "promote:policy=las,after_s=1200"
    auto = {"scheduler": ["las", other], "every": 1, "arrivals": "none"}
    choices = Experiment(**settings, auto=auto).run().tables["choices"]
    figure = choices["avg_jct_s"]
    assert np.isfinite(figure).all() and figure.max() < 1e5
    np.testing.assert_array_equal(figure[0::2], figure[1::2])
