"""What runs are called in tables and legends, and how much room their names take."""

from __future__ import annotations

import re
from collections.abc import Sequence

from blox.report.run import Run
from blox.report.settings import differences

_MOST_SETTINGS = 2


def is_oracle(run: Run) -> bool:
    """Whether a policy of the run decides by the true durations of jobs, which no real scheduler knows."""
    return bool(run.experiment.get("provenance", {}).get("oracle"))


def labels(runs: Sequence[Run]) -> list[str]:
    """One name per run, each different. An oracle is marked as one.

    Runs that share a label are told apart by the settings in which they differ, if those are few and do
    it; by numbers otherwise.
    """
    return [
        f"{name} (oracle)" if is_oracle(run) and "oracle" not in name else name
        for name, run in zip(_unique(runs), runs)
    ]


def _unique(runs: Sequence[Run]) -> list[str]:
    names = [run.label or "run" for run in runs]
    unique = list(names)
    for name in dict.fromkeys(names):
        alike = [position for position, other in enumerate(names) if other == name]
        if len(alike) == 1:
            continue
        differing = differences([runs[position] for position in alike])
        columns = [[_setting(key, text) for text in column] for key, column in differing.items()]
        texts = [", ".join(column[at] for column in columns) for at in range(len(alike))]
        telling = len(differing) <= _MOST_SETTINGS and len(set(texts)) == len(alike)
        for at, position in enumerate(alike):
            unique[position] = f"{name} [{texts[at] if telling else at + 1}]"
    return unique


def _setting(key: str, text: str) -> str:
    """A setting in a label: a name speaks for itself, a number needs its key."""
    return text if text[:1].isalpha() and text not in ("true", "false") else f"{key}={text}"


def folded(name: str, width: int) -> list[str]:
    """A name in lines of at most `width` characters.

    It breaks at spaces, after `:`, `,` and `+`; where that is not enough before `=`; within a word only if
    the word alone is wider.
    """
    lines = [""]
    for piece in re.findall(r"[^:,+ ]*[:,+ ]+|[^:,+ ]+", name):
        for part in [piece] if len(piece.rstrip()) <= width else re.split(r"(?==)", piece):
            if lines[-1] and len(lines[-1]) + len(part.rstrip()) > width:
                lines.append("")
            while len(part.rstrip()) > width:
                lines[-1:] = [part[:width], ""]
                part = part[width:]
            lines[-1] += part
    return [line.strip() for line in lines if line.strip()]


def legend_shape(names: Sequence[str], characters: int) -> tuple[int, int]:
    """Columns and lines of a legend that has room for so many characters in a line, marks included."""
    widest = max((len(name) for name in names), default=0) + 7  # the mark and the space around it
    columns = min(max(characters // widest, 1), max(len(names), 1))
    return columns, -(-len(names) // columns)
