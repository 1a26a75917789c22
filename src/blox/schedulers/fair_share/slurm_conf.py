"""The lines of a slurm.conf that say how jobs are ordered: weights, ages, half-life, partitions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from blox.errors import BloxError
from blox.workloads.slurm_fields import duration_s
from blox.workloads.text_files import read_table

_WEIGHTS = {
    "priorityweightage": "age",
    "priorityweightfairshare": "fairshare",
    "priorityweightjobsize": "jobsize",
    "priorityweightpartition": "partition",
    "priorityweightqos": "qos",
}
_TIMES = {"prioritymaxage": "max_age", "prioritydecayhalflife": "half_life"}


@dataclass
class SlurmConf:
    """What a slurm.conf sets; what it does not set is absent."""

    weights: dict[str, float] = field(default_factory=dict)
    times: dict[str, float] = field(default_factory=dict)  # s; inf: no decay
    favor_small: bool | None = None
    classic: bool | None = None
    relative_to_time: bool = False
    damping: float | None = None
    partition_factor: dict[str, float] = field(default_factory=dict)
    partition_tier: dict[str, float] = field(default_factory=dict)


def read_slurm_conf(path: str) -> SlurmConf:
    """The settings of the priority plugin. Other lines are passed over; included files are not read."""
    found = SlurmConf()
    text = read_table(path, fix="give a slurm.conf").replace("\\\n", " ")
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        pairs = [word.partition("=") for word in words if "=" in word]
        if not pairs:
            continue
        where = f"{path}:{number}"
        if pairs[0][0].lower() == "partitionname":
            _partition(found, {key.lower(): value for key, _, value in pairs}, where)
        else:
            _setting(found, pairs[0][0].lower(), pairs[0][2], where)
    return found


def _setting(found: SlurmConf, key: str, value: str, where: str) -> None:
    if key in _WEIGHTS:
        found.weights[_WEIGHTS[key]] = _number(value, key, where)
    elif key == "priorityweighttres":
        for piece in value.split(","):
            name, _, weight = piece.partition("=")
            if name.lower() == "gres/gpu":
                found.weights["tres"] = _number(weight, piece, where)
    elif key in _TIMES:
        seconds = _time(value, key, where)
        found.times[_TIMES[key]] = math.inf if key == "prioritydecayhalflife" and seconds == 0 else seconds
    elif key == "priorityfavorsmall":
        found.favor_small = value.lower() == "yes"
    elif key == "priorityflags":
        flags = value.upper().split(",")
        found.classic = "NO_FAIR_TREE" in flags
        found.relative_to_time = "SMALL_RELATIVE_TO_TIME" in flags
    elif key == "fairsharedampeningfactor":
        found.damping = max(_number(value, key, where), 1.0)


def _partition(found: SlurmConf, given: dict[str, str], where: str) -> None:
    name = given["partitionname"]
    both = given.get("priority", "")  # the older name of the two
    for key, kept in (
        ("priorityjobfactor", found.partition_factor),
        ("prioritytier", found.partition_tier),
    ):
        if text := given.get(key, both):
            kept[name] = _number(text, key, where)


def _number(text: str, key: str, where: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < 1e12:
        raise BloxError(f"{key} is {text!r}", where=where, fix="write a number, 0 or more")
    return number


def _time(text: str, key: str, where: str) -> float:
    try:
        seconds = duration_s(text)
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:
        raise BloxError(f"{key} is {text!r}", where=where, fix="write it as 7-0, or 14-00:00:00")
    return seconds
