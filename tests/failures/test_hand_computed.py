"""What a failure does to jobs, computed by hand: small clusters, rounds of 300 s."""

import numpy as np
import pytest

from blox import BloxError, Experiment
from blox.failures.streams import stream


@pytest.fixture
def run(tmp_path):
    """A function that runs jobs (name, submission, GPUs, duration) with outages (node, down, up, notice)."""

    def go(jobs, cluster="1x4", outages=(), *, skip=True, **settings):
        trace, file = tmp_path / "jobs.csv", tmp_path / "outages.csv"
        lines = [",".join(map(str, job)) for job in jobs]
        trace.write_text("\n".join(("job_id,submit_s,gpus,duration_s", *lines)) + "\n")
        lines = [
            ",".join("" if cell is None else str(cell) for cell in (*each, None)[:4]) for each in outages
        ]
        file.write_text("\n".join(("node,down,up,notice", *lines)) + "\n")
        settings.setdefault("failures", f"trace:{file}")
        return Experiment(workload=str(trace), cluster=cluster, **settings).run(skip=skip)

    return go


def stints(result, job):
    """(start, end, GPUs) of each stint of a job."""
    table = result.stints
    own = table["job"] == job
    times = sorted(set(zip(table["start_s"][own].tolist(), table["end_s"][own].tolist())))
    return [
        (start, end, sorted(table["gpu"][own & (table["start_s"] == start)].tolist())) for start, end in times
    ]


class TestALostNode:
    def test_without_checkpoints_a_job_loses_what_it_did_since_it_started(self, run):
        """The node is down from 450 to 700 s: the job runs 0-450 in vain, and again from 900 on."""
        result = run([("a", 0, 4, 1000)], outages=[(0, 450, 700)])
        assert stints(result, 0) == [(0.0, 450.0, [0, 1, 2, 3]), (900.0, 1900.0, [0, 1, 2, 3])]
        jobs, summary = result.jobs, result.summary
        assert (jobs["evictions"][0], jobs["preemptions"][0], jobs["moves"][0]) == (1, 0, 0)
        assert jobs["lost_gpu_seconds"][0] == 4 * 450
        assert jobs["useful_gpu_seconds"][0] == 4 * 1000
        assert (
            summary["effective_training_ratio"] == summary["effective_training_ratio_4_gpus"] == 1000 / 1450
        )
        assert (summary["node_failures"], summary["node_drains"], summary["job_failures"]) == (1, 0, 0)
        assert (summary["evictions"], summary["evicted_jobs"], summary["preemptions"]) == (1, 1, 0)
        assert summary["gpu_availability"] == 1 - 250 / 1900
        assert summary["wait_eviction_s"] == 150  # until the round at 600
        assert summary["wait_capacity_s"] == 300  # from 600 to 900

    def test_with_checkpoints_it_loses_what_it_did_since_the_last_one(self, run):
        """Saved at 200 and 400 s of work: 600 s are left at 900."""
        result = run([("a", 0, 4, 1000)], outages=[(0, 450, 700)], overheads="checkpoint=200")
        assert result.jobs["finish_s"][0] == 1500
        assert result.jobs["lost_gpu_seconds"][0] == 4 * 50

    def test_saving_takes_time_which_is_spread_over_the_interval(self, run):
        """200 s of work and 50 s for saving it: 0.8 of the speed. By 450 s one interval of 250 s is over."""
        result = run(
            [("a", 0, 4, 1000)], outages=[(0, 450, 700)], overheads="checkpoint=200,checkpoint_cost=50"
        )
        assert result.jobs["finish_s"][0] == pytest.approx(900 + 800 / 0.8)
        assert result.jobs["lost_gpu_seconds"][0] == 4 * 200
        assert result.jobs["useful_gpu_seconds"][0] == pytest.approx(4 * 1000)

    def test_a_job_restarts_as_after_a_preemption(self, run):
        """10 s to launch, 30 s to restart; checkpoints count from when work begins."""
        result = run(
            [("a", 0, 4, 1000)], outages=[(0, 450, 700)], overheads="launch=10,restart=30,checkpoint=220"
        )
        assert result.jobs["finish_s"][0] == 900 + 30 + 1000 - 440
        assert result.jobs["lost_gpu_seconds"][0] == 0  # 440 s of work: the second checkpoint is just done
        assert result.summary["effective_training_ratio"] == 1000 / (450 + 590)

    def test_a_failure_while_a_job_starts_loses_nothing_but_the_start(self, run):
        result = run([("a", 0, 4, 1000)], outages=[(0, 450, 700)], overheads="launch=500")
        assert result.jobs["lost_gpu_seconds"][0] == 0
        assert result.jobs["finish_s"][0] == 900 + 1000

    def test_a_job_that_finishes_before_the_failure_has_finished(self, run):
        """Both happen inside the round that ends at 600."""
        result = run([("a", 0, 4, 440), ("b", 0, 4, 10)], "2x4", [(0, 450, 500)])
        assert result.jobs["finish_s"].tolist() == [440, 10]
        assert result.summary["evictions"] == 0
        assert result.summary["node_failures"] == 0, "the run had ended"

    def test_a_node_that_is_back_before_the_round_ends_has_lost_its_jobs(self, run):
        result = run([("a", 0, 4, 1000)], outages=[(0, 310, 320)])
        assert stints(result, 0) == [(0.0, 310.0, [0, 1, 2, 3]), (600.0, 1600.0, [0, 1, 2, 3])]

    def test_a_job_goes_on_elsewhere_and_gives_up_its_gpus_on_other_nodes(self, run):
        """a has 6 GPUs on two nodes; the first goes, and a third has not room for all of it: it waits."""
        jobs = [("a", 0, 6, 1000), ("b", 0, 2, 2000)]
        result = run(jobs, "2x4", [(0, 450, 1250)], placement="consolidated:fallback=spread")
        assert [(start, end) for start, end, _ in stints(result, 0)] == [(0.0, 450.0), (1500.0, 2500.0)]
        assert stints(result, 1) == [(0.0, 2000.0, [6, 7])], "b stands on the node that stays"

    def test_a_strict_order_may_block_while_a_large_job_waits(self, run):
        jobs = [("large", 0, 8, 600), ("small", 600, 1, 60)]
        strict = run(jobs, "2x4", [(0, 100, 3000)], scheduler="fifo")
        loose = run(jobs, "2x4", [(0, 100, 3000)], scheduler="fifo:strict=false")
        assert strict.jobs["first_start_s"][1] == 3600  # the large one is restarted at 3000, and ends
        assert loose.jobs["first_start_s"][1] == 600

    def test_with_the_events_clock_jobs_go_on_at_once(self, run):
        result = run([("a", 0, 4, 1000)], "2x4", [(0, 450, 700)], clock="events")
        assert stints(result, 0) == [(0.0, 450.0, [0, 1, 2, 3]), (450.0, 1450.0, [4, 5, 6, 7])]
        assert result.summary["wait_eviction_s"] == 0

    def test_a_node_that_is_down_from_the_start_takes_no_job(self, run):
        result = run([("a", 0, 4, 100)], "2x4", [(0, 0, 5000)])
        assert stints(result, 0) == [(0.0, 100.0, [4, 5, 6, 7])]
        assert result.summary["gpu_availability"] == 0.5

    def test_a_preempted_job_has_saved_its_work(self, run):
        """b displaces a at 300; a comes back at 600 with 300 s done, and loses only what it did since."""
        jobs = [("a", 0, 4, 1000), ("b", 300, 4, 300)]
        result = run(jobs, outages=[(0, 800, 850)], scheduler="srtf")
        assert [each[:2] for each in stints(result, 0)] == [(0.0, 300.0), (600.0, 800.0), (900.0, 1600.0)]
        assert (result.jobs["preemptions"][0], result.jobs["evictions"][0]) == (1, 1)
        assert result.jobs["lost_gpu_seconds"][0] == 4 * 200


class TestADrain:
    def test_a_job_that_ends_before_the_drain_is_left_alone(self, run):
        result = run([("a", 0, 4, 1000)], "2x4", [(0, 1200, 5000, 600)])
        assert stints(result, 0) == [(0.0, 1000.0, [0, 1, 2, 3])]
        assert result.summary["evictions"] == 0

    def test_a_job_that_runs_at_the_drain_goes_elsewhere_with_all_its_work(self, run):
        """It stops at 1150, and starts again on the other node at 1200 with 850 s to go."""
        result = run([("a", 0, 4, 2000)], "2x4", [(0, 1150, 5000, 600)])
        assert stints(result, 0) == [(0.0, 1150.0, [0, 1, 2, 3]), (1200.0, 2050.0, [4, 5, 6, 7])]
        assert (result.jobs["evictions"][0], result.jobs["lost_gpu_seconds"][0]) == (1, 0)
        assert (result.summary["node_failures"], result.summary["node_drains"]) == (0, 1)
        assert result.summary["effective_training_ratio"] == 1.0

    def test_a_draining_node_takes_no_new_job(self, run):
        """From 600 on (notice of 600 s) node 0 has 2 free GPUs, and b goes to node 1 all the same."""
        jobs = [("a", 0, 2, 900), ("b", 600, 2, 100)]
        result = run(jobs, "2x4", [(0, 1200, 5000, 600)], placement="consolidated")
        assert stints(result, 1) == [(600.0, 700.0, [4, 5])]
        without = run(jobs, "2x4", [], placement="consolidated", failures="none")
        assert stints(without, 1) == [(600.0, 700.0, [2, 3])]

    def test_a_job_on_a_draining_node_is_not_displaced(self, run):
        """b is shorter than a and c; its 4 GPUs must come from c, though a is the last in line."""
        jobs = [("a", 0, 4, 9000), ("c", 0, 4, 8000), ("b", 300, 4, 300)]
        result = run(jobs, "2x4", [(0, 1200, 1300, 1200)], scheduler="srtf")
        assert result.jobs["preemptions"].tolist() == [0, 1, 0]
        assert stints(result, 2) == [(300.0, 600.0, [4, 5, 6, 7])]

    def test_no_notice_means_that_jobs_stop_at_the_drain(self, run):
        result = run([("a", 0, 4, 1000)], failures="drain:node=0,at=600,lasts=200")
        assert stints(result, 0) == [(0.0, 600.0, [0, 1, 2, 3]), (900.0, 1300.0, [0, 1, 2, 3])]


class TestAJobThatFails:
    def test_a_job_fails_when_its_gpu_time_reaches_what_its_stream_says(self, run):
        """The first draw of job 0 is its first failure, in GPU-seconds; the second is counted from there."""
        first, second = stream(7, "job failures", 0).exponential(4000.0, 2)
        result = run([("a", 0, 2, 9000)], failures="job_mtbf=4000", overheads="checkpoint=60", seed=7)
        times = [end for _, end, _ in stints(result, 0)]
        assert times[0] == pytest.approx(first / 2)
        again = np.ceil(times[0] / 300) * 300
        assert times[1] == pytest.approx(again + second / 2)
        assert result.summary["job_failures"] == result.summary["evictions"] == len(times) - 1
        assert result.summary["node_failures"] == 0
        assert result.tables["evictions"]["cause"].tolist() == ["job"] * (len(times) - 1)

    def test_every_scheduler_meets_the_same_failures_by_gpu_time(self, run):
        jobs = [(f"j{i}", 60 * i, 1 + i % 4, 3000 + 500 * i) for i in range(8)]
        found = {}
        for scheduler in ("fifo", "las", "srtf"):
            result = run(jobs, "2x4", scheduler=scheduler, failures="job_mtbf=3h", overheads="checkpoint=5m")
            received = {}
            for job in range(8):
                pieces = stints(result, job)
                gpus = jobs[job][2]
                held = np.cumsum([gpus * (end - start) for start, end, _ in pieces])
                ends = [end for _, end, _ in pieces]
                times = result.tables["evictions"]
                own = times["time_s"][times["job"] == job].tolist()
                received[job] = [round(float(held[ends.index(each)]), 6) for each in own]
            found[scheduler] = received
        assert any(len(each) > 1 for each in found["fifo"].values())
        for job in range(8):
            ways = [found[scheduler][job] for scheduler in found]
            shortest = min(map(len, ways))
            assert all(way[:shortest] == ways[0][:shortest] for way in ways)


class TestEnds:
    def test_a_run_in_which_no_node_comes_back_ends_in_words(self, run):
        with pytest.raises(BloxError, match=r"nothing will change any more; 2 of 2 nodes are down") as caught:
            run([("a", 0, 4, 1000)], "2x4", [(0, 450, None), (1, 100, None)])
        assert "let nodes come back" in str(caught.value)

    def test_so_does_one_in_which_too_little_comes_back(self, run):
        for skip in (True, False):
            with pytest.raises(BloxError, match="1 of 2 nodes are down"):
                run([("a", 0, 8, 1000)], "2x4", [(0, 450, None)], skip=skip)

    def test_so_does_one_in_which_nodes_go_on_failing_and_nothing_can_run(self, run, tmp_path):
        """Node 0 is down for good; node 1 fails and comes back for ever, and the job needs both."""
        with pytest.raises(BloxError, match="nothing runs, and nothing will change any more"):
            run([("a", 0, 8, 1000)], "2x4", failures="drain:node=0,at=60+mtbf=1h,repair=1m")

    def test_many_nodes_that_fail_at_once_end_no_run(self, run):
        """All nodes fail in the round in which the only job ends, and in one in which they come back."""
        assert (
            run([("a", 0, 1, 100)], "12000x1", [(n, 150, None) for n in range(12000)]).summary["end_s"] == 100
        )
        back = run([("a", 0, 1, 1000)], "6000x1", [(n, 150, 160) for n in range(6000)])
        assert back.jobs["finish_s"].tolist() == [1300.0]  # from 300 on again, with nothing saved

    def test_and_one_in_which_a_job_never_comes_to_a_checkpoint(self, run):
        with pytest.raises(BloxError, match=r"1,001 times in a row before it saved any work") as caught:
            run([("a", 0, 4, 10 * 86400)], failures="mtbf=1h,repair=1m")
        assert "--overheads checkpoint" in str(caught.value)


class TestSameFailures:
    SETTINGS = {"workload": "philly:load=9,max_gpus=8", "cluster": "8x4", "jobs": 60}

    def outages(self, failures="mtbf=1d,repair=3h", **settings):
        result = Experiment(
            **{**self.SETTINGS, **settings}, failures=failures, overheads="checkpoint=20m"
        ).run()
        table = result.tables["outages"]
        return result.summary["end_s"], list(
            zip(table["node"], table["down_s"].tolist(), table["up_s"].tolist())
        )

    def test_the_same_seed_gives_every_scheduler_the_same_failures(self):
        runs = [
            self.outages(scheduler="fifo"),
            self.outages(scheduler="las", placement="consolidated"),
            self.outages(scheduler="srtf", clock="events"),
            self.outages(workload="philly:load=5,max_gpus=8", scheduler="tiresias"),
        ]
        end_s = min(end for end, _ in runs)
        ways = [[each for each in found if each[2] < end_s] for _, found in runs]
        assert len(ways[0]) > 5
        assert all(way == ways[0] for way in ways)

    def test_another_seed_gives_others(self):
        assert self.outages(seed=1)[1] != self.outages(seed=0)[1]

    def test_an_experiment_with_failures_runs_again_to_the_byte(self, tmp_path):
        experiment = Experiment(
            **self.SETTINGS,
            scheduler="las",
            failures="mtbf=2d,repair=3h,job_mtbf=20d",
            overheads="checkpoint=20m",
        )
        experiment.run().save(tmp_path / "one")
        Experiment.from_toml(tmp_path / "one" / "experiment.toml").run().save(tmp_path / "two")
        for name in (
            "jobs.csv",
            "summary.json",
            "outages.csv",
            "evictions.csv",
            "rounds.parquet",
            "stints.parquet",
        ):
            assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_themis_auctions_what_draining_nodes_have_not(run):
    """b and c wait for the GPUs of the one node that takes jobs, while a has a lease on the other."""
    jobs = [("a", 0, 4, 3000), ("b", 300, 4, 900), ("c", 300, 4, 900)]
    result = run(jobs, "2x4", [(0, 2400, 2500, 2300)], scheduler="themis")
    first = [stints(result, job)[0][2] for job in range(3)]
    assert first == [[0, 1, 2, 3], [4, 5, 6, 7], [4, 5, 6, 7]]
    assert (result.jobs["state"] == "finished").all()
