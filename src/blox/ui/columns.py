"""Columns on the wire: a JSON header and typed arrays behind it, which a browser reads without copying.

The first four bytes are the length of the header (little-endian), which is padded so that every array begins
at a multiple of 8 bytes. The header says of each array its type, its first byte and its length.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from blox.workloads.table import Array

MEDIA_TYPE = "application/octet-stream"
_ALIGNED = 8
_TYPES = {"f8": "Float64Array", "f4": "Float32Array", "i4": "Int32Array", "u1": "Uint8Array"}


def packed(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """The header with its arrays. Arrays are float64, float32, int32 or uint8; header values are JSON."""
    listed: dict[str, Any] = {}
    pieces: list[bytes] = []
    at = 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).tobytes()
        listed[name] = [_TYPES[array.dtype.str[1:]], at, len(array)]
        pieces.append(data + bytes(-len(data) % _ALIGNED))
        at += len(pieces[-1])
    text = json.dumps({**header, "arrays": listed}, allow_nan=False).encode()
    text += b" " * (-(4 + len(text)) % _ALIGNED)
    return b"".join((len(text).to_bytes(4, "little"), text, *pieces))
