"""Termination policies: which jobs end before their work is done, one small file each."""

from __future__ import annotations

from blox.registry import lazy_package

__getattr__ = lazy_package(__name__, "termination")
