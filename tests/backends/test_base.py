"""The next event: every kind of simulation merges submissions and node events into it."""

import numpy as np
import pytest

from blox.backends.base import BackendBase
from blox.backends.feed import JobFeed
from blox.backends.setup import BackendSetup
from blox.backends.simulation import Simulation
from blox.cluster.recorded import RecordedBackend
from blox.compat.gavel.steps import StepSimulation
from blox.compat.pollux.ticks import TickSimulation
from blox.failures.node_events import ListedNodeEvents
from blox.optional import declared
from blox.performance.by_throughput import ByThroughput
from blox.performance.duration import Duration
from blox.performance.elastic import Goodput
from blox.performance.sensitivity import Sensitivity
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import cluster_from_spec
from blox.state.jobs import JobState
from blox.state.node_events import NodeEvent
from blox.state.plan import Allocation
from blox.workloads.table import JobTable

DOWN = NodeEvent(300.0, 1, "down")
KINDS = [
    (declared(model, "simulation") or Simulation, model)
    for model in (Duration(), ByThroughput(), Sensitivity(), Goodput())
]


def simulated(kind, model, events):
    """A simulation of one job of 1000 s, submitted at 0, and one submitted at 500; node events as given."""
    jobs = JobTable.build(
        {
            "job_id": ["a", "b"],
            "submit_s": np.array([0.0, 500.0]),
            "gpus": np.ones(2, dtype=np.int64),
            "duration_s": np.array([1000.0, 1000.0]),
        },
        source="test",
    )
    feed = JobFeed(iter((jobs,)), 2, lambda batch: batch)
    backend = kind(BackendSetup(feed, model, node_events=events))
    cluster_state, job_state = ClusterState(cluster_from_spec("v100=2x1")), JobState()
    backend.submit(job_state)
    job_state.add_new_jobs(job_state.waiting)
    return backend, cluster_state, job_state


@pytest.mark.parametrize(("kind", "model"), KINDS)
def test_the_next_event_is_the_earliest_of_completion_submission_and_node_event(kind, model):
    backend, cluster_state, job_state = simulated(kind, model, ListedNodeEvents([DOWN]))
    grants = Allocation.from_dict({0: (0,)})
    rate, anchor = backend.launch(grants, cluster_state, job_state)
    job_state.start(grants.jobs, grants.counts, rate, anchor)
    cluster_state.holdings.replace(grants)
    assert backend.next_event(cluster_state, job_state) == 300.0
    assert backend.node_events(299.0) == []
    assert backend.node_events(300.0) == [DOWN]
    assert backend.next_event(cluster_state, job_state) == 500.0
    job_state.now = 500.0
    backend.submit(job_state)
    completion = backend.next_event(cluster_state, job_state)
    assert completion == pytest.approx(1000.0, rel=1e-12)
    job_state.now = completion
    rows, at = backend.completed(cluster_state, job_state)
    assert (rows.tolist(), np.atleast_1d(at).tolist()) == ([0], [completion])


@pytest.mark.parametrize("kind", [RecordedBackend, Simulation, StepSimulation, TickSimulation, *dict(KINDS)])
def test_no_kind_of_backend_has_a_next_event_of_its_own(kind):
    assert kind.next_event is BackendBase.next_event
    assert kind.node_events is BackendBase.node_events
    assert issubclass(kind, BackendBase)


def test_a_backend_that_is_busy_acts_on_events_when_it_is_done():
    backend, cluster_state, job_state = simulated(Simulation, Duration(), ListedNodeEvents([DOWN]))
    backend._busy_until_s = 400.0
    assert backend.next_event(cluster_state, job_state) == 400.0
    assert backend.node_events(400.0) == [DOWN]
    assert backend.next_event(cluster_state, job_state) == 500.0
