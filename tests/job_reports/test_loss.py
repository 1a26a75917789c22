"""Losses of simulated jobs: as often as observed on Philly they converge early; or they come from a file."""

import re

import numpy as np
import pytest

from blox.errors import BloxError
from blox.job_reports.loss import Loss
from blox.job_reports.loss_file import LossFile
from blox.registry import build
from support.states import admitted

JOBS = 4000
CURVES = "job_id,epoch,loss\njob-0,1,3.0\njob-0,2,1.5\n*,1,2.0\n*,2,1.0\n*,3,0.5\n"


def losses(source, state, rows):
    """The loss of each job (row) after each of its epochs (column)."""
    epochs = int(source.epochs_of(rows, state)[0])
    each = [source.report(rows, np.full(len(rows), float(at)), state)["loss"] for at in range(1, epochs + 1)]
    return np.array(each).T


@pytest.mark.parametrize("seed", range(3))
def test_as_many_jobs_as_observed_are_near_their_lowest_loss_early(seed):
    """75 % of the jobs are within 0.1 % of their lowest loss after 40 % of their epochs, and not before."""
    state = admitted([1] * JOBS, seed=seed)
    found = losses(Loss(), state, np.arange(JOBS))
    near = found <= 1.001 * found.min(axis=1, keepdims=True)
    assert abs(near[:, 39].mean() - 0.75) < 0.02
    assert near[:, 38].mean() < 0.01
    assert near[:, 89].mean() == near[:, 39].mean(), "the others are not until they are about to end"
    assert (np.diff(found, axis=1) < 0).all()


def test_jobs_to_come_change_nothing_about_those_before():
    few, many = admitted([1] * 10), admitted([1] * 1000)
    rows = np.arange(10)
    assert np.array_equal(losses(Loss(), few, rows), losses(Loss(), many, rows))


@pytest.mark.parametrize("options", ["share=0", "at=1.5", "within=-1", "epochs=0"])
def test_options_that_mean_nothing_are_refused(options):
    with pytest.raises(BloxError, match=options.partition("=")[0]):
        build("reports", f"loss:{options}")


def test_curves_from_a_file_are_those_of_their_jobs(tmp_path):
    (tmp_path / "curves.csv").write_text(CURVES)
    source, state = LossFile(str(tmp_path / "curves.csv")), admitted([1, 1])
    rows = np.arange(2)
    assert source.epochs_of(rows, state).tolist() == [2, 3]
    assert source.report(rows, np.array([2.0, 3.0]), state)["loss"].tolist() == [1.5, 0.5]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("job_id,loss\n", "curves.csv:1 the columns are job_id, loss"),
        ("job_id,epoch,loss\n", "no curves"),
        ("job_id,epoch,loss\na,1,0.5\na,3,0.4\n", "curves.csv:3.*epoch '3'"),
        ("model,epoch,loss\nLSTM,1,low\n", "curves.csv:2.*the loss is 'low'"),
        ("model,epoch,loss\nLSTM,1\n", "curves.csv:2.*2 cells"),
    ],
)
def test_a_file_that_holds_no_curves_is_refused_with_its_line(tmp_path, text, words):
    (tmp_path / "curves.csv").write_text(text)
    with pytest.raises(BloxError) as told:
        LossFile(str(tmp_path / "curves.csv"))
    assert re.search(words, f"{told.value.where} {told.value.what}")
