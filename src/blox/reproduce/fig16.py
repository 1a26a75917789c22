from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from blox.experiment.settings import Experiment
from blox.report.charts import Chart
from blox.reproduce.answer import Cause, Finding, Table, Verdict
from blox.reproduce.curves import average_jct_h, spreads
from blox.reproduce.distribution import cdf, jcts_s
from blox.reproduce.page import Case, Done, Page, Setting
from blox.results.result import Result

EPOCHS, LOSS = "all epochs", "by loss"
TERMINATION = {EPOCHS: "completed", LOSS: "loss:threshold=0.002"}
PAPER = 0.44
NEAR = 0.10  # how far from the paper's share counts as the same
WORKLOAD = "gavel:load={load:g}"
SHARES = (0.25, 0.5, 0.75)  # of jobs that converge early


@dataclass(frozen=True)
class ByShare:
    """How the gain follows the share of jobs that converge early."""

    def cases(self, setting: Setting) -> list[Case]:
        found = _cases(setting, {EPOCHS: TERMINATION[EPOCHS]}, setting.seed)
        for share in SHARES:
            for case in _cases(setting, {LOSS: TERMINATION[LOSS]}, setting.seed):
                reports = f"loss:share={share:g}"
                found.append(Case(LOSS, share, replace(case.experiment, reports=reports)))
        return found

    def cause(self, done: Sequence[Done]) -> Cause:
        all_epochs = average_jct_h(next(each.result for each in done if each.case.line == EPOCHS))
        gains = {
            each.case.x: 1 - average_jct_h(each.result) / all_epochs
            for each in done
            if each.case.line == LOSS
        }
        rows = tuple(
            (f"{100 * share:.0f} %", f"{60 * share:.0f} %", f"{100 * gain:.1f} %")
            for share, gain in gains.items()
        )
        shares, lower = (", ".join(row[at] for row in rows) for at in (0, 2))
        answer = (
            "Of jobs that converge after 40 % of their epochs 60 % of the work can be saved; the average JCT "
            f"follows: it is lower by {lower} where {shares} of the jobs are such."
        )
        heads = ("jobs that converge early", "work that could be saved of all", "average JCT lower by")
        return Cause("What does the gain come from?", answer, Table(heads, rows))


@dataclass(frozen=True)
class Figure16(Page):
    """Jobs that end when their loss falls no more, against jobs that do all of their epochs."""

    title = "Loss-based termination"
    claim = "With FIFO at 7 jobs/hour, ending jobs by their loss lowers the average JCT by about 44 %."
    rule = (
        "Holds if the average JCT is lower by 34 to 54 %, ten percentage points about the paper's 44; in "
        "part if it is lower by at least 10 %; otherwise it does not hold."
    )
    differences = (
        "The paper marks a job as done when its loss is near its lowest one, which is known only when the "
        "job is over; ours ends a job when its loss has not fallen by 0.2 % in 10 epochs.",
        "Jobs are Gavel's of one GPU, as in the paper's public code; of 100 epochs each. 75 % of them are "
        "within 0.1 % of their lowest loss after 40 % of their epochs, as the paper assumes.",
    )

    probes = (ByShare(),)

    def setup(self, setting: Setting) -> str:
        return f"Gavel's jobs of one GPU, 7 an hour, on 32x4 GPUs; FIFO; window {_window(setting)}."

    def cases(self, setting: Setting) -> list[Case]:
        return _cases(setting, TERMINATION)

    def finding(self, done: Sequence[Done]) -> Finding:
        found = {line: points[7.0] for line, points in spreads(done, average_jct_h).items()}
        saved = {line: points[7.0].mean for line, points in spreads(done, _saved).items()}
        gain = 1 - found[LOSS].mean / found[EPOCHS].mean
        rows = tuple((line, jct.text(1), f"{100 * saved[line]:.0f} %") for line, jct in found.items())
        table = Table(("jobs end", "average JCT, h", "work saved"), rows)
        first = {each.case.line: each for each in reversed(done)}
        lines = tuple(cdf(line, jcts_s(first[line]) / 3600) for line in TERMINATION)
        chart = Chart("JCT (h)", "share of jobs", lines, steps=True, log_x=True)
        return Finding(table, (chart,), judge(gain))


def judge(gain: float) -> Verdict:
    """The rule; 0.44: the average JCT is lower by 44 %."""
    paper = f"the paper: {100 * PAPER:.0f} %"
    facts = f"ending jobs by their loss lowers the average JCT by {100 * gain:.1f} % ({paper})"
    if abs(gain - PAPER) <= NEAR:
        return Verdict("holds", facts)
    return Verdict("holds in part" if gain >= NEAR else "does not hold", facts)


def _cases(setting: Setting, lines: Mapping[str, str], *seeds: int) -> list[Case]:
    base = Experiment(
        workload=WORKLOAD.format(load=7), scheduler="fifo", performance="duration", window=_window(setting)
    )
    return [
        Case(line, 7.0, replace(base, termination=termination, seed=seed))
        for line, termination in lines.items()
        for seed in seeds or setting.seeds(quick=2, full=3)
    ]


def _window(setting: Setting) -> str:
    return "3000-4000" if setting.full else "300-700"


def _saved(result: Result) -> float:
    return float(result.summary.get("saved_share") or 0.0)


PAGE = Figure16()
