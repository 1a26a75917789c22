"""How many steps per second a training job does, by its type, its GPUs and their type: alone or sharing.

The project's own table holds what the authors of Gavel measured (`profiles/gavel_throughputs.csv` and
`gavel_pairs.csv` name the source). A job type is a model with its batch size, written as in Gavel's traces:
`ResNet-18 (batch size 16)`, or `A3C` where there is none.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from blox.errors import BloxError, suggestion
from blox.workloads.table import Array
from blox.workloads.text_files import read_json, read_table

PROFILES = Path(__file__).parent.parent / "profiles"
UNCONSOLIDATED = "_unconsolidated"  # how Gavel marks throughputs of GPUs on more machines than needed
Kind = tuple[str, int]  # job type, GPUs
_FORM = """write {"v100": {"('model', gpus)": {"null": steps/s, "('other', gpus)": [own, its]}}}"""
_NESTED = (RecursionError, MemoryError, OverflowError)  # of Python's own parser, for texts that are none
_FASTEST = 1e12  # steps/s: beyond it a rate is a slip of the pen


@dataclass(frozen=True, eq=False)
class Throughputs:
    """A table of steps/s per GPU type: `alone[kind]`; `beside[kind, other]` for the first of two that share.

    Kinds that are not in `beside` cannot share. Rates of a job on several GPUs are the whole job's.
    """

    gpu_types: tuple[str, ...]
    alone: dict[Kind, tuple[float, ...]]
    beside: dict[tuple[Kind, Kind], tuple[float, ...]]
    source: str = ""

    def of(self, kinds: Sequence[Kind], gpu_types: Sequence[str] | None = None) -> Array:
        """steps/s of each kind alone (kinds x types)."""
        columns = self._columns(gpu_types)
        return np.array([[self._known(kind)[j] for j in columns] for kind in kinds]).reshape(-1, len(columns))

    def shared(self, kinds: Sequence[Kind], gpu_types: Sequence[str] | None = None) -> Array:
        """steps/s of each kind beside each other one (kinds x kinds x types); 0 where they cannot share."""
        columns = self._columns(gpu_types)
        found = np.zeros((len(kinds), len(kinds), len(columns)))
        for a, kind in enumerate(kinds):
            for b, other in enumerate(kinds):
                rates = self.beside.get((kind, other))
                if rates is not None:
                    found[a, b] = [rates[j] for j in columns]
        return found

    def _known(self, kind: Kind) -> tuple[float, ...]:
        rates = self.alone.get(kind)
        if rates is not None:
            return rates
        name, gpus = kind
        sizes = sorted(g for n, g in self.alone if n == name)
        if sizes:
            fix = f"{name} was measured on {', '.join(map(str, sizes))} GPUs"
        else:
            fix = suggestion(name, {n for n, _ in self.alone})
        raise BloxError(f"no throughput of {name!r} on {gpus} GPUs", where=self.source, fix=fix)

    def _columns(self, gpu_types: Sequence[str] | None) -> list[int]:
        wanted = self.gpu_types if gpu_types is None else gpu_types
        for name in wanted:
            if name not in self.gpu_types:
                raise BloxError(
                    f"no throughputs on GPUs of type {name!r}",
                    where=self.source,
                    fix=suggestion(name, self.gpu_types),
                )
        return [self.gpu_types.index(name) for name in wanted]


@lru_cache(maxsize=4)
def throughputs(path: str = "") -> Throughputs:
    """The project's own table, or the one in a JSON file as Gavel publishes it."""
    return _from_json(Path(path)) if path else _own()


def _own() -> Throughputs:
    alone_rows = _rows(PROFILES / "gavel_throughputs.csv")
    types = tuple(alone_rows[0][3:])
    alone = {(_job_type(row[0], row[1]), int(row[2])): tuple(map(float, row[3:])) for row in alone_rows[1:]}
    beside: dict[tuple[Kind, Kind], tuple[float, ...]] = {}
    for row in _rows(PROFILES / "gavel_pairs.csv")[1:]:
        one, other = (_job_type(row[0], row[1]), 1), (_job_type(row[2], row[3]), 1)
        rates = tuple(map(float, row[4:]))
        beside[one, other], beside[other, one] = rates[0::2], rates[1::2]
    return Throughputs(types, alone, beside, "gavel_throughputs.csv")


def _rows(path: Path) -> list[list[str]]:
    lines = read_table(path, fix="install blox anew").splitlines()
    return [line.split(",") for line in lines if not line.startswith("#")]


def _job_type(model: str, batch_size: str) -> str:
    return f"{model} (batch size {batch_size})" if batch_size else model


def _from_json(path: Path) -> Throughputs:
    table = read_json(path, fix=_FORM)
    try:
        types = tuple(sorted(name for name in table if not name.endswith(UNCONSOLIDATED)))
        kinds = {text: _kind(text) for name in types for text in table[name]}
        alone = {
            kind: tuple(float(table[name].get(text, {}).get("null", 0.0)) for name in types)
            for text, kind in kinds.items()
        }
        beside = {}
        for text, kind in kinds.items():
            partners = dict.fromkeys(other for name in types for other in table[name].get(text, {}))
            for other in partners:
                if other != "null":
                    rates = [table[name].get(text, {}).get(other, (0.0, 0.0))[0] for name in types]
                    if any(rates):
                        beside[kind, _kind(other)] = tuple(map(float, rates))
    except (ValueError, SyntaxError, TypeError, LookupError, AttributeError, *_NESTED) as error:
        raise BloxError(f"is not a table of throughputs: {error}", where=str(path), fix=_FORM) from None
    measured: list[tuple[object, tuple[float, ...]]] = [*alone.items(), *beside.items()]
    for name, figures in measured:
        if not all(0 <= figure <= _FASTEST for figure in figures):
            what = f"is not a table of throughputs: {name} has {list(figures)} steps/s"
            raise BloxError(what, where=str(path), fix="each must be a number, 0 or more")
    return Throughputs(types, alone, beside, str(path))


def _kind(text: str) -> Kind:
    name, gpus = ast.literal_eval(text)
    return str(name), int(gpus)
