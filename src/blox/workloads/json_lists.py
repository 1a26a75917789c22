"""JSON files that list many objects: each element with the line on which it begins."""

from __future__ import annotations

import json
import re
from typing import Any

from blox.errors import BloxError
from blox.workloads.text_files import parsed


def json_objects(path: str, text: str, key: str = "", like: str = "cluster_job_log") -> list[tuple[int, Any]]:
    """The elements of a JSON list with the lines on which they begin. Raises BloxError naming the line.

    `key`: the list is the value of that name in an object around it. `like`: what writes such files.
    """
    decoder, found = json.JSONDecoder(), []
    line, counted = 1, 0
    at = _begin(text, key)
    if text[at : at + 1] != "[":
        inside = f' as the value of "{key}"' if key else ""
        raise BloxError(
            f"is not a JSON list of jobs{inside}",
            where=f"{path}:1",
            fix=f"it should begin with {'{' if key else '['} like {like}",
        )
    at = _skip(text, at + 1)
    while text[at : at + 1] != "]":
        line, counted = line + text.count("\n", counted, at), at
        element, at = parsed(
            lambda whole, at=at: decoder.raw_decode(whole, at),  # type: ignore[misc]
            text,
            kind="JSON",
            where=path,
            fix="mend that line, or fetch the file again",
        )
        found.append((line, element))
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "]":
            line += text.count("\n", counted, at)
            raise BloxError(
                "is not JSON: a comma or ] is missing",
                where=f"{path}:{line}",
                fix="mend it, or fetch the file again",
            )
    return found


def _begin(text: str, key: str) -> int:
    """Where the list begins, or should."""
    at = _skip(text, 0)
    if not key or text[at : at + 1] != "{":
        return at
    match = re.compile(rf'"{key}"\s*:\s*').search(text, at)
    return at if match is None else match.end()


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at
