"""Calls on one plain series, prepared once for every series like it.

::

    (computation, window, options, dtype, length) --> checked options, windows, blocks     kept
    values --> result --> work of each block                                               every time
    values --> result --> one kernel                       where the computation has that for nearly all rows

What stands around a kernel is some 0.1 ms of Python, three times as much from a cold cache, and a kernel
that runs at the speed of memory needs little more for a million values.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat.blocks import UNKNOWN, Block
from rollstat.engine import BlockRun, Computation
from rollstat.lines import empty_results
from rollstat.options import Options, Window
from rollstat.windows import Windows

__all__ = ["run_plain"]


class _Prepared:
    """A call on any plain series of one dtype and length, `writeable` or not."""

    def __init__(
        self,
        computation: Callable[[np.dtype[Any], Windows], Computation],
        window: int,
        options: Options,
        dtype: np.dtype[Any],
        length: int,
        writeable: bool,
    ) -> None:
        windows = options.windows(window, np.array([0, length], np.int64))
        none = [np.empty((1, 0), dtype)]
        self._run = BlockRun(none, None, windows, computation(dtype, windows), options, False)
        self._rows = windows.rows
        self._left = getattr(windows, "left", 0)
        self._least = max(min(self._run.needs), 1)
        self._short: list[slice] = []
        self._short_at_once = 0  # how many of them, from the first on, one kernel writes
        self._tasks: list[tuple[int, int, int, int]] = []
        for line, first, last, width in self._run.tasks():
            short = 0 if width else self._run.too_short(first, last)
            if short:
                self._short.append(slice(first, first + short))
            if first + short < last:
                self._tasks.append((line, first + short, last, width))
        self._at_once = self._find_one_kernel(dtype)

    def _find_one_kernel(self, dtype: np.dtype[Any]) -> Callable[..., bool] | None:
        """What writes the results of the only block, if that is all work and the computation has it."""
        make = getattr(self._run.computation, "one_kernel", None)
        whole = [task for task in self._tasks if task[3]]
        if make is None or len(whole) != 1 or whole[0][3] < self._least:
            return None
        _, first, last, width = whole[0]
        least, head = self._run.least_for(width), 0
        before = self._tasks[: self._tasks.index(whole[0])]
        if before:
            _, begin, end, _ = before[0]
            head = end - begin
            grows = self._run.windows.grows(begin, end) and least == self._run.least_for(0)
            if not grows or end != first or self._run.windows.bound(begin)[1] != width - head:
                return None
        short = first - head
        if least is None or self._short[:1] != [slice(0, short)]:
            short = 0
        low = first - self._left
        kernel: Callable[..., bool] | None = make(dtype, width, last - first, low, least, head, short)
        self._rows_at_once = slice(first - head - short, last)
        self._seen_at_once = slice(low, low + last - first + width - 1)
        self._short_at_once = int(kernel is not None and short > 0)
        self._after = self._tasks[len(before) + 1 :]
        return kernel

    def __call__(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Results for a series."""
        run = self._run.on([values.reshape(1, -1)])
        run.results = empty_results(1, self._rows, run.dtypes, False)[0]
        at_once, tasks = self._at_once, self._tasks
        for rows in self._short[0 if at_once is None else self._short_at_once :]:
            for result, fill in zip(run.results, run.fill):
                result[0, rows] = fill
        if at_once is not None:
            views = [result[0, self._rows_at_once] for result in run.results]
            if at_once(values[self._seen_at_once], *views):
                tasks = self._after
            else:
                self._at_once = None  # for data of which there will be more
        for line, first, last, width in tasks:
            low = first - self._left
            if width >= self._least:
                block = Block.regular(values[low : low + last - first + width - 1], UNKNOWN, width)
                block.base = low
                run.compute(block, line, first, last)
            else:
                run.work(line, first, last, width)
        return [result[0] for result in run.results]


_prepared = lru_cache(maxsize=64, typed=True)(_Prepared)


def run_plain(
    arr: ArrayLike,
    window: Window,
    computation: Callable[[np.dtype[Any], Windows], Computation],
    options: Options,
) -> list[NDArray[Any]] | None:
    """Results of a call on a plain series and a window of rows; None for any other call.

    Parameters
    ----------
    computation : callable
        As for :func:`rollstat.engine.run`, the same one for the same computation, which keeps no state.
    """
    if type(window) is not int or type(arr) is not np.ndarray or not options.plain:
        return None
    if arr.ndim != 1 or arr.dtype.char not in "fd" or not arr.dtype.isnative or not arr.flags.c_contiguous:
        return None
    if not arr.flags.aligned:
        return None
    return _prepared(computation, window, options, arr.dtype, len(arr), arr.flags.writeable)(arr)
