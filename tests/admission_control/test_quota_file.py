"""Quotas of a file by hand: tenants, users, job types, GPU types, and bursts above them."""

import pytest

from blox import BloxError, Experiment
from blox.registry import build

HEAD = "job_id,submit_s,gpus,duration_s,tenant,user,job_type,gpu_types\n"


def starts(tmp_path, quotas, lines, cluster="1x16", **settings):
    (tmp_path / "quota.toml").write_text(quotas)
    (tmp_path / "t.csv").write_text(HEAD + "\n".join(lines))
    result = Experiment(
        workload=str(tmp_path / "t.csv"), cluster=cluster, clock="events", performance="duration",
        admission=f"quota:{tmp_path / 'quota.toml'}", **settings,
    ).run()  # fmt: skip
    return result.jobs["first_start_s"].tolist(), result


def test_a_tenant_has_its_gpus_and_another_has_none_of_it(tmp_path):
    """vision may have 4 GPUs: c waits for a. speech has no quota."""
    lines = ["a,0,2,100,vision,,,", "b,0,2,200,vision,,,", "c,0,2,50,vision,,,", "d,0,8,50,speech,,,"]
    found, result = starts(tmp_path, "[[quota]]\ntenant = 'vision'\ngpus = 4\n", lines)
    assert found == [0, 0, 100, 0]
    assert result.reasons["because"].tolist() == [
        "the quota of tenant vision had as many GPUs admitted as it allows"
    ]


def test_every_user_by_itself(tmp_path):
    lines = ["a,0,1,100,,ann,,", "b,0,1,100,,ann,,", "c,0,1,100,,bob,,"]
    assert starts(tmp_path, "[[quota]]\nuser = '*'\njobs = 1\n", lines)[0] == [0, 100, 0]


def test_a_job_type_of_a_tenant(tmp_path):
    """Both must match: training of vision is limited, and nothing else."""
    quota = "[[quota]]\ntenant = 'vision'\njob_type = 'training'\njobs = 1\n"
    lines = ["a,0,1,100,vision,,training,", "b,0,1,100,vision,,training,", "c,0,1,100,vision,,notebook,"]
    assert starts(tmp_path, quota, lines)[0] == [0, 100, 0]


def test_a_gpu_type(tmp_path):
    """Two h100s at most for jobs that are bound to them; one that may use either counts too."""
    quota = "[[quota]]\ntenant = 'x'\ngpu_type = 'h100'\ngpus = 2\n"
    lines = ["a,0,2,100,x,,,h100", "b,0,1,50,x,,,h100|a100", "c,0,1,50,x,,,a100"]
    assert starts(tmp_path, quota, lines, cluster="h100=1x8,a100=1x8")[0] == [0, 100, 0]


def test_a_job_above_a_quota_alone_enters_when_nothing_else_is_there(tmp_path):
    lines = ["a,0,1,100,x,,,", "b,0,8,100,x,,,"]
    assert starts(tmp_path, "[[quota]]\ntenant = 'x'\ngpus = 4\n", lines)[0] == [0, 100]


def test_one_file_may_have_quotas_and_weights(tmp_path):
    """On 3 GPUs, x counts twice and has two of them, y one. The third of x waits for its quota."""
    quota = "[[quota]]\ntenant = 'x'\ngpus = 2\n\n[weights]\nx = 2\n"
    lines = [f"{job},0,1,100,{tenant},,," for job, tenant in zip("abcdef", "yyxxxy")]
    weighted = {"cluster": "1x3", "scheduler": f"drf:weights={tmp_path / 'quota.toml'}"}
    found, result = starts(tmp_path, quota, lines, **weighted)
    assert found == [0, 100, 0, 0, 100, 100]
    assert (
        "the quota of tenant x had as many GPUs admitted as it allows" in result.reasons["because"].tolist()
    )


BURST = "[[quota]]\ntenant = 'x'\ngpus = 2\nburst = {gpus = 2, hours = 4, per = '40h'}\n"
H = 3600


def test_a_burst_goes_above_the_quota_until_it_is_used_up(tmp_path):
    """Two GPUs above for 4 GPU-hours, 0.1 of which comes back per hour.

    a has the quota. b bursts with 2 GPUs from 0 to 1 h, which takes 2 of the 4 GPU-hours, less 0.1. c would
    burst again and is let in at 1 h: 2.1 are left, and 2 are needed. It runs to 2 h; 0.2 are left then. d
    needs 2 for its hour and waits until a ends at 10 h, within the quota then.
    """
    lines = [f"a,0,2,{10 * H},x,,,", f"b,0,2,{H},x,,,", f"c,0,2,{H},x,,,", f"d,0,2,{H},x,,,"]
    assert starts(tmp_path, BURST, lines)[0] == [0, 0, H, 10 * H]


def test_no_burst_is_wider_than_its_gpus(tmp_path):
    lines = [f"a,0,2,{H},x,,,", f"b,0,3,{H},x,,,"]
    assert starts(tmp_path, BURST, lines)[0] == [0, H], "three above two is more than two above"


def test_an_empty_burst_fills_up_again(tmp_path):
    """With 2 hours in all and 0.05 back per hour, b leaves 0.05 at 1 h.

    c needs 2 for its hour, the whole burst: that is there again 39 h later, at 40 h, while a still runs.
    """
    quota = BURST.replace("hours = 4", "hours = 2")
    lines = [f"a,0,2,{100 * H},x,,,", f"b,0,2,{H},x,,,", f"c,{2 * H},2,{H},x,,,"]
    found, _ = starts(tmp_path, quota, lines)
    assert found[:2] == [0, 0] and found[2] == pytest.approx(40 * H, abs=2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no quotas"),
        ("[[quota]]\ngpus = 3\n", "whom it is about"),
        ("[[quota]]\ntenant = 'x'\n", "it limits nothing"),
        ("[[quota]]\ntenant = 'x'\ngpu = 3\n", "no setting is called 'gpu'"),
        ("[[quota]]\ntenant = 'x'\ngpus = -3\n", "gpus is -3"),
        ("[[quota]]\ntenant = 'x'\ngpus = 3\nburst = 3\n", "burst is 3"),
        ("[[quota]]\ntenant = 'x'\ngpus = 3\nburst = {gpus = 1, hours = 0}\n", "hours is 0"),
        ("[[quota]]\ntenant = 'x'\njobs = 3\nburst = {gpus = 1, hours = 1}\n", "without a limit of GPUs"),
        ("[[quota]]\ngpu_type = '*'\njobs = 3\n", "gpu_type is '*'"),
    ],
)
def test_a_file_that_cannot_be_is_told(text, words, tmp_path):
    (tmp_path / "q.toml").write_text(text)
    with pytest.raises(BloxError) as told:
        build("admission", f"quota:{tmp_path / 'q.toml'}")
    assert words in told.value.text()


def test_a_file_and_others_beside_it_are_refused(tmp_path):
    (tmp_path / "q.toml").write_text(BURST)
    with pytest.raises(BloxError, match="write them all in the file"):
        build("admission", f"quota:{tmp_path / 'q.toml'},user_jobs=3")


def test_a_burst_that_comes_back_is_no_later_where_every_round_is_executed(tmp_path):
    """c waits until an hour has come back in 7 days. Asked in every round, that summed up to a bit less."""
    (tmp_path / "quota.toml").write_text(
        "[[quota]]\ntenant = 'v'\ngpus = 1\nburst = {gpus = 1, hours = 1, per = '7d'}\n"
    )
    (tmp_path / "t.csv").write_text(HEAD + "a,0,1,900000,v,,,\nb,0,1,7200,v,,,\nc,300,1,600,v,,,\n")
    experiment = Experiment(
        workload=str(tmp_path / "t.csv"), cluster="1x4", admission=f"quota:{tmp_path / 'quota.toml'}"
    )
    for skip in (True, False):
        assert experiment.run(skip=skip).jobs["first_start_s"].tolist() == [0, 0, 7200 + 7 * 86400]
