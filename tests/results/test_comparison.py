"""Intervals and differences of runs: over seeds where jobs are drawn, over days where they are given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blox import BloxError, Experiment
from blox.results.comparison import Comparison, difference, interval
from blox.results.replications import Replications
from blox.results.result import Result


def run(average: float | None = None, seed: int = 0, drawn: str = "", **tables: Any) -> Result:
    provenance = {"workload_sha256": drawn or str(seed)}
    summary = {} if average is None else {"avg_jct_s": average}
    return Result("las", {"seed": seed, "provenance": provenance}, summary, tables, {}, {})


def over_seeds(*jct_s: float | None) -> Replications:
    return Replications(tuple(run(value, seed) for seed, value in enumerate(jct_s)))


def test_seeds_are_paired_by_their_number() -> None:
    first = Replications(tuple(run(value, seed) for seed, value in ((1, 10.0), (2, 20.0), (3, 30.0))))
    other = Replications(
        tuple(run(value, seed) for seed, value in ((3, 29.0), (2, 19.1), (1, 8.9), (9, 0.0)))
    )
    found = difference(first, other, "avg_jct_s")
    assert found is not None and found.estimate == pytest.approx(1.0) and found.excludes_zero
    assert difference(first, over_seeds(10.0, 20.0), "avg_jct_s") is None, "one seed in common is too few"


def test_a_figure_that_a_seed_does_not_have_has_no_interval() -> None:
    assert interval(over_seeds(10.0, None, 20.0), "avg_jct_s") is None
    assert over_seeds(10.0, None, 20.0).summary == {"avg_jct_s": None}


def test_a_misspelt_figure_is_answered() -> None:
    both = over_seeds(10.0, 20.0)
    for asked in (
        lambda: interval(both, "avg_jct"),
        lambda: difference(both, both, "avg_jct"),
        lambda: both.interval("avg_jct"),
    ):
        with pytest.raises(
            BloxError, match=r"no figure .* is called 'avg_jct'\n  fix: did you mean 'avg_jct_s'"
        ):
            asked()
    mine = Result("las", {"seed": 0}, {"mine": 1.0}, {}, {}, {})
    assert difference(both, mine, "mine") is None, "a figure of one of them alone cannot be compared"


def test_the_best_and_those_not_distinguishable_from_it() -> None:
    compared = Comparison(
        [over_seeds(9.0, 10.0, 11.0), over_seeds(9.2, 10.1, 11.0), over_seeds(19.0, 20.0, 21.1)]
    )
    assert list(compared.against_best("avg_jct_s", "low")) == [0, 1, 2]
    assert compared.leaders("avg_jct_s", "low") == [0, 1]
    assert compared.leaders("avg_jct_s", "high") == [2]
    assert Comparison.of(compared) is compared
    assert compared.basis.seeds == 3


def test_runs_over_other_seeds_are_not_ranked() -> None:
    """The lowest mean is over one seed with short jobs: with them, the others are as low."""
    few = Replications((run(5.0, seed=0), run(6.0, seed=1)))
    compared = Comparison([few, over_seeds(5.1, 6.1, 11.0), over_seeds(5.3, 6.2, 11.1), run(5.0)])
    assert compared.comparable == [1, 2] and compared.basis.seeds == 3
    assert list(compared.against_best("avg_jct_s", "low")) == [1, 2]
    other = Replications((run(7.0, seed=1), run(8.0, seed=2)))
    apart = Comparison([few, other])
    assert apart.comparable == [] and not apart.basis.enough and not apart.leaders("avg_jct_s", "low")


def test_intervals_against_the_best_hold_together() -> None:
    """Each of two comparisons has 97.5 %: wider than one alone."""
    runs = [over_seeds(9.0, 10.0, 11.0), over_seeds(9.5, 10.2, 11.6), over_seeds(9.0, 10.3, 11.9)]
    alone = Comparison(runs[:2]).against_best("avg_jct_s", "low")[1]
    together = Comparison(runs).against_best("avg_jct_s", "low")[1]
    assert alone is not None and together is not None
    assert together.half_width > alone.half_width


def days(count: int, jct_s: np.ndarray, drawn: str = "trace", seed: int = 0) -> Result:
    """One run of a trace with as many jobs a day as there are for each."""
    per_day = len(jct_s) // count
    submit_s = np.repeat(np.arange(count) * 86400.0, per_day)
    columns = {"submit_s": submit_s, "jct_s": jct_s, "in_window": np.ones(len(jct_s))}
    found = run(float(jct_s.mean()), seed, drawn, **columns)
    return replace(found, summary={**found.summary, "makespan_s": float(submit_s[-1] + jct_s[-1])})


def test_one_trace_has_intervals_over_its_days() -> None:
    rng = np.random.default_rng(0)
    jct_s = rng.lognormal(8, 1, 3000)
    first, second = days(30, jct_s), days(30, jct_s * 1.05)
    found = difference(second, first, "avg_jct_s")
    assert Comparison([first, second]).basis.days == 30
    assert found is not None and found.excludes_zero, "5 % for every job, though jobs vary by far more"
    one, other = (interval(each, "avg_jct_s") for each in (first, second))
    assert one is not None and other is not None and one.high > other.low
    assert difference(second, first, "makespan_s") is None, "a figure of the run as a whole"


def test_few_days_and_other_jobs_cannot_be_told() -> None:
    jct_s = np.arange(1.0, 301.0)
    assert interval(days(3, jct_s), "avg_jct_s") is None
    assert difference(days(30, jct_s), days(15, jct_s), "avg_jct_s") is None


def test_seeds_of_one_trace_are_no_new_jobs() -> None:
    """Only the policy draws: the days are resampled, with the jobs of all seeds together."""
    rng = np.random.default_rng(1)
    both = Replications(tuple(days(20, rng.lognormal(8, 1, 400), seed=seed) for seed in range(2)))
    compared = Comparison([both])
    assert (compared.basis.seeds, compared.basis.days) == (0, 20)
    assert compared.interval(0, "avg_jct_s") is not None


def test_runs_of_a_real_trace(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    lines = ["job_id,submit_s,gpus,duration_s"]
    for row in range(600):
        lines.append(f"{row},{row * 2400},{rng.choice([1, 2, 4])},{int(rng.lognormal(8.4, 1))}")
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    fifo, srtf = (
        Experiment(workload=f"{tmp_path}/t.csv", cluster="2x4", scheduler=name).run()
        for name in ("fifo", "srtf")
    )
    found = difference(fifo, srtf, "avg_jct_s")
    assert found is not None and found.low > 0
    mean, exact = interval(fifo, "avg_jct_s"), fifo.summary["avg_jct_s"]
    assert mean is not None and mean.low < exact == mean.estimate < mean.high
    for figure in ("median_jct_s", "p95_jct_s", "p99_jct_s", "avg_responsiveness_s", "avg_rho"):
        each = interval(fifo, figure)
        assert each is not None and each.low <= fifo.summary[figure] <= each.high
