"""Execute a plan: arrays as lines, lines as blocks, blocks on threads, results in the shape of the input.

::

    arrays --> lines along `axis` --> blocks --> computation --> rows with too few observations marked

The engine alone knows about axes, byte order, strides, missing-value policies, output dtypes, fill
values and threads. A computation sees one :class:`rollstat.blocks.Block` at a time and only computes.
Blocks are cut by row, so threads, which take whole blocks, cannot change a bit.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat.blocks import UNKNOWN, Block, Outcome, read_only
from rollstat.dtypes import (
    EXACT,
    check_array,
    plain,
    reject_missing,
    same_memory,
    union_mask,
    warn_of_rounded,
)
from rollstat.explain import Explanation, explain_plan
from rollstat.lines import as_lines, joined_lines
from rollstat.options import Options, Window
from rollstat.plan import BlockRows, MakeComputation, OneCall, Plan, Split, plain_plan
from rollstat.results import ResultLines, allocate_rows, check_out, convert, lines_of_out, shaped
from rollstat.tiers import note_ready, note_work, serves_quickly

__all__ = ["Call", "WholeCall", "begin_to_work", "execute_plain"]

_DEFAULT = Outcome()
# What an object with columns is, by its library, and what takes its columns.
_TABLES = {
    "pandas": (
        "a DataFrame",
        "are series for frame.rollstat of the module rollstat.pandas, and for the functions with axis=0",
    ),
    "polars": (
        "a polars frame",
        "are series for the functions, as frame[column], and for pl.col(column).rollstat of the module "
        "rollstat.polars",
    ),
    "pyarrow": ("an Arrow table", "are series for the functions, as table[column]"),
}


class Execution:
    """One plan at work on one set of arrays.

    Parameters
    ----------
    plan : Plan
        What to do.
    arrays : sequence of ndarray, each of shape (lines, length)
        The data, read-only: then kernels are compiled for one kind of array instead of two.
    mask : ndarray of bool, shape (lines, length), or None
        Where there is no observation, if arrays are masked.
    results : ResultLines
        Receives the results.
    """

    __slots__ = ("arrays", "mask", "plan", "results")

    def __init__(
        self,
        plan: Plan,
        arrays: Sequence[NDArray[Any]],
        mask: NDArray[np.bool_] | None,
        results: ResultLines,
    ) -> None:
        self.plan = plan
        self.arrays = arrays
        self.mask = mask
        self.results = results

    def run(self) -> None:
        """Compute all lines: short ones in one call each, others by blocks on the threads of the options."""
        lines: Sequence[int] = range(self.arrays[0].shape[0])
        call = in_place_of_blocks(self.plan)
        if call is not None:
            lines = [line for line in lines if not self._in_one_call(call, line)]
        if lines:
            self.compute(lines)

    def compute(self, lines: Sequence[int]) -> None:
        """Compute these lines by blocks."""
        plan, threads = self.plan, self.plan.options.threads
        for line, rows in product(lines, plan.insufficient):
            self._mark_all(line, rows)
        tasks = deque(product(lines, plan.blocks))
        if threads == 1 or _thread.works:  # a thread that waited for others would keep them from work
            self._work_through(tasks)
        else:
            self._work_on_threads(tasks, threads)
        note_ready(plan)

    def _work_on_threads(self, tasks: deque[tuple[int, BlockRows]], threads: int) -> None:
        """Compute blocks on this thread and others."""
        pool = _pool(threads - 1)
        waiting = [pool.submit(self._work_through, tasks) for _ in range(threads - 1)]
        _thread.works = True
        try:
            self._work_through(tasks)
        finally:  # after an error or an interrupt no further block begins, and none is still written
            _thread.works = False
            begun = [done for done in waiting if not done.cancel()]
            wait(begun)
        for done in begun:
            done.result()

    def _in_one_call(self, call: OneCall, line: int) -> bool:
        """Compute a line in one call; return whether this serves its values."""
        plan = self.plan
        series = [read_only(plain(array[line])) for array in self.arrays]
        if self.mask is not None:
            series = [read_only(np.where(self.mask[line], np.nan, values)) for values in series]
        if plan.one_call is None:
            note_work(plan)
        served = call.write(series, plan.bounds, [result[line] for result in self.results.arrays])
        if served and plan.marks_after_call:
            block = Block(series[0], UNKNOWN, plan.bounds.start, plan.bounds.end, others=tuple(series[1:]))
            self._mark_insufficient(block, _DEFAULT, line, 0, plan.rows)
        return served

    def _work_through(self, tasks: deque[tuple[int, BlockRows]]) -> None:
        """Compute blocks until no task is left; remove all tasks after an error."""
        try:
            while True:
                try:
                    line, rows = tasks.popleft()
                except IndexError:
                    return
                self.work(line, rows)
        except BaseException:
            tasks.clear()
            raise

    def work(self, line: int, rows: BlockRows) -> None:
        """Compute one block."""
        plan, (first, last, width) = self.plan, rows
        if plan.plain and width:
            low = first - plan.windows.left
            high = low + last - first + width - 1
            values, *others = [array[line, low:high] for array in self.arrays]
            nan_below = plan.min_periods.nan_below(width)
            block = Block.regular(values, plan.missing, width, tuple(others), low, nan_below)
            self._compute(block, line, first, last)
            return
        geometry = plan.geometry(rows)
        low, high = geometry.low, geometry.high
        series, missing = self._data(line, low, high)
        nan_below = plan.min_periods.nan_below(geometry.width)
        block = geometry.block(series[0], missing, tuple(series[1:]), last - first, nan_below)
        if block.width == 0 and block.longest < plan.min_periods.lowest:
            self._mark_all(line, slice(first, last))
            return
        self._compute(block, line, first, last)

    def _data(self, line: int, low: int, high: int) -> tuple[list[NDArray[Any]], Any]:
        """Return the values and the mask of the data rows ``low, ..., high - 1``."""
        missing: Any = self.plan.missing
        if self.plan.plain:
            return [array[0, low:high] for array in self.arrays], missing
        values = [read_only(plain(array[line, low:high])) for array in self.arrays]
        if self.mask is not None:
            missing = np.ascontiguousarray(self.mask[line, low:high])
        elif self.arrays[0].dtype.kind in "mM":
            missing = np.isnat(self.arrays[0][line, low:high])
        elif all(array.dtype.kind != "f" for array in self.arrays):
            missing = None
        if isinstance(missing, np.ndarray) and not missing.any():
            missing = None
        return values, missing

    def _compute(self, block: Block, line: int, first: int, last: int) -> None:
        """Compute one block and write it, missing results marked, into the results."""
        plan = self.plan
        views = [result[line, first:last] for result in self.results.arrays]
        written = [same_memory(view, computed) for view, computed in zip(views, plan.computed)]
        try:
            outcome = plan.computation.compute(block, plan.min_periods.lowest, written) or _DEFAULT
        except OverflowError as error:
            if hasattr(error, "row"):  # from a row of the block to one of the data
                error.row += first
            raise
        for kind, view, array in zip(plan.kinds, views, written):
            if kind == "position" and block.base and not outcome.base_added:
                array += block.base
            if not np.may_share_memory(view, array):
                convert(array, view)
        if not outcome.marked:
            self._mark_insufficient(block, outcome, line, first, last)
        # A difference of two values can be twice as large as they are.
        if plan.dtype.kind in "iu" and "interpolated" in plan.kinds and 2 * block.magnitude >= EXACT:
            for kind, view in zip(plan.kinds, views):
                if kind == "interpolated":
                    warn_of_rounded(view)

    def _mark_insufficient(self, block: Block, outcome: Outcome, line: int, first: int, last: int) -> None:
        """Mark the rows that have too few observations for an output, or no result for another reason."""
        plan = self.plan
        if not (block.searched or outcome.complete) and outcome.insufficient is None and block.width:
            views = [result[line, first:last] for result in self.results.arrays]
            masked = bool(self.results.masks)
            if not masked and not block.others and all(view.dtype.kind in "fi" for view in views):
                plan.min_periods.mark_unsearched(block.values, block.width, views, plan.fill)
                return
        insufficient = plan.min_periods.insufficient(block, outcome)
        for i, rows in enumerate(insufficient or ()):
            if rows.any():
                self._mark(i, line, slice(first, last), rows)

    def _mark(self, output: int, line: int, rows: slice, chosen: Any) -> None:
        """Put the missing value into the `chosen` ones of these rows of an output."""
        self.results.arrays[output][line, rows][chosen] = self.plan.fill[output]
        if self.results.masks:
            self.results.masks[output][line, rows][chosen] = True

    def _mark_all(self, line: int, rows: slice) -> None:
        """Put the missing value into every output of these rows."""
        for output in range(len(self.plan.fill)):
            self._mark(output, line, rows, slice(None))


def in_place_of_blocks(plan: Plan) -> OneCall | None:
    """Return the one call to try: for a short series, or until the kernels of the blocks are compiled."""
    if plan.one_call is not None:
        return plan.one_call
    return plan.call if serves_quickly(plan) else None


class _Thread(threading.local):
    """Whether a thread works for a call."""

    works = False


_thread = _Thread()


def begin_to_work() -> None:
    """Mark this thread as one that works for a call; it then starts no others."""
    _thread.works = True


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return threads that are kept: starting them and filling their memory costs as much as a small job."""
    return ThreadPoolExecutor(threads, thread_name_prefix="rollstat", initializer=begin_to_work)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child has none of its parent's threads


@dataclass(frozen=True)
class Call:
    """A call whose parameters are checked: what a public function resolves its arguments to.

    Attributes
    ----------
    arrays : sequence of array_like
        One series, or several on the same rows; all of one shape. Masked entries of a masked array
        are missing; the results are masked arrays then, and keep the dtype.
    window
        Anything that the window language takes.
    make : callable
        Makes the computation for the dtype of the first array and the windows.
    options : Options
        The checked common options.
    names : sequence of str
        What the caller calls the arrays, for messages.
    stack : bool
        Whether the outputs, all of one dtype, share one array with a new first axis.
    finish : callable, optional
        Takes the results and returns what the function returns.
    """

    arrays: Sequence[ArrayLike]
    window: Window
    make: MakeComputation
    options: Options
    names: Sequence[str] = ("arr", "other")
    stack: bool = False
    finish: Callable[..., Any] | None = None

    def plain_plan(self) -> Plan | None:
        """Return the plan that serves all calls like this plain one; None for any other call."""
        if self.stack or self.finish is not None:
            return None
        return plain_plan(self.arrays, self.window, self.make, self.options)

    def _checked(self) -> tuple[Plan, list[NDArray[Any]], NDArray[np.bool_] | None, list[Any]]:
        """Return the plan, the arrays, their mask and the arrays given as `out`, or raise."""
        options, names = self.options, self.names
        _reject_table(names, self.arrays, options.axis)
        checked = [check_array(name, array) for name, array in zip(names, self.arrays)]
        shape = checked[0].shape
        for name, array in zip(names[1:], checked[1:]):
            if array.shape != shape:
                raise ValueError(f"{name} must have the shape of {names[0]}, {shape}; got {array.shape}")
        mask = union_mask(self.arrays, checked)
        others = [array.dtype for array in checked[1:]]
        plan = Plan(checked[0].dtype, shape, self.window, self.make, options, mask is not None, others)
        if options.nan_policy == "raise":
            reject_missing(checked, mask)
        targets = check_out(options.out, [plan.result_shape] * len(plan.dtypes), plan.dtypes, self.stack)
        return plan, checked, mask, targets

    def run(self) -> Any:
        """Compute the call and return what the function returns."""
        plan, checked, mask, targets = self._checked()
        results = _execute(plan, checked, mask, targets, self.stack)
        result = shaped(results, plan.shape, plan.axis, plan.kept, targets, self.options.out)
        if self.stack:
            return result.stacked
        if self.finish is not None:
            return self.finish(*result.arrays)
        return result.arrays[0] if len(result.arrays) == 1 else tuple(result.arrays)

    def explain(self, statistic: str) -> Explanation:
        """Return the plan as text and attributes."""
        plan = self.plain_plan()
        if plan is None:
            plan = self._checked()[0]
        elif plan.timed:
            plan = plan.over(self.options.times)
        return explain_plan(plan, statistic)


@dataclass(frozen=True)
class WholeCall:
    """A call that one function computes as a whole, without blocks: boxes, and elements that are no numbers.

    Attributes
    ----------
    compute : callable
        Returns what the public function returns.
    describe : callable
        Takes the name of the statistic and returns the :class:`rollstat.explain.Explanation`.
    """

    compute: Callable[[], Any]
    describe: Callable[[str], Explanation]
    arrays: tuple[()] = ()

    def plain_plan(self) -> None:
        """Return None, because no plan serves other calls."""

    def run(self) -> Any:
        """Compute the call and return what the function returns."""
        return self.compute()

    def explain(self, statistic: str) -> Explanation:
        """Return the plan as text and attributes."""
        return self.describe(statistic)


def _reject_table(names: Sequence[str], arrays: Sequence[ArrayLike], axis: Any) -> None:
    """Raise if an array is a table and the default axis would make a series of each of its rows."""
    for name, array in zip(names, arrays):
        kind = type(array)
        if axis == -1 and hasattr(kind, "columns") and getattr(array, "ndim", 2) == 2:
            table, columns = _TABLES.get(kind.__module__.partition(".")[0], _TABLES["pandas"])
            raise TypeError(f"{name} must be an array or a Series; got {table}, whose columns {columns}")


def execute_plain(plan: Plan, arrays: Sequence[Any], times: Any = None) -> Any:
    """Return what a function returns for a plain call with arrays and times like those of its plan."""
    results = _results_of_plain(plan, arrays, times)
    for output, value in plan.row_fill:
        results[output][results[output] < 0] = value
    if plan.options.mode == "valid":
        results = [array[plan.kept] for array in results]
    return results[0] if len(results) == 1 else tuple(results)


def _results_of_plain(plan: Plan, arrays: Sequence[NDArray[Any]], times: Any) -> list[NDArray[Any]]:
    """Return the results of a plain call: by one kernel call if the plan has one, else by blocks."""
    series = [_readable(array) for array in arrays]
    results = allocate_rows(plan.rows, plan.dtypes)
    if plan.timed:
        plan = plan.over(times)
    call = None if plan.marks_after_call else in_place_of_blocks(plan)
    if call is not None:
        if plan.one_call is None:
            note_work(plan)
        if call.write(series, plan.bounds, results):
            return results
    lines = ResultLines([array[None] for array in results], None, [])
    execution = Execution(plan, [array[None] for array in series], None, lines)
    if call is None:
        execution.run()
    else:
        execution.compute([0])
    return results


def _readable(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view, bool as uint8."""
    view = array.view(np.uint8) if array.dtype.kind == "b" else array.view()
    view.flags.writeable = False
    return view


def _execute(
    plan: Plan,
    checked: Sequence[NDArray[Any]],
    mask: NDArray[np.bool_] | None,
    targets: Sequence[Any],
    stack: bool,
) -> ResultLines:
    """Execute a plan; return the lines of the results, some of them views of `targets`."""
    lines = [as_lines(array, plan.axis) for array in checked]
    line_mask = None if mask is None else as_lines(mask, plan.axis)
    results = ResultLines.allocate(lines[0].shape[0], plan.rows, plan.dtypes, stack, plan.masked)
    for i, target in enumerate(targets):
        if target is not None and plan.options.mode == "same" and not plan.can_fail:
            direct = lines_of_out(target, plan.axis, [*checked, *plan.windows.memory])
            results.arrays[i] = results.arrays[i] if direct is None else direct
    if plan.joined:
        line_mask = None if line_mask is None else joined_lines(line_mask)
        Execution(plan, [joined_lines(line) for line in lines], line_mask, results.joined()).run()
        for kind, result in zip(plan.kinds, results.arrays):
            if kind == "position":  # from rows of the joined lines to rows of each
                result -= np.where(result >= 0, np.arange(len(result))[:, None] * plan.shape[plan.axis], 0)
    elif in_place_of_blocks(plan) is None and plan.split is not None:
        _execute_split(plan, plan.split, lines, line_mask, results)
    else:
        Execution(plan, lines, line_mask, results).run()
    for output, value in plan.row_fill:
        results.arrays[output][results.arrays[output] < 0] = value
    return results


def _execute_split(
    plan: Plan,
    split: Split,
    lines: Sequence[NDArray[Any]],
    mask: NDArray[np.bool_] | None,
    results: ResultLines,
) -> None:
    """Compute the windows across segments, then those that segments cut in their place."""
    if len(split.rows) + len(split.short) < plan.rows:
        Execution(split.across, lines, mask, results).run()
    cut = ResultLines.allocate(lines[0].shape[0], len(split.rows), plan.dtypes, masked=plan.masked)
    Execution(split.cut, lines, mask, cut).run()
    for result, part, fill in zip(results.arrays, cut.arrays, plan.fill):
        result[:, split.rows] = part
        result[:, split.short] = fill
    for result, part in zip(results.masks, cut.masks):
        result[:, split.rows] = part
        result[:, split.short] = True
