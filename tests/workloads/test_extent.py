"""Finite workloads run to their end; only endless ones are limited."""

from __future__ import annotations

from pathlib import Path

import pytest

from blox import BloxError, Experiment
from blox.workloads import extent
from blox.workloads.spec import workload_from_spec

MINE = """
import numpy as np
from blox.workloads.table import JobTable


class Mine:
    {said}

    def batches(self, rng):
        for start in range(0, {stop}, 500):
            rows = np.arange(start, start + 500)
            yield JobTable.build({{"job_id": rows, "submit_s": rows * 60.0, "gpus": np.ones(500, dtype=int),
                                  "duration_s": np.full(500, 30.0)}}, source="mine")
"""


def mine(folder: Path, stop: int, said: str = "") -> str:
    (folder / "mine.py").write_text(MINE.format(stop=stop, said=said))
    return f"{folder}/mine.py:Mine"


def test_a_finite_workload_of_ones_own_is_not_cut(tmp_path: Path) -> None:
    result = Experiment(workload=mine(tmp_path, 2500), cluster="1x4").run()
    assert (result.summary["jobs"], result.summary["finished"]) == (2500, 2500)


def test_one_that_says_it_is_endless_is_limited(tmp_path: Path) -> None:
    spec = mine(tmp_path, 10**9, "endless = True")
    assert Experiment(workload=spec, cluster="1x4").run().summary["jobs"] == 1000


def test_one_that_does_not_end_and_says_nothing_is_refused(tmp_path: Path, command) -> None:  # type: ignore[no-untyped-def]
    spec = mine(tmp_path, 10**9)
    answer = command("run", "--workload", spec, "--cluster", "1x4")
    assert answer.code == 2
    assert "has not ended after 100,000 jobs" in answer.err and "--jobs N" in answer.err
    assert command("run", "--workload", spec, "--cluster", "1x4", "--jobs", 20).code == 0


def test_a_long_one_that_says_it_ends_is_taken_at_its_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extent, "MOST_COUNTED", 1000)
    with pytest.raises(BloxError, match="not ended"):
        Experiment(workload=mine(tmp_path, 1500), cluster="1x4").prepare()
    prepared = Experiment(workload=mine(tmp_path, 1500, "endless = False"), cluster="1x4").prepare()
    assert prepared.most_jobs is None


@pytest.mark.parametrize(
    ("spec", "endless"),
    [("philly", True), ("philly:jobs=7", False), ("constant", True), ("elastic", True),
     ("elastic:of=philly", True), ("elastic:of=philly:jobs=7", False)],
)  # fmt: skip
def test_generators_of_ours(spec: str, endless: bool) -> None:
    assert extent.is_endless(workload_from_spec(spec), 0, where="here") == endless
