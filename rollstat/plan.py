"""The plan of a call: everything that is decided before any value is read.

::

    dtype, shape, window, options  -->  windows --> computation --> dtypes, fill values, min_periods
                                           |              |
                                           +--> blocks of rows, one algorithm each
                                           +--> rows whose windows are certainly too short

A plan depends on the dtype and the shape of the input, never on its values, so one plan serves every array
like it. The functions keep the plans of calls whose arguments have a key: planning takes some 0.1 ms, which
is more than the kernels need for thousands of values.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block, Missing, Outcome, read_only
from rollstat.dtypes import EXACT, compute_dtype, missing_value, plain, result_dtype
from rollstat.kernels.bounds import subtract_row
from rollstat.options import Options, OrderedTimes, Window
from rollstat.results import MinPeriods
from rollstat.thresholds import FEW_LINES, ONE_CALL_ROWS, ONE_CALL_SECONDS, SHORT_LINE, SKIPPED_ROW_SECONDS
from rollstat.windows import FixedWindows, OffsetWindows, TimeWindows, Windows


class Output(NamedTuple):
    """One array that a computation returns.

    Attributes
    ----------
    kind : str
        What it holds; this decides its dtype: ``"value"``, an element of the input;
        ``"interpolated"``, a point between two of them; ``"difference"``, the distance of two;
        ``"float"``; ``"integer"``, an exact whole number; ``"truth"``, true or false where there is one;
        ``"position"``, the row of an element, and ``"offset"``, its place in the window (-1 where
        missing); ``"flag"``, false where missing.
    required : int
        Observations that a window needs for this output, whatever ``min_periods`` says.
    """

    kind: str
    required: int = 1


class Choice(NamedTuple):
    """The algorithm for a block, and why.

    Attributes
    ----------
    name : str
        The algorithm, as ``algorithm=`` names it where it has such a name.
    reason : str
        Why it is the one.
    at_run_time : tuple of (str, str)
        Other algorithms that the values may call for, each with its condition.
    """

    name: str
    reason: str
    at_run_time: tuple[tuple[str, str], ...] = ()


_FLOAT64 = np.dtype(np.float64)
# What a plan keeps that depends on its windows.
_OF_WINDOWS = ("one_call", "bounds", "covered", "variant", "_rows", "_last_over")
_MOST_PLANS = 256
kept_plans: dict[Any, Any] = {}
"""Plans of earlier calls by all that decides them; a full store is emptied."""


def keep_plan(key: Any, plan: Any) -> None:
    """Keep the plan of all calls with this key: a `Plan`, or a function of the array and `out`."""
    if len(kept_plans) >= _MOST_PLANS:
        kept_plans.clear()
    kept_plans[key] = plan


def forget_plans() -> None:
    """Forget all plans that are kept."""
    kept_plans.clear()


NAMED = "named by algorithm="
"""Reason of a choice that the caller made."""
SHORT = "the windows are so few that one kernel call takes the least time"
"""Reason of the choice of one call."""
IN_ANY_ORDER = "the bounds of windows decrease often"
"""Reason of the choice for a block of windows in any order."""


class Bounds(NamedTuple):
    """The windows of a whole series, in read-only arrays.

    Attributes
    ----------
    start, end : ndarray of int64, shape (rows,)
        Monotone bounds.
    longest : int
        Rows of the longest window.
    own : ndarray of int64, shape (rows,) or (0,)
        The row that each window belongs to, for computations that read it.
    """

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    longest: int
    own: NDArray[np.int64]


class OneCall(NamedTuple):
    """One kernel call that writes all results of a short series.

    The kernel takes bounds, skips NaN, counts observations and writes every row. Most kernels are compiled
    for float64 alone: other numbers are converted first, if the conversion is exact.

    Attributes
    ----------
    choice : Choice
        The algorithm of the kernel.
    run : callable
        Takes the series, read-only, the :class:`Bounds` and an array for each output; returns False if it
        does not support these values. Blocks compute them then.
    row, entry : float
        About how many nanoseconds a row takes that enters the windows, and each row of the window that it
        enters.
    most : int
        The largest absolute value of integers that become float64; 0 if nothing is converted.
    """

    choice: Choice
    run: Callable[[list[NDArray[Any]], Bounds, Sequence[NDArray[Any]]], bool | None]
    row: float
    entry: float = 0.0
    most: int = EXACT

    def seconds(self, entering: int, length: float) -> float:
        """Return about how long it takes if so many rows enter windows of this `length`."""
        return entering * (self.row + self.entry * length) * 1e-9


class Computation:
    """What the engine asks of a statistic; the base class of all computations.

    Attributes
    ----------
    outputs : sequence of Output
        What it returns.
    reads_own_row : bool
        Whether blocks must hold the row that each window belongs to.
    can_fail : bool
        Whether it may raise after results have been written, so that `out` must not be written directly.
    one_block : bool
        Whether each line must be one block, because an algorithm that the caller has named promises a number
        of operations, and a second block would repeat some of them.
    knows_rows : bool
        Whether results may depend on row numbers in another way than as positions, so that short lines
        cannot be laid end to end.
    rounds : bool
        Whether one call and blocks may round differently.
    any_order : bool
        Whether blocks may hold windows whose bounds decrease.
    once : bool
        Whether the plan must serve one call alone, because it calls a function of Python, which may have an
        effect that its code does not tell.
    filled_step : int
        The largest step, of at most a window, with which full windows around all rows take less time than
        those of the results alone; such blocks have a `width`. Not for computations that can fail.
    """

    outputs: Sequence[Output]
    reads_own_row = False
    can_fail = False
    one_block = False
    knows_rows = False
    rounds = False
    any_order = False
    once = False
    filled_step = 1

    def block_rows(self, width: int, alone: bool = False) -> int:
        """Return the output rows of a block that suit windows of `width` rows; `alone` on one thread."""
        raise NotImplementedError  # every computation has its own

    def choose(self, block: Block) -> Choice:
        """Return the algorithm for a block.

        The plan asks for a block without values, whose windows are final; the choice names what values
        may change.
        """
        raise NotImplementedError  # every computation has its own

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome | None:
        """Write the result of every row with at least `min_periods` observations; None if all is default."""
        raise NotImplementedError  # every computation has its own

    def one_call(self, least: int, marks: Sequence[float], longest: int) -> OneCall | None:
        """Return what writes all results of a series in one kernel call; None if no kernel does.

        Windows with fewer than `least` observations have no result; the outputs hold `marks` there. No window
        has more than `longest` rows.
        """
        return None


PLAIN_DTYPES = "fd?bBhHiIlLqQ"
"""Characters of the dtypes of numbers that one call serves: all and bool but half and extended precision."""

MakeComputation = Callable[[np.dtype[Any], Windows], Computation]
# Takes the first of the data rows of a block and the row after the last, returns the series and their mask.
ReadRows = Callable[[int, int], tuple[Sequence[NDArray[Any]], Missing]]


class BlockRows(NamedTuple):
    """Output rows ``first, ..., last - 1`` of a line.

    `width` is the width of full windows, else 0. A block holds these windows around all rows of data from the
    one of the first to the one of the last result; every `step`-th is a result.
    """

    first: int
    last: int
    width: int
    step: int = 1


class Split(NamedTuple):
    """A plan of windows within segments in two parts.

    Attributes
    ----------
    across : Plan
        Of all rows, as if all segments were one.
    cut : Plan
        Of the rows `rows`, whose windows the ends of segments cut.
    rows, short : ndarray of int64
        Rows that the second plan computes, and rows whose windows have too few rows.
    """

    across: "Plan"
    cut: "Plan"
    rows: NDArray[np.int64]
    short: NDArray[np.int64]


class Plan:
    """A call with everything decided that does not depend on values.

    Attributes
    ----------
    dtype : numpy.dtype
        Of the first array, in native byte order.
    others : sequence of numpy.dtype
        Of further arrays.
    shape : tuple of int
        Of the arrays.
    window
        As the call gave it.
    axis : int
        Along which the windows slide.
    lines : int
        Series along that axis.
    joined : bool
        Whether the lines, being short, are laid end to end as segments of one line.
    windows : Windows
        The windows of a line.
    rows : int
        Results of each series.
    kept : slice or ndarray of int
        Those that the call returns.
    computation : Computation
        What computes the blocks.
    options : Options
        The checked options.
    masked : bool
        Whether arrays are masked, and so are the results.
    kinds, computed, dtypes, fill : list
        Of each output: kind, dtype in which it is computed, dtype of the result, missing value. That of
        positions is -1 while they are computed.
    row_fill : list of (int, int)
        Outputs that are positions, and what replaces their -1 in the end.
    min_periods : MinPeriods
        Which rows have too few observations.
    timed : bool
        Whether each call must give this plan its times; see :meth:`over`.
    stack : bool
        Whether the results, all of one dtype, are returned as one array with a new first axis.
    finish : callable or None
        Takes the results and returns what the function returns.
    derive : callable or None
        Takes the times of a call in 64 bits, and returns the last array.
    """

    def __init__(
        self,
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        window: Window,
        make: MakeComputation,
        options: Options,
        masked: bool = False,
        others: Sequence[np.dtype[Any]] = (),
        stack: bool = False,
        finish: Callable[..., Any] | None = None,
        derive: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
    ) -> None:
        self.dtype = dtype if dtype.isnative else dtype.newbyteorder("=")
        self.others = others
        self.shape = shape
        self.window = window
        self.options = options
        self.masked = masked
        self.stack = stack
        self.finish = finish
        self.derive = derive
        if not -len(shape) <= options.axis < len(shape):
            raise ValueError(f"axis must lie in {-len(shape)}..{len(shape) - 1}; got {options.axis}")
        self.axis = options.axis % len(shape)
        length = shape[self.axis]
        segments = options.offsets(length)
        windows = options.windows(window, segments)
        self.rows = windows.rows
        self.kept: Any = windows.whole if options.mode == "valid" else slice(0, self.rows)
        self._make = make
        self.lines = math.prod(shape[: self.axis]) * math.prod(shape[self.axis + 1 :])
        short = self.lines > 1 and 0 < length < SHORT_LINE and isinstance(windows, FixedWindows)
        self.computation = make(self.dtype, windows)
        if isinstance(windows, FixedWindows) and options.algorithm == "auto" and not short:
            filled = None if self.computation.can_fail else windows.fill(self.computation.filled_step)
            if filled is not None:
                windows, self.computation = filled, make(self.dtype, filled)
        if self.computation.reads_own_row:
            windows.position(0, 0)  # raises if windows belong to no row
        self.windows = windows.arranged(self.computation.any_order)
        self._plan_outputs()
        self.joined = False  # which `one_call` reads
        few = short and self.lines <= FEW_LINES and self.lines * self.call_seconds <= ONE_CALL_SECONDS
        self.joined = short and not few and not self.computation.knows_rows
        if self.joined:
            self._forget("call", *_OF_WINDOWS)
            default = self.windows.min_periods
            starts = np.arange(self.lines, dtype=np.int64)[:, None] * length + segments[:-1]
            self.windows = options.windows(window, np.append(starts, self.lines * length))
            self.windows.min_periods = default
        self.timed = isinstance(self.windows, TimeWindows) and isinstance(options.times, OrderedTimes)
        self._last_over: tuple[bytes, Plan | None] = b"", None

    def _plan_outputs(self) -> None:
        options, outputs = self.options, self.computation.outputs
        given = options.min_periods_for(self.windows)
        needs = tuple(max(given, output.required) for output in outputs)
        exact = self.masked or options.fill_value is not None or self._always_present(max(needs))
        self.kinds = [output.kind for output in outputs]
        self.computed = [compute_dtype(kind, self.dtype) for kind in self.kinds]
        self.dtypes = [result_dtype(kind, self.dtype, exact) for kind in self.kinds]
        fill = [missing_value(k, d, options.fill_value) for k, d in zip(self.kinds, self.dtypes)]
        rows = [kind in ("position", "offset") for kind in self.kinds]
        self.fill = [-1 if is_row else value for is_row, value in zip(rows, fill)]
        self.row_fill = [(i, value) for i, value in enumerate(fill) if rows[i] and value != -1]
        nan_everywhere = all(fill != fill for fill in self.fill)
        self.min_periods = MinPeriods(
            needs,
            options.nan_policy == "propagate",
            len(set(needs)) == 1 and nan_everywhere and not self.masked,
        )

    def _always_present(self, need: int) -> bool:
        """Return whether no result that needs `need` observations can be missing."""
        options = self.options
        if options.mode == "same" or need > self.windows.whole_width:
            return False
        if options.nan_policy == "raise" or all(d.kind in "iub" for d in (self.dtype, *self.others)):
            return True
        return need == 0 and options.nan_policy == "omit"

    def with_windows(self, windows: Windows, computation: Computation) -> "Plan":
        """Return the plan of the same call for other windows over the same rows."""
        part = object.__new__(Plan)
        vars(part).update(vars(self))  # in a third of the time of a copy
        part._forget(*_OF_WINDOWS)
        part.windows, part.rows, part.computation = windows, windows.rows, computation
        return part

    def _forget(self, *names: str) -> None:
        for name in names:
            vars(self).pop(name, None)

    def over(self, times: NDArray[Any]) -> "Plan":
        """Return the plan for these times of the form that the plan was made for.

        It is kept for further calls over the same times, with a copy of them.
        """
        content = times.tobytes()
        known, plan = self._last_over
        if plan is not None and known == content:
            return plan
        assert isinstance(self.windows, TimeWindows)
        _ = self.call, self.split, self.marks_after_call  # which do not depend on times: kept for the next
        plan = self.with_windows(self.windows.over(np.frombuffer(content, np.int64)), self.computation)
        self._last_over = content, plan
        return plan

    @cached_property
    def split(self) -> "Split | None":
        """The plan in two parts: windows across segments, and those that segments cut. None if it stays one.

        Windows of rows that are all full run much faster. Those that cross segments are computed for
        nothing, so they must be few, and must not fail.
        """
        windows = self.windows
        if not isinstance(windows, OffsetWindows) or windows.fixed_width < 1 or len(windows.offsets) == 2:
            return None
        if self.joined or self.options.mode != "same" or self.computation.can_fail:
            return None
        # Sums across segments need not fit, nor be exact as floats.
        if any(own.kind in "iu" and result.kind == "f" for own, result in zip(self.computed, self.dtypes)):
            return None
        rows = windows.cut()
        start, end = windows.bounds_around(rows)
        enough = end - start >= self.min_periods.lowest
        computed = rows[enough]
        if 2 * len(rows) > self.rows and len(computed):
            return None
        across, cut = (
            self.with_windows(part, self._make(self.dtype, part))
            for part in (windows.across(), windows.of_rows(computed))
        )
        return Split(across, cut, computed, rows[~enough])

    @property
    def can_fail(self) -> bool:
        """Whether the call may raise after rows have been written.

        A warning that integers were rounded is an error where the caller wants it to be one.
        """
        numbers = (self.dtype, *self.others, *self.computed)
        wide = any(d.kind in "iu" and d.itemsize == 8 for d in numbers)
        rounds = wide and any(d.kind == "f" for d in self.dtypes)
        return self.computation.can_fail or rounds

    @property
    def result_shape(self) -> tuple[int, ...]:
        """Shape of each result, `axis` holding the kept rows."""
        kept = self.kept.stop - self.kept.start if isinstance(self.kept, slice) else len(self.kept)
        return (*self.shape[: self.axis], kept, *self.shape[self.axis + 1 :])

    @cached_property
    def _rows(self) -> tuple[tuple[BlockRows, ...], tuple[slice, ...]]:
        blocks, insufficient = [], []
        for block in self._cut():
            short = self._too_short(block)
            if short:
                insufficient.append(slice(block.first, block.first + short))
            if block.first + short < block.last:
                blocks.append(block._replace(first=block.first + short))
        return tuple(blocks), tuple(insufficient)

    @property
    def blocks(self) -> tuple[BlockRows, ...]:
        """The blocks of a line."""
        return self._rows[0]

    @property
    def insufficient(self) -> tuple[slice, ...]:
        """Rows of a line that no block holds, since their windows have too few rows."""
        return self._rows[1]

    def _cut(self) -> Iterator[BlockRows]:
        """Cut the rows of a line into blocks: full windows and others apart."""
        first, last, width = self.windows.regular
        if self.computation.one_block:
            rows = self.windows.rows  # of all lines, if they are laid end to end
            for begin, end in self.windows.pieces(0, rows):
                yield BlockRows(begin, end, width if last - first == rows else 0)
            return
        yield from self._cut_other(0, first)
        size = self.computation.block_rows(width, self.options.threads == 1) if last > first else 1
        step = self.windows.step if last > first else 1
        size = max(size // step, 1)
        for row in range(first, last, size):
            yield BlockRows(row, min(row + size, last), width, step)
        yield from self._cut_other(last, self.windows.rows)

    def _cut_other(self, first: int, last: int) -> Iterator[BlockRows]:
        """Cut rows whose windows are not known to have one width."""
        for begin, stop in self.windows.pieces(first, last):
            row = begin
            while row < stop:
                start, end = self.windows.bound(row)
                size = self.computation.block_rows(max(end - start, 1))
                size = stop - row if self.windows.any_order else size
                yield BlockRows(row, min(row + size, stop), 0)
                row += size

    def _too_short(self, rows: BlockRows) -> int:
        """Return how many rows of a block, from the first on, certainly have too few observations."""
        if rows.width:
            return rows.last - rows.first if rows.width < self.min_periods.lowest else 0
        return self.min_periods.too_short(self.windows, rows.first, rows.last)

    def block(self, rows: BlockRows, read: ReadRows) -> Block:
        """Return a block with the data that `read` returns."""
        first, last, width, step = rows
        windows = self.windows
        start = end = longest = reach = own_row = None
        if width:
            low = first * step - windows.left
            high = low + (last - 1 - first) * step + width
        elif windows.grows(first, last):
            reach, low, high = windows.bound(first)[1], 0, windows.bound(last - 1)[1]
        else:
            start, end = windows.bounds(first, last)
            low, high = int(start[0]), int(end[-1])
            if windows.any_order:
                low, high = int(start.min()), int(end.max())
        if self.computation.reads_own_row:
            own_row = windows.position(first, last)
            lowest, highest = int(own_row.min()), int(own_row.max())
            if low <= lowest and highest < high:
                own_row = own_row if step == 1 else np.arange(lowest, highest + 1)
            else:
                width, reach, (start, end) = 0, None, windows.bounds(first, last)
                low, high = min(low, lowest), max(high, highest + 1)
            own_row = own_row - low
        if start is not None and end is not None:
            start, end = (bound if bound.flags.owndata else bound.copy() for bound in (start, end))
            longest = int(subtract_row(start, end, low))
        (values, *others), missing = read(low, high)
        return Block(
            values,
            missing,
            start,
            end,
            width,
            tuple(others),
            reach=reach,
            own_row=own_row,
            base=low,
            nan_below=self.min_periods.nan_below(width),
            longest=longest,
            any_order=windows.any_order,
        )

    def empty_block(self, rows: BlockRows) -> Block:
        """Return a block whose values are not to be read."""
        return self.block(rows, lambda low, high: ([plain(np.empty(high - low, self.dtype))], None))

    @cached_property
    def call(self) -> OneCall | None:
        """One kernel call that may write all results of a line, long or short."""
        dtypes = self.dtype, *self.others
        kinds = "fd" if self.masked else PLAIN_DTYPES
        named = self.options.algorithm != "auto" or not self.windows.one_chain
        if named or self.joined or any(dtype.char not in kinds for dtype in dtypes):
            return None
        if self.marks_after_call and not self.computation.rounds:  # blocks return the same
            return None
        longest = min(self.windows.fixed_width or self.shape[self.axis], self.shape[self.axis])
        marks = [float(mark) for mark in self.fill]
        call = self.computation.one_call(self.min_periods.lowest, marks, longest)
        converts = call is not None and any(dtype != _FLOAT64 for dtype in (*dtypes, *self.dtypes))
        return call if call is None or converts else call._replace(most=0)

    @cached_property
    def marks_after_call(self) -> bool:
        """Whether rows are insufficient by more than one number of observations, or have a mask."""
        rule = self.min_periods
        filled = self.computation.rounds and any(mark == mark for mark in self.fill)
        return self.masked or rule.propagate or len(set(rule.needs)) > 1 or filled

    @cached_property
    def one_call(self) -> OneCall | None:
        """The call if so few rows are in windows that blocks take longer."""
        if not 0 < self.rows <= ONE_CALL_ROWS or self.call is None:
            return None
        skipped = max(self.shape[self.axis] - self._entering, 0)
        return self.call if self.call_seconds <= ONE_CALL_SECONDS + skipped * SKIPPED_ROW_SECONDS else None

    @property
    def call_seconds(self) -> float:
        """About how long the call takes."""
        if self.call is None:
            return math.inf
        longest = self.bounds.longest
        return self.call.seconds(self._entering, longest / 2 if self.windows.grows(0, self.rows) else longest)

    @property
    def _entering(self) -> int:
        """About how many rows enter the windows of a line, one after the other, and at least one a window."""
        start, end = self.bounds.start, self.bounds.end
        if not len(start) or end[-1] - start[0] <= self.rows:
            return self.rows
        return max(min(int(np.add.reduce(end - start)), int(end[-1] - start[0])), self.rows)

    @cached_property
    def bounds(self) -> Bounds:
        """All windows of a line."""
        start, end = self.windows.bounds(0, self.rows)
        longest = int(np.maximum.reduce(end - start, initial=0))  # faster than `max`
        reads = self.computation.reads_own_row
        own = self.windows.position(0, self.rows) if reads else np.empty(0, np.int64)
        return Bounds(read_only(start), read_only(end), longest, read_only(own))

    @cached_property
    def covered(self) -> tuple[NDArray[np.int64] | None, Bounds]:
        """The rows of the windows, one after the other, and their bounds there; None for all rows."""
        start, end, longest, own = self.bounds
        sizes = end - start
        last = np.cumsum(sizes)
        total = int(sizes.sum())  # without windows too
        knows_rows = self.computation.knows_rows or len(own) or "position" in self.kinds
        if knows_rows or 2 * total >= self.shape[self.axis]:
            return None, self.bounds
        first = last - sizes
        rows = np.arange(total) + np.repeat(start - first, sizes)
        return rows, Bounds(read_only(first), read_only(last), longest, own)

    @cached_property
    def variant(self) -> tuple[str, ...]:
        """What tells the kernels of the blocks apart."""
        names = {}
        for rows in self.blocks:
            if (rows.width > 0) not in names:
                names[rows.width > 0] = self.computation.choose(self.empty_block(rows)).name
        dtypes = [dtype.char for dtype in (self.dtype, *self.others)]
        return type(self.computation).__name__, *names.values(), *dtypes, *self.kinds
