"""Bad clients over the wire: each is refused with a reason, and nothing else is disturbed."""

import contextlib
import random
import threading
import time
from functools import partial

import grpc
import msgspec
import pytest

from blox.cluster.central.records import Policies
from blox.cluster.protocol import messages as m
from blox.cluster.protocol import queries as q
from blox.cluster.protocol.timing import Timing
from blox.cluster.shell.limits import RateLimit
from blox.cluster.shell.place import Place
from blox.cluster.shell.scheduler_process import SchedulerProcess
from blox.errors import BloxError
from blox.experiment.parts import policy_from_spec
from support.bad_clients import ASK, DELIVER, OK, TOKEN, encode, part, table
from support.waiting import PATIENCE_S

TIMING = Timing(round_s=1e5, heartbeat_s=60.0, lease_s=1e5)  # no round disturbs what is compared
TABLE = list(table())


class Wire:
    """A scheduler in this process, its wire, and a good node `a` of four GPUs with job 1."""

    def __init__(self, directory):
        place = Place.of(directory)
        place.create()
        (place.root / "token").write_text(TOKEN)
        self.process = SchedulerProcess(place, "127.0.0.1:0", TIMING, Policies())
        self._thread = threading.Thread(target=self.process.run)
        self._thread.start()
        self.channel = grpc.insecure_channel(place.address())
        self.number = 0
        self.report()
        self.asked(m.Submit("first", OK))
        self.asked(m.Submit("taken", m.JobSpec(("other",), 2)))
        self.asked(m.SetPolicies("rule", scheduler="fifo"))

    def close(self):
        self.channel.close()
        self.process.close()
        self._thread.join()

    def call(self, method, data, token=TOKEN):
        metadata = () if token is None else (("blox-token", token),)
        return self.channel.unary_unary(f"/blox.Cluster/{method}")(
            data, timeout=PATIENCE_S, metadata=metadata
        )

    def asked(self, message):
        return msgspec.msgpack.decode(self.call(ASK, encode(message)))

    def report(self, *parts):
        self.number += 1
        report = m.Report("a", 2, self.number, 0, 4, parts, "a", "127.0.0.1:9", wall_s=time.time())
        return self.call(DELIVER, encode(report))

    def state(self):
        """Everything that users see, but for the time."""
        shown = [self.asked(query) for query in (q.ListJobs(True), q.ListNodes(), q.ShowPolicies())]
        shown[2].pop("now_s")
        return shown


@pytest.fixture(scope="module")
def wire(tmp_path_factory):
    with contextlib.suppress(BloxError):  # imports all policies, for which a busy machine takes seconds
        policy_from_spec("scheduling", "magic")
    made = Wire(tmp_path_factory.mktemp("wire") / "c")
    made.before = made.state()
    yield made
    made.close()


def test_the_table_is_long_enough():
    assert len(TABLE) >= 60 and len({bad.name for bad in TABLE}) == len(TABLE)


@pytest.mark.parametrize("bad", TABLE, ids=lambda bad: bad.name)
def test_it_is_refused_with_a_reason_and_disturbs_nothing(wire, bad):
    if not bad.words:
        wire.call(bad.method, bad.data, bad.token)
    else:
        with pytest.raises((grpc.RpcError, Refusal), match=bad.words) as refused:
            answer = wire.call(bad.method, bad.data, bad.token)
            raise Refusal(msgspec.msgpack.decode(answer, type=m.Refused).what)
        assert "Traceback" not in str(refused.value)
    assert wire.state() == wire.before
    wire.report()


class Refusal(Exception):
    """An answer that refuses."""


def test_the_scheduler_serves_on(wire):
    """After everything in the table: a good request is accepted, a good node heard."""
    assert wire.report() == b""
    assert wire.asked(q.ShowJob(1))["state"] == "waiting"


VALID = [
    m.Submit("fuzz", m.JobSpec(("train", "--x"), 2, "n", "u", expected_s=5.0, environment={"A": "b"})),
    m.Cancel("fuzz", 7),
    m.SetPolicies("fuzz", "accept-all", "las", "first-free"),
    m.SetNode("fuzz", "a", "draining"),
    q.ListJobs(True, 3),
    q.GuessStart(1, 5),
    m.Report("b", 1, 2, 3, 4, (part(1, 1, "failed"), part(2, 3)), "b", "127.0.0.1:9"),
    m.Ask(1, 1, 5, "a"),
]


def mutated(data, rng):
    """A few bytes changed, dropped, doubled or put in."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at, what = rng.randrange(len(data)), rng.randrange(4)
        if what == 0:
            data[at] = rng.randrange(256)
        elif what == 1:
            del data[at]
        elif what == 2:
            data[at:at] = data[at : at + rng.randint(1, 9)]
        else:
            data[at:at] = rng.randbytes(rng.randint(1, 5))
    return bytes(data)


def test_fuzzed_messages_break_nothing(tmp_path):
    """Whatever comes is answered or refused in words; the scheduler lives, and starts again from its
    journal."""
    wire, rng, refused = Wire(tmp_path / "c"), random.Random(18), 0
    try:
        for number in range(400):
            message = rng.choice(VALID)
            method = DELIVER if isinstance(message, m.Report | m.Ask) else ASK
            try:
                wire.call(method, mutated(encode(message), rng))
            except grpc.RpcError as error:
                refused += 1
                known = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.FAILED_PRECONDITION
                assert error.code() in known, (number, error)
        assert refused > 200
        assert wire.asked(q.ShowJob(1))["state"] in ("waiting", "cancelled")
    finally:
        wire.close()
    again = Wire(tmp_path / "c")
    again.close()


def test_more_messages_a_second_than_allowed_are_refused():
    now = [0.0]
    limit = RateLimit(10.0, 20.0, clock=lambda: now[0])
    assert [limit.allows() for _ in range(25)] == [True] * 20 + [False] * 5
    now[0] = 1.0
    assert sum(limit.allows() for _ in range(50)) == 10


def test_a_flood_is_refused_and_the_scheduler_serves_on(tmp_path, monkeypatch):
    now = [0.0]  # stands still, however long the flood takes
    monkeypatch.setattr("blox.cluster.shell.wire._ASKED", (5.0, 20.0))
    monkeypatch.setattr("blox.cluster.shell.wire.RateLimit", partial(RateLimit, clock=lambda: now[0]))
    wire = Wire(tmp_path / "c")
    try:
        with pytest.raises(grpc.RpcError, match="more than 5 messages a second"):
            for _ in range(100):
                wire.asked(q.ShowPolicies())
        now[0] = 0.5  # two more are allowed by then
        assert wire.asked(q.ShowPolicies())["scheduler"] == "fifo"
    finally:
        wire.close()


def test_inputs_that_wait_are_bounded(wire, monkeypatch):
    monkeypatch.setattr("blox.cluster.shell.mailbox._MOST", 0)
    with pytest.raises(grpc.RpcError, match="too much to do"):
        wire.asked(q.ShowPolicies())


def test_the_number_of_jobs_is_bounded(wire, monkeypatch):
    monkeypatch.setattr("blox.cluster.central.requests._MOST_JOBS", 2)
    assert "2 jobs have not ended" in wire.asked(m.Submit("third", OK))["what"]
