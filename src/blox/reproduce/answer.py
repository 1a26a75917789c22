"""What a page answers, as plain data: kept as `finding.json`, and all that the book is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from blox.errors import BloxError
from blox.report.charts import Picture
from blox.results.files import write_text

Word = Literal["holds", "holds in part", "does not hold"]
WORDS: tuple[Word, ...] = ("holds", "holds in part", "does not hold")


class Table(msgspec.Struct, frozen=True):
    """Texts under heads; the first column names the row."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Verdict(msgspec.Struct, frozen=True):
    """Whether the claim holds, and why, in the words of the numbers."""

    word: Word
    reason: str


class Finding(msgspec.Struct, frozen=True):
    """What came out: a table, pictures like the paper's, the verdict, and what else is to be said."""

    table: Table
    charts: tuple[Picture, ...]
    verdict: Verdict
    notes: tuple[str, ...] = ()


class Cause(msgspec.Struct, frozen=True):
    """What an experiment says about why a claim holds or does not: a question, its answer, the numbers."""

    question: str
    answer: str
    table: Table | None = None
    charts: tuple[Picture, ...] = ()


class Answer(msgspec.Struct, frozen=True):
    """A whole page: what was asked, what came out, and why.

    `by_seed` has the word that the rule gives on the runs of each seed alone, where there are several.
    """

    page: str
    title: str
    claim: str
    rule: str
    setup: str
    differences: tuple[str, ...]
    scale: str
    finding: Finding
    by_seed: dict[str, Word]
    causes: tuple[Cause, ...]
    blox_version: str

    def save(self, path: Path) -> None:
        """Writes it as JSON, whole or not at all; the same answer gives the same bytes."""
        write_text(path, msgspec.json.format(msgspec.json.encode(self), indent=2).decode() + "\n")


def load(path: Path) -> Answer | None:
    """The answer kept there; None where there is none. BloxError where the file is damaged."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Answer)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        fix = "remove the folder of the page and ask it again: its runs are kept"
        raise BloxError(f"is damaged ({error})", where=str(path), fix=fix) from None
