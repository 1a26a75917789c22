"""Text of the command line in a locale that is not UTF-8: Python hands its bytes over as lone surrogates."""

from __future__ import annotations

import os

from blox.errors import BloxError, shortened


def is_text(value: str) -> bool:
    """Whether a file in UTF-8 can hold the value as it is."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def decoded(name: str, value: str, *, where: str) -> str:
    """The value with the bytes behind lone surrogates read as UTF-8. Raises BloxError where they are not."""
    text = _utf8(value)
    if text is None:
        raise not_text(name, value, where=where)
    return text


def not_text(name: str, value: str, *, where: str) -> BloxError:
    """The refusal of a name that is no text, or is none in this locale: no results could hold it."""
    text = _utf8(value)
    if text is None:
        what = f"{name} holds bytes that are not UTF-8: {shortened(repr(value), 80)}"
        return BloxError(what, where=where, fix="experiment.toml could not name it: give another name")
    what = f"{name} is UTF-8, and the locale is not: {shortened(text, 80)}"
    return BloxError(what, where=where, fix="set LC_ALL=C.UTF-8, or give a name in ASCII")


def _utf8(value: str) -> str | None:
    if is_text(value):
        return value
    try:
        return os.fsencode(value).decode()
    except UnicodeError:
        return None
