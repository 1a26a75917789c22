"""The book: every page that has been asked, in one HTML file without network, the table of verdicts first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from blox.report.charts import Picture
from blox.report.page import document
from blox.report.page_parts import embedded
from blox.reproduce import book_style
from blox.reproduce.answer import WORDS, Answer, Cause, Table, load
from blox.reproduce.catalogue import PAPER, heading, pages
from blox.reproduce.runner import FINDING
from blox.results.files import write_text

BOOK = "book.html"
PAPER_TITLE = "Blox: A Modular Toolkit for Deep Learning Schedulers (EuroSys'24)"


def write_book(out: Path, unavailable: Mapping[str, str] | None = None) -> Path:
    """Writes `out`/book.html from the pages whose findings are in `out`; the same pages give the same bytes.

    `unavailable` says of pages that could not be asked what they need.
    """
    names = dict.fromkeys([*(item.name for item in PAPER), *pages()])
    found = {name: answer for name in names if (answer := load(out / name / FINDING)) is not None}
    path = out / BOOK
    write_text(path, book(found, unavailable or {}))
    return path


def book(answers: Mapping[str, Answer], unavailable: Mapping[str, str]) -> str:
    """The book as HTML text; `answers` by page, in its order."""
    sections = [_verdicts(answers, unavailable), *(_page(answer) for answer in answers.values())]
    return document(
        f"The book: {PAPER_TITLE}", summary(answers), _how_asked(answers), sections, book_style.CSS
    )


def summary(answers: Mapping[str, Answer]) -> str:
    """How many claims hold, hold in part or do not, in a sentence."""
    of_paper = [answers[item.name].finding.verdict.word for item in PAPER if item.name in answers]
    counts = ", ".join(_counted(of_paper, word) for word in WORDS)
    return f"{len(of_paper)} of the paper's {len(PAPER)} figures and tables are asked: {counts}."


def _counted(words: Sequence[str], word: str) -> str:
    """`12 hold`, `1 does not hold`."""
    count = words.count(word)
    return f"{count} {word if count == 1 else _plural(word)}"


def _plural(word: str) -> str:
    """Of several claims: hold, hold in part, do not hold."""
    return word.replace("holds", "hold").replace("does", "do")


def _how_asked(answers: Mapping[str, Answer]) -> str:
    scales = sorted({answer.scale for answer in answers.values()})
    asked = f" Asked at scale {' and '.join(scales)}." if scales else ""
    return (
        "Each page has the paper's claim in a sentence, our numbers and picture, a verdict computed from the "
        "numbers by a stated rule, what differs from the paper's set-up, and experiments that look for the "
        f"cause where the claim does not hold or holds in part.{asked}"
    )


def _verdicts(answers: Mapping[str, Answer], unavailable: Mapping[str, str]) -> str:
    asked_by_page = pages()
    rows = []
    for item in PAPER:
        if item.name in answers:
            rows.append(_verdict_row(answers[item.name], item.section))
            continue
        there = "its page has not been asked" if item.name in asked_by_page else item.needs
        reason = unavailable.get(item.name, there)
        rows.append(
            f'<tr class="absent"><th>{item.heading}</th><td>{item.section}</td>'
            f"<td>{escape(item.about)}</td><td>{_badge('not asked')}</td>"
            f"<td>{escape(reason)}</td></tr>"
        )
    rows += [_verdict_row(answers[name], "–") for name in answers if name not in {i.name for i in PAPER}]
    heads = "".join(f"<th>{head}</th>" for head in ("", "section", "claim", "verdict", "what was found"))
    return (
        '<section id="verdicts" class="long"><h2>Verdicts</h2><div class="scroll" tabindex="0">'
        f'<table class="verdicts"><thead><tr>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
        "</div></section>"
    )


def _verdict_row(answer: Answer, section: str) -> str:
    verdict = answer.finding.verdict
    return (
        f'<tr><th><a href="#{answer.page}">{escape(heading(answer.page))}</a></th><td>{section}</td>'
        f"<td>{escape(answer.claim)}</td><td>{_badge(verdict.word)}</td>"
        f"<td>{escape(_sentence(verdict.reason))}</td></tr>"
    )


def _page(answer: Answer) -> str:
    finding = answer.finding
    parts = [
        f'<section id="{answer.page}" class="page long">',
        f"<h2>{escape(heading(answer.page))} {_badge(finding.verdict.word)}</h2>",
        f'<p class="subject">{escape(answer.title)}</p>',
        f'<p class="claim"><b>The paper</b> {escape(answer.claim)}</p>',
        f'<p class="verdict {_slug(finding.verdict.word)}"><b>The claim {escape(finding.verdict.word)}.</b> '
        f"{escape(_sentence(finding.verdict.reason))}{_seeds(answer)}</p>",
        _drawn(answer.page, finding.charts),
        _table(finding.table),
        *(f'<p class="caption">{escape(note)}</p>' for note in finding.notes),
        *_why(answer),
        *_terms(answer),
        '<p class="back"><a href="#verdicts">Back to the verdicts</a></p></section>',
    ]
    return "".join(parts)


def _seeds(answer: Answer) -> str:
    """What the rule says of each seed alone."""
    if not answer.by_seed:
        return ""
    words = list(answer.by_seed.values())
    told = ", ".join(
        f"{words.count(word)} of {len(words)} {_plural(word)}" for word in WORDS if word in words
    )
    return f' <span class="seeds">By the same rule on each seed alone: {told}.</span>'


def _why(answer: Answer) -> list[str]:
    if not answer.causes:
        missing = "No experiment has been made that says why."
        return [] if answer.finding.verdict.word == "holds" else [f"<h3>Why</h3><p>{missing}</p>"]
    return [
        "<h3>Why</h3>",
        *(_cause(f"{answer.page}-why-{at}", each) for at, each in enumerate(answer.causes)),
    ]


def _cause(name: str, cause: Cause) -> str:
    table = "" if cause.table is None else _table(cause.table)
    return (
        f'<div class="cause"><h4>{escape(cause.question)}</h4><p>{escape(cause.answer)}</p>'
        f"{_drawn(name, cause.charts)}{table}</div>"
    )


def _terms(answer: Answer) -> list[str]:
    """What was run, how that differs from the paper, and the rule."""
    differences = "".join(f"<li>{escape(each)}</li>" for each in answer.differences)
    listed = f"<dt>What differs from the paper</dt><dd><ul>{differences}</ul></dd>" if differences else ""
    command = f"blox reproduce {answer.page} --scale {answer.scale}"
    return [
        f"<dl><dt>Our set-up</dt><dd>{escape(answer.setup)}</dd>{listed}"
        f"<dt>The rule</dt><dd>{escape(answer.rule)}</dd>"
        f"<dt>To ask it again</dt><dd><code>{escape(command)}</code></dd></dl>"
    ]


def _drawn(name: str, charts: Sequence[Picture]) -> str:
    """Pictures side by side where there is room."""
    parts = []
    for at, chart in enumerate(charts):
        title = f'<p class="panel">{escape(chart.title)}</p>' if chart.title else ""
        parts.append(f"<div>{title}{embedded(f'{name}-{at}', chart.interactive())}</div>")
    return f'<div class="{"pair" if len(parts) > 1 else "alone"}">{"".join(parts)}</div>' if parts else ""


def _table(table: Table) -> str:
    kind = [' class="words"' if _is_words(column) else "" for column in zip(*table.rows)]
    heads = "".join(f"<th{how}>{escape(head)}</th>" for head, how in zip(table.heads, kind))
    rows = "".join(
        f"<tr><th>{escape(row[0])}</th>"
        + "".join(f"<td{how}>{escape(cell)}</td>" for cell, how in zip(row[1:], kind[1:]))
        + "</tr>"
        for row in table.rows
    )
    return (
        f'<div class="scroll" tabindex="0"><table class="numbers"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _is_words(column: Sequence[str]) -> bool:
    """Whether no cell has a figure at its beginning: such columns are read, not compared."""
    return not any(cell.lstrip("+-$")[:1].isdigit() for cell in column)


def _badge(word: str) -> str:
    return f'<span class="badge {_slug(word)}">{escape(word)}</span>'


def _slug(word: str) -> str:
    return word.replace(" ", "-")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
