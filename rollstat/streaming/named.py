"""Streams of sums and moments: operators with a name of their own."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike

import rollstat.operators as operators
from rollstat.streaming.aggregate import Aggregate

__all__ = [
    "RollingMean",
    "RollingProd",
    "RollingStd",
    "RollingSum",
    "RollingVar",
]


class _Named(Aggregate, abstract=True):
    """An operator over a window, with a name."""

    made: ClassVar[Any] = None

    def __init__(
        self,
        window: Any,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
        algorithm: str = "two_stacks",
    ) -> None:
        super().__init__(
            type(self).made(), window, min_periods=min_periods, dtype=dtype, algorithm=algorithm
        )

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

    def _bind(self) -> None:
        super()._bind()
        self._quick = float if self._step is not None else None


class RollingSum(_Named):
    """Sum of a sliding window, one element at a time; exact for integers.

    Parameters
    ----------
    window : int, float, str, timedelta, Expanding or None
        The last so many rows; or a width, with the time of each element; or everything; or what
        :meth:`pop` leaves.
    min_periods : int, optional
        Least number of observations for a result; by default the window for rows, else 1.
    dtype : dtype, default float64
        Of the elements: floats or integers.
    algorithm : {"two_stacks", "daba"}, default "two_stacks"
        ``"daba"`` takes O(1) combinations in every single push.

    Notes
    -----
    Nothing is subtracted from a running total: what has left the window has no effect at all.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingSum(2)
    >>> [stream.push(x) for x in (4.0, 1e300, 3.0, 2.0)]
    [nan, 1e+300, 1e+300, 5.0]
    """

    made = operators.Sum


class RollingMean(_Named):
    """Mean of a sliding window, one element at a time.

    Parameters
    ----------
    window, min_periods, dtype, algorithm
        As in :class:`RollingSum`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingMean(2, min_periods=1)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0)]
    [4.0, 2.5, 2.0]
    """

    made = operators.Mean


class RollingProd(_Named):
    """Product of a sliding window, one element at a time; exact for integers.

    Parameters
    ----------
    window, min_periods, dtype, algorithm
        As in :class:`RollingSum`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingProd(2, min_periods=1)
    >>> [stream.push(x) for x in (4.0, 0.0, 3.0, 2.0)]
    [4.0, 0.0, 0.0, 6.0]
    """

    made = operators.Product


class _Spread(_Named, abstract=True):
    """Variance or its root."""

    def __init__(
        self,
        window: Any,
        ddof: int = 1,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
        algorithm: str = "two_stacks",
    ) -> None:
        Aggregate.__init__(
            self, type(self).made(ddof), window, min_periods=min_periods, dtype=dtype, algorithm=algorithm
        )


class RollingVar(_Spread):
    """Variance of a sliding window, one element at a time.

    Parameters
    ----------
    window, min_periods, dtype, algorithm
        As in :class:`RollingSum`.
    ddof : int, default 1
        What is subtracted from the number of observations in the divisor.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingVar(2)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0)]
    [nan, 4.5, 2.0]
    """

    made = operators.Variance


class RollingStd(_Spread):
    """Standard deviation of a sliding window, one element at a time.

    Parameters
    ----------
    window, ddof, min_periods, dtype, algorithm
        As in :class:`RollingVar`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingStd(2, 0)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0)]
    [nan, 1.5, 1.0]
    """

    made = operators.StandardDeviation
