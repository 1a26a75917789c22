"""Columns as a browser reads them."""

import json

import numpy as np


def unpacked(data):
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    kinds = {"Float64Array": "<f8", "Float32Array": "<f4", "Int32Array": "<i4", "Uint8Array": "<u1"}
    arrays = {}
    for name, (kind, first, count) in header["arrays"].items():
        assert (4 + length + first) % 8 == 0, "a typed array begins at a multiple of its size"
        arrays[name] = np.frombuffer(data, kinds[kind], count, 4 + length + first)
    return header, arrays
