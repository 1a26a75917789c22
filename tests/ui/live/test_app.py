"""The live page's server as a browser, a user with the token and a stranger ask it; no scheduler is up."""

import http.client
import json

import pytest

from blox.cluster.shell.place import Place
from blox.ui.live.app import LiveServer
from support.served import served

CANCEL = json.dumps({"job": 1})


@pytest.fixture
def live(tmp_path):
    place = Place(tmp_path / "cluster")
    place.create()
    with served(LiveServer(place)) as address:
        yield address, place.token()


def headers(address, token, **others):
    made = {"origin": f"http://127.0.0.1:{address.port}", "authorization": f"Bearer {token}"}
    return {**made, "content-type": "application/json", **others}


def test_what_changes_state_needs_the_token(live):
    address, token = live
    for given in ("", "wrong", token[:-1], f"{token}x"):
        answer = address.send("POST", "/live/cancel", CANCEL, headers(address, given))
        assert answer.status == 403 and "token" in answer.text
    assert address.send("POST", "/live/token", "null", headers(address, token)).status == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "", "http://127.0.0.1:1", "https://127.0.0.1"]
)
def test_and_must_come_from_our_own_page(live, origin):
    address, token = live
    answer = address.send("POST", "/live/cancel", CANCEL, headers(address, token, origin=origin))
    assert answer.status == 403 and "this page" in answer.text


@pytest.mark.parametrize("what", ["cancel", "submit", "policy", "node", "token"])
def test_nothing_is_changed_by_reading(live, what):
    address, token = live
    assert address.get(f"/live/{what}", headers(address, token)).status == 405


@pytest.mark.parametrize(
    ("what", "body"),
    [
        ("cancel", "{"),
        ("cancel", '{"job": "one"}'),
        ("cancel", '{"job": 1, "all": true}'),
        ("submit", '{"gpus": 1}'),
        ("submit", json.dumps({"command": "'never closed"})),
        ("submit", json.dumps({"command": "x" * 70_000})),
        ("node", '{"node": "a", "state": "sideways"}'),
        ("cancel", CANCEL),  # there is no scheduler
    ],
)
def test_what_cannot_be_done_is_refused_in_words(live, what, body):
    address, token = live
    answer = address.send("POST", f"/live/{what}", body, headers(address, token))
    assert answer.status == 400 and len(answer.text) > 10


def test_a_page_is_told_at_once_what_is_known_and_that_the_scheduler_is_away(live):
    address, _ = live
    connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=300)
    connection.request("GET", "/live/events")
    answer = connection.getresponse()
    assert answer.headers["content-type"].startswith("text/event-stream")
    lines = [answer.readline().decode().strip() for _ in range(2)]
    assert lines[0] == "event: state"
    assert json.loads(lines[1].removeprefix("data: "))["contact"]["ok"] is False
    connection.close()


def test_reading_needs_no_token(live):
    address, _ = live
    assert "live/main.js" in address.get("/").text
    listed = address.get("/live/policies.json").json()
    assert {"fifo", "las"} <= {each["name"] for each in listed["scheduler"]}
    assert address.get("/live/job/1/log?rank=0").json()["text"] == ""
    assert address.get("/live/job/1/log?rank=../0").status == 400
    assert address.get("/live/job/1/curves").json() == {}
    assert address.get("/live/events", {"host": "evil.example"}).status == 421
