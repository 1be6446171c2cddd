"""An operator over a window of a stream under the name of a statistic.

::

    a long array   [ first rows | windows within the array ............ | last rows ]
                     the stream   the function over arrays                the stream holds them
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from rollstat.kernels.stream_aggregates import NEXT
from rollstat.registry import REGISTRY
from rollstat.streaming.aggregate import Aggregate

__all__ = ["Named"]

# An array of at least so many windows is left to the function over arrays; its ends go through the stream.
_LONG = 4
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
        if len({len(column) for column in series}) > 1 or len(series[0]) < _LONG * fixed:
            return super().extend(*series)
        function = REGISTRY[self.statistic].function
        fields = self._with.operator._asdict()
        parameters = {key: value for key, value in fields.items() if key in _PARAMETERS}
        within = function(*series, window=fixed, min_periods=self._min_periods, **parameters)
        begun = super().extend(*(column[: fixed - 1] for column in series))
        self._hold_last(series)
        if not isinstance(within, tuple):
            return np.concatenate([begun, within[fixed - 1 :]])
        return tuple(np.concatenate([first, rest[fixed - 1 :]]) for first, rest in zip(begun, within))

    def _hold_last(self, series: list[Any]) -> None:
        """Hold the last rows of an array whose first ones, but for one, are in the window."""
        fixed = self._span.fixed
        row = int(self._window.header[NEXT]) + len(series[0]) - (2 * fixed - 1)
        self._window.evict(row + fixed)
        self._window.header[NEXT] = row
        self._take(*self._check_new([column[-fixed:] for column in series], None))

    @classmethod
    def _operator(cls, name: str, fields: list[Any]) -> Any:
        return cls.made(*fields)
