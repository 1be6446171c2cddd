"""An operator over a window of a stream under the name of a statistic.

::

    a long array              [ first rows | windows within the array ............ | last rows ]
    the window      [ rows held | again ]      the function over arrays                the stream holds them
                      the function over arrays
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from rollstat.kernels.stream.aggregate_steps import NEXT
from rollstat.registry import REGISTRY
from rollstat.streaming.aggregate import Aggregate
from rollstat.streaming.bulk_extend import APART
from rollstat.streaming.windows.blocked import BlockedWindow

__all__ = ["Named"]

# An array of at least so many windows is left to the function over arrays, by kind of element. A short one
# of whole numbers is not, since those have exact results that the function would give as float64.
_LONG = {"f": 1, "i": 4, "u": 4, "b": 4}
# Half a window of floats is enough if it is so many rows, beside which what a call costs is little.
_MANY = 4_000
# So few floats are pushed one by one, which takes less than a call for them all.
_FEW = 128
_ARRAYS_OF_STATES = 3
# Fields of operators that are parameters of the functions.
_PARAMETERS = ("ddof", "decay")


class Named(Aggregate, abstract=True):
    """An operator over a window, with a name."""

    statistic: ClassVar[str] = ""
    made: ClassVar[Any] = None

    def __init__(
        self,
        window: Any,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
        algorithm: str = "auto",
    ) -> None:
        if min_periods is None:
            min_periods = REGISTRY[self.statistic].min_periods
        super().__init__(type(self).made(), window, min_periods=min_periods, dtype=dtype, algorithm=algorithm)

    def push(self, x: Any, t: Any = None) -> Any:
        """Take in an element, let go of what leaves the window, and return the result.

        Parameters
        ----------
        x : number or None
            The element; None and NaN are missing: they take a row, but are no observation.
        t : number, datetime or timedelta, optional
            Its time, never before the last one, where the window is a width.

        Raises
        ------
        TypeError, ValueError
            For an element that does not fit the dtype, or a time that is missing or before the last one.
            Nothing has changed then.
        OverflowError
            If an exact result does not fit in 64 bits; the element has been taken in.
        """
        if type(x) is self._quick and t is None:
            return self._step(x)
        return super().push(x) if t is None else super().push(x, t)

    def _make_window(self) -> Any:
        with_, rows = self._with, self._span.fixed
        if not rows or with_.objects:
            return super()._make_window()
        return BlockedWindow(with_.ready, with_.layout, with_.nothing, self._algorithm, rows)

    def _take_window_for(self, arrays: list[NDArray[Any]]) -> Any:
        # The first snapshots are of windows that have a state for each row, and no rows.
        if self._span.fixed and len(arrays) == _ARRAYS_OF_STATES:
            self._window = super()._make_window()
        return self._window

    def extend(self, *columns: ArrayLike, times: ArrayLike | None = None) -> Any:
        """Take in all elements of an array, one for each series, and return the result after each.

        Returns
        -------
        ndarray or tuple of ndarray
            As pushing one by one gives, within the bound of rounding: arrays are combined in another order,
            and long ones are left to the function over arrays.

        Raises
        ------
        TypeError, ValueError
            For elements that do not fit the dtype, or times that are missing or decrease. Nothing has changed
            then.
        OverflowError
            If an exact result does not fit in 64 bits. The elements of an array of less than four windows
            have been taken in then, those of a longer one have not.
        """
        fixed = self._span.fixed
        if not fixed or times is not None or len(columns) != self._with.columns:
            return super().extend(*columns, times=times)
        series = [self._with.elements.array(column) for column in columns]
        if self._with.elements.kind == "f":
            series = [np.ma.filled(column, np.nan) for column in series]
        kind, has_rows = self._with.elements.kind, isinstance(self._window, BlockedWindow)
        rows = len(series[0])
        if self._quick is not None and 0 < rows <= _FEW:
            return np.array([self._step(x) for x in series[0].tolist()], np.float64)
        long = rows >= _LONG[kind] * fixed or (has_rows and kind == "f" and _MANY <= rows >= fixed // 2)
        if not long or len({len(column) for column in series}) > 1:
            return super().extend(*series)
        end = int(self._window.header[NEXT]) + rows
        last = [column[-fixed:] for column in series]
        if kind == "f" and has_rows:
            results, last = self._with_rows(series, last)
        else:
            results = self._function(series)
            # The window stays as it is if one of the results does not fit.
            first = Aggregate.extend(self.copy(), *(column[: fixed - 1] for column in series))
            results = _begun_with(results, first if isinstance(first, tuple) else (first,))
        if not has_rows:
            self._begin()
        first = end - len(last[0])
        self._window.load(first, *self._with.words_of(last, first))
        return results[0] if len(results) == 1 else tuple(results)

    def _with_rows(self, series: list[Any], last: list[Any]) -> tuple[list[Any], list[Any]]:
        """Results of a long array of floats, and the rows that are in the window then.

        The array's first rows come again, after those held; all rows do of an array that is not much longer
        than the window.
        """
        if self._window.header[NEXT] == 0:
            return self._function(series), last
        fixed = self._span.fixed
        joined = len(series[0]) < APART * fixed
        firsts = series if joined else [column[: fixed - 1] for column in series]
        whole = self._window.before(firsts)
        held = len(whole[0]) - len(firsts[0])
        first = [result[held:] for result in self._function(whole)]
        if joined:
            return first, [column[-fixed:] for column in whole]
        return _begun_with(self._function(series), first), last

    def _function(self, series: list[Any]) -> list[Any]:
        """What the function over arrays says of every row, an array for each output."""
        fields = self._with.operator._asdict()
        parameters = {key: value for key, value in fields.items() if key in _PARAMETERS}
        function = REGISTRY[self.statistic].function
        results = function(*series, window=self._span.fixed, min_periods=self._min_periods, **parameters)
        return list(results) if isinstance(results, tuple) else [results]

    @classmethod
    def _operator(cls, name: str, fields: list[Any]) -> Any:
        return cls.made(*fields)


def _begun_with(results: list[Any], first: Sequence[Any]) -> list[Any]:
    """Results whose first rows are those of `first`, where what is missing there may need another dtype."""
    joined = [
        result.astype(np.result_type(result, begun), copy=False) for result, begun in zip(results, first)
    ]
    for result, begun in zip(joined, first):
        result[: len(begun)] = begun
    return joined
