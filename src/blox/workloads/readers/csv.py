"""Our own CSV: a header line, then one job per line; the columns are those of the job table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from blox.errors import BloxError, suggestion
from blox.registry import register
from blox.workloads.extra import TAKEN, check_names
from blox.workloads.readers.base import TraceReader
from blox.workloads.source_rows import SourceRows
from blox.workloads.table import COLUMNS, Array


@register.reader("csv")
@dataclass(frozen=True)
class Csv(TraceReader):
    """Reads our own CSV; required are job_id, submit_s, gpus and duration_s.

    An empty cell of an optional column is that column's default. A column of another name is refused, for
    it may be a misspelt one; `extra=ignore` passes over all such columns, and `extra=keep` keeps them.
    """

    extra: Literal["refuse", "ignore", "keep"] = "refuse"

    required: ClassVar[tuple[str, ...]] = tuple(c.name for c in COLUMNS.values() if c.required)
    optional: ClassVar[tuple[str, ...]] = tuple(c.name for c in COLUMNS.values() if not c.required)

    def columns(self, rows: SourceRows) -> dict[str, Array]:
        unknown = [n for n in rows.columns if n not in COLUMNS and n not in (self.group, *self.keep)]
        if unknown and self.extra == "refuse":
            raise BloxError(
                f"no column is called {unknown[0]!r}",
                where=f"{self.path}:1",
                fix=f"{suggestion(unknown[0], COLUMNS)}; or keep it as a column of your own: "
                f"csv:{self.path}?extra=keep; or pass over it: ?extra=ignore",
            )
        if unknown and self.extra == "ignore":
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

    def kept_columns(self, rows: SourceRows) -> list[str]:
        if self.extra != "keep":
            return super().kept_columns(rows)
        own = [name for name in rows.columns if name and name not in COLUMNS]
        some = "+".join(name for name in own if name not in TAKEN) or "NAME+NAME"
        fix = f"rename it in the file, or keep the others: ?keep={some}&extra=ignore"
        check_names(own, source=f"{self.path}:1", fix=fix)
        return own
