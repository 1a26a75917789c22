"""Elastic applications: the table says what its own models give, and fits what was measured."""

import numpy as np
import pytest

from blox import Experiment
from blox.errors import BloxError
from blox.performance.goodput import GradientNoise, ThroughputModel
from blox.performance.goodput_batch import BatchLimits, best_batch
from blox.profiles.elastic import RUN_GPUS, elastic_profile, elastic_profiles
from blox.profiles.pollux_application import PolluxApplication, normalised
from blox.profiles.pollux_interpolation import piecewise_linear

PROFILES = elastic_profiles()


def goodput_of(profile, progress, gpus):
    limits = BatchLimits(profile.initial_batch, profile.largest_batch, *profile.atomic)
    noise = GradientNoise(1.0, profile.noise_at(progress))
    return best_batch(ThroughputModel(*profile.throughput), noise, limits, -(-gpus // 4), gpus).goodput


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_run_times_follow_from_the_models(profile):
    progress = (np.arange(100)[:, None] + 0.5) / 100
    rate = goodput_of(profile, progress, np.array(RUN_GPUS)) / profile.initial_batch
    assert profile.run_s == pytest.approx((profile.iterations / rate).mean(axis=0), rel=1e-3)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_step_times_are_near_those_measured(profile, shared):
    measured = PolluxApplication(shared(f"data/pollux/applications/{profile.name}"))
    assert (profile.initial_batch, profile.largest_batch) == (measured.initial_batch, measured.largest_batch)
    assert profile.atomic == measured.atomic_range
    assert profile.epochs == measured.epochs
    assert profile.iterations == pytest.approx(measured.progress(measured.epochs), rel=1e-3)
    model = ThroughputModel(*profile.throughput)
    errors = [
        abs(float(model.step_s(len(shape), sum(shape), atomic)) / step - 1)
        for shape, points in measured.measured.items()
        for atomic, step, _ in points.T
        if atomic <= profile.atomic[1]
    ]
    assert np.median(errors) < 0.1


def test_shares_are_those_of_a_mix():
    assert sum(profile.share for profile in PROFILES.values()) == pytest.approx(1, abs=1e-3)


def test_between_given_counts_times_lie_between():
    profile = elastic_profile("imagenet")
    assert profile.seconds(8) == pytest.approx(profile.run_s[3])
    assert profile.run_s[3] < profile.seconds(6) < profile.run_s[2]
    assert profile.most_gpus == 640


def test_placements_are_known_by_their_smallest_rotation():
    assert normalised([4, 0, 1, 3]) == (1, 3, 4)
    assert normalised([0, 0]) == ()


def test_between_points_values_are_linear():
    grid = np.array([[x, y, z] for x in range(3) for y in range(4) for z in range(3)], dtype=float)
    values = np.stack([grid @ [1.0, 2.0, 3.0], grid @ [0.5, 0.0, -1.0] + 4], axis=1)
    between = piecewise_linear(grid, values)
    for point in np.random.default_rng(0).uniform(0, 2, (20, 3)):
        expected = (point @ [1.0, 2.0, 3.0], point @ [0.5, 0.0, -1.0] + 4)
        assert np.ravel(between(*point)) == pytest.approx(expected)
    assert np.isnan(between(5, 5, 5)).all()


def test_faults_are_told_in_words(tmp_path):
    with pytest.raises(BloxError, match="no elastic application is called 'bret'"):
        elastic_profile("bret")
    file = tmp_path / "mine.toml"
    with pytest.raises(BloxError, match="cannot be read"):
        elastic_profiles(str(file))
    file.write_text("[a]\nthroughput = [1, 1, 1]\n")
    with pytest.raises(BloxError, match="initial_batch is missing"):
        elastic_profiles(str(file))


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ({"noise": "[1e300]"}, "a figure is missing or out of range"),
        ({"noise": "[]"}, "a figure is missing or out of range"),
        ({"run_s": "[0]"}, "a figure is missing or out of range"),
        ({"run_s": "[1, 1, 1, 1, 1, 1, 1, 1]"}, "run_s has 8 figures"),
        ({"run_s": "[]"}, "run_s is missing: how long its jobs run"),
    ],
)
def test_figures_out_of_range_are_told_before_a_run(tmp_path, figures, words):
    usual = {
        "throughput": "[0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 1.5]", "initial_batch": "32", "largest_batch": "64",
        "atomic": "[8, 64]", "epochs": "5", "iterations": "1000", "noise": "[1.0]", "run_s": "[600]",
    }  # fmt: skip
    file = tmp_path / "mine.toml"
    file.write_text("[a]\n" + "\n".join(f"{key} = {value}" for key, value in {**usual, **figures}.items()))
    with pytest.raises(BloxError, match=words):
        Experiment(workload=f"elastic:profiles={file},jobs=3", performance=f"goodput:profiles={file}").run()


def test_an_unmeasured_placement_out_of_reach_is_told_in_words(shared):
    measured = PolluxApplication(shared("data/pollux/applications/bert"))
    with pytest.raises(BloxError, match="no measurement around 20 nodes"):
        measured.times([4] * 20, 8)
