"""The contract, executable: what a policy must do, checked before a run and watched during one.

`check("las")` and `check(Mine())` run the conformance suite and return a Report in words; use it in tests
of your own: `report = check(Mine()); assert report.ok, report`. `guard(kind, policy)` wraps a policy so
that nonsense stops a run with a BloxError. Built-in policies are checked in our tests and run unguarded.
"""

from __future__ import annotations

from blox.checks.guard import guard, is_foreign
from blox.checks.report import Finding, Report
from blox.containment import allowing

__all__ = ["Finding", "Report", "check", "guard", "is_foreign"]


def check(policy: object, kind: str | None = None, timeout_s: float | None = None) -> Report:
    """Runs the conformance suite over a spec string, a policy class or a policy.

    `kind` (admission, scheduling, placement, termination) is needed only where it is not plain from the
    name or the class. Specs of workloads, performance models, sources of reports, backends and sources
    of failures are checked against contracts of their own. A decision may take `timeout_s` seconds (60 by
    default). Raises BloxError if there is no such policy; what is wrong with one is in the Report.
    """
    from blox.checks.kinds import SOURCES
    from blox.checks.sources import check_source, kind_of
    from blox.checks.suite import TIMEOUT_S
    from blox.checks.suite import check as run_suite

    limit_s = TIMEOUT_S if timeout_s is None else timeout_s
    if isinstance(policy, str) and kind is None:
        with allowing(limit_s):  # its file is imported
            kind = kind_of(policy)
    if isinstance(policy, str) and kind in SOURCES:
        return check_source(policy, kind, limit_s)
    return run_suite(policy, kind, limit_s)
