"""Links: the bandwidth between the GPUs of a node, as a matrix (Gb/s), and the GPUs that go well together.

A matrix is that of a known machine (`profiles/links.toml`, by name), the output of `nvidia-smi topo -m`, a
CSV file of numbers, or given by its rows.
"""

from __future__ import annotations

import itertools
import math
import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from blox.errors import BloxError, suggestion
from blox.workloads.text_files import read_text, user_path

Matrix = tuple[tuple[float, ...], ...]  # [GPU][GPU], Gb/s; GPUs are counted from 0 on every node

LARGEST_GBPS = 1e12
MOST_SUBSETS = 20_000  # that are compared for a job: all of 16 GPUs
_KNOWN = Path(__file__).parent.parent / "profiles" / "links.toml"
_GENERATION = re.compile(r"\b(k|m|p|t|v|a|h|b|l|rtx)\d+")  # NVIDIA's: k80, v100, a100, rtx3090
_SQUARE = "one row and one column per GPU of the node, Gb/s"
_ROW = re.compile(r"GPU(\d+)\s+(.+)")


class Machine(NamedTuple):
    """A known machine: the links between its GPUs, and the types that these may have."""

    links: Matrix
    gpu_types: tuple[str, ...]

    def has(self, gpu_type: str) -> bool:
        """Whether a type contains the name of one of its own: `v100` of `tesla-v100-32gb`."""
        return any(each in gpu_type.lower() for each in self.gpu_types)


def links_from(given: Any, *, where: str, gpu_type: str = "") -> Matrix:
    """The matrix of a machine's name, of a file, or of a list of rows. Raises BloxError for anything else.

    `gpu_type`: that of the GPUs; a machine with GPUs of another generation is refused.
    """
    if not isinstance(given, str):
        return _checked(given, where)
    if (machine := machines().get(given.strip().lower())) is not None:
        if _GENERATION.search(gpu_type.lower()) and not machine.has(gpu_type):
            fit = [name for name, each in machines().items() if each.has(gpu_type)]
            known = f"known for {gpu_type}: {', '.join(fit)}; " if fit else ""
            raise BloxError(
                f"{given} has GPUs of type {machine.gpu_types[0]}, and these are {gpu_type}",
                where=where,
                fix=f"{known}or a file: the output of nvidia-smi topo -m, or a CSV of Gb/s",
            )
        return machine.links
    path = user_path(given)
    if not path.is_file():
        fix = (
            f"{suggestion(given, machines())}; or a file: the output of nvidia-smi topo -m, or a CSV of Gb/s"
        )
        raise BloxError(f"no machine or file is called {given!r}", where=where, fix=fix)
    text = read_text(path)
    if re.search(r"^\s*GPU0\s", text, re.MULTILINE):
        found = _topology(text, str(path))
        places = [f"{path}:{number}" for number in found]
        return from_topology(list(found.values()), where=str(path), places=places)
    lines = enumerate(text.splitlines(), 1)
    rows = {number: line.split(",") for number, line in lines if line.strip() and not line.startswith("#")}
    return _checked(list(rows.values()), str(path), [f"{path}:{number}" for number in rows])


@lru_cache(maxsize=1)
def machines() -> dict[str, Machine]:
    """Known machines, by name."""
    table = tomllib.loads(_KNOWN.read_text(encoding="utf-8"))
    found = {}
    for machine in table["machines"]:
        rows = [line.split() for line in machine["topology"].strip().splitlines()]
        for name in machine["names"]:
            links = from_topology(rows, where=f"{_KNOWN.name}, {name}")
            found[name] = Machine(links, tuple(machine["gpu_types"]))
    return found


def from_topology(rows: Sequence[Sequence[str]], *, where: str, places: Sequence[str] = ()) -> Matrix:
    """The bandwidths of links given as `nvidia-smi topo -m` names them: NV2, PIX, SYS, ...

    `places`: file and line of each row, where there are such.
    """
    worth = tomllib.loads(_KNOWN.read_text(encoding="utf-8"))["gbps"]

    places = places or [where] * len(rows)

    def gbps(link: str, where: str) -> float:
        nvlinks = re.fullmatch(r"NV(\d+)", link)
        if nvlinks is not None:
            return float(worth["NV"]) * int(nvlinks[1])
        if link != "X" and link not in worth:
            known = f"X, NV1, NV2, ..., {', '.join(name for name in worth if name != 'NV')}"
            raise BloxError(f"no link is called {link!r}", where=where, fix=f"known: {known}")
        return float(worth.get(link, 0.0))

    return _checked([[gbps(link, at) for link in row] for row, at in zip(rows, places)], where, places)


def _topology(text: str, where: str) -> dict[int, list[str]]:
    """The links between GPUs in the output of `nvidia-smi topo -m`, by number of the line.

    Network cards and CPUs are left out.
    """
    lines = (re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in text.splitlines())
    rows = {
        number: match[2].split()
        for number, line in enumerate(lines, 1)
        if (match := _ROW.match(line)) and "GPU" not in match[2]
    }
    short = [f":{number}" for number, row in rows.items() if len(row) < len(rows)]
    if not rows or short:
        raise BloxError(
            f"the lines of its GPUs are not whole: {len(rows)} GPUs need as many links each",
            where=f"{where}{''.join(short[:1])}",
            fix="give the output of nvidia-smi topo -m as it is: nvidia-smi topo -m > topo.txt",
        )
    return {number: row[: len(rows)] for number, row in rows.items()}


def _checked(rows: Any, where: str, places: Sequence[str] = ()) -> Matrix:
    """The rows as a matrix of numbers, square, the same both ways, and without a link of a GPU to itself.

    `places`: file and line of each row; without them rows are counted from 1.
    """
    if not isinstance(rows, (list, tuple)) or not all(isinstance(row, (list, tuple)) for row in rows):
        raise BloxError(f"links are {rows!r}", where=where, fix="give a machine's name, a file or a matrix")
    places = places or [f"{where}, row {number}" for number in range(1, len(rows) + 1)]
    if not rows:
        raise BloxError("no rows", where=where, fix=_SQUARE)
    for row, place in zip(rows, places):
        if len(row) != len(rows):
            raise BloxError(f"{len(row)} values, and there are {len(rows)} rows", where=place, fix=_SQUARE)
    matrix = tuple(
        tuple(0.0 if i == j and _is_itself(value) else _gbps(value, places[i]) for j, value in enumerate(row))
        for i, row in enumerate(rows)
    )
    for i, row in enumerate(matrix):
        if row[i]:
            raise BloxError(
                f"GPU {i} has a link of {row[i]:g} Gb/s to itself",
                where=places[i],
                fix="write 0 or X there: only links between two GPUs count",
            )
    for i, j in itertools.combinations(range(len(matrix)), 2):
        if matrix[i][j] != matrix[j][i]:
            raise BloxError(
                f"{matrix[i][j]:g} from GPU {i} to GPU {j}, and {matrix[j][i]:g} back",
                where=places[j],
                fix="give one bandwidth for both ways",
            )
    return matrix


def _is_itself(value: Any) -> bool:
    """Whether a value on the diagonal stands for the GPU itself, as nvidia-smi writes it."""
    return isinstance(value, str) and value.strip().upper() == "X"


def _gbps(value: Any, where: str) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = -1.0
    if isinstance(value, bool) or not 0 <= found <= LARGEST_GBPS:
        raise BloxError(
            f"a bandwidth is {value!r}",
            where=where,
            fix=f"bandwidth must be a number, 0 to {LARGEST_GBPS:,.0f}",
        )
    return found


def total_gbps(links: Matrix, gpus: Sequence[int]) -> float:
    """The bandwidths between all pairs of these GPUs, together."""
    return sum(links[i][j] for i, j in itertools.combinations(gpus, 2))


@lru_cache(maxsize=1 << 16)
def mean_gbps(links: Matrix, gpus: tuple[int, ...]) -> float:
    """The bandwidth between two of these GPUs, on average over all pairs; 0 of one GPU."""
    pairs = len(gpus) * (len(gpus) - 1) // 2
    return total_gbps(links, gpus) / pairs if pairs else 0.0


@lru_cache(maxsize=1 << 16)
def best_subset(links: Matrix, free: tuple[int, ...], count: int) -> tuple[int, ...]:
    """The `count` of the free GPUs with the most bandwidth among them: of equals, those that leave the most
    among the others; of these, the lowest.

    Exact where there are at most `MOST_SUBSETS` to choose from; above, GPUs are added one by one.
    """
    if count == len(free):
        return free
    if math.comb(len(free), count) > MOST_SUBSETS:
        return _one_by_one(links, free, count)

    def worth(chosen: tuple[int, ...]) -> tuple[float, float]:
        left = [gpu for gpu in free if gpu not in chosen]
        return total_gbps(links, chosen), total_gbps(links, left)

    return max(itertools.combinations(free, count), key=worth)


def _one_by_one(links: Matrix, free: tuple[int, ...], count: int) -> tuple[int, ...]:
    """The best pair, then always the GPU that adds most to what has been chosen."""
    first, second = max(itertools.combinations(free, 2), key=lambda pair: links[pair[0]][pair[1]])
    chosen = [first, second][:count]
    while len(chosen) < count:
        others = [gpu for gpu in free if gpu not in chosen]
        chosen.append(max(others, key=lambda gpu: sum(links[gpu][each] for each in chosen)))
    return tuple(sorted(chosen))
