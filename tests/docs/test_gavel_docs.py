"""The tables of the page on fidelity: every policy and every option, and none that there is not."""

import dataclasses
import re

from blox.schedulers.gavel.policies.by_name import POLICIES
from blox.schedulers.gavel.scheduler import Gavel
from support.places import ROOT

PAGE = ROOT / "docs" / "fidelity.md"


def rows(head):
    """The cells of the table under this head."""
    lines = PAGE.read_text().split(head, 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_policy_is_in_the_table():
    told = set()
    for name, endings, _ in rows("| policy | endings | who gets what |"):
        stem = name.strip("`")
        told |= {stem + ending for ending in re.findall(r"`(\w+)`", endings)}
        told |= {stem} if "none" in endings else set()
    assert told == set(POLICIES)


def test_every_option_is_in_the_table():
    told = {
        name.strip("`"): default.strip("`") for name, default, _ in rows("| option of `--scheduler gavel:` |")
    }
    fields = {field.name: field.default for field in dataclasses.fields(Gavel)}
    assert told.keys() == fields.keys()
    for name, default in told.items():
        assert default == (
            ""
            if fields[name] == ()
            else f"{fields[name]:g}"
            if isinstance(fields[name], float)
            else fields[name]
        )
