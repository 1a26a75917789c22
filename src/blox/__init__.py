"""blox: a modular toolkit for deep-learning cluster schedulers.

Compose admission, scheduling and placement; simulate on a trace in seconds; compare; run the same
policies on a cluster.

    import blox
    result = blox.Experiment(workload="philly:load=8", cluster="32x4", scheduler="las").run()
    print(result.summary["avg_jct_s"])
"""

from blox.cluster_state import ClusterState
from blox.errors import BloxError
from blox.experiment import Experiment
from blox.job_state import JobState
from blox.manager import BloxManager
from blox.plan import Allocation, Plan
from blox.registry import register
from blox.results import Result
from blox.schedule import Schedule
from blox.version import VERSION as __version__

__all__ = [
    "Allocation",
    "BloxError",
    "BloxManager",
    "ClusterState",
    "Experiment",
    "JobState",
    "Plan",
    "Result",
    "Schedule",
    "__version__",
    "register",
]
