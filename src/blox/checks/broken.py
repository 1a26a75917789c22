"""Broken: a policy does not keep the contract. The rule it breaks, what happened, how to mend it."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from blox import registry
from blox.errors import BloxError
from blox.foreign import shown

_PACKAGE = Path(__file__).parents[1]


class Broken(BloxError):
    """A policy has broken a `rule` of the contract; stops a run like any other mistake in the input."""

    def __init__(self, what: str, *, where: str = "", fix: str = "", rule: str = "") -> None:
        super().__init__(what, where=where, fix=fix)
        self.rule = rule

    def at(self, where: str) -> Broken:
        """The same with its place."""
        return Broken(self.what, where=where, fix=self.fix, rule=self.rule)


def name_of(policy: object) -> str:
    """What to call a policy in messages: the spec that names it, or its class."""
    return registry.name_of(type(policy))


def line_of_verb(policy: object, verb: str) -> str:
    """`file:line` of a policy's method; empty where Python does not know."""
    method = getattr(type(policy), verb, None)
    try:
        code = inspect.unwrap(method).__code__  # type: ignore[arg-type]
    except AttributeError:
        return ""
    return f"{shown(code.co_filename)}:{code.co_firstlineno}"


def line_of_error(error: BaseException, policy: object) -> str:
    """`file:line` where an exception left the policy's own file, or failing that, any file but ours."""
    own = getattr(sys.modules.get(type(policy).__module__), "__file__", None)
    if own is not None and _ours(own):
        own = None  # a policy of ours around one of the user's
    in_own = outside = ""
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if own is not None and file == own:
            in_own = f"{shown(file)}:{trace.tb_lineno}"
        if not _ours(file):
            outside = f"{shown(file)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return in_own or outside


def _ours(file: str) -> bool:
    return Path(file).is_relative_to(_PACKAGE)
