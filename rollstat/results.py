"""Which rows have too few observations, and the memory of results.

::

    needs of each output, nan_policy  -->  limit on observations  -->  rows to mark as missing
    lines of results (outputs, lines, rows)  -->  blocks write here  -->  arrays of the shape of the input

For calls over arrays, :class:`MinPeriods` alone decides whether a row has too few observations. A kernel that
counts anyway is told the limit (``block.nan_below``) and marks the rows itself.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block, Outcome
from rollstat.dtypes import EXACT, is_large, warn_of_precision
from rollstat.kernels.missing.nan_bitmap import empty_bitmap, mark_insufficient, record_nan
from rollstat.kernels.numbers import to_floats
from rollstat.windows import Windows

_LARGE_ROWS = 1 << 12
_FLOAT64 = np.dtype(np.float64)


@dataclass(frozen=True)
class MinPeriods:
    """The rule by which rows have too few observations.

    Attributes
    ----------
    needs : tuple of int
        Observations that each output needs.
    propagate : bool
        Whether a window with a missing value has no result, whatever its count.
    shared_nan : bool
        Whether all outputs need the same and have NaN as their missing value, without a mask.
    """

    needs: tuple[int, ...]
    propagate: bool
    shared_nan: bool

    @cached_property
    def lowest(self) -> int:
        """Observations that the least demanding output needs."""
        return min(self.needs)

    def limit(self, need: int, width: int) -> int:
        """Observations below which windows of `width` rows have no result in an output that needs `need`."""
        return max(need, width) if self.propagate else need

    def nan_below(self, width: int) -> int | None:
        """Observations below which a row is NaN in every output; None where no one number says so.

        `width` is the width of the windows, or 0.
        """
        if not self.shared_nan or (self.propagate and not width):
            return None
        return self.limit(self.needs[0], width)

    def too_short(self, windows: Windows, first: int, last: int) -> int:
        """Return how many of these rows, from the first on, certainly have windows with too few rows."""
        if not windows.grows(first, last):
            return 0
        return min(max(self.lowest - windows.bound(first)[1], 0), last - first)

    def insufficient(self, block: Block, outcome: Outcome) -> list[NDArray[np.bool_]] | None:
        """Return the rows of a block without a result, for each output; None where every row has one."""
        missing = None if outcome.complete else block.missing
        shortest = block.width or block.reach or 0
        if outcome.undefined is None and missing is None and shortest >= max(self.needs):
            return None
        count = block.end - block.start if missing is None else block.count
        rows = [count < need for need in self.needs]
        for few in rows:
            if outcome.undefined is not None:
                few |= outcome.undefined
            if self.propagate and missing is not None:
                few |= count < (block.width or block.end - block.start)
        return rows

    def mark_unsearched(
        self, values: NDArray[Any], width: int, views: Sequence[Any], fill: Sequence[Any]
    ) -> None:
        """Write `fill` to the rows of `views` with too few values that are not NaN, without mask or counts.

        All windows have `width` rows.
        """
        bitmap = empty_bitmap(len(values))
        record_nan(values, bitmap)
        for need, mark, view in zip(self.needs, fill, views):
            mark_insufficient(bitmap, width, self.limit(need, width), view.dtype.type(mark), view)


def allocate_lines(
    lines: int, rows: int, dtypes: Sequence[np.dtype[Any]], stack: bool = False
) -> list[NDArray[Any]]:
    """Return uninitialised results of shape (lines, rows); with `stack`, views of one array.

    Large results of one dtype share an allocation: the system clears the pages of every large one anew. Each
    begins at the same offset in a cache line.
    """
    size = lines * rows
    if stack:
        return list(np.empty((len(dtypes), lines, rows), dtypes[0]))
    if size < _LARGE_ROWS or len(dtypes) == 1 or len(set(dtypes)) > 1:
        return [np.empty((lines, rows), dtype) for dtype in dtypes]
    shared = np.empty(
        (len(dtypes), size + -size % 64), dtypes[0]
    )  # each starts at one offset in a cache line
    return [part[:size].reshape(lines, rows) for part in shared]


def convert(values: NDArray[Any], view: NDArray[Any]) -> None:
    """Copy results to `view`; warn if an integer is rounded."""
    dtype = values.dtype
    if view.dtype != _FLOAT64 or dtype.kind not in "iu" or dtype.itemsize < 8:
        view[...] = values
        return
    if view.ndim == 1:
        bits = values.view(np.uint64)
        bits.flags.writeable = False  # one compiled version, not two
        rounded = to_floats(bits, EXACT if dtype.kind == "i" else 0, EXACT, view)
    else:
        view[...] = values
        rounded = is_large(values)
    if rounded:
        warn_of_precision(
            "integers beyond 2**53 are rounded in a float64 result; "
            "mode='valid' or fill_value= keep them exact"
        )


def check_out(
    out: Any, shapes: Sequence[tuple[int, ...]], dtypes: Sequence[np.dtype[Any]], stack: bool = False
) -> list[Any]:
    """Return the arrays given as `out`, one for each result, or raise; none if `out` is None.

    With `stack`, `out` is one array that holds all results along its first axis.
    """
    if out is None:
        return []
    if stack:
        return list(check_out(out, [(len(shapes), *shapes[0])], dtypes[:1])[0])
    given = list(out) if isinstance(out, (tuple, list)) else [out]
    if len(given) != len(shapes):
        expected = "one array" if len(shapes) == 1 else f"{len(shapes)} arrays"
        raise ValueError(f"out must hold {expected}; got {len(given)}")
    for i, (array, shape, dtype) in enumerate(zip(given, shapes, dtypes)):
        if not isinstance(array, np.ndarray) or not array.flags.writeable:
            kind = "a read-only array" if isinstance(array, np.ndarray) else type(array).__name__
            raise TypeError(f"out must be a writable ndarray; got {kind}")
        if array.shape != shape or array.dtype != dtype:
            raise ValueError(
                f"out must have shape {shape} and dtype {dtype}; got {array.shape} and {array.dtype}"
            )
        if _overlaps_itself(array):
            raise ValueError(f"out must have separate memory for every result; got strides {array.strides}")
        if any(_overlap(array, other) for other in given[:i]):
            raise ValueError("out must hold arrays that share no memory")
    return given


def _overlaps_itself(array: NDArray[Any]) -> bool:
    """Return whether two elements of an array may share memory, as in a broadcast array."""
    if array.size == 0:
        return False
    reach = array.itemsize  # bytes from the first to the last element along the axes of smaller strides
    for stride, length in sorted((abs(s), n) for s, n in zip(array.strides, array.shape) if n > 1):
        if stride < reach:
            return True
        reach += stride * (length - 1)
    return False


def _overlap(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Return whether two arrays share memory, or it would take long to find out."""
    try:
        return np.shares_memory(a, b, max_work=10_000)  # type: ignore[arg-type]  # it takes any limit
    except np.exceptions.TooHardError:
        return True


def lines_of_out(out: Sequence[Any], axis: int, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]] | None:
    """Return the lines of arrays if blocks can write to all: contiguous, and no part of what they read."""
    lines = [as_lines(array, axis) for array in out]
    if not all(
        each.flags.c_contiguous and np.may_share_memory(each, array) for each, array in zip(lines, out)
    ):
        return None
    shared = any(np.may_share_memory(array, given) for array in out for given in inputs)
    return None if shared else lines


def as_lines(array: NDArray[Any], axis: int) -> NDArray[Any]:
    """Return a view (or a copy, where no view exists) of `array` as lines along its last axis."""
    if array.ndim <= 2:  # by far the fastest way for a short series
        return array[None] if array.ndim == 1 else array.swapaxes(axis, -1)
    moved = np.moveaxis(array, axis, -1)
    return moved.reshape(math.prod(moved.shape[:-1]), moved.shape[-1])


def shaped(lines: NDArray[Any], shape: tuple[int, ...], axis: int, kept: Any) -> NDArray[Any]:
    """Return the `kept` rows of lines of results in the shape of the input, along its `axis`.

    Lines of several outputs, along a first axis, keep that axis.
    """
    if len(shape) == 1:
        return lines[..., 0, kept]
    part = lines[..., kept]
    if len(shape) == 2:
        return part.swapaxes(axis - 2, -1)
    outputs, rest = part.shape[:-2], shape[:axis] + shape[axis + 1 :]
    part = part.reshape(*outputs, *rest, part.shape[-1])
    return np.moveaxis(part, -1, axis + len(outputs))
