"""OPT's program: the best choice that pools allow, and what is said when there is no time to find it."""

import itertools

import pytest

from blox.placement.synergy.program import Choice, best_points
from blox.profiles.synergy import surfaces
from support.linear_bound import linear_bound

pytest.importorskip("highspy")
FAIR = (3.0, 62.5)


def jobs(*models, gpus=1):
    return [Choice.of(surfaces().get(model), FAIR, ((0, gpus),)) for model in models]


def test_it_equals_trying_all():
    choices = jobs("alexnet", "m5", "gnmt", "unheard-of")
    cpu, memory = 12.0, 250.0
    best = max(
        sum(point[2] for point in way)
        for way in itertools.product(*(choice.points for choice in choices))
        if sum(point[0] for point in way) <= cpu and sum(point[1] for point in way) <= memory
    )
    found = best_points(choices, [cpu], [memory])
    assert found.objective == pytest.approx(best) and found.gap == pytest.approx(0.0, abs=1e-9)
    assert linear_bound(choices, [1.0] * 4, [cpu], [memory]) >= best - 1e-9


def test_without_time_everybody_has_a_sure_point_and_the_gap_says_so():
    choices = jobs(*("alexnet", "m5", "shufflenet", "res18", "mobilenet", "gnmt") * 40)
    cpu, memory = 3.0 * len(choices), 62.5 * len(choices)
    found = best_points(choices, [cpu], [memory], time_limit_s=1e-9)
    assert found.gap > 0
    assert all(point[2] >= 1 - 1e-9 for point in found.points)
    assert sum(point[0] for point in found.points) <= cpu
    assert sum(point[1] for point in found.points) <= memory
