"""guard(): a policy that is watched while it runs, so that nonsense stops the run in words.

For policies that come from outside (`./mine.py:Mine`, installed packages). What it returns is checked
against the contract, the states are read-only while it thinks, and what it raises is told with the line of
its own file.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import FrozenInstanceError
from functools import partial
from typing import Any, TypeVar

from blox.checks import answers
from blox.checks.broken import Broken, line_of_error, line_of_verb, name_of
from blox.checks.kinds import Kind, kind_named
from blox.checks.said import SAID, wait_reasons
from blox.checks.seal import REMEDY, seal
from blox.containment import MORE_TIME, POLICY_TIMEOUT_S, ProcessEnd, TimeUp, by_signal, contained, time_limit
from blox.errors import BloxError, suggestion
from blox.optional import OPTIONAL, declared
from blox.registry import spec_of
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Plan
from blox.state.schedule import Schedule
from blox.workloads.columns import JobColumns, Submission
from blox.workloads.table import Array

T = TypeVar("T")

BELIEVED = "policies know what is believed of durations: job_state.expected_s, job_state.remaining_s()"
_KEPT_FROM_POLICIES = JobColumns.declared.keys() - Submission.declared.keys()


def is_foreign(policy: object) -> bool:
    """Whether a policy comes from a user's file or an installed package, and so wants a guard."""
    return not isinstance(policy, Guard) and type(policy).__module__.partition(".")[0] != "blox"


def guard(kind: str, policy: Any, timeout_s: float = POLICY_TIMEOUT_S) -> Any:
    """`policy`, watched: the same verb, the same `stable_until` if it has one, the same attributes.

    A decision may take `timeout_s` seconds.
    """
    return _GUARDS[kind_named(kind).name](kind_named(kind), policy, timeout_s)


class Guard:
    """Passes a verb on to a policy and checks what comes back."""

    def __init__(self, kind: Kind, policy: Any, timeout_s: float) -> None:
        self.kind, self.policy, self.timeout_s = kind, policy, timeout_s
        if declared(policy, "stable_until") is not None:
            self.stable_until = self._stable_until

    def __getattr__(self, name: str) -> Any:
        if name in ("kind", "policy", "stable_until", "timeout_s") or name.startswith("__"):
            raise AttributeError(name)
        if name not in OPTIONAL:
            return getattr(self.policy, name)
        value = declared(self.policy, name)
        if name == "wait_reasons" and value is not None:
            return self._wait_reasons
        return value if value is None or name not in SAID else partial(self._say, name)

    def __repr__(self) -> str:
        return repr(self.policy)

    def ask(self, verb: str, job_state: JobState, cluster_state: ClusterState, *arguments: Any) -> Any:
        """What the policy's `verb` returns; what it raises or changes becomes Broken."""
        method, sealed = getattr(self.policy, verb), seal(job_state, cluster_state)
        return self._call(verb, method, arguments, job_state, sealed)

    def _say(self, name: str, job_state: JobState) -> Any:
        """What an optional method returns at the end of a run."""
        answer = self._call(name, declared(self.policy, name), (job_state,), job_state, nullcontext())
        return self.checked(name, job_state, SAID[name], answer, job_state)

    def checked(
        self, verb: str, job_state: JobState, check: Callable[..., T], *arguments: Any, **options: Any
    ) -> T:
        """What a check makes of an answer; an answer that cannot even be read breaks the contract too."""
        try:
            return check(*arguments, **options)
        except Broken as fault:
            raise self.placed_fault(fault, verb, job_state) from None
        except Exception as error:
            what = f"what {verb}() returns cannot be read: {type(error).__name__}: {error}"
            unread = Broken(what, fix=self.kind.example, rule="answer")
            raise self.placed_fault(unread, verb, job_state) from None

    def _wait_reasons(self, rows: Array, job_state: JobState, cluster_state: ClusterState) -> Any:
        """What the policy tells about rows that wait."""
        method, sealed = declared(self.policy, "wait_reasons"), seal(job_state, cluster_state)
        answer = self._call("wait_reasons", method, (rows, job_state, cluster_state), job_state, sealed)
        try:
            return wait_reasons(answer, rows)
        except Broken as fault:
            raise self.placed_fault(fault, "wait_reasons", job_state) from None

    def _call(
        self,
        verb: str,
        method: Callable[..., Any],
        arguments: tuple[Any, ...],
        job_state: JobState,
        sealed: AbstractContextManager[None],
    ) -> Any:
        policy = self.policy
        try:
            with sealed, contained(), time_limit(self.timeout_s):
                answer = method(*arguments)
            if inspect.iscoroutine(answer):
                answer.close()  # or else Python complains of it as well
                raise Broken(
                    f"{verb}() is async: it returns a coroutine, which is never awaited",
                    fix=f"write def {self._written(verb)}, without async",
                    rule="answer",
                )
            return answer
        except Broken as fault:
            raise self.placed_fault(fault, verb, job_state) from None
        except BloxError as error:  # of ours, that the policy has called wrongly
            line = line_of_error(error, policy) or line_of_verb(policy, verb)
            raise Broken(error.what, where=self.where(line, job_state), fix=error.fix, rule="runs") from None
        except BaseException as error:  # sys.exit() in a policy must not end us in silence
            if by_signal(error):
                raise
            raised_at = line_of_error(error, policy)
            line = raised_at or line_of_verb(policy, verb)
            if isinstance(error, TypeError) and not raised_at:  # no line of the policy was reached
                raise Broken(
                    f"{verb}() cannot be called: {error}",
                    where=self.where(line, job_state),
                    fix=f"write def {self._written(verb)}",
                    rule="runs",
                ) from None
            raise _told(error, verb).at(self.where(line, job_state)) from None

    def placed_fault(self, fault: Broken, verb: str, job_state: JobState) -> Broken:
        """The fault with the policy, its line and the simulated time."""
        what = fault.what if fault.rule != "pure" else f"{verb}() {fault.what}"
        found = Broken(what, fix=fault.fix, rule=fault.rule)
        return found.at(self.where(line_of_verb(self.policy, verb), job_state))

    def _written(self, verb: str) -> str:
        """A verb as it is written in a policy."""
        return OPTIONAL[verb].form.written(verb) if verb in OPTIONAL else self.kind.call

    def where(self, line: str, job_state: JobState) -> str:
        place = f"{line}, " if line else ""
        return f"{place}{self.kind.name} policy {name_of(self.policy)}, at {job_state.now:.12g} s"

    def _stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        answer = self.ask("stable_until", job_state, cluster_state, job_state, cluster_state)
        return self.checked("stable_until", job_state, answers.stable, answer)


class GuardedAdmission(Guard):
    """An admission policy, watched."""

    def accept(self, new_jobs: Array, cluster_state: ClusterState, job_state: JobState) -> Array:
        answer = self.ask("accept", job_state, cluster_state, new_jobs, cluster_state, job_state)
        return self.checked("accept", job_state, answers.accepted, answer, new_jobs, job_state)


class GuardedScheduling(Guard):
    """A scheduling policy, watched."""

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        answer = self.ask("schedule", job_state, cluster_state, job_state, cluster_state)
        return self.checked("schedule", job_state, answers.scheduled, answer, job_state, cluster_state)


class GuardedPlacement(Guard):
    """A placement policy, watched."""

    def place(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Plan:
        answer = self.ask("place", job_state, cluster_state, schedule, cluster_state, job_state)
        one_pool = declared(self.policy, "ignores_nodes")
        return self.checked(
            "place", job_state, answers.placed, answer, schedule, cluster_state, job_state, one_pool=one_pool
        )


class GuardedTermination(Guard):
    """A termination policy, watched."""

    @property
    def reason(self) -> Any:
        return declared(self.policy, "reason") or spec_of(self.policy)

    def terminate(self, job_state: JobState, cluster_state: ClusterState) -> Array:
        answer = self.ask("terminate", job_state, cluster_state, job_state, cluster_state)
        return self.checked("terminate", job_state, answers.terminated, answer, job_state)


_GUARDS: dict[str, type[Guard]] = {
    "admission": GuardedAdmission,
    "scheduling": GuardedScheduling,
    "placement": GuardedPlacement,
    "termination": GuardedTermination,
}


def _told(error: BaseException, verb: str) -> Broken:
    """An exception out of a policy, in words."""
    if isinstance(error, ValueError) and "WRITEABLE" in str(error):
        return Broken(f"{verb}() makes the arrays of the state writeable", fix=REMEDY, rule="pure")
    if isinstance(error, ValueError | TypeError) and "read-only" in str(error):
        return Broken(f"{verb}() changes the state in place: {error}", fix=REMEDY, rule="pure")
    if isinstance(error, AttributeError) and type(error.obj).__module__.startswith("blox.state."):
        known = [name for name in dir(error.obj) if not name.startswith("_")]
        hint = BELIEVED if error.name in _KEPT_FROM_POLICIES else suggestion(str(error.name), known)
        return Broken(
            f"{verb}() raises AttributeError: the state has no {error.name!r}",
            fix=f"mend that line; {hint}",
            rule="runs",
        )
    if isinstance(error, FrozenInstanceError):
        return Broken(
            f"{verb}() assigns to a frozen object: {error}",
            fix="a policy holds parameters only; what it remembers goes into job_state.memory(self, factory)",
            rule="pure",
        )
    if isinstance(error, TimeUp):
        return Broken(
            f"{verb}() gives {error}",
            fix=MORE_TIME,
            rule="time",
        )
    if isinstance(error, ProcessEnd):
        return Broken(
            f"{verb}() calls {error}, which would end the run",
            fix="raise an error that says what is wrong",
            rule="runs",
        )
    return Broken(
        f"{verb}() raises {type(error).__name__}: {error}",
        fix="mend that line; `blox check` tries the policy on small cases",
        rule="runs",
    )
