"""The experiments of figures 14, 15 and 21: each step changes one thing, and answers follow the numbers."""

import numpy as np
import pytest

from blox.report.choices import Reigns
from blox.reproduce import Setting, fig15, fig21, synthesis, synthesis_causes
from blox.reproduce.curves import Spread
from blox.reproduce.synthesis_causes import STEPS, Durations, Steps

NAMES = ["fifo + accept-all", "las + accept-all", "las + threshold:factor=1.2"]


def reigns(*ruling):
    """Of three combinations, one rules for each of so many hours."""
    at = np.array(ruling)
    return Reigns(NAMES, 3600.0 * np.arange(len(at)), at, np.ones((len(at), 3)), 3600.0 * len(at))


@pytest.mark.parametrize("scale", ["quick", "full"])
def test_each_step_changes_one_thing_more(scale):
    (probe,) = fig21.PAGE.probes
    cases = probe.cases(Setting(scale))
    assert [case.line for case in cases] == [synthesis.AUTO, *STEPS]
    own, jobs, look, choice = (case.experiment for case in cases)
    assert own.workload.startswith("philly") and jobs.workload == look.workload == choice.workload
    assert "arrivals=none" not in jobs.auto and "arrivals=none" in look.auto
    assert look.auto.replace("fifo,srtf,las", "fifo,las") == choice.auto != look.auto


def test_both_workloads_are_taken_through_the_steps_of_figure_15():
    probe = next(each for each in fig15.PAGE.probes if isinstance(each, Steps))
    cases = probe.cases(Setting("quick"))
    assert {case.x for case in cases} == {0.0, 1.0} and len(cases) == 2 * (1 + len(STEPS))
    assert all(("burst_factor" in case.experiment.workload) == (case.x == 1.0) for case in cases)


def test_a_run_is_summed_up_by_who_took_over_first_and_who_ruled_last():
    found = reigns(0, 2, 1, 0)
    assert synthesis_causes._course(found) == ("18.0", "LAS", "FIFO")
    assert synthesis_causes._course(reigns(0, 0)) == ("0.0", "FIFO", "FIFO")
    assert synthesis_causes._share(found, "LAS") == "50 %" and synthesis_causes._share(found, "SRTF") == ""


def test_the_best_scheduler_is_named_for_each_spread_of_durations():
    jct = {"FIFO": (5.0, 2.0), "SRTF": (3.0, 2.5), "LAS": (4.0, 9.0)}
    found = {
        f"{line}, bursty": {1.0: Spread.of([wide]), 0.25: Spread.of([narrow])}
        for line, (wide, narrow) in jct.items()
    }
    assert synthesis_causes._winners(found, "bursty", (1.0, 0.25)) == "SRTF at 1, FIFO at 0.25"


def test_durations_keep_their_load_while_they_spread_less():
    cases = Durations().cases(Setting("quick"))
    assert {case.x for case in cases} == {1.0, 0.25}
    assert all(f"duration_spread={case.x:g}" in case.experiment.workload for case in cases)
