"""What benchmarks have in common: where the originals' results are, the calibration, the printed lines."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable
from pathlib import Path

SHARED = Path(os.environ.get("BLOX_SHARED", Path(__file__).resolve().parents[2] / "shared"))
REFERENCE = 0.9  # what the calibration prints on the machine for which the limits are stated


class Board:
    """Prints a line per figure and remembers whether any was missed."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def line(
        self, name: str, figure: float, unit: str, limit: float, *, at_least: bool = False, note: str = ""
    ) -> None:
        verdict = ""
        if limit:
            met = figure >= limit if at_least else figure <= limit
            verdict = f"{'at least' if at_least else 'at most'} {limit:g} {unit}: {'ok' if met else 'MISSED'}"
            if not met:
                self.missed.append(name)
        print(f"{name:58s} {figure:8.2f} {unit:8s} {verdict:28s} {note}", flush=True)


def calibration() -> Callable[[], float]:
    """The fixed piece of work that tells how fast this machine is just now."""
    path = SHARED / "measure" / "calibrate.py"
    if not path.is_file():
        print(f"{path} is absent: figures are seconds of this machine")
        return lambda: REFERENCE
    spec = importlib.util.spec_from_file_location("calibrate", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    work: Callable[[], float] = module.work
    return work


def best_of(
    tries: int, work: Callable[[], object], calibrate: Callable[[], float]
) -> tuple[float, float, float]:
    """(seconds at REFERENCE, seconds here, calibration): the least of several tries, each by itself.

    The least seconds and the least calibration are those of the quietest moments. A ratio within one try
    would be flattered by a calibration that was disturbed.
    """
    units, times = [calibrate()], []
    for _ in range(tries):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
        units.append(calibrate())
    seconds, unit = min(times), min(units)
    return seconds / unit * REFERENCE, seconds, unit
