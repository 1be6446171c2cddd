"""From any input to blocks, and from blocks to the result: what all families share.

::

    arrays --> lines along `axis` --> segments --> windows --> blocks --> computation --> mask --> result

The engine alone knows about axes, byte order, strides, missing-value policies, output dtypes, fill
values and threads. A computation sees one :class:`rollstat.blocks.Block` at a time and only computes.
Blocks are cut by row, so threads, which take whole blocks, cannot change a bit.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat.blocks import UNKNOWN, Block
from rollstat.dtypes import (
    check_array,
    compute_dtype,
    convert,
    missing_value,
    plain,
    refuse_missing,
    result_dtype,
    same_memory,
    union_mask,
)
from rollstat.kernels.missing.nan_bitmap import empty_bitmap, mark_insufficient, record_nan
from rollstat.lines import as_lines, check_axis, empty_results, lay_flat, straight_into, take_out, to_shape
from rollstat.options import Options, Window
from rollstat.windows import FixedWindows, Windows

__all__ = ["BlockRun", "Computation", "Output", "Result", "run"]

# Lines shorter than this are laid end to end as segments of one series: what a block costs to set up
# would otherwise outweigh its work.
_SHORT_LINE = 4096


@dataclass(frozen=True)
class Output:
    """One array that a computation gives.

    Attributes
    ----------
    kind : str
        What it holds, which decides its dtype: ``"value"``, an element of the input;
        ``"interpolated"``, a point between two of them; ``"difference"``, the distance of two;
        ``"float"``; ``"integer"``, an exact whole number; ``"truth"``, true or false where there is one;
        ``"position"``, the row of an element, and ``"offset"``, its place in the window (-1 where
        missing); ``"flag"``, false where missing.
    required : int
        Observations that a window needs for this output, whatever ``min_periods`` says.
    """

    kind: str
    required: int = 1


class Computation(Protocol):
    """What the engine asks of a family."""

    @property
    def outputs(self) -> Sequence[Output]:
        """What it gives."""

    def block_rows(self, width: int) -> int:
        """Output rows of a block that suit windows of `width` rows."""

    def compute(self, block: Block, wanted: int, results: list[NDArray[Any]]) -> None:
        """Write the result of every row that has at least `wanted` observations."""


@dataclass
class Result:
    """What a run gave.

    Attributes
    ----------
    arrays : list of ndarray
        One for each output; views of `stacked` where the run was asked to stack them.
    stacked : ndarray or None
        All outputs, along a new first axis.
    """

    arrays: list[NDArray[Any]]
    stacked: NDArray[Any] | None = None


class BlockRun:
    """One call: the arrays as lines, the windows, and the results that blocks write into."""

    def __init__(
        self,
        arrays: Sequence[NDArray[Any]],
        mask: NDArray[np.bool_] | None,
        windows: Windows,
        computation: Computation,
        options: Options,
        exact: bool,
    ) -> None:
        self.arrays = arrays
        self.mask = mask
        self.windows = windows
        self.computation = computation
        self.options = options
        dtype = arrays[0].dtype
        self.kinds = [output.kind for output in computation.outputs]
        self.computed = [compute_dtype(kind, dtype) for kind in self.kinds]
        self.dtypes = [result_dtype(kind, dtype, exact) for kind in self.kinds]
        self.fill = [missing_value(k, d, options.fill_value) for k, d in zip(self.kinds, self.dtypes)]
        least = windows.min_periods if options.min_periods is None else options.min_periods
        self.needs = [max(least, output.required) for output in computation.outputs]
        self._nan_below = len(set(self.needs)) == 1 and all(fill != fill for fill in self.fill)
        self.needs_own = getattr(computation, "needs_own", False)
        self.results: list[NDArray[Any]] = []
        self.missing: list[NDArray[np.bool_]] = []

    def on(self, arrays: Sequence[NDArray[Any]]) -> "BlockRun":
        """The same call on other arrays like those that it was made for."""
        other = object.__new__(BlockRun)
        other.__dict__.update(self.__dict__, arrays=arrays)
        return other

    def tasks(self) -> Iterator[tuple[int, int, int, int]]:
        """Blocks of every line, as ``(line, first row, last row, width)``."""
        first, last, width = self.windows.regular
        rows_of = self.computation.block_rows
        if self.options.threads == 1:
            rows_of = getattr(self.computation, "block_rows_alone", rows_of)
        for line in range(self.arrays[0].shape[0]):
            yield from self._irregular(line, 0, first)
            size = rows_of(width) if last > first else 1
            for row in range(first, last, size):
                yield line, row, min(row + size, last), width
            yield from self._irregular(line, last, self.windows.rows)

    def _irregular(self, line: int, first: int, last: int) -> Iterator[tuple[int, int, int, int]]:
        while first < last:
            start, end = self.windows.bound(first)
            size = self.computation.block_rows(max(end - start, 1))
            yield line, first, min(first + size, last), 0
            first += size

    def _data(self, line: int, low: int, high: int) -> tuple[list[NDArray[Any]], Any]:
        """Values and mask of the data rows ``low, ..., high - 1``."""
        values = [plain(array[line, low:high]) for array in self.arrays]
        missing: Any = UNKNOWN
        if self.mask is not None:
            missing = np.ascontiguousarray(self.mask[line, low:high])
        elif self.arrays[0].dtype.kind in "mM":
            missing = np.isnat(self.arrays[0][line, low:high])
        elif all(array.dtype.kind != "f" for array in self.arrays):
            missing = None
        if isinstance(missing, np.ndarray) and not missing.any():
            missing = None
        return values, missing

    def too_short(self, first: int, last: int) -> int:
        """How many of these rows, from the first on, are known to have windows too short for any output."""
        need, (start, reach) = min(self.needs), self.windows.bound(first)
        if self.windows.bound(last - 1)[1] - start < need:
            return last - first
        return max(need - reach, 0) if self.windows.grows(first, last) else 0

    def work(self, line: int, first: int, last: int, width: int) -> None:
        """Compute one block, from the data that its rows see, into the results."""
        need, grows = min(self.needs), not width and self.windows.grows(first, last)
        if width:
            low = first - getattr(self.windows, "left", 0)
            high, longest = low + last - first + width - 1, width
        else:
            short = self.too_short(first, last)
            self._mark_all(line, first, first + short)
            first += short
            if first == last:
                return
            reach, low, longest = self.windows.bound(first)[1], 0, self.windows.bound(last - 1)[1]
            high = longest
            if not grows:
                start, end = self.windows.bounds(first, last)
                low, high, longest = int(start[0]), int(end[-1]), int((end - start).max())
        own = self.windows.position(first, last) if self.needs_own else None
        if own is not None and (own[0] < low or own[-1] >= high):
            if width:
                width, (start, end) = 0, self.windows.bounds(first, last)
            low, high = min(low, int(own[0])), max(high, int(own[-1]) + 1)
        if longest < need:
            self._mark_all(line, first, last)
            return
        values, missing = self._data(line, low, high)
        if width:
            block = Block.regular(values[0], missing, width, tuple(values[1:]))
        elif grows:
            block = Block.growing(values[0], missing, reach, last - first, tuple(values[1:]))
        else:
            block = Block(values[0], missing, start - low, end - low, 0, tuple(values[1:]))
        block.own = None if own is None else own - low
        block.base = low
        self.compute(block, line, first, last)

    def compute(self, block: Block, line: int, first: int, last: int) -> None:
        """Compute one block and write it, missing results marked, into the results."""
        views = [result[line, first:last] for result in self.results]
        written = [same_memory(view, computed) for view, computed in zip(views, self.computed)]
        block.least = self.least_for(block.width)
        try:
            self.computation.compute(block, min(self.needs), written)
        except OverflowError as error:
            if hasattr(error, "row"):  # of the block, until here
                error.row += first
            raise
        for kind, view, array in zip(self.kinds, views, written):
            if kind == "position" and block.base:
                array += block.base
            if not np.may_share_memory(view, array):
                convert(array, view)
        self._mark_lacking(block, line, first, last)

    def least_for(self, width: int) -> int | None:
        """Observations below which a row is NaN in every output, if no row is anything else.

        `width` is that of the windows, or 0.
        """
        if self.missing or not self._nan_below:
            return None
        if self.options.nan_policy == "propagate":
            return max(self.needs[0], width) if width else None
        return self.needs[0]

    def _mark_lacking(self, block: Block, line: int, first: int, last: int) -> None:
        """Mark the rows that have too few observations for an output, or no result for another reason."""
        if block.marked:
            return
        known = block.searched or not self._mark_by_values(block, line, first, last)
        if not known or (block.lacking is None and block.missing is None and block.width >= max(self.needs)):
            return
        for i, need in enumerate(self.needs):
            lacking = block.count < need
            if block.lacking is not None:
                lacking |= block.lacking
            if self.options.nan_policy == "propagate" and block.missing is not None:
                lacking |= block.count < block.end - block.start
            if lacking.any():
                self.mark(lacking, [i == j for j in range(len(self.needs))], line, first, last)

    def _mark_by_values(self, block: Block, line: int, first: int, last: int) -> bool:
        """Mark the rows with too few observations, if a computation passed over NaN without a search.

        Nobody needs the mask and the counts then: one pass over the values does it.
        """
        views = [result[line, first:last] for result in self.results]
        plain = not self.missing and not block.others and all(view.dtype.kind in "fi" for view in views)
        if block.width == 0 or block.lacking is not None or not plain:
            return False
        words = empty_bitmap(len(block.values))
        record_nan(block.values, 0, len(block.values), words)
        least = block.width if self.options.nan_policy == "propagate" else 0
        marks = [
            (max(need, least), view.dtype.type(fill))
            for need, fill, view in zip(self.needs, self.fill, views)
        ]
        same = len(views) == 2 and repr(marks[0]) == repr(marks[1])  # their windows are counted once
        for (need, fill), view in zip(marks, views[:1] if same else views):
            mark_insufficient(words, block.width, need, fill, view, views[1] if same else view[:0])
        return True

    def mark(
        self, rows: NDArray[np.bool_] | slice, outputs: list[bool], line: int, first: int, last: int
    ) -> None:
        """Put the missing value into the given rows of the given outputs."""
        for i, chosen in enumerate(outputs):
            if chosen:
                self.results[i][line, first:last][rows] = self.fill[i]
                if self.missing:
                    self.missing[i][line, first:last][rows] = True

    def _mark_all(self, line: int, first: int, last: int) -> None:
        """Put the missing value into every output of these rows."""
        self.mark(slice(None), [True] * len(self.results), line, first, last)

    def execute(self) -> None:
        """Work through all blocks, on as many threads as the options say."""
        left = deque(self.tasks())
        if self.options.threads == 1 or _thread.works:  # a thread that waits for others keeps them from work
            self._work_through(left)
            return
        pool = _pool(self.options.threads - 1)
        waiting = [pool.submit(self._work_through, left) for _ in range(self.options.threads - 1)]
        _thread.works = True
        try:
            self._work_through(left)
        finally:  # after an error or an interrupt no further block begins, and none is still written
            _thread.works = False
            begun = [done for done in waiting if not done.cancel()]
            wait(begun)
        for done in begun:
            done.result()

    def _work_through(self, left: deque[tuple[int, int, int, int]]) -> None:
        """Work on what is left, of which other threads take their share; leave nothing after an error."""
        try:
            while True:
                try:
                    task = left.popleft()
                except IndexError:
                    return
                self.work(*task)
        except BaseException:
            left.clear()
            raise


class _Thread(threading.local):
    """Whether a thread works for a call."""

    works = False


_thread = _Thread()


def _begin_to_work() -> None:
    _thread.works = True


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that are kept: starting them and filling their memory costs as much as a small job."""
    return ThreadPoolExecutor(threads, thread_name_prefix="rollstat", initializer=_begin_to_work)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child has none of its parent's threads


def run(
    arrays: Sequence[ArrayLike],
    window: Window,
    computation: Callable[[np.dtype[Any], Windows], Computation],
    options: Options,
    *,
    names: Sequence[str] = ("arr", "other"),
    stack: bool = False,
) -> Result:
    """Run a computation over every window of every line.

    Parameters
    ----------
    arrays : sequence of array_like
        One series, or several on the same rows; all of one shape. Masked entries of a masked array
        are missing; the results are masked arrays then, and keep the dtype.
    window
        Anything that the window language takes.
    computation : callable
        Makes the computation for the dtype of the first array and the windows.
    options : Options
        The checked common options.
    names : sequence of str
        What the caller calls the arrays, for messages.
    stack : bool
        Whether the outputs, all of one dtype, share one array with a new first axis.

    Returns
    -------
    Result
        One array for each output of the computation.
    """
    checked = [check_array(name, array) for name, array in zip(names, arrays)]
    shape = checked[0].shape
    for name, array in zip(names[1:], checked[1:]):
        if array.shape != shape:
            raise ValueError(f"{name} must have the shape of {names[0]}, {shape}; it was {array.shape}")
    axis = check_axis(options.axis, len(shape))
    length = shape[axis]
    mask = union_mask(arrays, checked)
    nullable = any(isinstance(array, np.ma.MaskedArray) for array in arrays)
    segments = options.offsets(length, len(shape))
    windows = options.windows(window, segments)
    rows = windows.rows
    whole: Any = slice(0, rows)
    if options.mode == "valid":
        whole = windows.whole
    work = computation(checked[0].dtype, windows)
    if options.nan_policy == "raise":
        refuse_missing(checked, mask)

    lines = [as_lines(array, axis) for array in checked]
    count = lines[0].shape[0]
    line_mask = None if mask is None else as_lines(mask, axis)
    flat = count > 1 and 0 < length < _SHORT_LINE and isinstance(windows, FixedWindows)
    if flat:
        lines, segments = lay_flat(lines, length)
        line_mask = None if line_mask is None else lay_flat([line_mask], length)[0][0]
        least, windows = windows.min_periods, options.windows(window, segments)
        windows.min_periods = least

    exact = nullable or options.mode == "valid" or options.fill_value is not None
    job = BlockRun(lines, line_mask, windows, work, options, exact)
    base, stacked = empty_results(count, rows, job.dtypes, stack)
    marks = [np.zeros((count, rows), np.bool_) for _ in job.dtypes] if nullable else []
    shapes = [to_shape(result, shape, axis, whole).shape for result in base]
    out = options.out
    given = list(out) if stack and out is not None else out
    targets = take_out(given, shapes, job.dtypes)
    for i, target in enumerate(targets):
        if target is not None and options.mode == "same" and not getattr(work, "can_fail", False):
            straight = straight_into(target, axis, checked)
            base[i] = base[i] if straight is None else straight
    job.results = [result.reshape(1, -1) if flat else result for result in base]
    job.missing = [mark.reshape(1, -1) if flat else mark for mark in marks]
    job.execute()

    for kind, result in zip(job.kinds, base):
        if kind == "position" and flat:
            result -= np.where(result >= 0, np.arange(count)[:, None] * length, 0)
    arrays_out = [to_shape(result, shape, axis, whole) for result in base]
    for i, target in enumerate(targets):
        if target is not None:
            if not np.may_share_memory(base[i], target):
                target[...] = arrays_out[i]
            arrays_out[i] = target
    if stacked is not None:
        kept = stacked[..., whole]
        shaped = kept.reshape(len(base), *shape[:axis], *shape[axis + 1 :], kept.shape[-1])
        stacked = out if out is not None else np.moveaxis(shaped, -1, axis + 1)
    if nullable:
        masks = [to_shape(mark, shape, axis, whole) for mark in marks]
        arrays_out = [np.ma.MaskedArray(array, mark) for array, mark in zip(arrays_out, masks)]
        stacked = None if stacked is None else np.ma.MaskedArray(stacked, np.stack(masks))
    return Result(arrays_out, stacked)
