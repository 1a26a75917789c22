"""Which GPUs a node has, and which a rank sees."""

import sys
from types import SimpleNamespace

import pytest

from blox.cluster.shell import gpus
from blox.cluster.shell.place import Place
from blox.errors import BloxError


class NVMLError(Exception):
    pass


def nvml(count, name=b"Tesla V100", fails=False):
    """A machine with so many GPUs."""

    def init():
        if fails:
            raise NVMLError("no driver")

    return SimpleNamespace(
        NVMLError=NVMLError,
        nvmlInit=init,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetCount=lambda: count,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetName=lambda handle: name,
    )


@pytest.mark.parametrize(
    ("module", "visible", "expected"),
    [
        (nvml(8), "", gpus.Found(8, "Tesla-V100")),
        (nvml(8, "NVIDIA A100"), "2, 3", gpus.Found(2, "NVIDIA-A100")),
        (nvml(0), "", gpus.Found(0, "gpu")),
        (nvml(8, fails=True), "", gpus.Found(0, "gpu")),
        (None, "", gpus.Found(0, "gpu")),
    ],
)
def test_gpus_are_found_through_nvml(monkeypatch, module, visible, expected):
    monkeypatch.setitem(sys.modules, "pynvml", module)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert gpus.found() == expected


def test_a_slot_is_one_of_the_gpus_that_we_may_use(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,5")
    assert [gpus.device(slot) for slot in range(2)] == ["2", "5"]
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert gpus.device(3) == "3"


@pytest.mark.parametrize("address", ["", "0.0.0.0", "0.0.0.0:7070", "10.0.0.1:port", "10.0.0.1:70000"])
def test_an_address_that_others_cannot_reach_is_refused(address):
    with pytest.raises(BloxError, match="no address"):
        Place.listening(address)


def test_an_address_may_leave_the_port_open():
    assert Place.listening("10.0.0.1") == "10.0.0.1:0"
    assert Place.listening("10.0.0.1:7070") == "10.0.0.1:7070"
