"""The entry point of `blox`: finds the command, and turns what goes wrong into words and an exit code.

A command's module is imported when it is called and not before, so that `blox --help` answers at once.
Exit codes: 0 done, 2 a mistake in the input, 130 interrupted.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import os
import signal
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Annotated

import typer

from blox.cli.interrupt import Interrupted
from blox.errors import BloxError
from blox.version import VERSION

# command -> what the list of commands says about it; its module is blox.cli.<command>
COMMANDS = {
    "run": "Run one experiment and show its figures.",
    "compare": "Run several schedulers on the same workload, side by side.",
    "sweep": "Run every combination of loads, schedulers, seeds, ... and resume what was interrupted.",
    "reproduce": "Ask figures of the paper again: the claim, our numbers, the verdict.",
    "explain": "Say why jobs waited: admission, priority, capacity or fragmentation.",
    "report": "Write the HTML report of finished runs.",
    "policies": "List every policy, workload and model with its parameters.",
    "check": "Check a policy against its contract, in words.",
    "compat": "List the presets that behave like another system, and what each changes.",
    "workload": "Describe, convert, generate and validate workloads.",
}

# typer's own errors, whichever way it carries click: usage errors and everything they derive from
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits."""
    # Unwinds like Ctrl-C, so that worker processes are stopped and drafts removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(answer(sys.argv[1:] if arguments is None else arguments))


def answer(arguments: Sequence[str]) -> int:
    """Runs the command line and returns its exit code; errors go to stderr in one piece."""
    try:
        command = typer.main.get_command(_app(_wanted(arguments)))
        code = command.main(args=list(arguments), prog_name="blox", standalone_mode=False)
        code = code if isinstance(code, int) else 0
        sys.stdout.flush()
    except BloxError as error:
        return _fail(error.text())
    except _UsageError as error:
        return _usage(error)
    except Interrupted as stop:
        _say(str(stop))
        return 130
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except BrokenPipeError:
        # Nobody reads any more; Python would complain once again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        if error.filename is None:
            raise
        return _fail(
            f"{error.filename}: {error.strerror}\n  fix: check the path, its permissions and the disk"
        )
    except Exception as error:
        from blox.foreign import user_fault

        if (fault := user_fault(error)) is None:
            raise
        return _fail(fault.text())
    if code == 130:
        _say("interrupted")
    return code


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
        app.command(name, short_help=words, help=_flowing(inspect.getdoc(function) or words))(function)


def _flowing(text: str) -> str:
    """Text whose paragraphs are one line each and whose brackets are no markup."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    return "\n\n".join(paragraphs).replace("[", r"\[")


def _usage(error: Exception) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()  # type: ignore[attr-defined]
        return 2
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "blox"
    if (unknown := getattr(error, "option_name", None)) and type(error).__name__ == "NoSuchOption":
        known = [name for each in context.command.params for name in each.opts] if context is not None else []
        near = difflib.get_close_matches(unknown, known, n=1, cutoff=0.75)
        question = f"did you mean {near[0]}? " if near else ""
        return _fail(
            f"{path}: no option is called {unknown}\n  fix: {question}`{path} --help` shows them all"
        )
    return _fail(f"{path}: {error.format_message()}\n  fix: `{path} --help` shows what is possible")  # type: ignore[attr-defined]


def _fail(text: str) -> int:
    _say(f"{typer.style('error:', fg=typer.colors.RED, bold=True)} {text}")
    return 2


def _say(text: str) -> None:
    typer.echo(text, err=True)


if __name__ == "__main__":
    main()
