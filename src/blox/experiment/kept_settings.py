"""The settings of a run as its results keep them: with checksums, and with what defaults came to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from blox import registry
from blox.experiment.assumptions import assumptions, reference_type, speeds_depend_on
from blox.optional import declared
from blox.results.provenance import named_files, provenance
from blox.state.jobs import JobState

if TYPE_CHECKING:
    from blox.experiment.prepared import Prepared


def kept_settings(prepared: Prepared, job_state: JobState, drawn: str) -> dict[str, Any]:
    """Settings that run the experiment again, and their provenance; `drawn`: fingerprint of the jobs."""
    parts, table = prepared.composition, prepared.experiment.to_table()
    if parts.cluster or parts.default_cluster:
        table["cluster"] = prepared.cluster.text
    found: dict[str, Any] = {**provenance(table, prepared.workload, drawn)}
    found["read_files"] = prepared.files_read.lines(named_files(table)) or None
    if prepared.oracle:
        found["oracle"] = True
    if table.get("auto"):
        found.update(_known_ahead(prepared))
    if table.get("performance") == "auto":
        found["performance"] = registry.spec_of(parts.performance)
    if table["apps"] == "auto":
        found["apps"] = prepared.apps
    found["reference_gpu_type"] = reference_type(parts.performance) or None
    found["speeds_depend_on"] = speeds_depend_on(prepared, job_state)
    found["assumed"] = assumptions(prepared, job_state) or None
    unknown = declared(parts.performance, "unknown_models")
    if unknown and not prepared.experiment.compat:
        found["unknown_models"] = unknown(job_state) or None
    table["provenance"] = {name: value for name, value in found.items() if value is not None}
    return table


def _known_ahead(prepared: Prepared) -> dict[str, Any]:
    """Of a synthesizer: the policies among its own that know durations, and that its belief is an estimate.

    A synthesizer that knows the true durations itself needs no such words: its run is an oracle's.
    """
    synthesizer, oracles = prepared.composition.scheduler, prepared.oracles
    named = [] if any(part is synthesizer for part in oracles) else oracles
    return {
        "oracle_policies": [registry.spec_of(part) for part in named] or None,
        "estimated_ahead": declared(synthesizer, "estimates_durations") or None,
    }
