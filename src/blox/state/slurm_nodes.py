"""The nodes of a Slurm cluster, out of what `sinfo` prints: `--cluster slurm:sinfo.txt`.

    sinfo -N -o "%N|%G|%c|%m" > sinfo.txt

The first line names the columns: NODELIST and GRES are needed, CPUS and MEMORY (MB) used where present. They
may stand in any order, apart by `|` or by blanks, and a line may list many nodes: gpu[01-16].
"""

from __future__ import annotations

import re

from blox.errors import BloxError, found_name
from blox.workloads.slurm_fields import hosts
from blox.workloads.text_files import read_table

FORM = 'sinfo -N -o "%N|%G|%c|%m"'
_GPUS = re.compile(r"gpu(?::(?P<type>[A-Za-z][\w.-]*))?:(?P<count>[0-9]{1,6})(?:\([^()]*\))?")
_SPELT = {"NODES": "", "NODE": "NODELIST", "NODENAME": "NODELIST", "NODELIST": "NODELIST"}

Found = tuple[str, int, str, float, float]  # name, GPUs, GPU type (empty: not named), cores, GB of memory


def nodes_from_sinfo(path: str) -> list[Found]:
    """The nodes that have GPUs, each once, in the order of the file. Errors name its lines."""
    fix = f"give what `{FORM}` prints"
    lines = read_table(path, fix=fix).splitlines()
    head = next((number for number, line in enumerate(lines) if line.strip()), None)
    if head is None:
        raise BloxError("the file is empty", where=path, fix=fix)
    mark = "|" if "|" in lines[head] else None
    names = [_SPELT.get(cell.strip().upper(), cell.strip().upper()) for cell in lines[head].split(mark)]
    for needed in ("NODELIST", "GRES"):
        if needed not in names:
            raise BloxError(f"the column {needed} is missing", where=f"{path}:{head + 1}", fix=fix)
    found: dict[str, Found] = {}
    for number, line in enumerate(lines[head + 1 :], head + 2):
        if line.strip():
            for node in _of_line(dict(zip(names, line.split(mark))), f"{path}:{number}"):
                found.setdefault(node[0], node)
    if not found:
        raise BloxError("no node has GPUs", where=path, fix="GRES should name some, such as gpu:a100:8")
    return list(found.values())


def _of_line(cells: dict[str, str], where: str) -> list[Found]:
    """The nodes of one line; none where it names no GPU. A node with GPUs of two types counts as two."""
    gpus = _gpus(cells.get("GRES", ""), where)
    cpu, memory_mb = (_number(cells.get(name, ""), name, where) for name in ("CPUS", "MEMORY"))
    total = sum(gpus.values())
    found = []
    for host in _hosts(cells.get("NODELIST", ""), where):
        for kind, count in gpus.items():
            name, part = (host, 1.0) if len(gpus) == 1 else (f"{host}-{kind}", count / total)
            found.append((name, count, kind, cpu * part, memory_mb * part / 1024))
    return found


def _gpus(text: str, where: str) -> dict[str, int]:
    """GPUs by type, of one node: `gpu:a100:4(S:0-1),tmp:844G`."""
    found: dict[str, int] = {}
    for piece in re.split(r",(?![^()]*\))", text.strip()):
        if piece.startswith("gpu"):
            match = _GPUS.fullmatch(piece)
            if match is None:
                fix = "GRES is written as gpu:a100:8 or gpu:8"
                raise BloxError(f"GRES is {found_name(text)!r}", where=where, fix=fix)
            kind = (match["type"] or "").lower()
            found[kind] = found.get(kind, 0) + int(match["count"])
    return {kind: count for kind, count in found.items() if count}


def _hosts(text: str, where: str) -> list[str]:
    try:
        found = [name for name in hosts(text) if name]
    except ValueError:
        found = []
    if not found:
        fix = "names of nodes look like gpu[01-16] or gpu01"
        raise BloxError(f"NODELIST is {found_name(text)!r}", where=where, fix=fix)
    return found


def _number(text: str, name: str, where: str) -> float:
    """A count of cores or MB; with `+` behind it, of the least of several nodes."""
    digits = text.strip().rstrip("+")
    if not digits:
        return 0.0
    if not re.fullmatch(r"[0-9]{1,12}", digits):
        fix = "write a whole number, or leave the column out"
        raise BloxError(f"{name} is {found_name(text)!r}", where=where, fix=fix)
    return float(digits)
