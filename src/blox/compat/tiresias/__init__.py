"""The public Tiresias simulator, quirk by quirk: the preset, and the policies that only it needs."""

from __future__ import annotations

from blox.compat.tiresias.preset import TiresiasCompat

__all__ = ["TiresiasCompat"]
