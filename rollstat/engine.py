"""Execute a plan: arrays as lines, lines as blocks, blocks on threads, results in the shape of the input.

::

    arrays --> lines along `axis` --> blocks --> computation --> rows with too few observations marked

The engine alone knows about axes, byte order, strides, missing-value policies, output dtypes, fill
values and threads. A computation sees one :class:`rollstat.blocks.Block` at a time and only computes.
Blocks are cut by row and threads take whole blocks, so threads cannot change a bit.
"""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cache, partial
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat.blocks import UNKNOWN, Block, Kept, Missing, Outcome, exact_floats, kept_arrays, read_only
from rollstat.calendar_units import depends_on_time
from rollstat.dtypes import (
    EXACT,
    check_array,
    plain,
    reject_missing,
    same_memory,
    union_mask,
    warn_of_rounded,
)
from rollstat.edges import EXTENSIONS, beyond_edges, extended, extended_ends, extended_segments
from rollstat.explanation import Explanation, explain_plan
from rollstat.options import Options, Window, ordered_times
from rollstat.plan import PLAIN_DTYPES, BlockRows, MakeComputation, OneCall, Plan, Split, keep_plan
from rollstat.results import allocate_lines, as_lines, check_out, convert, lines_of_out, shaped
from rollstat.tiers import call_of, note_ready, note_work
from rollstat.windows import FixedWindows

_DEFAULT = Outcome()
_FLOAT64 = np.dtype(np.float64)
_between = Kept()  # results of the rows between two steps
_KEPT_DTYPES = PLAIN_DTYPES + "mM"
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


class Target(NamedTuple):
    """Where the results of some rows of a line go; the masks are those of masked arrays."""

    views: Sequence[NDArray[Any]]
    masks: Sequence[NDArray[np.bool_]]


class Execution:
    """One plan at work on one set of arrays.

    Parameters
    ----------
    plan : Plan
        What to do.
    arrays : sequence of ndarray, each of shape (lines, length)
        The data.
    mask : ndarray of bool, shape (lines, length), or None
        Where there is no observation, if arrays are masked.
    results : sequence of ndarray, each of shape (lines, rows)
        Receive the results.
    masks : sequence of ndarray of bool, each of shape (lines, rows)
        Receive where there is no result, if arrays are masked; empty otherwise.
    """

    __slots__ = ("arrays", "mask", "masks", "plan", "results")

    def __init__(
        self,
        plan: Plan,
        arrays: Sequence[NDArray[Any]],
        mask: NDArray[np.bool_] | None,
        results: Sequence[NDArray[Any]],
        masks: Sequence[NDArray[np.bool_]],
    ) -> None:
        self.plan = plan
        self.arrays = arrays
        self.mask = mask
        self.results = results
        self.masks = masks

    def run(self) -> None:
        """Compute all lines: short ones in one call each, others by blocks on the threads of the options."""
        call, lines = call_of(self.plan), range(len(self.arrays[0]))
        left = lines if call is None else [line for line in lines if not self._in_one_call(call, line)]
        if left:
            self._in_blocks(left)

    def _in_blocks(self, lines: Sequence[int]) -> None:
        """Compute these lines by blocks."""
        plan, threads = self.plan, self.plan.options.threads
        for line, rows in product(lines, plan.insufficient):
            self._mark_all(line, rows)
        work_on_threads(self.work, product(lines, plan.blocks), threads)
        note_ready(plan)

    def _in_one_call(self, call: OneCall, line: int) -> bool:
        """Compute a line in one call; return whether this serves its values."""
        plan = self.plan
        rows, bounds = plan.covered
        taken = line if rows is None else (line, rows)
        columns: list[Any] = []
        for array in self.arrays:
            values = array[taken] if self.mask is None else np.where(self.mask[taken], np.nan, array[taken])
            columns.append(exact_floats(values, call.most))
            if columns[-1] is None:
                return False
        if plan.one_call is None:
            note_work(plan)
        results = written = [result[line] for result in self.results]
        if call.most:
            written = [same_memory(result, _FLOAT64) for result in results]
        if call.run(columns, bounds, written) is False:
            return False
        for result, array in zip(results, written) if call.most else ():
            if result is not array:
                with np.errstate(over="ignore"):  # values that float32 cannot hold become infinite
                    result[...] = array
        if plan.marks_after_call:
            block = Block(columns[0], UNKNOWN, bounds.start, bounds.end, others=tuple(columns[1:]))
            self._mark_insufficient(block, _DEFAULT, self._target(line, slice(None)))
        return True

    def work(self, line: int, rows: BlockRows) -> None:
        """Compute one block."""
        plan, first, last = self.plan, rows.first, rows.last
        block = plan.block(rows, partial(self._data, line))
        if block.width == 0 and block.longest < plan.min_periods.lowest:
            self._mark_all(line, slice(first, last))
            return
        target = self._target(line, slice(first, last))
        if block.rows == last - first:
            self._compute(block, first, target)
        else:
            found = kept_arrays(_between, block.rows, [view.dtype for view in target.views])
            marked = [np.zeros(block.rows, np.bool_) for _ in target.masks]
            self._compute(block, first, Target(found, marked), rows.step)
            for array, source in zip((*target.views, *target.masks), (*found, *marked)):
                array[...] = source[:: rows.step]
        # A difference of two values can be twice as large as they are.
        if plan.dtype.kind in "iu" and "interpolated" in plan.kinds and 2 * block.magnitude >= EXACT:
            for kind, view in zip(plan.kinds, target.views):
                if kind == "interpolated":
                    warn_of_rounded(view)

    def _target(self, line: int, rows: slice) -> Target:
        """Return these rows of all results and masks."""
        views, masks = ([array[line, rows] for array in arrays] for arrays in (self.results, self.masks))
        return Target(views, masks)

    def _data(self, line: int, low: int, high: int) -> tuple[list[NDArray[Any]], Missing]:
        """Return the values and the mask of the data rows ``low, ..., high - 1``."""
        missing: Missing = UNKNOWN
        # Read-only, so that kernels are compiled for one kind of array instead of two.
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

    def _compute(self, block: Block, first: int, target: Target, step: int = 1) -> None:
        """Compute one block, whose first output row is `first`, and write it, missing results marked.

        Of results that must be converted, which may warn, only every `step`-th is written.
        """
        plan, views = self.plan, target.views
        written = [same_memory(view, computed) for view, computed in zip(views, plan.computed)]
        try:
            outcome = plan.computation.compute(block, plan.min_periods.lowest, written) or _DEFAULT
        except OverflowError as error:
            if hasattr(error, "row"):  # from a row of the block to one of the data
                order = plan.windows.order
                error.row = error.row + first if order is None else int(order[error.row + first])
            raise
        for kind, view, array in zip(plan.kinds, views, written):
            if kind == "position" and block.base and not outcome.base_added:
                array += block.base
            if not np.may_share_memory(view, array):
                convert(array[::step], view[::step])
        if not outcome.marked:
            self._mark_insufficient(block, outcome, target)

    def _mark_insufficient(self, block: Block, outcome: Outcome, target: Target) -> None:
        """Mark the rows that have too few observations for an output, or no result for another reason."""
        plan, (views, masks) = self.plan, target
        if not (block.searched or outcome.complete) and outcome.undefined is None and block.width:
            if not masks and not block.others and all(view.dtype.kind in "fi" for view in views):
                plan.min_periods.mark_unsearched(block.values, block.width, views, plan.fill)
                return
        insufficient = plan.min_periods.insufficient(block, outcome)
        for i, rows in enumerate(insufficient or ()):
            if rows.any():
                views[i][rows] = plan.fill[i]
                if masks:
                    masks[i][rows] = True

    def _mark_all(self, line: int, rows: slice) -> None:
        """Put the missing value into every output of these rows."""
        views, masks = self._target(line, rows)
        for view, fill in zip(views, self.plan.fill):
            view[...] = fill
        for mask in masks:
            mask[...] = True


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


def _work_through(work: Callable[..., None], tasks: deque[tuple[Any, ...]]) -> None:
    """Work until no task is left; remove all tasks after an error."""
    try:
        while True:
            try:
                task = tasks.popleft()
            except IndexError:
                return
            work(*task)
    except BaseException:
        tasks.clear()
        raise


def work_on_threads(work: Callable[..., None], arguments: Iterable[tuple[Any, ...]], threads: int) -> None:
    """Call `work` with each of the `arguments`, on this thread and others."""
    tasks = deque(arguments)
    # A thread that works for a call does not wait for others: it would keep them from work.
    if threads == 1 or len(tasks) < 2 or _thread.works:
        _work_through(work, tasks)
        return
    pool, waiting = _pool(threads - 1), list[Future[None]]()
    with suppress(RuntimeError):  # no thread can start after the main thread has ended
        waiting.extend(pool.submit(_work_through, work, tasks) for _ in range(min(threads, len(tasks)) - 1))
    _thread.works = True
    try:
        _work_through(work, tasks)
    finally:  # after an error or an interrupt no further task begins, and none is still written
        _thread.works = False
        begun = [done for done in waiting if not done.cancel()]
        wait(begun)
    for done in begun:
        done.result()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child has none of its parent's threads


class Call(NamedTuple):
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
    derive : callable, optional
        Takes the times in 64 bits, and returns the last of the arrays (the caller does not give it).
    """

    arrays: Sequence[ArrayLike]
    window: Window
    make: MakeComputation
    options: Options
    names: Sequence[str] = ("arr", "other")
    stack: bool = False
    finish: Callable[..., Any] | None = None
    derive: Callable[[NDArray[Any]], NDArray[Any]] | None = None

    def _checked(self, repeatable: bool) -> tuple[Plan, list[NDArray[Any]], NDArray[np.bool_] | None]:
        """Return the plan, the arrays and their mask, or raise.

        A `repeatable` plan does not depend on the times of this call.
        """
        options, names = self.options._replace(out=None), self.names  # a plan serves calls with any `out`
        _reject_table(names, self.arrays, options.axis)
        checked = [check_array(name, array) for name, array in zip(names, self.arrays)]
        shape = checked[0].shape
        for name, array in zip(names[1:], checked[1:]):
            if array.shape != shape:
                raise ValueError(f"{name} must have the shape of {names[0]}, {shape}; got {array.shape}")
        mask = union_mask(self.arrays, checked)
        if repeatable and options.times is not None:
            options = options._replace(times=ordered_times(options.times) or options.times)
        plan = Plan(
            checked[0].dtype,
            shape,
            self.window,
            self.make,
            options,
            masked=mask is not None,
            others=[array.dtype for array in checked[1:]],
            stack=self.stack,
            finish=self.finish,
            derive=self.derive,
        )
        if options.nan_policy == "raise":
            reject_missing(checked, mask)
        return plan, checked, mask

    def _extended(self) -> tuple["Call", Plan, NDArray[np.int64], NDArray[np.int64] | None, list[Any]]:
        """Return the call over arrays that extend beyond their edges, all of whose windows are full.

        Return also the plan without this extension, the row of each row of these arrays, the rows of results
        unless all, and the arrays given as `out`.
        """
        plan, checked, mask = self._checked(False)
        targets = _checked_out(plan, self.options.out)
        options, axis, offsets = self.options, plan.axis, self.options.offsets(plan.shape[plan.axis])
        windows = options.windows(self.window, offsets)
        if not isinstance(windows, FixedWindows) or windows.kind.startswith("expanding"):
            raise ValueError(f"mode must be 'same' except for windows of rows; got {options.mode!r}")
        reach = max(windows.left, 0), max(windows.right - 1, 0)
        beyond = [beyond_edges(options.mode, array.dtype, options.fill_value) for array in checked]
        if any(extension == "cut" for extension, _ in beyond):
            return self._replace(options=options._replace(mode="same")), plan, offsets, offsets, targets
        positions = {"position", "offset"} & set(plan.kinds)
        whole = len(offsets) == 2 and offsets[1] > 0
        source, starts = offsets, offsets  # where nobody asks for them
        if positions or not whole:
            source, starts = extended_segments(offsets, *reach, options.mode)
        rows = extended_ends(plan.shape[axis], *reach, options.mode) if whole else [source]
        if mask is not None:
            checked = [np.ma.MaskedArray(array, mask) for array in checked]
        arrays = [extended(array, axis, rows, outside) for array, (_, outside) in zip(checked, beyond)]
        inner = options._replace(
            mode="valid",
            step=1,
            out=None,
            segments=None if len(offsets) == 2 else starts,
            fill_value=None if positions else options.fill_value,
        )
        kept = None if options.step == 1 else windows.position(0, windows.rows)
        return self._replace(arrays=arrays, options=inner, finish=None), plan, source, kept, targets

    def _run_extended(self) -> Any:
        """Compute a call whose arrays extend beyond their edges."""
        inner, plan, source, rows, targets = self._extended()
        if inner.options.mode == "same":
            return inner.run()
        found = inner.run()
        results = list(found) if isinstance(found, tuple) else [found]
        for i, result in enumerate(results):
            if rows is not None:
                result = result.take(rows, plan.axis - len(plan.shape))
            if plan.kinds[i] == "position":
                result[...] = np.where(result < 0, -1, source[result])
            for output, value in plan.row_fill:
                if output == i:
                    result[result < 0] = value
            results[i] = result
        for i, target in enumerate([self.options.out] if self.stack and targets else targets):
            target[...] = np.ma.getdata(results[i])
            masked = isinstance(results[i], np.ma.MaskedArray)
            results[i] = np.ma.MaskedArray(target, results[i].mask) if masked else target
        if self.finish is not None:
            return self.finish(*results)
        return results[0] if len(results) == 1 else tuple(results)

    def run(self, key: Any = None) -> Any:
        """Compute the call, and keep its plan if it has a `key`; return what the function returns."""
        if self.options.mode in EXTENSIONS:
            return self._run_extended()
        key = None if depends_on_time(self.window) else key
        plan, checked, mask = self._checked(key is not None)
        if key is not None and not plan.computation.once:
            keep_plan(key, plan)
        return execute(plan, checked, mask, self.options.times, self.options.out)

    def explain(self, statistic: str) -> Explanation:
        """Return the plan as text and attributes."""
        if self.options.mode in EXTENSIONS:
            return self._extended()[0].explain(statistic)
        repeatable = not depends_on_time(self.window) and self.options.at is None
        plan = self._checked(repeatable and key_of_arrays(self.arrays, self.options.times) is not None)[0]
        _checked_out(plan, self.options.out)
        return explain_plan(plan.over(self.options.times) if plan.timed else plan, statistic)


class WholeCall(NamedTuple):
    """A call that one function computes as a whole, without blocks: boxes, and elements that are not numbers.

    Attributes
    ----------
    run : callable
        Returns what the public function returns.
    explain : callable
        Takes the name of the statistic and returns the :class:`rollstat.explanation.Explanation`.
    over : callable or None
        Takes another array of the same kind and `out`, and returns what the public function returns for them.
    """

    run: Callable[[], Any]
    explain: Callable[[str], Explanation]
    over: Callable[[NDArray[Any], Any], Any] | None = None


def _reject_table(names: Sequence[str], arrays: Sequence[ArrayLike], axis: Any) -> None:
    """Raise if an array is a table and the default axis would make a series of each of its rows."""
    for name, array in zip(names, arrays):
        kind = type(array)
        if axis == -1 and hasattr(kind, "columns") and getattr(array, "ndim", 2) == 2:
            table, columns = _TABLES.get(kind.__module__.partition(".")[0], _TABLES["pandas"])
            raise TypeError(f"{name} must be an array or a Series; got {table}, whose columns {columns}")


def key_of_arrays(arrays: Sequence[Any], times: Any, windows: bool = True) -> tuple[Any, ...] | None:
    """Return what of arrays and times decides a plan; None for arrays whose calls have plans of their own.

    `windows` says whether windows depend on the times: a plan of many irregular times serves one call alone.
    """
    key: list[Any] = []
    for array in arrays:
        if type(array) is not np.ndarray or array.dtype.char not in _KEPT_DTYPES:
            return None
        if not array.flags.aligned:
            return None
        key += array.dtype, array.shape
    if times is not None:
        key.append(ordered_times(times) if windows else ordered_times(times, sys.maxsize))
        if key[-1] is None:
            return None
    return tuple(key)


def execute(
    plan: Plan,
    arrays: Sequence[NDArray[Any]],
    mask: NDArray[np.bool_] | None = None,
    times: Any = None,
    out: Any = None,
) -> Any:
    """Compute a plan and return what the function returns.

    Parameters
    ----------
    plan : Plan
        Of a call with arrays and times like these.
    arrays : sequence of ndarray
        The series, checked; without the one that the plan derives from the times, or with it.
    mask : ndarray of bool or None
        Where there is no observation, if arrays are masked.
    times : ndarray or None
        The times of the call, for a plan that serves several calls.
    out : ndarray, sequence of ndarray or None
        Receives the results.
    """
    targets = _checked_out(plan, out)
    if plan.derive is not None and len(arrays) <= len(plan.others):
        arrays = [*arrays, plan.derive(times.view(np.int64))]
    if plan.timed:
        plan = plan.over(times)
    lines = [as_lines(array, plan.axis) for array in arrays]
    line_mask = None if mask is None else as_lines(mask, plan.axis)
    results = None
    if targets and plan.options.mode == "same" and not plan.can_fail:
        results = lines_of_out(targets, plan.axis, [*arrays, *plan.windows.memory])
    if results is None:
        results = allocate_lines(len(lines[0]), plan.rows, plan.dtypes, plan.stack)
    masks = [np.zeros(result.shape, np.bool_) for result in results] if plan.masked else []
    if plan.joined:
        line_mask = None if line_mask is None else _end_to_end(line_mask)
        joined = [[_end_to_end(each) for each in several] for several in (lines, results, masks)]
        Execution(plan, joined[0], line_mask, *joined[1:]).run()
        for kind, result in zip(plan.kinds, results):
            if kind == "position":  # from rows of the joined lines to rows of each
                result -= np.where(result >= 0, np.arange(len(result))[:, None] * plan.shape[plan.axis], 0)
    elif call_of(plan) is None and plan.split is not None:
        _execute_split(plan.split, Execution(plan, lines, line_mask, results, masks))
    else:
        Execution(plan, lines, line_mask, results, masks).run()
    for line in chain(*results, *masks) if plan.windows.order is not None else ():
        plan.windows.put_back(line)
    for output, value in plan.row_fill:
        results[output][results[output] < 0] = value
    return _returned(plan, results, masks, targets, out)


def _checked_out(plan: Plan, out: Any) -> list[Any]:
    """Return the arrays given as `out`, one for each result, or raise."""
    return check_out(out, [plan.result_shape] * len(plan.dtypes), plan.dtypes, plan.stack)


def _end_to_end(lines: NDArray[Any]) -> NDArray[Any]:
    """Return all lines as one: a view if they are contiguous."""
    return np.ascontiguousarray(lines).reshape(1, -1)


def _returned(
    plan: Plan, results: list[NDArray[Any]], masks: list[Any], targets: Sequence[Any], out: Any
) -> Any:
    """Return what a function returns, in the shape of its input."""
    where = plan.shape, plan.axis, plan.kept
    arrays = [shaped(result, *where) for result in results]
    for i, target in enumerate(targets):
        if not np.may_share_memory(results[i], target):
            target[...] = arrays[i]
        arrays[i] = target
    if masks:
        masks = [shaped(mask, *where) for mask in masks]
        arrays = [np.ma.MaskedArray(array, mask) for array, mask in zip(arrays, masks)]
    if plan.stack:
        whole: Any = results[0].base  # of which the results are views
        stacked = shaped(whole, *where) if out is None else out
        stacked = np.ma.MaskedArray(stacked, np.stack(masks)) if masks else stacked
        return stacked if plan.finish is None else plan.finish(stacked)
    if plan.finish is not None:
        return plan.finish(*arrays)
    return arrays[0] if len(arrays) == 1 else tuple(arrays)


def _execute_split(split: Split, whole: Execution) -> None:
    """Compute the windows across segments, then those that segments cut in their place."""
    plan, lines = whole.plan, len(whole.arrays[0])
    if len(split.rows) + len(split.short) < plan.rows:
        Execution(split.across, whole.arrays, whole.mask, whole.results, whole.masks).run()
    cut = allocate_lines(lines, len(split.rows), plan.dtypes)
    masks = [np.zeros(result.shape, np.bool_) for result in cut] if plan.masked else []
    Execution(split.cut, whole.arrays, whole.mask, cut, masks).run()
    for result, part, fill in zip(whole.results, cut, plan.fill):
        result[:, split.rows] = part
        result[:, split.short] = fill
    for mask, part in zip(whole.masks, masks):
        mask[:, split.rows] = part
        mask[:, split.short] = True
