"""Pieces of which pages are made: sections, figures, grids of small figures, legends, compressed data."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from html import escape
from typing import Any

from blox.report import colours


def section(name: str, title: str, caption: str, content: str, long: bool = False) -> str:
    """A part of the page under its own heading."""
    said = f'<p class="caption">{escape(caption.strip())}</p>' if caption.strip() else ""
    kind = ' class="long"' if long else ""
    return f'<section id="{name}"{kind}><h2>{escape(title)}</h2>{said}{content}</section>'


def embedded(name: str, figure: Any) -> str:
    """A figure as part of the page, drawn when it opens."""
    height = int(figure.layout.height)
    content = _compressed(name, figure.to_json())
    return f'<div class="figure" id="{name}" style="min-height:{height}px"></div>{content}'


def multiples(name: str, panels: Sequence[tuple[str, Any]], names: Sequence[str] = ()) -> str:
    """Small figures in a grid, each under its title; above them what the colours of runs mean."""
    drawn = "".join(
        f'<div class="panel"><h3>{escape(title)}</h3>{embedded(f"{name}-{at}", figure)}</div>'
        for at, (title, figure) in enumerate(panels)
    )
    return f'{legend(names)}<div class="multiples">{drawn}</div>'


def legend(names: Sequence[str]) -> str:
    """The runs by their colours; nothing for one alone."""
    if len(names) < 2:
        return ""
    entries = "".join(f"<li>{swatch(at)}{escape(name)}</li>" for at, name in enumerate(names))
    return f'<ul class="legend">{entries}</ul>'


def scrolled(table: str) -> str:
    """A table that may be wider than the page: it is scrolled by itself, with the keyboard too."""
    return f'<div class="scroll" tabindex="0">{table}</div>'


def swatch(position: int) -> str:
    """A patch in the colour of a run, with the pattern of its bars."""
    pattern = colours.PATTERNS.index(colours.pattern_of_run(position))
    kind = f"swatch pattern-{pattern}" if pattern else "swatch"
    return f'<span class="{kind}" style="background-color:{colours.of_run(position)}"></span>'


def packed(name: str, data: Any) -> str:
    """Data that a script of the page reads."""
    return _compressed(name, json.dumps(data, separators=(",", ":")))


def _compressed(name: str, text: str) -> str:
    """A text that a script of the page reads: a fifth of its size, and nothing in it can end its element."""
    content = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
    return f'<script type="text/plain" id="{name}-packed">{content}</script>'
