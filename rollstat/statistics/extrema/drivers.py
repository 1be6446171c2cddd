"""Minimum, maximum and their positions over a block, by any of the algorithms for them.

If a block has not been searched for NaN, the algorithms skip NaN by themselves, and record in the block if
there was none.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block, Outcome, read_only
from rollstat.compile.simd.vectors import lanes_in
from rollstat.kernels.comparator import Arg, Greatest, Least, Newest, Oldest, worst
from rollstat.kernels.extrema import blockwise
from rollstat.kernels.extrema import doubling as doubling_kernel
from rollstat.kernels.extrema import wedge as wedges
from rollstat.kernels.extrema.any_windows import correct_positions, growing, locate, scan
from rollstat.kernels.extrema.doubling import allocate
from rollstat.operators import choices
from rollstat.plan import IN_ANY_ORDER, Choice
from rollstat.statistics.aggregate.drivers import aggregate, prepare_once
from rollstat.thresholds import BLOCKWISE, FEW_EXTREMA_ROWS

_operators: Any = choices  # type checkers take class attributes of the operators for fields
_NO_MASK = np.empty(0, np.bool_)
_NO_POSITIONS = np.empty(0, np.int64)


FIELDS = {
    "min": "minimum",
    "max": "maximum",
    "argmin": "minimum_position",
    "argmax": "maximum_position",
}
"""The attribute of :class:`Extrema` for each output."""


@dataclass(slots=True)
class Extrema:
    """The outputs that an extrema algorithm computes over one block; one that is None is not wanted.

    A row without an observation gets any value and any position.

    Attributes
    ----------
    minimum, maximum : ndarray, shape (rows,), dtype of the values, or None
        Receive the extrema.
    minimum_position, maximum_position : ndarray of int64, shape (rows,), or None
        Receive the positions of the extrema in ``block.values``.
    last : bool
        Whether the position of equal values is the last of them instead of the first.
    opposite : bool
        Whether the rule for the position of the maximum is the opposite one, so that one wedge gives both.
    base : int
        Added to positions.
    """

    minimum: NDArray[Any] | None = None
    maximum: NDArray[Any] | None = None
    minimum_position: NDArray[np.int64] | None = None
    maximum_position: NDArray[np.int64] | None = None
    last: bool = False
    opposite: bool = False
    base: int = 0


def _mask(block: Block) -> NDArray[np.bool_]:
    """Return the mask of a searched block; without a length if nothing is missing or not searched."""
    if not block.searched or block.missing is None:
        return _NO_MASK
    return block.missing


def _wanted(request: Extrema) -> list[tuple[Least | Greatest, Any, Any, bool]]:
    """Return the orders of the wanted extrema, their outputs for values and positions, and rules of ties."""
    each = (
        (Least(), request.minimum, request.minimum_position, request.last),
        (Greatest(), request.maximum, request.maximum_position, request.last != request.opposite),
    )
    return [row for row in each if row[1] is not None or row[2] is not None]


def block_scan(block: Block, request: Extrema) -> Outcome:
    """Compute by van Herk's and Gil and Werman's block scans, for any windows."""
    values, mask, start, end = block.values, _mask(block), block.start, block.end
    older, newer = np.empty((2, block.longest + 1), values.dtype)
    nan = False
    for order, out, position, last in _wanted(request):
        best = np.empty(block.rows, values.dtype) if out is None else out
        nan |= scan(order, values, mask, start, end, older, newer, best)
        if position is not None:
            locate(order, values, mask, start, end, last, best, position)
            position += request.base
    return Outcome(complete=not block.searched and not nan, algorithm="block_scan")


def kernel_for_rows(
    order: Least | Greatest | Arg, dtype: np.dtype[Any], width: int, out: NDArray[Any]
) -> tuple[Any, int, Any]:
    """Return the kernel for windows of `width` rows, the size of its chunks or blocks, and scratch memory."""
    lanes, rows = lanes_in(dtype), len(out)
    if width <= BLOCKWISE:
        chunk = min(max(8_192 // dtype.itemsize, 40 * width), rows)
        chunk = -(-chunk // lanes) * lanes
        room = chunk + width + 2 * lanes
        return doubling_kernel.rolling, chunk, allocate(order, dtype, out, room)
    block = min(width // 2, max(16 * lanes, min(width // 8, 64 * lanes))) // lanes * lanes
    blocks = (rows + width) // block + 4
    return blockwise.rolling, block, allocate(order, dtype, out, block, blocks)


def _slide(
    order: Least | Greatest | Arg, values: NDArray[Any], width: int, shift: int, out: NDArray[Any]
) -> bool:
    """Write the extremum of every `width` values, or its position from `shift`; return whether NaN may be."""
    kernel, size, scratch = kernel_for_rows(order, values.dtype, width, out)
    return bool(kernel(order, values, width, size, scratch, shift, out))


def _observed(order: Least | Greatest, block: Block, itemsize: int = 1) -> NDArray[Any]:
    """Return the values in at least `itemsize` bytes, the worst value for those that the mask excludes."""
    values, mask = block.values, _mask(block)
    if len(mask) > 0:
        values = np.where(mask, worst(order, values.dtype), values)
    if values.itemsize < itemsize:
        values = values.astype(f"{values.dtype.kind}{itemsize}")
    return read_only(values)


def doubling(block: Block, request: Extrema) -> Outcome:
    """Compute in machine vectors, by doubling or blockwise, for windows of a fixed number of rows."""
    nan = False
    for order, out, position, last in _wanted(request):
        if out is not None:
            nan |= _slide(order, _observed(order, block), block.width, 0, out)
        if position is None:
            continue
        # Positions are as large as values.
        values = _observed(order, block, 4 if len(block.values) < 1 << 31 else 8)
        by_value = Arg(order, Newest() if last else Oldest())
        has_nan = _slide(by_value, values, block.width, request.base, position)
        nan |= has_nan
        if has_nan or len(_mask(block)) > 0:
            correct_positions(order, block.values, _mask(block), block.width, last, request.base, position)
    return Outcome(complete=not block.searched and not nan, algorithm="doubling")


def wedge(block: Block, request: Extrema) -> Outcome:
    """Compute by Lemire's monotonic wedge, for any windows."""
    no_values = np.empty(0, block.values.dtype)
    low = no_values if request.minimum is None else request.minimum
    high = no_values if request.maximum is None else request.maximum
    lower, upper = (
        _NO_POSITIONS if position is None else position
        for position in (request.minimum_position, request.maximum_position)
    )
    # The rules of ties of a wedge's two sides are opposite, so two positions with one rule take two wedges.
    lower_ties, upper_ties = ("minimum_first", "minimum_last")[:: -1 if request.last else 1]
    if len(lower) == len(upper) == 0:
        _run_wedge(block, low, high, lower, upper, "any")
    elif request.opposite or len(upper) == 0:
        _run_wedge(block, low, high, lower, upper, lower_ties)
    elif len(lower) == 0:
        _run_wedge(block, low, high, lower, upper, upper_ties)
    else:
        _run_wedge(block, low, high, lower, _NO_POSITIONS, lower_ties)
        _run_wedge(block, no_values, no_values, _NO_POSITIONS, upper, upper_ties)
    lower += request.base
    upper += request.base
    return Outcome(algorithm="wedge")


def _run_wedge(
    block: Block,
    low: NDArray[Any],
    high: NDArray[Any],
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    ties: str,
) -> None:
    """Write the extrema and positions that have a length, by one wedge."""
    state = wedges.create(block.longest, block.values.dtype, ties=ties)[:3]
    windows = block.values, _mask(block), block.start, block.end
    wedges.fill(*state, *windows, low, high, lower, upper)


def boundary(block: Block, request: Extrema) -> Outcome:
    """Compute windows that begin with the data, and grow by one row, if nothing is masked; else by scans."""
    if len(_mask(block)) > 0:
        return block_scan(block, request)
    nan = False
    for order, out, position, last in _wanted(request):
        if out is not None:
            nan |= growing(order, block.values, out)
        if position is not None:
            nan |= growing(Arg(order, Newest() if last else Oldest()), block.values, position)
            position += request.base
    return Outcome(complete=not block.searched and not nan, algorithm="boundary")


def static_tree(block: Block, request: Extrema) -> Outcome:
    """Compute by a static tree of combinations, for windows in any order."""
    for order, out, position, last in _wanted(request):
        greatest = isinstance(order, Greatest)
        if out is not None:
            value: Any = _operators.Maximum() if greatest else _operators.Minimum()
            aggregate(block, *prepare_once(value, block.values.dtype), [out])
        if position is not None:
            aggregate(
                block, *prepare_once(_operators.ArgExtremum(greatest, last), block.values.dtype), [position]
            )
            position += request.base - block.base  # the operator counts rows of the data
    return Outcome(algorithm="static_tree")


def choose(block: Block) -> Choice:
    """Return the fastest algorithm for a block."""
    if block.any_order:
        return Choice("static_tree", IN_ANY_ORDER)
    if block.rows < FEW_EXTREMA_ROWS:
        return Choice("block_scan", f"fewer than {FEW_EXTREMA_ROWS} windows, too few for vectors")
    if block.width > 0:
        return Choice("doubling", "all windows have one width")
    if block.reach is not None and block.reach > 0:
        masked = (("block_scan", "a value is masked"),)
        return Choice("boundary", "all windows begin with the data", masked)
    return Choice("block_scan", "the width of the windows varies")


def automatic(block: Block, request: Extrema) -> Outcome:
    """Compute by the algorithm that :func:`choose` returns."""
    return ALGORITHMS[choose(block).name](block, request)


ALGORITHMS: dict[str, Callable[[Block, Extrema], Outcome]] = {
    "doubling": doubling,
    "block_scan": block_scan,
    "boundary": boundary,
    "wedge": wedge,
    "static_tree": static_tree,
}


def block_rows(width: int, alone: bool = False) -> int:
    """Return the number of rows of a block for windows of `width` rows; `alone` on one thread."""
    return max(1 << 20 if alone else 1 << 17, 8 * width)
