"""What bad clients send is refused with a reason, and disturbs nothing."""

import grpc
import msgspec
import pytest

from blox.cluster.protocol import messages as m
from blox.cluster.protocol import queries
from blox.cluster.shell.wire import Peers, Server, ask
from blox.errors import BloxError
from support.waiting import PATIENCE_S, eventually

decode = msgspec.msgpack.Decoder(
    m.Report | m.Assignment | m.ExitAt | m.ExitKnown | m.Request | queries.Query
).decode
SPEC = m.JobSpec(("train",), 2)
VALID = [
    m.Report("a", 1, 2, 3, 4, (m.PartReport(1, 1, True, ""),), "id", "127.0.0.1:1"),
    m.Assignment("a", 1, 2, 3, (m.Grant(1, 1, (0,), (0,), 1, ("a",), ("",), False, SPEC),)),
    m.ExitAt(1, 2, 3, "a"),
    m.ExitKnown(1, 2, "a"),
    m.Submit("r", SPEC),
    m.Cancel("r", 1),
    m.SetPolicies("r", "accept-all", "fifo", "first-free"),
    m.SetNode("r", "a", "up"),
    queries.ListJobs(True),
    queries.ShowJob(1),
]
WRONG = {str: 5, int: "five", bool: "yes", float: "much", list: 5, dict: [1], type(None): "nought"}


def plain(message):
    return msgspec.msgpack.decode(msgspec.msgpack.encode(message))


def mistakes():
    """Every field of every message with a value of another type, and without the tag."""
    for message in VALID:
        fields = plain(message)
        for name, value in fields.items():
            wrong = WRONG[type(value)]
            yield pytest.param({**fields, name: wrong}, id=f"{fields['type']}.{name}={wrong}")
        yield pytest.param(
            {k: v for k, v in fields.items() if k != "type"}, id=f"{fields['type']} without its kind"
        )
        yield pytest.param([fields], id=f"[{fields['type']}]")


@pytest.mark.parametrize("message", VALID, ids=lambda message: type(message).__name__)
def test_what_is_sent_is_what_arrives(message):
    assert decode(msgspec.msgpack.encode(message)) == message


@pytest.mark.parametrize("fields", [*mistakes()])
def test_a_message_with_a_wrong_field_is_not_a_message(fields):
    with pytest.raises(msgspec.ValidationError):
        decode(msgspec.msgpack.encode(fields))


@pytest.fixture
def server():
    received = []

    def deliver(data):
        received.append(decode(data))
        return ""

    def answer(data):
        return msgspec.msgpack.encode(m.Accepted(decode(data).request))

    made = Server("127.0.0.1:0", "secret", deliver, answer)
    made.received = received
    yield made
    made.close()


def test_a_request_is_answered(server):
    data = msgspec.msgpack.encode(m.Cancel("r7", 1))
    assert (
        msgspec.msgpack.decode(ask(server.address, "secret", data, PATIENCE_S), type=m.Accepted).request
        == "r7"
    )


def test_a_message_is_delivered(server):
    """Sent again, as reports are: one that a busy machine does not deliver within seconds is lost."""
    peers = Peers("secret")

    def arrived():
        peers.send(server.address, msgspec.msgpack.encode(VALID[2]))
        return server.received

    assert eventually(arrived)
    assert server.received[0] == VALID[2]
    peers.close()


@pytest.mark.parametrize(
    ("token", "data", "words"),
    [
        ("guess", msgspec.msgpack.encode(VALID[5]), "wrong token"),
        ("", msgspec.msgpack.encode(VALID[5]), "wrong token"),
        ("secret", b"", "not a message"),
        ("secret", b"\x00", "not a message"),
        ("secret", b"\xff" * 100, "not a message"),
        ("secret", msgspec.msgpack.encode(VALID[5])[:-1], "not a message"),
        ("secret", b"\x93" * 5000, "not a message"),
        ("secret", msgspec.msgpack.encode({"type": "Exec", "command": "rm"}), "not a message"),
        ("secret", b"x" * (5 << 20), "larger than max"),
    ],
)
def test_bad_clients_are_refused_and_others_served(server, token, data, words):
    with pytest.raises(BloxError, match=words):
        ask(server.address, token, data, PATIENCE_S)
    good = msgspec.msgpack.encode(m.Cancel("r7", 1))
    assert ask(server.address, "secret", good, PATIENCE_S)


def test_an_unknown_method_is_refused(server):
    with (
        grpc.insecure_channel(server.address) as channel,
        pytest.raises(grpc.RpcError, match="Method not found"),
    ):
        channel.unary_unary("/blox.Cluster/Shutdown")(b"", timeout=PATIENCE_S)
