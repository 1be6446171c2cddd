"""The unit of work of every bulk algorithm: consecutive output rows and the data that their windows cover.

::

    values      [---------------------------------]
    window i        [start[i] ------- end[i])
    window i+1        [start[i + 1] ---- end[i + 1])

The engine cuts a series into blocks by row, never by thread, so neither the number of threads nor their
timing can change a bit of any result. A block is immutable: an algorithm reports what it found as an
:class:`Outcome`.
"""

import threading
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollstat.dtypes import EXACT, greatest_magnitude, plain
from rollstat.kernels.missing.counting import count_fixed, has_nan, mark_nan
from rollstat.kernels.missing.observations import count_before
from rollstat.kernels.numbers import to_floats

NOTHING_MISSING = np.zeros(0, np.bool_)
_FLOAT64 = np.dtype(np.float64)


class _Unknown:
    """Type of `UNKNOWN`."""


UNKNOWN: Final = _Unknown()
"""In place of a mask: the values have not been searched for NaN."""

Missing = NDArray[np.bool_] | _Unknown | None


class Outcome(NamedTuple):
    """What an algorithm reports about a block.

    Attributes
    ----------
    complete : bool
        It met every value of a block that had not been searched for NaN, and none is NaN.
    marked : bool
        It has written NaN to every row with fewer than ``block.nan_below`` observations.
    undefined : ndarray of bool, shape (rows,), or None
        Rows without a result for another reason than too few observations.
    base_added : bool
        Positions already include ``block.base``.
    algorithm : str
        Name of the algorithm that ran, as :class:`rollstat.plan.Choice` names it.
    """

    complete: bool = False
    marked: bool = False
    undefined: NDArray[np.bool_] | None = None
    base_added: bool = False
    algorithm: str = ""


_FEWEST_KEPT = 1 << 14  # elements of arrays that a thread keeps
MOST_KEPT = 1 << 19
"""Most elements of arrays that a thread keeps."""


class Kept(threading.local):
    """Memory that each thread keeps from one call to the next: new memory would cost as much as a small call.

    A call has the memory for itself until the next one.
    """

    key: Any = None
    memory: Any = None

    def get(self, key: Any, make: Callable[[], Any], keep: bool = True) -> Any:
        """Return the memory of the last call if its key was the same, else new memory; `keep` it or not."""
        if key == self.key:
            return self.memory
        memory = make()
        if keep:
            self.key, self.memory = key, memory
        return memory


def room_for(length: int) -> int:
    """Return the length of memory for up to `length` elements: a power of two, so that there are few."""
    return 1 << (length - 1).bit_length()


def kept_arrays(kept: Kept, length: int, dtypes: Sequence[np.dtype[Any]]) -> list[NDArray[Any]]:
    """Return uninitialised arrays of this length in memory that `kept` keeps for later calls.

    New memory is used where that costs nothing, because the arrays are short, and where they are long.
    """
    room = room_for(length)

    def make() -> list[NDArray[Any]]:
        return [np.empty(room, dtype) for dtype in dtypes]

    memory = kept.get((room, *dtypes), make, _FEWEST_KEPT <= room <= MOST_KEPT)
    return [array[:length] for array in memory]


class Block:
    """Consecutive output rows and the values that their windows cover.

    Row ``i`` is the window ``values[start[i]:end[i]]``; neither bound ever decreases unless `any_order`.

    Attributes
    ----------
    values : ndarray, shape (length,)
        C-contiguous, native byte order, possibly read-only; bool comes as uint8, datetimes as int64.
    missing : ndarray of bool, shape (length,), or None
        True where there is no observation; None where every value is one. A NaN among `values` is always
        marked. Values given as `UNKNOWN` are searched for NaN when this is first read.
    start, end : ndarray of int64, shape (rows,)
        Bounds into `values`, ``0 <= start <= end <= length``.
    width : int
        Positive where every window is ``values[i:i + width]`` (``length == rows + width - 1``);
        zero where the windows have any other shape.
    reach : int or None
        The end of the first window, where all windows are known to begin with the data and each one is a
        row longer than the one before.
    others : tuple of ndarray, each of shape (length,)
        Further series on the same rows, of statistics that take several; `missing` is their union.
    own_row : ndarray of int64, shape (rows,), or None
        The row of `values` that each output row belongs to, for computations that read it; it may lie
        outside the window. `width` is 0 where it lies outside all windows.
    base : int
        The row of the data that ``values[0]`` is.
    nan_below : int or None
        Rows with fewer observations are NaN in every output; None where the outputs differ, have another
        missing value, or a mask.
    any_order : bool
        Whether bounds may decrease; only computations that take them get such blocks.
    """

    def __init__(  # 13 parameters: all that a computation may read of its rows and windows
        self,
        values: NDArray[Any],
        missing: Missing,
        start: NDArray[np.int64] | None,
        end: NDArray[np.int64] | None,
        width: int = 0,
        others: tuple[NDArray[Any], ...] = (),
        *,
        reach: int | None = None,
        own_row: NDArray[np.int64] | None = None,
        base: int = 0,
        nan_below: int | None = None,
        longest: int | None = None,
        any_order: bool = False,
    ) -> None:
        self.values = values
        self.rows = len(values) - (reach or width) + 1 if start is None else len(start)
        self.width = width
        self.reach = reach
        self.others = others
        self.own_row = own_row
        self.base = base
        self.nan_below = nan_below
        self.any_order = any_order
        self._start = start
        self._end = end
        self._missing = missing
        self._masked = isinstance(missing, np.ndarray)
        self._count: NDArray[np.int64] | None = None
        self._magnitude: int | None = None
        self._longest = longest

    @classmethod
    def regular(
        cls,
        values: NDArray[Any],
        missing: Missing,
        width: int,
        others: tuple[NDArray[Any], ...] = (),
        nan_below: int | None = None,
    ) -> "Block":
        """Return the block of all windows of `width` rows; bounds are made when they are first read."""
        return cls(values, missing, None, None, width, others, nan_below=nan_below)

    def over(self, series: Sequence[NDArray[Any]]) -> "Block":
        """Return a block of the same windows and missing rows over other series."""
        missing = self.missing
        other = copy(self)
        other.values, *others = series
        other.others, other._magnitude = tuple(others), None
        other._masked = missing is not None
        return other

    @property
    def start(self) -> NDArray[np.int64]:
        """First row of each window, int64, shape (rows,)."""
        if self._start is None:
            grows = self.reach is not None
            self._start = np.zeros(self.rows, np.int64) if grows else np.arange(self.rows, dtype=np.int64)
        return self._start

    @property
    def end(self) -> NDArray[np.int64]:
        """Row after the last one of each window, int64, shape (rows,)."""
        if self._end is None:
            first = self.width if self.reach is None else self.reach
            self._end = np.arange(first, first + self.rows, dtype=np.int64)
        return self._end

    @property
    def longest(self) -> int:
        """Rows of the longest window."""
        if self.width:
            return self.width
        if self.reach is not None:
            return self.reach + self.rows - 1
        if self._longest is None:
            self._longest = int((self.end - self.start).max(initial=0))
        return self._longest

    @property
    def searched(self) -> bool:
        """Whether it is known what is missing; reading `missing` makes it known."""
        return not isinstance(self._missing, _Unknown)

    @property
    def missing(self) -> NDArray[np.bool_] | None:
        """Where there is no observation, or None where every value is one."""
        if isinstance(self._missing, _Unknown):
            self._missing = None
            for series in (self.values, *self.others):
                if series.dtype.kind == "f" and has_nan(series):
                    if self._missing is None:
                        self._missing = np.zeros(len(series), np.bool_)
                    mark_nan(series, self._missing)
        return self._missing

    @property
    def masked(self) -> bool:
        """Whether more than the NaN of `values` may be missing."""
        return self._masked or len(self.others) > 0

    @property
    def mask(self) -> NDArray[np.bool_]:
        """What is `missing`, as kernels take it: empty where every value is an observation."""
        return NOTHING_MISSING if self.missing is None else self.missing

    @property
    def magnitude(self) -> int:
        """The greatest absolute value if `values` are integers of 64 bits, else 0."""
        if self._magnitude is None:
            self._magnitude = greatest_magnitude(self.values)
        return self._magnitude

    @property
    def observed(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Bounds of each window as numbers of observations before them."""
        if self.missing is None:
            return self.start, self.end
        return observed_bounds(self.missing, self.start, self.end)

    @property
    def count(self) -> NDArray[np.int64]:
        """Number of observations in each window, int64, shape (rows,)."""
        if self._count is None:
            missing = self.missing
            if missing is None:
                regular = self.width > 0
                self._count = np.full(self.rows, self.width) if regular else self.end - self.start
            else:
                self._count = self.count_without(missing)
        return self._count

    def count_without(self, missing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the number of rows in each window that are not `missing`."""
        if self.width > 0:
            count = np.empty(self.rows, np.int64)
            count_fixed(missing, count)
            return count
        if self.reach is not None:
            return _count_before(missing)[self.reach :]
        start, end = observed_bounds(missing, self.start, self.end)
        return end - start


def observed_bounds(
    missing: NDArray[np.bool_], start: NDArray[np.int64], end: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return bounds of windows as numbers of observations before them."""
    before = _count_before(missing)
    return before[start], before[end]


def _count_before(missing: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the number of observations before each row and before the end."""
    before = np.empty(len(missing) + 1, np.int64)
    count_before(missing, before)
    return before


@dataclass(slots=True)
class Selection:
    """The order statistics to find in one block, and the arrays that receive them.

    There are ``requests`` order statistics a row. Ranks count the observations of a window from 0, in
    the order (value, row), so ties go to the older row.

    Attributes
    ----------
    rank : ndarray of int64, shape (requests, rows)
        The rank to find, ``0 <= rank < count``; negative where the row needs no result.
    lower : ndarray, shape (requests, rows), dtype of the values
        Receives the value of that rank.
    upper : ndarray, shape (requests, rows), or None
        Receives the value of the next rank, ``rank + 1``, where there is one (anything otherwise).
    position : ndarray of int64, shape (requests, rows), or None
        Receives the index into ``block.values`` of the observation of that rank.
    """

    rank: NDArray[np.int64]
    lower: NDArray[Any]
    upper: NDArray[Any] | None = None
    position: NDArray[np.int64] | None = None


class Point(NamedTuple):
    """A point at an order statistic or between two neighbouring ones.

    Attributes
    ----------
    rank : int
        Rank of the order statistic, from 0.
    fraction : float
        How far towards the next rank, ``a + (b - a) * fraction``; 0 for the order statistic itself.
    midpoint : bool
        Whether the point is ``(a + b) / 2`` instead.
    """

    rank: int
    fraction: float = 0.0
    midpoint: bool = False

    @property
    def between(self) -> bool:
        """Whether the point lies between two order statistics."""
        return self.midpoint or self.fraction > 0


def read_only(values: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view: kernels compile for one kind of array instead of two."""
    view = values.view()
    view.setflags(False)  # type: ignore[call-arg]  # `write`, faster than by name and than the attribute
    return view


def exact_floats(values: NDArray[Any], most: int = EXACT) -> NDArray[np.float64] | None:
    """Return numbers of one dimension as read-only float64; None if float64 may round one.

    With `most` of 0 the values keep their dtype.
    """
    values = plain(values)
    dtype = values.dtype
    if not most or dtype is _FLOAT64:
        return read_only(values)
    if dtype.kind == "f" or dtype.itemsize < 8:
        return read_only(values.astype(_FLOAT64))
    floats, bits = np.empty(len(values)), values.view(np.uint64)
    bits.flags.writeable = False
    rounded = to_floats(bits, most if dtype.kind == "i" else 0, most, floats)
    floats.flags.writeable = False
    return None if rounded else floats
