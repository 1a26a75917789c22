"""What runs are called in tables and legends, and how much room their names take."""

from __future__ import annotations

import re
from collections.abc import Sequence

from blox.lookahead.auto import auto_names
from blox.report.run import Run
from blox.report.settings import differences
from blox.results.names import default_label, short_name, short_names

_MOST_SETTINGS = 2
_MARK = re.compile(r" \((noisy|[^()]*oracle)\)$")


def is_oracle(run: Run) -> bool:
    """Whether a policy of the run decides by the true durations of jobs, which no real scheduler knows."""
    return bool(run.experiment.get("provenance", {}).get("oracle"))


def labels(runs: Sequence[Run]) -> list[str]:
    """One name per run, each different. An oracle is marked as one.

    A run without a label of its own goes by the short name of its scheduler. Runs of one name are told apart
    by the settings in which they differ, if those are few and do it; by numbers otherwise.
    """
    return [marked(name, run) for name, run in zip(_unique(runs), runs)]


def marked(name: str, run: Run) -> str:
    """The name of a run, and that it is an oracle where it does not say so itself.

    Of a synthesizer, `auto (oracle)` looks ahead with the true durations, `auto (noisy)` with estimates; in
    `auto (srtf: oracle)` only SRTF, which it may choose, is told the true ones.
    """
    provenance = run.experiment.get("provenance", {})
    marks = ["noisy"] if provenance.get("estimated_ahead") and "noisy" not in name else []
    if is_oracle(run) and "oracle" not in name:
        policies = short_names(provenance.get("oracle_policies", []))
        marks.append(f"{', '.join(policies)}: oracle" if policies else "oracle")
    return f"{name} ({'; '.join(marks)})" if marks else name


def unmarked(name: str) -> str:
    """The name without that mark."""
    return _MARK.sub("", name)


def _unique(runs: Sequence[Run]) -> list[str]:
    names = _names(runs)
    unique = list(names)
    for name in dict.fromkeys(names):
        alike = [position for position, other in enumerate(names) if other == name]
        if len(alike) == 1:
            continue
        differing = differences([runs[position] for position in alike])
        if set(differing) == {"auto"}:
            texts = [text.strip('"') for text in differing["auto"]]  # quoted where a program gave an object
            for position, told in zip(alike, auto_names(texts)):
                unique[position] = told.replace("auto", name, 1)
            continue
        columns = [[_setting(key, text) for text in short_names(column)] for key, column in differing.items()]
        texts = [", ".join(filter(None, (column[at] for column in columns))) for at in range(len(alike))]
        telling = len(differing) <= _MOST_SETTINGS and len(set(texts)) == len(alike)
        for at, position in enumerate(alike):
            told = texts[at] if telling else str(at + 1)
            unique[position] = f"{name} [{told}]" if told else name
    return unique


def _names(runs: Sequence[Run]) -> list[str]:
    """The label of each run, or the short name of the spec that it goes by."""
    specs = {at: default_label(run.experiment) for at, run in enumerate(runs) if _goes_by_its_spec(run)}
    short = dict(zip(specs, short_names(list(specs.values()))))
    return [short.get(at) or run.label or "run" for at, run in enumerate(runs)]


def _goes_by_its_spec(run: Run) -> bool:
    spec = default_label(run.experiment)
    return not run.experiment.get("label") and run.label in (spec, short_name(spec))


def _setting(key: str, text: str) -> str:
    """A setting in a label: a name speaks for itself, a number needs its key; "" where it is not set."""
    if not text:
        return ""
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


def short_lines(name: str, width: int) -> list[str]:
    """A name in short lines, for a tick or a head: it may break behind any mark, and within no word."""
    lines = [""]
    for piece in re.findall(r"[^\W_]+[\W_]*|[\W_]+", name):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [line.strip() for line in lines]


def legend_shape(names: Sequence[str], characters: int) -> tuple[int, int]:
    """Columns and lines of a legend that has room for so many characters in a line, marks included."""
    widest = max((len(name) for name in names), default=0) + 7  # the mark and the space around it
    columns = min(max(characters // widest, 1), max(len(names), 1))
    return columns, -(-len(names) // columns)
