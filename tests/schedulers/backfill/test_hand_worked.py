"""Backfilling in cases of a few jobs, each worked out by hand; times in seconds, all by the events clock."""

import pytest

from blox import BloxError, Experiment
from support.traces import trace

# name: (GPUs, jobs, starts by EASY, starts by conservative). A job: submitted, GPUs, runs for, believed to.
CASES = {
    # b waits for all four GPUs until 10; c is through by then
    "a job that ends in time passes": (4, [(0, 3, 10), (0, 4, 10), (0, 1, 10)], [0, 10, 0], [0, 10, 0]),
    # c would still be there at 10, when b needs every GPU
    "a job that ends a second too late waits": (
        4, [(0, 3, 10), (0, 4, 10), (0, 1, 11)], [0, 10, 20], [0, 10, 20],
    ),
    # b leaves one of the four GPUs over, for as long as c likes
    "a long job takes what the reservation leaves over": (
        4, [(0, 3, 10), (0, 3, 10), (0, 1, 100)], [0, 10, 0], [0, 10, 0],
    ),
    # one GPU is left over at 10: c has it, d waits for b to end, e is through by then
    "what is left over is given once": (
        4, [(0, 2, 10), (0, 3, 10), (0, 1, 50), (0, 1, 50), (0, 1, 10)], [0, 10, 0, 20, 0], [0, 10, 0, 20, 0],
    ),
    # The textbook: d fits beside b, so EASY starts it, and c, which could have started at 20, waits for d
    # until 25. Conservative backfilling keeps c's place: d would need 2 of 10 GPUs from 20 on, and c needs 9.
    "EASY delays a later reservation, conservative does not": (
        10, [(0, 6, 10), (0, 8, 10), (0, 9, 10), (0, 2, 25)], [0, 10, 25, 0], [0, 10, 20, 30],
    ),
    # a ends at 4 in place of 10: b would fit then, but c, started by what was believed of a, ends at 10
    "a job that ends early": (4, [(0, 3, 4, 10), (0, 4, 10), (0, 1, 10)], [0, 10, 0], [0, 10, 0]),
    # a is believed to end at 10 and runs until 15: b starts later than reserved, and d, which would be
    # through in time, may not start at 10, for a may end at any moment
    "a job that ends late": (
        4, [(0, 3, 15, 10), (0, 4, 10), (0, 1, 10), (0, 1, 5)], [0, 15, 0, 25], [0, 15, 0, 25],
    ),
    # b and d are reserved from 10 on, c from 20 on. When a ends at 5 all move up: b and d to 5, then c to 15
    "reservations move up": (
        4, [(0, 4, 5, 10), (0, 2, 10), (0, 4, 10), (0, 2, 10)], [0, 5, 15, 5], [0, 5, 15, 5],
    ),
    # c comes last and is short, but b is ahead of it and takes everything at 10
    "a later arrival does not push ahead": (4, [(0, 4, 10), (1, 4, 10), (2, 4, 5)], [0, 10, 20], [0, 10, 20]),
    # c is submitted at 3, when 7 s are left until b's time
    "an arrival finds the hole that is left": (
        4, [(0, 3, 10), (1, 4, 10), (3, 1, 7), (4, 1, 7)], [0, 10, 3, 20], [0, 10, 3, 20],
    ),
}  # fmt: skip


def run(jobs, tmp_path, **settings):
    lines = [
        f"{chr(97 + row)},{submit},{gpus},{seconds},{limit[0] if limit else seconds}"
        for row, (submit, gpus, seconds, *limit) in enumerate(jobs)
    ]
    (tmp_path / "trace.csv").write_text("job_id,submit_s,gpus,duration_s,limit_s\n" + "\n".join(lines))
    common = {
        "workload": str(tmp_path / "trace.csv"),
        "placement": "count",
        "clock": "events",
        "belief": "limit",
    }
    return Experiment(**{**common, **settings}).run()


@pytest.mark.parametrize("kind", ["easy", "conservative"])
@pytest.mark.parametrize("name", CASES)
def test_case(name, kind, tmp_path):
    gpus, jobs, easy, conservative = CASES[name]
    result = run(jobs, tmp_path, cluster=f"1x{gpus}", scheduler=f"backfill:kind={kind}")
    assert result.jobs["first_start_s"].tolist() == (easy if kind == "easy" else conservative)


def test_jobs_that_exceed_their_limit_are_ended_if_the_operator_says_so(tmp_path):
    _, jobs, *_ = CASES["a job that ends late"]
    ended = run(jobs, tmp_path, cluster="1x4", scheduler="backfill", termination="time-limit")
    assert ended.jobs["first_start_s"].tolist() == [0, 10, 0, 20]
    assert ended.jobs["state"].tolist()[0] == "ended early"


def test_another_order(tmp_path):
    """Fewest GPUs first: c, then a, which gets the reservation for 20, when c has ended; b is last."""
    jobs = [(0, 3, 10), (0, 4, 10), (0, 2, 20)]
    result = run(jobs, tmp_path, cluster="1x4", scheduler="backfill:order=sjf")
    assert result.jobs["first_start_s"].tolist() == [20, 30, 0]


NODES = [(0, 1, 30), (0, 1, 10), (0, 1, 30), (0, 2, 10), (0, 1, 20), (0, 1, 40), (0, 1, 40)]


@pytest.mark.parametrize(
    ("placement", "starts"),
    [("consolidated", [0, 0, 0, 30, 0, 10, 30]), ("count", [0, 0, 0, 10, 20, 20, 30])],
)
def test_a_reservation_is_for_nodes_where_nodes_matter(placement, starts, tmp_path):
    """Two nodes of two GPUs: a and b on the first, c and e on the second; d needs a node for itself.

    At 10 a GPU is free on each node, which counted is enough for d. By nodes it is 30 until one is free. f
    may have the place of b until 50, for d can have the second node at 30; g may not have that of e at 20.
    Counted, d is reserved for 10, so that e, which takes 20 s, waits for d to end.
    """
    result = run(NODES, tmp_path, cluster="2x2", scheduler="backfill", placement=placement)
    assert result.jobs["first_start_s"].tolist() == starts


@pytest.mark.parametrize("placement", ["consolidated", "yarn"])
@pytest.mark.parametrize("kind", ["easy", "conservative"])
def test_a_reservation_is_for_several_nodes_where_no_node_that_a_job_may_use_is_large_enough(
    kind, placement, tmp_path
):
    """a has the node of eight GPUs, b one of the two nodes of four until 10.

    c is bound to these two, and reserved for 10, not for 100, when a node of eight is free; d and e, which
    may use them too, would be there until 50 and until 10.
    """
    jobs = [
        *("a,0,8,100,100,large", "b,0,4,10,10,small", "c,0,8,10,10,small"),
        *("d,0,4,50,50,small", "e,0,4,10,10,small"),
    ]
    header = "job_id,submit_s,gpus,duration_s,limit_s,gpu_types"
    result = Experiment(
        workload=trace(tmp_path / "trace.csv", jobs, header=header),
        cluster="large=1x8:speed=1,small=2x4:speed=1",
        scheduler=f"backfill:kind={kind}",
        placement=placement,
        clock="events",
        belief="limit",
    ).run()
    assert result.jobs["first_start_s"].tolist() == [0, 0, 10, 20, 0]


@pytest.mark.parametrize("placement", ["consolidated", "yarn"])
@pytest.mark.parametrize("kind", ["easy", "conservative"])
def test_a_reservation_is_for_several_nodes_while_a_window_closes_the_large_ones(kind, placement, tmp_path):
    """The node of eight GPUs is closed from 5 to 1005, and a has one of the two nodes of four until 20.

    b comes at 6 and is reserved for 20 on both of these, not for 1005; c would delay it.
    """
    windows = tmp_path / "windows.toml"
    windows.write_text('[[reservation]]\nbegin = "5s"\nlasts = "1000s"\nnodes = ["0"]\n')
    jobs = ["a,0,4,20,20", "b,6,8,10,10", "c,6,4,50,50"]
    result = Experiment(
        workload=trace(tmp_path / "trace.csv", jobs, header="job_id,submit_s,gpus,duration_s,limit_s"),
        cluster="large=1x8:speed=1,small=2x4:speed=1",
        scheduler=f"backfill:kind={kind}",
        placement=placement,
        failures=f"reserve:{windows}",
        clock="events",
        belief="limit",
    ).run()
    assert result.jobs["first_start_s"].tolist() == [0, 20, 30]


def test_why_a_job_waits_names_the_reservation(tmp_path):
    result = run(
        CASES["a job that ends a second too late waits"][1], tmp_path, cluster="1x4", scheduler="backfill"
    )
    told = list(zip(result.reasons["job"].tolist(), result.reasons["because"].tolist()))
    assert (2, "starting it would delay job b, for which GPUs are reserved") in told
    assert told[0][0] == 1 and told[0][1].startswith("the GPUs that it needs are reserved for it")


def test_a_job_without_room_does_not_wait_for_a_reservation(tmp_path):
    """One GPU is free until 10: c, which needs two, would not start either if nothing were reserved for b."""
    result = run([(0, 3, 10), (0, 4, 10), (0, 2, 11)], tmp_path, cluster="1x4", scheduler="backfill")
    assert not [words for words in result.reasons["because"].tolist() if "would delay" in words]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("backfill:kind=lazy", "'lazy' is not one of the choices"),
        ("backfill:depth=-1", "depth is -1"),
        ("backfill:order=pollux", "pollux resizes jobs"),
        ("backfill:order=fivo", "no scheduling part is called 'fivo'"),
    ],
)
def test_bad_options_are_told(spec, words):
    with pytest.raises(BloxError, match=words):
        Experiment(workload="constant:jobs=1", scheduler=spec).prepare()
