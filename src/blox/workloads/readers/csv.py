"""Our own CSV: a header line, then one job per line; the columns are those of the job table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from blox.errors import BloxError, suggestion
from blox.registry import register
from blox.workloads.readers.base import TraceReader
from blox.workloads.source_rows import SourceRows
from blox.workloads.table import COLUMNS, Array


@register.reader("csv")
@dataclass(frozen=True)
class Csv(TraceReader):
    """Reads our own CSV; required are job_id, submit_s, gpus and duration_s.

    An empty cell of an optional column is that column's default. A column of another name is refused, for
    it may be a misspelt one; `extra=ignore` passes over it.
    """

    extra: Literal["refuse", "ignore"] = "refuse"

    required: ClassVar[tuple[str, ...]] = tuple(c.name for c in COLUMNS.values() if c.required)
    optional: ClassVar[tuple[str, ...]] = tuple(c.name for c in COLUMNS.values() if not c.required)

    def columns(self, rows: SourceRows) -> dict[str, Array]:
        unknown = [name for name in rows.columns if name not in COLUMNS and name != self.group]
        if unknown and self.extra == "refuse":
            raise BloxError(
                f"no column is called {unknown[0]!r}",
                where=f"{self.path}:1",
                fix=f"{suggestion(unknown[0], COLUMNS)}; or pass over it: csv:{self.path}?extra=ignore",
            )
        if unknown:
            rows.notes.append(f"passed over the columns {', '.join(unknown)}")
        found: dict[str, Array] = {}
        for name in (name for name in COLUMNS if rows.has(name)):
            column = COLUMNS[name]
            if column.is_text:
                found[name] = rows.text(name)
            elif np.issubdtype(column.dtype, np.floating):
                found[name] = rows.number(name, default=column.default)
            else:
                found[name] = rows.whole(name, default=column.default)
        return found
