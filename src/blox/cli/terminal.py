"""What is printed: made safe, for it may come out of a file, and put as the terminal can show it.

Job ids, labels and paths may hold anything. Characters that steer a terminal, or hide or reverse text, are
shown escaped (`\\x1b`). Characters that the terminal's encoding lacks become their nearest in ASCII, or
an escape too.
"""

from __future__ import annotations

import codecs
import io
import sys
import unicodedata
from typing import TextIO

_PLAIN = {"–": "-", "…": "~", "✓": "+", "✗": "x"}  # what we print ourselves and an old terminal cannot
_HANDLER = "blox-plain"
_STEERING = ("Cc", "Cf", "Cs", "Zl", "Zp")  # control, format (direction of text), surrogate, separators


def shown(text: str) -> str:
    """The text with everything that would steer the terminal escaped; lines and tabs are kept."""
    if text.isprintable():
        return text
    return "".join(
        character
        if character in "\n\t" or unicodedata.category(character) not in _STEERING
        else _escape(character)
        for character in text
    )


def say(text: str, *, first: str = "", to_stderr: bool = False) -> None:
    """Prints a line, or several, made safe; `first` is our own and may hold colours."""
    stream = sys.stderr if to_stderr else sys.stdout
    stream.write(f"{first}{shown(text)}\n")
    stream.flush()


def print_what_can_be_shown(*streams: TextIO) -> None:
    """Makes streams print what their encoding has, and the nearest thing to what it has not."""
    codecs.register_error(_HANDLER, _nearest)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)


def _nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_PLAIN.get(character) or _escape(character) for character in text), error.end


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
