"""Small finished runs on disk, and the film of them."""

from __future__ import annotations

import pytest

from blox import Experiment
from blox.ui.film.runs import filmed
from support.browser import absent, chromium


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
        found = driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page(browser):
    """A page of 1400 pixels; a message on its console or an error in its scripts fails the test."""
    messages = []
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(30_000)
    made = context.new_page()
    made.on("console", lambda message: messages.append(f"{message.type}: {message.text}"))
    made.on("pageerror", lambda error: messages.append(f"error: {error}"))
    made.messages = messages
    yield made
    context.close()
    assert messages == []
