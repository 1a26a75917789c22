"""The events clock of a run that chooses between schedulers with wake-ups of their own."""

import pytest

from blox import Experiment
from blox.clock import Events


@pytest.mark.parametrize("order", ["las,tiresias", "tiresias,las"])
def test_the_most_patient_scheduler_says_how_often_the_clock_may_wake(order):
    """Tiresias asks for each exact time; under LAS equal jobs would pass each other all the time."""
    settings = {"workload": "philly:max_gpus=4,jobs=5", "cluster": "1x4", "clock": "events"}
    several = Experiment(**settings, auto={"scheduler": order.split(",")}).prepare()
    assert several.clock == Events()
    assert Experiment(**settings, scheduler="tiresias").prepare().clock == Events(1e-6)
