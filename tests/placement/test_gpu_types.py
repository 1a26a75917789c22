"""A job that is bound to a GPU type runs on no other, whichever policy places it."""

import numpy as np
import pytest

from blox import Experiment
from blox.registry import classes

ANY_GPU = {"count"}  # says that it does not look at GPU types


@pytest.mark.parametrize("gpus", [1, 2])
@pytest.mark.parametrize("placement", sorted({*classes("placement")} - ANY_GPU))
def test_a_job_waits_for_the_type_that_it_is_bound_to(placement, gpus, tmp_path):
    """Six jobs for the one node of v100 GPUs, while two of k80 are idle."""
    lines = [f"job-{at},0,{gpus},100,v100" for at in range(6)]
    (tmp_path / "jobs.csv").write_text("\n".join(["job_id,submit_s,gpus,duration_s,gpu_types", *lines]))
    result = Experiment(
        workload=str(tmp_path / "jobs.csv"),
        cluster="k80=2x4,v100=1x4",
        scheduler="fifo:strict=false",
        placement=placement,
        performance="duration",
        round_s=100.0,
    ).run()
    assert np.isin(result.stints["gpu"], [8, 9, 10, 11]).all() and (result.jobs["state"] == "finished").all()
