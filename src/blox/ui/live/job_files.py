"""What is kept of a job in files of the cluster's directory: what its ranks printed, and what it pushed."""

from __future__ import annotations

import json
import re
from typing import Any

from blox.cluster.shell.curves import FILE
from blox.cluster.shell.place import Place

LOG_BYTES = 64 << 10  # of the end of a log
_POINTS = 400  # of a curve
_RANK = re.compile(r"rank-(\d+)\.log")


def log_of(place: Place, job: int, rank: int) -> dict[str, Any]:
    """The end of a rank's log, and which ranks have printed anything. Both empty where there are no logs."""
    folder = place.job(job)
    found = [_RANK.fullmatch(path.name) for path in folder.glob("rank-*.log")]
    ranks = sorted(int(each[1]) for each in found if each is not None)
    file = folder / f"rank-{rank}.log"
    if rank not in ranks:
        return {"ranks": ranks, "text": "", "cut": False}
    with open(file, "rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - LOG_BYTES))
        text = stream.read().decode(errors="replace")
    return {"ranks": ranks, "text": text, "cut": size > LOG_BYTES}


def curves_of(place: Place, job: int) -> dict[str, list[list[float]]]:
    """By the name of what a job pushed: [iteration, value], thinned, the extremes kept."""
    try:
        lines = (place.job(job) / FILE).read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    found: dict[str, list[list[float]]] = {}
    for line in lines:
        try:
            _, iteration, metrics = json.loads(line)
        except ValueError:
            continue  # it is being written
        for name, value in metrics.items():
            found.setdefault(name, []).append([iteration, value])
    return {name: thinned(points, _POINTS) for name, points in found.items()}


def thinned(points: list[list[float]], most: int) -> list[list[float]]:
    """At most about `most` points: of every stretch its lowest and its highest, and the ends."""
    if len(points) <= most:
        return points
    stretch = -(-2 * len(points) // most)
    kept = {0, len(points) - 1}
    for first in range(0, len(points), stretch):
        here = range(first, min(first + stretch, len(points)))
        kept |= {min(here, key=lambda i: points[i][1]), max(here, key=lambda i: points[i][1])}
    return [points[i] for i in sorted(kept)]
