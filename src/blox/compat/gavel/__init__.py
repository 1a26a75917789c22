"""Gavel's simulator, quirk by quirk: the preset, its rounds, and how fractions of time become rounds."""

from __future__ import annotations

from blox.compat.gavel.preset import GavelCompat

__all__ = ["GavelCompat"]
