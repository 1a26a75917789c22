"""What settings and runs are called: short, and different where they differ."""

import pytest

from blox.results.names import short_names


@pytest.mark.parametrize(
    ("specs", "names"),
    [
        (["fifo", "las:by=time"], ["fifo", "las:by=time"]),
        (["./ageing.py:Ageing"], ["Ageing"]),
        (["/home/ann/ageing.py:Ageing:half_life_s=3600"], ["Ageing:half_life_s=3600"]),
        (["./a.py:Mine:first=1000,second=2000,third=3000"], ["Mine"]),
        (["./a.py:Mine", "./b.py:Mine"], ["a:Mine", "b:Mine"]),
        (["./x/a.py:Mine", "./y/a.py:Mine"], ["./x/a.py:Mine", "./y/a.py:Mine"]),
        (["./a.py:Mine", "./a.py:Mine:rate=2"], ["Mine", "Mine:rate=2"]),
        (["pollux:p=-1.0,seed=4", "pollux:p=-2.0,seed=4"], ["pollux:p=-1.0", "pollux:p=-2.0"]),
        (
            ["gavel:policy=fifo", "gavel:policy=allox", "las"],
            ["gavel:policy=fifo", "gavel:policy=allox", "las"],
        ),
        (["philly:load=8", "philly:load=10"], ["philly:load=8", "philly:load=10"]),
        (["/data/philly/cluster_job_log?tenant=ee9e8c&jobs=5000"], ["cluster_job_log"]),
        (["philly:/data/cluster_job_log"], ["cluster_job_log"]),
        (
            ["helios:/d/venus/cluster_log.csv", "helios:/d/earth/cluster_log.csv"],
            ["venus/cluster_log", "earth/cluster_log"],
        ),
        (["trace.csv.gz?scale=0.5", "trace.csv.gz?scale=0.25"], ["trace?scale=0.5", "trace?scale=0.25"]),
        (["trace.csv?jobs=9&scale=0.5", "trace.csv?jobs=9"], ["trace?scale=0.5", "trace"]),
        (["32x4", "v100=9x4,p100=9x4", "16x8:cpu=24"], ["32x4", "v100=9x4,p100=9x4", "16x8:cpu=24"]),
        (["examples/cluster.toml"], ["cluster"]),
        (["tiresias:cluster.csv"], ["cluster"]),
        (["elastic:of=philly:load=8;jobs=500", "elastic"], ["elastic:of=philly:load=8;jobs=500", "elastic"]),
        (["fifo", "fifo"], ["fifo", "fifo"]),
        (["a b", "a  b"], ["a b", "a  b"]),
        ([""], [""]),
    ],
)
def test_names_are_short_and_tell_apart(specs, names):
    assert short_names(specs) == names
