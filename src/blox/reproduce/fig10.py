from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from blox.experiment.settings import Experiment
from blox.report.charts import Chart
from blox.reproduce.answer import Finding, Table, Verdict
from blox.reproduce.curves import Curves, drawn, excess, means, spreads
from blox.reproduce.page import Case, Done, Page, Setting

SCHEDULER = "tiresias"  # two queues
V100, P100 = "v100=32x4:network_gbps=10", "p100=32x4:network_gbps=100"
SPEEDS = "spread:durations=here"  # a job takes its duration, packed, on either cluster
ALL, SKEW, RELAXED = "consolidated", "tiresias", "tiresias:rest=spread"
HIGH = 4.0  # jobs/hour: the paper's "higher loads" lie above
PLAIN = 0.01  # differences of less are no difference

ON_V100 = {ALL: "all together", SKEW: "Tiresias", RELAXED: "Tiresias relaxed"}
ON_P100 = {ALL: "all together (P100)", SKEW: "Tiresias (P100)"}
LIKE = {line: ON_V100[placement] for placement, line in ON_P100.items()}


@dataclass(frozen=True)
class Figure10(Page):
    """Tiresias's placement against keeping every job together, on faster GPUs behind a slower network."""

    title = "Placement by skew against consolidating all jobs, on V100 GPUs at 10 Gb/s"
    claim = (
        "On V100 GPUs with 10 Gb/s between servers, keeping every job together gives a lower average JCT "
        "than Tiresias's skew-based placement above 4 jobs/hour, because compute is faster and the network "
        "slower than where that was devised."
    )
    rule = (
        "Holds if, above 4 jobs/hour, keeping all together is at least 1 % better at every load, its "
        "advantage is larger there than up to 4 jobs/hour on average, and it is smaller on P100 GPUs at "
        "100 Gb/s; in part if the first is true, or true at most of these loads; otherwise it does not hold."
    )
    differences = (
        "Speeds come from a model of a training step (compute, and an all-reduce over the links between its "
        "GPUs) with published sizes and step times; the paper uses profiles that it does not publish.",
        "Jobs have the sizes and durations of Philly's published trace and, each as likely, one of the seven "
        "models of the paper's Table 2. A job takes its duration where it is packed.",
        "The same on P100 GPUs at 100 Gb/s, the hardware of Tiresias's paper, is an addition of ours.",
    )

    def setup(self, setting: Setting) -> str:
        loads, seeds = self._loads(setting), len(self._seeds(setting))
        return (
            f"Jobs as in the Philly trace with the models of the paper's Table 2, {loads[0]:g} to "
            f"{loads[-1]:g} an hour, on 32 nodes of 4 GPUs; scheduler {SCHEDULER}, speeds by --performance "
            f"{SPEEDS}; window {self._window(setting)}, {seeds} seeds."
        )

    def cases(self, setting: Setting) -> list[Case]:
        found = []
        for cluster, lines in ((V100, ON_V100), (P100, ON_P100)):
            for placement, line in lines.items():
                if placement == RELAXED and not setting.full:
                    continue
                base = Experiment(
                    cluster=cluster, scheduler=SCHEDULER, placement=placement, performance=SPEEDS,
                    window=self._window(setting),
                )  # fmt: skip
                for load in self._loads(setting):
                    workload = f"philly:load={load:g}"
                    for seed in self._seeds(setting):
                        found.append(Case(line, load, replace(base, workload=workload, seed=seed)))
        return found

    def finding(self, done: Sequence[Done]) -> Finding:
        found = spreads(done)
        here, there = gaps(means(found))
        lines = list(found)
        rows = tuple(
            (
                f"{load:g}",
                *(found[line][load].text() for line in lines),
                f"{100 * here[load]:+.1f} %",
                f"{100 * there[load]:+.1f} %",
            )
            for load in found[ON_V100[ALL]]
        )
        heads = ("jobs/h", *(f"{line}, h" for line in lines), "Tiresias is behind by", "(P100)")
        chart = Chart("load (jobs per hour)", "average JCT (h)", drawn(found, LIKE))
        notes = (
            "Tiresias's jobs without skew fill the smallest gaps. Relaxed (at full scale only, for "
            "comparison) they are spread only where no node has room for them.",
        )
        return Finding(Table(heads, rows), (chart,), judge(here, there), notes)

    def _loads(self, setting: Setting) -> list[float]:
        return [float(n) for n in (range(1, 10) if setting.full else (4, 6, 8))]

    def _seeds(self, setting: Setting) -> range:
        return setting.seeds(quick=2, full=3)

    def _window(self, setting: Setting) -> str:
        return "3000-4000" if setting.full else "300-700"


def gaps(found: Curves) -> tuple[dict[float, float], dict[float, float]]:
    """By load, how much worse Tiresias's placement is than keeping all together: V100, then P100."""
    here = excess(found[ON_V100[SKEW]], found[ON_V100[ALL]])
    there = excess(found[ON_P100[SKEW]], found[ON_P100[ALL]])
    return here, there


def judge(here: Mapping[float, float], there: Mapping[float, float]) -> Verdict:
    """The rule. Both are by load: 0.1 where Tiresias's placement is 10 % worse than keeping all together."""
    high = [load for load in here if load > HIGH]
    better = [load for load in high if here[load] >= PLAIN]
    mean_high = sum(here[load] for load in high) / len(high)
    low = [gap for load, gap in here.items() if load <= HIGH]
    mean_low = sum(low) / len(low) if low else 0.0
    mean_there = sum(there[load] for load in high) / len(high)
    facts = (
        f"above {HIGH:g} jobs/hour keeping all together is better at {len(better)} of {len(high)} loads, by "
        f"{100 * mean_high:.1f} % on average ({100 * mean_low:.1f} % up to {HIGH:g} jobs/hour; "
        f"{100 * mean_there:.1f} % on P100 at 100 Gb/s)"
    )
    if len(better) == len(high) and mean_high > mean_low and mean_high > mean_there:
        return Verdict("holds", facts)
    if len(better) == len(high):
        missing = []
        if mean_high <= mean_low:
            missing.append("the advantage does not grow with the load")
        if mean_high <= mean_there:
            missing.append("it is no smaller on P100 at 100 Gb/s")
        return Verdict("holds in part", f"{facts}, but {' and '.join(missing)}")
    if 2 * len(better) > len(high):
        return Verdict("holds in part", facts)
    return Verdict("does not hold", facts)


PAGE = Figure10()
