"""The generated jobs of Synergy's experiments: Gavel's durations, models with a sensitivity profile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blox.errors import BloxError
from blox.registry import register
from blox.workloads.distributions import Choices
from blox.workloads.generators.gavel import Gavel
from blox.workloads.population import evenly
from blox.workloads.table import Array

# the models of each class, image, language and speech, all equally likely within it
CLASSES = (
    ("alexnet", "res18", "res50", "mobilenet", "shufflenet"),
    ("gnmt", "transformer", "lstm"),
    ("m5", "deepspeech"),
)


@register.workload("synergy")
@dataclass(frozen=True)
class Synergy(Gavel):
    """Poisson arrivals of jobs as in Synergy's experiments: image, language and speech models by `split`.

    `split` are the shares of the three classes in per cent (the artifact's: 20+70+10). Image and speech
    models gain by more CPU cores or memory than their share, language models do with less. Durations and
    GPUs are those of `gavel`. Departs from the original, which deals classes and models out in turn, where
    these are drawn.
    """

    split: tuple[int, ...] = (20, 70, 10)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.split) != 3 or min(self.split) < 0 or not sum(self.split):
            raise BloxError(
                f"split is {'+'.join(map(str, self.split))}",
                fix="give the shares of image, language and speech models: split=20+70+10",
            )

    def models_of(self, gpus: Array, u: Array) -> Array:
        """One number draws both: its share of the class, spread out again, draws the model."""
        weights = tuple(float(share) for share in self.split)
        shares = np.array(Choices(weights).shares)
        which = Choices(weights).at(u)
        begin = np.concatenate(([0.0], np.cumsum(shares)[:-1]))
        inside = (u - begin[which]) / np.where(shares[which] > 0, shares[which], 1.0)
        inside = np.clip(inside, 0.0, np.nextafter(1.0, 0.0))
        chosen = np.empty(len(u), dtype=object)
        for number, models in enumerate(CLASSES):
            here = which == number
            chosen[here] = evenly(models, inside[here])
        return chosen
