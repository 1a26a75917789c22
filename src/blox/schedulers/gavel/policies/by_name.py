"""Gavel's policies by the names that the original gives them: `policy("max_min_fairness_perf")`.

`_perf` knows GPU types apart, `_packed` also lets jobs share GPUs, no ending does neither.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, Protocol

from blox.errors import BloxError, suggestion
from blox.schedulers.gavel.allocation import Allocation
from blox.schedulers.gavel.policies.allox import AlloX
from blox.schedulers.gavel.policies.fifo import Fifo
from blox.schedulers.gavel.policies.finish_time_fairness import FinishTimeFairness
from blox.schedulers.gavel.policies.gandiva import Gandiva
from blox.schedulers.gavel.policies.makespan import MinTotalDuration
from blox.schedulers.gavel.policies.max_min_fairness import MaxMinFairness
from blox.schedulers.gavel.policies.max_sum_throughput import MaxSumThroughput
from blox.schedulers.gavel.policies.queue import FifoAware, ShortestJobFirst
from blox.schedulers.gavel.policies.shares import Isolated, Proportional
from blox.schedulers.gavel.policies.strategy_proof import StrategyProof
from blox.schedulers.gavel.policies.water_filling import WaterFilling
from blox.schedulers.gavel.problem import Problem


class Policy(Protocol):
    """Turns a problem into time fractions. A frozen dataclass: its fields are its parameters."""

    @property
    def packed(self) -> bool:
        """Whether it lets jobs share GPUs, and so needs `Problem.pairs`."""
        ...

    def allocate(self, problem: Problem, memory: dict[str, Any] | None = None) -> Allocation:
        """The time fractions for this problem.

        `memory` is what the policy keeps from call to call: the caller passes the same dictionary, empty at
        first, and copies it with its own state. Without one every call is the first.
        """
        ...


POLICIES: dict[str, Callable[[], Policy]] = {
    "allox": AlloX,
    "fifo": Fifo,
    "fifo_packed": lambda: FifoAware(packed=True),
    "fifo_perf": FifoAware,
    "finish_time_fairness": lambda: FinishTimeFairness(aware=False),
    "finish_time_fairness_packed": lambda: FinishTimeFairness(packed=True),
    "finish_time_fairness_perf": FinishTimeFairness,
    "gandiva": Gandiva,
    "isolated": Isolated,
    "max_min_fairness": lambda: MaxMinFairness(aware=False),
    "max_min_fairness_packed": lambda: MaxMinFairness(packed=True),
    "max_min_fairness_perf": MaxMinFairness,
    "max_min_fairness_strategy_proof": lambda: StrategyProof(aware=False),
    "max_min_fairness_strategy_proof_perf": StrategyProof,
    "max_min_fairness_water_filling": lambda: WaterFilling(aware=False),
    "max_min_fairness_water_filling_packed": lambda: WaterFilling(packed=True),
    "max_min_fairness_water_filling_perf": WaterFilling,
    "max_sum_throughput_normalized_by_cost_packed_SLOs": lambda: MaxSumThroughput(True, True, True),
    "max_sum_throughput_normalized_by_cost_perf": lambda: MaxSumThroughput(True),
    "max_sum_throughput_normalized_by_cost_perf_SLOs": lambda: MaxSumThroughput(True, True),
    "max_sum_throughput_perf": MaxSumThroughput,
    "min_total_duration": lambda: MinTotalDuration(aware=False),
    "min_total_duration_packed": lambda: MinTotalDuration(packed=True),
    "min_total_duration_perf": MinTotalDuration,
    "proportional": Proportional,
    "sjf": lambda: ShortestJobFirst(aware=False),
    "sjf_perf": ShortestJobFirst,
}
# What the original does that the policies here do only when told to: see their docstrings.
QUIRKS: dict[str, Any] = {
    "choice": "centre",
    "unchecked": True,
    "sum_over_types": True,
    "divide_by_weight": True,
}


def policy(name: str, **parameters: Any) -> Policy:
    """The policy of that name (`-` counts as `_`), with these of its fields changed."""
    made = POLICIES.get(name.replace("-", "_"))
    if made is None:
        raise BloxError(f"no policy is called {name!r}", where="gavel", fix=suggestion(name, POLICIES))
    found = made()
    known = {field.name for field in fields(found)}  # type: ignore[arg-type]
    for key in parameters:
        if key not in known:
            raise BloxError(f"{name} has no parameter {key!r}", where="gavel", fix=suggestion(key, known))
    return replace(found, **parameters)  # type: ignore[type-var]


def original(name: str, *, seed: int = 0) -> Policy:
    """The policy with everything that the original does, mistakes included; `seed` for those that draw."""
    return with_parameters(policy(name), **QUIRKS, seed=seed)


def with_parameters(chosen: Policy, **wanted: Any) -> Policy:
    """The policy with those of these parameters that it has."""
    known = {field.name for field in fields(chosen)}  # type: ignore[arg-type]
    return replace(chosen, **{key: value for key, value in wanted.items() if key in known})  # type: ignore[type-var]
