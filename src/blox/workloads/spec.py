"""Workloads from strings: `philly:load=8` draws jobs, `philly:cluster_job_log?tenant=x` reads them.

    name, name:key=value,...         a generator
    format:path, format:path?k=v&..  a trace, read by the reader of that format
    path.csv, path.csv.gz            a trace in our own CSV (?k=v as above)
    ./file.py:Class[:key=value,...]  a generator of your own

What stands behind the colon is options if it begins with `identifier=`, and a path otherwise; a path that
begins so is written `./a=b.csv`.
"""

from __future__ import annotations

import re
import zlib
from typing import Any

import numpy as np

from blox import registry
from blox.errors import BloxError, suggestion
from blox.workloads import extra
from blox.workloads.drawn import drawn
from blox.workloads.limits import whole
from blox.workloads.table import JobTable, Workload
from blox.workloads.trace import Trace

_OPTIONS = re.compile(r"[A-Za-z_][\w-]*=")
_OUR_CSV = re.compile(r"\.csv(\.gz)?$")


def workload_rng(seed: int) -> np.random.Generator:
    """The stream of random numbers that workloads draw from for a seed, apart from every policy's."""
    whole("seed", seed, 0)
    sequence = np.random.SeedSequence(entropy=seed, spawn_key=(zlib.crc32(b"workload"),))
    return np.random.Generator(np.random.PCG64(sequence))


def is_trace(spec: str) -> bool:
    """Whether a spec names a file of jobs, which are the same for every seed. The file is not looked at."""
    spec = spec.strip()
    rest = spec.partition(":")[2]
    if _looks_like_python(spec):
        return False
    return _is_our_csv(spec.partition("?")[0]) or bool(rest.strip() and not _OPTIONS.match(rest))


def workload_from_spec(spec: str) -> Workload:
    """The workload that a spec describes. Raises BloxError naming the valid ones, or the missing file."""
    spec = spec.strip()
    where = f"workload spec {spec!r}"
    if not spec:
        raise BloxError("an empty workload spec", fix=_choices(""))
    path, _, options = spec.partition("?")
    if _looks_like_python(spec):
        return _generator(spec)
    if _is_our_csv(path):
        return _trace("csv", path, options, where)
    name, colon, rest = spec.partition(":")
    name = name.strip()
    if not colon or _OPTIONS.match(rest) or not rest.strip():
        return _named_generator(name, rest, spec)
    if not _known("reader", name):
        if _known("workload", name):
            options = ", ".join(registry.parameters(registry.find("workload", name)))
            raise BloxError(
                f"{rest!r} is neither options nor, for the generator {name!r}, a path",
                where=where,
                fix=f"options are key=value; {name} takes {options}",
            )
        raise BloxError(f"no workload is called {name!r}", where=where, fix=_choices(name))
    path, _, options = rest.partition("?")
    return _trace(name, path, options, where)


def draw(workload: Workload, jobs: int | None, seed: int = 0) -> JobTable:
    """The first jobs of a workload as one table (None: all of a trace). Fewer where it ends before.

    Raises BloxError for a job that no run would take.
    """
    found: list[JobTable] = []
    count = 0
    for batch in drawn(workload, workload_rng(seed)):
        found.append(batch)
        count += len(batch)
        if jobs is not None and count >= jobs:
            break
    if not found:
        raise BloxError("the workload has no jobs", fix="let batches() yield at least one table")
    table = found[0] if len(found) == 1 else _joined(found)
    table = table if jobs is None or len(table) <= jobs else table.take(slice(0, jobs))
    table.validate()
    return table


def _joined(tables: list[JobTable]) -> JobTable:
    names = dict.fromkeys(name for table in tables for name in table.columns)
    columns: dict[str, Any] = {name: np.concatenate([t.column(name) for t in tables]) for name in names}
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    own = extra.joined([table.extra for table in tables], [len(table) for table in tables])
    return JobTable(columns, tables[0].source, None, tuple(notes), own)


def _trace(name: str, path: str, options: str, where: str) -> Trace:
    path = path.strip()
    given = registry.parse_options(options, where=where, separator="&")
    if "path" in given:
        raise BloxError("the path is given twice", where=where, fix=f"write {name}:{path}?key=value")
    reader = registry.instantiate(registry.find("reader", name), {"path": path, **given}, where=where)
    trace = Trace(reader)
    trace.files()  # a missing file is told now, not when the first job is wanted
    return trace


def _named_generator(name: str, rest: str, spec: str) -> Workload:
    if _known("workload", name):
        return _generator(spec)
    if _known("reader", name):
        raise BloxError(
            f"{name!r} is a trace format and needs a path",
            where=f"workload spec {spec!r}",
            fix=f"{name}:PATH, or with options {name}:PATH?key=value&key=value",
        )
    raise BloxError(f"no workload is called {name!r}", where=f"workload spec {spec!r}", fix=_choices(name))


def _generator(spec: str) -> Workload:
    workload = registry.build("workload", spec)
    if not callable(getattr(workload, "batches", None)):
        raise BloxError(
            f"{type(workload).__name__} has no batches(rng)",
            where=f"workload spec {spec!r}",
            fix="a generator's batches(rng) yields JobTables in order of submission",
        )
    generator: Workload = workload
    return generator


def _looks_like_python(spec: str) -> bool:
    """Whether a spec names a Python file rather than a trace whose path or options hold `.py`."""
    head = spec.partition("?")[0]
    return (".py:" in head or head.endswith(".py")) and not _is_name(head.partition(":")[0])


def _is_our_csv(path: str) -> bool:
    """Whether a path without a format in front of it is that of a trace in our own CSV."""
    return bool(_OUR_CSV.search(path)) and (":" not in path or not _is_name(path.partition(":")[0]))


def _is_name(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z][\w-]*", text.strip()) is not None


def _known(kind: str, name: str) -> bool:
    try:
        registry.find(kind, name)
    except BloxError:
        if name in registry.names(kind):  # it is there, and broken
            raise
        return False
    return True


def _choices(name: str) -> str:
    generators, readers = registry.names("workload"), registry.names("reader")
    near = suggestion(name, [*generators, *readers]).partition("valid:")[0]
    return (
        f"{near}generators: {', '.join(generators) or '(none)'}; trace formats: "
        f"{', '.join(f'{r}:PATH' for r in readers)}; a path ending in .csv; or ./mine.py:Class"
    )
