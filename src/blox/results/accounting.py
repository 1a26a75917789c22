"""What the GPUs of a run cost and how much energy they take, by job and in all, under any scheduler.

Prices are dollars per GPU and hour while a job is on it; power is watts per GPU, busy or idle. Both are given
by GPU type: `2.5` for every type, or `v100=2.5,k80=0.45`. Of two jobs that share a GPU each bears half.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from blox.errors import BloxError, suggestion
from blox.registry import parse_options
from blox.state.cluster_spec import ClusterSpec
from blox.workloads.table import Array

HOUR_S = 3600.0


@dataclass(frozen=True)
class Tariff:
    """Per GPU type of a cluster: dollars per hour, watts busy, watts idle; None where they were not given."""

    dollars: Array | None = None
    busy_w: Array | None = None
    idle_w: Array | None = None

    @classmethod
    def of(cls, prices: str, power: str, cluster: ClusterSpec) -> Tariff:
        """The tariff of two settings; what does not fit the cluster is refused in words."""
        dollars = _by_type("prices", prices, "2.5", cluster) if prices else None
        watts = _by_type("power", power, "300/60", cluster) if power else None
        if watts is not None and (watts[:, 1] > watts[:, 0]).any():
            raise BloxError(
                f"{power!r} has an idle GPU take more watts than a busy one",
                where="power",
                fix="write busy/idle: 300/60",
            )
        return cls(
            None if dollars is None else dollars[:, 0],
            None if watts is None else watts[:, 0],
            None if watts is None else watts[:, 1],
        )

    def __bool__(self) -> bool:
        return self.dollars is not None or self.busy_w is not None


def account(
    tariff: Tariff,
    stints: Mapping[str, Array],
    cluster: ClusterSpec,
    *,
    jobs: int,
    begin_s: float,
    end_s: float,
    shared: bool,
    outages: Mapping[str, Array] | None = None,
) -> tuple[dict[str, Array], dict[str, Any]]:
    """Columns by job (`cost_dollars`, `energy_kwh`), and the same in all.

    A job's energy is that of its GPUs while it is on them. `energy_kwh` in all is that of every GPU of the
    cluster from `begin_s` to `end_s`, but for its `outages` (`gpu`, `gpus`, `down_s`, `up_s`);
    `idle_energy_kwh` is the part of it in which no job is on them.
    """
    type_of_gpu, gpus = _types(cluster)
    seconds = shared_out(stints) if shared else stints["end_s"] - stints["start_s"]
    hours = np.zeros((jobs, len(gpus)))
    np.add.at(hours, (stints["job"], type_of_gpu[stints["gpu"]]), seconds / HOUR_S)
    columns: dict[str, Array] = {}
    figures: dict[str, Any] = {}
    if tariff.dollars is not None:
        columns["cost_dollars"] = hours @ tariff.dollars
        figures["cost_dollars"] = float(hours.sum(axis=0) @ tariff.dollars)
    if tariff.busy_w is not None and tariff.idle_w is not None:
        columns["energy_kwh"] = hours @ tariff.busy_w / 1000
        down_hours = _down_hours(outages, type_of_gpu, begin_s, end_s, len(gpus))
        up_hours = gpus * (end_s - begin_s) / HOUR_S - down_hours
        idle_hours = np.maximum(up_hours - hours.sum(axis=0), 0.0)
        idle = float(idle_hours @ tariff.idle_w) / 1000
        figures["energy_kwh"] = float(hours.sum(axis=0) @ tariff.busy_w) / 1000 + idle
        figures["idle_energy_kwh"] = idle
    return columns, figures


def shared_out(stints: Mapping[str, Array]) -> Array:
    """The seconds of each stint; those in which several jobs are on the GPU are divided among them."""
    count = len(stints["gpu"])
    row = np.tile(np.arange(count), 2)
    time_s = np.concatenate((stints["start_s"], stints["end_s"]))
    order = np.lexsort((time_s, stints["gpu"][row]))
    begins = np.concatenate((np.ones(count, dtype=bool), np.zeros(count, dtype=bool)))
    seconds = np.zeros(count)
    there: set[int] = set()
    last_s = 0.0
    for stint, moment_s, begin in zip(row[order].tolist(), time_s[order].tolist(), begins[order].tolist()):
        for each in there:
            seconds[each] += (moment_s - last_s) / len(there)
        last_s = moment_s
        if begin:
            there.add(stint)
        else:
            there.discard(stint)
    return seconds


def _down_hours(
    outages: Mapping[str, Array] | None, type_of_gpu: Array, begin_s: float, end_s: float, types: int
) -> Array:
    """GPU hours in which nodes were down between two times, by GPU type."""
    if outages is None or not len(outages["gpu"]):
        return np.zeros(types)
    down_s = np.clip(outages["up_s"], begin_s, end_s) - np.clip(outages["down_s"], begin_s, end_s)
    kind = type_of_gpu[outages["gpu"].astype(np.int64)]
    return np.bincount(kind, down_s * outages["gpus"] / HOUR_S, minlength=types)


def _types(cluster: ClusterSpec) -> tuple[Array, Array]:
    """The type of each GPU as a number, and how many GPUs there are of each type."""
    number = {name: position for position, name in enumerate(cluster.gpu_types)}
    by_gpu = np.repeat(
        [number[node.gpu_type] for node in cluster.nodes], [node.gpus for node in cluster.nodes]
    )
    return by_gpu, np.bincount(by_gpu, minlength=len(number))


def _by_type(setting: str, text: str, form: str, cluster: ClusterSpec) -> Array:
    """The numbers of a setting by GPU type (types x numbers); each has as many as `form` shows."""
    types = cluster.gpu_types
    if "=" not in text:
        return np.array([_numbers(setting, text, form)] * len(types))
    given = parse_options(text, where=setting)
    for name in given:
        if name not in types:
            raise BloxError(
                f"the cluster has no GPUs of type {name!r}", where=setting, fix=suggestion(name, types)
            )
    for name in types:
        if name not in given:
            raise BloxError(
                f"nothing is said of GPUs of type {name!r}", where=setting, fix=f"add {name}={form}"
            )
    return np.array([_numbers(setting, given[name], form) for name in types])


def _numbers(setting: str, text: str, form: str) -> list[float]:
    found = []
    for piece in text.split("/"):
        try:
            found.append(float(piece))
        except ValueError:
            found.append(math.nan)
    if len(found) != 1 + form.count("/") or not all(0 <= number < math.inf for number in found):
        what = "watts busy/idle" if "/" in form else "dollars per GPU and hour"
        raise BloxError(
            f"{text!r} is not a number of {what}" if "/" not in form else f"{text!r} is not {what}",
            where=setting,
            fix=f"write {form} for every GPU, or TYPE={form},TYPE={form}",
        )
    return found
