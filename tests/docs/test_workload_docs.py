"""docs/workloads.md says what the code does: every column, every format, every option."""

import math
import re

import numpy as np
import pytest

from blox.registry import classes, parameters
from blox.workloads.readers.base import TraceReader
from blox.workloads.table import COLUMNS
from blox.workloads.writers import WRITERS
from support.places import ROOT

DOC = (ROOT / "docs" / "workloads.md").read_text()


def row_of(column):
    if column.required:
        default = "required"
    elif column.is_text:
        default = "(empty)"
    else:
        default = "(none)" if math.isnan(column.default) else str(column.default)
    kind = "text" if column.is_text else "whole number" if column.dtype is np.int64 else "number"
    meaning = column.meaning.replace("|", r"\|")
    return f"| `{column.name}` | {kind} | {default} | {meaning} |"


def test_the_table_of_columns_is_that_of_the_code():
    listed = re.findall(r"^\| `\w+` \| (?:text|number|whole number) \|.*$", DOC, re.MULTILINE)
    assert listed == [row_of(column) for column in COLUMNS.values()]


@pytest.mark.parametrize("name", sorted(classes("reader")))
def test_every_format_is_there_with_its_options(name):
    row = re.search(rf"^\| `{name}` \| .*$", DOC, re.MULTILINE)
    assert row, f"docs/workloads.md has no row for the format {name}"
    common = set(parameters(TraceReader))
    for option in parameters(classes("reader")[name]):
        assert option in common or f"`{option}=" in row.group(), f"{name}: {option} is not documented"
    assert name == "csv" or f"**`{name}`**" in DOC, f"what {name} assumes is not documented"


def test_options_of_all_formats_and_writers_are_there():
    assert all(f"`{option}=" in DOC for option in set(parameters(TraceReader)) - {"path"})
    assert all(f"`{name}`" in DOC for name in WRITERS)


def test_there_is_a_section_on_generators():
    assert "\n## Generators\n" in DOC
