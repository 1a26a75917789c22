"""The report as its reader meets it, in a real browser, opened from a file."""

from __future__ import annotations

import pytest

from blox import Experiment
from blox.explain import Explanation
from blox.report import write_report
from blox.results.replications import Replications
from blox.results.result import Result
from support.browser import AXE, barriers, shoot
from support.traces import trace

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.browser
MARKUP = "<img src=x onerror=alert(1)>"
JOBS = "philly:load=30,jobs=60,max_gpus=8"
OVER_TIME = ("used", "waiting-jobs", "fragments", "tenants-evenness", "tenant-0")

# Whether a chart shows a range of time, to two seconds.
SHOWS = """([name, wanted]) => {
    const { layout } = document.getElementById(name);
    return layout.xaxis.range.every((value, at) => Math.abs(value * layout.meta.time_s - wanted[at]) < 2);
}"""


@pytest.fixture(scope="module")
def single(kept, tmp_path_factory):
    """The report of las and fifo on the same jobs, by GPU count; and their results."""
    results = [Result.load(kept(name)) for name in ("las", "fifo")]
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, results, by=["gpus"])
    return path.as_uri(), results


@pytest.fixture(scope="module")
def seeded(tmp_path_factory):
    """The report of two schedulers over three seeds each."""
    runs = [
        Replications(
            tuple(
                Experiment(workload=JOBS, cluster="3x4", scheduler=name, seed=seed).run() for seed in range(3)
            )
        )
        for name in ("las", "fifo")
    ]
    path = tmp_path_factory.mktemp("seeded") / "report.html"
    write_report(path, runs, by=["gpus"])
    return path.as_uri()


def opened(page, url):
    page.goto(url)
    drawn(page)
    return page


def drawn(page):
    page.wait_for_selector("body[data-drawn=yes]")


def shown_s(page, name):
    """The range of time that a chart shows, in whole seconds."""
    return page.evaluate(
        """name => {
            const { layout } = document.getElementById(name);
            return layout.xaxis.range.map(value => Math.round(value * layout.meta.time_s));
        }""",
        name,
    )


def test_every_figure_is_drawn_and_nothing_is_asked_of_the_network(page, single):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    opened(page, single[0])
    figures = page.locator(".figure")
    assert figures.count() >= 12
    assert page.locator(".figure .main-svg").count() >= figures.count()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def test_a_range_selected_in_one_chart_is_shown_in_all(page, single):
    opened(page, single[0])
    whole = shown_s(page, "used")
    box = page.locator("#used .nsewdrag").first
    box.scroll_into_view_if_needed()
    area = box.bounding_box()
    middle = area["y"] + area["height"] / 2
    page.mouse.move(area["x"] + area["width"] * 0.2, middle)
    page.mouse.down()
    page.mouse.move(area["x"] + area["width"] * 0.6, middle, steps=5)
    page.mouse.up()
    page.wait_for_function("() => document.getElementById('used').layout.xaxis.range[0] > 0")
    wanted = shown_s(page, "used")
    assert whole[0] < wanted[0] < wanted[1] < whole[1]
    for name in OVER_TIME:
        page.wait_for_function(SHOWS, arg=[name, wanted])
    page.get_by_role("button", name="All", exact=True).click()
    for name in OVER_TIME:
        page.wait_for_function(SHOWS, arg=[name, whole])


def test_the_range_is_set_with_the_keyboard(page, single):
    opened(page, single[0])
    before = shown_s(page, "used")
    slider = page.get_by_role("slider", name="from")
    slider.focus()
    for _ in range(20):
        page.keyboard.press("PageUp")  # a tenth of the whole each, but never beyond the end
    page.wait_for_function("() => document.getElementById('waiting-jobs').layout.xaxis.range[0] > 0")
    assert shown_s(page, "waiting-jobs")[0] > before[0]
    expect(page.locator(".time-range output")).not_to_be_empty()
    assert int(slider.input_value()) < int(page.get_by_role("slider", name="to").input_value())


def test_a_click_in_the_gantt_view_tells_the_story_of_a_job(page, single):
    opened(page, single[0])
    las = single[1][0]
    point = page.evaluate(
        """() => {
            const plot = document.getElementById("gpus");
            const trace = plot.data.findIndex(each => each.meta && each.meta.run === 0);
            return { trace, row: plot.data[trace].customdata[0] };
        }"""
    )
    bar = page.locator("#gpus .barlayer .trace").nth(point["trace"]).locator(".point path").first
    bar.scroll_into_view_if_needed()
    area = bar.bounding_box()
    page.mouse.click(area["x"] + area["width"] / 2, area["y"] + area["height"] / 2)
    dialog = page.locator("dialog#story")
    expect(dialog).to_be_visible()
    shown = dialog.locator("h2").inner_text().removeprefix("Job ")
    row = las.jobs["job_id"].tolist().index(shown)
    expect(dialog.locator(".sentence")).to_have_text(Explanation(las).sentence(row))
    expect(dialog.locator(".life span").first).to_be_attached()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_the_longest_waits_are_told_and_open_their_story(page, single):
    opened(page, single[0])
    las = single[1][0]
    longest = int(las.jobs["waited_s"].argmax())
    row = page.locator("#longest-waits tbody tr").first
    expect(row.locator(".words")).to_have_text(Explanation(las).sentence(longest))
    row.get_by_role("button").click()
    expect(page.locator("dialog#story h2")).to_have_text(f"Job {las.jobs['job_id'][longest]}")
    page.get_by_role("button", name="Close").click()
    page.get_by_label("Story of job").fill(str(las.jobs["job_id"][longest]))
    page.keyboard.press("Enter")
    expect(page.locator("dialog#story h2")).to_have_text(f"Job {las.jobs['job_id'][longest]}")
    page.get_by_role("button", name="Close").click()
    page.get_by_label("Story of job").fill("no such job")
    page.keyboard.press("Enter")
    expect(page.locator(".ask-story output")).to_contain_text("is not drawn above")


def test_the_specification_is_saved_and_its_command_told(page, single, tmp_path):
    opened(page, single[0])
    expect(page.locator("#settings")).to_contain_text("blox run las.toml --out results/las")
    page.locator("#settings summary").first.click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save las.toml").click()
    path = tmp_path / saved.value.suggested_filename
    saved.value.save_as(path)
    again = Experiment.from_toml(path).run()
    assert again.summary == single[1][0].summary


def test_intervals_are_bands_and_error_bars(page, seeded):
    opened(page, seeded)
    kinds = page.evaluate(
        """() => ["jct", "used", "waiting-jobs"].map(name =>
            document.getElementById(name).data.filter(each => each.fill === "toself").length)"""
    )
    assert kinds == [2, 2, 2]
    bars = page.evaluate(
        """() => [...document.querySelectorAll("[id^=by-gpus-panel].figure")].map(box =>
            box.data.some(each => each.error_y && each.error_y.visible !== false))"""
    )
    assert len(bars) >= 4 and any(bars)
    expect(page.locator("#utilisation .caption")).to_contain_text("95 % intervals")


def test_names_with_markup_stay_text(page, tmp_path):
    jobs = [(f'"{MARKUP}{i}"', 0, 2, 5000, f'"{MARKUP}{i % 2}"', MARKUP) for i in range(5)]
    workload = trace(tmp_path / "hostile.csv", jobs, header="job_id,submit_s,gpus,duration_s,user,model")
    result = Experiment(workload=workload, cluster="1x4", round_s=100.0, label=f"las {MARKUP}").run()
    write_report(tmp_path / "report.html", [result, result], by=["user"])
    page.on("dialog", lambda dialog: pytest.fail("a script ran"))
    opened(page, (tmp_path / "report.html").as_uri())
    page.locator("#longest-waits tbody button").first.click()
    expect(page.locator("dialog#story .sentence")).to_contain_text(MARKUP)
    expect(page.locator("img")).to_have_count(0)


def test_nobody_is_shut_out(page, seeded):
    if not AXE.is_file():
        pytest.skip(f"absent: {AXE} (make test-ui installs it)")
    opened(page, seeded)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert barriers(page) == []
    page.locator("#longest-waits tbody button").first.click()
    expect(page.locator("dialog#story .sentence")).to_contain_text("waited")
    assert barriers(page) == []


def test_pictures_of_every_view(browser, single, seeded):
    def story(page):
        drawn(page)
        page.locator("#longest-waits tbody button").first.click()
        expect(page.locator("dialog#story .sentence")).to_contain_text("waited")

    shoot(browser, seeded, "report", drawn)
    shoot(browser, single[0], "report-story", story, whole=False)
