"""The Pollux artifact's simulator, quirk by quirk: the preset, its time, and what its schedulers are told."""

from __future__ import annotations

from blox.compat.pollux.preset import PolluxCompat

__all__ = ["PolluxCompat"]
