from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from blox.experiment.settings import Experiment
from blox.report.charts import Chart
from blox.reproduce.answer import Finding, Table, Verdict
from blox.reproduce.curves import drawn, excess, means, spreads
from blox.reproduce.fig10 import SCHEDULER, SPEEDS, V100
from blox.reproduce.page import Case, Done, Page, Setting

# All of these lose when spread on V100 at 10 Gb/s, and their skew tells so.
SKEWED = ("VGG-16", "VGG-19", "AlexNet", "LSTM", "Recoder")
# These lose nothing worth mention: few parameters, much to compute.
TOLERANT = ("EDSR", "NeRF", "DnCNN")
# These lose too, and have no skew by which to tell.
NEWER = ("Resnet-18", "Transformer", "BERT")

LINES = {
    "tiresias": "Tiresias (by skew)",
    "profile": "Tiresias+ (by profile)",
    "consolidated": "all together",
}
SKEW, PROFILE = LINES["tiresias"], LINES["profile"]
PLAIN = 0.01  # differences of less are no difference


@dataclass(frozen=True)
class Figure11(Page):
    """Placement by skew against placement by profile, as more models come that lose by being spread."""

    title = "Placement by skew against placement by profile, as models change"
    claim = (
        "A placement that knows from profiles which models lose by being spread has the lowest average JCT, "
        "and its lead over Tiresias's skew-based one grows as the placement-sensitive models of the mix "
        "grow from 5 to 8 of 8."
    )
    rule = (
        "Holds if the placement by profile is never more than 1 % worse, is at least 1 % better with 8 "
        "sensitive models, and its lead never shrinks by more than 1 % of the JCT from one mix to the next; "
        "in part if it is better with 8 but one of the others is not true; otherwise it does not hold."
    )
    differences = (
        "The paper does not name its eight models, nor which of them are sensitive; ours are named in the "
        "set-up, and which of them lose by being spread follows from the model of a step of Figure 10.",
        "A profile is what that model says of a job on this cluster; the paper's policy is told which models "
        "are sensitive.",
        "Keeping every job together is drawn beside the two placements; the paper compares these alone.",
    )

    def setup(self, setting: Setting) -> str:
        return (
            f"8 jobs/hour as in the Philly trace on 32 nodes of 4 V100 at 10 Gb/s; scheduler {SCHEDULER}, "
            f"speeds by --performance {SPEEDS}; window {self._window(setting)}, "
            f"{len(self._seeds(setting))} seeds. "
            f"Eight models, equally likely: {', '.join(SKEWED)} are skewed and sensitive; "
            f"{', '.join(TOLERANT)} are neither, and give way one by one to {', '.join(NEWER)}, which are "
            "sensitive without skew. (The paper does not name its eight.)"
        )

    def cases(self, setting: Setting) -> list[Case]:
        found = []
        for placement, line in LINES.items():
            base = Experiment(
                cluster=V100, scheduler=SCHEDULER, placement=placement, performance=SPEEDS,
                window=self._window(setting),
            )  # fmt: skip
            for newer in range(len(NEWER) + 1):
                models = "+".join((*SKEWED, *NEWER[:newer], *TOLERANT[newer:]))
                workload = f"philly:load=8,models={models}"
                for seed in self._seeds(setting):
                    experiment = replace(base, workload=workload, seed=seed)
                    found.append(Case(line, float(len(SKEWED) + newer), experiment))
        return found

    def finding(self, done: Sequence[Done]) -> Finding:
        found = spreads(done)
        average = means(found)
        lead = excess(average[SKEW], average[PROFILE])
        heads = ("sensitive models", *(f"{line}, h" for line in found), "Tiresias behind Tiresias+")
        rows = tuple(
            (f"{x:g} of 8", *(points[x].text() for points in found.values()), f"{100 * gap:+.1f} %")
            for x, gap in lead.items()
        )
        chart = Chart("placement-sensitive models, of 8", "average JCT (h)", drawn(found))
        return Finding(Table(heads, rows), (chart,), judge(lead))

    def _seeds(self, setting: Setting) -> range:
        return setting.seeds(quick=2, full=5)

    def _window(self, setting: Setting) -> str:
        return "3000-4000" if setting.full else "300-700"


def judge(lead: Mapping[float, float]) -> Verdict:
    """The rule. `lead`: sensitive models -> how much worse skew is than profile, 0.1 for 10 %."""
    ordered = [lead[x] for x in sorted(lead)]
    grows = all(later >= earlier - PLAIN for earlier, later in pairwise(ordered))
    never_worse = min(ordered) >= -PLAIN
    facts = (
        f"the placement by skew is {100 * ordered[0]:+.1f} % off the one by profile with {min(lead):g} "
        f"sensitive models and {100 * ordered[-1]:+.1f} % with {max(lead):g}"
    )
    if ordered[-1] < PLAIN:
        return Verdict("does not hold", facts)
    if grows and never_worse:
        return Verdict("holds", f"{facts}, the lead grows with every mix")
    missing = [] if grows else ["the lead does not grow with every mix"]
    missing += [] if never_worse else ["the placement by profile is worse somewhere"]
    return Verdict("holds in part", f"{facts}, but {' and '.join(missing)}")


PAGE = Figure11()
