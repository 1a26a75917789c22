"""`blox logs` of jobs that have printed nothing."""

from dataclasses import dataclass

import pytest


@dataclass
class View:
    state: str
    end_s: float | None


@pytest.mark.parametrize(
    ("view", "told", "fix"),
    [
        (View("starting", None), ": the job is starting", "wait until it has started;"),
        (View("failed 3 times: no such file", 9.0), ", and the job has ended: failed 3 times: no such file",
         "`blox jobs 4` tells its life;"),
    ],
)  # fmt: skip
def test_a_job_that_has_printed_nothing_runs_yet_or_has_ended(
    command, monkeypatch, tmp_path, view, told, fix
):
    asked = type("Asked", (), {"job": lambda self, number: view})()
    monkeypatch.setattr("blox.cli.logs.client", lambda directory: asked)
    answer = command("logs", 4, "--cluster", tmp_path)
    assert f"rank 0 of job 4 has printed nothing{told}\n  fix: {fix}" in answer.err and answer.code != 0
