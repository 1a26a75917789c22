"""docs/cluster.md, followed: from nothing to a policy of one's own that rules four machines.

The machines are processes of this one: 10.0.0.N becomes 127.0.0.1, and GPUs are slots.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from blox.cluster import Client
from support.places import ROOT
from support.real_cluster import processes_under
from support.waiting import PATIENCE_S, eventually

pytestmark = pytest.mark.slow
PAGE = (ROOT / "docs" / "cluster.md").read_text()


def section(heading):
    begin = PAGE.index(f"\n## {heading}\n")
    return PAGE[begin : PAGE.index("\n## ", begin + 4)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where a reader stands: the examples, the policy of the page, and a cluster that is taken down again."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    code = re.search(r"as `short_first\.py`:\n\n```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1]
    (tmp_path / "short_first.py").write_text(code)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("BLOX_CLUSTER", str(tmp_path / "cluster"))
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    subprocess.run(["blox", "down"], check=False, capture_output=True)
    assert eventually(lambda: not processes_under(tmp_path)), processes_under(tmp_path)


def typed(command):
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=2 * PATIENCE_S)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("heading", ["On one machine", "A policy of your own"])
def test_one_machine_can_be_followed(folder, heading):
    """Jobs are given no time to finish between two commands; `logs -f` waits for its job."""
    quicker = {"--epochs 3": "--epochs 1", "--scheduler las": "--scheduler las --round 1"}
    commands = re.findall(r"^\$ (blox .*)$", section(heading), re.MULTILINE)
    assert len(commands) > 7
    for command in commands:
        for words, others in quicker.items():
            command = command.replace(words, others)
        if command == "blox cancel 1":  # it has finished, for `logs -f` has waited for it
            continue
        typed(command)


def test_four_machines_can_be_followed(folder):
    """A policy of one's own rules a job of eight ranks on four nodes; one node is drained, and one killed."""
    text = section("On four machines").replace("/shared/blox", os.environ["BLOX_CLUSTER"])
    text = re.sub(r"10\.0\.0\.\d", "127.0.0.1", text).replace(":7070", "")
    text = text.replace("training/ddp.py", "cluster/gang.py --epochs 2000 --iteration-s 0.05")
    up, *joins = re.findall(r"^machine-1\$ (blox up .*)$|^(machine-\d)\$ (blox join .*)$", text, re.MULTILINE)
    typed(f"{up[0]} --round 0.5 --heartbeat 0.25 --lease 25 --grace 8")
    nodes = {
        name: subprocess.Popen([*command.split(), "--name", name, "--gpus", "4"])
        for _, name, command in joins
    }
    try:
        rule(text, nodes)
    finally:
        for process in nodes.values():
            process.terminate()
        for process in nodes.values():
            process.wait(PATIENCE_S)


def rule(text, nodes):
    show, submit, drain = re.findall(r"^machine-3\$ (blox (?!join).*)$", text, re.MULTILINE)
    cluster = Client(patience_s=PATIENCE_S)
    assert eventually(lambda: len(json.loads(typed(f"{show} --json"))) == 4)
    assert "ShortFirst" in cluster.policies().scheduler
    job = int(typed(submit).split()[-1])
    assert eventually(lambda: cluster.job(job).iteration > 3)
    spread = cluster.job(job).nodes
    assert len(spread) == 2
    typed(drain.replace("machine-2", spread[0]))
    second = runs_again(cluster, job, 1)
    assert spread[0] not in second.nodes
    nodes[second.nodes[0]].kill()  # it vanishes; a drained node takes its place
    typed(f"blox drain {spread[0]} --undo")
    assert second.nodes[0] not in runs_again(cluster, job, second.epoch).nodes
    cluster.cancel(job)
    assert cluster.wait(job, PATIENCE_S).state == "cancelled"


def runs_again(cluster, job, epoch):
    """The job, once it runs in a later epoch than this."""

    def later():
        view = cluster.job(job)
        return view.epoch > epoch and view.state == "running" and view

    view = eventually(later)
    assert view, cluster.job(job)
    return view
