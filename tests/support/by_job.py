"""What a result says of each job, by its id."""


def figures(result, column):
    """Job -> its figure in a column of `jobs.csv`."""
    return dict(zip(result.jobs["job_id"], result.jobs[column].tolist()))


def times(result, column="first_start_s"):
    """Job -> (a time, by default its first start; its finish)."""
    starts, ends = figures(result, column), figures(result, "finish_s")
    return {job: (starts[job], ends[job]) for job in starts}


def gpus(result):
    """Job -> the GPUs of its stints, ascending."""
    found = {}
    for job, gpu in sorted(zip(result.stints["job"].tolist(), result.stints["gpu"].tolist())):
        found.setdefault(result.jobs["job_id"][job], []).append(gpu)
    return found
