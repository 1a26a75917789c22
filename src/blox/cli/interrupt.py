"""Interrupted: how a command that was stopped says what it has kept."""

from __future__ import annotations


class Interrupted(Exception):
    """The user stopped a command; the text says what is left and how to go on. Exit code 130."""
