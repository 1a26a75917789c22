"""What is to be known of a PyTorch DataLoader, without importing torch: a script that has one has imported
it."""

from __future__ import annotations

import sys
from typing import Any


def is_data_loader(data: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(data, torch.utils.data.DataLoader)


def has_random_access(data: Any) -> bool:
    """Whether it is a DataLoader that asks its dataset for indices."""
    if not is_data_loader(data):
        return False
    return not isinstance(data.dataset, sys.modules["torch"].utils.data.IterableDataset)


def samplers_of(data: Any) -> list[Any]:
    """The samplers of a DataLoader; of anything else, none."""
    if not is_data_loader(data):
        return []
    found = [data.sampler, data.batch_sampler]
    return [sampler for sampler in found if sampler is not None]
