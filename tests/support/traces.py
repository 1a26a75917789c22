"""Small traces in our own CSV, written where a test wants them."""

from pathlib import Path

HEADER = "job_id,submit_s,gpus,duration_s"
WITH_MODEL = f"{HEADER},model"


def trace(path: Path, jobs, header=HEADER) -> str:
    """Writes a trace and returns its path.

    Jobs are rows of values, lines, or one text of lines; a text may begin with a header of its own.
    """
    lines = jobs.split() if isinstance(jobs, str) else [as_line(job) for job in jobs]
    if lines and lines[0].startswith("job_id,"):
        header = lines.pop(0)
    path.write_text("\n".join([header, *lines]) + "\n")
    return str(path)


def as_line(job) -> str:
    return job if isinstance(job, str) else ",".join(str(value) for value in job)
