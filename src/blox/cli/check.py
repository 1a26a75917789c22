"""`blox check`: a policy against its contract, rule by rule, in words."""

from __future__ import annotations

from typing import Annotated

import typer

from blox.checks.kinds import KINDS, SOURCES
from blox.errors import BloxError


def check(
    policies: Annotated[
        list[str] | None,
        typer.Argument(help="Parts: las, quota:user_jobs=2, ./mine.py:Mine.", show_default=False),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="Needed if several kinds have the name, or the class has the methods of several: "
            f"{', '.join((*KINDS, *SOURCES))}."
        ),
    ] = None,
    policy_timeout: Annotated[
        float, typer.Option(help="Seconds that one call into the file may take.", metavar="SECONDS")
    ] = 60.0,
    everything: Annotated[bool, typer.Option("--all", help="Check every policy that is registered.")] = False,
) -> None:
    """Check policies and other parts against their contracts and say in words what is wrong.

    Runs each through small cases: the right answers, no GPU twice, gangs whole, nothing changed that is
    not its own, the same answer every time, every job finished. Workloads and sources of failures are drawn,
    performance models, sources of reports and backends run the same cases. Exit code 0: all conform; 1:
    some do not.
    """
    from blox.checks import check as run_checks
    from blox.checks.find import registered
    from blox.cli.show import note_broken
    from blox.experiment.parts import check_timeout

    wanted: list[tuple[str, str | None]] = [(spec, kind) for spec in policies or ()]
    if everything:
        known, faults = registered()
        note_broken(faults)
        wanted += [(name, k) for k, name in known if kind in (None, k)]
    if not wanted:
        raise BloxError(
            "no policy is given", where="blox check", fix="name one (las, ./mine.py:Mine), or --all"
        )
    check_timeout(policy_timeout, where="--policy-timeout")
    conforms = [
        _show(run_checks(spec, of_kind, policy_timeout), brief=len(wanted) > 1) for spec, of_kind in wanted
    ]
    if not all(conforms):
        raise typer.Exit(1)


def _show(report: object, *, brief: bool) -> bool:
    """Prints a report; of those that conform, one line when there are many."""
    from rich.padding import Padding
    from rich.text import Text

    from blox.checks.report import Report, aside, explanation
    from blox.cli.safe_console import SafeConsole

    assert isinstance(report, Report)
    console = SafeConsole(highlight=False)
    mark, colour = ("✓", "green") if report.ok else ("✗", "red")
    title = Text(f"{mark} ", style=f"bold {colour}")
    title.append(f"{report.title}: ", style="bold").append(report.verdict(), style=colour)
    console.print(title)
    for finding in report.findings if not (brief and report.ok) else ():
        style = {True: "green", False: "bold red", None: "dim"}[finding.ok]
        line = Text(f"  {finding.mark} ", style=style)
        line.append(finding.claim, style="" if finding.ok else style).append(aside(finding), style="dim")
        console.print(line)
        for text in explanation(finding):
            console.print(Padding(Text(text), (0, 0, 0, 6), expand=False))
    return report.ok
