"""A run whose loop a test writes out: in every round it says itself which GPUs each job gets."""

from blox import Allocation, Experiment, Plan
from support.runs import prepared_with


class ByHand:
    """The manager, its backend and the two states of an experiment. Jobs are rows 0, 1, 2, ..."""

    def __init__(self, experiment: Experiment, **parts) -> None:
        self.prepared = prepared_with(experiment, **parts)
        self.backend = self.prepared.backend()
        self.cluster_state, self.job_state = self.prepared.states()
        self.manager = self.prepared.manager(self.backend)

    @property
    def states(self):
        return self.cluster_state, self.job_state

    @property
    def held(self) -> dict[int, tuple[int, ...]]:
        """Row -> the GPUs that it holds."""
        return self.cluster_state.allocation.as_dict()

    def begin(self):
        """The verbs of a round up to the decision; every job that waits is admitted. Returns their rows."""
        self.manager.update_cluster(self.cluster_state)
        self.manager.update_metrics(*self.states)
        self.manager.prune_completed_jobs(*self.states)
        new_jobs = self.manager.pop_wait_queue()
        self.job_state.add_new_jobs(new_jobs)
        return new_jobs.tolist()

    def end(self, gpus_of: dict[int, tuple[int, ...]]) -> float:
        """Carries out that these jobs alone hold GPUs, and which; returns when the next round begins."""
        plan = Plan.diff(self.cluster_state.allocation, Allocation.from_dict(gpus_of))
        self.manager.exec_jobs(plan, *self.states)
        self.manager.next_round(*self.states)
        return self.manager.now

    def round(self, gpus_of: dict[int, tuple[int, ...]]) -> float:
        """A whole round."""
        self.begin()
        return self.end(gpus_of)

    def result(self):
        return self.prepared.result(self.manager, self.job_state)
