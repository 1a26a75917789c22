"""Counts modules and lines of our own tree: what each scheduler adds to what FIFO runs on.

A scheduler's modules are those that its parts import, directly or through others, less those that FIFO's
parts and the toolkit import. Nothing is executed: imports are read from the sources.
"""

from __future__ import annotations

import ast
import importlib.util
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from io import StringIO
from pathlib import Path

from blox import registry

FIFO = {
    "admission": "accept-all",
    "scheduling": "fifo",
    "placement": "consolidated",
    "performance": "duration",
    "termination": "completed",
    "workload": "philly",
    "backend": "simulation",
}
TOOLKIT = (
    "blox.experiment.settings",
    "blox.results.result",
)  # what an experiment runs on, whatever its parts
# package -> what the paper calls it
ABSTRACTIONS = {
    "blox.admission_control": "Job Admission Policy",
    "blox.schedulers": "Scheduling Policy",
    "blox.placement": "Placement Policy",
    "blox.performance": "Metric Collection",
    "blox.profiles": "Metric Collection",
    "blox.job_reports": "Metric Collection",
    "blox.workloads": "Workload Generation",
    "blox.backends": "Simulation",
}
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def added(parts: Mapping[str, str], base: frozenset[str]) -> list[str]:
    """The modules that parts (kind -> name) need and `base` does not have, sorted."""
    return sorted(closure(_modules(parts)) - base)


def fifo_modules() -> frozenset[str]:
    """What FIFO runs on: its parts, the toolkit, and all that these import.

    Policies that the toolkit imports for reasons of its own (to explain one, say) are not FIFO's.
    """
    toolkit = {name for name in closure(TOOLKIT) if _package(name) not in ABSTRACTIONS}
    return frozenset(closure(_modules(FIFO)) | toolkit)


def closure(modules: Iterable[str]) -> set[str]:
    """The modules of blox that these import, directly or through others, and these."""
    found: set[str] = set()
    left = list(modules)
    while left:
        module = left.pop()
        if module not in found:
            found.add(module)
            left.extend(imported(module))
    return found


@cache
def imported(module: str) -> frozenset[str]:
    """The modules of blox that one imports, also inside of functions; not those for type checkers alone."""
    found: set[str] = set()
    for node in _executed(ast.parse(source(module))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update(_from(node.module, [alias.name for alias in node.names]))
    return frozenset(name for name in found if name.split(".")[0] == "blox" and path(name) is not None)


def code_lines(module: str) -> int:
    """The lines of a module that hold code: no blank lines, comments or docstrings."""
    text = source(module)
    texts = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and _is_text(node.value)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    held = {
        line
        for token in tokenize.generate_tokens(StringIO(text).readline)
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(held - texts)


def abstraction(module: str) -> str:
    """The paper's name of the abstraction that a module belongs to; otherwise that of its package."""
    package = _package(module)
    return ABSTRACTIONS.get(package, package.removeprefix("blox."))


@cache
def source(module: str) -> str:
    where = path(module)
    assert where is not None, f"{module} is not a module of blox"
    return where.read_text(encoding="utf-8")


@cache
def path(module: str) -> Path | None:
    """The file of a module; None where there is none of that name."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return None
    return Path(spec.origin) if spec is not None and spec.origin else None


def _modules(parts: Mapping[str, str]) -> list[str]:
    return [registry.classes(kind)[name].__module__ for kind, name in parts.items()]


def _package(module: str) -> str:
    return ".".join(module.split(".")[:2])


def _from(module: str, names: Iterable[str]) -> Iterator[str]:
    """`from a import b` imports `a`, and `a.b` where that is a module."""
    yield module
    if module.split(".")[0] == "blox":
        yield from (f"{module}.{name}" for name in names)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but those below `if TYPE_CHECKING`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from _executed(node)
