"""Many values into a ring and out of it; index i of a series has place ``i % len(ring)``."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["parts_of_ring", "read_ring", "write_ring"]


def write_ring(ring: NDArray[Any], first: int, values: NDArray[Any]) -> None:
    """Write values to the places of ``first, first + 1, ...``."""
    start = first % len(ring)
    before_end = len(ring) - start
    ring[start : start + len(values)] = values[:before_end]
    ring[: max(len(values) - before_end, 0)] = values[before_end:]


def parts_of_ring(ring: NDArray[Any], first: int, number: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return views of `number` values from index `first`: up to the end of the ring, and from its start."""
    start = first % len(ring)
    return ring[start : start + number], ring[: max(start + number - len(ring), 0)]


def read_ring(ring: NDArray[Any], first: int, number: int) -> NDArray[Any]:
    """Return a copy of `number` values from index `first`."""
    return np.concatenate(parts_of_ring(ring, first, number))
