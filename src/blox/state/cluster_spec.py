"""What a cluster looks like, from a spec string or a TOML file.

Strings: `32x4` (32 nodes of 4 GPUs), `v100=9x4,p100=9x4` (by GPU type), `16x8:cpu=24,memory_gb=500`
(options for every node: cpu, memory_gb, storage_gbps, racks, network_gbps),
`v100=9x4,h100=9x4:speed=3.1` (how fast GPUs of a type are, behind that type), `v100=8x8:links=p3.16xlarge`
(how the GPUs of a node are connected, likewise: `links.py`). TOML adds racks, links and a
table per node type; `docs/semantics.md` shows one. `slurm:path` reads what Slurm's `sinfo` prints, and
`tiresias:path` a cluster file of the Tiresias simulator.
"""

from __future__ import annotations

import bisect
import csv
import io
import itertools
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from blox.errors import BloxError, found_name, suggestion
from blox.state.links import Matrix, links_from
from blox.state.slurm_nodes import nodes_from_sinfo
from blox.workloads.columns import MOST_GPUS
from blox.workloads.text_files import place_in, read_text, read_toml, user_path

DEFAULT_TYPE = "gpu"  # of GPUs that are given none: those for which durations hold
MOST_NODES = 100_000
LARGEST_FIGURE = 1e12  # of cores, GB or Gb/s: beyond it a figure is a slip of the pen
_GROUP = re.compile(r"(?:(?P<type>[A-Za-z][\w.-]*)=)?(?P<nodes>[0-9]{1,12})x(?P<gpus>[0-9]{1,12})")
NETWORK_GBPS = 100.0  # between nodes, where nothing else is said
_OPTIONS = {"cpu": 0.0, "memory_gb": 0.0, "storage_gbps": 0.0, "racks": 1, "network_gbps": NETWORK_GBPS}
_SPEED, _LINKS = "speed", "links"


@dataclass(frozen=True)
class Node:
    """One machine. `cpu` cores, `memory_gb` and `storage_gbps` (Gb/s) are 0 where not given."""

    name: str
    gpus: int
    gpu_type: str = DEFAULT_TYPE
    cpu: float = 0.0
    memory_gb: float = 0.0
    rack: int = 0
    storage_gbps: float = 0.0


@dataclass(frozen=True, eq=False)
class ClusterSpec:
    """Nodes in order of id; bandwidth between nodes; between GPUs of a node, a matrix per GPU type (Gb/s).

    `speeds`: (GPU type, training speed relative to the reference type), of the types that are given one. A
    spec is equal to itself only, so that what is worked out of it can be remembered.
    """

    nodes: tuple[Node, ...]
    network_gbps: float = NETWORK_GBPS
    rack_gbps: float = 0.0  # between racks; 0: as within
    speeds: tuple[tuple[str, float], ...] = ()
    links: dict[str, Matrix] = field(default_factory=dict)
    text: str = ""

    @cached_property
    def gpu_types(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(node.gpu_type for node in self.nodes))

    @cached_property
    def _gpus_on_largest(self) -> list[int]:
        """The GPUs of the largest node, of the two largest, ..."""
        return list(itertools.accumulate(sorted((node.gpus for node in self.nodes), reverse=True)))

    @property
    def largest_node(self) -> int:
        """The most GPUs that a node has."""
        return self._gpus_on_largest[0]

    def fewest_nodes(self, gpus: int) -> int:
        """How many nodes a job of so many GPUs takes at least."""
        return bisect.bisect_left(self._gpus_on_largest, gpus) + 1

    @property
    def total_gpus(self) -> int:
        return sum(node.gpus for node in self.nodes)


def cluster_from_spec(spec: str) -> ClusterSpec:
    """The cluster that a string or a TOML file describes; errors name the place and the form."""
    spec = spec.strip()
    if spec.endswith(".toml"):
        return _from_toml(Path(spec))
    if spec.startswith("slurm:"):
        return _from_slurm(spec)
    if spec.startswith("tiresias:"):
        return _from_tiresias(user_path(spec.removeprefix("tiresias:")), spec)
    where = f"cluster spec {found_name(spec)!r}"
    groups, options, speeds, links = _pieces(spec, where)
    nodes: list[Node] = []
    racks = int(options["racks"])
    for group in groups:
        match = _GROUP.fullmatch(group)
        if match is None:
            raise BloxError(
                f"{found_name(group)!r} does not describe nodes",
                where=where,
                fix="write NODESxGPUS (32x4), TYPE=NODESxGPUS,... (v100=9x4,p100=9x4), options behind "
                "a colon (16x8:cpu=24,memory_gb=500), slurm:SINFO.txt, or the path of a .toml file",
            )
        count, gpus = int(match["nodes"]), int(match["gpus"])
        _check_size(count, gpus, len(nodes), where)
        kind = match["type"] or DEFAULT_TYPE
        prefix = f"{kind}-" if match["type"] else "node-"
        nodes += [
            Node(f"{prefix}{i}", gpus, kind, options["cpu"], options["memory_gb"], 0, options["storage_gbps"])
            for i in range(count)
        ]
    per_rack = -(-len(nodes) // racks)
    placed = tuple(replace(node, rack=i // per_rack) for i, node in enumerate(nodes))
    _unique_names(placed, where)
    return ClusterSpec(
        placed,
        network_gbps=options["network_gbps"],
        speeds=tuple(sorted(speeds.items())),
        links={kind: _matrix(kind, given, nodes, where) for kind, given in links.items()},
        text=spec,
    )


def _pieces(spec: str, where: str) -> tuple[list[str], dict[str, float], dict[str, float], dict[str, str]]:
    """The groups of nodes of a spec, the options of every node, and the speeds and links of the GPU types."""
    groups: list[str] = []
    values: dict[str, float] = dict(_OPTIONS)
    speeds: dict[str, float] = {}
    links: dict[str, str] = {}
    behind_colon = False
    for text in spec.split(","):
        group, colon, piece = (part.strip() for part in text.partition(":"))
        behind_colon |= bool(colon)
        if colon or not behind_colon or _GROUP.fullmatch(group):
            groups.append(group)
        else:
            piece = group
        if piece:
            key, value = _option(piece, where)
            if key == _LINKS:
                links[_type_of(groups[-1])] = value
            elif key == _SPEED:
                speeds[_type_of(groups[-1])] = _speed(value, where)
            else:
                values[key] = _number(value, key, where)
    if values["racks"] < 1 or values["racks"] != int(values["racks"]):
        raise BloxError(
            f"racks is {values['racks']:g}", where=where, fix="racks must be a whole number, 1 or more"
        )
    return groups, values, speeds, links


def _option(piece: str, where: str) -> tuple[str, str]:
    """`key=value` as a pair."""
    key, equals, value = (part.strip() for part in piece.partition("="))
    valid = (*_OPTIONS, _SPEED, _LINKS)
    if not equals:
        raise BloxError(
            f"{found_name(piece)!r} is not key=value",
            where=where,
            fix=f"valid keys: {', '.join(valid)}",
        )
    if key not in valid:
        raise BloxError(f"no option is called {found_name(key)!r}", where=where, fix=suggestion(key, valid))
    return key, value


def _type_of(group: str) -> str:
    return group.partition("=")[0] if "=" in group else DEFAULT_TYPE


def _speed(value: Any, where: str) -> float:
    try:
        speed = float(value)
    except (TypeError, ValueError):
        speed = 0.0
    if not 0 < speed < float("inf"):
        raise BloxError(
            f"speed is {found_name(repr(value))}",
            where=where,
            fix="say how fast these GPUs are, such as 3.1: above 0",
        )
    return speed


def _number(value: Any, key: str, where: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = -1.0
    if isinstance(value, bool) or not 0 <= number <= LARGEST_FIGURE:
        raise BloxError(
            f"{key} is {found_name(repr(value))}",
            where=where,
            fix=f"{key} must be a number, 0 to {LARGEST_FIGURE:,.0f}",
        )
    return number


def _check_size(nodes: int, gpus: int, already: int, where: str) -> None:
    """Refuses nodes without GPUs, and more than can be simulated; `already` counts the nodes before."""
    if nodes < 1 or gpus < 1:
        raise BloxError(f"{nodes} nodes of {gpus} GPUs", where=where, fix="both must be 1 or more")
    if nodes * gpus > MOST_GPUS:
        raise BloxError(
            f"{nodes * gpus:,} GPUs", where=where, fix=f"at most {MOST_GPUS:,} GPUs can be simulated"
        )
    if nodes + already > MOST_NODES:
        raise BloxError(
            f"{nodes + already:,} nodes", where=where, fix=f"at most {MOST_NODES:,} nodes can be simulated"
        )


def _unique_names(nodes: tuple[Node, ...], where: str) -> None:
    if len({node.name for node in nodes}) < len(nodes):
        raise BloxError(
            "two groups of nodes have the same GPU type",
            where=where,
            fix="join them, or use a TOML file with names",
        )


_NODE_KEYS = {"name", "count", "gpus", "gpu_type", "speed", "cpu", "memory_gb", "storage_gbps", "rack"}
_TOP_KEYS = {"nodes", "network_gbps", "rack_gbps", "links"}


def _from_toml(path: Path) -> ClusterSpec:
    where = str(path)
    table = read_toml(path, fix="give a cluster in TOML (docs/semantics.md has an example), or e.g. 32x4")
    for key in table:
        if key not in _TOP_KEYS:
            raise BloxError(f"no setting is called {key!r}", where=where, fix=suggestion(key, _TOP_KEYS))
    groups = table.get("nodes")
    if not isinstance(groups, list) or not groups:
        raise BloxError("no [[nodes]] table", where=where, fix="add [[nodes]] with count and gpus")
    nodes: list[Node] = []
    for number, group in enumerate(groups, 1):
        nodes += _toml_group(group, f"{where}, [[nodes]] number {number}", len(nodes))
    _unique_names(tuple(nodes), where)
    matrices = table.get("links", {})
    if not isinstance(matrices, dict):
        raise BloxError(
            "links is no table",
            where=where,
            fix='write [links], then GPU_TYPE = [[0, 25], [25, 0]] or "p3.8xlarge"',
        )
    links = {kind: _matrix(kind, rows, nodes, where) for kind, rows in matrices.items()}
    return ClusterSpec(
        tuple(nodes),
        network_gbps=_number(table.get("network_gbps", NETWORK_GBPS), "network_gbps", where),
        rack_gbps=_number(table.get("rack_gbps", 0.0), "rack_gbps", where),
        speeds=_toml_speeds(groups, where),
        links=links,
        text=str(path),
    )


def _from_slurm(spec: str) -> ClusterSpec:
    path = spec.removeprefix("slurm:").strip()
    nodes: list[Node] = []
    for name, gpus, kind, cpu, memory_gb in nodes_from_sinfo(path):
        _check_size(1, gpus, len(nodes), path)
        nodes.append(Node(name, gpus, kind or DEFAULT_TYPE, cpu, memory_gb))
    return ClusterSpec(tuple(nodes), text=spec)


_TIRESIAS = ("num_switch", "num_node_p_switch", "num_gpu_p_node", "num_cpu_p_node", "mem_p_node")


def _from_tiresias(path: Path, text: str) -> ClusterSpec:
    """The one line of a cluster file of the Tiresias simulator; a switch is a rack."""
    where = str(path)
    try:
        lines = io.StringIO(read_text(path), newline="")
        rows = list(csv.DictReader(lines, delimiter=" " if path.suffix == ".txt" else ","))
    except (BloxError, csv.Error) as error:
        why = error.what if isinstance(error, BloxError) else str(error)
        raise BloxError(
            f"cannot be read: {why}", where=where, fix="give a cluster file of the Tiresias simulator"
        ) from None
    if len(rows) != 1:
        raise BloxError(
            f"{len(rows)} lines of figures", where=where, fix=f"one line under {','.join(_TIRESIAS)}"
        )
    cells = [str(rows[0].get(key) or "").strip() for key in _TIRESIAS]
    for key, cell in zip(_TIRESIAS, cells):
        if not re.fullmatch("[0-9]{1,12}", cell) or int(cell) < 1:
            raise BloxError(f"{key} is {cell!r}", where=where, fix=f"{key} must be a whole number, 1 or more")
    switches, per_switch, gpus, cpu, memory = map(int, cells)
    _check_size(switches * per_switch, gpus, 0, where)
    nodes = tuple(
        Node(f"node-{i}", gpus, DEFAULT_TYPE, float(cpu), float(memory), i // per_switch)
        for i in range(switches * per_switch)
    )
    return ClusterSpec(nodes, text=text)


def _toml_group(group: Any, where: str, already: int) -> list[Node]:
    if not isinstance(group, dict):
        raise BloxError(f"nodes holds {group!r}", where=where, fix="write [[nodes]], then count and gpus")
    for key in group:
        if key not in _NODE_KEYS:
            raise BloxError(f"no setting is called {key!r}", where=where, fix=suggestion(key, _NODE_KEYS))
    count, gpus, rack = (_whole(group, key, where) for key in ("count", "gpus", "rack"))
    _check_size(count, gpus, already, where)
    kind = str(group.get("gpu_type", DEFAULT_TYPE))
    name = str(group.get("name", f"{kind}-{already}"))
    cpu = _number(group.get("cpu", 0.0), "cpu", where)
    memory_gb = _number(group.get("memory_gb", 0.0), "memory_gb", where)
    storage_gbps = _number(group.get("storage_gbps", 0.0), "storage_gbps", where)
    names = [name] if count == 1 else [f"{name}-{i}" for i in range(count)]
    return [Node(each, gpus, kind, cpu, memory_gb, rack, storage_gbps) for each in names]


def _toml_speeds(groups: list[Any], where: str) -> tuple[tuple[str, float], ...]:
    """The speeds that groups of nodes give their GPU types; one type has one."""
    found: dict[str, float] = {}
    for number, group in enumerate(groups, 1):
        if _SPEED in group:
            kind = str(group.get("gpu_type", DEFAULT_TYPE))
            speed = _speed(group[_SPEED], f"{where}, [[nodes]] number {number}")
            if found.setdefault(kind, speed) != speed:
                raise BloxError(
                    f"GPUs of type {kind!r} have the speeds {found[kind]:g} and {speed:g}",
                    where=where,
                    fix="give a type one speed, or the second group another gpu_type",
                )
    return tuple(sorted(found.items()))


def _whole(group: dict[str, Any], key: str, where: str) -> int:
    value, least = group.get(key, {"count": 1, "rack": 0}.get(key)), 0 if key == "rack" else 1
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST_GPUS:
        raise BloxError(
            f"{key} is {value!r}", where=where, fix=f"{key} must be a whole number, {least} or more"
        )
    return value


def _matrix(kind: str, given: Any, nodes: list[Node], where: str) -> Matrix:
    """The links of a GPU type, which has so many rows as its largest node has GPUs."""
    size = max((n.gpus for n in nodes if n.gpu_type == kind), default=0)
    where = place_in(where, "links", kind) if where.endswith(".toml") else f"{where}, links.{kind}"
    if not size:
        raise BloxError(
            f"no node has GPUs of type {kind!r}", where=where, fix="name a gpu_type of the nodes above"
        )
    matrix = links_from(given, where=where, gpu_type=kind)
    if len(matrix) != size:
        raise BloxError(
            f"links of {len(matrix)} GPUs, and nodes have {size}",
            where=where,
            fix=f"give a matrix of {size} x {size}: one row and one column per GPU of the node, Gb/s",
        )
    return matrix
