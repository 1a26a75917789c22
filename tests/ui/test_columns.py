"""Columns on the wire are read back as a browser reads them."""

import numpy as np

from blox.ui.columns import packed
from support.packed import unpacked


def test_columns_come_back():
    given = {
        "a": np.array([1.5, np.nan]),
        "b": np.array([1, 2, 3], dtype=np.int32),
        "c": np.array([250], dtype=np.uint8),
        "d": np.empty(0, dtype=np.float32),
        "e": np.array([0.25], dtype=np.float32),
    }
    header, arrays = unpacked(packed({"label": "ü</script>"}, given))
    assert header["label"] == "ü</script>"
    for name, array in given.items():
        np.testing.assert_array_equal(arrays[name], array)
