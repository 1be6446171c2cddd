"""Extrema of boundary windows, which all begin with the first row or all end with the last."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block
from rollstat.kernels.extrema.blockwise import growing, shrinking
from rollstat.kernels.missing.counting import observed_prefix

__all__ = ["values_of_boundary", "write_boundary"]


def values_of_boundary(block: Block) -> tuple[NDArray[Any], bool] | None:
    """Return the values of boundary windows and whether the windows grow; None for other windows."""
    if block.reach is not None:
        return (block.values, True) if block.reach > 0 else None
    start, end = block.start, block.end
    grows, shrinks = start[0] == start[-1], end[0] == end[-1]
    moving = end if grows else start
    if grows == shrinks or not (moving[1:] - moving[:-1] == 1).all() or (end - start).min() < 1:
        return None
    return block.values[start[0] : end[-1]], bool(grows)


def write_boundary(
    extrema: Sequence[tuple[Any, NDArray[Any]]], values: NDArray[Any], grows: bool, least: int | None
) -> bool:
    """Write the extremum by each order, and NaN to rows with fewer than `least` observations if it is given.

    If the windows grow, all begin with the first value and the last window is all values. Otherwise all end
    with the last value and the first window is all values.
    Returns whether there may be a NaN.
    """
    kernel = growing if grows else shrinking
    nan = False
    for order, out in extrema:
        nan |= bool(kernel(order, values, out))
    if least is not None:
        rows = len(extrema[0][1])
        if grows:
            few = slice(0, max(observed_prefix(values, least) - (len(values) - rows + 1), 0))
        else:
            observed = np.count_nonzero(values == values) if nan else len(values)
            few = slice(observed_prefix(values, observed - least + 1), rows)
        for _, out in extrema:
            out[few] = np.nan
    return nan
