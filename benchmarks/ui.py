"""The pages in a headless browser, each figure beside its limit: how fast a film scrubs.

Needs chromium and playwright. Times are by the clock, in the browser: the least disturbed of several tries.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from board import Board

from blox import Experiment
from blox.ui.film.app import FilmServer
from blox.ui.film.runs import filmed
from blox.ui.server import listen

ROUNDS, STINTS = 20_000, 100_000
SCRUB_MS = 100.0
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
        film(board, browser, Path(scratch))
    return 1 if board.missed else 0


def film(board: Board, browser: Any, scratch: Path) -> None:
    """A film of more than 20,000 rounds and 100,000 stints: from the move of the slider to the picture."""
    experiment = Experiment(
        workload="philly:load=10,jobs=8000", cluster="16x8", scheduler="las", round_s=60.0
    )
    result = experiment.run(trace_decisions=True)
    rounds, stints = len(result.rounds["time_s"]), len(result.stints["job"])
    assert rounds >= ROUNDS and stints >= STINTS, (rounds, stints)
    runs = filmed([result.save(scratch / "film")])
    with served(FilmServer(runs).app(["127.0.0.1"])) as url:
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


@contextmanager
def served(app: Any) -> Iterator[str]:
    """Serves an application on a free port; yields its address."""
    listener = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
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
