"""blox: a modular toolkit for deep-learning cluster schedulers.

Compose admission, scheduling and placement; simulate on a trace in seconds; compare; run the same
policies on a cluster.

    import blox
    result = blox.Experiment(workload="philly:load=8", cluster="32x4", scheduler="las").run()
    print(result.summary["avg_jct_s"])
"""

from __future__ import annotations

import importlib

from blox.version import VERSION as __version__

TYPE_CHECKING = False  # as in `typing`, whose import would take most of the time that this one takes
if TYPE_CHECKING:
    from typing import Any

    from blox.errors import BloxError
    from blox.experiment.parallel import run_all
    from blox.experiment.settings import Experiment
    from blox.manager import BloxManager
    from blox.registry import register
    from blox.results.comparison import difference, interval
    from blox.results.replications import Replications
    from blox.results.result import Result
    from blox.state.cluster import ClusterState
    from blox.state.jobs import JobState
    from blox.state.plan import Allocation, Plan
    from blox.state.schedule import Schedule

__all__ = [
    "Allocation",
    "BloxError",
    "BloxManager",
    "ClusterState",
    "Experiment",
    "JobState",
    "Plan",
    "Replications",
    "Result",
    "Schedule",
    "__version__",
    "difference",
    "interval",
    "register",
    "run_all",
]

# Names are fetched when they are first used, so that `blox --help` need not wait for numpy.
_HOMES = {
    "Allocation": "state.plan",
    "BloxError": "errors",
    "BloxManager": "manager",
    "ClusterState": "state.cluster",
    "Experiment": "experiment.settings",
    "JobState": "state.jobs",
    "Plan": "state.plan",
    "Replications": "results.replications",
    "Result": "results.result",
    "Schedule": "state.schedule",
    "difference": "results.comparison",
    "interval": "results.comparison",
    "register": "registry",
    "run_all": "experiment.parallel",
}


_PACKAGES = ("admission_control", "checks", "placement", "report", "schedulers", "termination", "workloads")


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"blox.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"blox.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
