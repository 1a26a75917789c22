"""`depth`: only so many waiting jobs are looked at, in every round anew."""

import pytest

from blox import Experiment


@pytest.mark.parametrize("placement", ["first-free", "consolidated"])
@pytest.mark.parametrize(("clock", "next_s"), [("rounds", 300), ("events:quantum_s=2", 2)])
@pytest.mark.parametrize("kind", ["easy", "conservative"])
def test_those_behind_are_looked_at_when_others_have_started(kind, clock, next_s, placement, tmp_path):
    """Four jobs find four free GPUs, two at a time. Two waited to the end of the others, GPUs free beside."""
    rows = [f"{name},0,1,3000" for name in "abcd"]
    (tmp_path / "t.csv").write_text("\n".join(("job_id,submit_s,gpus,duration_s", *rows)))
    experiment = Experiment(
        workload=str(tmp_path / "t.csv"), cluster="1x4", placement=placement, clock=clock,
        scheduler=f"backfill:kind={kind},depth=2",
    )  # fmt: skip
    for skip in (True, False):
        assert experiment.run(skip=skip).jobs["first_start_s"].tolist() == [0, 0, next_s, next_s]
