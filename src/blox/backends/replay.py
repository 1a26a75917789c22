"""Replay: what the results of `blox replay` name as their backend.

Such a run happens on a cluster, in the process of its scheduler, so `open` refuses. The part tells that time
was real: a run that is named by it cannot be repeated to the byte, and is refused where that is asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from blox.backends.setup import BackendSetup
from blox.errors import BloxError
from blox.protocols import Backend
from blox.registry import register

JobKind = Literal["train", "sleep"]


@register.backend("replay")
@dataclass(frozen=True)
class Replay:
    """Real processes on a cluster of this machine, `speedup` times as fast: made by `blox replay`."""

    speedup: float = 60.0
    job: JobKind = "train"

    def __post_init__(self) -> None:
        if not 0 < self.speedup < math.inf:
            raise BloxError(f"speedup is {self.speedup!r}", where="speedup", fix="give a number above 0")
        if self.job not in get_args(JobKind):
            fix = f"one of {', '.join(get_args(JobKind))}"
            raise BloxError(f"there is no job {self.job!r}", where="job", fix=fix)

    @property
    def spec(self) -> str:
        """As it is written in settings."""
        return f"replay:speedup={self.speedup:g},job={self.job}"

    def open(self, setup: BackendSetup) -> Backend:
        raise BloxError(
            "real processes are started by a command of their own",
            where="backend replay",
            fix=f"blox replay WORKLOAD --speedup {self.speedup:g} --job {self.job}",
        )
