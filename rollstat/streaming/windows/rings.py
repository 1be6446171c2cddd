"""Many values into a ring and out of it; index i of a series has place ``i % len(ring)``."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["read_ring", "write_ring"]


def write_ring(ring: NDArray[Any], first: int, values: NDArray[Any]) -> None:
    """Write values to the places of ``first, first + 1, ...``."""
    start = first % len(ring)
    before_end = len(ring) - start
    ring[start : start + len(values)] = values[:before_end]
    ring[: max(len(values) - before_end, 0)] = values[before_end:]


def read_ring(ring: NDArray[Any], first: int, number: int) -> NDArray[Any]:
    """Return a copy of `number` values from index `first`."""
    start = first % len(ring)
    return np.concatenate([ring[start : start + number], ring[: max(start + number - len(ring), 0)]])
