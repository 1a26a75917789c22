"""The process of the central scheduler: `python -m blox.cluster.shell.scheduler_process DIRECTORY`."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time
from collections.abc import Callable

import msgspec

from blox.cluster.central import views
from blox.cluster.central.records import Job, LifeEntry, Policies, Term, one, under
from blox.cluster.central.scheduler import CentralScheduler
from blox.cluster.protocol.messages import Accepted, Ask, Message, Refused, Report, Request
from blox.cluster.protocol.outputs import Outputs
from blox.cluster.protocol.timing import Timing
from blox.cluster.shell.journal import Journal
from blox.cluster.shell.mailbox import Mailbox
from blox.cluster.shell.parent import call_when_parent_ends
from blox.cluster.shell.place import Place, write_whole
from blox.cluster.shell.wire import Peers, Server
from blox.errors import BloxError

_USER = "user"
_ANSWER_S = 5.0  # a request that took longer is answered with a refusal to say more
_decode_message = msgspec.msgpack.Decoder(Report | Ask).decode
_decode_request = msgspec.msgpack.Decoder(Request | views.Query).decode
_encode = msgspec.msgpack.encode


class SchedulerProcess:
    """Journal, wire and clock around a CentralScheduler. One thread gives it its inputs."""

    def __init__(self, place: Place, address: str, timing: Timing, policies: Policies) -> None:
        self._place, self._journal = place, Journal(place.journal)
        records = self._journal.records()
        self._base_s = _resumed(records) - time.monotonic()
        self._scheduler = CentralScheduler(records, timing, self._now(), policies, wall_s=time.time())
        self._peers = Peers(place.token())
        self._mailbox = Mailbox()
        self._carry_out(self._scheduler.start())
        self._server = Server(address, place.token(), self._deliver, self._ask)
        write_whole(place.address_file, self._server.address)

    def run(self) -> None:
        self._mailbox.run(lambda: self._scheduler.wake_s - self._base_s, self._tick)
        self._server.close()
        self._peers.close()
        self._journal.close()

    def close(self) -> None:
        self._mailbox.close()

    def _now(self) -> float:
        """The cluster's time: goes on where it was, by this machine's monotonic clock."""
        return time.monotonic() + self._base_s

    def _tick(self) -> None:
        self._carry_out(self._scheduler.tick(self._now()))

    def _deliver(self, data: bytes) -> None:
        """From a node, on a thread of the server."""
        message = _decode_message(data)
        sender = message.node if isinstance(message, Report) else message.sender
        self._mailbox.post(lambda: self._receive(message, sender))

    def _receive(self, message: Message, sender: str) -> None:
        self._carry_out(self._scheduler.receive(message, sender, self._now()))

    def _ask(self, data: bytes) -> bytes:
        """From a user, on a thread of the server: waits until the answer is durable."""
        request = _decode_request(data)
        answered = threading.Event()
        answer: list[bytes] = []

        def act() -> None:
            answer.append(_encode(self._answer(request)))
            answered.set()

        self._mailbox.post(act)
        if not answered.wait(_ANSWER_S):
            return _encode(
                Refused("", "the scheduler is busy", fix="ask again: a request is carried out once")
            )
        return answer[0]

    def _answer(self, request: Request | views.Query) -> object:
        scheduler, now = self._scheduler, self._now()
        if isinstance(request, views.ListJobs):
            return views.jobs_view(scheduler, request.ended)
        if isinstance(request, views.ListNodes):
            return views.nodes_view(scheduler)
        if isinstance(request, views.ShowPolicies):
            return views.policies_view(scheduler, now)
        if isinstance(request, views.ShowJob):
            return self._job(request.job)
        replies = self._carry_out(scheduler.receive(request, _USER, now))
        return replies[0] if replies else Accepted("")

    def _job(self, number: int) -> object:
        job = self._scheduler.jobs.all.get(number)
        if job is None:
            return Refused("", f"there is no job {number}", fix="`blox jobs` lists the jobs")
        prefix = f"life/{number:010d}/"
        life = tuple(under(self._journal.under(prefix), prefix, LifeEntry))
        return views.job_view(self._scheduler, job, life)

    def _carry_out(self, out: Outputs) -> list[Message]:
        """Saves, then sends; returns what is for the user."""
        if out.saves:
            self._journal.commit(out.saves)
        replies = []
        for address, message in out.sends:
            if address == _USER:
                replies.append(message)
            elif (record := self._scheduler.nodes.records.get(address)) is not None and record.address:
                self._peers.send(record.address, _encode(message))
        return replies


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
    process.run()


if __name__ == "__main__":
    main()
