"""The live page beside a real cluster, in a real browser: what it shows, what it changes, how it recovers."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import socket

import pytest

from blox.cluster.shell.place import Place
from blox.ui.live.app import LiveServer
from support.browser import AXE, announced, barriers, shoot
from support.real_cluster import pid_of, python, real_cluster
from support.served import served
from support.waiting import eventually

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.browser
MARKUP = "<img src=x onerror=alert(1)>"
LONG = python("gang.py", "--epochs", 1000, "--iteration-s", 0.1)


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    """A cluster of two nodes with two GPUs each, and the address of its page."""
    with (
        real_cluster(tmp_path_factory.mktemp("live")) as (client, place),
        served(LiveServer(place)) as address,
    ):
        yield client, place, address


@pytest.fixture
def job(live):
    """A function that submits a job that trains for long; what it submitted is cancelled afterwards."""
    client, _, _ = live
    submitted = []

    def submit(gpus=1, name="training", command=LONG):
        submitted.append(client.submit(command, gpus, name=name))
        return submitted[-1]

    yield submit
    for each in submitted:
        if client.job(each).end_s is None:
            client.cancel(each)
    assert eventually(lambda: all(client.job(each).end_s is not None for each in submitted))


def opened(page, live, token=True):
    _, place, address = live
    page.goto(f"{address.url}#token={place.token()}" if token else address.url)
    shown(page)
    return page


def shown(page):
    page.wait_for_selector("body[data-shown=yes]")
    expect(page.locator("#status")).to_have_text("live")


def with_history(page):
    shown(page)
    page.wait_for_selector("#history[data-drawn=yes]")


def view(page, name):
    page.locator(".tabs").get_by_role("button", name=re.compile(f"^{name}")).click()


def row(page, job):
    """The row of a job in the table that is shown."""
    link = page.get_by_role("button", name=str(job), exact=True)
    return page.locator("#jobs .scroll:not([hidden]) tbody tr:not([hidden])", has=link)


def event(page, job):
    """The latest event of a job."""
    return page.locator("#events tbody tr", has_text=re.compile(rf"job {job}$")).first


def unused_port():
    """A port that nothing has, and that no connection is given by chance: below those that are."""
    for port in random.sample(range(10_000, 20_000), 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


def test_jobs_nodes_policies_and_events_are_shown_and_kept_up_to_date(page, live, job):
    client, _, _ = live
    first = job(3, "first")
    opened(page, live)
    view(page, "Running")
    expect(row(page, first)).to_contain_text("running")
    expect(row(page, first)).to_contain_text(re.compile(r"node-\d \(2\), node-\d \(1\)"))
    second = job(2, "second")
    view(page, "Queue")
    expect(row(page, second)).to_contain_text("capacity: needs 2 GPUs, 1 free")
    expect(page.locator("#nodes tbody tr").filter(has_text="2 of 2")).to_have_count(1)  # that joined first
    expect(event(page, second)).to_contain_text("admitted")
    expect(page.locator("#policies")).to_contain_text("fifo")
    expect(page.locator("#policies")).to_contain_text("completed")
    expect(page.locator("#events tbody tr", has_text="submission accepted").first).to_be_visible()
    before = client.job(first).iteration
    view(page, "Running")
    expect(row(page, first).locator("td").nth(7)).to_have_text(re.compile(r"^[\d,]+$"))
    assert eventually(lambda: client.job(first).iteration > before)


def test_without_the_token_nothing_can_be_changed(page, live, job):
    number = job()
    opened(page, live, token=False)
    expect(page.get_by_role("button", name="Submit a job")).to_be_disabled()
    expect(page.locator("[data-needs-token]:visible:enabled")).to_have_count(0)
    expect(page.locator(".row-buttons:visible")).to_have_count(0)
    page.get_by_role("button", name="Unlock controls").click()
    page.get_by_label("Token", exact=True).fill("0" * 64)
    page.expected.append("status of 403")  # the browser notes that it was refused
    page.get_by_role("button", name="Unlock", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="missing or wrong")).to_be_visible()
    page.get_by_label("Token", exact=True).fill(live[1].token())
    page.get_by_role("button", name="Unlock", exact=True).click()
    expect(page.get_by_role("button", name="Lock controls", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Submit a job")).to_be_enabled()
    assert live[0].job(number).end_s is None


def test_another_policy_takes_effect(page, live):
    client, _, _ = live
    opened(page, live)
    page.get_by_label("scheduler: which job goes first").fill("las")
    page.get_by_role("button", name="Change policies").click()
    expect(page.locator(".policy code").first).to_have_text("las")
    assert client.policies().scheduler == "las"
    announced(page, "The policies are changed")  # and what was typed is gone
    page.get_by_label("scheduler: which job goes first").fill("lass")
    page.expected.append("status of 400")  # the browser notes that it was refused
    page.get_by_role("button", name="Change policies").click()
    announced(page, "did you mean 'las'")
    client.set_policies(scheduler="fifo")
    expect(page.locator(".policy code").first).to_have_text("fifo")


def test_a_job_is_submitted_looked_at_and_cancelled(page, live):
    client, _, _ = live
    opened(page, live)
    page.get_by_role("button", name="Submit a job").click()
    form = page.locator("#submit")
    form.get_by_label("Command").fill(" ".join(LONG))
    form.get_by_label("GPUs").fill("2")
    form.get_by_label("Name").fill("by hand")
    page.get_by_role("button", name="Submit", exact=True).click()
    number = int(re.search(r"\d+", announced(page, "is submitted"))[0])
    view(page, "Running")
    row(page, number).get_by_role("button").click()
    dialog = page.locator("#job")
    expect(dialog.locator("h2")).to_contain_text(f"Job {number} · by hand")
    expect(dialog.locator(".log")).to_contain_text("loss")
    expect(dialog.locator("ol.life")).to_contain_text("started")
    expect(dialog.locator("figcaption", has_text="loss")).to_be_visible()
    expect(dialog.locator(".js-plotly-plot").first).to_be_visible()
    for scheme, ink in (("dark", "rgb(230, 233, 236)"), ("light", "rgb(28, 32, 36)")):
        page.emulate_media(color_scheme=scheme)
        expect(dialog.locator(".xtick text").first).to_have_css("fill", ink)
    dialog.get_by_role("button", name="Cancel this job").click()
    expect(dialog.locator(".facts")).to_contain_text("cancelled")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    view(page, "Ended")
    expect(row(page, number)).to_contain_text("cancelled")
    assert client.job(number).state == "cancelled"


def test_a_node_is_drained_and_taken_back(page, live):
    client, _, _ = live
    opened(page, live)
    page.get_by_role("button", name="Drain: node-1").click()
    second = page.locator("#nodes tbody tr", has_text="node-1")
    expect(second).to_contain_text("draining")
    assert {node.node: node.state for node in client.nodes()} == {"node-0": "up", "node-1": "draining"}
    page.get_by_role("button", name="Take back: node-1").click()
    expect(second.locator("td").nth(2)).to_have_text("up")


def test_the_page_recovers_from_a_restart_of_the_scheduler(page, live, job):
    _, place, _ = live
    number = job(name="survivor")
    opened(page, live)
    view(page, "Running")
    expect(row(page, number)).to_contain_text("survivor")
    os.kill(pid_of(place, "scheduler_process").pid, signal.SIGSTOP)
    try:
        expect(page.locator("#stale")).to_contain_text("has not answered since")
        expect(page.locator("#status")).to_have_text("stale")
    finally:
        os.kill(pid_of(place, "scheduler_process").pid, signal.SIGKILL)
    expect(page.locator("#status")).to_have_text("live")
    expect(page.locator("#stale")).to_be_hidden()
    expect(row(page, number)).to_contain_text("survivor")
    later = job(name="later")
    expect(event(page, later)).to_be_visible()


def test_the_page_recovers_from_a_restart_of_its_server(page, live):
    client, place, _ = live
    page.expected += ["net::ERR_", "The charts are not drawn"]  # nothing answered
    with served(LiveServer(place), unused_port()) as address:
        page.goto(address.url)
        shown(page)
    expect(page.locator("#stale")).to_contain_text("server of this page has not answered")
    number = client.submit([*LONG[:1], "-c", "print('hello')"], name="meanwhile")
    with served(LiveServer(place), address.port):
        expect(page.locator("#status")).to_have_text("live")
        view(page, "Ended")
        expect(row(page, number)).to_contain_text("finished")
        with_history(page)


def test_a_scheduler_that_never_answered_is_not_said_to_have(page, tmp_path):
    """Nothing is known of the cluster, and nothing is shown of it."""
    place = Place(tmp_path / "cluster")
    place.create()
    place.address_file.write_text(f"127.0.0.1:{unused_port()}")
    with served(LiveServer(place)) as address:
        page.goto(address.url)
        expect(page.locator("#stale")).to_contain_text("The scheduler has not answered yet")
        expect(page.locator("#stale")).not_to_contain_text("since")
        expect(page.locator("#overview dd").first).to_have_text("–")


def test_nodes_are_listed_by_their_numbers_however_they_joined(page, live):
    """A GPU of the map is that of the job that holds it."""
    opened(page, live)
    found = page.evaluate(
        """async () => {
            const { Cluster } = await import("/static/live/cluster.js");
            const cluster = new Cluster();
            cluster.nodes = [["node-10", 2, "gpu", "up", true], ["node-2", 1, "gpu", "up", true]];
            return cluster.nodesByName().map(({ name, first }) => [name, first]);
        }"""
    )
    assert found == [["node-2", 2], ["node-10", 0]]


def test_without_the_token_rows_of_nodes_end_with_their_heads(page, live):
    opened(page, live, token=False)
    head, row = (page.locator(f"#nodes {part} tr").first for part in ("thead", "tbody"))
    assert len(head.locator(":visible").all()) == len(row.locator("td:visible").all())


def test_names_with_markup_stay_text(page, live, job):
    page.on("dialog", lambda dialog: pytest.fail("a script ran"))
    number = job(name=MARKUP)
    opened(page, live)
    view(page, "Running")
    expect(row(page, number)).to_contain_text(MARKUP)
    row(page, number).get_by_role("button").click()
    expect(page.locator("#job h2")).to_contain_text(MARKUP)
    expect(page.locator("img")).to_have_count(0)


def test_nobody_is_shut_out(page, live, job):
    if not AXE.is_file():
        pytest.skip(f"absent: {AXE} (make test-ui installs it)")
    numbers = [job(4), job(2)]
    opened(page, live)
    expect(row(page, numbers[1])).to_contain_text("capacity")
    page.wait_for_selector("#history[data-drawn=yes]")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert barriers(page) == []
    row(page, numbers[1]).get_by_role("button").click()
    expect(page.locator("#job .facts")).to_contain_text("waiting")
    assert barriers(page) == []


def test_pictures_of_every_view(browser, live, job):
    _, place, address = live
    numbers = [job(3, "resnet"), job(1, "bert"), job(2, "waits")]
    url = f"{address.url}#token={place.token()}"
    assert eventually(lambda: (place.job(numbers[0]) / "metrics.jsonl").exists())

    def one_job(page):
        with_history(page)
        view(page, "Running")
        row(page, numbers[0]).get_by_role("button").click()
        page.wait_for_selector(".curves .js-plotly-plot")
        expect(page.locator("#job ol.life")).to_contain_text("started")

    def submitting(page):
        shown(page)
        page.get_by_role("button", name="Submit a job").click()

    shoot(browser, url, "live", with_history)
    shoot(browser, url, "live-job", one_job)
    shoot(browser, url, "live-submit", submitting)
