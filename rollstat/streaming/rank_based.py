"""Streams of what depends on all of a window in order: ranks, deviations, trimmed means, distinct values."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rollstat.computations.ranks import METHODS
from rollstat.functions.ranks import check_flag
from rollstat.functions.robust import NORMAL, check_number, check_scale, check_share
from rollstat.kernels.rank_space.distances import middle
from rollstat.kernels.rank_space.rank import DENSE, finish
from rollstat.kernels.rank_space.trimmed_mean import mean_of_kept, sum_in_four
from rollstat.kernels.stream import sorted_window
from rollstat.options import choice
from rollstat.streaming.codec import MISSING
from rollstat.streaming.statistic_stream import RollingStream

__all__ = [
    "Hampel",
    "RollingMad",
    "RollingMode",
    "RollingNunique",
    "RollingRank",
    "RollingTrimmedMean",
    "RollingWinsorizedMean",
]

_FIRST_CAPACITY = 64


class OrderedWindow:
    """A window's rows, and its observations in order; see :mod:`rollstat.kernels.stream.sorted_window`.

    Parameters
    ----------
    fixed : int
        Rows of a window of a fixed number of them, else 0: then it grows by doubling.
    dtype : dtype
        Of the words.
    """

    def __init__(self, fixed: int, dtype: np.dtype[Any]) -> None:
        self.fixed, self.dtype = fixed, dtype
        self.arrays = sorted_window.create(fixed or _FIRST_CAPACITY, dtype)

    @property
    def rows(self) -> int:
        """Rows in the window."""
        return int(self.arrays[0][sorted_window.ROWS])

    @property
    def count(self) -> int:
        """Observations among them."""
        return int(self.arrays[0][sorted_window.COUNT])

    @property
    def pushed(self) -> int:
        """Rows pushed so far."""
        return int(self.arrays[0][sorted_window.PUSHED])

    @property
    def ordered(self) -> NDArray[Any]:
        """The observations in order."""
        kept: NDArray[Any] = self.arrays[3][: self.count]
        return kept

    @property
    def newest(self) -> Any:
        """Word of the newest row; MISSING if that is missing, or there is none."""
        header, rows, absent, _ = self.arrays
        slot = (header[sorted_window.OLDEST] + self.rows - 1) % len(rows)
        return MISSING if self.rows == 0 or absent[slot] else rows[slot]

    def push(self, word: Any, missing: bool) -> None:
        """Take in a row."""
        if not self.fixed and self.rows == len(self.arrays[1]):
            self.load(*self.contents(), self.pushed, 2 * self.rows)
        sorted_window.push(*self.arrays, self.dtype.type(word), bool(missing))

    def pop(self, number: int) -> None:
        """Let go of the oldest rows."""
        sorted_window.pop(*self.arrays, number)

    def contents(self) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Words and missing marks of the rows, oldest first."""
        header, rows, absent, _ = self.arrays
        slots = (header[sorted_window.OLDEST] + np.arange(self.rows)) % len(rows)
        return rows[slots], absent[slots] != 0

    def load(self, words: NDArray[Any], missing: NDArray[np.bool_], pushed: int, room: int = 0) -> None:
        """Hold these rows, the last of `pushed`, instead."""
        if not self.fixed:
            self.arrays = sorted_window.create(max(_FIRST_CAPACITY, room, len(words)), self.dtype)
        header, rows, absent, ordered = self.arrays
        header[sorted_window.OLDEST] = 0
        rows[: len(words)] = words
        absent[: len(words)] = missing
        held = np.sort(words[~missing])
        ordered[: len(held)] = held
        header[sorted_window.ROWS], header[sorted_window.COUNT] = len(words), len(held)
        header[sorted_window.PUSHED] = pushed
        header[sorted_window.DISTINCT] = (held[1:] != held[:-1]).sum() + (len(held) > 0)

    def copy(self) -> Self:
        """Return an equal core of its own memory."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.arrays = tuple(array.copy() for array in self.arrays)
        return other


class _Ordered(RollingStream):
    """A stream over observations in order."""

    def __init__(self, window: Any, min_periods: Any, dtype: DTypeLike, **parameters: Any) -> None:
        super().__init__(window, min_periods=min_periods, dtype=dtype, parameters=parameters)

    def _make_core(self) -> Any:
        return OrderedWindow(self._span.fixed, self._elements.computing)

    def _answer(self) -> tuple[Any, ...]:
        if self._core.count < max(self._least, 1):
            return (MISSING,) * len(self.answer_kinds)
        return self._found()

    def _found(self) -> tuple[Any, ...]:
        raise NotImplementedError  # every class that is not abstract has its own


class RollingRank(_Ordered):
    """Rank of the newest element among the observations of its window.

    Parameters
    ----------
    window, min_periods, dtype
        As in :class:`RollingMedian`.
    method, ascending, pct
        As in :func:`rolling_rank`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingRank(3)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0, 3.0, 5.0)]
    [nan, nan, 2.0, 2.5, 3.0]
    """

    statistic = "rank"
    answer_kinds = ("float",)

    def __init__(
        self,
        window: Any,
        method: str = "average",
        ascending: bool = True,
        pct: bool = False,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
    ) -> None:
        choice("method", method, tuple(METHODS))
        ascending, pct = check_flag("ascending", ascending), check_flag("pct", pct)
        super().__init__(window, min_periods, dtype, method=method, ascending=ascending, pct=pct)

    def _found(self) -> tuple[Any, ...]:
        newest, p = self._core.newest, self._parameters
        if newest is MISSING:
            return (MISSING,)
        found, result = np.zeros((3, 1), np.int64), np.zeros(1)
        method = METHODS[p["method"]]
        sorted_window.rank(self._core.arrays[3], self._core.count, newest, method == DENSE, found[:, 0])
        finish(found[0], found[1], found[2], method, p["ascending"], p["pct"], result)
        return (result[0],)


class RollingNunique(_Ordered):
    """Number of distinct values of a sliding window.

    Parameters
    ----------
    window, min_periods, dtype
        As in :class:`RollingMedian`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingNunique(3, min_periods=1)
    >>> [stream.push(x) for x in (4.0, 1.0, 1.0, 1.0)]
    [1.0, 2.0, 2.0, 1.0]
    """

    statistic = "nunique"
    answer_kinds = ("integer",)

    def __init__(self, window: Any, *, min_periods: int | None = None, dtype: DTypeLike = np.float64) -> None:
        super().__init__(window, min_periods, dtype)

    def _answer(self) -> tuple[Any, ...]:
        enough = self._core.count >= self._least
        return (self._core.arrays[0][sorted_window.DISTINCT] if enough else MISSING,)


class RollingMode(_Ordered):
    """Most frequent value of a sliding window, the smallest of several.

    Parameters
    ----------
    window, min_periods, dtype
        As in :class:`RollingMedian`.

    Notes
    -----
    An answer takes O(m) steps.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingMode(4, min_periods=1)
    >>> [stream.push(x) for x in (4.0, 1.0, 1.0, 4.0)]
    [4.0, 1.0, 1.0, 1.0]
    """

    statistic = "mode"

    def __init__(self, window: Any, *, min_periods: int | None = None, dtype: DTypeLike = np.float64) -> None:
        super().__init__(window, min_periods, dtype)

    def _found(self) -> tuple[Any, ...]:
        ordered = self._core.arrays[3]
        return (ordered[sorted_window.mode(ordered, self._core.count)],)


def _nearest_distances(ordered: Sequence[Any], low: Any, high: Any) -> tuple[Any, Any]:
    """The two middle distances from the median, of which `low` and `high` are the two sides.

    The nearest K observations are neighbours; where they begin is found by halving.
    """

    def distance(i: int) -> Any:
        y = ordered[i].item()
        return low - y if y < low else max(y - high, 0)

    count = len(ordered)
    wanted = (count + 1) // 2
    first, last = 0, count - wanted
    while first < last:
        start = (first + last) // 2
        # Equal distances on one side would move the wrong way: only an entry below the middle is left behind.
        if ordered[start].item() < low and distance(start) > distance(start + wanted):
            first = start + 1
        else:
            last = start
    near = max(distance(first), distance(first + wanted - 1))
    if count % 2:
        return near, near
    outside = [distance(i) for i in (first - 1, first + wanted) if 0 <= i < count]
    return near, min(outside)


class _Deviating(_Ordered):
    """A stream of deviations from the median."""

    def _center(self) -> tuple[Any, Any]:
        """The two middle observations."""
        ordered, count = self._core.ordered, self._core.count
        return ordered[(count - 1) // 2].item(), ordered[count // 2].item()

    def _deviation(self, lower: Any, upper: Any) -> Any:
        """Median absolute deviation, and for whole numbers twice that."""
        if self._elements.kind != "f":
            near, far = _nearest_distances(self._core.ordered, lower, upper)
            return near + far + upper - lower
        center = middle(lower, upper)
        if not np.isfinite(center):
            return np.nan
        return middle(*map(float, _nearest_distances(self._core.ordered, center, center)))


class RollingMad(_Deviating):
    """Median absolute deviation of a sliding window from its own median.

    Parameters
    ----------
    window, min_periods, dtype
        As in :class:`RollingMedian`.
    scale : float or "normal", default 1.0
        As in :func:`rolling_mad`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingMad(3)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0, 2.0, 5.0)]
    [nan, nan, 1.0, 1.0, 1.0]
    """

    statistic = "mad"

    def __init__(
        self,
        window: Any,
        scale: float | str = 1.0,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
    ) -> None:
        super().__init__(window, min_periods, dtype, scale=check_scale(scale))

    @property
    def answer_kinds(self) -> tuple[str, ...]:  # type: ignore[override]  # depends on the parameters here
        """What the answer is: a length of time, or a number."""
        return ("difference" if self._elements.kind in "mM" else "interpolated",)

    def _found(self) -> tuple[Any, ...]:
        deviation, scale = self._deviation(*self._center()), self._parameters["scale"]
        if self._elements.kind in "mM":
            whole = deviation // 2
            return (int(whole if scale == 1 else np.floor(whole / scale)),)
        if self._elements.kind != "f":
            deviation = deviation / 2
        return (deviation if scale == 1 else deviation / scale,)


class Hampel(_Deviating):
    """Outlier filter: each element, or the median of its window in the place of an outlier.

    An answer is a pair: the cleaned value, and whether the newest element was an outlier, farther from
    the median of its window than `threshold` times `scale` times the median absolute deviation.

    Parameters
    ----------
    window, min_periods, dtype
        As in :class:`RollingMedian`, without datetimes.
    threshold, scale
        As in :func:`hampel_filter`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.Hampel(5, min_periods=1)
    >>> [stream.push(x) for x in (1.0, 1.2, 0.9, 25.0, 1.1)][3:]
    [(1.1, True), (1.1, False)]
    """

    statistic = "hampel"
    kinds = "fiub"
    answer_kinds = ("interpolated", "flag")

    def __init__(
        self,
        window: Any,
        threshold: float = 3.0,
        scale: float = 1 / NORMAL,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
    ) -> None:
        threshold = check_number("threshold", threshold, 0.0, np.inf)
        scale = check_number("scale", scale, 0.0, np.inf)
        super().__init__(window, min_periods, dtype, threshold=threshold, scale=scale)

    def _found(self) -> tuple[Any, ...]:
        own = self._core.newest
        if own is MISSING:
            return MISSING, MISSING
        own, (lower, upper) = own.item(), self._center()
        deviation = self._deviation(lower, upper)
        if self._elements.kind == "f":
            center = middle(lower, upper)
            distance = abs(own - center)
        else:
            center, deviation = (float(lower) + float(upper)) / 2, deviation / 2
            distance = abs(2 * own - lower - upper) / 2
        outlier = distance > self._parameters["threshold"] * self._parameters["scale"] * deviation
        return (center if outlier else float(own)), outlier


class RollingTrimmedMean(_Ordered):
    """Mean of a sliding window without its smallest and largest observations.

    Parameters
    ----------
    window, min_periods, dtype
        As in :class:`RollingMedian`, without datetimes.
    proportion : float, default 0.1
        As in :func:`rolling_trimmed_mean`.

    Notes
    -----
    An answer takes O(m) additions.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingTrimmedMean(4, 0.25)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0, 90.0)][-1]
    3.5
    """

    statistic = "trimmed_mean"
    kinds = "fiub"
    answer_kinds = ("float",)
    winsorize = False

    def __init__(
        self,
        window: Any,
        proportion: float = 0.1,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
    ) -> None:
        super().__init__(window, min_periods, dtype, proportion=check_share(proportion))

    def _found(self) -> tuple[Any, ...]:
        count = self._core.count
        cut = int(self._parameters["proportion"] * count)
        kept = self._core.ordered[cut : count - cut].astype(np.float64)
        return (mean_of_kept(sum_in_four(kept), kept[0], kept[-1], count, cut, self.winsorize),)


class RollingWinsorizedMean(RollingTrimmedMean):
    """Mean of a sliding window with its ends replaced by the outermost observations that are kept.

    Parameters
    ----------
    window, proportion, min_periods, dtype
        As in :class:`RollingTrimmedMean`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingWinsorizedMean(4, 0.25)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0, 90.0)][-1]
    3.5
    """

    statistic = "winsorized_mean"
    winsorize = True
