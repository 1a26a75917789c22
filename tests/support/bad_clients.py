"""What bad clients send: a table of (name, method, what is sent, the reason that must be given)."""

from __future__ import annotations

import pickle
import time
from dataclasses import dataclass, field

import msgspec

from blox.cluster.protocol import messages as m
from blox.cluster.protocol import queries as q

TOKEN = "secret"
ASK, DELIVER = "Ask", "Deliver"
OK = m.JobSpec(("train",))
encode = msgspec.msgpack.encode


@dataclass(frozen=True)
class Bad:
    """`words`: a regular expression of the reason; "" where it is taken in and changes nothing."""

    name: str
    method: str
    data: bytes
    words: str
    token: str | None = TOKEN
    fields: dict = field(default_factory=dict)


def tampered(message, **fields):
    """A message with fields of other types or values than the class allows."""
    return encode({**msgspec.msgpack.decode(encode(message)), **fields})


def submit(name, words, /, request=None, **fields):
    spec = {**msgspec.msgpack.decode(encode(OK)), **fields}
    message = tampered(m.Submit(request or f"bad {name}", OK), spec=spec)
    return Bad(f"submit {name}", ASK, message, words)


def report(name, words, /, node="bad", gpus=4, incarnation=1, number=1, parts=(), identity="bad", **fields):
    made = m.Report(node, incarnation, number, 0, gpus, parts, identity, "127.0.0.1:9", **fields)
    return Bad(f"report {name}", DELIVER, encode(made), words)


def part(job, epoch, outcome=""):
    return m.PartReport(job, epoch, not outcome, outcome, started=True)


def not_messages():
    good = encode(m.Cancel("r", 1))
    texts = {
        "nothing": b"",
        "a zero": b"\x00",
        "noise": bytes(range(200, 256)) * 7,
        "a message without its end": good[:-1],
        "a message and more": good + b"\x01",
        "a message twice": good + good,
        "JSON": b'{"type": "Cancel", "request": "r", "job": 1}',
        "a pickle": pickle.dumps({"type": "Cancel", "request": "r", "job": 1}),
        "arrays in arrays in arrays": b"\x91" * 20_000,
        "a map that claims 4 billion entries": b"\xdf\xff\xff\xff\xff",
        "a text that claims 4 GB": b"\xdb\xff\xff\xff\xff" + b"x" * 100,
        "an extension type": b"\xc7\x08\x01" + b"x" * 8,
        "a number": encode(7),
        "a list": encode([1, 2, 3]),
        "a map without a kind": encode({"request": "r", "job": 1}),
        "an unknown kind": encode({"type": "Exec", "command": "rm -rf /"}),
        "a kind that is a number": encode({"type": 7}),
        "text that is not UTF-8": good.replace(b"Cancel", b"\xff\xfencel"),
    }
    for name, data in texts.items():
        for method in (ASK, DELIVER):
            yield Bad(f"{method}: {name}", method, data, "not a message")


def misdirected():
    yield Bad("a report as a request", ASK, encode(m.Report("a", 1, 1, 1, 4, ())), "not a message")
    yield Bad("a request as a report", DELIVER, encode(m.Submit("r", OK)), "not a message")
    yield Bad("an assignment to the scheduler", DELIVER, encode(m.Assignment("a", 1, 2, 3, ())), "not a mess")
    yield Bad("an answer to the scheduler", ASK, encode(m.Accepted("r", 1)), "not a message")
    yield Bad("an exit to the scheduler", DELIVER, encode(m.ExitAt(1, 1, 1, "a")), "not a message")
    yield Bad("an unknown method", "Shutdown", b"", "Method not found")


def tokens():
    good = encode(m.SetPolicies("steal", scheduler="las"))
    for name, token in (("no", None), ("an empty", ""), ("a wrong", "guess"), ("a longer", TOKEN + "x")):
        yield Bad(f"{name} token", ASK, good, "wrong token", token)
    yield Bad(
        "a report with a wrong token", DELIVER, encode(m.Report("a", 1, 9, 1, 4, ())), "wrong token", "x"
    )
    yield Bad("a query with a wrong token", ASK, encode(q.ListJobs()), "wrong token", "guess")


def sizes():
    for method in (ASK, DELIVER):
        yield Bad(f"{method}: 5 MB", method, b"x" * (5 << 20), "larger than max")
    yield submit("a command of 20,000 words", "bytes", command=["word"] * 20_000)
    yield submit("a command of a megabyte", "bytes", command=["x" * (1 << 20)])
    yield submit("a long name", "name has 500 characters", name="x" * 500)
    yield submit("a long user", "user has 500 characters", user="x" * 500)
    yield submit("a long tenant", "tenant has 201 characters", tenant="x" * 201)
    yield submit("200 variables", "environment", environment={f"V{n}": "" for n in range(200)})
    yield submit("a request with a long name", "no name, or a long one", request="x" * 1000)
    yield report("of 5,000 jobs", "a report of 5000 jobs", parts=tuple(part(n, 1) for n in range(5000)))


def submissions():
    yield submit("without a command", "has no command", command=[])
    yield submit("with an empty command", "has no command", command=[""])
    yield submit("with a null character", "null character", command=["a\0b"])
    yield submit("with a null character in a variable", "null character", environment={"A": "\0"})
    yield submit("with = in a variable's name", "environment", environment={"A=B": "1"})
    yield submit("with a variable without a name", "environment", environment={"": "1"})
    yield submit("of no GPUs", "gpus is 0", gpus=0)
    yield submit("of -1 GPUs", "gpus is -1", gpus=-1)
    yield submit("of more GPUs than there are", "the cluster has 4", gpus=5)
    yield submit("of a billion GPUs", "gpus is 1000000000|cluster has", gpus=10**9)
    yield submit("of half a GPU", "not a message", gpus=0.5)
    yield submit("of GPUs in words", "not a message", gpus="two")
    yield submit("with min above gpus", "min_gpus 3", gpus=2, min_gpus=3)
    yield submit("with max below gpus", "max_gpus 1", gpus=2, max_gpus=1)
    yield submit("expected to take no time", "expected_s is 0", expected_s=0.0)
    yield submit("expected to end in the past", "expected_s is -5", expected_s=-5.0)
    yield submit("expected to take nan", "expected_s is nan", expected_s=float("nan"))
    yield submit("expected never to end", "expected_s is inf", expected_s=float("inf"))
    yield submit("of a priority that is no number", "priority is nan", priority=float("nan"))
    yield submit("of infinite priority", "priority is inf", priority=float("inf"))
    yield submit("preempted by magic", "magic", preemption="magic")
    yield submit("launched by magic", "magic", launch="magic")
    yield submit("launched by a file", "no launch is called './mine.py'", launch="./mine.py:Mine")
    yield Bad("submit without a name", ASK, encode(m.Submit("", OK)), "no name, or a long one")
    yield Bad("submit under a name that is taken", ASK, encode(m.Submit("taken", OK)), "another request had")
    yield Bad("a submission replayed", ASK, encode(m.Submit("first", OK)), "")


def other_requests():
    for job in (0, 99, -1, 2**62):
        yield Bad(f"cancel job {job}", ASK, encode(m.Cancel(f"c{job}", job)), f"there is no job {job}")
        yield Bad(f"show job {job}", ASK, encode(q.ShowJob(job)), f"there is no job {job}")
    yield Bad("cancel job 2**70", ASK, tampered(m.Cancel("c", 1), job=2.0**70), "not a message")
    yield Bad("guess for an unknown job", ASK, encode(q.GuessStart(99)), "there is no job 99")
    yield Bad("policies: none", ASK, encode(m.SetPolicies("p1")), "no policy was named")
    yield Bad("policies: unknown", ASK, encode(m.SetPolicies("p2", scheduler="magic")), "magic")
    yield Bad("policies: a wrong parameter", ASK, encode(m.SetPolicies("p3", scheduler="las:k=1")), "k")
    yield Bad(
        "policies: no such file", ASK, encode(m.SetPolicies("p4", scheduler="/no/x.py:Mine")), "no such file"
    )
    yield Bad("policies: a module", ASK, encode(m.SetPolicies("p5", scheduler="os:system")), "os")
    yield Bad(
        "drain an unknown node", ASK, encode(m.SetNode("n1", "zebra", "down")), "no node is called 'zebra'"
    )
    yield Bad(
        "a node in an unknown state", ASK, tampered(m.SetNode("n2", "a", "up"), state="melted"), "not a mess"
    )
    yield Bad("policies replayed", ASK, encode(m.SetPolicies("rule", scheduler="fifo")), "")


def reports():
    yield report("without a name", "name is 1 to 100", node="")
    yield report("from ../a", "name is 1 to 100", node="../a")
    yield report("from a name with a line break", "name is 1 to 100", node="a\nb")
    yield report("from a long name", "name is 1 to 100", node="x" * 300)
    yield report("with no GPUs", "0 GPUs", gpus=0)
    yield report("with -4 GPUs", "-4 GPUs", gpus=-4)
    yield report("with a million GPUs", "1000000 GPUs", gpus=10**6)
    yield report("number 0", "counted from 1", number=0)
    yield report("of start 0", "counted from 1", incarnation=0)
    yield report("with nan CPUs", "CPU and memory", cpu=float("nan"))
    yield report("with infinite memory", "CPU and memory", memory_gb=float("inf"))
    hour = 3600.0
    yield report("by a clock an hour fast", r"clock of bad is [1-9],\d{3} s fast", wall_s=time.time() + hour)
    yield report("by a clock an hour slow", r"clock of bad is [1-9],\d{3} s slow", wall_s=time.time() - hour)
    yield report("by a clock that is no number", "clock of bad", wall_s=float("nan"))
    yield report("of a node registered twice", "another machine has the name a", node="a")
    yield report("of a node with other GPUs", "a had 4 GPUs", node="a", gpus=2, identity="a")
    yield report("replayed", "report 1 of a was heard", node="a", identity="a", incarnation=2)
    yield report("of an earlier start", "has started again since", node="a", identity="a", number=99)
    outcome = tampered(
        m.Report("a", 2, 99, 0, 4, ()), parts=[{"job": 1, "epoch": 1, "live": True, "outcome": "x"}]
    )
    yield Bad("report of an unknown outcome", DELIVER, outcome, "not a message")
    yield Bad("renewal of an unknown job", DELIVER, encode(m.Ask(99, 1, 5, "a")), "")
    yield Bad("renewal of an old epoch", DELIVER, encode(m.Ask(1, 0, 5, "a")), "")
    yield Bad("renewal for an unknown node", DELIVER, encode(m.Ask(1, 1, 5, "zebra")), "")


def table():
    for rows in (not_messages, misdirected, tokens, sizes, submissions, other_requests, reports):
        yield from rows()
