"""Linear interpolation between scattered points in three dimensions, over their Delaunay tetrahedra.

scipy's LinearNDInterpolator does it, but inverts the matrix of each tetrahedron by LAPACK, whose threads take
seconds over a few hundred points on a busy machine. Here the inverses are reckoned first and handed to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from blox.extras import from_extra
from blox.workloads.table import Array

_FLAT = 1000 * np.finfo(np.float64).eps  # reciprocal condition below which scipy counts a tetrahedron as flat


def piecewise_linear(points: Array, values: Array) -> Any:
    """A function of a point (three coordinates) that is linear between points (n x 3) with values (n x m).

    Its answers are not numbers outside of all tetrahedra.
    """
    spatial = from_extra("scipy.spatial", "elastic", "a speed on GPUs that were not measured")
    mesh = spatial.Delaunay(points)
    # Where scipy keeps what it has reckoned of this; a version that looks elsewhere reckons it by itself.
    mesh._transform = _coordinates(np.asarray(points, dtype=np.float64), mesh.simplices)
    interpolate = from_extra("scipy.interpolate", "elastic", "a speed on GPUs that were not measured")
    return interpolate.LinearNDInterpolator(mesh, values)


def _coordinates(points: Array, corners: Array) -> Array:
    """Per tetrahedron (4 x 3): a matrix that gives shares of its first three corners, and the last corner."""
    last = points[corners[:, 3]]
    edges = points[corners[:, :3]] - last[:, None]  # tetrahedra x edges x 3
    # The inverse of a matrix of three columns: cross products of the other two, over the determinant.
    across = np.stack([np.cross(edges[:, i - 2], edges[:, i - 1]) for i in range(3)], axis=1)
    volume = (edges[:, 0] * across[:, 0]).sum(axis=1)
    inverse = across / np.where(volume == 0, 1.0, volume)[:, None, None]
    size = np.abs(edges).sum(axis=2).max(axis=1) * np.abs(inverse).sum(axis=1).max(axis=1)
    flat = (volume == 0) | (size * _FLAT > 1)
    found = np.concatenate([inverse, last[:, None]], axis=1)
    found[flat] = np.nan
    return np.ascontiguousarray(found)
