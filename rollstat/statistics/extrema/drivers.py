"""Minimum, maximum and their positions over a block, by any of the algorithms for them.

If a block has not been searched for NaN, the algorithms skip NaN by themselves, and record in the block if
there was none.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block, Outcome, read_only
from rollstat.compile.simd.vectors import aligned_empty, lanes_in
from rollstat.kernels.extrema import blockwise, blockwise_arg, doubling_arg
from rollstat.kernels.extrema import doubling as doubling_kernel
from rollstat.kernels.extrema import wedge as wedges
from rollstat.kernels.extrema.doubling_arg import correct_positions
from rollstat.kernels.extrema.nan_policy import ALL, ANY, HAS_NAN, HAS_SENTINEL, SKIP
from rollstat.kernels.extrema.positions import locate
from rollstat.kernels.extrema.variable_windows import scan
from rollstat.kernels.missing.nan_bitmap import NO_BITMAP, empty_bitmap, mark_insufficient
from rollstat.kernels.simd.comparator import Arg, Greatest, Least, Newest, Oldest, worst
from rollstat.plan import Choice
from rollstat.statistics.extrema.boundary import values_of_boundary, write_boundary
from rollstat.thresholds import (
    BLOCKWISE_BYTES,
    BLOCKWISE_POSITIONS,
    FEW_EXTREMA_ROWS,
)

__all__ = [
    "ALGORITHMS",
    "FIELDS",
    "Extrema",
    "automatic",
    "block_rows",
    "block_scan",
    "choose",
    "chunk_rows",
    "doubling",
    "wedge",
]

# From this width on, positions may not fit in 32 bits.
_WIDEST_OF_32_BITS = 1 << 30
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
    least : int or None
        Rows with fewer observations become NaN in every output; with None observations are not counted.
    """

    minimum: NDArray[Any] | None = None
    maximum: NDArray[Any] | None = None
    minimum_position: NDArray[np.int64] | None = None
    maximum_position: NDArray[np.int64] | None = None
    last: bool = False
    opposite: bool = False
    base: int = 0
    least: int | None = None


def _rule_for(least: int | None, width: int) -> int:
    """Return the kernel's rule for NaN that marks windows with fewer than `least` observations.

    It is `SKIP` if the observations have to be counted.
    """
    return int(ANY if least == width > 0 else ALL if least == 1 else SKIP)


def _words_for(values: NDArray[Any], least: int | None, rule: int) -> NDArray[np.uint64]:
    """Return the bitmap in which a kernel records missing values if observations have to be counted."""
    return NO_BITMAP if least is None or rule != SKIP else empty_bitmap(len(values))


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


def chunk_rows(width: int, itemsize: int) -> int:
    """Return the rows of a chunk of doubling.

    Two chunks fit in the first-level cache if windows are short, else in the second.
    """
    reach = width * itemsize
    if reach <= 2_048:
        return 4_096 // itemsize
    return (max(131_072, 8 * reach) if reach > 8_192 else 16 * reach) // itemsize


def _block_for_positions(width: int) -> int:
    """Return the length of a block for positions: a third to a sixth, up to 64 rows, or a 32nd to a 64th."""
    return 1 << max(width // 32, min(width // 3, 64)).bit_length() - 1


def _block_for_values(width: int) -> int:
    """Return the length of a block for long windows: a third to a sixth; from 1,024 on a 128th to a 256th."""
    return max(1 << min((width // 3).bit_length() - 1, max((width // 128).bit_length() - 1, 10)), 128)


@lru_cache(maxsize=256)
def _kernel_for_values(width: int, rows: int, itemsize: int) -> tuple[Any, int, int]:
    """Return the kernel for so many rows, the size of its chunks or blocks, and its scratch length."""
    lanes = lanes_in(f"u{itemsize}")
    if width * itemsize >= BLOCKWISE_BYTES:
        size = _block_for_values(width)
        return blockwise.rolling, size, blockwise.scratch_length(width, rows, size, lanes)
    size = max(min(chunk_rows(width, itemsize), rows), 1)
    return doubling_kernel.rolling, size, doubling_kernel.scratch_length(width, size, lanes)


def _extrema(order: Any, out: Any, values: NDArray[Any], width: int, least: int | None) -> bool:
    """Write the extremum of every `width` values; NaN to rows with fewer than `least` observations.

    Returns whether there may be a NaN.
    """
    rule = _rule_for(least, width)
    rolling, size, length = _kernel_for_values(width, len(out), values.itemsize)
    scratch = aligned_empty(length, values.dtype)
    words = _words_for(values, least, rule)
    found = rolling(order, values, width, size, scratch, out, rule, words)
    if rule != SKIP and found == HAS_NAN + HAS_SENTINEL:
        rule, words = int(SKIP), empty_bitmap(len(values))
        found = rolling(order, values, width, size, scratch, out, rule, words)
    if found and len(words):
        mark_insufficient(words, width, least, out.dtype.type(np.nan), out, out[:0])
    return bool(found)


@lru_cache(maxsize=256)
def _kernel_for_positions(
    width: int, rows: int, itemsize: int, last: bool
) -> tuple[Any, tuple[int | bool, ...], int]:
    """Return the kernel for so many rows, its parameters for windows, and its scratch length."""
    lanes = lanes_in(f"u{itemsize}")
    if width >= BLOCKWISE_POSITIONS:
        block, chunk = _block_for_positions(width), min(max(65_536, 8 * width), rows)
        length = blockwise_arg.scratch_length(width, chunk, block, lanes)
        return blockwise_arg.rolling, (width, chunk, block, last), -(-length // lanes) * lanes
    size = 4_096 if width < 8 else 2_048
    chunk = max(min(size // itemsize, rows), 1)
    length = doubling_arg.scratch_length(width, chunk, lanes)
    return doubling_arg.rolling, (width, chunk), -(-length // lanes) * lanes


def _bytes_of_positions(width: int) -> int:
    """Return how many bytes values need at least, since positions are as large and count within a chunk."""
    return 4 if width < _WIDEST_OF_32_BITS else 8


def _with_positions(length: int, dtype: np.dtype[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return scratch memory for so many values and as many positions, the latter also as integers."""
    memory = aligned_empty(2 * length, dtype)
    return memory[:length], memory[length:], memory[length:].view(f"i{dtype.itemsize}")


def _positions(
    order: Least | Greatest,
    last: bool,
    values: NDArray[Any],
    width: int,
    base: int,
    position: NDArray[np.int64],
) -> int:
    """Write the position of the extremum of every `width` values; return what the kernel reports of NaN."""
    kernel, sizes, length = _kernel_for_positions(width, len(position), values.itemsize, last)
    scratch, by_value = _with_positions(length, values.dtype), Arg(order, Newest() if last else Oldest())
    found = int(kernel(by_value, values, *sizes, scratch, base, position))
    return found


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
    wanted = _wanted(request)
    extrema = [(order, out) for order, out, *_ in wanted if out is not None]
    nan = False
    for order, out in extrema:
        nan |= _extrema(order, out, _observed(order, block), block.width, request.least)
    for order, _, position, last in wanted:
        if position is None:
            continue
        values = _observed(order, block, _bytes_of_positions(block.width))
        found = _positions(order, last, values, block.width, request.base, position)
        nan |= found > 0
        if found == 2 or len(_mask(block)) > 0:
            correct_positions(order, block.values, _mask(block), block.width, last, request.base, position)
    marked = request.least is not None and len(extrema) == len(wanted)
    return Outcome(complete=not block.searched and not nan, marked=marked, algorithm="doubling")


def wedge(block: Block, request: Extrema) -> Outcome:
    """Compute by Lemire's monotonic wedge, for any windows."""
    no_values = np.empty(0, block.values.dtype)
    low = no_values if request.minimum is None else request.minimum
    high = no_values if request.maximum is None else request.maximum

    def run(
        low: NDArray[Any],
        high: NDArray[Any],
        low_position: NDArray[np.int64],
        high_position: NDArray[np.int64],
        ties: str,
    ) -> None:
        header, position, value, _ = wedges.create(block.longest, block.values.dtype, ties=ties)
        wedges.fill(
            header,
            position,
            value,
            block.values,
            _mask(block),
            block.start,
            block.end,
            low,
            high,
            low_position,
            high_position,
        )
        low_position += request.base
        high_position += request.base

    # The rules of ties of a wedge's two sides are opposite, so two positions with one rule take two wedges.
    lower, upper = (
        _NO_POSITIONS if position is None else position
        for position in (request.minimum_position, request.maximum_position)
    )
    lower_ties, upper_ties = ("minimum_first", "minimum_last")[:: -1 if request.last else 1]
    if request.opposite and (len(lower) > 0 or len(upper) > 0):
        run(low, high, lower, upper, lower_ties)
        low = high = lower = upper = no_values
    if len(lower) > 0:
        run(low, high, lower, _NO_POSITIONS, lower_ties)
        low = high = no_values
    if len(upper) > 0:
        run(low, high, _NO_POSITIONS, upper, upper_ties)
        low = high = no_values
    if len(low) > 0 or len(high) > 0:
        run(low, high, _NO_POSITIONS, _NO_POSITIONS, "any")
    return Outcome(algorithm="wedge")


def boundary(block: Block, request: Extrema) -> Outcome:
    """Compute boundary windows in vectors, if they have no mask; any others by block scans."""
    found = None if len(_mask(block)) > 0 else values_of_boundary(block)
    if found is None:
        return block_scan(block, request)
    wanted = _wanted(request)
    extrema = [
        (order, np.empty(block.rows, block.values.dtype) if out is None else out) for order, out, *_ in wanted
    ]
    nan = write_boundary(extrema, *found, request.least)
    for (order, best), (_, _, position, last) in zip(extrema, wanted):
        if position is not None:
            locate(order, block.values, _NO_MASK, block.start, block.end, last, best, position)
            position += request.base
    return Outcome(not block.searched and not nan, request.least is not None, algorithm="boundary")


def choose(block: Block) -> Choice:
    """Return the fastest algorithm for a block."""
    if block.rows < FEW_EXTREMA_ROWS:
        return Choice("block_scan", f"fewer than {FEW_EXTREMA_ROWS} windows, which vectors do not pay for")
    if block.width > 0:
        return Choice("doubling", "all windows have one width")
    if values_of_boundary(block) is not None:
        masked = (("block_scan", "a value is masked"),)
        return Choice("boundary", "all windows begin, or all end, with the data", masked)
    return Choice("block_scan", "the width of the windows varies")


def automatic(block: Block, request: Extrema) -> Outcome:
    """Compute by the algorithm that :func:`choose` returns."""
    return ALGORITHMS[choose(block).name](block, request)


ALGORITHMS: dict[str, Callable[[Block, Extrema], Outcome]] = {
    "doubling": doubling,
    "block_scan": block_scan,
    "boundary": boundary,
    "wedge": wedge,
}


def block_rows(width: int, alone: bool = False) -> int:
    """Return the number of rows of a block for windows of `width` rows; `alone` on one thread."""
    return max(1 << 20 if alone else 1 << 17, 8 * width)
