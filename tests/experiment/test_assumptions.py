"""What a run says of metrics that its policies read and no job reports."""

from __future__ import annotations

import pytest

from blox import Experiment
from blox.state.plan import NO_ROWS


class Reads:
    """Reads a metric without saying so."""

    def terminate(self, job_state, cluster_state):
        job_state.metric("gradient_norm")
        return NO_ROWS


@pytest.fixture
def told(tmp_path):
    def run(reports, termination):
        curves = tmp_path / "curves.csv"
        curves.write_text("job_id,epoch,loss\nnone such,1,2.0\nnone such,2,1.0\n")
        settings = {"reports": reports.format(curves), "termination": termination}
        result = Experiment(workload="philly:load=4,jobs=5,max_gpus=8", cluster="1x8", **settings).run()
        return [text for text in result.experiment["provenance"].get("assumed", []) if "metric" in text]

    return run


def test_a_metric_that_a_policy_reads_and_no_job_reports_is_named(told):
    assert told("none", Reads()) == [
        "a policy reads the metric 'gradient_norm', which no job has reported: nan throughout (--reports)"
    ]


def test_so_are_curves_that_belong_to_no_job(told):
    assert [text.split("'")[1] for text in told("loss-file:path={}", "loss")] == ["loss"]


def test_nothing_is_said_of_metrics_that_are_reported(told):
    assert told("loss", "loss") == []
