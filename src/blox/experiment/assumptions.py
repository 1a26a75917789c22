"""What a run takes for granted about its hardware and jobs, in words: kept and told with its results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from blox.experiment.parts import real_speedup
from blox.experiment.without_effect import without_effect
from blox.optional import declared
from blox.performance.model_profiles import profiles_from
from blox.performance.spread import Spread
from blox.state.cluster_spec import DEFAULT_TYPE, ClusterSpec
from blox.state.jobs import JobState

if TYPE_CHECKING:
    from blox.experiment.prepared import Prepared

_NAMED = 5  # models that are told by name


def reference_type(performance: object) -> str:
    """The GPU type that durations hold for; "" where a performance model does not tell types apart."""
    return str(declared(performance, "reference")) if declared(performance, "by_gpu_type") else ""


def speeds_depend_on(prepared: Prepared, job_state: JobState) -> list[str]:
    """What policies decide by which jobs run faster or slower here: "size", "sharing", "gpu types", "nodes".

    Empty: they decide over waiting alone. Of a backend in real time, or of one's own, nothing is known: it
    may be anything. With a performance model that has a `simulation` of its own, sharing GPUs,
    cores or memory may.
    """
    performance, columns = prepared.composition.performance, job_state.columns
    count, own = job_state.submitted, prepared.experiment.backend != "simulation"
    several_nodes = len(prepared.cluster.nodes) > 1 and bool((columns.gpus[:count] > 1).any())
    found = {
        "size": bool((columns.min_gpus < columns.max_gpus)[:count].any()),
        "sharing": own or declared(performance, "simulation") is not None,
        "gpu types": own or (len(prepared.cluster.gpu_types) > 1 and declared(performance, "by_gpu_type")),
        "nodes": own or (several_nodes and declared(performance, "by_nodes")),
    }
    return [name for name, does in found.items() if does]


def assumptions(prepared: Prepared, job_state: JobState) -> list[str]:
    """A sentence for each thing that the jobs, the cluster and the settings of a run leave open."""
    experiment, parts = prepared.experiment, prepared.composition
    if experiment.compat or real_speedup(prepared.backend_part) is not None:
        return []
    told = [
        f"a policy reads the metric {name!r}, which no job has reported: nan throughout (--reports)"
        for name in job_state.never_reported()
    ]
    told += without_effect(prepared, job_state)
    told += _of_types(parts.performance, prepared.cluster)
    wide = job_state.columns.gpus[: job_state.submitted] > 1
    nodes_matter = len(prepared.cluster.nodes) > 1 and not declared(parts.placement, "ignores_nodes")
    if not (wide.any() and nodes_matter):
        return told
    if experiment.performance == "auto" and not declared(parts.performance, "by_nodes"):
        told.append(
            "a job spread over several nodes is taken to run as fast as on one (--performance spread)"
        )
    if isinstance(parts.performance, Spread):
        models = job_state.columns.model[: job_state.submitted][wide].tolist()
        told += _of_models(parts.performance, models)
    return told


def _of_types(performance: object, spec: ClusterSpec) -> Iterator[str]:
    """Which GPU type durations hold for, and what is made of the others."""
    named = dict.fromkeys(name for name in spec.gpu_types if name != DEFAULT_TYPE)
    named.update(spec.speeds)
    reference = reference_type(performance)
    if named and not declared(performance, "by_gpu_type"):
        yield f"GPUs of all types are taken to be equally fast: {', '.join(named)}"
    elif reference and {*named} - {reference}:
        own = performance.gpus if isinstance(performance, Spread) else ""
        profiles, given = profiles_from("", own), dict(spec.speeds)
        unit = profiles.generation(reference).speed
        speeds = [
            f"{name} {given.get(name, profiles.generation(name).speed / unit):g}"
            for name in named
            if name != reference and (name in given or profiles.knows(name))
        ]
        by_model = "" if {*given} >= {*named} - {reference} else ", or as measured of a model"
        yield f"durations hold for {reference} GPUs (speed 1); {', '.join(speeds)}{by_model}"


def _of_models(performance: Spread, models: list[str]) -> Iterator[str]:
    """The models of which it is not known what they send over a network."""
    profiles = profiles_from(performance.models, performance.gpus)
    default = profiles.models["*"]
    unknown = [name for name in models if profiles.model(name) is default]
    if unknown:
        names = sorted({str(name) or "none named" for name in unknown})
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield (
            f"{len(unknown):,} of {len(models):,} jobs on several GPUs are of models without a profile, and "
            f"are taken for a Resnet-50 on the network: {', '.join(names[:_NAMED])}{more}"
        )
