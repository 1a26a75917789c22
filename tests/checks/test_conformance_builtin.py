"""Every policy that ships conforms to the contract, with its defaults and with every option that matters."""

import pytest

from blox.checks import check
from blox.checks.find import registered

VARIANTS = [
    ("admission", "threshold:factor=0.5"),
    ("admission", "threshold:factor=1.2,overshoot=true"),
    ("admission", "quota:user_jobs=1"),
    ("admission", "quota:user_gpus=4"),
    ("admission", "quota:tenant_jobs=2,tenant_gpus=8"),
    ("admission", "quota:type_jobs=3,type_gpus=8"),
    ("admission", "quota:most_gpus=2"),
    ("scheduling", "fifo:strict=false"),
    ("scheduling", "fifo:strict=true,preempt=true"),
    ("scheduling", "fifo-priority:strict=true"),
    ("scheduling", "fifo-priority:preempt=false"),
    ("scheduling", "srtf:by=gpu-time"),
    ("scheduling", "srtf:by=wall,strict=true"),
    ("scheduling", "las:by=time"),
    ("scheduling", "las:strict=true"),
    ("scheduling", "sjf:preempt=true"),
    ("scheduling", "promote:policy=las,after_s=1500,lag_s=300"),
    ("placement", "consolidated:fallback=spread"),
    ("placement", "scattered:fixed=true"),
]


@pytest.mark.parametrize(("kind", "spec"), [*registered()[0], *VARIANTS], ids=lambda text: text)
def test_every_policy_conforms(kind, spec):
    report = check(spec, kind)
    assert report.ok, report


def test_every_rule_is_stated_and_kept():
    report = check("las")
    assert report.kind == "scheduling"
    assert [finding.mark for finding in report.findings] == ["✓"] * len(report.findings)
    assert str(report).startswith("scheduling policy las: conforms\n  ✓ is a frozen dataclass")


def test_a_policy_object_and_a_class_can_be_checked_too():
    from blox.placement.consolidated import Consolidated

    assert check(Consolidated("spread")).kind == "placement"
    assert check(Consolidated).ok
