"""An operator over a window of a stream under the name of a statistic.

::

    a long array   [ first rows | windows within the array ............ | last rows ]
                     suffixes     the function over arrays                the stream holds them
                     of the window held, with prefixes of the array
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from rollstat.kernels.stream_aggregates import NEXT
from rollstat.registry import REGISTRY
from rollstat.streaming.aggregate import Aggregate

__all__ = ["Named"]

# An array of at least so many windows is left to the function over arrays, by kind of element. A short one
# of whole numbers is not, since those have exact results that the function would give as float64.
_LONG = {"f": 1, "i": 4, "u": 4, "b": 4}
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
            return self._step(self._queue, self._ready, self._header, self._cells, self._stamps, x)
        return super().push(x) if t is None else super().push(x, t)

    def extend(self, *columns: ArrayLike, times: ArrayLike | None = None) -> Any:
        """Take in all elements of an array, one for each series, and return the result after each.

        Returns
        -------
        ndarray or tuple of ndarray
            As pushing one by one gives, within the bound of rounding: windows within a long array are left to
            the function over arrays.
        """
        fixed = self._span.fixed
        if not fixed or times is not None or len(columns) != self._with.columns:
            return super().extend(*columns, times=times)
        series = [self._with.elements.array(column) for column in columns]
        short = len(series[0]) < _LONG[self._with.elements.kind] * fixed
        if short or len({len(column) for column in series}) > 1:
            return super().extend(*series)
        function = REGISTRY[self.statistic].function
        fields = self._with.operator._asdict()
        parameters = {key: value for key, value in fields.items() if key in _PARAMETERS}
        results = function(*series, window=fixed, min_periods=self._min_periods, **parameters)
        results = list(results) if isinstance(results, tuple) else [results]
        window, end = self._window, int(self._window.header[NEXT]) + len(series[0])
        if window.size:
            row = int(window.header[NEXT])
            values, missing = self._with.words_of([column[: fixed - 1] for column in series], row)
            stamps = np.arange(row, row + len(missing))
            begun = self._finished(
                window.begin(stamps, np.int64(fixed), values, missing, max(self._least, 1))
            )
            for i, first in enumerate(begun):
                results[i] = results[i].astype(np.result_type(results[i], first), copy=False)
                results[i][: fixed - 1] = first
        values, missing = self._with.words_of([column[-fixed:] for column in series], end - fixed)
        window.load(np.arange(end - fixed, end), values, missing)
        window.header[NEXT] = end
        return results[0] if len(results) == 1 else tuple(results)

    @classmethod
    def _operator(cls, name: str, fields: list[Any]) -> Any:
        return cls.made(*fields)
