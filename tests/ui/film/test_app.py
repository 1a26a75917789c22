"""The film's server as a browser and as a stranger ask it."""

import pytest

from blox.ui.film.app import FilmServer
from support.packed import unpacked
from support.served import served


@pytest.fixture
def asked(one):
    with served(FilmServer([one(trace_decisions=True), one("fifo")]).app(["127.0.0.1"])) as address:
        yield address


def test_it_lists_runs_and_gives_the_columns_of_each(asked):
    assert [run["label"] for run in asked.get("/film.json").json()["runs"]] == ["las", "fifo"]
    header, arrays = unpacked(asked.get("/film/1").content)
    assert header["label"] == "fifo" and len(arrays["submit_s"]) == 60


def test_it_tells_the_queue_and_the_story_of_a_job(asked):
    found = asked.get("/film/0/queue?at=40000&most=3").json()
    assert {"rows", "waiting", "held", "keys", "note", "settled"} == set(found) and len(found["rows"]) <= 3
    story = asked.get("/film/0/story/4").json()
    assert story["sentence"].startswith("Job 4 (") and story["facts"]["gpus"] >= 1
    assert story["intervals"][-1][2] == "running" and "node-" in story["intervals"][-1][3]


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/film/2", 404),
        ("/film/0/story/60", 404),
        ("/film/0/queue", 400),
        ("/film/0/queue?at=nan", 400),
        ("/film/0/queue?at=now", 400),
        ("/static/../app.py", 404),
        ("/static/%2e%2e/app.py", 404),
    ],
)
def test_what_is_not_there_is_refused(asked, address, status):
    assert asked.get(address).status == status


def test_every_answer_forbids_what_the_page_does_not_need(asked):
    for address in ("/", "/film.json", "/static/film/main.js", "/plotly.js", "/nothing"):
        headers = asked.get(address).headers
        policy = headers["content-security-policy"]
        assert (
            "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        )
        assert headers["x-content-type-options"] == "nosniff"


def test_a_name_of_another_site_that_points_here_is_refused(asked):
    assert asked.get("/film.json", headers={"host": "evil.example"}).status == 421
    assert asked.get("/film.json", headers={"host": "127.0.0.1:9999"}).status == 200


def test_nothing_is_loaded_from_elsewhere(asked):
    page = asked.get("/").text
    assert "http" not in page and 'src="/' in page
    assert "plotly.js v" in asked.get("/plotly.js").text[:200]
    assert "--ground" in asked.get("/tokens.css").text
