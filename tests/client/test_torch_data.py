"""A DataLoader that is resumed gives the samples, and draws the numbers, of one that was not interrupted."""

import os
import subprocess
import sys

import pytest

from blox.client import BloxDataLoader
from blox.client.page import LeasePage

pytestmark = pytest.mark.torch


class Left(BaseException):
    """The process would have ended."""


@pytest.fixture
def page(tmp_path, monkeypatch):
    own, really_leave = os.getpid(), os._exit

    def leave(code):
        if os.getpid() != own:
            really_leave(code)  # a loading process
        raise Left(code)

    monkeypatch.setenv("BLOX_LEASE", str(tmp_path / "lease"))
    monkeypatch.setenv("BLOX_RANK_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("BLOX_CHECKPOINT", str(tmp_path / "checkpoint"))
    monkeypatch.setattr("os._exit", leave)
    return LeasePage.create(tmp_path / "lease")


def shuffled(torch, dataset):
    return torch.utils.data.DataLoader(dataset, batch_size=4, shuffle=True)


def own_generator(torch, dataset):
    return torch.utils.data.DataLoader(
        dataset, batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(3)
    )


def with_loading_processes(torch, dataset):
    return torch.utils.data.DataLoader(dataset, batch_size=4, shuffle=True, num_workers=1)


def distributed(torch, dataset):
    sampler = torch.utils.data.DistributedSampler(dataset, num_replicas=2, rank=1)
    return torch.utils.data.DataLoader(dataset, batch_size=2, sampler=sampler)


def own_batches(torch, dataset):
    order = torch.utils.data.RandomSampler(dataset)
    return torch.utils.data.DataLoader(
        dataset, batch_sampler=torch.utils.data.BatchSampler(order, 4, drop_last=True)
    )


def one_by_one(torch, dataset):
    return torch.utils.data.DataLoader(dataset, batch_size=None, shuffle=True)


def a_stream(torch, dataset):
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(dataset)

    return torch.utils.data.DataLoader(Stream(), batch_size=4)


KINDS = [shuffled, own_generator, with_loading_processes, distributed, own_batches, one_by_one, a_stream]


class Dataset:
    """Thirty samples, each with noise that is drawn when it is loaded; counts what is loaded."""

    def __init__(self, torch, noisy):
        self._torch, self._noisy, self.loaded = torch, noisy, 0

    def __len__(self):
        return 30

    def __getitem__(self, index):
        if not 0 <= index < 30:
            raise IndexError(index)
        self.loaded += 1
        noise = self._torch.rand(()) if self._noisy else self._torch.zeros(())
        return self._torch.tensor(float(index)) + noise


def train(torch, kind, page, stops):
    """What each iteration saw and drew; started again after every stop."""
    seen = []
    for stop in [*stops, -1]:
        torch.manual_seed(7 if not seen else 12345 + stop)  # a process that goes on begins anywhere
        page.revoked = 0
        data = kind(torch, Dataset(torch, noisy=kind is not with_loading_processes))
        model = torch.nn.Linear(1, 1)
        loader = BloxDataLoader(data, {"model": model}, every=1000)
        try:
            for epoch in loader.epochs(3):
                for batch in loader:
                    seen.append((epoch, loader.iteration, batch.tolist(), torch.rand(()).item()))
                    if loader.iteration + 1 == stop:
                        page.revoked = 1
        except Left:
            continue
    return seen


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_seen_and_drawn_is_the_same_with_and_without_interruptions(kind, page, tmp_path, monkeypatch):
    import torch

    whole = train(torch, kind, page, [])
    monkeypatch.setenv("BLOX_CHECKPOINT", str(tmp_path / "second"))
    last = len(whole)
    stops = sorted({1, 2, last // 3, last // 3 + 1, last // 2, last - 1})
    assert train(torch, kind, page, stops) == whole


def test_what_was_done_is_not_loaded_again(page):
    import torch

    for stop, expected in ((25, 25 * 5), (-1, (8 * 6 - 25) * 5)):
        page.revoked = 0
        dataset = Dataset(torch, noisy=False)
        data = torch.utils.data.DataLoader(dataset, batch_size=5, shuffle=True)
        loader = BloxDataLoader(data, {"model": torch.nn.Linear(1, 1)})
        try:
            for _ in loader.epochs(8):
                for _ in loader:
                    page.revoked = int(loader.iteration + 1 == stop)
        except Left:
            assert loader.iteration == stop
        assert dataset.loaded == expected


def test_checkpoints_hold_plain_values_and_tensors_alone(page, tmp_path):
    """Nothing that they hold could run when they are loaded."""
    import torch

    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    loader = BloxDataLoader(range(3), {"model": model, "optimizer": optimizer}, every=1)
    for _ in loader.epochs(1):
        for _ in loader:
            model(torch.ones(2)).backward()
            optimizer.step()
    kept = torch.load(tmp_path / "checkpoint" / "state", weights_only=True)
    assert kept["position"]["iteration"] == 3
    fresh = torch.nn.Linear(2, 1)
    again = torch.optim.SGD(fresh.parameters(), lr=0.5, momentum=0.9)
    BloxDataLoader(range(3), {"model": fresh, "optimizer": again})
    assert torch.equal(fresh.weight, model.weight)
    assert again.param_groups[0]["lr"] == 0.1


FULL = """
import resource, signal, sys
import torch
from blox.client import BloxDataLoader
model = torch.nn.Linear(100, 100)
loader = BloxDataLoader(range(6), {"model": model}, every=2, directory=sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for item in loader:
    if item == 3:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, resource.RLIM_INFINITY))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""


def test_a_checkpoint_that_cannot_be_written_leaves_the_one_before(tmp_path):
    """Files are limited to 20 kB in the middle: as with a full disk, the third checkpoint cannot be whole."""
    import torch

    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "blox: no checkpoint of iteration 4" in done.stderr
    assert torch.load(tmp_path / "state")["position"]["iteration"] == 2
    assert sorted(file.name for file in tmp_path.iterdir()) == ["rank-0", "state"]


def test_the_generators_of_a_rank_that_is_new_are_its_own_and_always_the_same(page, monkeypatch):
    import torch

    def drawn(rank):
        monkeypatch.setenv("RANK", str(rank))
        loader = BloxDataLoader(range(4), {"model": torch.nn.Linear(1, 1)}, every=1)
        next(iter(loader))
        return torch.rand(3).tolist()

    torch.manual_seed(1)
    for _ in zip(range(2), BloxDataLoader(range(4), {"model": torch.nn.Linear(1, 1)}, every=1)):
        pass
    assert drawn(5) == drawn(5) != drawn(6)
