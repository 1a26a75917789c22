"""Hand-computed allocations, which optimum is taken, and that neither kinds, order nor solver matter."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blox.errors import BloxError
from blox.schedulers.gavel.policies.by_name import original, policy
from blox.schedulers.gavel.problem import Pairs, Problem
from blox.schedulers.gavel.solver.interior import centre
from blox.schedulers.gavel.solver.program import program
from blox.schedulers.gavel.solver.vertex import Vertex
from support.examples import examples
from support.gavel_problems import check, problem

TWO = ("k80", "v100")


def levels(asked, allocation):
    return asked.width / asked.weight * allocation.throughputs(asked) / asked.proportional


def test_two_jobs_by_hand():
    """One is four times as fast on a V100, to the other all types are alike: each goes where it does most."""
    asked = Problem(TWO, [1, 1], [[1, 4], [1, 1]])
    found = policy("max_min_fairness_perf").allocate(asked)
    assert found.fractions == pytest.approx(np.array([[0, 1], [1, 0]]), abs=1e-9)
    assert found.objective == pytest.approx(1.0)  # the second job: 1 step/s, and 1 on average over all GPUs
    assert levels(asked, found) == pytest.approx([1.6, 1.0])


def test_weights_and_widths_by_hand():
    """A pool of three GPUs: a job of weight 2 gets twice the time; a job of two GPUs half the time of one."""
    asked = Problem(("v100",), [2], [[1], [1], [1]], weight=np.array([2, 1, 1]))
    assert policy("max_min_fairness_perf").allocate(asked).fractions.ravel() == pytest.approx([1, 0.5, 0.5])
    asked = Problem(("v100",), [2], [[1], [1], [1]], width=np.array([2, 1, 1]))
    assert policy("max_min_fairness_perf").allocate(asked).fractions.ravel() == pytest.approx(
        [1 / 3, 2 / 3, 2 / 3]
    )


def test_makespan_by_hand():
    """30 and 10 steps at 1 step/s on one GPU take 40 s, three quarters of the time for the first."""
    asked = Problem(("v100",), [1], [[1], [1]], remaining_steps=np.array([30, 10]))
    found = policy("min_total_duration_perf").allocate(asked)
    assert found.objective == pytest.approx(40)
    assert found.fractions.ravel() == pytest.approx([0.75, 0.25])


def test_finish_time_fairness_by_hand():
    """Alone each job would have half a GPU; the one that has waited longer gets more."""
    asked = Problem(
        ("v100",), [1], [[1], [1]], remaining_steps=np.array([10, 10]), elapsed_s=np.array([10, 0])
    )
    found = policy("finish_time_fairness_perf").allocate(asked)
    speed = found.throughputs(asked)
    assert speed.sum() == pytest.approx(1)
    rho = (asked.elapsed_s + 10 / speed) / 20
    assert rho[0] == pytest.approx(rho[1]) == pytest.approx(found.objective)


def test_water_filling_raises_those_who_can_be_raised():
    asked = problem([[1, 1, 1], [1, 1, 1], [4, 4, 4]], [0, 1, 2], width=[1, 1, 1], weight=[4, 1, 1])
    found = policy("max_min_fairness_water_filling_perf").allocate(asked)
    assert found.throughputs(asked) / asked.proportional == pytest.approx([1, 1, 1])


def test_entities_share_by_weight_and_the_oldest_goes_first_inside():
    asked = Problem(("v100",), [1], [[1]] * 4, entity=np.array([0, 0, 1, 1]))
    chosen = policy(
        "max_min_fairness_water_filling_perf", entity_weights=(1.0, 3.0), inside=("fairness", "fifo")
    )
    assert chosen.allocate(asked).fractions.ravel() == pytest.approx([0.125, 0.125, 0.75, 0], abs=1e-9)
    with pytest.raises(BloxError, match="is of entity 1"):
        policy("max_min_fairness_water_filling_perf", entity_weights=(1.0,)).allocate(asked)


def test_slos_are_held_or_reported_and_relaxed():
    asked = Problem(TWO, [1, 1], [[1, 4], [1, 3]], remaining_steps=[100, 100], slo_s=[np.inf, 40])
    name = "max_sum_throughput_normalized_by_cost_perf_SLOs"
    held = policy(name).allocate(asked)
    assert held.relaxed == () and held.throughputs(asked)[1] >= 2.5 - 1e-9
    both = replace(asked, slo_s=np.array([30.0, 40.0]))  # 3.33 and 2.5 steps/s: one V100 is not enough
    dropped = policy(name).allocate(both)
    assert dropped.relaxed == (0, 1)
    assert dropped.objective == pytest.approx(policy(name.removesuffix("_SLOs")).allocate(both).objective)
    scaled = policy(name, relax="scale").allocate(both)
    assert scaled.relaxed == (0, 1)
    part = scaled.throughputs(both) / np.array([100 / 30, 100 / 40])
    assert 0.5 < part.min() < 1


def test_shortest_first_and_oldest_first():
    asked = Problem(TWO, [1, 1], [[1, 4], [1, 4], [1, 4]], remaining_steps=np.array([30, 10, 20]))
    assert policy("sjf_perf").allocate(asked).fractions.tolist() == [[0, 0], [0, 1], [1, 0]]
    assert policy("fifo_perf").allocate(asked).fractions.tolist() == [[0, 1], [1, 0], [0, 0]]


def test_fifo_never_gives_more_than_there_is_unless_told_to():
    speeds, memory = np.ones((8, 3)), {}
    asked = problem(speeds, [2, 2, 2], width=[2, 1, 2, 1, 1, 1, 1, 1])
    check(asked, policy("fifo").allocate(asked, memory))
    assert policy("fifo").allocate(asked, memory).fractions.sum() == len(memory["held"])
    over = original("fifo").allocate(asked)
    assert (asked.width @ over.fractions > asked.gpus).any()


def test_the_fairest_optimum_and_the_others():
    """Three levels: only `fairest` takes the highest second and third."""
    asked = problem([[1, 1, 1], [1, 2, 3], [1, 5, 9]], [1, 1, 1], weight=[9, 1, 1])
    answers = {
        c: policy("max_min_fairness_perf", choice=c).allocate(asked) for c in ("fairest", "centre", "any")
    }
    sorted_levels = {choice: np.sort(levels(asked, found)) for choice, found in answers.items()}
    for choice, found in answers.items():
        check(asked, found)
        assert sorted_levels[choice][0] == pytest.approx(sorted_levels["fairest"][0])
        assert tuple(sorted_levels["fairest"].round(6)) >= tuple(sorted_levels[choice].round(6))


@pytest.mark.parametrize("name", ["max_min_fairness_perf", "max_min_fairness_packed"])
def test_the_centre_is_a_property_of_the_problem(name):
    """Neither gathering jobs into kinds nor their order moves it, though there are many optima."""
    numbers = np.random.default_rng(5)
    kind = numbers.integers(3, size=12)
    speeds = numbers.uniform(1, 9, (3, 3))
    beside = speeds[:, None, :] * numbers.uniform(0.4, 0.9, (3, 3, 1))
    asked = Problem(("k80", "p100", "v100"), [9, 6, 8], speeds[kind], pairs=Pairs(kind, beside))
    apart = replace(asked, pairs=Pairs(np.arange(12), beside[np.ix_(kind, kind)]))
    turned = replace(asked, throughput=speeds[kind][::-1], pairs=Pairs(kind[::-1], beside))
    chosen = policy(name, choice="centre")
    found = [chosen.allocate(each) for each in (asked, apart, turned)]
    parts = [_by_job(each, 12) for each in found]
    assert parts[1] == pytest.approx(parts[0], abs=2e-3)
    assert parts[2][::-1] == pytest.approx(parts[0], abs=2e-3)
    assert np.abs(_by_job(policy(name, choice="any").allocate(asked), 12) - parts[0]).max() > 0.1


def _by_job(allocation, count):
    """Time of each job on each type, shared or not."""
    found = np.zeros((count, allocation.fractions.shape[1]))
    for column in allocation.members.T:
        np.add.at(found, column[column >= 0], allocation.fractions[column >= 0])
    return found


@st.composite
def problems(draw):
    count = draw(st.integers(1, 9))
    numbers = np.random.default_rng(draw(st.integers(0, 10**6)))
    kinds = numbers.integers(1, 4)
    kind = numbers.integers(kinds, size=count)
    width = np.array([1.0, 1.0, 2.0])[kind]
    speeds = numbers.choice([0.0, 1.0, 2.0, 3.5, 8.0], size=(kinds, 3)) + numbers.choice([0.0, 0.5])
    speeds[:, 1] = np.maximum(speeds[:, 1], 0.5)
    beside = speeds[:, None, :] * numbers.uniform(0, 1, (kinds, kinds, 3))
    return Problem(
        ("k80", "p100", "v100"),
        numbers.integers(2, 6, 3),
        speeds[kind],
        width=width,
        weight=numbers.choice([1.0, 5.0], kinds)[kind],
        remaining_steps=numbers.uniform(1, 1000, count),
        elapsed_s=numbers.uniform(0, 100, count),
        pairs=Pairs(kind, beside),
    )


@examples(60)
@given(asked=problems(), packed=st.booleans())
def test_both_solvers_agree(asked, packed):
    found = program(asked, asked.throughput, rise=asked.proportional / asked.width, packed=packed)
    corner = Vertex(found)(found.rise, found.floor)
    inside = centre(found)
    assert inside.t == pytest.approx(corner.t, rel=1e-6)


@examples(40)
@given(
    asked=problems(), name=st.sampled_from(["max_min_fairness", "min_total_duration", "finish_time_fairness"])
)
def test_what_is_promised_holds_on_any_problem(asked, name):
    """Sharing never hurts the objective, kinds change nothing, and the order of jobs changes nothing."""
    better = (
        (lambda a, b: a >= b * (1 - 1e-6))
        if name == "max_min_fairness"
        else (lambda a, b: a <= b * (1 + 1e-6))
    )
    alone, packed = policy(f"{name}_perf").allocate(asked), policy(f"{name}_packed").allocate(asked)
    check(asked, alone)
    check(asked, packed)
    assert better(packed.objective, alone.objective)
    apart = Pairs(
        np.arange(len(asked.jobs)), asked.pairs.throughput[np.ix_(asked.pairs.kind, asked.pairs.kind)]
    )
    by_job = policy(f"{name}_packed").allocate(replace(asked, pairs=apart))
    assert by_job.objective == pytest.approx(packed.objective, rel=1e-6)
    turned = {
        field: getattr(asked, field)[::-1].copy()
        for field in ("throughput", "width", "weight", "remaining_steps", "elapsed_s")
    }
    back = policy(f"{name}_perf").allocate(replace(asked, **turned))
    assert back.objective == pytest.approx(alone.objective, rel=1e-6)


def test_the_same_problem_has_the_same_answer_to_the_bit():
    asked = problem(np.random.default_rng(1).uniform(1, 9, (20, 3)), [3, 2, 4])
    for name in ("max_min_fairness_perf", "max_min_fairness_packed", "finish_time_fairness_perf"):
        for choice in ("fairest", "centre"):
            chosen = policy(name, choice=choice)
            first, again = chosen.allocate(asked), chosen.allocate(asked)
            assert first.fractions.tobytes() == again.fractions.tobytes()


def test_few_partners_give_everybody_the_same_as_all():
    kind = np.repeat([0, 1], [6, 4])
    speeds = np.array([[2.0, 3.0, 4.0], [1.0, 3.0, 9.0]])
    beside = speeds[:, None, :] * np.array([[0.9, 0.8], [0.9, 0.5]])[:, :, None]
    asked = Problem(("k80", "p100", "v100"), [1, 1, 1], speeds[kind], pairs=Pairs(kind, beside))
    every = policy("max_min_fairness_packed").allocate(asked)
    few = policy("max_min_fairness_packed", partners="few").allocate(asked)
    check(asked, few)
    assert few.throughputs(asked) == pytest.approx(every.throughputs(asked))
    assert len(few.members) < len(every.members)


def test_who_misstates_nothing_keeps_most(monkeypatch):
    """Strategy-proof: the discount is what a job's presence leaves to the others, at most all."""
    asked = problem([[1, 2, 3], [1, 1, 1], [3, 2, 3], [1, 5, 9]], [1, 1, 1])
    found = policy("max_min_fairness_strategy_proof_perf").allocate(asked)
    check(asked, found)
    assert ((found.discount > 1 / np.e) & (found.discount <= 1 + 1e-6)).all()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("highspy", "max_min_fairness_perf"),
        ("scipy.linalg", "max_min_fairness_strategy_proof"),
        ("scipy.optimize", "allox"),
    ],
)
def test_without_the_solver_it_is_said_how_to_install_it(module, name, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(BloxError, match=r"pip install 'blox\[optimise\]'"):
        policy(name).allocate(problem([[1, 2, 3]], [1, 1, 1]))


@pytest.mark.parametrize("gpus", [320, 100])
def test_water_filling_is_exact_for_hundreds_of_unlike_jobs(gpus):
    """No job can be raised but at the cost of one that has no more than it."""
    numbers = np.random.default_rng(2)
    asked = Problem(("k80", "v100"), [gpus, gpus / 2], numbers.uniform(1, 9, (320, 2)))
    found = policy("max_min_fairness_water_filling_perf").allocate(asked)
    check(asked, found)
    reached = found.throughputs(asked) / asked.proportional
    order = np.argsort(reached)
    for job in order[[0, 100, 200, 319]]:
        floor = np.where(reached <= reached[job] + 1e-6, reached, 0.0) * asked.proportional * (1 - 1e-7)
        alone = np.zeros(320)
        alone[job] = asked.proportional[job]
        raised = program(asked, asked.throughput, rise=alone, floor=floor, label=np.arange(320))
        assert Vertex(raised)(raised.rise, raised.floor).t == pytest.approx(0, abs=1e-4)


def test_the_centre_of_water_filling_has_the_same_levels():
    asked = problem(np.random.default_rng(3).uniform(1, 9, (12, 3)), [3, 4, 5], weight=[1, 5] * 6)
    levelled = policy("max_min_fairness_water_filling_perf").allocate(asked)
    centred = policy("max_min_fairness_water_filling_perf", choice="centre").allocate(asked)
    check(asked, centred)
    assert centred.objective == levelled.objective
    assert levels(asked, centred) == pytest.approx(levels(asked, levelled), rel=2e-5)
