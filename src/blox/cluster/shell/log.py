"""Structured logs: a line of JSON per event, in files that do not grow without bound.

`logs/scheduler.jsonl` and `logs/NODE.jsonl`: time (UTC), part, event and its fields. `jq` reads them.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path

_BYTES = 8 << 20  # of a file; one older file is kept beside it
_LONGEST = 2_000  # characters of a text

Log = Callable[..., None]  # (event, **fields)


def open_log(directory: Path, part: str) -> Log:
    """A log for one part of the cluster. A line that cannot be written, on a full disk, is lost."""
    directory.mkdir(parents=True, exist_ok=True)
    handler = RotatingFileHandler(
        directory / f"{part}.jsonl", maxBytes=_BYTES, backupCount=1, encoding="utf-8"
    )
    handler.handleError = lambda record: None  # type: ignore[method-assign]
    logger = logging.Logger(f"blox.{part}")
    logger.addHandler(handler)

    def log(event: str, **fields: object) -> None:
        now = time.time()
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03d}Z"
        line: dict[str, object] = {"time": stamp, "part": part, "event": event}
        line.update({name: _short(value) for name, value in fields.items()})
        logger.info(json.dumps(line, ensure_ascii=False))

    return log


def _short(value: object) -> object:
    if isinstance(value, int | float | bool) or value is None:
        return value
    return str(value)[:_LONGEST]
