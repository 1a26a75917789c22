"""What an operator sees of a real cluster: lines of JSON, Prometheus metrics, every answer also as JSON."""

import json
import re
import urllib.request

import pytest

from blox.cluster.shell.log import open_log
from support.real_cluster import TIMING, python, real_cluster
from support.waiting import PATIENCE_S, eventually


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """One node of one slot: job 1 has finished, job 2 holds the slot, job 3 waits for it."""
    with real_cluster(tmp_path_factory.mktemp("observed") / "c", nodes=1, gpus=1) as (client, place):
        first = client.submit(python("plain.py", "--epochs", 1, "--iteration-s", 0))
        assert client.wait(first, PATIENCE_S).state == "finished"
        client.submit(["sleep", "6000"], preemption="signal", expected_s=3000.0)
        client.submit(["sleep", "6000"], preemption="signal")
        assert eventually(lambda: client.job(2).state == "running")
        assert eventually(lambda: [entry.what for entry in client.job(3).life][-1] == "admitted")
        yield client, place


def metrics_of(place, part):
    """Scrapes a part where its file for Prometheus says."""
    (target,) = json.loads((place.metrics / f"{part}.json").read_text())
    assert target["labels"] == {"part": part}
    assert target["targets"][0].startswith("127.0.0.1:")
    with urllib.request.urlopen(f"http://{target['targets'][0]}/metrics", timeout=PATIENCE_S) as answer:
        text = answer.read().decode()
    return {name: float(value) for name, value in re.findall(r"^([a-z][^ ]*) (\S+)$", text, re.MULTILINE)}


def lines(place, part):
    return [json.loads(line) for line in (place.logs / f"{part}.jsonl").read_text().splitlines()]


def test_the_scheduler_has_metrics(cluster):
    client, place = cluster
    # A job that another test has cancelled is gone from the next round on.
    assert eventually(lambda: metrics_of(place, "scheduler")['blox_jobs{state="waiting"}'] == 1)
    found, submitted = metrics_of(place, "scheduler"), len(client.jobs())
    assert found['blox_job_events_total{what="finished"}'] == 1
    assert submitted >= 3 and found['blox_job_events_total{what="submitted"}'] == submitted
    assert found['blox_requests_total{answer="accepted",kind="Submit"}'] == submitted
    assert found["blox_round_seconds_count"] > 0 and found["blox_commit_seconds_count"] > 0
    assert (found['blox_nodes{state="alive"}'], found['blox_gpus{state="free"}']) == (1, 0)
    assert (found['blox_jobs{state="running"}'], found['blox_jobs{state="waiting"}']) == (1, 1)
    assert found["process_resident_memory_bytes"] > 1e6


def test_a_worker_manager_has_metrics(cluster):
    _, place = cluster
    found = metrics_of(place, "node-0")
    assert found['blox_rank_actions_total{action="start"}'] == 2
    assert found['blox_rank_ends_total{outcome="done"}'] == 1
    assert found["blox_ranks"] == 1
    assert 0 < found["blox_lease_seconds"] <= TIMING.lease_s


def test_logs_are_lines_of_json(cluster):
    _, place = cluster
    told = lines(place, "scheduler")
    assert told[0]["event"] == "started" and told[0]["term"] == 1
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", line["time"]) for line in told)
    life = [line["what"] for line in told if line["event"] == "job" and line["job"] == 1]
    assert life == ["submitted", "admitted", "placed on node-0", "started", "finished"]
    assert {"event": "node", "node": "node-0", "what": "joined"}.items() <= told[1].items()
    worker = [(line["event"], line.get("job")) for line in lines(place, "node-0")]
    assert [each for each in worker if each[1]] == [("start", 1), ("ended rank", 1), ("start", 2)]


def test_nothing_is_left_of_a_rank_that_has_ended(cluster):
    _, place = cluster
    assert [each.name for each in place.node("node-0").glob("rank-*")] == ["rank-2-1-0"]


def test_every_answer_is_also_json(cluster, command):
    _, place = cluster

    def answer(verb, *words):
        return json.loads(command(verb, "--cluster", place.root, "--json", *words).out)

    assert [job["job"] for job in answer("jobs")] == [1, 2, 3]
    waiting = answer("jobs", "3")
    assert waiting["queueing"] == {"place": 1, "why": "needs 1 GPU, 0 free"}
    assert [entry["what"] for entry in waiting["life"]] == ["submitted", "admitted"]
    assert 1500 < answer("jobs", "3", "--when")["middle_s"] < 3100
    assert answer("nodes")[0]["used"] == 1
    assert answer("policy")["scheduler"] == "fifo"
    assert answer("drain", "node-0") == {"node": "node-0", "state": "draining"}
    assert answer("drain", "node-0", "--undo")["state"] == "up"
    submitted = answer("submit", "--preemption", "signal", "--", "sleep", "1")["job"]
    assert answer("cancel", str(submitted)) == {"cancelled": [submitted]}


def test_the_life_of_a_job_in_words(cluster, command):
    _, place = cluster
    told = command("jobs", "3", "--cluster", place.root).out
    assert "place 1 in line: needs 1 GPU, 0 free" in told
    assert "expected run time: unknown" in told
    assert re.search(r"\d\d:\d\d:\d\d  submitted", told)
    # A node that another test has drained and taken back takes jobs again from the next round on.
    assert eventually(
        lambda: re.search(
            r"job 3 would start in \d+m", command("jobs", "3", "--when", "--cluster", place.root).out
        )
    )


def test_a_job_that_would_never_start_says_why(cluster, command):
    _, place = cluster
    command("drain", "node-0", "--cluster", place.root)
    try:
        told = "job 3 would never start: needs 1 GPU, 0 free\n"
        assert eventually(lambda: told in command("jobs", "3", "--when", "--cluster", place.root).out)
    finally:
        command("drain", "node-0", "--undo", "--cluster", place.root)


def test_logs_do_not_grow_without_bound(tmp_path, monkeypatch):
    monkeypatch.setattr("blox.cluster.shell.log._BYTES", 10_000)
    log = open_log(tmp_path, "scheduler")
    for number in range(1000):
        log("job", job=number, what="x" * 5000)
    sizes = [file.stat().st_size for file in tmp_path.iterdir()]
    assert len(sizes) == 2 and sum(sizes) < 25_000
