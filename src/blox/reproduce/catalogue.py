"""The items of the paper that the book answers for, in its order, and the pages that there are."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass

from blox.errors import BloxError, suggestion
from blox.reproduce.page import Page


@dataclass(frozen=True)
class Item:
    """A figure or table of the paper: the name of its page, where it stands, and what it is about.

    `needs` says what its page waits for, while there is none.
    """

    name: str
    section: str
    about: str
    needs: str = "no page asks this yet"

    @property
    def heading(self) -> str:
        """`fig6` -> Figure 6."""
        kind = "Table" if self.name.startswith("table") else "Figure"
        return f"{kind} {self.name.removeprefix('table').removeprefix('fig')}"


_CLUSTER = "it needs a run on a real cluster, and no page asks for one yet"
PAPER = (
    Item("table3", "4.1", "modules and lines that each scheduler adds"),
    Item("fig3", "4.1", "Pollux in Blox against Pollux's own simulator"),
    Item("fig4", "4.1", "Tiresias in Blox against Tiresias's own simulator"),
    Item("fig5", "4.1", "Synergy in Blox against Synergy's own simulator"),
    Item("fig6", "4.2", "FIFO, Tiresias and Optimus by load: average JCT"),
    Item("fig7", "4.2", "FIFO, Tiresias and Optimus by load: responsiveness"),
    Item("fig8", "4.2", "Pollux, FIFO and LAS by load: average JCT"),
    Item("fig9", "4.2", "Pollux, FIFO and LAS by load: responsiveness"),
    Item("fig10", "4.3", "placement by skew against consolidating all jobs"),
    Item("fig11", "4.3", "placement by skew against placement by profile"),
    Item("fig12", "5.1", "admission thresholds with LAS"),
    Item("fig13", "5.1", "admission thresholds with LAS under spikes"),
    Item("fig14", "5.2", "the synthesizer against static policies"),
    Item("fig15", "5.2", "which policies the synthesizer chose when"),
    Item("fig16", "5.3", "loss-based termination"),
    Item("table4", "5.3", "bandwidth-aware placement inside a node"),
    Item("table7", "6.3", "abstractions that each scheduler changes"),
    Item("fig18", "7", "the simulator against a cluster", _CLUSTER),
    Item("fig19", "7", "optimistic against central lease renewal", _CLUSTER),
    Item("fig20", "A", "the synthesizer with two objectives"),
    Item("fig21", "A", "which policies the synthesizer chose for two objectives"),
)
_RANK = {item.name: rank for rank, item in enumerate(PAPER)}


def pages() -> dict[str, Page]:
    """Every page there is, by name, in the order of the paper; those about other papers come last."""
    found = {}
    package = importlib.import_module("blox.reproduce")
    for module in pkgutil.iter_modules(package.__path__):
        if (page := _page_in(module.name)) is not None:
            found[module.name] = page
    return dict(sorted(found.items(), key=lambda item: (_RANK.get(item[0], len(PAPER)), item[0])))


def page_called(name: str) -> Page:
    """The page of that name; the valid ones are told if there is none."""
    known = pages()
    if name in known:
        return known[name]
    if name in _RANK:
        item = PAPER[_RANK[name]]
        raise BloxError(f"{item.heading} ({item.about}): {item.needs}", where="blox reproduce")
    raise BloxError(
        f"no page is called {name!r}", where="blox reproduce", fix=suggestion(name, [*known, "all"])
    )


def heading(name: str) -> str:
    """`Figure 6` for `fig6`; other pages are called by their name."""
    return PAPER[_RANK[name]].heading if name in _RANK else name.capitalize()


def _page_in(module: str) -> Page | None:
    found: Page | None = getattr(importlib.import_module(f"blox.reproduce.{module}"), "PAGE", None)
    return found
