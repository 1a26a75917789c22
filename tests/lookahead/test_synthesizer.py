"""The synthesizer: by hand where it can be, and against the static policies that it chooses among."""

from dataclasses import replace

import numpy as np
import pytest

from blox import Experiment, Result, registry
from blox.cli.main import answer
from blox.report.labels import labels, unmarked
from support.same_results import same
from support.traces import HEADER, trace
from support.worlds import World

SMALL = Experiment(workload="philly:load=40,max_gpus=4", jobs=120, cluster="4x4", performance="duration")
THREE = "scheduler=fifo,srtf,las"


def jobs_of(*jobs):
    """(submission, GPUs, duration) of each, as a world has them."""
    return tuple((f"j{i}", at, gpus, length, "", "", "", "", 0) for i, (at, gpus, length) in enumerate(jobs))


def test_it_takes_the_better_policy_and_says_what_each_would_have_given():
    """One GPU, jobs of 3000 s and 300 s: FIFO gives 3150 s on average, SRTF 1800."""
    world = World(jobs_of((0, 1, 3000.0), (0, 1, 300.0)), (1,))
    auto = "scheduler=fifo,srtf;every=1,belief=oracle"
    result = replace(world.experiment(), auto=auto).run()
    assert result.jobs["finish_s"].tolist() == [3300.0, 300.0]
    choices = result.tables["choices"]
    assert choices["time_s"][:2].tolist() == [0.0, 0.0]
    assert choices["combination"][:2].tolist() == ["fifo", "srtf"]
    assert choices["avg_jct_s"][:2].tolist() == [3150.0, 1800.0]
    assert choices["score"][:2].tolist() == [1.75, 1.0]
    assert choices["rules"][:2].tolist() == [0, 1]
    assert choices["jobs"][:2].tolist() == [2, 2]
    assert result.summary["choices"] == 2, "after the second, no job waits: there is nothing to choose"
    assert result.summary["changes_of_policy"] == 1


def test_the_first_combination_rules_until_the_first_decision_and_stays_where_all_are_alike():
    world = World(jobs_of((0, 1, 600.0), (0, 1, 600.0)), (1,))
    result = replace(world.experiment(), auto="scheduler=srtf,fifo;every=1").run()
    assert result.summary["changes_of_policy"] == 0


def test_a_run_that_ends_before_the_first_decision_has_no_choices(tmp_path):
    result = replace(SMALL, auto="scheduler=fifo,srtf;every=20", jobs=5, max_rounds=1).run()
    assert result.summary["choices"] == 0
    assert result.tables["choices"]["combination"].tolist() == []
    assert result.tables["choices"].keys() >= {"time_s", "avg_jct_s", "score", "rules"}
    result.save(tmp_path / "kept")
    assert Result.load(tmp_path / "kept").summary["choices"] == 0


def test_a_policy_takes_over_while_jobs_keep_running():
    """Two GPUs: a runs on one; b, which is long, and c, which is short, want the other. c goes first."""
    world = World(jobs_of((0, 1, 9000.0), (0, 1, 9000.0), (300, 1, 600.0)), (2,))
    result = replace(world.experiment(), auto="scheduler=fifo,srtf;every=1,belief=oracle").run()
    assert result.jobs["finish_s"].tolist() == [9000.0, 9600.0, 900.0]
    assert result.jobs["preemptions"].tolist() == [0, 1, 0], "a is not touched when srtf takes over"


def test_the_announced_end_of_a_drain_decides():
    """Two nodes of a GPU; from 0 to 2400 node 1 takes no job. j0 needs both, for 300 s, j1 one, for 3000 s.

    In strict order j0 runs from 2400 to 2700, and j1 from 3000 on: rounds ahead grow to a quarter of the time
    passed. If j1 goes first, it ends at 3000 and j0 at 3300. Were node 1 not to come back, nothing would ever
    run in strict order, and both jobs count as if they ran by themselves from 0 on.
    """
    world = World(jobs_of((0, 2, 300.0), (0, 1, 3000.0)), (1, 1), outages=((1, 600.0, 2400.0, 600.0),))
    auto = "scheduler=fifo,fifo:strict=false;every=1,belief=oracle,arrivals=none"
    experiment = replace(world.experiment(), auto=auto)
    result = experiment.run()
    assert result.jobs["finish_s"].tolist() == [3300.0, 3000.0]
    assert result.tables["choices"]["avg_jct_s"][:2].tolist() == [4350.0, 3150.0]
    assert result.tables["choices"]["rules"][:2].tolist() == [0, 1]
    same_choices(result, experiment.run(skip=False))


def test_a_drain_decides_nothing_before_its_notice():
    """j0 has both nodes until 3600. From 1500 on it is known that node 1 is down from 1800 to 2400.

    Until then both policies give j0 3600 s and j1, of 600 s, which starts at 3600, 3600 s. Then j0 ends at
    4200. j1 ends at 4800 in strict order, or takes node 0 from 1800 to 2400.
    """
    world = World(jobs_of((0, 2, 3600.0), (600, 1, 600.0)), (1, 1), outages=((1, 1800.0, 2400.0, 300.0),))
    auto = "scheduler=fifo,fifo:strict=false;every=1,belief=oracle,arrivals=none"
    result = replace(world.experiment(), auto=auto).run()
    choices = result.tables["choices"]
    for time_s in (600.0, 900.0, 1200.0):
        assert choices["avg_jct_s"][choices["time_s"] == time_s].tolist() == [3600.0, 3600.0]
    assert choices["avg_jct_s"][choices["time_s"] == 1500.0].tolist() == [4200.0, 3000.0]
    assert result.jobs["finish_s"].tolist() == [4200.0, 2400.0]


def test_hysteresis_keeps_what_rules_where_another_is_little_better():
    world = World(jobs_of((0, 1, 3000.0), (0, 1, 300.0)), (1,))
    for hysteresis, first in ((0.4, [3300.0, 300.0]), (0.45, [3000.0, 3300.0])):  # 1800 is 43 % below 3150
        auto = f"scheduler=fifo,srtf;every=1,belief=oracle,hysteresis={hysteresis}"
        assert replace(world.experiment(), auto=auto).run().jobs["finish_s"].tolist() == first


def test_decisions_are_made_every_so_many_rounds_while_jobs_have_to_wait():
    result = replace(SMALL, auto=f"{THREE};every=4").run()
    times = np.unique(result.tables["choices"]["time_s"])
    intervals = times // 1200.0
    assert len(times) > 10 and len(np.unique(intervals)) == len(times), "one for an interval of four rounds"
    assert result.summary["choices"] == len(times)
    assert result.timing["choices_cpu_s"] >= result.timing["longest_choice_cpu_s"] > 0


def test_a_choice_stands_for_a_tenth_of_the_time_for_which_jobs_come_ahead():
    """One GPU and more work than it can do: there is a choice to make in every interval of five minutes."""
    world = World(jobs_of(*((600.0 * at, 1, 900.0) for at in range(30))), (1,))
    auto, apart = "scheduler=fifo,srtf;every=1,belief=none", {}
    for options in ("", ",horizon=30m", ",arrivals=none"):
        choices = replace(world.experiment(), auto=auto + options).run().tables["choices"]
        times = np.unique(choices["time_s"])[1:]  # before the second job comes, nobody waits
        apart[options] = np.diff(times)
    assert (apart[",arrivals=none"] == 300.0).all()
    assert (apart[",horizon=30m"] == 300.0).all(), "three minutes, but at least `every` rounds"
    assert apart[""][0] == 300.0 and apart[""][-1] >= 2400.0, "a tenth of seven hours, at the end"


@pytest.mark.parametrize("auto", [f"{THREE};every=3", f"{THREE};every=5,belief=none,horizon=6h"])
@pytest.mark.parametrize("clock", ["rounds", "events:quantum_s=300"])
def test_skipping_rounds_changes_nothing_and_runs_repeat(auto, clock):
    experiment = replace(SMALL, auto=auto, clock=clock)
    once = experiment.run()
    same(once, experiment.run())
    if clock == "rounds":
        same_choices(once, experiment.run(skip=False))


def same_choices(once, skipless):
    same(once, skipless)
    for name, values in once.tables["choices"].items():
        assert values.tolist() == skipless.tables["choices"][name].tolist()


@pytest.mark.parametrize("belief", ["learnt", "oracle"])
def test_so_it_is_where_nodes_fail_and_drain(belief):
    failures = "mtbf=20h,repair=2h+drain:node=1,at=2h,lasts=3h,notice=1h"
    auto = f"{THREE};every=3,arrivals=none,belief={belief}"
    experiment = replace(SMALL, jobs=60, auto=auto, failures=failures)
    once = experiment.run()
    assert once.summary["node_failures"] > 1 and once.summary["choices"] > 3
    same_choices(once, experiment.run(skip=False))


@pytest.mark.parametrize("seed", range(3))
def test_so_it_is_where_the_end_of_an_interval_is_no_exact_number(seed):
    """Rounds of 33.3 s: 5 x 33.3 x n lies a rounding error beside the boundary of a round."""
    auto = "scheduler=fifo:strict=false,srtf,sjf;every=5,arrivals=none"
    experiment = replace(SMALL, jobs=60, auto=auto, round_s=33.3, performance="auto", seed=seed)
    same_choices(experiment.run(), experiment.run(skip=False))


def test_among_combinations_that_decide_alike_it_is_that_policy():
    """A threshold of a million times the GPUs admits every job."""
    for scheduler in ("srtf", "las"):
        static = replace(SMALL, scheduler=scheduler).run()
        alike = "admission=accept-all,threshold:factor=1000000"
        alone = replace(SMALL, auto=f"scheduler={scheduler};{alike};every=2").run()
        for name in ("first_start_s", "finish_s", "preemptions"):
            assert alone.jobs[name].tolist() == static.jobs[name].tolist()


def test_jobs_come_again_with_the_times_of_a_log(tmp_path):
    lines = ["a,0,4,7200,0", "b,0,4,7200,7200", "c,300,4,3600,900", "d,900,2,3600,"]
    jobs = trace(tmp_path / "jobs.csv", lines, f"{HEADER},logged_start_s")
    result = Experiment(jobs, cluster="1x4", auto=f"{THREE};every=1").run()
    assert result.summary["finished"] == 4 and result.summary["choices"] > 2


@pytest.mark.parametrize("belief", ["learnt", "none", "told", "noisy:sigma=9.9"])
def test_jobs_that_end_before_they_do_any_work_do_not_come_again(belief, tmp_path):
    """Jobs that a limit ends while they are launching."""
    lines = ["a,0,4,7200,200", "b,0,4,7200,", "c,300,4,3600,", "d,600,4,3600,200", "e,900,2,3600,"]
    jobs = trace(tmp_path / "jobs.csv", lines, f"{HEADER},limit_s")
    result = Experiment(
        jobs,
        cluster="1x4",
        overheads="launch=300",
        termination="time-limit",
        auto=f"{THREE};every=1,belief={belief}",
    ).run()
    assert result.summary["finished"] == 5 and result.summary["ended_early"] == 2
    assert result.summary["choices"] > 2


def test_every_kind_can_be_chosen():
    """A job of 4 GPUs goes to one node, or is spread over two at a fifth of its speed."""
    auto = "placement=first-free,consolidated;admission=accept-all,threshold:factor=1;scheduler=fifo,las"
    result = replace(SMALL, auto=auto + ";every=5", performance="spread").run()
    names = result.tables["choices"]["combination"][:8].tolist()
    assert names[0] == "fifo + accept-all + first-free" and len(set(names)) == 8
    assert result.summary["finished"] == 120


ALTERNATE = """asked = []

def alternate(result):
    choice, combination = divmod(len(asked), 2)
    asked.append(result.label)
    return float(combination == choice % 2)
"""


@pytest.mark.parametrize("name", registry.names("scheduling"))
def test_every_scheduler_can_be_swapped_in_and_out(name, tmp_path):
    """Whatever a policy remembers, it goes on when its turn comes again: here at every choice."""
    (tmp_path / "mine.py").write_text(ALTERNATE)
    elastic = name in ("pollux", "optimus")
    workload = "elastic:jobs=6,load=60,max_gpus=8" if elastic else "philly:load=60,max_gpus=8,jobs=24"
    spec = "promote:policy=las" if name == "promote" else name
    auto = f"scheduler={'srtf' if name == 'fifo' else 'fifo'},{spec};every=2,horizon=1h"
    experiment = Experiment(workload=workload, cluster="2x4", seed=2, max_rounds=100)
    turns = replace(experiment, auto=f"{auto},objective={tmp_path}/mine.py:alternate").run().summary
    assert turns["changes_of_policy"] == turns["choices"] > 3
    assert turns["finished"] > 2


def test_a_rigid_policy_takes_over_from_one_that_resizes():
    """Jobs hold other numbers of GPUs then than they ask for; no plan may count on GPUs that are not free."""
    elastic = Experiment(
        workload="elastic:load=20,max_gpus=8",
        jobs=12,
        cluster="4x4",
        round_s=60,
        auto="scheduler=pollux,las",
    )
    result = elastic.run()
    assert result.summary["finished"] == 12
    assert len(set(result.tables["choices"]["combination"])) == 2


def test_an_oracle_is_marked():
    quick = replace(SMALL, jobs=10)
    marked = {
        "scheduler=fifo,las": False,
        "scheduler=fifo,srtf": True,  # srtf reads durations
        "scheduler=fifo,las;belief=oracle": True,
        "scheduler=fifo,las;belief=none": False,
        "scheduler=fifo,las;belief=noisy": False,  # reads them, with an error of its own
    }
    for auto, expected in marked.items():
        found = replace(quick, auto=auto).run().experiment["provenance"]
        assert found.get("oracle", False) is expected, auto


def test_a_synthesizer_is_called_what_it_believes_and_the_policies_that_know_durations_are_named():
    """SRTF is told what the run's own belief tells, whatever the synthesizer believes."""
    quick = replace(SMALL, jobs=10)
    called = {
        "scheduler=fifo,las": "auto",
        "scheduler=fifo,las;belief=none": "auto",
        "scheduler=fifo,las;belief=oracle": "auto (oracle)",
        "scheduler=fifo,las;belief=told": "auto (oracle)",
        "scheduler=fifo,las;belief=noisy:sigma=1": "auto (noisy)",
        "scheduler=fifo,srtf": "auto (srtf: oracle)",
        "scheduler=fifo,srtf;belief=oracle": "auto (oracle)",
        "scheduler=fifo,srtf;belief=noisy": "auto (noisy; srtf: oracle)",
    }
    for auto, name in called.items():
        run = replace(quick, auto=auto).run()
        assert labels([run]) == [name]
        assert unmarked(name) == "auto"
    told = replace(quick, auto="scheduler=fifo,srtf;belief=noisy", belief="noisy:sigma=0.5").run()
    assert labels([told]) == ["auto (noisy)"]


def test_both_objectives_together_are_near_the_best_in_each():
    statics = {name: replace(SMALL, scheduler=name).run().summary for name in ("fifo", "srtf", "las")}
    both = replace(SMALL, auto=f"{THREE};objective=avg_jct+avg_responsiveness,every=5").run().summary
    assert both["avg_jct_s"] < 1.1 * min(each["avg_jct_s"] for each in statics.values())


def test_results_are_kept_read_back_and_run_again_to_the_byte(tmp_path, capfd):
    command = ["run", "--workload", "philly:load=40,max_gpus=4", "--jobs", "40", "--cluster", "4x4"]
    auto = ["--auto", THREE, "--auto", "admission=accept-all,threshold:factor=1.2", "--auto", "every=5"]
    assert answer([*command, *auto, "--out", str(tmp_path / "a")]) == 0
    assert "auto" in capfd.readouterr().out
    kept = Result.load(tmp_path / "a")
    assert kept.label == "auto" and "choices" in kept.tables
    assert kept.tables["choices"]["combination"][1] == "fifo + threshold:factor=1.2"
    assert answer(["run", str(tmp_path / "a" / "experiment.toml"), "--out", str(tmp_path / "b")]) == 0
    for file in ("jobs.csv", "summary.json", "choices.csv", "experiment.toml"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_synthesizers_side_by_side_are_told_apart_by_their_options():
    """Names were cut at the colon of a policy's options."""
    quick, lists = replace(SMALL, jobs=10), "scheduler=fifo,las"
    autos = (f"{lists};admission=accept-all,threshold:factor=1.2", f"{lists};belief=noisy:sigma=2", lists)
    runs = [replace(quick, auto=auto).run() for auto in autos]
    assert labels(runs) == [
        "auto [admission=accept-all,threshold:factor=1.2]",
        "auto [belief=noisy:sigma=2]",
        "auto",
    ]
    own = replace(quick, auto={"scheduler": ["fifo", "las"], "objective": lambda result: 1.0}).run()
    assert len({*labels([own, runs[2]])}) == 2
