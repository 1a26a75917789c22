"""The kinds of part that the contract covers: the verb of each, and the order of its arguments."""

from __future__ import annotations

from dataclasses import dataclass

from blox.errors import BloxError, suggestion


@dataclass(frozen=True)
class Kind:
    """One kind of part. `gives` says what its verb returns, with an example for error messages."""

    name: str
    verb: str
    arguments: tuple[str, ...]
    gives: str
    example: str

    @property
    def call(self) -> str:
        """The verb as it is written in a part."""
        return f"{self.verb}(self, {', '.join(self.arguments)})"


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "admission",
            "accept",
            ("new_jobs", "cluster_state", "job_state"),
            "the rows of new_jobs that enter",
            "return new_jobs[enters], where enters is a mask (new_jobs[:0] for none)",
        ),
        Kind(
            "scheduling",
            "schedule",
            ("job_state", "cluster_state"),
            "a Schedule",
            "return Schedule.ordered(job_state, by=key), with one number per active job",
        ),
        Kind(
            "placement",
            "place",
            ("schedule", "cluster_state", "job_state"),
            "an Allocation",
            "return Allocation.from_dict({row: (gpu, gpu), ...}), or what place_by_node() gives for a rule",
        ),
        Kind(
            "termination",
            "terminate",
            ("job_state", "cluster_state"),
            "the rows of active jobs that end",
            "return job_state.active[ends], where ends is a mask (job_state.active[:0] for none)",
        ),
    )
}


SOURCES = {  # parts that are no policies
    kind.name: kind
    for kind in (
        Kind(
            "workload",
            "batches",
            ("rng",),
            "tables of jobs in order of submission",
            'yield JobTable.build({"job_id": ids, "submit_s": times, "gpus": gpus, "duration_s": seconds}, '
            'source="mine")',
        ),
        Kind(
            "performance",
            "rate",
            ("grants", "cluster_state", "job_state"),
            "one number above 0 per job of grants.jobs",
            "return np.ones(len(grants.jobs))",
        ),
        Kind(
            "reports",
            "report",
            ("rows", "epoch", "job_state"),
            "one number per row, by name",
            'return {"loss": losses}',
        ),
        Kind("backend", "open", ("setup",), "a backend", "return Mine(setup)"),
        Kind(
            "failures",
            "node_events",
            ("cluster", "seed"),
            "node events in order of time",
            'yield NodeEvent(7200.0, 0, "down")',
        ),
    )
}


EPOCHS = Kind(  # the second method of a source of reports
    "reports", "epochs_of", ("rows", "job_state"), "whole numbers", "return np.full(len(rows), 100)"
)


def kind_named(name: str) -> Kind:
    """The kind of policy of that name; a wrong one is answered with the right ones."""
    if name not in KINDS:
        raise BloxError(f"no kind of policy is called {name!r}", where="kind", fix=suggestion(name, KINDS))
    return KINDS[name]
