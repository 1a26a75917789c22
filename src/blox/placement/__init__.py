"""Placement policies: on which GPUs a scheduled job runs, one small file each."""

from __future__ import annotations

from blox.registry import lazy_package

__getattr__ = lazy_package(__name__, "placement")
