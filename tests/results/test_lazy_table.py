"""Tables of a result are dicts of columns, as pandas and polars take them, also those made on demand."""

import pickle

import numpy as np

from blox import Experiment, Result
from blox.results.lazy_table import LazyTable

COLUMNS = {"a": np.arange(3), "b": np.array(["x", "y", "z"], dtype=object)}


def test_columns_are_made_once_and_only_when_read():
    made = []
    table = LazyTable(lambda: made.append(1) or dict(COLUMNS))
    assert isinstance(table, dict) and not made
    assert list(table) == ["a", "b"] and len(table) == 2 and "a" in table and made == [1]
    assert table["a"] is COLUMNS["a"] and table.get("c") is None
    assert made == [1]


def test_every_first_way_to_read_it_fills_it():
    for read in (
        lambda table: dict(table),
        lambda table: {**table},
        lambda table: dict(table.items()),
        lambda table: dict(zip(table.keys(), table.values())),
        lambda table: {name: table.get(name) for name in ("a", "b")},
        lambda table: pickle.loads(pickle.dumps(table)),
    ):
        found = read(LazyTable(COLUMNS.copy))
        assert type(found) is dict and list(found) == ["a", "b"]
        assert np.array_equal(found["a"], COLUMNS["a"])


def test_tables_of_a_run_and_of_its_directory_have_the_same_types(tmp_path):
    """Numbers, or texts: no column of mixed objects, which polars would not take for text."""
    result = Experiment(workload="philly:load=24,jobs=40").run()
    loaded = Result.load(result.save(tmp_path / "run"))
    for name in ("jobs", "rounds", "stints"):
        fresh, kept = getattr(result, name), getattr(loaded, name)
        assert isinstance(fresh, dict) and isinstance(kept, dict), name
        assert {key: values.dtype for key, values in fresh.items()} == {
            key: values.dtype for key, values in kept.items()
        }
        for key, values in fresh.items():
            assert np.array_equal(values, kept[key], equal_nan=values.dtype.kind == "f"), key
            if values.dtype == object:
                assert {type(value) for value in values.tolist()} == {str}, key
