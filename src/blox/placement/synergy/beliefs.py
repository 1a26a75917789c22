"""How many cores and how much memory models are believed to want: from profiles, or from what was seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from blox.profiles.synergy import surfaces
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.workloads.table import Array

ENOUGH = 0.9  # of the best speed seen: less is not worth the cores that are saved (paper, section 3.1)
Amounts = tuple[float, float]  # cores and memory (GB)
Wants = dict[int, Amounts]  # row -> cores and memory per GPU


@dataclass
class Learnt:
    """Speeds seen by model and cores per GPU, and how many cores each model gets next.

    As in the optimistic profiler, a model first gets as many cores as there are, then half as many each time
    while its speed stays within a tenth of the best seen; then the least number that was enough. A model
    whose speed has not levelled off, because other jobs wanted cores too, asks for all cores again.
    """

    seen: dict[str, dict[float, float]] = field(default_factory=dict)  # model -> cores per GPU -> speed

    def observe(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Takes in how fast the jobs that run are: their rate is what they report of themselves."""
        allocation, columns = cluster_state.allocation, job_state.columns
        if allocation.cpu is None:
            return
        rates = columns.rate.take(allocation.jobs).tolist()
        models = columns.model.take(allocation.jobs).tolist()
        gpus = columns.held_gpus.take(allocation.jobs).tolist()
        for model, cpu, count, rate in zip(models, allocation.cpu.tolist(), gpus, rates):
            if cpu > 0 and rate > 0:
                self.seen.setdefault(model, {})[round(cpu / count, 3)] = rate

    def cores(self, model: str, most: float) -> float:
        """Cores per GPU to give a job of that model now; `most` is all that a node could give."""
        seen = self.seen.get(model)
        if not seen:
            return most
        top = max(seen.values())
        enough = min(cores for cores, speed in seen.items() if speed >= ENOUGH * top)
        half = max(1.0, enough / 2)
        if enough > 1.0 and not any(cores <= half + 1e-9 for cores in seen):
            return half
        level = any(cores > 1.2 * enough for cores in seen)  # more was tried, and did not help
        return enough if level or enough <= 1.0 else most


def wants_of(
    rows: Array, learnt: Learnt | None, profiles: str, cluster_state: ClusterState, job_state: JobState
) -> Wants:
    """Cores and memory (GB) per GPU that each job wants, at most what its GPUs' node could give it.

    What is learnt is about cores; memory is then wanted at the fair share. A model that nothing is known
    of wants its fair share.
    """
    gpus, columns = int(cluster_state.node_gpus.max()), job_state.columns
    cpu, memory = float(cluster_state.node_cpu.max()), float(cluster_state.node_memory_gb.max())
    fair = cpu / gpus, memory / gpus
    found: Wants = {}
    for row in rows.tolist():
        model, on_one = columns.model[row], min(int(columns.gpus[row]), gpus)  # above that: whole nodes
        if learnt is not None:
            found[row] = learnt.cores(model, cpu / on_one), fair[1]
        else:
            found[row] = _wanted(profiles, model, (cpu / on_one, memory / on_one), fair)
    return found


@lru_cache(maxsize=4096)
def _wanted(profiles: str, model: str, most: Amounts, fair: Amounts) -> Amounts:
    surface = surfaces(profiles).get(model)
    if surface is None:
        return fair
    want = surface.least(*most)
    return want.cpu, want.memory_gb
