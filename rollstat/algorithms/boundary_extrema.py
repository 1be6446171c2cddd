"""Extrema of windows that an end of the data cuts off: all begin, or all end, with it, each a row further."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block
from rollstat.kernels.extrema.blockwise import growing, shrinking
from rollstat.kernels.extrema.van_herk import suffixes
from rollstat.kernels.missing.counting import length_with
from rollstat.kernels.simd.comparator import worst

__all__ = ["seen_by_cut_off", "write_cut_off", "write_extrema_of_ends"]


def seen_by_cut_off(block: Block) -> tuple[NDArray[Any], bool] | None:
    """The values that such windows see and whether they grow; None for windows that are not such."""
    if block.reach is not None:
        return (block.values, True) if block.reach > 0 else None
    start, end = block.start, block.end
    grows, shrinks = start[0] == start[-1], end[0] == end[-1]
    moving = end if grows else start
    if grows == shrinks or not (moving[1:] - moving[:-1] == 1).all() or (end - start).min() < 1:
        return None
    return block.values[start[0] : end[-1]], bool(grows)


def write_cut_off(
    extrema: Sequence[tuple[Any, NDArray[Any]]], values: NDArray[Any], grows: bool, least: int | None
) -> bool:
    """Write the extremum by each order, and NaN to rows with fewer than `least` observations, if it is given.

    The windows begin with `values` and the last one is all of them, or end with them and the first one is.
    Returns whether there may be a NaN.
    """
    kernel = growing if grows else shrinking
    nan = False
    for order, out in extrema:
        nan |= bool(kernel(order, values, out))
    if least is not None:
        rows = len(extrema[0][1])
        if grows:
            few = slice(0, max(length_with(values, least) - (len(values) - rows + 1), 0))
        else:
            observed = np.count_nonzero(values == values) if nan else len(values)
            few = slice(length_with(values, observed - least + 1), rows)
        for _, out in extrema:
            out[few] = np.nan
    return nan


def write_extrema_of_ends(order: Any, older: NDArray[Any], newer: NDArray[Any], out: NDArray[Any]) -> None:
    """Write the extrema of ``older[i:]`` with ``newer[:i + 1]``, for as many of both, without NaN."""
    none = worst(order, newer.dtype)
    suffixes(order, older, none, newer, none, out, none, newer)
