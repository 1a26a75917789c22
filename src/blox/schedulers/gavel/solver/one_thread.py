"""Keeps numpy's and scipy's linear algebra on one thread while a program is solved.

Sums that several threads share depend, in their last digits, on how many cores a machine has; results must
not. The matrices here are also too small to be shared: on two cores it cost up to ten times the CPU time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from blox.schedulers.gavel.solver.solvers import solver

MAPS = Path("/proc/self/maps")  # what this process has loaded; on Linux only, elsewhere nothing is done
NAMES = ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads")


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, OpenBLAS computes on one thread; afterwards on as many as before."""
    solver("scipy.linalg")  # so that its library is among those found
    controls = _controls()
    before = [int(get()) for get, _ in controls]
    for _, set_threads in controls:
        set_threads(1)
    try:
        yield
    finally:
        for (_, set_threads), threads in zip(controls, before):
            set_threads(threads)


@lru_cache(maxsize=1)
def _controls() -> list[tuple[Any, Any]]:
    """(get, set) of the number of threads of every OpenBLAS that is loaded."""
    if not MAPS.is_file():
        return []
    paths = {line.split()[-1] for line in MAPS.read_text(encoding="utf-8").splitlines() if "openblas" in line}
    found = []
    for path in sorted(paths):
        library = ctypes.CDLL(path)
        for name in NAMES:
            if hasattr(library, name.format("set")):
                found.append((getattr(library, name.format("get")), getattr(library, name.format("set"))))
                break
    return found
