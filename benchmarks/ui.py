"""Reports and pages, each figure beside its limit: a report of many runs, a long film, a large live page.

Needs chromium and playwright. Times are by the clock, in the browser: the least disturbed of several tries.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from board import Board

from blox import Experiment
from blox.cluster.api import Client
from blox.cluster.central.records import Policies
from blox.cluster.protocol.messages import JobSpec
from blox.cluster.protocol.timing import Timing
from blox.cluster.virtual import ITERATION_S
from blox.ui.film.app import FilmServer
from blox.ui.film.runs import filmed
from blox.ui.server import listen, server_of
from cluster import cluster

REPORTED_RUNS, REPORTED = 20, ("fifo", "las", "srtf", "tiresias")
REPORT_S, REPORT_MB = 10.0, 15.0
READABLE_MS, DRAWN_MS, SEEN_MS, ZOOM_MS = 1000.0, 10_000.0, 100.0, 1000.0  # of that report in the browser
ROUNDS, STINTS = 20_000, 100_000
SCRUB_MS = 100.0
NODES, GPUS, JOBS, UPDATES = 128, 8, 2_000, 20
CPU_PERCENT, PAINT_MS, UPDATE_MS = 10.0, 1000.0, 200.0
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
# Moves the beginning of the time that is shown to many places in turn, and waits for charts over time: for
# the one that the reader looks at, and for all.
ZOOM = """async count => {
  const { from } = document.querySelector(".time-range").elements;
  const figures = [...document.querySelectorAll(".figure")];
  const charts = figures.filter(box => box.layout?.meta?.time_s && !box.layout.meta.held);
  charts[0].scrollIntoView();
  const first = [], all = [];
  for (let i = 0; i < count; i++) {
    const before = performance.now();
    const moved = charts.map(box => new Promise(resolve => box.once("plotly_relayout", resolve)));
    from.value = String((i * 37) % 400);
    from.dispatchEvent(new Event("input"));
    await moved[0];
    await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)));
    first.push(performance.now() - before);
    await Promise.all(moved);
    all.push(performance.now() - before);
  }
  return [charts.length, ...[first, all].map(times => times.sort((a, b) => a - b))];
}"""
# When the event of a job's submission is shown, by the wall clock (ms).
WATCH = """job => ({ seen: new Promise(resolve => {
  const body = document.querySelector("#events tbody");
  const look = () => [...body.rows].some(row => row.textContent.endsWith(`job ${job}`));
  const watch = new MutationObserver(() => look() && (watch.disconnect(), resolve(Date.now())));
  watch.observe(body, { subtree: true, childList: true, characterData: true });
}) })"""
# Moves the slider to many places in turn, and waits each time for the map and then for the queue.
SCRUB = """async count => {
  const slider = document.querySelector("input[type=range]");
  const map = [], all = [];
  for (let i = 0; i < count; i++) {
    const before = performance.now();
    document.body.dataset.queued = "";
    slider.value = String((i * 6151) % 10001);
    slider.dispatchEvent(new Event("input"));
    await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)));
    map.push(performance.now() - before);
    while (document.body.dataset.queued === "") await new Promise(resolve => setTimeout(resolve));
    all.push(performance.now() - before);
  }
  return [map, all].map(times => times.sort((a, b) => a - b));
}"""


def main() -> int:
    board = Board()
    with tempfile.TemporaryDirectory() as scratch, opened_browser() as browser:
        report(board, browser, Path(scratch))
    with tempfile.TemporaryDirectory() as scratch, opened_browser() as browser:
        film(board, browser, Path(scratch))
        live(board, browser)
    return 1 if board.missed else 0


def report(board: Board, browser: Any, scratch: Path) -> None:
    """`blox report` of 20 runs with 5,000 jobs each: CPU time of the command, size of the file, and how it
    answers its reader."""
    folders = []
    for seed in range(REPORTED_RUNS // len(REPORTED)):
        for name in REPORTED:
            experiment = Experiment(
                workload="philly:load=10,jobs=5000", cluster="16x8", scheduler=name, seed=seed
            )
            folders.append(str(experiment.run().save(scratch / f"{name}-{seed}")))
    page = scratch / "report.html"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "blox", "report", *folders, "--out", str(page)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    name = f"report of {len(folders)} runs of 5,000 jobs"
    board.line(f"{name}: CPU time", cpu_s, "s", REPORT_S)
    board.line(f"{name}: size", page.stat().st_size / 1e6, "MB", REPORT_MB)
    read(board, browser, name, page.as_uri())


def read(board: Board, browser: Any, name: str, address: str) -> None:
    """The report in the browser: when its text is there, when its last chart is, and how long it takes to
    show another range of time in all charts."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    painted, drawn = [], []
    for _ in range(3):
        page.goto("about:blank")
        page.goto(address)
        page.wait_for_selector("body[data-drawn=yes]", timeout=120_000)
        drawn.append(float(page.evaluate("performance.now()")))
        painted.append(float(page.evaluate(PAINTED)))
    charts, seen, zooms = page.evaluate(ZOOM, 30)
    page.close()
    board.line(f"{name}: readable", min(painted), "ms", READABLE_MS)
    board.line(f"{name}: all charts drawn", min(drawn), "ms", DRAWN_MS)
    name += ": another range"
    board.line(f"{name} in the chart in view", seen[15], "ms", SEEN_MS, note=f"p95 {seen[28]:.0f} ms")
    board.line(f"{name} in all {charts}", zooms[15], "ms", ZOOM_MS, note=f"p95 {zooms[28]:.0f} ms")


def film(board: Board, browser: Any, scratch: Path) -> None:
    """A film of more than 20,000 rounds and 100,000 stints: from the move of the slider to the picture."""
    experiment = Experiment(
        workload="philly:load=10,jobs=8000", cluster="16x8", scheduler="las", round_s=60.0
    )
    result = experiment.run(trace_decisions=True)
    rounds, stints = len(result.rounds["time_s"]), len(result.stints["job"])
    assert rounds >= ROUNDS and stints >= STINTS, (rounds, stints)
    runs = filmed([result.save(scratch / "film")])
    with served(FilmServer(runs)) as url:
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto(url)
        page.wait_for_selector("#figures[data-drawn=yes]")
        page.locator(".queue .note", has_text="In the scheduler's own order").wait_for()
        page.evaluate(SCRUB, 50)
        map_ms, all_ms = page.evaluate(SCRUB, 200)
        page.close()
    name = f"film of {rounds:,} rounds, {stints:,} stints: scrub"
    board.line(f"{name}, map and figures", map_ms[100], "ms", SCRUB_MS, note=f"p95 {map_ms[190]:.0f} ms")
    board.line(f"{name}, queue too", all_ms[100], "ms", SCRUB_MS, note=f"p95 {all_ms[190]:.0f} ms")


def live(board: Board, browser: Any) -> None:
    """A page beside a scheduler with 1,024 GPUs and 2,000 jobs, one ending and one coming each second, those
    that run telling how far they are."""
    timing = Timing(round_s=1.0, heartbeat_s=2.0, lease_s=60.0)
    with (
        cluster(timing, Policies(), NODES, GPUS, hosts=1) as load,
        command("ui", "--cluster", load.place.root, "--port", 0) as ui,
        Client(load.place.root) as client,
    ):
        load.submit(JOBS, job)
        while load.metric('blox_jobs{state="running"}') < NODES * GPUS:
            time.sleep(0.5)
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        paints = first_paints(page, ui.line().split(" at ")[1].split()[0])
        begin, cpu_s, there_s = time.monotonic(), ui.cpu_s(), load.cpu_s()
        delays = sorted(appeared_ms(client, page, number) for number in range(1, UPDATES + 1))
        shares = [
            100 * used / (time.monotonic() - begin) for used in (ui.cpu_s() - cpu_s, load.cpu_s() - there_s)
        ]
        page.close()
    name = f"live, {NODES * GPUS:,} GPUs, {JOBS:,} jobs, a change a second"
    note = f"beside it the scheduler, {shares[1]:.1f} %"
    board.line(f"{name}: CPU of the server", shares[0], "%", CPU_PERCENT, note=note)
    board.line(
        f"{name}: first paint", paints[len(paints) // 2], "ms", PAINT_MS, note=f"worst {paints[-1]:.0f} ms"
    )
    note = f"p95 {delays[int(0.95 * UPDATES)]:.0f} ms"
    board.line(f"{name}: an update", delays[UPDATES // 2], "ms", UPDATE_MS, note=note)


def job(number: int) -> JobSpec:
    return JobSpec(("train",), 1, name=f"job {number}", environment={ITERATION_S: "1"}, preemption="signal")


def first_paints(page: Any, address: str) -> list[float]:
    """When the page shows something, of several times that it is opened (ms)."""
    found = []
    for _ in range(5):
        page.goto("about:blank")
        page.goto(address)
        page.wait_for_selector("body[data-shown=yes]")
        found.append(float(page.evaluate(PAINTED)))
    return sorted(found)


def appeared_ms(client: Client, page: Any, number: int) -> float:
    """From the answer to a submission to its line in the page; another job ends in the same second."""
    begin = time.monotonic()
    client.cancel(number)
    waiting = page.evaluate_handle(WATCH, JOBS + number)
    submitted = client.submit(["train"], 1, preemption="signal", environment={ITERATION_S: "1"})
    answered = time.time() * 1000
    assert submitted == JOBS + number
    shown = float(page.evaluate("handle => handle.seen", waiting))
    time.sleep(max(0.0, 1.0 - (time.monotonic() - begin)))
    return max(0.0, shown - answered)


class command:
    """A command of ours in a process: what it prints, and its CPU time (s)."""

    def __init__(self, *words: object) -> None:
        line = [sys.executable, "-m", "blox", *map(str, words)]
        self._process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> command:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(20)

    def line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def cpu_s(self) -> float:
        times = psutil.Process(self._process.pid).cpu_times()
        return float(times.user + times.system)


@contextmanager
def served(page: Any) -> Iterator[str]:
    """Serves a page on a free port; yields its address."""
    listener = listen("127.0.0.1", 0)
    server = server_of(page, ["127.0.0.1"])
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    server.should_exit = True
    thread.join(20)


@contextmanager
def opened_browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        executable = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = driver.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield browser
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
