"""The book: one file without network, the verdicts first, every item of the paper in it, damage told."""

import re

import msgspec
import pytest

from blox.errors import BloxError
from blox.report.charts import Bar, Bars, Chart, Line, Spans
from blox.reproduce.answer import Answer, Cause, Finding, Table, Verdict, load
from blox.reproduce.book import book, summary, write_book
from blox.reproduce.catalogue import PAPER, pages
from blox.reproduce.runner import FINDING

LINES = Chart("load", "JCT (h)", (Line("FIFO", (1.0, 2.0), (3.0, 4.0), low=(2.0, 3.0), high=(4.0, 5.0)),))
BARS = Bars(("plain", "bursty"), "JCT (h)", (Bar("FIFO", (3.0, 4.0)), Bar("LAS", (2.0, 5.0))), title="(b)")
SPANS = Spans(("FIFO", "LAS"), (((0.0, 3600.0),), ()), 7200.0)


def answer(page="fig6", word="holds", causes=(), **fields):
    finding = Finding(Table(("jobs/h", "h"), (("2", "1.5"),)), (LINES, BARS, SPANS), Verdict(word, "5 % off"))
    given = {
        "page": page, "title": "by load", "claim": "A <claim>.", "rule": "Holds if so.", "setup": "Jobs.",
        "differences": ("Ours are elastic.",), "scale": "quick", "finding": finding, "by_seed": {},
        "causes": causes, "blox_version": "0",
    }  # fmt: skip
    return Answer(**{**given, **fields})


def test_an_answer_is_kept_whole(tmp_path):
    kept = answer(causes=(Cause("Is it the load?", "Yes.", Table(("a",), (("1",),)), (LINES,)),))
    kept.save(tmp_path / FINDING)
    assert load(tmp_path / FINDING) == kept
    assert load(tmp_path / "none.json") is None


def test_a_damaged_file_is_told(tmp_path):
    (tmp_path / "fig6").mkdir()
    (tmp_path / "fig6" / FINDING).write_text("{")
    with pytest.raises(BloxError, match="damaged"):
        write_book(tmp_path)


def test_verdicts_come_first_and_name_every_item_of_the_paper():
    text = book({"fig6": answer(word="holds in part")}, {"fig18": "a cluster is needed"})
    table = text[text.index('id="verdicts"') : text.index('id="fig6"')]
    for item in PAPER:
        assert f"{item.heading}<" in table
    assert table.count("not asked") == len(PAPER) - 1
    assert "a cluster is needed" in table and '<a href="#fig6">Figure 6</a>' in table
    assert "A &lt;claim&gt;." in table


def test_a_page_has_all_its_parts():
    cause = Cause("Is it the load?", "It is.", None, (LINES,))
    text = book({"fig6": answer(causes=(cause,), by_seed={"1": "holds", "2": "does not hold"})}, {})
    page = text[text.index('<section id="fig6"') :]
    for words in (
        "A &lt;claim&gt;.", "The claim holds", "5 % off.", "Holds if so.", "Jobs.", "Ours are elastic.",
        "Is it the load?", "It is.", "1 of 2 hold, 1 of 2 do not hold", "blox reproduce fig6 --scale quick",
    ):  # fmt: skip
        assert words in page, words
    assert page.count('class="figure"') == 4


def test_a_verdict_without_a_cause_says_so():
    missing = "No experiment has been made that says why."
    assert missing in book({"fig6": answer(word="does not hold")}, {})
    assert missing not in book({"fig6": answer()}, {})


def test_the_book_needs_no_network():
    text = book({"fig6": answer()}, {})
    assert "default-src 'none'" in text
    own = re.sub(r"<script>.*?</script>", "", text, flags=re.S)  # without plotly itself, held by the policy
    assert not re.findall(r"""(?:src|href)=["'](?!#)""", own) and "@import" not in own and "url(" not in own


def test_the_same_pages_give_the_same_bytes_in_the_order_of_the_paper(tmp_path):
    for name in ("fig10", "fig6", "table4"):
        answer(page=name).save(tmp_path / name / FINDING)
    first = write_book(tmp_path).read_bytes()
    assert write_book(tmp_path).read_bytes() == first
    places = [first.index(f'<section id="{name}"'.encode()) for name in ("fig6", "fig10", "table4")]
    assert places == sorted(places)


def test_the_summary_counts_words():
    found = {"fig6": answer(), "fig7": answer("fig7", "does not hold"), "gavel": answer("gavel")}
    assert summary(found) == (
        f"2 of the paper's {len(PAPER)} figures and tables are asked: "
        "1 holds, 0 hold in part, 1 does not hold."
    )


def test_rows_of_one_kind_have_one_colour():
    rows, spans = ("FIFO, all", "FIFO, 1.2x", "LAS, all"), (((0.0, 60.0),),) * 3
    drawn = Spans(rows, spans, 60.0, kinds=(0, 0, 1)).interactive().data
    first, second, third = (bar.marker.color for bar in drawn)
    assert first == second != third


@pytest.mark.parametrize(("chart", "traces"), [(LINES, 1), (BARS, 2), (SPANS, 2)])
def test_charts_survive_being_kept_and_draw_themselves_twice(chart, traces, tmp_path):
    from blox.report.charts import Picture, save_charts

    assert msgspec.json.decode(msgspec.json.encode(chart), type=Picture) == chart
    assert len(chart.interactive().data) == traces
    written = save_charts((chart, LINES), tmp_path / "figure")
    assert [path.suffix for path in written] == [".png", ".svg"]
    assert written[1].read_text().rstrip().endswith("</svg>")


def test_every_page_of_the_paper_is_an_item():
    assert set(pages()) <= {item.name for item in PAPER} | {"gavel"}
