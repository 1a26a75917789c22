"""Parts from a user's file: `./file.py:Class`, and what is wrong with the file in words."""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import re
import sys
import types
import typing
import zlib
from pathlib import Path

from blox.containment import by_signal
from blox.errors import BloxError, sought, suggestion
from blox.foreign import entered
from blox.user_modules import USER_MODULE, make_siblings_known

_OPTIONS = re.compile(r"[A-Za-z][\w-]*:[^/\\]*=")  # how a spec begins that has a name and options


class FileSpec(typing.NamedTuple):
    """`./file.py:Class[:options]` in its parts."""

    path: str
    class_name: str
    options: str


def file_in(spec: str, what: str = "class") -> FileSpec | None:
    """The parts of a spec that begins with a file; None for one that begins with a name.

    The options of a named part may name files themselves: `promote:policy=./mine.py:Mine`.
    """
    head, marker, rest = spec.partition(".py:")
    if _OPTIONS.match(head):
        return None
    if not marker and spec.endswith(".py"):
        form = "Class" if what == "class" else what
        raise BloxError(f"a file needs a {what} behind it", where=spec, fix=f"{spec}:{form}")
    class_name, _, options = rest.partition(":")
    return FileSpec(f"{head}.py", class_name, options) if marker else None


def load_class(path: str, class_name: str, *, function: bool = False) -> type:
    """A class out of a Python file, or a `function`; what goes wrong in the file is told with its line."""
    file = Path(path)
    if not file.is_file():
        raise BloxError(
            "no such file", where=path, fix=f"give the path of a Python file: ./mine.py:Class{sought(path)}"
        )
    name = f"{USER_MODULE}{zlib.crc32(str(file.resolve()).encode()):08x}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    make_siblings_known(file)
    try:
        with entered("its import", path):
            spec.loader.exec_module(module)
    except BloxError:
        raise
    except BaseException as error:
        if by_signal(error):
            raise
        line = line_in(error, file)
        raise BloxError(
            f"the file cannot be imported: {type(error).__name__}: {error}",
            where=f"{path}{line}",
            fix="run it with python to see the whole trace",
        ) from None
    cls = getattr(module, class_name, None)
    if function and isinstance(cls, types.FunctionType):
        return cls  # type: ignore[return-value]
    if function and not isinstance(cls, type):
        here = [n for n, v in vars(module).items() if callable(v) and v.__module__ == name]
        raise BloxError(f"no function is called {class_name!r}", where=path, fix=suggestion(class_name, here))
    if not isinstance(cls, type):
        here = [n for n, v in vars(module).items() if isinstance(v, type) and v.__module__ == name]
        raise BloxError(f"no class is called {class_name!r}", where=path, fix=suggestion(class_name, here))
    cls.blox_spec = f"{path}:{class_name}"  # type: ignore[attr-defined]
    if not dataclasses.is_dataclass(cls) and parameters_needed(cls):
        raise BloxError(
            f"{class_name} takes constructor arguments but is not a dataclass",
            where=path,
            fix="put @dataclass(frozen=True) above the class; its fields are its parameters",
        )
    return cls


def parameters_needed(cls: type) -> bool:
    """Whether a plain class cannot be constructed without arguments."""
    try:
        wanted = list(inspect.signature(cls).parameters.values())
    except (TypeError, ValueError):
        return False
    return any(p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in wanted)


def line_in(error: BaseException, file: Path) -> str:
    if isinstance(error, SyntaxError) and error.lineno:
        return f":{error.lineno}"
    trace, line = error.__traceback__, ""
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename).resolve() == file.resolve():
            line = f":{trace.tb_lineno}"
        trace = trace.tb_next
    return line
