"""Scheduling policies: in which order jobs get GPUs, one small file each."""

from __future__ import annotations

from blox.registry import lazy_package

__getattr__ = lazy_package(__name__, "scheduling")
