"""The loader of a training script: leases, checkpoints, and the sample to resume at."""

import subprocess
import sys
import time

import pytest

from blox.client import LEFT, BloxDataLoader
from blox.client.page import FIELDS, LeasePage
from blox.cluster.protocol.rank import at_boundary

SCRIPT = """
import sys
from blox.client import BloxDataLoader
start, revoke_at = map(int, sys.argv[1:3])
saved = []
loader = BloxDataLoader(range(10), save=lambda n: print("saved", n), start=start, epochs=2, every=8)
for item in loader:
    print("item", item)
    if loader.iteration + 1 == revoke_at:
        loader._page.revoked = True
print("end")
"""


@pytest.fixture
def page(tmp_path, monkeypatch):
    made = LeasePage.create(tmp_path / "lease")
    monkeypatch.setenv("BLOX_LEASE", str(tmp_path / "lease"))
    monkeypatch.setenv("BLOX_RANK_DIRECTORY", str(tmp_path))
    return made


def run(start, revoke_at):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(start), str(revoke_at)],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.split("\n")[:-1]


def test_without_a_cluster_data_passes_through_and_checkpoints_are_written(monkeypatch):
    monkeypatch.delenv("BLOX_LEASE", raising=False)
    saved = []
    loader = BloxDataLoader([1, 2, 3], save=saved.append, epochs=2, every=4)
    assert list(loader) == [1, 2, 3, 1, 2, 3]
    assert saved == [4, 6]


def test_a_start_in_the_middle_skips_to_the_very_sample(monkeypatch):
    monkeypatch.delenv("BLOX_LEASE", raising=False)
    loader = BloxDataLoader("abc", save=lambda n: None, start=4, epochs=2)
    assert list(loader) == ["b", "c"]
    assert loader.iteration == 6


def test_a_revoked_lease_ends_the_process_after_a_checkpoint(page):
    code, lines = run(0, 3)
    assert code == LEFT
    assert lines == ["item 0", "item 1", "item 2", "saved 3"]
    assert (page.iteration, page.checkpoint) == (3, 3)


def test_the_next_start_goes_on_where_it_stopped(page):
    code, lines = run(13, -1)
    assert code == 0
    assert lines == [
        "item 3",
        "item 4",
        "item 5",
        "saved 16",
        *(f"item {n}" for n in range(6, 10)),
        "saved 20",
        "end",
    ]


def test_both_sides_see_the_same_page(tmp_path):
    ours = LeasePage.create(tmp_path / "lease", central=True)
    theirs = LeasePage(tmp_path / "lease")
    assert {name: getattr(theirs, name) for name in FIELDS} == {
        **dict.fromkeys(FIELDS, -1),
        "revoked": 0,
        "central": 1,
    }
    theirs.proposed = 8
    ours.exit_at = 8
    assert (ours.proposed, theirs.exit_at) == (8, 8)
    with pytest.raises(AttributeError):
        ours.unknown  # noqa: B018


def test_a_lease_check_costs_less_than_20_microseconds(tmp_path):
    page = LeasePage.create(tmp_path / "lease")
    count = 2000
    cheapest = min(_cpu_of(lambda: [at_boundary(0, 4, 7, page) for _ in range(count)]) for _ in range(5))
    assert cheapest / count < 20e-6


def _cpu_of(act):
    began = time.process_time()
    act()
    return time.process_time() - began


def test_pushed_metrics_are_written_for_the_worker_manager(page, tmp_path):
    import json

    loader = BloxDataLoader([1], save=lambda n: None)
    loader.metrics.push("loss", 0.5)
    loader.metrics.push("bad", float("nan"))
    loader.metrics.flush()
    assert json.loads((tmp_path / "metrics.json").read_text()) == {"loss": 0.5}


def test_importing_the_client_imports_neither_torch_nor_grpc():
    code = "import sys, blox.client; print('torch' in sys.modules or 'grpc' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
