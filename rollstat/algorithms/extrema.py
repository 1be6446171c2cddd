"""Minimum, maximum and their positions over a block, by any of the algorithms for them.

Where a block has not been searched for NaN, the algorithms pass over NaN by themselves, and tell the
block if there was none.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block
from rollstat.kernels import block_scan as scans
from rollstat.kernels import wedge as wedges
from rollstat.kernels.order import Greatest, Least, neutral

__all__ = ["Extrema", "block_scan", "wedge"]

Order = Least | Greatest
_NO_MASK = np.empty(0, np.bool_)
_NO_POSITIONS = np.empty(0, np.int64)


@dataclass(slots=True)
class Extrema:
    """What an extrema algorithm is asked for over one block, and where it writes the answer.

    An output that is None is not wanted. A row without an observation gets any value, and position -1.

    Attributes
    ----------
    minimum, maximum : ndarray, shape (rows,), dtype of the values, or None
        Receive the extrema.
    minimum_position, maximum_position : ndarray of int64, shape (rows,), or None
        Receive the indices into ``block.values`` where they stand.
    last : bool
        Whether the position of equal values is the last of them instead of the first.
    """

    minimum: NDArray[Any] | None = None
    maximum: NDArray[Any] | None = None
    minimum_position: NDArray[np.int64] | None = None
    maximum_position: NDArray[np.int64] | None = None
    last: bool = False


def _mask(block: Block) -> NDArray[np.bool_]:
    """The mask of a searched block, with no length where nothing is missing or nobody has looked."""
    if not block.searched or block.missing is None:
        return _NO_MASK
    return block.missing


def _longest(block: Block) -> int:
    if block.width > 0:
        return block.width
    return int((block.end - block.start).max(initial=0))


def _each_order(block: Block, request: Extrema, extremum: Callable[[Order, NDArray[Any]], bool]) -> None:
    """Let `extremum` write the values for each order, returning whether a NaN was seen; find positions."""
    seen = False
    for order, out, position in (
        (Least(), request.minimum, request.minimum_position),
        (Greatest(), request.maximum, request.maximum_position),
    ):
        if out is None and position is None:
            continue
        best = np.empty(block.rows, block.values.dtype) if out is None else out
        seen = bool(extremum(order, best)) or seen
        if position is not None:
            locate = scans.locate_last if request.last else scans.locate_first
            locate(order, block.values, _mask(block), block.start, block.end, best, position)
    if not block.searched and not seen:
        block.missing = None


def block_scan(block: Block, request: Extrema) -> None:
    """Van Herk and Gil-Werman's block scans, for any windows."""
    values = block.values
    suffix = np.empty(_longest(block), values.dtype)

    def extremum(order: Order, out: NDArray[Any]) -> bool:
        worst = neutral(order, values.dtype)
        return scans.scan(order, values, _mask(block), block.start, block.end, worst, suffix, out)

    _each_order(block, request, extremum)


def wedge(block: Block, request: Extrema) -> None:
    """Lemire's monotonic wedge, for any windows."""
    no_values = np.empty(0, block.values.dtype)
    low = no_values if request.minimum is None else request.minimum
    high = no_values if request.maximum is None else request.maximum

    def run(low, high, low_position, high_position, ties):
        header, position, value, _ = wedges.create(_longest(block), block.values.dtype, ties=ties)
        wedges.fill(
            header, position, value, block.values, _mask(block), block.start, block.end,
            low, high, low_position, high_position,
        )  # fmt: skip

    # Both positions with the same rule for ties are two wedges: each settles the ties of one side.
    lower_ties, upper_ties = ("minimum_first", "minimum_last")[:: -1 if request.last else 1]
    if request.minimum_position is not None:
        run(low, high, request.minimum_position, _NO_POSITIONS, lower_ties)
        low = high = no_values
    if request.maximum_position is not None:
        run(low, high, _NO_POSITIONS, request.maximum_position, upper_ties)
        low = high = no_values
    if len(low) > 0 or len(high) > 0:
        run(low, high, _NO_POSITIONS, _NO_POSITIONS, "any")
