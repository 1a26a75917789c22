"""What was run, and how to run it again: the settings of each run, where they differ, and the commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from html import escape

from blox.disk.toml_text import to_toml
from blox.report import settings
from blox.report.labels import labels, unmarked
from blox.report.page_parts import scrolled, section, swatch
from blox.report.run import Run
from blox.report.sheet_html import breakable


def again(runs: Sequence[Run]) -> str:
    """The section at the end of a report."""
    files = _file_names(runs)
    parts = [_differing(runs), _commands(files)]
    for name, file, run in zip(labels(runs), files, runs):
        opened = " open" if len(runs) == 1 else ""
        text = escape(to_toml(run.experiment))
        parts.append(
            f"<details{opened}><summary>{escape(name)}</summary>"
            f'<p><button type="button" class="save" data-file="{escape(file)}.toml" hidden>'
            f"Save {escape(file)}.toml</button></p>"
            f'<pre tabindex="0"><code>{text}</code></pre></details>'
        )
    return section("settings", "What was run", "", "".join(parts), long=True)


def _differing(runs: Sequence[Run]) -> str:
    """A table of the settings in which runs differ; nothing where there are none."""
    differing = settings.differences(runs)
    if not differing:
        return ""
    heads = "".join(f"<th>{escape(setting)}</th>" for setting in differing)
    rows = "".join(
        f"<tr><th>{swatch(position)}{breakable(name)}</th>"
        + "".join(f"<td>{escape(texts[position])}</td>" for texts in differing.values())
        + "</tr>"
        for position, name in enumerate(labels(runs))
    )
    return '<p class="caption">The settings in which the runs differ.</p>' + scrolled(
        f'<table class="texts"><thead><tr><th>run</th>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    )


def _commands(files: Sequence[str]) -> str:
    """The commands that make the results again from the texts below, and this page from the results."""
    folders = [shlex.quote(f"results/{file}") for file in files]
    lines = [f"blox run {shlex.quote(f'{file}.toml')} --out {out}" for file, out in zip(files, folders)]
    lines.append(f"blox report {' '.join(folders)}")
    what = "its text as a file" if len(files) == 1 else "each text as a file of that name"
    return (
        f'<p class="caption">To run {"it" if len(files) == 1 else "them"} again, save {what}, and then:</p>'
        f'<pre tabindex="0"><code>{escape(chr(10).join(lines))}</code></pre>'
    )


def _file_names(runs: Sequence[Run]) -> list[str]:
    """A name for the file of each run that any system takes, each different."""
    found: list[str] = []
    for name in labels(runs):
        plain = re.sub(r"[^\w.+-]+", "-", unmarked(name)).strip("-.") or "run"
        alike = sum(each == plain or each.startswith(f"{plain}-again-") for each in found)
        found.append(f"{plain}-again-{alike}" if alike else plain)
    return found
