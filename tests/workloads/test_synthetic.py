"""What every generator promises: seeded, ordered, endless or exact; load, spikes, bursts, errors in words."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from blox.errors import BloxError
from blox.registry import build, classes, spec_of
from blox.workloads.table import JobTable

SPECS = [
    "philly",
    "philly:load=3,max_gpus=16",
    "philly:load=8,spike_jobs=16",
    "philly:load=8,burst_factor=2",
    "gavel",
    "gavel:multi=true,offered=0.9,gpus=10000",
    "gavel:multi=true,load=20,spike_jobs=16,burst_factor=2",
    "gavel:load=0.01,burst_factor=0.001",
    "gavel:load=100000,burst_factor=3",
    "constant",
    "constant:every_s=0,jobs=20000",
    "elastic",
    "elastic:of=philly:load=8;max_gpus=16",
    "synergy",
    "synergy:multi=true,load=9,split=50+0+50",
]


def jobs(spec: str, count: int, seed: int = 1) -> dict[str, np.ndarray]:
    """The first `count` jobs as columns."""
    tables: list[JobTable] = []
    for table in build("workload", spec).batches(np.random.default_rng(seed)):
        tables.append(table)
        if sum(map(len, tables)) >= count:
            break
    return {name: np.concatenate([t.columns[name] for t in tables])[:count] for name in tables[0].columns}


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def test_every_registered_generator_is_covered_here() -> None:
    """All but `resampled`, which draws from a trace and ends with it."""
    assert {*(spec.partition(":")[0] for spec in SPECS), "resampled"} == {
        name for name, cls in classes("workload").items() if cls.__module__.startswith("blox.workloads")
    }


@pytest.mark.parametrize("spec", SPECS)
def test_batches_are_valid_and_ordered_across_their_borders(spec: str) -> None:
    columns = jobs(spec, 15_000)
    assert columns["job_id"].dtype == np.int64
    assert np.array_equal(columns["job_id"], np.arange(15_000))
    assert np.all(np.diff(columns["submit_s"]) >= 0)
    assert columns["gpus"].dtype == np.int64
    assert columns["gpus"].max() <= build("workload", spec).largest_gpus
    JobTable(columns).validate()


@pytest.mark.parametrize("spec", SPECS)
def test_a_seed_gives_the_same_jobs_every_time(spec: str) -> None:
    assert same(jobs(spec, 9000), jobs(spec, 9000))


@pytest.mark.parametrize("spec", [s for s in SPECS if not s.startswith("constant")])
def test_another_seed_gives_other_jobs(spec: str) -> None:
    assert not np.array_equal(jobs(spec, 100)["submit_s"], jobs(spec, 100, seed=2)["submit_s"])


@pytest.mark.parametrize("spec", [s for s in SPECS if "jobs=2" not in s])
@pytest.mark.parametrize("count", [1, 100, 4096, 4097, 10_000])
def test_a_shorter_workload_is_the_beginning_of_a_longer_one(spec: str, count: int) -> None:
    finite = f"{spec}{',' if ':' in spec else ':'}jobs={count}"
    tables = list(build("workload", finite).batches(np.random.default_rng(1)))
    assert sum(map(len, tables)) == count
    assert all(len(table) for table in tables)
    got = {name: np.concatenate([t.columns[name] for t in tables]) for name in tables[0].columns}
    assert same(got, jobs(spec, count))


@pytest.mark.parametrize("spec", SPECS)
def test_a_spec_survives_being_written_down(spec: str) -> None:
    workload = build("workload", spec)
    assert build("workload", spec_of(workload)) == workload


def test_two_hundred_thousand_jobs_are_drawn_without_ado() -> None:
    workload = build("workload", "philly:jobs=200000,spike_jobs=16,burst_factor=2")
    assert sum(len(table) for table in workload.batches(np.random.default_rng(3))) == 200_000


@pytest.mark.parametrize("spec", ["philly:load=8", "gavel:load=2.5"])
def test_arrivals_are_poisson_at_the_load(spec: str) -> None:
    per_hour = build("workload", spec).jobs_per_hour
    gaps = np.diff(jobs(spec, 40_000)["submit_s"])
    assert gaps.mean() == pytest.approx(3600 / per_hour, rel=0.02)
    assert gaps.std() == pytest.approx(3600 / per_hour, rel=0.03)  # exponential: as large as the mean
    assert np.quantile(gaps, 0.5) == pytest.approx(np.log(2) * 3600 / per_hour, rel=0.03)


@pytest.mark.parametrize("spec", ["gavel:multi=true,offered=0.9,gpus=10000", "philly:offered=0.5,gpus=128"])
def test_offered_load_is_the_share_of_the_gpus_that_is_asked_for(spec: str) -> None:
    workload = build("workload", spec)
    columns = jobs(spec, 400_000)
    gpu_seconds = float((columns["gpus"] * columns["duration_s"]).sum())
    share = gpu_seconds / (workload.gpus * columns["submit_s"][-1])
    assert share == pytest.approx(workload.offered, rel=0.04)
    assert workload.jobs_per_hour * workload.mix.mean_gpu_seconds / 3600 == pytest.approx(
        workload.offered * workload.gpus
    )


def test_another_load_gives_the_same_jobs_at_other_times() -> None:
    slow, fast = jobs("philly:load=4", 5000), jobs("philly:load=8", 5000)
    for name in ("gpus", "duration_s", "model", "user", "tenant"):
        assert np.array_equal(slow[name], fast[name])
    assert slow["submit_s"] == pytest.approx(2 * fast["submit_s"], abs=0.01)


@pytest.mark.parametrize(("name", "durations"), [("philly", 6), ("gavel", 1)])
def test_at_no_spread_all_jobs_of_a_size_take_equally_long(name: str, durations: int) -> None:
    drawn, usual = jobs(f"{name}:duration_spread=0", 2000), jobs(name, 2000)
    assert np.array_equal(drawn["gpus"], usual["gpus"])
    each = set(zip(drawn["gpus"].tolist(), drawn["duration_s"].tolist()))
    assert len(each) == len(set(drawn["gpus"].tolist())) and len({taken for _, taken in each}) <= durations


def test_spikes_and_bursts_leave_the_regular_jobs_alone() -> None:
    plain, both = jobs("philly", 8000), jobs("philly:spike_jobs=16,burst_factor=2", 8000)
    regular = both["job_type"] == "regular"
    for name in ("submit_s", "gpus", "duration_s", "user", "model"):
        assert np.array_equal(both[name][regular], plain[name][: regular.sum()])


@pytest.mark.parametrize("spec", ["philly", "gavel:multi=true"])
def test_the_models_can_be_chosen_and_replaced_one_by_one(spec: str) -> None:
    join = "," if ":" in spec else ":"
    first, second = (
        jobs(f"{spec}{join}models={names}", 4000) for names in ("VGG-16+LSTM+A3C", "VGG-16+BERT+A3C")
    )
    plain = jobs(spec, 4000)
    assert {"VGG-16", "LSTM", "A3C"} == set(first["model"])
    assert np.array_equal(np.where(first["model"] == "LSTM", "BERT", first["model"]), second["model"])
    for name in ("submit_s", "gpus", "duration_s", "user"):
        assert np.array_equal(first[name], plain[name])


def test_sixteen_jobs_more_come_in_the_hour_from_noon_of_each_day() -> None:
    columns = jobs("philly:load=8,spike_jobs=16", 30_000)
    spikes = columns["submit_s"][columns["job_type"] == "spike"]
    day, second = np.divmod(spikes, 86400)
    assert np.all((second >= 12 * 3600) & (second < 13 * 3600))
    complete = int(columns["submit_s"][-1] // 86400)
    assert complete > 100
    assert np.array_equal(np.bincount(day.astype(int))[:complete], np.full(complete, 16))


def test_spike_jobs_are_like_the_others() -> None:
    columns = jobs("gavel:load=1,spike_jobs=200", 200_000)
    spike = columns["job_type"] == "spike"
    assert columns["duration_s"][spike].mean() == pytest.approx(60_361, rel=0.02)


def test_bursts_begin_when_they_are_said_to() -> None:
    columns = jobs("gavel:load=8,burst_factor=2,burst_from=100h", 2000)
    burst = columns["submit_s"][columns["job_type"] == "burst"]
    assert 360_000 <= burst.min() < 364_000
    plain = columns["submit_s"] < 360_000
    assert columns["submit_s"][plain] == pytest.approx(jobs("gavel:load=8", plain.sum())["submit_s"])


def test_bursts_of_short_jobs_come_for_two_hours_every_four_hours() -> None:
    columns = jobs("gavel:load=8,burst_factor=2", 60_000)
    burst = columns["job_type"] == "burst"
    submit, duration = columns["submit_s"][burst], columns["duration_s"][burst]
    assert submit[0] >= 4 * 3600
    assert np.all(submit % (4 * 3600) < 2 * 3600)
    assert duration.min() >= 600 and duration.max() <= 3600
    assert duration.mean() == pytest.approx(2100, rel=0.01)
    assert np.quantile(duration, 0.25) == pytest.approx(1350, rel=0.02)
    windows = columns["submit_s"][-1] // (4 * 3600)
    assert len(submit) / windows == pytest.approx(2 * 8 * 2, rel=0.02)  # 16 jobs/hour for two hours
    assert columns["submit_s"][~burst] == pytest.approx(jobs("gavel:load=8", (~burst).sum())["submit_s"])


def test_a_few_tenants_and_users_submit_most_jobs() -> None:
    columns = jobs("philly", 100_000)
    tenants, counts = np.unique(columns["tenant"], return_counts=True)
    assert list(tenants) == [f"vc{k:02}" for k in range(1, 12)]
    assert counts[0] / counts.sum() == pytest.approx(41_226 / 82_229, abs=0.01)
    users, counts = np.unique(columns["user"], return_counts=True)
    assert len(users) == 110
    first, second = (counts[list(users).index(f"vc01-user{k:02}")] for k in (1, 2))
    assert first / second == pytest.approx(2, rel=0.05)
    assert all(user.startswith(f"{tenant}-") for user, tenant in zip(columns["user"], columns["tenant"]))


def test_generators_share_nothing_between_runs() -> None:
    workload = build("workload", "philly:spike_jobs=3")
    first = workload.batches(np.random.default_rng(1))
    second = workload.batches(np.random.default_rng(1))
    for one, other in itertools.islice(zip(first, second), 3):  # drawn in turn
        assert same(one.columns, other.columns)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("philly:load=0", "load is 0.0"),
        ("philly:load=-3", "load must be a number above 0 (jobs per hour)"),
        ("gavel:load=inf", "load is inf"),
        ("gavel:load=eight", "'eight' is not a number"),
        ("gavel:jobs=0", "jobs must be a whole number, 1 or more"),
        ("gavel:jobs=1.5", "'1.5' is not a whole number"),
        ("philly:max_gpus=0", "max_gpus must be a whole number, 1 or more"),
        ("philly:offered=0.9", "offered needs the number of GPUs"),
        ("philly:gpus=128", "give both: offered=0.9,gpus=128"),
        ("philly:offered=0,gpus=128", "offered must be a number above 0"),
        ("philly:offered=0.9,gpus=0", "gpus must be a whole number, 1 or more"),
        ("philly:offered=0.9,gpus=128,load=4", "load and offered both say how many jobs arrive"),
        ("philly:duration_spread=-1", "give a number from 0 to 2: 1 is as measured"),
        ("philly:duration_spread=3", "duration_spread is 3"),
        ("philly:spike_jobs=-1", "spike_jobs must be a whole number, 0 or more"),
        ("philly:burst_factor=-2", "burst_factor must be a number, 0 or more (times the load)"),
        ("gavel:burst_factor=2147483648", "a burst would have"),
        ("philly:spike_jobs=9999999", "spike_jobs must be a whole number, 0 or more, and at most 1,000,000"),
        ("philly:lod=4", "did you mean 'load'?"),
        ("phily", "did you mean 'philly'?"),
        ("gavel:multi=maybe", "'maybe' is neither true nor false"),
        ("constant:every_s=-1", "every_s must be a number, 0 or more (seconds)"),
        ("constant:every_s=0", "jobs without end, all submitted at 0"),
        ("constant:duration_s=0", "duration_s must be a number above 0 (seconds)"),
        ("constant:job_gpus=0", "job_gpus must be a whole number, 1 or more"),
        ("constant:jobs=-1", "jobs is -1"),
    ],
)
def test_a_wrong_parameter_is_told_in_words(spec: str, words: str) -> None:
    with pytest.raises(BloxError) as caught:
        build("workload", spec)
    assert words in caught.value.text()
    assert caught.value.fix


def test_spikes_come_as_often_as_is_said() -> None:
    """In the hour at the middle of every six, 5 jobs each."""
    columns = jobs("philly:load=8,spike_jobs=5,spike_every=6h", 300)
    spikes = columns["submit_s"][columns["job_type"] == "spike"]
    assert len(spikes) >= 20 and set((spikes // 3600 % 6).tolist()) == {3.0}
    assert all((spikes // 21_600 == number).sum() == 5 for number in range(4))
    daily, said = jobs("philly:spike_jobs=5", 300), jobs("philly:spike_jobs=5,spike_every=24h", 300)
    assert daily["submit_s"].tolist() == said["submit_s"].tolist()
    with pytest.raises(BloxError, match="spike_every is 60 s"):
        build("workload", "philly:spike_jobs=5,spike_every=1m")


@pytest.mark.parametrize("spec", ["philly:spike_every=6h", "gavel:burst_from=10h"])
def test_an_option_of_spikes_or_bursts_alone_has_no_effect_and_is_refused(spec: str) -> None:
    with pytest.raises(BloxError, match=r"is only of use with (spike_jobs|burst_factor)"):
        build("workload", spec)
