"""What holds in every run of a world."""

import numpy as np

from support.worlds import gpus_by_job


def no_gpu_has_two_jobs_at_a_time(world, result):
    stints = result.stints
    assert ((stints["gpu"] >= 0) & (stints["gpu"] < world.total_gpus)).all()
    assert (stints["end_s"] >= stints["start_s"]).all()
    order = np.lexsort((stints["end_s"], stints["start_s"], stints["gpu"]))
    gpu, start, end = (stints[name][order] for name in ("gpu", "start_s", "end_s"))
    follows = gpu[1:] == gpu[:-1]
    assert (start[1:][follows] >= end[:-1][follows]).all()


def gangs_are_whole(world, result):
    asked = result.jobs["gpus"]
    for (job, _, _), gpus in gpus_by_job(result).items():
        assert len(gpus) == len(set(gpus)) == asked[job]
