"""Queues by hand: guarantees, borrowing, reclaim by preemption, limits, a tree of them."""

import pytest

from blox import BloxError, Experiment
from blox.registry import build

TWO = "[queues.a]\nguaranteed = 0.5\ntenants = ['A']\n[queues.b]\nguaranteed = 0.5\ntenants = ['B']\n"


def run(tmp_path, queues, lines, gpus=4, **settings):
    (tmp_path / "queues.toml").write_text(queues)
    (tmp_path / "t.csv").write_text("job_id,submit_s,gpus,duration_s,tenant,priority\n" + "\n".join(lines))
    common = {"workload": str(tmp_path / "t.csv"), "cluster": f"1x{gpus}", "clock": "events"}
    return Experiment(**{**common, **settings}, scheduler=f"queues:{tmp_path / 'queues.toml'}").run().jobs


def test_a_queue_borrows_what_the_other_leaves(tmp_path):
    """A alone has all four GPUs, though it is guaranteed two."""
    jobs = run(tmp_path, TWO, ["w,0,2,100,A,0", "x,0,2,100,A,0"])
    assert jobs["first_start_s"].tolist() == [0, 0] and jobs["preemptions"].sum() == 0


def test_what_was_borrowed_is_reclaimed(tmp_path):
    """At 10 B's job comes for the two GPUs that it is guaranteed: the youngest of A's is preempted.

    It goes on when B's has ended at 60, with 90 s left.
    """
    jobs = run(tmp_path, TWO, ["w,0,2,100,A,0", "x,5,2,95,A,0", "y,10,2,50,B,0"])
    assert jobs["first_start_s"].tolist() == [0, 5, 10]
    assert jobs["finish_s"].tolist() == [100, 150, 60] and jobs["preemptions"].tolist() == [0, 1, 0]


def test_the_least_urgent_is_preempted_first(tmp_path):
    jobs = run(tmp_path, TWO, ["w,0,2,100,A,1", "x,5,2,95,A,9", "y,10,2,50,B,0"])
    assert jobs["preemptions"].tolist() == [1, 0, 0]


def test_no_more_is_reclaimed_than_is_guaranteed(tmp_path):
    """B may take back two GPUs, and no more: its second job waits.

    When A's first job ends at 100, A has nothing and is next: x goes on with 90 s left, and z starts at 190.
    """
    jobs = run(tmp_path, TWO, ["w,0,2,100,A,0", "x,0,2,100,A,0", "y,10,2,200,B,0", "z,10,2,50,B,0"])
    assert jobs["first_start_s"].tolist() == [0, 0, 10, 190] and jobs["preemptions"].tolist() == [0, 1, 0, 0]


def test_a_queue_within_its_guarantee_is_not_touched(tmp_path):
    """A runs on its own two GPUs, C has borrowed two of B's: C's job gives way, not A's."""
    three = TWO.replace("0.5", "0.4") + "[queues.c]\nguaranteed = 0.2\ntenants = ['C']\n"
    jobs = run(tmp_path, three, ["w,0,2,100,A,0", "x,0,3,100,C,0", "y,10,2,50,B,0"], gpus=5)
    assert jobs["preemptions"].tolist() == [0, 1, 0] and jobs["first_start_s"].tolist() == [0, 0, 10]


def test_a_limit_to_borrowing(tmp_path):
    """With `most = 0.5` A's second job waits though two GPUs are idle."""
    limited = TWO.replace("tenants = ['A']", "most = 0.5\ntenants = ['A']")
    jobs = run(tmp_path, limited, ["w,0,2,100,A,0", "x,0,2,100,A,0"])
    assert jobs["first_start_s"].tolist() == [0, 100]


def test_a_queue_that_does_not_lend_or_does_not_reclaim(tmp_path):
    keeps = TWO.replace("tenants = ['B']", "lends = false\ntenants = ['B']")
    assert run(tmp_path, keeps, ["w,0,2,100,A,0", "x,0,2,100,A,0"])["first_start_s"].tolist() == [0, 100]
    waits = TWO.replace("tenants = ['B']", "reclaim = false\ntenants = ['B']")
    jobs = run(tmp_path, waits, ["w,0,2,100,A,0", "x,0,2,100,A,0", "y,10,2,50,B,0"])
    assert jobs["first_start_s"].tolist() == [0, 0, 100]


def test_the_queue_with_least_of_its_guarantee_is_next(tmp_path):
    """All come at once and two GPUs are there: one for each queue, though A's jobs are older."""
    lines = ["u,0,1,10,A,0", "v,0,1,10,A,0", "w,0,1,10,B,0", "x,0,1,10,B,0"]
    assert run(tmp_path, TWO, lines, gpus=2)["first_start_s"].tolist() == [0, 10, 0, 10]


def test_a_tree_of_queues(tmp_path):
    """Research has 3/4 of 8 GPUs, half of that for A and half for B; the default queue has the rest.

    Alone, A may have everything. When D comes for its two GPUs, one job of A's gives way; when B comes for
    its three, two more do, though A then has less than its three: a job is not divided.
    """
    tree = (
        "[queues.research]\nguaranteed = 0.75\n"
        "[queues.a]\nparent = 'research'\nguaranteed = 0.5\ntenants = ['A']\n"
        "[queues.b]\nparent = 'research'\nguaranteed = 0.5\ntenants = ['B']\n"
        "[queues.default]\nguaranteed = 0.25\n"
    )
    lines = [f"{name},0,2,100,A,0" for name in "qrst"] + ["y,10,2,50,D,0", "z,20,3,50,B,0"]
    jobs = run(tmp_path, tree, lines, gpus=8)
    assert jobs["first_start_s"].tolist() == [0, 0, 0, 0, 10, 20]
    assert jobs["preemptions"].tolist() == [0, 1, 1, 1, 0, 0]


def test_without_a_file_tenants_are_queues(tmp_path):
    (tmp_path / "t.csv").write_text(
        "job_id,submit_s,gpus,duration_s,tenant\nw,0,2,100,A\nx,0,2,100,A\ny,10,2,50,B\n"
    )
    jobs = Experiment(
        workload=str(tmp_path / "t.csv"), cluster="2x2", placement="consolidated", clock="events",
        scheduler="queues",
    ).run().jobs  # fmt: skip
    assert jobs["first_start_s"].tolist() == [0, 0, 10] and jobs["preemptions"].sum() == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no queues"),
        ("[queues.a]\nguarantee = 1\n", "no setting is called 'guarantee'"),
        ("[queues.a]\nguaranteed = 2\n", "guaranteed is 2"),
        ("[queues.a]\nguaranteed = 0.5\nmost = 0.2\n", "cannot be guaranteed more"),
        ("[queues.a]\nguaranteed = 0.7\n[queues.b]\nguaranteed = 0.7\n", "are guaranteed 1.4 of it together"),
        ("[queues.a]\nparent = 'b'\n", "no queue is called 'b'"),
        ("[queues.a]\nparent = 'b'\n[queues.b]\nparent = 'a'\n", "parents of one another"),
        ("[queues.a]\ntenants = ['x']\n[queues.b]\ntenants = ['x']\n", "is in the queues 'a' and 'b'"),
        ("[queues.a]\ntenants = ['x']\n[queues.b]\nparent = 'a'\n", "'a' has queues and tenants"),
        ("[queues.a]\ntenants = 'x'\n", "tenants is 'x'"),
        ("[queues.a]\nlends = 1\n", "lends is 1"),
    ],
)
def test_a_file_that_cannot_be_is_told(text, words, tmp_path):
    (tmp_path / "q.toml").write_text(text)
    with pytest.raises(BloxError) as told:
        build("scheduling", f"queues:{tmp_path / 'q.toml'}")
    assert words in told.value.text()


@pytest.mark.parametrize("placement", ["first-free", "consolidated"])
@pytest.mark.parametrize(("clock", "reclaimed_s"), [("rounds", 300), ("events:quantum_s=2", 2)])
def test_what_was_borrowed_in_this_round_is_reclaimed_in_the_next(clock, reclaimed_s, placement, tmp_path):
    """A's job is the first in line and takes all four GPUs; B's is guaranteed one of them.

    Where the round after was passed over, B's waited until A's had ended.
    """
    (tmp_path / "t.csv").write_text("job_id,submit_s,gpus,duration_s,tenant\na,0,4,1200,A\nb,0,1,600,B\n")
    experiment = Experiment(
        workload=str(tmp_path / "t.csv"), cluster="1x4", scheduler="queues", placement=placement, clock=clock
    )
    for skip in (True, False):
        assert experiment.run(skip=skip).jobs["first_start_s"].tolist() == [0, reclaimed_s]
