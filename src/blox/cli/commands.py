"""The commands of `blox`, and what is said where their options are wrong.

A command's module is imported when it is called and not before, so that `blox --help` answers at once.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Annotated

import typer

from blox.cli.once import OnceCommand
from blox.cli.terminal import say
from blox.errors import BloxError
from blox.version import VERSION

# command -> what the list of commands says about it; its module is blox.cli.<command>
COMMANDS = {
    "run": "Run one experiment and show its figures.",
    "compare": "Run several schedulers on the same workload, side by side.",
    "sweep": "Run every combination of loads, schedulers, seeds, ... and resume what was interrupted.",
    "decide": "Say whether another scheduler is worth it, from an accounting log.",
    "reproduce": "Ask figures of the paper again: the claim, our numbers, the verdict.",
    "explain": "Say why jobs waited, and look inside a round.",
    "when": "Say when a job would start if it were submitted in the middle of a run.",
    "report": "Write the HTML report of finished runs.",
    "ui": "Show finished runs as a film in the browser, or the running cluster.",
    "top": "Show the running cluster, or a finished run, in the terminal.",
    "policies": "List every policy, workload and model with its parameters.",
    "check": "Check a policy against its contract, in words.",
    "compat": "List the presets that behave like another system, and what each changes.",
    "workload": "Describe, convert, generate and validate workloads.",
    "up": "Start a cluster on this machine: the same policies over real processes.",
    "join": "Make this machine a node of a cluster.",
    "submit": "Submit a job to the cluster.",
    "jobs": "List the cluster's jobs, or show the life of one.",
    "nodes": "List the cluster's nodes.",
    "logs": "Print what a job of the cluster has printed.",
    "cancel": "Cancel jobs of the cluster.",
    "policy": "Show or change the policies that rule the cluster.",
    "drain": "Take a node of the cluster out, or back in.",
    "down": "End the cluster on this machine.",
    "replay": "Play a workload on a cluster of real processes, in scaled time.",
}

# words that other tools use -> which command to use here
OTHER_WORDS = {
    "serve": "`blox up` starts a cluster and `blox ui` serves its page; `blox up --ui` does both",
    "start": "`blox up` starts a cluster, `blox submit` a job on it",
    "stop": "`blox down` ends the cluster, `blox cancel ID` a job",
    "status": "`blox jobs`, `blox nodes` and `blox policy` show the cluster; `blox top` shows all of it",
    "kill": "`blox cancel ID` ends a job",
    "simulate": "`blox run` simulates an experiment",
}

# typer's own errors, whichever way it carries click: usage errors and everything they derive from
UsageError: type[Exception] = typer.BadParameter.__mro__[1]
Abort: type[Exception] = typer.Abort


def run(arguments: Sequence[str]) -> int:
    """Runs a command and returns its exit code; what goes wrong is raised."""
    wanted = _wanted(arguments)
    if wanted in OTHER_WORDS:
        raise BloxError(f"no command is called {wanted}", where="blox", fix=OTHER_WORDS[wanted])
    command = typer.main.get_command(_app(wanted))
    code = command.main(args=list(arguments), prog_name="blox", standalone_mode=False)
    return code if isinstance(code, int) else 0


def _app(wanted: str | None) -> typer.Typer:
    """All commands by name, the wanted one with its options; completion wants them all."""
    app = typer.Typer(
        name="blox", add_completion=True, context_settings={"help_option_names": ["-h", "--help"]}
    )
    app.callback(invoke_without_command=True)(_blox)
    for name, words in COMMANDS.items():
        if wanted in (name, "*"):
            _mount(app, name, words)
        else:
            app.command(name, help=words)(_placeholder)
    return app


def _blox(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Compose a scheduler for a GPU cluster, simulate it on a trace in seconds, compare, look at the result.

    Start with `blox run`, or `blox compare --scheduler fifo,srtf,las`; `blox COMMAND --help` says more.
    """
    if version:
        typer.echo(f"blox {VERSION}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _placeholder() -> None:
    """Stands for a command that was not asked for."""


def _wanted(arguments: Sequence[str]) -> str | None:
    if "_BLOX_COMPLETE" in os.environ:
        return "*"
    return next((word for word in arguments if not word.startswith("-")), None)


def _mount(app: typer.Typer, name: str, words: str) -> None:
    """Adds a command from its module: a typer app called `app`, or a function called like the module."""
    module: ModuleType = importlib.import_module(f"blox.cli.{name}")
    group = getattr(module, "app", None)
    if isinstance(group, typer.Typer):
        app.add_typer(group, name=name, short_help=words)
    else:
        function = getattr(module, name)
        text = _flowing(inspect.getdoc(function) or words)
        app.command(name, cls=OnceCommand, short_help=words, help=text)(function)


def _flowing(text: str) -> str:
    """Text whose paragraphs are one line each and whose brackets are no markup."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    return "\n\n".join(paragraphs).replace("[", r"\[")


def usage(error: Exception) -> int:
    """Says which option or argument is wrong; exit code 2."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()  # type: ignore[attr-defined]
        return 2
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "blox"
    if (unknown := getattr(error, "option_name", None)) and type(error).__name__ == "NoSuchOption":
        known = [name for each in context.command.params for name in each.opts] if context is not None else []
        near = difflib.get_close_matches(unknown, known, n=1, cutoff=0.75)
        question = f"did you mean {near[0]}? " if near else ""
        return fail(f"{path}: no option is called {unknown}\n  fix: {question}`{path} --help` shows them all")
    return fail(f"{path}: {error.format_message()}\n  fix: `{path} --help` shows what is possible")  # type: ignore[attr-defined]


def fail(text: str) -> int:
    """Says what is wrong; exit code 2."""
    word = typer.style("error:", fg=typer.colors.RED, bold=True) if sys.stderr.isatty() else "error:"
    say(text, first=f"{word} ", to_stderr=True)
    return 2
