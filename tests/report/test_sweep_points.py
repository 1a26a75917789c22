"""Where the runs of a sweep stand in its pictures, with which interval, and relative to what."""

from __future__ import annotations

import pytest

from blox import BloxError, Experiment
from blox.experiment.sweep import Grid
from blox.report.measures import AVG_JCT
from blox.report.sweep_figures import panel_grid, sweep_figure
from blox.report.sweep_points import Layout, Points, tick_lines
from blox.results.result import Result

BASE = Experiment(workload="constant", cluster="2x4")


def points(grid: Grid, jct) -> Points:  # type: ignore[no-untyped-def]
    """The runs of a grid, with the average JCT that `jct(experiment)` gives."""
    found = {}
    for number, each in enumerate(grid.experiments()):
        table = {**each.to_table(), "provenance": {"workload_sha256": str(each.seed)}}
        found[each] = Result(f"r{number}", table, {"avg_jct_s": jct(each), "jobs": 1}, {}, {}, {})
    return Points.of(Layout.of(grid, grid.experiments()), found)


def test_numbers_are_along_the_axis_and_policies_are_lines() -> None:
    grid = Grid(BASE, {"scheduler": ["fifo", "las"], "round_s": [300.0, 60.0], "seed": [1, 2]})
    layout = Layout.of(grid, grid.experiments())
    assert (layout.across, layout.numeric, layout.ticks) == ("round_s", True, ("60", "300"))
    assert layout.lines == ("fifo", "las") and layout.panels == ("",)


def test_traces_are_names_along_the_axis_and_clusters_are_panels() -> None:
    traces = ["/data/a/philly.csv?jobs=10", "/data/b/helios.csv.gz"]
    axes = {"workload": traces, "cluster": ["2x4", "4x4"], "scheduler": ["fifo", "las"]}
    grid = Grid(BASE, axes, (f"Venus={traces[1]}",))
    layout = Layout.of(grid, grid.experiments())
    assert (layout.across, layout.numeric, layout.ticks) == ("workload", False, ("philly", "Venus"))
    assert layout.panels == ("cluster 2x4", "cluster 4x4") and layout.lines == ("fifo", "las")


def test_labels_of_runs_name_the_lines() -> None:
    grid = Grid(BASE, {"scheduler": ["fifo", "las"], "round_s": [60.0, 300.0]}, ("base", "ours"))
    assert Layout.of(grid, grid.experiments()).lines == ("base", "ours")


def test_intervals_are_over_seeds_and_ratios_by_pairs() -> None:
    """las takes exactly half of what fifo takes with each seed: the ratio is sure, the times are not."""
    grid = Grid(BASE, {"scheduler": ["fifo", "las"], "seed": [1, 2, 3]})
    found = points(grid, lambda e: 100.0 * e.seed / (2 if e.scheduler == "las" else 1))
    mean = found.at((0, 0, 0), AVG_JCT)
    assert (
        mean is not None
        and mean.estimate == 200
        and mean.low == 0
        and mean.high == pytest.approx(448.4, 1e-3)
    )
    ratio = found.against((0, 1, 0), 0, AVG_JCT)
    assert ratio is not None and (ratio.estimate, ratio.low, ratio.high) == (0.5, 0.5, 0.5)
    assert found.at((0, 5, 0), AVG_JCT) is None and found.seeds == 3


def test_a_baseline_is_found_by_its_name() -> None:
    grid = Grid(BASE, {"scheduler": ["fifo", "las"]})
    layout = Layout.of(grid, grid.experiments())
    assert layout.line_called(None) == 0 and layout.line_called("las") == 1
    with pytest.raises(BloxError, match=r"(?s)no line is called 'lsa'.*'las'"):
        layout.line_called("lsa")


def test_names_have_bars_and_numbers_lines() -> None:
    by_name = points(Grid(BASE, {"cluster": ["2x4", "4x4"], "scheduler": ["fifo", "las"]}), lambda e: 60.0)
    by_number = points(Grid(BASE, {"round_s": [60.0, 300.0], "scheduler": ["fifo", "las"]}), lambda e: 60.0)
    bars, lines = sweep_figure(by_name, AVG_JCT), sweep_figure(by_number, AVG_JCT)
    assert {trace.type for trace in bars.data} == {"bar"} and {trace.type for trace in lines.data} == {
        "scatter"
    }
    assert {trace.type for trace in sweep_figure(by_number, AVG_JCT, 0).data} == {"bar"}
    for figure in (bars, lines):
        assert figure.layout.legend.orientation == "v" and figure.layout.legend.x > 1  # beside, not above
        assert [trace.name for trace in figure.data if trace.showlegend] == ["fifo", "las"]


def test_ticks_are_short_lines() -> None:
    assert tick_lines("my-own-cluster-log-2024", 12) == ["my-own-", "cluster-log-", "2024"]
    assert tick_lines("philly", 12) == ["philly"]
    assert tick_lines("averyveryverylongname", 12) == ["averyveryverylongname"]
    assert tick_lines("", 12) == [""]


@pytest.mark.parametrize(
    ("panels", "grid"), [(1, (1, 1)), (2, (1, 2)), (3, (1, 3)), (4, (2, 2)), (7, (3, 3))]
)
def test_panels_fill_rows(panels: int, grid: tuple[int, int]) -> None:
    assert panel_grid(panels) == grid
