"""Minimum, maximum and their positions over a block, by any of the algorithms for them.

If a block has not been searched for NaN, the algorithms skip NaN by themselves, and record in the block if
there was none.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block, Kept, Outcome, read_only
from rollstat.compile.cache import host_levels
from rollstat.compile.simd.vectors import lanes_in
from rollstat.kernels.comparator import Arg, Greatest, Least, Newest, Oldest, worst
from rollstat.kernels.extrema import blockwise
from rollstat.kernels.extrema import doubling as doubling_kernel
from rollstat.kernels.extrema import wedge as wedges
from rollstat.kernels.extrema.any_windows import correct_positions, growing, locate, scan
from rollstat.kernels.extrema.doubling import allocate
from rollstat.kernels.missing.nan_bitmap import empty_bitmap, mark_insufficient, record_nan
from rollstat.operators import choices
from rollstat.plan import IN_ANY_ORDER, Choice
from rollstat.statistics.aggregate.drivers import aggregate, prepare_once
from rollstat.thresholds import BLOCKWISE, BLOCKWISE_OF_FEW_LANES, FEW_EXTREMA_ROWS

_operators: Any = choices  # type checkers take class attributes of the operators for fields
_NO_MASK = np.empty(0, np.bool_)
_NO_POSITIONS = np.empty(0, np.int64)
_MARKED_ROWS = 1 << 16  # values and results of so many fit in the second cache
_scratch = Kept()


class Extremum(NamedTuple):
    """An extremum of every window of a block, or its position.

    A row without an observation gets any value and any position.

    Attributes
    ----------
    order : Least or Greatest
        Which value wins.
    out : ndarray, shape (rows,)
        Receives the extrema in the dtype of the values, or int64 positions in ``block.values``.
    ties : Oldest, Newest or None
        For positions: which of equal values wins.
    """

    order: Least | Greatest
    out: NDArray[Any]
    ties: Oldest | Newest | None = None


def _mask(block: Block) -> NDArray[np.bool_]:
    """Return the mask of a searched block; without a length if nothing is missing or not searched."""
    if not block.searched or block.missing is None:
        return _NO_MASK
    return block.missing


def block_scan(block: Block, wanted: Sequence[Extremum], base: int = 0) -> Outcome:
    """Compute by van Herk's and Gil and Werman's block scans, for any windows."""
    values, mask, start, end = block.values, _mask(block), block.start, block.end
    older, newer = np.empty((2, block.longest + 1), values.dtype)
    nan = False
    for order, out, ties in wanted:
        best = out if ties is None else np.empty(block.rows, values.dtype)
        nan |= scan(order, values, mask, start, end, older, newer, best)
        if ties is not None:
            locate(order, values, mask, start, end, isinstance(ties, Newest), best, out)
            out += base
    return Outcome(complete=not block.searched and not nan, algorithm="block_scan")


def kernel_for_rows(
    order: Least | Greatest | Arg, dtype: np.dtype[Any], width: int, out: NDArray[Any]
) -> tuple[Any, int, Any]:
    """Return the kernel for windows of `width` rows, the size of its chunks or blocks, and scratch memory."""
    lanes, rows = lanes_in(dtype), len(out)
    few = isinstance(order, Arg) and dtype.itemsize == 8 and "x86-64-v4" not in host_levels()
    if width <= (BLOCKWISE_OF_FEW_LANES if few else BLOCKWISE):
        chunk = min(max(8_192 // dtype.itemsize, 40 * width), rows)
        chunk = -(-chunk // lanes) * lanes
        kernel, size, memory = doubling_kernel.rolling, chunk, (chunk + width + 2 * lanes, 0)
    else:
        block = min(width // 2, max(16 * lanes, min(width // 8, 64 * lanes))) // lanes * lanes
        kernel, size, memory = blockwise.rolling, block, (block, (rows + width) // block + 4)
    key = isinstance(order, Arg), dtype, out.dtype, *memory
    return (
        kernel,
        size,
        _scratch.get(key, partial(allocate, order, dtype, out, *memory), rows <= _MARKED_ROWS),
    )


def _slide(
    order: Least | Greatest | Arg, values: NDArray[Any], width: int, shift: int, out: NDArray[Any]
) -> bool:
    """Write the extremum of every `width` values, or its position from `shift`; return whether NaN may be."""
    kernel, size, scratch = kernel_for_rows(order, values.dtype, width, out)
    return bool(kernel(order, values, width, size, scratch, shift, out))


def _slide_and_mark(
    order: Least | Greatest, block: Block, out: NDArray[Any], bitmaps: dict[int, NDArray[np.uint64]]
) -> bool:
    """Write the extremum of every window, NaN in rows with too few observations; return whether NaN may be.

    Rows are marked while they are in the cache. `bitmaps` keeps what is missing from one order to the next.
    """
    values, width, nan = block.values, block.width, False
    rows = max(_MARKED_ROWS, 8 * width)
    kernel, size, scratch = kernel_for_rows(order, values.dtype, width, out[:rows])
    for first in range(0, len(out), rows):
        part, seen = out[first : first + rows], values[first : first + rows + width - 1]
        if kernel(order, seen, width, size, scratch, 0, part):
            nan = True
            if first not in bitmaps:
                bitmaps[first] = empty_bitmap(len(seen))
                record_nan(seen, bitmaps[first])
            mark_insufficient(bitmaps[first], width, block.nan_below, out.dtype.type(np.nan), part)
    return nan


def _observed(order: Least | Greatest, block: Block, itemsize: int = 1) -> NDArray[Any]:
    """Return the values in at least `itemsize` bytes, the worst value for those that the mask excludes."""
    values, mask = block.values, _mask(block)
    if len(mask) > 0:
        values = np.where(mask, worst(order, values.dtype), values)
    if values.itemsize < itemsize:
        values = values.astype(f"{values.dtype.kind}{itemsize}")
    return read_only(values)


def doubling(block: Block, wanted: Sequence[Extremum], base: int = 0) -> Outcome:
    """Compute in machine vectors, by doubling or blockwise, for windows of a fixed number of rows."""
    values_only = all(ties is None for _, _, ties in wanted)
    nan, marked = False, values_only and not block.searched and block.nan_below is not None
    bitmaps: dict[int, NDArray[np.uint64]] = {}
    for order, out, ties in wanted:
        if marked:
            nan |= _slide_and_mark(order, block, out, bitmaps)
            continue
        if ties is None:
            nan |= _slide(order, _observed(order, block), block.width, 0, out)
            continue
        # Positions are as large as values.
        values = _observed(order, block, 4 if len(block.values) < 1 << 31 else 8)
        has_nan = _slide(Arg(order, ties), values, block.width, base, out)
        nan |= has_nan
        if has_nan or len(_mask(block)) > 0:
            last = isinstance(ties, Newest)
            correct_positions(order, block.values, _mask(block), block.width, last, base, out)
    return Outcome(complete=not block.searched and not nan, marked=marked, algorithm="doubling")


def wedge(block: Block, wanted: Sequence[Extremum], base: int = 0) -> Outcome:
    """Compute by Lemire's monotonic wedge, for any windows."""
    # The rules of ties of a wedge's two sides are opposite, so two positions with one rule take two wedges.
    by_rule = defaultdict[str, list[Extremum]](list)
    for each in wanted:
        newest = isinstance(each.ties, Newest) != isinstance(each.order, Greatest)
        rule = "minimum_last" if newest else "minimum_first"
        by_rule["any" if each.ties is None else rule].append(each)
    for rule, several in by_rule.items():
        outputs: list[NDArray[Any]] = [np.empty(0, block.values.dtype)] * 2 + [_NO_POSITIONS] * 2
        for order, out, ties in several:
            outputs[2 * (ties is not None) + isinstance(order, Greatest)] = out
        state = wedges.create(block.longest, block.values.dtype, ties=rule)[:3]
        wedges.fill(*state, block.values, _mask(block), block.start, block.end, *outputs)
        for positions in outputs[2:]:
            positions += base
    return Outcome(algorithm="wedge")


def boundary(block: Block, wanted: Sequence[Extremum], base: int = 0) -> Outcome:
    """Compute windows that begin with the data, and grow by one row, if nothing is masked; else by scans."""
    if len(_mask(block)) > 0:
        return block_scan(block, wanted, base)
    nan = False
    for order, out, ties in wanted:
        nan |= growing(order if ties is None else Arg(order, ties), block.values, out)
        if ties is not None:
            out += base
    return Outcome(complete=not block.searched and not nan, algorithm="boundary")


def static_tree(block: Block, wanted: Sequence[Extremum], base: int = 0) -> Outcome:
    """Compute by a static tree of combinations, for windows in any order."""
    for order, out, ties in wanted:
        greatest = isinstance(order, Greatest)
        operator: Any = _operators.Maximum() if greatest else _operators.Minimum()
        if ties is not None:
            operator = _operators.ArgExtremum(greatest, isinstance(ties, Newest))
        aggregate(block, *prepare_once(operator, block.values.dtype), [out])
        if ties is not None:
            out += base - block.base  # the operator counts rows of the data
    return Outcome(algorithm="static_tree")


def choose(block: Block) -> Choice:
    """Return the fastest algorithm for a block."""
    if block.any_order:
        return Choice("static_tree", IN_ANY_ORDER)
    if block.rows < FEW_EXTREMA_ROWS:
        return Choice("block_scan", f"fewer than {FEW_EXTREMA_ROWS} windows, too few for vectors")
    if block.width > 0:
        return Choice("doubling", "all windows have the same width")
    if block.reach is not None and block.reach > 0:
        masked = (("block_scan", "a value is masked"),)
        return Choice("boundary", "all windows begin with the data", masked)
    return Choice("block_scan", "the width of the windows varies")


def automatic(block: Block, wanted: Sequence[Extremum]) -> Outcome:
    """Compute by the algorithm that :func:`choose` returns."""
    return ALGORITHMS[choose(block).name](block, wanted)


ALGORITHMS: dict[str, Callable[..., Outcome]] = {
    "doubling": doubling,
    "block_scan": block_scan,
    "boundary": boundary,
    "wedge": wedge,
    "static_tree": static_tree,
}


def block_rows(width: int, alone: bool = False) -> int:
    """Return the number of rows of a block for windows of `width` rows; `alone` on one thread."""
    return max(1 << 20 if alone else 1 << 17, 8 * width)
