"""Where the profiles of a Pollux workload are looked for when nobody says."""

from __future__ import annotations

from pathlib import Path

import pytest

from blox.workloads.pollux_profiles import applications_beside


@pytest.mark.parametrize(
    ("workload", "folder"),
    [
        ("workload.csv", "../applications"),
        ("./workload.csv", "../applications"),
        ("workloads/workload.csv", "applications"),
        ("../workloads/workload.csv", "../applications"),
        ("/data/workloads/workload.csv", "/data/applications"),
    ],
)
def test_it_is_beside_the_folder_of_the_workload(workload, folder):
    assert applications_beside(Path(workload)) == Path(folder)
