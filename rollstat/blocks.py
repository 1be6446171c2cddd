"""The unit of work of every bulk algorithm: a stretch of output rows with the data that they see.

The engine cuts a series into blocks by row, never by thread, so that neither the number of threads nor
their timing can change a bit of any result.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.kernels.missing.counting import count_fixed, count_observed, has_nan, mark_nan

__all__ = ["UNKNOWN", "Block", "Point", "Selection", "read_only"]


_NO_ROWS = np.empty(0, np.int64)


class _Unknown:
    """Marks that nobody has looked for missing values yet."""


UNKNOWN = _Unknown()


class Block:
    """Consecutive output rows and the values that their windows cover.

    Row ``i`` is the window ``values[start[i]:end[i]]``; neither bound ever moves left.

    Attributes
    ----------
    values : ndarray, shape (length,)
        C-contiguous, native byte order, possibly read-only; bool comes as uint8, datetimes as int64.
    missing : ndarray of bool, shape (length,), or None
        True where there is no observation; None where every value is one. Where `missing` is None
        no value is NaN; where it is not, a NaN among `values` is always marked. Floating values are
        searched for NaN when this is first asked for; an algorithm that meets every value anyway may
        look by itself and assign the answer.
    start, end : ndarray of int64, shape (rows,)
        Bounds into `values`, ``0 <= start <= end <= length``, both non-decreasing.
    width : int
        Positive where every window is ``values[i:i + width]`` (``length == rows + width - 1``);
        zero where the windows have any other shape.
    reach : int or None
        The end of the first window, where all windows are known to begin with the data and each one to
        reach one row further than the one before.
    others : tuple of ndarray, each of shape (length,)
        Further series on the same rows, of statistics that take several; `missing` is their union.
    own : ndarray of int64, shape (rows,), or None
        The row of `values` that each output row belongs to, for computations that set ``needs_own``; it
        may lie outside the window. There is no `width` where it lies outside all windows.
    base : int
        What is to be added to positions in `values`, so that they count from the beginning of the data. A
        computation that has added it sets it to 0.
    least : int or None
        Rows with fewer observations are to be NaN in every output; None where that is not all.
    marked : bool
        A computation that met every count anyway sets it where it has put NaN into those rows.
    lacking : ndarray of bool, shape (rows,), or None
        A computation sets it where rows have no result although they have observations enough.
    """

    __slots__ = (
        "_count",
        "_end",
        "_missing",
        "_start",
        "base",
        "lacking",
        "least",
        "marked",
        "others",
        "own",
        "reach",
        "rows",
        "values",
        "width",
    )

    def __init__(
        self,
        values: NDArray[Any],
        missing: NDArray[np.bool_] | _Unknown | None,
        start: NDArray[np.int64],
        end: NDArray[np.int64],
        width: int = 0,
        others: tuple[NDArray[Any], ...] = (),
    ) -> None:
        self.values = values
        self.rows = len(start)
        self._start: NDArray[np.int64] | None = start
        self._end: NDArray[np.int64] | None = end
        self.width = width
        self.reach: int | None = None
        self.others = others
        self.own: NDArray[np.int64] | None = None
        self.base = 0
        self.lacking: NDArray[np.bool_] | None = None
        self.least: int | None = None
        self.marked = False
        self._missing = missing
        self._count: NDArray[np.int64] | None = None

    @classmethod
    def regular(
        cls,
        values: NDArray[Any],
        missing: NDArray[np.bool_] | _Unknown | None,
        width: int,
        others: tuple[NDArray[Any], ...] = (),
    ) -> "Block":
        """Block of all windows of `width` rows; its bounds are made only if somebody asks for them."""
        block = cls(values, missing, _NO_ROWS, _NO_ROWS, width, others)
        block.rows = len(values) - width + 1
        block._start = block._end = None
        return block

    @classmethod
    def growing(
        cls,
        values: NDArray[Any],
        missing: NDArray[np.bool_] | _Unknown | None,
        reach: int,
        rows: int,
        others: tuple[NDArray[Any], ...] = (),
    ) -> "Block":
        """Block of windows that begin with the data, the first one of `reach` rows, each one row longer."""
        block = cls(values, missing, _NO_ROWS, _NO_ROWS, 0, others)
        block.rows, block.reach = rows, reach
        block._start = block._end = None
        return block

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
    def searched(self) -> bool:
        """Whether missing values have been looked for; asking for `missing` does."""
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

    @missing.setter
    def missing(self, mask: NDArray[np.bool_] | None) -> None:
        self._missing = mask
        self._count = None

    @property
    def count(self) -> NDArray[np.int64]:
        """Number of observations in each window, int64, shape (rows,)."""
        if self._count is None:
            missing = self.missing
            if missing is None:
                regular = self.width > 0
                self._count = np.full(self.rows, self.width) if regular else self.end - self.start
            else:
                self._count = np.empty(self.rows, np.int64)
                if self.width > 0:
                    count_fixed(missing, self._count)
                else:
                    count_observed(missing, self.start, self.end, self._count)
        return self._count


@dataclass(slots=True)
class Selection:
    """What a selection algorithm is asked for over one block, and where it writes the answer.

    There are ``requests`` order statistics a row. Ranks count the observations of a window from 0, in
    the order (value, row), so ties go to the older row.

    Attributes
    ----------
    rank : ndarray of int64, shape (requests, rows)
        The rank to find, ``0 <= rank < count``; negative where the row is not wanted.
    constant : tuple of int, or None
        The rank of each request where it is the same in every row and every row is wanted.
    lower : ndarray, shape (requests, rows), dtype of the values
        Receives the value of that rank.
    upper : ndarray, shape (requests, rows), or None
        Receives the value of the next rank, ``rank + 1``, where there is one (anything otherwise).
    position : ndarray of int64, shape (requests, rows), or None
        Receives the index into ``block.values`` of the observation of that rank.
    """

    rank: NDArray[np.int64]
    constant: tuple[int, ...] | None
    lower: NDArray[Any]
    upper: NDArray[Any] | None = None
    position: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """A point at or above an order statistic.

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


def read_only(values: NDArray[Any]) -> NDArray[Any]:
    """View of an array that cannot be written: kernels compile once, not for either kind."""
    view = values.view()
    view.flags.writeable = False
    return view
