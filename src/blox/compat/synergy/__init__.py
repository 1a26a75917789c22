"""The public Synergy simulator, quirk by quirk: the preset, and the policies that only it needs."""

from __future__ import annotations

from blox.compat.synergy.preset import SynergyCompat

__all__ = ["SynergyCompat"]
