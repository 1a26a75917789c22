"""Five-job cases for each of our own policies, every start and finish worked out by hand.

Rounds are 100 s. At every boundary: who has finished (at the boundary itself counts) leaves, who was
submitted (at the boundary itself counts) is offered to the admission, then jobs are placed in order. A
finish is exact; the GPUs it frees are handed out at the next boundary.

The jobs of most cases, on one node of 4 GPUs:

    A  submitted   0 s  2 GPUs  250 s
    B  submitted   0 s  2 GPUs  120 s
    C  submitted  30 s  4 GPUs  150 s
    D  submitted  60 s  1 GPU    80 s
    E  submitted 110 s  1 GPU   300 s
"""

from support.by_job import figures, gpus, times

FIVE = """
job_id,submit_s,gpus,duration_s,user,tenant,job_type,priority
A,0,2,250,ann,red,train,0
B,0,2,120,ann,blue,eval,0
C,30,4,150,bob,blue,train,2
D,60,1,80,bob,red,eval,1
E,110,1,300,eve,red,train,0
"""


# -- scheduling -----------------------------------------------------------------------------------------


def test_fifo_strict(run):
    """
      0  A and B start: all 4 GPUs. A ends at 250, B at 120.
    100  C (4) and D wait: nothing is free.
    200  2 free (B's). C does not fit and blocks D and E.
    300  4 free. C starts, ends at 450. D is blocked.
    500  D and E start; they end at 580 and 800.
    """
    result = run(FIVE, scheduler="fifo")
    assert times(result) == {"A": (0, 250), "B": (0, 120), "C": (300, 450), "D": (500, 580), "E": (500, 800)}
    assert result.summary["preemptions"] == 0
    assert result.summary["avg_jct_s"] == (250 + 120 + 420 + 520 + 690) / 5
    assert result.summary["makespan_s"] == 800
    # GPU-seconds: 500 + 240 + 600 + 80 + 300, of 4 GPUs for 800 s
    assert result.summary["utilisation_whole_run"] == 1720 / 3200
    assert result.summary["utilisation"] == 1.0  # of A and B, while jobs arrived: from 0 to 110 s


def test_fifo_with_skipping(run):
    """
    200  2 free. C does not fit; D and E pass it and start; they end at 280 and 500.
    300  3 free (A ended at 250). C does not fit.
    500  E ends at the boundary: 4 free. C starts, ends at 650.
    """
    result = run(FIVE, scheduler="fifo:strict=false")
    assert times(result) == {"A": (0, 250), "B": (0, 120), "C": (500, 650), "D": (200, 280), "E": (200, 500)}
    assert result.summary["preemptions"] == 0


def test_fifo_with_skipping_and_preemption(run):
    """
    200  D and E pass C, as above: nobody behind C runs, so nobody can be displaced.
    300  3 free, E runs behind C: E is displaced, having done 100 of its 300 s. C starts, ends at 450.
    500  E goes on with 200 s left, ends at 700.
    """
    result = run(FIVE, scheduler="fifo:strict=false,preempt=true")
    assert times(result) == {"A": (0, 250), "B": (0, 120), "C": (300, 450), "D": (200, 280), "E": (200, 700)}
    assert figures(result, "preemptions") == {"A": 0, "B": 0, "C": 0, "D": 0, "E": 1}
    assert figures(result, "queueing_s")["E"] == 700 - 110 - 300


def test_fifo_priority(run):
    """Priorities: C 2, D 1, the others 0.

    100  Order C D A B. C displaces B, then A; ends at 250. A has 150 s left, B 20.
    300  Order D A B E, 4 free: D starts, ends at 380; A goes on, ends at 450; B (2) does not fit in the
         1 GPU that is left; E starts, would end at 600.
    400  1 free (D's). B displaces E, which stands behind it: B goes on, ends at 420. E has 200 s left.
    500  E goes on, ends at 700.
    """
    result = run(FIVE, scheduler="fifo-priority")
    assert times(result) == {"A": (0, 450), "B": (0, 420), "C": (100, 250), "D": (300, 380), "E": (300, 700)}
    assert figures(result, "preemptions") == {"A": 1, "B": 1, "C": 0, "D": 0, "E": 1}


def test_fifo_priority_strict_without_preemption(run):
    """
    200  Order C D E behind A: C, most urgent, does not fit in 2 GPUs and blocks.
    300  C starts, ends at 450.
    500  D and E start.
    """
    result = run(FIVE, scheduler="fifo-priority:strict=true,preempt=false")
    assert times(result) == {"A": (0, 250), "B": (0, 120), "C": (300, 450), "D": (500, 580), "E": (500, 800)}


def test_srtf_by_time(run):
    """
      0  B (120) and A (250) start.
    100  Left: B 20, D 80, A 150, C 150 (tie: A is older). D displaces A, the last that runs; ends at 180.
         A needs 2 GPUs and 1 is left: it waits, with 150 s left.
    200  Left: A 150, C 150, E 300. A goes on, ends at 350. C (4) does not fit. E starts.
    300  Left: A 50, C 150, E 200. C could displace E, but 1 + 1 GPUs do not do: E stays.
    400  Left: E 100, C 150: 3 free, C does not fit and E is ahead of it.
    500  E ends at the boundary. C starts, ends at 650.
    """
    result = run(FIVE, scheduler="srtf")
    assert times(result) == {"A": (0, 350), "B": (0, 120), "C": (500, 650), "D": (100, 180), "E": (200, 500)}
    assert figures(result, "preemptions") == {"A": 1, "B": 0, "C": 0, "D": 0, "E": 0}


SHORT_AND_WIDE = """
P,0,2,200
Q,0,1,300
R,0,1,350
S,150,2,100
T,150,1,150
"""


def test_srtf_by_time_on_two_gpus(run):
    """
      0  P (200) goes first and takes both GPUs.
    200  P ends. Order S 100, T 150, Q 300, R 350: S takes both, ends at 300.
    300  T and Q start; they end at 450 and 600.
    500  R starts on T's GPU, ends at 850.
    """
    result = run(SHORT_AND_WIDE, "1x2", scheduler="srtf")
    assert times(result) == {
        "P": (0, 200),
        "Q": (300, 600),
        "R": (500, 850),
        "S": (200, 300),
        "T": (300, 450),
    }
    assert result.summary["preemptions"] == 0


def test_srtf_by_gpu_time(run):
    """
      0  GPU-seconds: Q 300, R 350, P 400: Q and R start; they end at 300 and 350.
    200  Left: Q 100, R 150, T 150 (younger), S 200, P 400: nothing changes.
    300  1 free. R 50, T 150: T starts, ends at 450.
    400  1 free (R's). S (2) does not fit: T is ahead of it.
    500  S starts (200 before P's 400), ends at 600.
    600  P starts, ends at 800.
    """
    result = run(SHORT_AND_WIDE, "1x2", scheduler="srtf:by=gpu-time")
    assert times(result) == {"P": (600, 800), "Q": (0, 300), "R": (0, 350), "S": (500, 600), "T": (300, 450)}
    assert result.summary["preemptions"] == 0


LEVELS = """
U,0,2,200
V,0,1,200
W,0,1,300
X,250,1,100
Y,250,1,100
"""


def test_las_by_gpu_time(run):
    """
      0  All have received nothing; U is first and takes both GPUs.
    100  U 200 GPU-seconds, V 0, W 0: V displaces U, W takes what is left. U has 100 s left.
    200  V 100, W 100, U 200: nothing changes.
    300  V ends at the boundary. X 0, Y 0, U 200, W 200: X takes the free GPU, Y displaces W, which is
         younger than U and so last. W has 100 s left.
    400  X and Y end at the boundary. U 200, W 200: U, the older, takes both GPUs, ends at 500.
    500  W goes on, ends at 600.
    """
    result = run(LEVELS, "1x2", scheduler="las")
    assert times(result) == {
        "U": (0, 500),
        "V": (100, 300),
        "W": (100, 600),
        "X": (300, 400),
        "Y": (300, 400),
    }
    assert figures(result, "preemptions") == {"U": 1, "V": 0, "W": 1, "X": 0, "Y": 0}


def test_las_by_time(run):
    """
    100  U 100 s, V 0, W 0: V and W displace U.
    200  U 100, V 100, W 100: U is the oldest and displaces both; ends at 300. V has 100 s left, W 200.
    300  X 0, Y 0, V 100, W 100: X and Y start, end at 400.
    400  V and W go on; they end at 500 and 600.
    """
    result = run(LEVELS, "1x2", scheduler="las:by=time")
    assert times(result) == {
        "U": (0, 300),
        "V": (100, 500),
        "W": (100, 600),
        "X": (300, 400),
        "Y": (300, 400),
    }
    assert figures(result, "preemptions") == {"U": 1, "V": 1, "W": 1, "X": 0, "Y": 0}


def test_las_lets_a_wide_job_in_when_enough_stand_behind_it(run):
    """P, Q, R of 1 GPU (250, 150, 150 s), S of 2 (100 s), T of 1 (50 s); 2 GPUs.

      0  P and Q start.
    100  R 0, S 0, P 100, Q 100: R displaces Q. S (2) could displace P alone: that is 1 GPU, so P stays.
    200  S 0, Q 100, R 100, P 200: S displaces P and R; ends at 300. Q 50 s, R 50 s, P 50 s left.
    300  Q 100, R 100, P 200: Q and R go on, end at 350.
    400  T 0, P 200: both run, end at 450.
    """
    jobs = "P,0,1,250 Q,0,1,150 R,50,1,150 S,50,2,100 T,350,1,50"
    result = run(jobs, "1x2", scheduler="las")
    assert times(result) == {"P": (0, 450), "Q": (0, 350), "R": (100, 350), "S": (200, 300), "T": (400, 450)}
    assert figures(result, "preemptions") == {"P": 1, "Q": 1, "R": 1, "S": 0, "T": 0}


def test_sjf(run):
    """F needs 3 GPUs, G 2, H 1, I 1, J 2; 4 GPUs.

      0  H (1) and G (2) start; F (3) does not fit in the 1 that is left.
    100  H has ended: 2 free. I (1) starts, ends at 200; J (2) and F (3) do not fit.
    200  G and I have ended: 4 free. J starts, ends at 300; F does not fit in the 2 that are left.
    300  F starts, ends at 400.
    """
    result = run("F,0,3,100 G,0,2,150 H,0,1,100 I,50,1,100 J,60,2,100", scheduler="sjf")
    assert times(result) == {"F": (300, 400), "G": (0, 150), "H": (0, 100), "I": (100, 200), "J": (200, 300)}


PATIENCE = "A,0,1,300 B,0,1,100 C,150,1,100 D,250,1,100 E,350,1,100"


def test_srtf_lets_a_long_job_wait(run):
    """One GPU. B; A from 100; C displaces A at 200; then D, then E, each shorter than A's 200 s left."""
    result = run(PATIENCE, "1x1", scheduler="srtf")
    assert times(result) == {
        "A": (100, 700),
        "B": (0, 100),
        "C": (200, 300),
        "D": (300, 400),
        "E": (400, 500),
    }


def test_promote(run):
    """As above, but a job that has waited 150 s goes first for good.

    200  A is displaced: due at 350.
    300  A is not due; D runs.
    400  A is due: it goes ahead of E and runs to its end at 600.
    600  E starts, ends at 700.
    """
    result = run(PATIENCE, "1x1", scheduler="promote:policy=srtf,after_s=150")
    assert times(result) == {
        "A": (100, 600),
        "B": (0, 100),
        "C": (200, 300),
        "D": (300, 400),
        "E": (600, 700),
    }
    assert figures(result, "preemptions")["A"] == 1


# -- admission ------------------------------------------------------------------------------------------


def test_threshold_at_capacity(run):
    """Factor 1: at most 4 GPUs asked for.

      0  A and B enter (4).
    100  C would make 8: held, and D behind it.
    300  Nothing is admitted: C enters (4) and starts. D would make 5.
    500  D and E enter.
    """
    result = run(FIVE, admission="threshold:factor=1")
    assert figures(result, "admit_s") == {"A": 0, "B": 0, "C": 300, "D": 500, "E": 500}
    assert times(result) == {"A": (0, 250), "B": (0, 120), "C": (300, 450), "D": (500, 580), "E": (500, 800)}
    # Held: C from 100 (the boundary that first sees it) to 300, D 100 to 500, E 200 to 500.
    assert result.summary["wait_admission_s"] == 200 + 400 + 300


def test_threshold_above_capacity(run):
    """Factor 2: at most 8. C enters at 100 (8), D would make 9; at 200 B is gone: D (7) and E (8) enter."""
    result = run(FIVE, admission="threshold:factor=2")
    assert figures(result, "admit_s") == {"A": 0, "B": 0, "C": 100, "D": 200, "E": 200}
    assert times(result) == {"A": (0, 250), "B": (0, 120), "C": (300, 450), "D": (500, 580), "E": (500, 800)}


def test_threshold_lets_a_job_above_it_in_alone(run):
    """Factor 0.5: at most 2.

      0  A enters (2). B would make 4.
    300  B enters (2), ends at 420.
    500  Nothing is admitted: C enters though it asks for 4; ends at 650.
    700  D and E enter (2); they end at 780 and 1000.
    """
    result = run(FIVE, admission="threshold:factor=0.5")
    assert figures(result, "admit_s") == {"A": 0, "B": 300, "C": 500, "D": 700, "E": 700}
    assert times(result) == {
        "A": (0, 250),
        "B": (300, 420),
        "C": (500, 650),
        "D": (700, 780),
        "E": (700, 1000),
    }


def test_threshold_that_overshoots(run):
    """Factor 1, the jobs before count, not the job itself.

    100  Before C: 4. It enters: 8. Before D: 8, held.
    200  B is gone: 6. D is held.
    300  A is gone: 4. D enters: 5. E is held.
    500  C is gone: 1. E enters.
    """
    result = run(FIVE, admission="threshold:factor=1,overshoot=true")
    assert figures(result, "admit_s") == {"A": 0, "B": 0, "C": 100, "D": 300, "E": 500}


SKIPPING = "fifo:strict=false"


def test_quota_of_jobs_per_user(run):
    """One job each: ann has A, B; bob has C, D; eve has E.

      0  A enters.
    100  C enters (4 GPUs, 2 free: waits). B and D are held.
    200  E enters and starts; ends at 500.
    300  A is gone: B enters, starts (3 free), ends at 420.
    500  4 free: C starts, ends at 650.
    700  C is gone: D enters, ends at 780.
    """
    result = run(FIVE, admission="quota:user_jobs=1", scheduler=SKIPPING)
    assert figures(result, "admit_s") == {"A": 0, "B": 300, "C": 100, "D": 700, "E": 200}
    assert times(result) == {
        "A": (0, 250),
        "B": (300, 420),
        "C": (500, 650),
        "D": (700, 780),
        "E": (200, 500),
    }


def test_quota_of_gpus_per_user(run):
    """3 GPUs each. B would give ann 4: held until A is gone. C asks for 4 and enters because bob has nothing
    else; D waits for C. The rest is as above."""
    result = run(FIVE, admission="quota:user_gpus=3", scheduler=SKIPPING)
    assert figures(result, "admit_s") == {"A": 0, "B": 300, "C": 100, "D": 700, "E": 200}


def test_quota_of_gpus_per_tenant(run):
    """3 GPUs each: red has A 2, D 1, E 1; blue has B 2, C 4.

      0  A and B enter.
    100  D enters (red 3). C is held (blue 2 + 4).
    200  B is gone: C enters alone in blue. E is held (red 2 + 1 + 1). D starts, ends at 280.
    300  A and D are gone: E enters. C is first and takes all 4 GPUs, ends at 450.
    500  E starts, ends at 800.
    """
    result = run(FIVE, admission="quota:tenant_gpus=3", scheduler=SKIPPING)
    assert figures(result, "admit_s") == {"A": 0, "B": 0, "C": 200, "D": 100, "E": 300}
    assert times(result) == {"A": (0, 250), "B": (0, 120), "C": (300, 450), "D": (200, 280), "E": (500, 800)}


def test_quota_of_jobs_per_tenant(run):
    """One job each.

    200  B is gone: C enters (blue); 2 free, it waits.
    300  A is gone: D enters (red), E is held. C takes all 4 GPUs, ends at 450.
    500  D starts, ends at 580.
    600  D is gone: E enters, ends at 900.
    """
    result = run(FIVE, admission="quota:tenant_jobs=1", scheduler=SKIPPING)
    assert figures(result, "admit_s") == {"A": 0, "B": 0, "C": 200, "D": 300, "E": 600}
    assert times(result) == {"A": (0, 250), "B": (0, 120), "C": (300, 450), "D": (500, 580), "E": (600, 900)}


def test_quota_of_jobs_per_type(run):
    """One job each: train has A, C, E; eval has B, D.

    200  B is gone: D enters, starts, ends at 280.
    300  A is gone: C enters, starts, ends at 450. E is held.
    500  E enters, ends at 800.
    """
    result = run(FIVE, admission="quota:type_jobs=1", scheduler=SKIPPING)
    assert figures(result, "admit_s") == {"A": 0, "B": 0, "C": 300, "D": 200, "E": 500}
    assert times(result) == {"A": (0, 250), "B": (0, 120), "C": (300, 450), "D": (200, 280), "E": (500, 800)}


def test_quota_of_gpus_per_type(run):
    """3 GPUs each.

    100  D enters (eval 3). C is held (train 2 + 4).
    200  E enters (train 3), past C. D and E start on B's GPUs; they end at 280 and 500.
    300  A is gone, E is there: C is held (1 + 4).
    500  C enters alone, ends at 650.
    """
    result = run(FIVE, admission="quota:type_gpus=3", scheduler=SKIPPING)
    assert figures(result, "admit_s") == {"A": 0, "B": 0, "C": 500, "D": 100, "E": 200}
    assert times(result) == {"A": (0, 250), "B": (0, 120), "C": (500, 650), "D": (200, 280), "E": (200, 500)}


def test_quota_of_jobs_per_size(run):
    """One job of each size at a time: A and B ask for 2 GPUs, C for 4, D and E for 1.

    0    A enters and starts, ends at 250. B is held.
    100  C and D enter. C does not fit, D starts, ends at 180.
    200  D is gone: E enters and starts, ends at 500.
    300  A is gone: B enters and starts on 2 of 3 free GPUs, ends at 420.
    500  E is gone: C starts, ends at 650.
    """
    result = run(FIVE, admission="quota:size_jobs=1", scheduler=SKIPPING)
    assert figures(result, "admit_s") == {"A": 0, "B": 300, "C": 100, "D": 100, "E": 200}
    assert times(result) == {
        "A": (0, 250),
        "B": (300, 420),
        "C": (500, 650),
        "D": (100, 180),
        "E": (200, 500),
    }


def test_large_jobs_enter_one_at_a_time(run):
    """Those above 1 GPU are A, B and C: B enters when A is gone, C when B is gone (420, seen at 500)."""
    result = run(FIVE, admission="quota:most_gpus=1", scheduler=SKIPPING)
    assert figures(result, "admit_s") == {"A": 0, "B": 300, "C": 500, "D": 100, "E": 200}
    assert times(result) == {
        "A": (0, 250),
        "B": (300, 420),
        "C": (500, 650),
        "D": (100, 180),
        "E": (200, 500),
    }


# -- placement ------------------------------------------------------------------------------------------

PIECES = "A,0,1,150 B,0,2,250 C,0,1,100 D,50,2,100 E,60,1,100"
TWO_NODES = {"cluster": "2x2", "scheduler": SKIPPING}  # GPUs 0 and 1, 2 and 3


def test_first_free(run):
    """
      0  A takes GPU 0, B 1 and 2, C 3.
    100  C has ended. D (2) does not fit; E takes GPU 3, ends at 200.
    200  A and E have ended: D takes GPUs 0 and 3, ends at 300.
    """
    result = run(PIECES, placement="first-free", **TWO_NODES)
    assert gpus(result) == {"A": [0], "B": [1, 2], "C": [3], "D": [0, 3], "E": [3]}
    assert times(result) == {"A": (0, 150), "B": (0, 250), "C": (0, 100), "D": (200, 300), "E": (100, 200)}


def test_first_free_pays_for_spreading(run):
    """Two GPUs on two nodes run at 0.59 of their speed (profiles/spread.csv, any model): B and D do."""
    result = run(PIECES, placement="first-free", performance="table", **TWO_NODES)
    assert times(result) == {
        "A": (0, 150),
        "B": (0, 250 / 0.59),
        "C": (0, 100),
        "D": (200, 200 + 100 / 0.59),
        "E": (100, 200),
    }


def test_count_is_one_pool(run):
    """The same GPUs as first-free, and nobody is slowed: the cluster is one pool."""
    result = run(PIECES, placement="count", performance="table", **TWO_NODES)
    assert gpus(result) == {"A": [0], "B": [1, 2], "C": [3], "D": [0, 3], "E": [3]}
    assert times(result) == {"A": (0, 150), "B": (0, 250), "C": (0, 100), "D": (200, 300), "E": (100, 200)}


def test_consolidated_best_fit(run):
    """
      0  A takes GPU 0. B (2) fits on node 1 only. C's best fit is node 0, which has 1 free: GPU 1.
    100  C has ended. D (2) finds no node; E takes GPU 1, ends at 200.
    200  A and E have ended: D takes node 0, ends at 300.
    """
    result = run(PIECES, placement="consolidated", performance="table", **TWO_NODES)
    assert gpus(result) == {"A": [0], "B": [2, 3], "C": [1], "D": [0, 1], "E": [1]}
    assert times(result) == {"A": (0, 150), "B": (0, 250), "C": (0, 100), "D": (200, 300), "E": (100, 200)}


HOLES = "A,0,1,350 B,0,1,150 C,0,1,350 D,50,2,100 E,60,1,100"


def test_consolidated_waits(run):
    """
      0  A takes GPU 0, B its best fit, GPU 1; C takes GPU 2.
    100  E takes GPU 3, ends at 200. D (2) finds no node.
    200  B and E have ended: 1 GPU is free on each node. D waits.
    400  A and C have ended: D takes node 0, ends at 500.
    """
    result = run(HOLES, placement="consolidated", **TWO_NODES)
    assert gpus(result) == {"A": [0], "B": [1], "C": [2], "D": [0, 1], "E": [3]}
    assert times(result) == {"A": (0, 350), "B": (0, 150), "C": (0, 350), "D": (400, 500), "E": (100, 200)}
    # D waits for nothing but 2 GPUs side by side from 200 to 400; from 100 to 200 no GPU is free.
    assert result.summary["wait_fragmentation_s"] == 200


def test_consolidated_spreads(run):
    """At 200 D takes GPUs 1 and 3, one of each node, and ends at 300."""
    result = run(HOLES, placement="consolidated:fallback=spread", **TWO_NODES)
    assert gpus(result)["D"] == [1, 3]
    assert times(result)["D"] == (200, 300)
    assert result.summary["wait_fragmentation_s"] == 0


def test_consolidated_takes_several_nodes_for_a_job_that_no_node_can_hold(run):
    """Nodes of 2. A (1) takes GPU 0; B (3) takes node 1 whole, and its last part on its best fit, GPU 1.

    100  Nothing is free but node 2: C (2) takes GPUs 4 and 5, D (1) waits.
    200  A has ended: D takes GPU 0.
    300  B and C have ended, D too: E (5) takes nodes 0 and 1 whole, and GPU 4.
    """
    jobs = "A,0,1,150 B,0,3,250 C,50,2,200 D,60,1,100 E,210,5,100"
    result = run(jobs, "3x2", scheduler=SKIPPING, placement="consolidated")
    assert gpus(result) == {"A": [0], "B": [1, 2, 3], "C": [4, 5], "D": [0], "E": [0, 1, 2, 3, 4]}
    assert times(result) == {"A": (0, 150), "B": (0, 250), "C": (100, 300), "D": (200, 300), "E": (300, 400)}


def test_random_counts_like_first_free_and_is_seeded(run):
    """Which GPUs is chance, drawn from the seed; when jobs run is not."""
    first, again = (run(PIECES, placement="random", seed=3, **TWO_NODES) for _ in range(2))
    assert times(first) == times(run(PIECES, placement="first-free", **TWO_NODES))
    assert gpus(first) == gpus(again)
    others = [gpus(run(PIECES, placement="random", seed=seed, **TWO_NODES)) for seed in range(8)]
    assert any(other != gpus(first) for other in others)
    for other in others:
        assert sorted(other["A"] + other["B"] + other["C"]) == [0, 1, 2, 3], "at 0 every GPU is in use"


# -- clocks and overheads -------------------------------------------------------------------------------


def test_a_submission_at_the_boundary_counts_and_one_after_it_waits(run):
    result = run("A,0,1,10 B,100,1,10 C,100.5,1,10 D,199.5,1,10 E,200,1,10")
    assert times(result) == {"A": (0, 10), "B": (100, 110), "C": (200, 210), "D": (200, 210), "E": (200, 210)}
    assert figures(result, "responsiveness_s") == {"A": 0, "B": 0, "C": 99.5, "D": 0.5, "E": 0}


def test_events_act_at_once(run):
    """Strict FIFO. B ends at 120: C (4) blocks. A ends at 250: C starts, ends at 400; then D and E."""
    result = run(FIVE, scheduler="fifo", clock="events")
    assert times(result) == {"A": (0, 250), "B": (0, 120), "C": (250, 400), "D": (400, 480), "E": (400, 700)}
    assert figures(result, "admit_s") == {"A": 0, "B": 0, "C": 30, "D": 60, "E": 110}


def test_events_and_sharing_time(run):
    """One GPU, LAS, at least 10 s between wake-ups of the policy's own. P 100 s at 0, Q 50 s at 20.

    20  P 20, Q 0: Q runs.                              40  P 20, Q 20: level, P is older and runs.
    50  P 30, Q 20: Q runs.                             60  level: P.   70  Q.   80  level: P.
    90  P 50, Q 40: Q runs its last 10 s, ends at 100.  100  P runs its last 50 s, ends at 150.
    """
    result = run("P,0,1,100 Q,20,1,50", "1x1", scheduler="las", clock="events:quantum_s=10")
    assert times(result) == {"P": (0, 150), "Q": (20, 100)}
    assert figures(result, "preemptions") == {"P": 4, "Q": 3}


def test_events_with_a_long_quantum(run):
    """The policy's own wake-up comes 100 s after 20 at the earliest; Q's end at 70 comes before."""
    result = run("P,0,1,100 Q,20,1,50", "1x1", scheduler="las", clock="events:quantum_s=100")
    assert times(result) == {"P": (0, 150), "Q": (20, 70)}
    assert figures(result, "preemptions") == {"P": 1, "Q": 0}


def test_launching_and_restarting_cost_time(run):
    """20 s to launch, 45 s to restart, on the GPUs. FIFO with skipping and preemption.

      0  A works from 20, ends at 270; B ends at 140.
    200  D works from 220, ends at 300; E works from 220.
    300  3 free: C displaces E, which has done 80 s. C works from 320, ends at 470.
    500  E works from 545 on what is left, 220 s: ends at 765.
    """
    result = run(FIVE, scheduler="fifo:strict=false,preempt=true", overheads="launch=20,restart=45")
    assert times(result) == {"A": (0, 270), "B": (0, 140), "C": (300, 470), "D": (200, 300), "E": (200, 765)}
    assert figures(result, "run_s") == {"A": 270, "B": 140, "C": 170, "D": 100, "E": 300 + 20 + 45}
    assert figures(result, "gpu_seconds") == {"A": 540, "B": 280, "C": 680, "D": 100, "E": 365}
    assert figures(result, "preemptions")["E"] == 1


def test_a_job_stopped_while_it_is_launched_has_done_nothing(run):
    """Launching takes 150 s, longer than a round. One GPU; Q is more urgent and comes at 90.

    100  Q displaces P, which has been launching for 100 s: 200 s of work left. Q works from 250, ends at 260.
    300  P restarts (10 s), works from 310, ends at 510.
    """
    jobs = "job_id,submit_s,gpus,duration_s,priority P,0,1,200,0 Q,90,1,10,1"
    result = run(jobs, "1x1", scheduler="fifo-priority", overheads="launch=150,restart=10")
    assert times(result) == {"P": (0, 510), "Q": (100, 260)}
    assert figures(result, "run_s") == {"P": 100 + 210, "Q": 160}


def test_waiting_is_accounted_for(run):
    """Strict FIFO, as in the first case: who waited for what, from the boundary that first saw the job.

    100 to 200: nothing is free and nothing is handed out: C and D wait for capacity. 200 to 300: 2 GPUs are
    free; D and E would fit, but the order is blocked (priority); C, which needs more, waits for capacity.
    300 to 400: D and E could have had what C is handed at 300 (priority); 400 to 500: nothing is handed out
    any more (capacity). Capacity: C 100 + 100, D 100 + 100, E 100; priority: D 200, E 200.
    """
    result = run(FIVE, scheduler="fifo")
    causes = ("admission", "priority", "capacity", "fragmentation")
    assert [result.summary[f"wait_{cause}_s"] for cause in causes] == [0, 200 + 200, 200 + 200 + 100, 0]
