"""Models of workloads, GPU types of clusters and the table of throughputs, brought together."""

from __future__ import annotations

import json

import pytest

from blox.errors import BloxError
from blox.performance.by_throughput import ByThroughput
from blox.performance.job_speeds import job_speeds
from blox.performance.throughputs import throughputs

TYPES = ("v100", "p100", "k80")


def alone(model, batch=0, gpus=1, types=TYPES):
    known = job_speeds("", types)
    return known.alone(known.kind(model, batch, gpus))


def test_a_job_type_by_its_whole_name():
    rates = throughputs().alone["LM (batch size 80)", 4]
    assert alone("LM (batch size 80)", gpus=4) == (rates[2], rates[1], rates[0])


def test_a_model_by_its_plain_name_and_the_nearest_batch_size():
    assert alone("LSTM", batch=80) == alone("LM (batch size 80)")
    assert alone("LSTM", batch=70) == alone("LM (batch size 80)")
    assert alone("lstm") == alone("LM (batch size 20)")  # the middle one of 5, 10, 20, 40, 80
    assert alone("Recoder", batch=512) == alone("Recommendation (batch size 512)")
    assert alone("CycleGan") == alone("CycleGAN")


def test_between_the_measured_numbers_of_gpus_the_next_smaller_one_counts_in_proportion():
    four, six = alone("ResNet-50 (batch size 64)", gpus=4), alone("ResNet-50 (batch size 64)", gpus=6)
    assert six == pytest.approx([1.5 * rate for rate in four])
    known = job_speeds("", TYPES)
    sixteen = known.kind("A3C", 0, 16)
    assert known.alone(sixteen)[0] / known.base(sixteen) == 1.0


def test_an_unknown_model_goes_by_the_generation_of_the_gpus():
    assert alone("NeRF", types=("v100", "p100", "k80", "a100-80gb", "gpu")) == pytest.approx(
        (1.0, 0.6, 0.17, 2.1, 1.0)
    )


def test_a_type_that_was_not_measured_goes_by_its_generation():
    v100 = alone("A3C", types=("v100",))[0]
    assert alone("A3C", types=("a100", "v100-32gb", "gpu")) == pytest.approx((2.1 * v100, v100, v100))


def test_durations_hold_for_the_reference_or_else_for_the_fastest_type(tmp_path):
    table = {"v100": {"('a', 1)": {"null": 0.0}}, "k80": {"('a', 1)": {"null": 2.0}}}
    path = tmp_path / "table.json"
    path.write_text(json.dumps(table))
    known = job_speeds(str(path), ("v100", "k80"))
    kind = known.kind("a", 0, 1)
    assert known.alone(kind) == (0.0, 2.0) and known.base(kind) == 2.0
    with pytest.raises(BloxError, match="no throughputs on GPUs of type 'h100'"):
        ByThroughput(reference="h100")


def test_pairs_that_were_not_measured_cannot_share():
    known = job_speeds("", TYPES)
    resnet, a3c = known.kind("ResNet-18 (batch size 16)", 0, 1), known.kind("A3C", 0, 1)
    assert all(0 < shared <= own for shared, own in zip(known.beside(resnet, a3c), known.alone(resnet)))
    wide, stranger = known.kind("ResNet-18 (batch size 16)", 0, 2), known.kind("NeRF", 0, 1)
    assert known.beside(wide, wide) == known.beside(resnet, stranger) == (0.0, 0.0, 0.0)
