"""The film as its viewer meets it, in a real browser."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest

from blox import Experiment
from blox.report.units import duration
from blox.ui.film.app import FilmServer
from blox.ui.film.runs import filmed
from support.browser import AXE, barriers, shoot
from support.served import served
from support.traces import trace

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.browser
MARKUP = "<img src=x onerror=alert(1)>"
SCRIPT = "</script><script>alert(2)</script>"


@pytest.fixture(scope="module")
def film(kept):
    """The address of a film of three runs: las and fifo on the same jobs, and one with failures."""
    folders = [
        kept(trace_decisions=True),
        kept("fifo", trace_decisions=True),
        kept("srtf", trace_decisions=True, failures="random:mtbf=20h,repair=2h"),
    ]
    runs = filmed(folders)
    with served(FilmServer(runs)) as address:
        yield address, [each.result for each in runs]


def opened(page, address, hash_=""):
    page.goto(f"{address.url}{hash_}")
    drawn(page, hash_)
    return page


def drawn(page, address):
    """Waits until figures, map and the queues are there: those of the moment that the address names, in the
    order that they keep."""
    page.wait_for_selector("#figures[data-drawn=yes]")
    wanted = re.search(r"\bt=(\d+)", address)
    time = f'="{wanted[1]}"' if wanted else ""
    expect(page.locator(".pane")).not_to_have_count(0)
    expect(page.locator(f".pane:not(:has([data-queued{time}][data-settled=true]))")).to_have_count(0)


def at(page, time_s):
    """Waits until the film stands at a time."""
    page.wait_for_url(re.compile(f"t={time_s:.0f}(&|$)"))


def test_on_a_phone_the_controls_leave_room_for_the_film(page, film):
    address, _ = film
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, address)
    assert page.locator("#transport").bounding_box()["height"] < 844 / 6


def test_two_runs_stand_side_by_side_on_one_clock(page, film):
    address, (las, fifo, _) = film
    opened(page, address, "#runs=0,1&t=50000")
    panes = page.locator(".pane")
    expect(panes).to_have_count(2)
    for pane, result in zip((panes.nth(0), panes.nth(1)), (las, fifo)):
        here = (result.stints["start_s"] <= 50000) & (result.stints["end_s"] > 50000)
        figures = pane.locator("dd")
        expect(figures.nth(0)).to_have_text(re.compile(f"^{here.sum()} of 12"))
        expect(figures.nth(1)).to_have_text(str(len(set(result.stints["job"][here]))))
        done = result.jobs["finish_s"] <= 50000
        expect(figures.nth(3)).to_have_text(str(done.sum()))
        expect(figures.nth(4)).to_have_text(duration(result.jobs["jct_s"][done].mean()))
        waiting = int(figures.nth(2).inner_text())
        expect(pane.locator("h2").nth(1)).to_contain_text(f"Queue: {waiting} waiting")


def test_every_frame_is_as_the_results_say(page, film):
    address, (las, *_) = film
    opened(page, address)
    times = np.random.default_rng(3).uniform(0, las.summary["end_s"], 40).tolist()
    owners = page.evaluate(
        """async times => {
            const { Reel } = await import("/static/film/reel.js");
            const reel = await Reel.load(0);
            const owners = () => [...reel.owners].map((job, i) => [reel.columns.lane_gpu[i], job]);
            return times.map(time => (reel.at(time), owners()));
        }""",
        times,
    )
    for time_s, found in zip(times, owners):
        here = (las.stints["start_s"] <= time_s) & (time_s < las.stints["end_s"])
        wanted = sorted(zip(las.stints["gpu"][here].tolist(), las.stints["job"][here].tolist()))
        assert sorted((gpu, job) for gpu, job in found if job >= 0) == wanted


def test_it_plays_pauses_and_scrubs(page, film):
    address, _ = film
    opened(page, address, "#runs=0")
    begin = page.locator(".time").inner_text()
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".time")).not_to_have_text(begin)
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("slider").evaluate(
        "slider => { slider.value = 5000; slider.dispatchEvent(new Event('input')) }"
    )
    page.wait_for_url("**t=*")
    expect(page.locator("canvas[role=img]").first).to_have_attribute("aria-label", re.compile("GPUs in use"))
    page.keyboard.press("Home")
    expect(page.locator(".time")).to_have_text(begin)
    page.locator("h1").click()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Pause").wait_for()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Play").wait_for()


def test_it_jumps_to_preemptions_failures_and_rounds(page, film):
    address, (las, _, failing) = film
    opened(page, address, "#runs=0")
    interrupted = las.rounds["time_s"][(las.rounds["suspended"] + las.rounds["moved"]) > 0]
    page.get_by_role("button", name="next preemption").click()
    at(page, interrupted[0])
    page.keyboard.press("p")
    at(page, interrupted[1])
    page.keyboard.press("Shift+P")
    at(page, interrupted[0])
    page.keyboard.press("ArrowRight")
    at(page, las.rounds["time_s"][las.rounds["time_s"] > interrupted[0]][0])
    expect(page.get_by_role("button", name="next failure")).to_be_disabled()
    expect(page.get_by_role("button", name="next policy change")).to_be_disabled()
    page.get_by_label("run", exact=True).select_option(label="srtf (oracle)")
    page.get_by_role("button", name="next failure").click()
    later = failing.tables["outages"]["down_s"]
    at(page, later[later > interrupted[0]].min())
    expect(page.locator("#announce")).to_contain_text("failure at")


def test_a_job_is_followed_from_the_queue_and_by_its_id(page, film):
    address, (las, _, _) = film
    queued = las.rounds["time_s"][las.rounds["queued"].argmax()]
    opened(page, address, f"#runs=0,1&t={queued:.0f}")
    first = page.locator(".queue tbody button").first
    name = first.inner_text()
    first.click()
    page.wait_for_selector("article.life >> nth=1")
    expect(page.locator("#follow h2")).to_have_text(f"Job {name}")
    expect(page.locator("article.life").first.locator(".now")).to_contain_text("Now: waiting for")
    expect(page.locator("article.life p").last).to_contain_text(f"Job {name} (")
    page.get_by_label("Follow the job of this id").fill("7")
    page.keyboard.press("Enter")
    expect(page.locator("#follow-title")).to_have_text("Job 7")
    page.get_by_role("button", name="Stop following").click()
    expect(page.locator("#follow")).to_be_hidden()
    page.get_by_label("Follow the job of this id").fill("no such job")
    page.keyboard.press("Enter")
    expect(page.locator("#announce")).to_contain_text("no such job")
    box, foot = page.locator("#announce").bounding_box(), page.locator("#transport").bounding_box()
    assert box["width"] > 100 and box["y"] + box["height"] <= foot["y"]  # for eyes, too


def test_before_the_first_round_the_cluster_is_there_and_what_is_to_come_is_faded(page, film):
    """The run begins with a submission, between two rounds. The last job ends at the edge of the charts."""
    address, (las, *_) = film
    opened(page, address, "#runs=0")
    assert las.jobs["submit_s"].min() < las.rounds["time_s"][0]
    expect(page.locator("dd").first).to_have_text("0 of 12 (0 %)")
    for chart in page.locator(".chart").all():
        curtain, line = (chart.locator(which).bounding_box() for which in (".curtain", ".scatterlayer"))
        assert curtain["x"] + curtain["width"] >= line["x"] + line["width"]


def test_a_gpu_is_pointed_at_and_its_job_followed(page, film):
    address, (las, *_) = film
    full = las.rounds["time_s"][las.rounds["gpus_used"].argmax()]
    opened(page, address, f"#runs=0&t={full:.0f}")
    canvas = page.locator(".map canvas")
    canvas.hover(position={"x": 10, "y": 20})
    expect(page.locator(".pointed")).to_contain_text("node-0, GPU 0")
    here = (las.stints["start_s"] <= full) & (las.stints["end_s"] > full) & (las.stints["gpu"] == 0)
    (job,) = las.jobs["job_id"][las.stints["job"][here]]
    expect(page.locator(".pointed")).to_contain_text(f"job {job},")
    canvas.click(position={"x": 10, "y": 20})
    expect(page.locator("#follow-title")).to_have_text(f"Job {job}")
    page.get_by_text("The same as a table").click()
    expect(page.locator(".nodes-scroll tbody tr")).to_have_count(3)


def test_the_queue_is_in_the_scheduler_s_own_order_once_it_is_worked_out(page, kept):
    runs = filmed([kept("tiresias")])
    with served(FilmServer(runs)) as address:
        opened(page, address, "#t=50000")
        page.locator(".queue .note", has_text="In the scheduler's own order").wait_for()


def test_names_with_markup_stay_text(page, tmp_path):
    jobs = [(f'"{MARKUP}{i}"', 0, 2, 5000, f'"{SCRIPT}"', MARKUP) for i in range(5)]
    workload = trace(tmp_path / "hostile.csv", jobs, header="job_id,submit_s,gpus,duration_s,user,model")
    result = Experiment(workload=workload, cluster="1x4", round_s=100.0, label=f"las {MARKUP}").run()
    with served(FilmServer(filmed([result.save(tmp_path / "run")]))) as address:
        page.on("dialog", lambda dialog: pytest.fail("a script ran"))
        opened(page, address, "#t=200")
        page.get_by_label("Follow the job of this id").fill(f"{MARKUP}3")
        page.keyboard.press("Enter")
        page.wait_for_selector("article.life")
        page.locator(".map canvas").hover(position={"x": 10, "y": 20})
        expect(page.locator("h1")).to_contain_text(MARKUP)
        expect(page.locator(".queue tbody")).to_contain_text(MARKUP)
        expect(page.locator("article.life")).to_contain_text(SCRIPT)
        expect(page.locator("img")).to_have_count(0)


def test_nobody_is_shut_out(page, film):
    if not AXE.is_file():
        pytest.skip(f"absent: {AXE} (make test-ui installs it)")
    address, _ = film
    opened(page, address, "#runs=0,1&t=50000&job=7")
    page.wait_for_selector("article.life >> nth=1")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert barriers(page) == []


def test_pictures_of_every_view(browser, film):
    address, (las, _, failing) = film
    queued = las.rounds["time_s"][las.rounds["queued"].argmax()]

    down = failing.tables["outages"]["down_s"][3]
    views = {
        "film-two-runs": f"{address.url}#runs=0,1&t={queued:.0f}",
        "film-following": f"{address.url}#runs=0,1&t={queued:.0f}&job=7",
        "film-failure": f"{address.url}#runs=2&t={down + 60:.0f}",
    }

    def ready(page, url):
        drawn(page, url)
        if "job=" in url:
            page.wait_for_selector("article.life")

    for name, url in views.items():
        shoot(browser, url, name, partial(ready, url=url))
