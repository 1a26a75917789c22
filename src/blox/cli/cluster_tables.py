"""What the commands of a cluster share: the option that names it, its client, and tables of views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blox.cli.terminal import say, shown
from blox.extras import from_extra

if TYPE_CHECKING:
    from blox.cluster.api import Client

Directory = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="DIR", help="The cluster's directory; $BLOX_CLUSTER, or ~/.blox/cluster."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Watch = Annotated[bool, typer.Option("--watch", help="Again every two seconds, until interrupted.")]
_EVERY_S = 2.0


def client(directory: str | None, patience_s: float = 10.0) -> Client:
    """The client of a cluster, which asks again for so long while the scheduler does not answer. Raises
    BloxError where what it needs is not installed."""
    need_grpc()
    from blox.cluster.api import Client

    return Client(directory, patience_s)


def need_grpc() -> None:
    for module in ("grpc", "prometheus_client"):
        from_extra(module, "cluster", "a cluster")


def watched(show: Callable[[], None], watch: bool, as_json: bool) -> None:
    """Shows something once, or again and again: on a terminal in the same place."""
    import sys
    import time

    in_place = watch and not as_json and sys.stdout.isatty()
    while True:
        if in_place:
            sys.stdout.write("\x1b[H\x1b[2J")
        show()
        if not watch:
            return
        time.sleep(_EVERY_S)
        if not in_place and not as_json:
            say("")


def say_json(value: Any, *, lines: bool = False) -> None:
    """Prints views as JSON, readable or, one of many, on a line."""
    import msgspec

    encoded = msgspec.json.encode(value)
    say((encoded if lines else msgspec.json.format(encoded, indent=2)).decode())


def say_table(head: Sequence[str], rows: Sequence[Sequence[object]], *, none: str) -> None:
    """Prints columns below each other, a line per row; `none` where there are no rows."""
    from rich.cells import cell_len, set_cell_size

    if not rows:
        say(none)
        return
    lines = [[" ".join(shown(str(cell)).split()) for cell in row] for row in (head, *rows)]
    widths = [max(cell_len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        say("  ".join(set_cell_size(cell, width) for cell, width in zip(line, widths)).rstrip())


def cut(text: str, width: int) -> str:
    """The first line of a text in at most so many columns, an ellipsis in place of what is left out."""
    from rich.cells import cell_len, set_cell_size

    line = text.partition("\n")[0]
    if line == text and cell_len(line) <= width:
        return text
    return f"{set_cell_size(line, min(width - 1, cell_len(line))).rstrip()}…"


def clock(wall_s: float) -> str:
    """A time of the wall clock, here: 2026-03-01 14:05:09."""
    from datetime import datetime

    return datetime.fromtimestamp(wall_s).strftime("%Y-%m-%d %H:%M:%S")


def seconds(value: float | None) -> str:
    """1h02m, 3m05s, 7s; a dash for None."""
    if value is None:
        return "-"
    whole = round(value)
    if whole >= 3600:
        return f"{whole // 3600}h{whole % 3600 // 60:02d}m"
    return f"{whole // 60}m{whole % 60:02d}s" if whole >= 60 else f"{whole}s"
