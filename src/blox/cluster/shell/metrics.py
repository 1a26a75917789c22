"""Prometheus metrics of a part of the cluster, served on loopback.

`metrics/PART.json` in the cluster's directory says where, in the form of Prometheus' file_sd_configs: point
`files` at `metrics/*.json`, and every part is found, whatever port it got.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    start_http_server,
)

from blox.cluster.central.scheduler import CentralScheduler
from blox.cluster.protocol.outputs import Note
from blox.cluster.shell.place import write_whole

_SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


def serve(registry: CollectorRegistry, directory: Path, part: str) -> Callable[[], None]:
    """Serves metrics at a free port of loopback, and notes the address; returns what ends it."""
    ProcessCollector(registry=registry)
    server, thread = start_http_server(0, "127.0.0.1", registry)
    directory.mkdir(exist_ok=True)
    target = {"targets": [f"127.0.0.1:{server.server_port}"], "labels": {"part": part}}
    write_whole(directory / f"{part}.json", json.dumps([target]))

    def end() -> None:
        server.shutdown()
        server.server_close()
        thread.join(1.0)

    return end


class SchedulerMetrics:
    """What the scheduler does and holds. Everything is set on the thread that has the scheduler."""

    def __init__(self) -> None:
        self.registry = own = CollectorRegistry()
        self._events = Counter("blox_job_events", "What happened to jobs", ["what"], registry=own)
        self._requests = Counter("blox_requests", "Requests of users", ["kind", "answer"], registry=own)
        self.refused = Counter("blox_refused", "Messages that were refused", registry=own)
        self._nodes_changed = Counter("blox_node_events", "Nodes that came and went", ["what"], registry=own)
        self._faults = Counter("blox_round_faults", "Rounds in which a policy failed", registry=own)
        self.round_s = Histogram(
            "blox_round_seconds", "To decide, store and send", buckets=_SECONDS, registry=own
        )
        self.commit_s = Histogram("blox_commit_seconds", "To store", buckets=_SECONDS, registry=own)
        self._jobs = Gauge("blox_jobs", "Jobs that have not ended", ["state"], registry=own)
        self._gpus = Gauge("blox_gpus", "GPU slots", ["state"], registry=own)
        self._nodes = Gauge("blox_nodes", "Nodes", ["state"], registry=own)
        self._term = Gauge("blox_term", "How often the scheduler has started", registry=own)
        self.inputs = Gauge("blox_inputs_waiting", "Messages that wait for the scheduler", registry=own)

    def count(self, notes: list[Note]) -> None:
        """Counts what a step noted."""
        for note in notes:
            what = str(note.fields.get("what", ""))
            if note.event == "job":
                self._events.labels(_kind(what)).inc()
            elif note.event == "node":
                self._nodes_changed.labels(_kind(what)).inc()
            elif note.event == "fault":
                self._faults.inc()
            elif note.event == "refused":
                self.refused.inc()
            if "kind" in note.fields:
                answer = "refused" if note.event == "refused" else "accepted"
                self._requests.labels(note.fields["kind"], answer).inc()

    def show(self, scheduler: CentralScheduler) -> None:
        """Sets what there is now; called after every round."""
        state, cluster = scheduler.job_state, scheduler.cluster_state
        running = 0 if cluster is None else cluster.running_count
        held = len(state.waiting) + len(scheduler.jobs.pending)
        for name, count in (
            ("held", held), ("waiting", state.active_count - running), ("running", running),
        ):  # fmt: skip
            self._jobs.labels(name).set(count)
        nodes = list(scheduler.nodes.records.values())
        alive = [node for node in nodes if scheduler.nodes.alive(node.node)]
        self._nodes.labels("alive").set(len(alive))
        self._nodes.labels("lost").set(len(nodes) - len(alive))
        gpus = sum(node.gpus for node in alive)
        self._gpus.labels("alive").set(gpus)
        self._gpus.labels("free").set(0 if cluster is None else cluster.free_gpus)
        self._term.set(scheduler.term.term)


class WorkerMetrics:
    """What a worker manager does."""

    def __init__(self, lease_left_s: Callable[[], float], ranks: Callable[[], float]) -> None:
        self.registry = own = CollectorRegistry()
        self.ends = Counter("blox_rank_ends", "Ranks that have ended", ["outcome"], registry=own)
        self.actions = Counter("blox_rank_actions", "What ranks were told", ["action"], registry=own)
        self.refused = Counter("blox_refused", "Messages of ours that were refused", registry=own)
        lease = Gauge("blox_lease_seconds", "Left of the node's lease; 0: it has run out", registry=own)
        lease.set_function(lambda: max(0.0, lease_left_s()))
        live = Gauge("blox_ranks", "Ranks that run", registry=own)
        live.set_function(ranks)


def _kind(what: str) -> str:
    """The first word of what happened: few kinds, however long the sentence."""
    return what.split(" ", 1)[0].rstrip(":,")
