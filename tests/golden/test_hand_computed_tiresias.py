"""Five-job cases for Tiresias, every start and finish worked out by hand.

Q0 is the first queue, Q1 the last. Within a queue jobs go by their first start, those that never started
after them, by submission.
"""

import pytest

from blox import BloxError, Experiment
from support.by_job import figures, times

FIVE = """
A,0,2,500
B,0,2,100
C,50,4,150
D,120,1,60
E,130,1,300
"""


def test_las_event_by_event(run):
    """Threshold 400 GPU-seconds.

      0  A and B start. A will have had 400 GPU-seconds at 200.
     50  C (4) waits behind A and B.
    100  B ends. 2 free: C does not fit.
    120  D passes C, starts, ends at 180. 130: E starts, would end at 430.
    200  A is demoted: Q0 E, C; Q1 A. C needs 4, and E, before it, holds 1: nothing changes.
    430  E ends. C, in Q0, displaces A, in Q1. C will have had 400 GPU-seconds at 530.
    530  C is demoted: Q1 A (started at 0), C (started at 430). A goes on with 70 s left; C does not fit.
    600  A ends. C goes on with 50 s left.
    """
    result = run(FIVE, scheduler="tiresias:queues=2,threshold=400", clock="events")
    assert times(result) == {"A": (0, 600), "B": (0, 100), "C": (430, 650), "D": (120, 180), "E": (130, 430)}
    assert figures(result, "preemptions") == {"A": 1, "B": 0, "C": 1, "D": 0, "E": 0}
    assert set(figures(result, "promotions").values()) == {0}


def test_las_in_rounds(run):
    """The same jobs in rounds of 100 s.

      0  A and B start. B ends at 100.
    200  A has had 400 GPU-seconds: Q0 C, D, E, none of them started; Q1 A. C displaces A, with 300 s left.
    300  C has had 400: Q0 D, E; Q1 A (0), C (200). D, E and A run; C has 50 s left.
    600  D has ended at 360, A and E end at 600. C goes on.
    """
    result = run(FIVE, scheduler="tiresias:queues=2,threshold=400")
    assert times(result) == {"A": (0, 600), "B": (0, 100), "C": (200, 650), "D": (300, 360), "E": (300, 600)}
    assert figures(result, "preemptions") == {"A": 1, "B": 0, "C": 1, "D": 0, "E": 0}


def test_one_queue_is_first_come_first_served(run):
    """
    120  D passes C, as does E at 130. A ends at 500, E at 430: C starts at 500.
    """
    result = run(FIVE, scheduler="tiresias:queues=1", clock="events")
    assert times(result) == {"A": (0, 500), "B": (0, 100), "C": (500, 650), "D": (120, 180), "E": (130, 430)}
    assert result.summary["preemptions"] == 0


STARVING = """
P,0,1,400
Q,50,1,100
R,150,1,90
S,385,1,300
T,2000,1,10
"""


def test_a_job_that_waits_as_long_as_it_has_run_is_promoted(run):
    """One GPU, threshold 100, promote 1.

    100  P is demoted; Q, in Q0, displaces it and runs until 200.
    200  P has waited 100 s and executed 100: it is promoted, and goes before R, which never started.
    300  P has executed 100 s anew and is demoted; R runs until 390.
    390  S, in Q0, goes before P, in Q1.
    400  P has waited 100 s and executed 100: promoted, behind S, which started in Q0 before.
    490  S has had 100 s and is demoted; P goes on with 200 s left.
    590  P is demoted. S has waited 100 s and executed 100: promoted, it goes on with 200 s left.
    690  The same the other way round. P ends at 790.
    790  And again: S, promoted, ends at 890.
    """
    result = run(STARVING, "1x1", scheduler="tiresias:threshold=100,promote=1", clock="events")
    assert times(result) == {
        "P": (0, 790),
        "Q": (100, 200),
        "R": (300, 390),
        "S": (390, 890),
        "T": (2000, 2010),
    }
    assert figures(result, "preemptions") == {"P": 3, "Q": 0, "R": 0, "S": 2, "T": 0}
    assert figures(result, "promotions") == {"P": 3, "Q": 0, "R": 0, "S": 2, "T": 0}


def test_three_queues(run):
    """One GPU, thresholds 100 and 300: Q0, Q1, Q2.

    100  P goes to Q1; Q, in Q0, runs until 200. 200: R, in Q0, runs until 290. 290: P goes on.
    385  S, in Q0, displaces P, which has had 195 s. 485: S goes to Q1, where P started first.
    590  P has had 300 s and goes to Q2; S, in Q1, goes on. 790: S has had 300 s, and ends.
    790  P goes on with 100 s left.
    """
    result = run(STARVING, "1x1", scheduler="tiresias:queues=3,threshold=100+300", clock="events")
    assert times(result) == {
        "P": (0, 890),
        "Q": (100, 200),
        "R": (200, 290),
        "S": (385, 790),
        "T": (2000, 2010),
    }
    assert figures(result, "preemptions") == {"P": 3, "Q": 0, "R": 0, "S": 1, "T": 0}


TWO_SIZES = """
A,0,1,1000
B,40,1,100
C,60,1,100
D,1250,1,100
E,600,1,100
"""


def test_gittins_by_the_textbook(run, tmp_path):
    """One GPU, one queue; three jobs in four are of 100 s, the fourth of 1000.

     The index of a new job is 0.75 / 100. Near its first 100 s a job's index rises (at 40 s, 0.75 / 60); who
     passes them has 1 / 900, and comes back above a new job's when less than 133 s are left.

      40  B waits: A has 0.75 / 60. So does C.
     100  A has not ended: 1 / 900. B runs until 200, C until 300; then A goes on.
     600  A has had 400 s: 1 / 600. E displaces it and runs until 700.
    1250  A has had 950 s: 1 / 50. D waits until A ends, at 1300.
    """
    sizes = tmp_path / "sizes.csv"
    sizes.write_text("duration\n100\n1000\n100\n100\n")
    spec = f"tiresias:queues=1,index=gittins,distribution={sizes}"
    result = run(TWO_SIZES, "1x1", scheduler=spec, clock="events")
    assert times(result) == {
        "A": (0, 1300),
        "B": (100, 200),
        "C": (200, 300),
        "D": (1300, 1400),
        "E": (600, 700),
    }
    assert figures(result, "preemptions") == {"A": 2, "B": 0, "C": 0, "D": 0, "E": 0}


def test_yarn_packs_under_one_switch(run):
    """Two racks of two nodes of 4 GPUs. Jobs of 2, 6, 6, 4, 8.

    F (2) goes to node 0. G (6) needs an idle node and 2 more: node 1, and 2 GPUs of node 0. H (6): the first
    rack has no idle node left, so nodes 2 and 3. I (4) finds no node; J (8) no two. Both wait until 100, when
    all end: I takes node 0, and J the second rack.
    """
    jobs = "F,0,2,100\nG,0,6,100\nH,0,6,100\nI,0,4,50\nJ,0,8,50\n"
    result = run(jobs, "4x4:racks=2", scheduler="fifo:strict=false", placement="yarn", clock="events")
    held = {}
    for job, gpu in sorted(zip(result.stints["job"].tolist(), result.stints["gpu"].tolist())):
        held.setdefault(result.jobs["job_id"][job], []).append(gpu)
    assert held == {
        "F": [0, 1],
        "G": [2, 3, 4, 5, 6, 7],
        "H": [8, 9, 10, 11, 12, 13],
        "I": [0, 1, 2, 3],
        "J": [8, 9, 10, 11, 12, 13, 14, 15],
    }
    assert figures(result, "first_start_s") == {"F": 0, "G": 0, "H": 0, "I": 100, "J": 100}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("tiresias:queues=3", "a threshold for every queue but the last"),
        ("tiresias:queues=3,threshold=500+500", "ascend"),
        ("tiresias:promote=-1", "0 \\(off\\) or above"),
        ("tiresias:distribution=sizes.csv", "index=gittins"),
        ("tiresias:index=gittins,distribution=nowhere.csv", "no such file"),
    ],
)
def test_mistakes_are_told(spec, words):
    with pytest.raises(BloxError, match=words):
        Experiment(scheduler=spec).prepare()


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("tiresias:schedule=dlas-gpus", "did you mean 'dlas-gpu'"),
        ("tiresias:schedule=gandiva", "not reproduced"),
        ("tiresias:scheme=random", "not reproduced"),
        ("tiresias:schedule=multi-dlas-gpu", "scheme=count only"),
        ("tiresias:schedule=dlas,num_queue=5", "every queue but the last"),
        ("tiresias:schedule=gittins,distribution=nowhere.csv", "no such file"),
    ],
)
def test_mistakes_in_the_preset_are_told(spec, words):
    with pytest.raises(BloxError, match=words):
        Experiment(workload="constant", jobs=3, compat=spec).prepare()


def test_limits_below_a_job_s_gpus_loop_in_the_original(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("job_id,num_gpu,submit_time,duration\n0,8,0,100\n")
    settings = {"workload": f"tiresias:{path}", "cluster": "2x8"}
    preset = "tiresias:schedule=dlas-gpu,num_queue=2,queue_limit=5"
    with pytest.raises(BloxError, match="wakes at one instant for ever"):
        Experiment(compat=preset, **settings).run()
    result = Experiment(compat=f"{preset},late_demotion=false", **settings).run()
    assert result.jobs["finish_s"].tolist() == [100]


def test_a_job_larger_than_the_cluster_blocks_fifo_silently(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("job_id,num_gpu,submit_time,duration\n0,8,0,100\n1,64,5,10\n2,8,6,50\n")
    settings = {"workload": f"tiresias:{path}", "cluster": "2x8"}
    blocked = Experiment(compat="tiresias:schedule=fifo,scheme=count", **settings).run()
    assert blocked.jobs["state"].tolist() == ["finished", "queued", "queued"]
    passed = Experiment(compat="tiresias:schedule=dlas-gpu,scheme=count", **settings).run()
    assert passed.jobs["state"].tolist() == ["finished", "queued", "finished"]
