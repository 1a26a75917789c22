"""What the commands of a cluster share: the option that names it, its client, and tables of views."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blox.cli.terminal import say
from blox.errors import BloxError

if TYPE_CHECKING:
    from blox.cluster.api import Client

Directory = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="DIR", help="The cluster's directory; $BLOX_CLUSTER, or ~/.blox/cluster."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def client(directory: str | None) -> Client:
    """The client of a cluster. Raises BloxError where what it needs is not installed."""
    need_grpc()
    from blox.cluster.api import Client

    return Client(directory)


def absolute(spec: str) -> str:
    """The spec of a policy for the scheduler: a file counts from here, not from where the scheduler runs."""
    path, _, rest = spec.partition(".py:")
    return f"{Path(path).resolve()}.py:{rest}" if rest else spec


def need_grpc() -> None:
    try:
        import grpc  # noqa: F401
    except ImportError:
        raise BloxError(
            "a cluster needs gRPC, which is not installed", fix="pip install 'blox[cluster]'"
        ) from None


def say_json(value: Any) -> None:
    """Prints views as JSON."""
    import msgspec

    say(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def say_table(head: Sequence[str], rows: Sequence[Sequence[object]], *, none: str) -> None:
    """Prints columns below each other; `none` where there are no rows."""
    if not rows:
        say(none)
        return
    lines = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        say("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def seconds(value: float | None) -> str:
    """1h02m, 3m05s, 7s; a dash for None."""
    if value is None:
        return "-"
    whole = round(value)
    if whole >= 3600:
        return f"{whole // 3600}h{whole % 3600 // 60:02d}m"
    return f"{whole // 60}m{whole % 60:02d}s" if whole >= 60 else f"{whole}s"
