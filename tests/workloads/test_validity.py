"""A valid job is defined once: traces, `JobTable.build` and workloads of one's own are held to one table."""

import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from blox import Experiment
from blox.errors import BloxError
from blox.workloads.columns import COLUMNS
from blox.workloads.readers.csv import Csv
from blox.workloads.table import JobTable
from blox.workloads.validity import RULES, UNIQUE_IDS, broken_rules, repeated_ids

DOC = (Path(__file__).resolve().parents[2] / "docs" / "workloads.md").read_text()
JOB = {"job_id": "a", "submit_s": 0, "gpus": 2, "duration_s": 60}
NUMBERS = [column for column in COLUMNS.values() if not column.is_text]


def outside(column):
    """Values just out of a column's range."""
    if column.least is not None:
        yield column.least - 1
    if column.above is not None:
        yield column.above
    if column.most is not None:
        yield column.most * 2
    if column.is_whole:
        yield 1.5


def bounds(column):
    """The outermost values in range."""
    yield from (each for each in (column.least, column.most) if each is not None)


FAULTS = [(column.name, value) for column in NUMBERS for value in outside(column)]
# every pair of columns that must be in order, out of it
FAULTS += [("min_gpus", 3), ("max_gpus", 1)]


@dataclass(frozen=True)
class Raw:
    """One job, as a program of one's own may hand it over: not built, so not checked yet."""

    column: str
    value: float

    def batches(self, rng):
        job = {**JOB, self.column: self.value}
        yield JobTable({name: np.array([value]) for name, value in job.items()}, "mine")


def from_trace(column, value, folder):
    job = {**JOB, column: value}
    file = folder / "t.csv"
    file.write_text(",".join(job) + "\n" + ",".join(map(str, job.values())) + "\n")
    return Csv(str(file)).read()


def built(column, value, folder):
    return JobTable.build({name: [value] for name, value in {**JOB, column: value}.items()}, source="mine")


def submitted(column, value, folder):
    spec = f"{__file__}:Raw:column={column},value={value}"
    return Experiment(workload=spec, cluster="2x4", max_rounds=1).run()


@pytest.mark.parametrize("way", [from_trace, built, submitted])
@pytest.mark.parametrize(("column", "value"), FAULTS)
def test_what_is_out_of_range_is_refused_whatever_way_it_comes(way, column, value, tmp_path):
    with pytest.raises(BloxError) as caught:
        way(column, value, tmp_path)
    assert f"{column} is " in caught.value.what
    texts = [rule.text for rule in RULES if rule.column == column]
    assert caught.value.fix.startswith(f"{column} must be a whole number") or any(
        caught.value.fix == f"{column} {text}" for text in texts
    )


@pytest.mark.parametrize("way", [from_trace, built])
@pytest.mark.parametrize(("column", "value"), [(c.name, v) for c in NUMBERS for v in bounds(c)])
def test_the_bounds_themselves_are_valid(way, column, value, tmp_path):
    table = way(column, value, tmp_path)
    assert table.columns[column].tolist() == [value]


@pytest.mark.parametrize("column", NUMBERS, ids=lambda column: column.name)
def test_infinity_is_never_valid_and_nan_only_where_it_is_the_default(column):
    found = column.out_of_range(np.array([math.inf, -math.inf, math.nan]))
    optional = isinstance(column.default, float) and math.isnan(column.default)
    assert found.tolist() == [True, True, not optional]


def test_text_among_numbers_and_numbers_beyond_measure_are_refused():
    for value in ("two", 10**40, None):
        with pytest.raises(BloxError, match="'gpus' holds other things than numbers"):
            built("gpus", value, None)


def test_a_value_is_blamed_once():
    columns = {name: np.array([value]) for name, value in {**JOB, "max_gpus": -1}.items()}
    assert [(rule.column, rule.text) for rule, _ in broken_rules(columns)] == [
        ("max_gpus", "must be 0 or more, and at most 10,000,000")
    ]


def test_columns_that_are_missing_unknown_or_of_other_lengths_are_refused_unbuilt_too():
    good = {name: np.array([value]) for name, value in JOB.items()}
    for columns, words in (
        ({k: v for k, v in good.items() if k != "gpus"}, "'gpus' is missing"),
        ({**good, "gpu": good["gpus"]}, "no column is called 'gpu'"),
        ({**good, "user": np.array(["x", "y"], dtype=object)}, "differ in length"),
    ):
        with pytest.raises(BloxError, match=words):
            JobTable(columns).validate()


def test_an_id_that_an_earlier_job_has_is_found_with_that_job():
    ids = np.array(["a", "b", "a", "", "", "a"], dtype=object)
    assert repeated_ids(ids) == {2: 0, 5: 0}
    with pytest.raises(BloxError, match="the job_id 7 is used twice"):
        JobTable.build({**{k: [v] * 2 for k, v in JOB.items()}, "job_id": [7, 7]}, source="mine")
    with pytest.raises(BloxError, match="job_id must not be empty or blank"):
        built("job_id", "", None)


def test_the_documentation_lists_the_rules():
    shown = re.search(r"^In a valid trace:\n(.*?)^The format", DOC, re.MULTILINE | re.DOTALL)
    wanted = [f"{rule.column} {rule.text}" for rule in RULES]
    assert shown and [line.strip() for line in shown[1].splitlines()] == [*wanted, UNIQUE_IDS]


def test_ids_are_told_as_text_whatever_holds_them():
    ids = np.array([np.str_("a"), np.str_("a")], dtype=object)
    columns = {"job_id": ids, "submit_s": np.zeros(2), "gpus": np.ones(2, int), "duration_s": np.ones(2)}
    with pytest.raises(BloxError, match="the job_id 'a' is used twice"):
        JobTable(columns).validate()
    columns |= {"job_id": np.array([np.str_("a"), "b"], dtype=object), "gpus": np.zeros(2, int)}
    with pytest.raises(BloxError, match="job 'a': gpus is 0"):
        JobTable(columns).validate()
