"""A headless browser for tests (Chromium, driven by playwright), and axe-core, which finds barriers."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from support.places import ROOT

SHOTS = Path(os.environ.get("BLOX_SCREENSHOTS", ROOT / "results" / "screenshots"))
AXE = ROOT / ".venv" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
WIDTHS = {1400: 900, 420: 900}  # of windows, and their heights
SCHEMES = ("light", "dark")
PATIENCE_MS = 120_000  # much longer than anything takes: the machine may be busy
_WHOLE = "document.documentElement.scrollHeight"


def chromium() -> str | None:
    """The browser's executable; None: there is none."""
    return os.environ.get("BLOX_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


def absent() -> list[str]:
    """What tests in a browser lack here, in words."""
    lacking = [] if chromium() else ["chromium (apt install chromium)"]
    try:
        import playwright  # noqa: F401
    except ImportError:
        lacking.append("playwright (pip install playwright)")
    return lacking


def barriers(page) -> list[str]:
    """What axe-core finds serious or critical on a page."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then(found => found.violations)")
    return [
        f"{each['id']} ({each['impact']}): {node['html'][:200]} | {node['failureSummary'][:300]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"][:3]
    ]


def fits(page, name) -> None:
    """Waits until a page is no wider than its window: figures are fitted after they are drawn."""
    from playwright.sync_api import TimeoutError

    try:
        page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
    except TimeoutError:
        raise AssertionError(f"{name}: too wide") from None


def announced(page, words) -> str:
    """Waits until a page has announced something with these words; all of it."""
    found = page.wait_for_function("words => announced.find(each => each.includes(words))", arg=words)
    return found.json_value()


def shoot(browser, url, name, ready, *, whole=True):
    """Screenshots of a view at both widths, light and dark; `ready(page)` waits until all of it is there.

    `whole`: of the whole page, in a window as high as that, so that what stays at an edge of the window does
    not lie over the middle.
    """
    SHOTS.mkdir(parents=True, exist_ok=True)
    for width, height in WIDTHS.items():
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=SCHEMES[0])
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.goto(url)
        ready(page)
        if whole:
            page.set_viewport_size({"width": width, "height": max(height, page.evaluate(_WHOLE))})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
            fits(page, f"{name} at {width}")
            page.screenshot(path=SHOTS / f"{name}-{width}-{scheme}.png", full_page=whole)
        context.close()
