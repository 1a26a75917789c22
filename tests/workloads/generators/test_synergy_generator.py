"""Synergy's generated jobs: classes by their shares, models that have a profile."""

from collections import Counter

import pytest

from blox.errors import BloxError
from blox.profiles.synergy import surfaces
from blox.workloads.generators.synergy import CLASSES, Synergy
from blox.workloads.spec import workload_rng


def models(**options):
    (table,) = [next(iter(Synergy(jobs=6000, **options).batches(workload_rng(1))))]
    return Counter(table.columns["model"].tolist()), len(table)


def test_classes_have_their_shares_and_models_are_alike_within_one():
    found, count = models()
    for share, names in zip((20, 70, 10), CLASSES):
        for name in names:
            assert found[name] / count == pytest.approx(share / 100 / len(names), abs=0.02)


def test_every_model_has_a_profile():
    assert {name for names in CLASSES for name in names} <= surfaces().keys()


def test_a_class_may_be_left_out():
    found, _ = models(split=(50, 0, 50))
    assert not set(found) & set(CLASSES[1]) and set(found) == {*CLASSES[0], *CLASSES[2]}


def test_shares_that_are_none_are_told():
    with pytest.raises(BloxError, match=r"20\+70"):
        Synergy(split=(20, 70))
