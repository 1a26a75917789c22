"""Optimus part by part, in cases that can be reckoned by hand."""

import numpy as np
import pytest

from blox.errors import BloxError
from blox.schedulers.optimus.allocation import ServerJob, allocate, allocate_replicas
from blox.schedulers.optimus.convergence import LossCurve, epochs_left, fit_loss, smoothed
from blox.schedulers.optimus.placement import Tasks, place, place_replicas
from blox.schedulers.optimus.speed import Asynchronous, Synchronous, fit_replicas


def test_a_curve_is_found_again():
    truth = LossCurve(0.1, 0.8, 0.05)
    found = fit_loss(np.arange(1, 15), truth.loss(np.arange(1, 15)))
    assert (found.b0, found.b1, found.b2) == pytest.approx((0.1, 0.8, 0.05), rel=1e-6)


def test_a_loss_that_rises_gives_a_flat_curve():
    found = fit_loss([1, 2, 3, 4], [1.0, 1.1, 1.2, 1.3])
    assert found.b0 == 0
    assert found.converges_at(0.01, 3) == 3


def test_epochs_left_are_unknown_at_first():
    assert epochs_left([1, 2], [1.0, 0.9]) == 20
    epochs = np.arange(1, 21)
    left = epochs_left(epochs, LossCurve(0.02, 0.5, 0.1).loss(epochs))
    assert 0 < left <= 80
    assert epochs_left(epochs, LossCurve(2.0, 0.5, 0.1).loss(epochs)) < left


def test_outliers_are_smoothed():
    assert smoothed([1.0, 5.0, 0.8]).tolist() == pytest.approx([1.0, 0.9, 0.8])
    assert smoothed([1.0, 0.9, 0.8]).tolist() == [1.0, 0.9, 0.8]


def test_speeds_by_replicas_are_fitted():
    replicas = np.array([1, 2, 4, 8])
    seconds = 1.2 / replicas + 0.1 * (replicas > 1) + 0.02 * (replicas - 1)
    assert fit_replicas(replicas, 1 / seconds).theta == pytest.approx((1.2, 0.1, 0.02))
    with pytest.raises(BloxError, match="above 0"):
        fit_replicas([1], [0.0])


def test_a_task_that_does_not_fit_is_passed_over():
    big, small = {"cpu": 4.0}, {"cpu": 1.0}
    jobs = [
        ServerJob(1000.0, Asynchronous((1.0, 0.1, 0.0, 0.0)), big, small),
        ServerJob(10.0, Synchronous((0.01, 0.1, 0.1, 0.0, 0.0), 100.0), small, small),
    ]
    given = allocate(jobs, {"cpu": 9.0})
    assert given.workers[0] == 1  # a second worker of the first job would take 4 of the 2 CPUs left
    assert sum(given.servers) + sum(given.workers) > 4


def test_jobs_that_do_not_fit_get_nothing():
    job = ServerJob(10.0, Asynchronous((1.0, 0.1, 0.0, 0.0)), {"cpu": 2.0}, {"cpu": 1.0})
    given = allocate([job, job], {"cpu": 4.0})
    assert given.workers == [1, 0]
    assert given.servers == [2, 0]


def test_replicas_stop_where_they_slow_a_job_down():
    times = np.array([[1.0, 0.6, 0.7, 0.4], [1.0, 0.5, 0.3, 0.2]])
    replicas, grants = allocate_replicas(times, np.array([100, 10]), 8)
    assert replicas.tolist() == [2, 4]  # no look-ahead over the third
    assert [job for job, _ in grants] == [0, 1, 1, 1]
    assert allocate_replicas(times, np.array([100, 10]), 8, most=np.array([1, 2]))[0].tolist() == [1, 2]
    assert allocate_replicas(times, np.array([100, 10]), 1)[0].tolist() == [1, 0]
    assert allocate_replicas(np.zeros((0, 4)), np.zeros(0), 8)[0].tolist() == []


def test_a_job_too_large_is_placed_partly_if_wanted():
    job = Tasks(4, 4, {"cpu": 2}, {"cpu": 3})
    assert place([job], [{"cpu": 10}]).where == [{}]
    assert place([job], [{"cpu": 10}], partly=True).where == [{0: (2, 2)}]
    assert place([job], [{"cpu": 4}], partly=True).where == [{}]


def test_replicas_stay_where_their_number_does():
    current = [((0, 2),), ((0, 1), (1, 1)), (), ((2, 1),)]
    found = place_replicas([2, 5, 1, 2], current, [4, 4, 4])
    assert found == [((0, 2),), ((1, 3), (0, 2)), ((1, 1),), ((2, 2),)]
    assert place_replicas([3, 3], [(), ()], [2, 2]) == [((0, 2), (1, 1)), ((1, 1),)]


def test_bad_input_is_told_in_words():
    with pytest.raises(BloxError, match="two losses"):
        fit_loss([1], [1.0])
    with pytest.raises(BloxError, match="delta"):
        LossCurve(0.1, 0.1, 0.0).converges_at(0.0)
