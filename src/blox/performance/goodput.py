"""Goodput: how fast a data-parallel training job learns on given GPUs, with a given batch size.

The model of Pollux (OSDI'21, section 3): goodput = throughput x statistical efficiency. Usable on its own:
numbers or arrays go in, broadcast against each other, and come out; there is no state. Which batch size is
best is in `goodput_batch`, fitting the parameters to observations in `goodput_fit`.

    model = ThroughputModel(alpha_c=0.05, beta_c=0.002, alpha_n=0.1, beta_n=0.002, alpha_r=0.02,
                            beta_r=0.001, gamma=1.8)
    noise = GradientNoise(sqr=0.1, var=2.0)
    goodput(model, noise, initial_batch=128, nodes=2, replicas=8, atomic=64, accumulation=0)
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from blox.workloads.table import Array

Number = Array | float  # a number per job, or one for all
PARAMETERS = ("alpha_c", "beta_c", "alpha_n", "beta_n", "alpha_r", "beta_r", "gamma")
NONE_S = 1e-8  # what stands for "no time at all", so that logarithms exist


@dataclass(frozen=True)
class ThroughputModel:
    """Seconds per training step, from seven parameters (of one job, or a column per parameter).

    A pass over the atomic batch (what one GPU takes at a time) costs `alpha_c + beta_c x batch` seconds.
    Averaging gradients costs `alpha + beta x (replicas - 2)` seconds: `_r` where all replicas share a node,
    `_n` where they do not. `gamma` says how far the two overlap: 1 not at all, towards infinity entirely.
    """

    alpha_c: Number
    beta_c: Number
    alpha_n: Number
    beta_n: Number
    alpha_r: Number
    beta_r: Number
    gamma: Number

    @classmethod
    def of(cls, rows: Array) -> ThroughputModel:
        """From an array whose last axis holds the parameters in the order of PARAMETERS."""
        return cls(*np.moveaxis(np.asarray(rows, dtype=np.float64), -1, 0))

    def array(self) -> Array:
        """The parameters along the last axis, in the order of PARAMETERS."""
        return np.stack(np.broadcast_arrays(*map(np.asarray, astuple(self))), axis=-1)

    def pass_s(self, atomic: Number) -> Any:
        """Seconds of one forward and backward pass over `atomic` examples."""
        return self.alpha_c + self.beta_c * atomic

    def network_s(self, nodes: Number, replicas: Number) -> Any:
        """Seconds to average the gradients of `replicas` GPUs on `nodes` nodes; next to none for one GPU."""
        nodes, replicas = np.asarray(nodes), np.asarray(replicas)
        spread, several = nodes > 1, replicas > 1
        alpha = np.where(spread, self.alpha_n, np.where(several, self.alpha_r, NONE_S))
        beta = np.where(spread, self.beta_n, np.where(several, self.beta_r, NONE_S))
        return alpha + beta * np.maximum(replicas - 2, NONE_S)

    def step_s(self, nodes: Number, replicas: Number, atomic: Number) -> Any:
        """Seconds of a pass and the averaging after it: (pass^gamma + network^gamma)^(1/gamma)."""
        one, other = self.pass_s(atomic), self.network_s(nodes, replicas)
        # From the longer of the two, so that no power underflows; exp and log cost less than powers.
        longer = np.maximum(one, other)
        shorter = np.exp(self.gamma * np.log(np.minimum(one, other) / longer))
        return longer * np.exp(np.log(1 + shorter) / self.gamma)

    def iteration_s(self, nodes: Number, replicas: Number, atomic: Number, accumulation: Number) -> Any:
        """Seconds of an iteration: `accumulation` passes that only add up gradients, then a step."""
        return accumulation * self.pass_s(atomic) + self.step_s(nodes, replicas, atomic)

    def throughput(self, nodes: Number, replicas: Number, atomic: Number, accumulation: Number) -> Any:
        """Examples per second."""
        batch = replicas * atomic * (accumulation + 1)
        return batch / self.iteration_s(nodes, replicas, atomic, accumulation)


@dataclass(frozen=True)
class GradientNoise:
    """How much a larger batch helps: squared norm and variance of the gradient at the initial batch size."""

    sqr: Number
    var: Number

    def gain(self, scale: Number) -> Any:
        """Progress of one iteration at `scale` x the initial batch size, in iterations at that size.

        AdaScale's gain, from 1 to `scale`; 1 where the statistics are not positive.
        """
        below = self.var / np.asarray(scale) + self.sqr
        above = np.where(below > 0, self.var + np.asarray(self.sqr), 1.0)
        return above / np.where(below > 0, below, 1.0)

    def efficiency(self, scale: Number) -> Any:
        """Progress per example, relative to the initial batch size: gain / scale."""
        return self.gain(scale) / scale


def goodput(
    model: ThroughputModel,
    noise: GradientNoise,
    initial_batch: Number,
    nodes: Number,
    replicas: Number,
    atomic: Number,
    accumulation: Number = 0,
) -> Any:
    """Useful examples per second: throughput x efficiency (equation 2 of the paper)."""
    scale = np.asarray(replicas * atomic * (accumulation + 1)) / initial_batch
    return model.throughput(nodes, replicas, atomic, accumulation) * noise.efficiency(scale)
