"""Pollux's optimiser, measured: fits, speedups, and fitness against time beside the artifact's search.

Figures are CPU time of one core, given in seconds of a machine on which `shared/measure/calibrate.py` prints
0.9, as in `run.py`: the calibration is run before and after each figure, and the best of a few tries counts.
The artifact's own decision took 4.7 CPU seconds with 50 jobs on 64 GPUs (population 100, 100 generations) on
such a machine. Its search, operator by operator but vectorised (`evolution`), says what fitness that budget
gives; only the recorded 4.7 s say what it cost. Exits with 1 when a figure is missed.

    python benchmarks/pollux.py            everything, about three minutes
    python benchmarks/pollux.py --curve    fitness against time only
    python benchmarks/pollux.py --runs     whole runs only
    python benchmarks/pollux.py --curve --picture docs/images/pollux_fitness.png
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from board import REFERENCE, SHARED, Board, calibration

from blox.experiment.settings import Experiment
from blox.performance.goodput import GradientNoise, ThroughputModel
from blox.performance.goodput_batch import BatchLimits
from blox.performance.goodput_fit import Observations, fit
from blox.schedulers.pollux.evolution import evolve
from blox.schedulers.pollux.fitness import Round, fitness, restart_factor
from blox.schedulers.pollux.repair import repair
from blox.schedulers.pollux.search import search
from blox.schedulers.pollux.speedup import speedup_table
from blox.workloads.table import Array

ORIGINAL_S = 4.7  # a decision of the artifact for 50 jobs on 64 GPUs
ORIGINAL_FIT_S = 0.18
# CPU seconds of whole runs of the artifact as shipped; for Pollux 1.7 times those of a copy that was sped up
ORIGINAL_RUN_S = {("optimus", 6): 107.0, ("tiresias", 6): 30.0, ("pollux", 6): 3000.0}
NODES, NODE_GPUS = 16, 4
FUNCTIONS = SHARED / "goldens" / "pollux" / "functions"

# Round figures of the kind that fits to the artifact's applications give: alpha_c to gamma, square and
# variance of the gradient, initial and largest batch, range of a GPU's share.
APPLICATIONS = (
    ((0.072, 0.0043, 0.0418, 0.00147, 0.0060, 1e-8, 1.0), (0.133, 5.25), (200, 12800, 20, 200)),
    ((0.161, 0.0598, 1.09, 0.058, 0.128, 0.034, 2.29), (1.96e14, 6.9e15), (12, 384, 4, 12)),
    ((0.0204, 0.00072, 0.053, 1e-8, 0.0115, 0.0059, 1.34), (0.0006, 0.46), (128, 4096, 32, 1024)),
    ((0.181, 0.0282, 0.25, 0.002, 0.094, 0.002, 1.2), (0.331, 1.98), (20, 640, 10, 80)),
    ((0.147, 0.0294, 0.6, 0.01, 0.0996, 0.0099, 1.5), (135.6, 23508.0), (8, 512, 4, 8)),
)


@dataclass(frozen=True)
class Instance:
    """What a decision starts from: a column per parameter, jobs x nodes now held."""

    model: ThroughputModel
    noise: GradientNoise
    limits: BatchLimits
    most: Array
    current: Array
    restart: Array

    def problem(self) -> Round:
        """With its table of speedups, which is part of every decision."""
        table = speedup_table(
            self.model,
            self.noise,
            self.limits,
            self.most,
            total_gpus=NODES * NODE_GPUS,
            node_gpus=NODE_GPUS,
        )
        return Round(table, self.current, np.full(NODES, NODE_GPUS), self.most, self.restart)


def instance(jobs: int, seed: int) -> Instance:
    """A busy moment: `jobs` of all ages; most of them hold GPUs, some have just come."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, len(APPLICATIONS), jobs)
    model = ThroughputModel.of(np.array([APPLICATIONS[k][0] for k in kinds]))
    noise = GradientNoise(*np.array([APPLICATIONS[k][1] for k in kinds]).T)
    limits = BatchLimits(*np.array([APPLICATIONS[k][2] for k in kinds]).T, True)
    usable = np.asarray(limits.largest) // limits.smallest_atomic
    most = np.minimum(rng.choice([1, 2, 4, 8, 16, 32, 64], jobs), usable)
    restart = restart_factor(
        rng.choice([60.0, 300.0, 1800.0, 7200.0, 40000.0], jobs), rng.integers(0, 5, jobs)
    )
    current = np.zeros((jobs, NODES), dtype=np.int64)
    fair = max(NODES * NODE_GPUS // jobs, 1)
    for job in rng.permutation(jobs)[: max(int(0.8 * jobs), 1)]:
        wanted = int(rng.integers(1, min(most[job], 2 * fair) + 1))
        free = NODE_GPUS - current.sum(axis=0)
        for node in np.argsort(-free, kind="stable"):
            current[job, node] = min(wanted, free[node])
            wanted -= current[job, node]
    blank = Round(np.zeros((jobs, 2, 1)), current, np.full(NODES, NODE_GPUS), most, restart)
    return Instance(model, noise, limits, most, repair(blank, current[np.newaxis], rng)[0], restart)


class Timer:
    """CPU seconds of a piece of work on the machine of reference: the best of some tries."""

    def __init__(self) -> None:
        self.calibrate = calibration()

    def seconds(self, work: Callable[[], object], tries: int = 5) -> float:
        return self.each([work], tries)[0]

    def each(self, works: Sequence[Callable[[], object]], tries: int = 5) -> list[float]:
        best = [float("inf")] * len(works)
        before = self.calibrate()
        for number, work in enumerate(works):
            for _ in range(tries):
                start = time.process_time()
                work()
                best[number] = min(best[number], time.process_time() - start)
        scale = REFERENCE / ((before + self.calibrate()) / 2)
        return [seconds * scale for seconds in best]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--curve", action="store_true", help="only fitness against time")
    parser.add_argument("--runs", action="store_true", help="only whole runs")
    parser.add_argument("--picture", type=Path, help="where to draw fitness against time")
    options = parser.parse_args()
    board, timer = Board(), Timer()
    if not options.curve:
        _runs(board, timer)
    if not options.curve and not options.runs:
        _fits(board, timer)
        _decisions(board, timer)
        _goldens(board)
    if not options.runs:
        _curve(board, timer, options.picture)
    if board.missed:
        print(f"\n{len(board.missed)} figures missed: {'; '.join(board.missed)}")
    return 1 if board.missed else 0


def _runs(board: Board, timer: Timer) -> None:
    """Whole runs of 160 jobs on 64 GPUs at intervals of 60 s, like the artifact's own."""
    for policy, workload, limit in (
        ("optimus", 1, 3),
        ("optimus", 6, 3),
        ("tiresias", 6, 3),
        ("pollux", 6, 60),
    ):
        trace = SHARED / "data" / "pollux" / "workloads" / f"workload-{workload}.csv"
        if not trace.is_file():
            print(f"no whole run: {trace} is absent")
            continue
        experiment = Experiment(workload=f"pollux:{trace}", compat=f"pollux:policy={policy},interval=60")
        seconds = timer.seconds(
            lambda experiment=experiment: experiment.run(), 1 if policy == "pollux" else 3
        )  # type: ignore[misc]
        board.line(f"a run, {policy}, workload {workload}", seconds, "s", limit)
        original = ORIGINAL_RUN_S.get((policy, workload))
        if original:
            board.line(f"ratio to the original: {policy}, workload {workload}", original / seconds, "x", 0)


def _fits(board: Board, timer: Timer) -> None:
    """The cost of fitting, over the recorded observations where they are to be had."""
    file = FUNCTIONS / "fit_perf_params.json"
    if not file.is_file():
        print(f"no fits: {file} is absent")
        return
    names = ("num_nodes", "num_replicas", "atomic_bsz", "accum_time", "step_time")
    cases = [
        Observations(*([row[name] for row in case["observations"]] for name in names))
        for case in json.loads(file.read_text())["cases"]
    ]
    each = timer.each([partial(fit, case) for case in cases])
    board.line("a fit, mean of the recorded ones", 1e3 * float(np.mean(each)), "ms", 5)
    board.line("a fit, the slowest of them", 1e3 * max(each), "ms", 5)
    board.line("ratio to the original: fit", ORIGINAL_FIT_S / float(np.mean(each)), "x", 0)


def _decisions(board: Board, timer: Timer) -> None:
    """Whole decisions, speedups included, with the artifact's population and generations: means of five."""
    for jobs in (1, 2, 3, 5, 10, 25, 50, 100):
        asked = [instance(jobs, seed) for seed in range(5)]

        def decide(asked: list[Instance] = asked) -> list[Array]:
            rng = np.random.default_rng(0)
            return [search(each.problem(), rng, population=100, generations=100) for each in asked]

        seconds = timer.seconds(decide, 3) / len(asked)
        board.line(f"a decision, {jobs} jobs on 64 GPUs", 1e3 * seconds, "ms", 50 if jobs <= 10 else 0)
        if jobs == 50:
            board.line("ratio to the original: 50 jobs", ORIGINAL_S / seconds, "x", 30, at_least=True)
    table = timer.seconds(instance(50, 1).problem)
    board.line("its table of speedups, 50 jobs", 1e3 * table, "ms", 0)


def _goldens(board: Board) -> None:
    """Fitness over the recorded instances, relative to what the artifact's whole budget gives."""
    file = FUNCTIONS / "fitness.json"
    if not file.is_file():
        print(f"no recorded instances: {file} is absent")
        return
    ratios = []
    for number, case in enumerate(json.loads(file.read_text())["cases"]):
        problem = _recorded(case)
        ours = search(problem, np.random.default_rng(number))
        theirs = evolve(problem, np.random.default_rng(number), as_artifact=True).best
        ratios.append(float(np.divide(*fitness(problem, np.stack([ours, theirs])))))
    board.line(
        f"fitness over {len(ratios)} recorded instances, to the original's",
        float(np.mean(ratios)),
        "x",
        1.0,
        at_least=True,
        note=f"(least {min(ratios):.4f}, most {max(ratios):.4f})",
    )


def _recorded(case: dict[str, object]) -> Round:
    """The decision that a recorded case of fitness describes."""
    jobs, nodes, size = case["jobs"], case["num_nodes"], case["gpus_per_node"]
    assert isinstance(jobs, list) and isinstance(nodes, int) and isinstance(size, int)

    def column(name: str, absent: object) -> Array:
        return np.array([job.get(name, absent) for job in jobs])

    total = nodes * size
    most = column("max_replicas", 1)
    table = speedup_table(
        ThroughputModel.of([list(job.get("perf_params", {}).values()) or [1.0] * 7 for job in jobs]),  # type: ignore[arg-type]
        GradientNoise(*np.array([list(job.get("grad_params", {}).values()) or [1, 1] for job in jobs]).T),
        BatchLimits(
            column("init_batch_size", 1), column("max_batch_size", 1), *column("atomic_bsz_range", [1, 1]).T
        ),
        np.full(len(jobs), total),
        total_gpus=total,
        node_gpus=size,
        profiled=column("kind", "") == "profiled",
    )
    restart = restart_factor(column("age", 0.0), column("num_restarts", 0))
    return Round(table, np.array(case["base_state"]), np.full(nodes, size), most, restart)


def _curve(board: Board, timer: Timer, picture: Path | None) -> None:
    """Fitness of ours after so many generations, relative to that of the artifact's whole budget."""
    seeds = range(5)
    print(
        "\nfitness against time, 50 jobs on 64 GPUs, mean of 5 instances, 1 = the artifact's search in full:"
    )
    asked = [instance(50, seed) for seed in seeds]
    problems = [each.problem() for each in asked]
    table_s = timer.seconds(lambda: [each.problem() for each in asked]) / len(asked)
    theirs = [
        _best(evolve(p, np.random.default_rng(s), as_artifact=True).best, p) for s, p in enumerate(problems)
    ]
    reached = float("inf")
    points: dict[str, list[tuple[float, float]]] = {"blox": [], "the artifact, as shipped": []}
    for size, generations in ((4, 0), (8, 0), (16, 0), (32, 0), (32, 10), (32, 30), (32, 100), (100, 100)):

        def run(size: int = size, generations: int = generations) -> list[Array]:
            return [
                search(p, np.random.default_rng(s), population=size, generations=generations)
                for s, p in enumerate(problems)
            ]

        seconds = timer.seconds(run, 3) / len(problems) + table_s
        ratio = float(np.mean([_best(found, p) / best for found, p, best in zip(run(), problems, theirs)]))
        if ratio >= 1:
            reached = min(reached, seconds)
        points["blox"].append((seconds, ratio))
        print(f"  population {size:3d}, generations {generations:3d}: {1e3 * seconds:7.1f} ms {ratio:7.3f}")
    for generations in (1, 3, 10, 30, 100):
        best = [
            _best(evolve(p, np.random.default_rng(s), generations=generations, as_artifact=True).best, p)
            for s, p in enumerate(problems)
        ]
        ratio = float(np.mean(np.divide(best, theirs)))
        shipped = ORIGINAL_S * generations / 100
        points["the artifact, as shipped"].append((shipped, ratio))
        print(f"  the artifact's search, {generations:3d}: {1e3 * shipped:10.1f} ms as shipped {ratio:7.3f}")
    if picture is not None:
        _draw(points, picture)
    board.line("the artifact's fitness is reached in 1 /", ORIGINAL_S / reached, "x", 100, at_least=True)


def _draw(points: dict[str, list[tuple[float, float]]], picture: Path) -> None:
    """Fitness against CPU seconds, a curve per search."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
    for name, found in points.items():
        axes.plot(*zip(*sorted(found)), marker="o", label=name)
    axes.axhline(1, color="grey", linewidth=0.8)
    axes.axvline(ORIGINAL_S / 100, color="grey", linewidth=0.8, linestyle=":")
    axes.set(xscale="log", xlabel="CPU time of one decision (s)", ylabel="fitness")
    axes.annotate("1/100 of the original's time", (ORIGINAL_S / 100, axes.get_ylim()[0]), rotation=90,
                  xytext=(-10, 4), textcoords="offset points", color="grey", fontsize=8)  # fmt: skip
    axes.legend()
    axes.set_title("50 jobs on 64 GPUs; 1: the artifact's search in full", loc="left", fontsize=10)
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, dpi=130)
    print(f"picture: {picture}")


def _best(found: Array, problem: Round) -> float:
    return float(fitness(problem, found[np.newaxis])[0])


if __name__ == "__main__":
    sys.exit(main())
