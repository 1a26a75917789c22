"""The state of every random generator that a training script may draw from, as plain values.

Taken with a checkpoint and put back when the job goes on, so that what is drawn then (shuffles, dropout,
augmentation) is what would have been drawn without the interruption. torch and numpy are looked at only where
the script has imported them.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable
from typing import Any

from blox.client.torch_data import is_data_loader, samplers_of

State = dict[str, Any]


def capture(generators: Iterable[Any] = ()) -> State:
    """The states of the global generators, and of these torch generators."""
    state: State = {"python": random.getstate()}
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None:
        kind, keys, *rest = numpy.random.get_state()
        state["numpy"] = (kind, keys.tobytes(), *rest)
    if torch is not None:
        state["torch"] = _bytes(torch.get_rng_state())
        state["generators"] = [_bytes(each.get_state()) for each in generators]
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            state["cuda"] = [_bytes(each) for each in torch.cuda.get_rng_state_all()]
    return state


def restore(state: State, generators: Iterable[Any] = ()) -> None:
    """Puts states back. What was not captured stays as it is."""
    random.setstate(state["python"])
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and "numpy" in state:
        kind, keys, *rest = state["numpy"]
        numpy.random.set_state((kind, numpy.frombuffer(keys, dtype=numpy.uint32), *rest))
    if torch is not None and "torch" in state:
        torch.set_rng_state(_tensor(torch, state["torch"]))
        for each, kept in zip(generators, state["generators"]):
            each.set_state(_tensor(torch, kept))
        if "cuda" in state and torch.cuda.is_available():
            for device, kept in zip(range(torch.cuda.device_count()), state["cuda"]):
                torch.cuda.set_rng_state(_tensor(torch, kept), device)


def generators_of(data: Any) -> list[Any]:
    """The generators of its own that a PyTorch DataLoader or its samplers draw from."""
    if not is_data_loader(data):
        return []
    found = [getattr(owner, "generator", None) for owner in (data, *samplers_of(data))]
    return list({id(each): each for each in found if each is not None}.values())


def _bytes(tensor: Any) -> bytes:
    return bytes(tensor.cpu().numpy().tobytes())


def _tensor(torch: Any, kept: bytes) -> Any:
    return torch.frombuffer(bytearray(kept), dtype=torch.uint8)
