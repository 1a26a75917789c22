"""`blox policies`: the catalogue of parts, generated from their classes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from blox.cli.terminal import say

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from blox.catalogue import Entry, ParameterEntry


def policies(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="KIND|NAME",
            help="admission, scheduling, placement, termination, performance, workload, reader, compat, "
            "backend or failures; or the name of a part, such as consolidated: that one in full.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List every policy, workload and model by kind: what it does, its parameters and their defaults.

    A parameter is given behind the name: --scheduler las:by=time. A file works as well: ./mine.py:Class.
    """
    from blox.catalogue import KINDS, kind_called, no_such_word, parts_called

    if kind is None:
        found = _listed(KINDS)
    elif (meant := kind_called(kind)) is not None:
        found = _listed([meant])
    elif not (found := parts_called(kind)):
        raise no_such_word(kind)
    if as_json:
        import json

        table = {each: [dataclasses.asdict(entry) for entry in entries] for each, entries in found.items()}
        say(json.dumps(table, indent=2))
        return
    from rich.text import Text

    from blox.cli.safe_console import SafeConsole

    console = SafeConsole(highlight=False)
    for position, (each, entries) in enumerate(found.items()):
        option, words = KINDS[each]
        head = Text(each, style="bold underline").append(f"  {option}  ", style="not underline not bold cyan")
        console.print(
            *([""] if position else []), head.append(words, style="not underline not bold dim"), sep="\n"
        )
        show_entries(console, entries)


def _listed(kinds: Iterable[str]) -> dict[str, list[Entry]]:
    """Every part of these kinds; those that cannot be loaded are noted."""
    from blox.catalogue import catalogue
    from blox.cli.show import note_broken

    listed = {kind: catalogue(kind) for kind in kinds}
    note_broken([fault for _, faults in listed.values() for fault in faults])
    return {kind: entries for kind, (entries, _) in listed.items()}


def show_entries(console: Console, entries: list[Entry]) -> None:
    """Prints parts below each other, their parameters indented."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    widest = max((len(entry.name) for entry in entries), default=0) + 2
    table.add_column(no_wrap=True, min_width=widest)
    table.add_column()
    for entry in entries:
        table.add_row(Text(f"  {entry.name}", style="bold"), Text(entry.does))
        if entry.parameters:
            table.add_row("", parameters_text(entry.parameters, console.width - widest - 2))
    console.print(table)


def parameters_text(parameters: tuple[ParameterEntry, ...], width: int) -> Text:
    """`by=gpu-time (time|gpu-time)`, ...: what can be written, its default first; none is torn apart."""
    from rich.text import Text

    lines = [Text()]
    for each in parameters:
        value = "..." if each.default is None else each.default or "''"
        piece = Text(f"{each.name}={value}", style="green")
        piece.append(f" ({each.type}{', required' if each.default is None else ''})", style="not green dim")
        if lines[-1] and len(lines[-1]) + 2 + len(piece) > width:
            lines.append(Text())
        lines[-1] = lines[-1].append("  " if lines[-1] else "").append_text(piece)
    return Text("\n").join(lines)
