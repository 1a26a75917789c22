"""The optimistic profiler: few numbers of cores are tried, memory is worked out."""

import numpy as np
import pytest

from blox.errors import BloxError
from blox.performance.sensitivity import Sensitivity
from blox.profiles.synergy import surfaces
from blox.profiles.synergy_profiler import (
    Dataset,
    epoch_with_memory_s,
    measured_cores,
    optimistic_profile,
    storage_demand_gb_per_s,
)


def test_cores_are_halved_until_it_shows_and_then_taken_one_by_one():
    tried = []

    def epoch_s(cores):
        tried.append(cores)
        return 100.0 if cores >= 5 else 500.0 / cores

    times = measured_cores(epoch_s, 24)
    assert tried == [24, 12, 6, 3, 5, 4, 2, 1]
    assert times[5] == 100.0 and times[4] == 125.0


def test_a_job_that_does_not_care_is_tried_a_few_times_only():
    assert list(measured_cores(lambda cores: 60.0, 24)) == [1, 3, 6, 12, 24]


def test_memory_is_a_cache_of_the_data_set():
    data = Dataset(size_gb=100.0, memory_gb_per_s=10.0, storage_gb_per_s=0.5)
    assert epoch_with_memory_s(np.array([50.0]), 100.0, data).tolist() == [50.0]  # computing is the limit
    assert epoch_with_memory_s(np.array([50.0]), 50.0, data).tolist() == [105.0]  # 5 s cached, 100 s storage
    assert storage_demand_gb_per_s(55.0, 50.0, data) == pytest.approx(1.0)
    assert storage_demand_gb_per_s(55.0, 100.0, data) == 0.0


def test_the_profile_is_a_surface_with_speed_1_at_the_fair_share():
    data = Dataset(size_gb=100.0)
    surface = optimistic_profile(lambda cores: 600.0 / min(cores, 6), 24, (62.5, 125.0), data, (3.0, 125.0))
    assert surface.at(3, 125) == 1.0
    assert surface.at(6, 125) == pytest.approx(2.0) and surface.at(24, 125) == pytest.approx(2.0)
    assert surface.at(6, 62.5) == pytest.approx(min(2.0, 200 / (6.25 + 75)))
    assert surface.least(24, 250).cpu == 6


def test_a_surface_is_linear_between_its_points_and_level_beyond():
    alexnet = surfaces()["alexnet"]
    assert alexnet.at(3, 62.5) == 1.0 and alexnet.at(12, 125) == 2.94 and alexnet.at(99, 999) == 2.94
    assert alexnet.at(3.5, 62.5) == pytest.approx(1.125)
    assert alexnet.at(0.5, 62.5) == pytest.approx(0.15)


def test_a_table_that_is_not_a_profile_is_told_in_words(tmp_path):
    path = tmp_path / "speeds.csv"
    path.write_text("model,cpu\nalexnet,3\n")
    with pytest.raises(BloxError, match="cpu_per_gpu"):
        Sensitivity(profiles=str(path))


@pytest.mark.parametrize("speed", ["0", "nan", "-1", "inf"])
def test_speeds_are_numbers_above_0(tmp_path, speed):
    path = tmp_path / "own.csv"
    path.write_text(f"model,cpu_per_gpu,mem_per_gpu_gb,tput_rel_to_3cpu_62.5gb\nalexnet,3,62.5,{speed}\n")
    with pytest.raises(BloxError, match="above 0") as told:
        surfaces(str(path))
    assert "own.csv:2" in str(told.value)


def test_a_short_line_is_not_passed_over(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text(
        "model,cpu_per_gpu,mem_per_gpu_gb,tput_rel_to_3cpu_62.5gb,cpu_gpu_ratio_set\nalexnet,3,62.5,1\n"
    )
    with pytest.raises(BloxError, match="4 cells, 5 wanted"):
        surfaces(str(path))
