"""`blox compat`: the presets, their options, and what each changes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

WIDEST = 21  # of the names in the left column
ROUND_S = 300.0  # a preset is composed for some round; which one does not change its options


def compat(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One preset.", show_default=False)
    ] = None,
) -> None:
    """List the presets that behave like another system, and what each changes.

    A preset turns an original's own options into our policies and named simulation options: --compat
    blox:policy=Las.
    """
    from blox import registry
    from blox.cli.safe_console import SafeConsole
    from blox.cli.show import note_broken

    console = SafeConsole(highlight=False)
    if name is None:
        found, faults = registry.survey("compat")
        note_broken(faults)
    else:
        found = {name: registry.find("compat", name)}
    for preset, cls in found.items():
        _show(console, preset, cls)
    if name is None:
        console.print(_head("simulation options", "what presets can turn on"))
        console.print(_simulation_options())


def _show(console: Console, name: str, cls: Any) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from blox.catalogue import entry_of
    from blox.cli.policies import parameters_text
    from blox.optional import declared

    entry = entry_of(name, cls)
    console.print(_head(name, f"--compat {name}:key=value,..."))
    console.print(Padding(Text(entry.does), (0, 0, 1, 2)))
    table = _columns()
    if entry.parameters:
        table.add_row("options", parameters_text(entry.parameters, console.width - WIDEST - 4))
    turned_on = _turned_on(cls)
    if turned_on:
        table.add_row("turns on", Text(", ".join(turned_on)))
    console.print(table)
    changes = _columns()
    for key, words in (declared(cls, "changes") or {}).items():
        changes.add_row(Text(key), Text(words))
    console.print(Text("\n  what it changes", style="bold underline"))
    console.print(changes)
    console.print()


def _head(name: str, words: str) -> Text:
    from rich.text import Text

    return Text(name, style="bold underline").append(f"  {words}", style="not underline not bold cyan")


def _turned_on(cls: Any) -> list[str]:
    """The simulation options that a preset sets with its own options at their defaults."""
    from blox.errors import BloxError
    from blox.options import SimulationOptions

    try:
        options = cls().compose(ROUND_S).options
    except (BloxError, TypeError):  # it needs options of its own
        return []
    fields = dataclasses.fields(SimulationOptions)
    return [field.name for field in fields if getattr(options, field.name) != field.default]


def _simulation_options() -> Table:
    from rich.text import Text

    from blox.options import SimulationOptions

    table = _columns()
    for field in dataclasses.fields(SimulationOptions):
        table.add_row(Text(field.name), Text(str(field.metadata.get("does", ""))))
    return table


def _columns() -> Table:
    from rich.table import Table

    table = Table(box=None, show_header=False, padding=(0, 0, 0, 2), pad_edge=True)
    table.add_column(style="bold", no_wrap=True, min_width=WIDEST)
    table.add_column()
    return table
