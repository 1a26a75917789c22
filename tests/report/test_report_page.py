"""The report as a reader meets it: one file, no network, every section, whatever the run was like."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from blox import Experiment
from blox.report import figures, gpu_bars, measures, series, write_report
from blox.report.gantt import gantt
from blox.report.page import page
from blox.results.replications import Replications
from support.report_pages import packed
from support.toy_runs import ToyResult, toy_run

SECTIONS = (
    *("metrics", "jct-cdf", "responsiveness-cdf", "rho-cdf", "utilisation", "queue", "fragmentation"),
    *("gantt", "waiting", "settings"),
)


def own_text(html: str) -> str:
    """The page without plotly's JavaScript."""
    from plotly.offline import get_plotlyjs

    assert html.count(get_plotlyjs()) == 1
    return html.replace(get_plotlyjs(), "")


def drawn(html: str) -> dict[str, dict]:  # type: ignore[type-arg]
    """What scripts of the page read, by name."""
    return {name: json.loads(text) for name, text in packed(html).items()}


@pytest.fixture(scope="module")
def html(three: list[ToyResult]) -> str:
    return own_text(page(three, "a title"))


@pytest.fixture(scope="module")
def seeded_html(three_seeded: list[Replications]) -> str:
    return own_text(page(three_seeded, "a title"))


def test_it_is_one_file_and_nothing_else_remains(tmp_path: Path, three: list[ToyResult]) -> None:
    path = tmp_path / "deep" / "report.html"
    write_report(path, three)
    assert [file.name for file in path.parent.iterdir()] == ["report.html"]
    assert 4e6 < path.stat().st_size < 7e6


def test_it_is_written_whole_or_not_at_all(
    tmp_path: Path, one: ToyResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    path.write_text("before")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_report(path, [one])
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_it_loads_nothing(html: str) -> None:
    assert not re.search(r"https?://", html)
    assert not re.search(r"<(link|img|iframe|object|embed)\b|\bsrc=|@import|url\(", html)
    assert "default-src 'none'" in html
    assert "showSendToCloud: false" in html


def test_it_has_every_section_and_a_figure_for_each(html: str) -> None:
    assert re.findall(r'<section id="([\w-]+)"', html) == list(SECTIONS)
    assert len(drawn(html)) == len(SECTIONS) - 2
    assert "Not tested: in this one run the average JCT is from" in html
    for unit in ("(h)", "(min)", "(%)"):
        assert unit in html
    assert 'class="best"' not in html, "one run of each: nothing is better for sure"
    assert "scheduler = &quot;srtf&quot;" in html


def test_over_several_seeds_it_has_intervals_and_differences(seeded_html: str) -> None:
    sections = re.findall(r'<section id="([\w-]+)"', seeded_html)
    assert sections == ["metrics", "average-jct", "average-resp", "differences", *SECTIONS[1:]]
    assert "has the lowest average JCT" in seeded_html and 'class="best"' in seeded_html
    assert "Over 60 jobs in each run. Means of 6 seeds; ± is the 95 % interval." in seeded_html
    assert "not distinguishable" in seeded_html and "<small>±" in seeded_html
    for name in ("jct-averages", "resp-averages"):
        bars = [trace["error_x"] for trace in drawn(seeded_html)[name]["data"]]
        assert len(bars) == 3 and all(bar["visible"] and bar["array"][0] > 0 for bar in bars)
    assert "seeds = 6" in seeded_html, "the settings run them all again"


def test_runs_keep_their_colours(html: str) -> None:
    by_name: dict[str, set[str]] = {}
    for name in ("jct", "responsiveness", "used", "waiting-jobs", "fragments"):
        for trace in drawn(html)[name]["data"]:
            if trace.get("showlegend") is not False:
                by_name.setdefault(trace["name"], set()).add(trace["line"]["color"])
    assert set(by_name) == {"fifo", "srtf", "las"}
    assert all(len(colours) == 1 for colours in by_name.values())
    assert len(set.union(*by_name.values())) == 3


def test_ids_and_labels_cannot_break_the_page() -> None:
    run = toy_run(jobs=3)
    run.jobs["job_id"][:] = ["</script><b>", "<!--", "a & b"]
    nasty = ToyResult("<i>&x</i></script>", run.experiment, run.summary, run.jobs, run.rounds, run.stints)
    text = own_text(page([nasty, run], "<script>"))
    assert "<i>" not in text and "</script><b>" not in text and "<!--" not in text
    assert "&lt;i&gt;" in drawn(text)["jct"]["data"][0]["name"]


def _nothing_known() -> ToyResult:
    run = toy_run(jobs=4, max_rounds=2)
    nothing = dict.fromkeys(run.summary, math.nan)
    return ToyResult("unknown", {}, nothing, run.jobs, run.rounds, run.stints, {})


EDGES = {
    "no round": lambda: toy_run(jobs=3, max_rounds=0),
    "nothing finished": lambda: toy_run(jobs=30, max_rounds=12),
    "one job": lambda: toy_run(jobs=1),
    "nan everywhere": _nothing_known,
    "empty summary": lambda: ToyResult("bare", {}, {}, *_tables(toy_run(jobs=2)), {}),
}


def _tables(run: ToyResult) -> tuple[dict[str, np.ndarray], ...]:
    return run.jobs, run.rounds, run.stints


@pytest.mark.parametrize("edge", EDGES)
def test_odd_runs_are_reported_alone_and_in_company(edge: str, one: ToyResult) -> None:
    odd = EDGES[edge]()
    for runs in ([odd], [odd, odd], [one, odd]):
        text = own_text(page(runs, "odd"))
        assert re.findall(r'<section id="([\w-]+)"', text) == list(SECTIONS)
        texts = [re.sub(r"(?s)<script.*?</script>", "", text), *packed(text).values()]
        assert not any(re.search(r"\b(NaN|nan)\b", each) for each in texts)


def test_a_report_of_nothing_says_so() -> None:
    assert "nothing to report" in page([], "empty")


def test_long_runs_stay_small() -> None:
    """200,000 rounds, 100,000 jobs and as many stints add well under 2 MB."""
    rng = np.random.default_rng(1)
    run = toy_run(jobs=2)
    jobs, rounds = 100_000, 200_000
    submit = np.sort(rng.uniform(0, 1e7, jobs))
    run.jobs.update(
        job_id=np.array([f"application_{row:012d}" for row in range(jobs)], dtype=object),
        submit_s=submit,
        jct_s=rng.lognormal(8, 2, jobs),
        responsiveness_s=rng.exponential(900, jobs),
        queueing_s=rng.exponential(900, jobs),
        gpus=np.ones(jobs, dtype=int),
        in_window=np.ones(jobs, dtype=bool),
    )
    run.rounds.update({name: rng.integers(0, 64, rounds).astype(float) for name in run.rounds})
    run.rounds.update(time_s=np.arange(rounds) * 60.0, gpus_total=np.full(rounds, 64.0))
    run.stints.update(
        job=np.arange(jobs),
        gpu=np.arange(jobs) % 64,
        start_s=submit,
        end_s=submit + rng.uniform(60, 6000, jobs),
    )
    runs = [run] * 4
    assert len(own_text(page(runs, "long"))) < 2_000_000
    assert len(series.queue(run).time) <= 2_000


def test_figures_are_plotly_figures(three: list[ToyResult]) -> None:
    import plotly.graph_objects as go

    made = [
        figures.jct_cdf(three),
        figures.responsiveness_cdf(three),
        figures.rho_cdf(three),
        figures.utilisation(three),
        figures.queue(three),
        figures.fragmentation(three),
        figures.waiting(three),
        gantt(three, gpu_bars.gantt_window(three)),
    ]
    assert all(isinstance(figure, go.Figure) for figure in made)
    assert len(made[-1].data) == 3  # a panel per run


def test_long_names_leave_a_narrow_window_to_the_picture(one: ToyResult) -> None:
    """At the side they are folded, and their rows are as high as they need; hovering tells them whole."""
    long = dataclasses.replace(one, label="a-rather-long-name-of-the-experiment-of-monday")
    for draw in (figures.waiting, partial(figures.averages, measure=measures.AVG_JCT)):
        figure = draw([long])
        (row,) = {name for trace in figure.data for name in trace.y}
        assert max(map(len, row.split("<br>"))) <= 20 and row.replace("<br>", "") == long.label
        assert figure.layout.height > draw([one]).layout.height
        assert long.label in str(figure.data[0].hovertext)


def test_apps_have_a_picture_where_jobs_are_grouped(tmp_path: Path) -> None:
    """One user with two jobs, one with one: rho of apps is not that of jobs."""
    path = tmp_path / "jobs.csv"
    path.write_text("job_id,submit_s,gpus,duration_s,user\na,0,1,600,ann\nb,0,1,900,ann\nc,0,1,300,bob\n")
    grouped, single = (
        Experiment(workload=f"csv:{path}{option}", cluster="1x2").run() for option in ("?group=user", "")
    )
    assert series.app_rho(grouped).shape == (2,) and series.app_rho(single).shape == (3,)
    assert measures.by_app([grouped]) and not measures.by_app([single])
    assert 'id="app-rho-cdf"' in page([grouped], "") and 'id="app-rho-cdf"' not in page([single], "")
