"""`blox top`: frames of finished runs and of running clusters, as text of a terminal."""

import io
import re

import numpy as np
import pytest
from msgspec.structs import replace
from rich.console import Console

from blox.cluster.protocol.queries import InLine, NodeRow, QueueView
from blox.errors import BloxError
from blox.ui.film.runs import filmed
from blox.ui.top.finished import FinishedTop
from blox.ui.top.frame import DOWN, FREE, Frame, Listed, Node, drawn
from blox.ui.top.running import RunningTop
from ui.live.test_state import news, row


def text(frame, width=100, height=40):
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=False)
    console.print(drawn(frame, width, height))
    return console.file.getvalue()


def test_a_frame_shows_gpus_and_as_many_rows_as_there_is_room_for():
    nodes = [Node("node-0", [3, 3, FREE, FREE]), Node("node-1", [DOWN] * 4, "down")]
    many = Listed("90 waiting", ("place", "job"), [(str(at), f"job {at}") for at in range(90)])
    shown = text(Frame("las", ["a fact"], nodes, (many,)), height=24)
    assert "2 of 8 in use, 4 on nodes that are down" in shown and "a fact" in shown and "90 waiting" in shown
    assert "■■··" in shown and "xxxx" in shown and "node-1: down" in shown
    assert "job 0" in shown and "job 40" not in shown
    assert len(shown.splitlines()) <= 24


def test_long_names_leave_room_for_what_blocks_a_job():
    """A name may hold lines and the markup of rich, too."""
    why = "capacity: needs 2 GPUs, 1 free"
    rows = [("1", "2", "1", "12 min", name, why) for name in ("n" * 45, "two\nlines", "[/b] tags")]
    heads = ("place", "job", "GPUs", "age", "name", "what blocks it")
    shown = text(Frame("las", [], [Node("node-0", [FREE])], [Listed("3 waiting", heads, rows)]), width=80)
    assert shown.count(why) == 3 and "what blocks it" in shown and "nnn…" in shown
    assert "two lines" in shown and "[/b] tags" in shown


def test_a_list_says_how_many_more_there_are():
    nodes = [Node("node-0", [FREE])]
    rows = [("1", f"job {at}") for at in range(30)]
    for height, known, total in ((24, rows, 0), (24, rows, 90), (60, rows, 90), (60, rows, 0)):
        listed = Listed("waiting", ("place", "job"), known, total=total)
        shown = text(Frame("las", [], nodes, [listed]), height=height)
        left = max(total, len(rows)) - len(re.findall(r"job \d", shown))
        assert (f"and {left} more" in shown) if left else ("more" not in shown)
        assert len(shown.splitlines()) <= height


def test_nodes_that_do_not_fit_are_counted():
    shown = text(Frame("big", [], [Node(f"node-{at}", [FREE] * 8) for at in range(400)]), width=60, height=30)
    assert "more nodes" in shown and max(map(len, shown.splitlines())) <= 60


@pytest.mark.parametrize("traced", [True, False])
def test_a_finished_run_is_shown_at_any_time(kept, traced):
    (run,) = filmed([kept(trace_decisions=traced)])
    found = FinishedTop(run, "las")
    result = run.result
    for time_s in np.linspace(found.begin_s, found.end_s, 7).tolist():
        frame = found.at(time_s)
        here = (result.stints["start_s"] <= time_s) & (time_s < result.stints["end_s"])
        assert (frame.used, frame.gpus) == (int(here.sum()), 12)
        assert frame.lists[0].title == f"{len(set(result.stints['job'][here])):,} running"
    frame = found.at(found.busiest_s)
    queued = (result.rounds["held"] + result.rounds["queued"]).max()
    assert frame.lists[1].title == f"{queued} waiting"
    assert ("own order" if traced else "was not traced") in text(frame)


def test_jobs_that_run_when_a_run_ends_are_shown_as_running(kept):
    """The run ends with the last job of the window; that only cuts the stints of the others."""
    (run,) = filmed([kept(window="20-25")])
    found, jobs = FinishedTop(run, "las"), run.result.jobs
    running = int((jobs["state"] == "running").sum())
    queued = int((jobs["state"] == "queued").sum())
    frame = found.at(found.end_s)
    assert running and queued and frame.lists[0].title == f"{running} running"
    assert frame.lists[1].title == f"{queued} waiting"
    assert frame.used == int(run.result.rounds["gpus_used"][-1])


def test_nodes_that_failed_are_crossed_out(kept):
    (run,) = filmed([kept("srtf", failures="random:mtbf=20h,repair=2h")])
    down_s = float(run.result.tables["outages"]["down_s"][0])
    assert "xxxx" in text(FinishedTop(run, "srtf").at(down_s + 1))


class Scripted:
    """A cluster that answers in turn."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def watch(self, last=None, *, progress=False, wait_s=0.0):
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def queue(self):
        return QueueView(1, [InLine(2, 1, (), "capacity", "needs 2 GPUs, 1 free")])


def test_a_running_cluster_is_followed_and_said_to_be_stale():
    nodes = [NodeRow("node-0", 2, "gpu", "up", True), NodeRow("node-1", 2, "gpu", "up", False)]
    held = replace(row(1), state="running", held=(0, 1), name="\x1b[31mred")
    waits = replace(row(2), name="waits")
    top = RunningTop(
        Scripted(news(1, [held, waits], whole=True, nodes=nodes), BloxError("away")), "a cluster"
    )
    frame = top.now()
    assert [node.owners for node in frame.nodes] == [[1, 1], [DOWN, DOWN]]
    assert frame.lists[0].title == "1 on GPUs" and frame.lists[1].rows[0][-1] == "needs 2 GPUs, 1 free"
    assert "node-1: does not answer" in text(frame)
    again = top.now()
    assert re.fullmatch(r"stale for \S+ s: away", again.warning) and again.nodes == frame.nodes


def test_a_cluster_that_never_answered_is_an_error():
    with pytest.raises(BloxError, match="away"):
        RunningTop(Scripted(BloxError("away")), "a cluster").now()
