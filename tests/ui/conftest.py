"""Small finished runs on disk, and the film of them."""

from __future__ import annotations

import pytest

from blox import Experiment
from blox.ui.film.runs import filmed
from support.browser import PATIENCE_MS, absent, chromium

# Notes what a page announces: the words are gone after some seconds.
ANNOUNCED = """
window.announced = [];
addEventListener("DOMContentLoaded", () => {
    const place = document.getElementById("announce");
    const note = () => place.textContent && announced.push(place.textContent);
    const all = { childList: true, characterData: true, subtree: true };
    if (place) new MutationObserver(note).observe(place, all);
});
"""


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    """A function that runs a small experiment with these settings and returns its results directory."""
    made = {}

    def keep(name="las", *, trace_decisions=False, **settings):
        key = (name, trace_decisions, *sorted(settings.items()))
        if key not in made:
            folder = tmp_path_factory.mktemp(name) / "run"
            usual = {"workload": "philly:load=30,jobs=60,max_gpus=8", "cluster": "3x4", "scheduler": name}
            result = Experiment(**{**usual, **settings}).run(trace_decisions=trace_decisions)
            made[key] = result.save(folder)
        return made[key]

    return keep


@pytest.fixture
def one(kept):
    """The only run of a directory."""

    def load(*names, **settings):
        (found,) = filmed([kept(*names, **settings)])
        return found

    return load


@pytest.fixture(scope="session")
def browser():
    """A headless browser."""
    if lacking := absent():
        pytest.skip(f"absent: {', '.join(lacking)}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
        found = driver.chromium.launch(executable_path=chromium(), args=arguments, timeout=PATIENCE_MS)
        yield found
        found.close()


@pytest.fixture
def page(browser):
    """A page of 1400 pixels; a message on its console or an error in its scripts fails the test, unless it
    holds a text that the test has put into `expected`. All that it ever announced is in `announced`."""
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE_MS)
    messages = []
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    context.add_init_script(ANNOUNCED)
    made = context.new_page()
    made.on("console", lambda message: messages.append(f"{message.type}: {message.text}"))
    made.on("pageerror", lambda error: messages.append(f"error: {error}"))
    made.expected = []
    yield made
    context.close()
    assert [each for each in messages if not any(text in each for text in made.expected)] == []
