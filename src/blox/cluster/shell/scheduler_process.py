"""The process of the central scheduler: `python -m blox.cluster.shell.scheduler_process DIRECTORY`."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import msgspec

from blox.cluster.central.records import Job, Policies, Term, one, under
from blox.cluster.central.scheduler import CentralScheduler
from blox.cluster.protocol import queries
from blox.cluster.protocol.messages import Ask, Assignment, Message, Report, Request
from blox.cluster.protocol.outputs import Outputs
from blox.cluster.protocol.timing import Timing
from blox.cluster.shell.arenas import limit_arenas
from blox.cluster.shell.journal import Journal
from blox.cluster.shell.log import open_log
from blox.cluster.shell.mailbox import Mailbox
from blox.cluster.shell.metrics import SchedulerMetrics, serve
from blox.cluster.shell.parent import call_when_parent_ends, run_to_end
from blox.cluster.shell.place import Place, write_whole
from blox.cluster.shell.reply import Reply
from blox.cluster.shell.shown import Shown
from blox.cluster.shell.watchers import Watchers
from blox.cluster.shell.wire import Busy, Peers, Server
from blox.errors import BloxError

_USER = "user"
_TOO_MUCH = "the scheduler has too much to do"
_decode_message = msgspec.msgpack.Decoder(Report | Ask).decode
_decode_request = msgspec.msgpack.Decoder(Request | queries.Query).decode
_encode = msgspec.msgpack.encode


class SchedulerProcess:
    """Journal, wire and clock around a CentralScheduler. One thread gives it its inputs.

    Inputs that came together are stored together: nothing of what they changed is sent, and none is
    answered, before all of it is durable.
    """

    def __init__(self, place: Place, address: str, timing: Timing, policies: Policies) -> None:
        self._journal = Journal(place.journal)
        self._log, self._metrics = open_log(place.logs, "scheduler"), SchedulerMetrics()
        records = self._journal.records()
        self._base_s = _resumed(records) - time.monotonic()
        self._scheduler = CentralScheduler(
            records, timing, self._now(), policies, wall_s=time.time(), stored=self._stored
        )
        del records
        self._shown, self._watchers = Shown(self._scheduler, self._journal), Watchers()
        self._peers = Peers(place.token(), lambda address, why: self._log("refused", by=address, what=why))
        self._mailbox = Mailbox()
        self._saves: list[tuple[str, bytes | None]] = []  # of the inputs that are being carried out
        self._sends: list[tuple[str, Message]] = []
        self._answers: list[tuple[Reply, object]] = []
        self._take(self._scheduler.start())
        self._flush()
        self._server = Server(address, place.token(), self._deliver, self._ask, self._refused)
        self._end_metrics = serve(self._metrics.registry, place.metrics, "scheduler")
        write_whole(place.address_file, self._server.address)
        term, jobs = self._scheduler.term.term, self._scheduler.jobs.unfinished
        self._log("started", term=term, jobs=jobs, address=self._server.address)

    def run(self) -> None:
        self._mailbox.run(lambda: self._scheduler.wake_s - self._base_s, self._tick, self._flush)
        self._watchers.close()
        self._server.close()
        self._end_metrics()
        self._peers.close()
        self._journal.close()
        self._log("ended")

    def close(self) -> None:
        self._mailbox.close()

    def _now(self) -> float:
        """The cluster's time: goes on where it was, by this machine's monotonic clock."""
        return time.monotonic() + self._base_s

    # -- inputs, on the thread of the mailbox --------------------------------------------------------

    def _tick(self) -> None:
        began_s, began_cpu_s = time.monotonic(), time.process_time()
        late_s = self._now() - self._scheduler.wake_s
        if late_s > self._scheduler.timing.heartbeat_s:
            self._scheduler.stood_still(late_s)
        out = self._scheduler.tick(self._now())
        self._take(out)
        self._flush()
        seconds, cpu_s = time.monotonic() - began_s, time.process_time() - began_cpu_s
        self._metrics.round_s.observe(seconds)
        if changes := sum(note.event == "job" for note in out.notes):
            self._log("round", changes=changes, seconds=seconds, cpu_s=cpu_s)
        self._metrics.show(self._scheduler)
        self._metrics.inputs.set(len(self._mailbox))

    def _receive(self, message: Report | Ask) -> None:
        """From a node."""
        sender = message.node if isinstance(message, Report) else message.sender
        self._take(self._scheduler.receive(message, sender, self._now(), time.time()))

    def _answer(self, request: Request | queries.Query, reply: Reply) -> None:
        """From a user."""
        if isinstance(request, Request):
            out = self._scheduler.receive(request, _USER, self._now())
            answer: object = next(message for address, message in out.sends if address == _USER)
            out.sends = [each for each in out.sends if each[0] != _USER]
            self._take(out)
        else:
            self._flush()  # so that what is shown is stored
            answer = self._shown.view(request, self._now())
        self._answers.append((reply, answer))

    def _take(self, out: Outputs) -> None:
        self._saves += out.saves
        self._sends += out.sends
        self._metrics.count(out.notes)
        for note in out.notes:
            self._log(note.event, **note.fields)

    def _flush(self) -> None:
        """Saves, then sends and answers. Of the assignments of a node the last says everything."""
        saves, sends, answers = self._saves, self._sends, self._answers
        self._saves, self._sends, self._answers = [], [], []
        if saves:
            with self._metrics.commit_s.time():
                self._journal.commit(saves)
        last = {address: message for address, message in sends if isinstance(message, Assignment)}
        for address, message in sends:
            if not isinstance(message, Assignment) or last[address] is message:
                self._send(address, message)
        for reply, answer in answers:
            reply.give(answer)
        self._watchers.tell(self._scheduler.term.term, self._scheduler.changes.version)

    def _send(self, node: str, message: Message) -> None:
        record = self._scheduler.nodes.records.get(node)
        if record is not None and record.address:
            self._peers.send(record.address, _encode(message))

    def _stored(self, key: str) -> bytes | None:
        """A record of long ago; what is about to be stored is still known to the scheduler itself."""
        return self._journal.get(key)

    # -- threads of the server ----------------------------------------------------------------------

    def _deliver(self, data: bytes) -> str:
        """From a node: "" or why its message is refused. It does not wait for the scheduler, which looks
        again."""
        message = _decode_message(data)
        if isinstance(message, Report):
            reason = self._scheduler.nodes.objection(message, time.time())
            if reason:
                return reason
        return "" if self._mailbox.offer(lambda: self._receive(message)) else _TOO_MUCH

    def _ask(self, data: bytes) -> bytes:
        """From a user: waits until the answer is durable."""
        request = _decode_request(data)
        if isinstance(request, queries.Watch):
            self._watchers.wait(request)
        answer = self._await(lambda reply: self._answer(request, reply))
        if isinstance(request, queries.GuessStart) and isinstance(answer, tuple):
            answer = self._shown.guess(answer, request.draws)
        return _encode(answer)

    def _refused(self, why: str) -> None:
        self._log("refused", what=why)
        self._metrics.refused.inc()

    def _await(self, act: Callable[[Reply], None]) -> Any:
        reply = Reply()
        if not self._mailbox.offer(lambda: act(reply)):
            raise Busy(f"{_TOO_MUCH}: ask again; a request is carried out once")
        return reply.wait()


def _resumed(records: dict[str, bytes]) -> float:
    """The cluster's time (s) to go on from: by the wall clock, but never before anything that was saved."""
    term = one(records, "term", Term)
    if term is None:
        return 0.0
    jobs = under(records, "job/", Job)
    latest = max([term.now, *(max(job.submit_s, job.end_s) for job in jobs)])
    return max(latest, term.now + max(0.0, time.time() - term.wall_s))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("--address", default="127.0.0.1:0")
    parser.add_argument("--timing", default="{}")
    parser.add_argument("--policies", default="{}")
    options = parser.parse_args()
    limit_arenas()
    try:
        timing = msgspec.json.decode(options.timing, type=Timing)
        policies = msgspec.json.decode(options.policies, type=Policies)
        process = SchedulerProcess(Place.of(options.directory), options.address, timing, policies)
    except BloxError as error:
        sys.exit(error.text())
    end: Callable[..., None] = lambda *_: process.close()  # noqa: E731
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    call_when_parent_ends(process.close)
    run_to_end(process.run)


if __name__ == "__main__":
    main()
