"""The GPUs of this machine, as NVML tells them; which of them a slot stands for."""

from __future__ import annotations

import os
from dataclasses import dataclass

_VISIBLE = "CUDA_VISIBLE_DEVICES"


@dataclass(frozen=True)
class Found:
    """`kind`: the name of the first, without spaces (Tesla-V100-SXM2-16GB); "gpu" where there is none."""

    count: int = 0
    kind: str = "gpu"


def found() -> Found:
    """The GPUs that are here, or those of them that CUDA_VISIBLE_DEVICES names; none without NVML."""
    try:
        import pynvml
    except ImportError:
        return Found()
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return Found()
    try:
        count = pynvml.nvmlDeviceGetCount()
        name = pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(0)) if count else "gpu"
    finally:
        pynvml.nvmlShutdown()
    text = name.decode() if isinstance(name, bytes) else str(name)
    visible = _visible()
    return Found(min(count, len(visible)) if visible else count, text.strip().replace(" ", "-"))


def device(slot: int) -> str:
    """What CUDA_VISIBLE_DEVICES is for a process in a slot."""
    visible = _visible()
    return visible[slot] if slot < len(visible) else str(slot)


def _visible() -> list[str]:
    """What we may use ourselves; empty: everything."""
    return [each.strip() for each in os.environ.get(_VISIBLE, "").split(",") if each.strip()]
