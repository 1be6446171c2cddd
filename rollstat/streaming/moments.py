"""Streams of sums and moments: operators with a name of their own."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

import rollstat.operators as operators
from rollstat.functions.robust import check_number
from rollstat.streaming.aggregate import Aggregate
from rollstat.streaming.operator_stream import Named

__all__ = [
    "RollingAll",
    "RollingAny",
    "RollingCount",
    "RollingDecayedMean",
    "RollingDecayedSum",
    "RollingFirst",
    "RollingKurt",
    "RollingLast",
    "RollingLogSumExp",
    "RollingMean",
    "RollingProd",
    "RollingSem",
    "RollingSkew",
    "RollingStd",
    "RollingSum",
    "RollingVar",
    "Spread",
]


class RollingSum(Named):
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
    algorithm : {"auto", "two_stacks", "daba"}, default "auto"
        ``"daba"``, which is what ``"auto"`` means, takes O(1) combinations in every single push;
        ``"two_stacks"`` O(1) amortised.

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

    statistic = "sum"
    made = operators.Sum


class RollingMean(Named):
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

    statistic = "mean"
    made = operators.Mean


class RollingProd(Named):
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

    statistic = "prod"
    made = operators.Product


class Spread(Named, abstract=True):
    """Variance or its root."""

    def __init__(
        self,
        window: Any,
        ddof: int = 1,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
        algorithm: str = "auto",
    ) -> None:
        Aggregate.__init__(
            self, type(self).made(ddof), window, min_periods=min_periods, dtype=dtype, algorithm=algorithm
        )


class RollingVar(Spread):
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

    statistic = "var"
    made = operators.Variance


class RollingStd(Spread):
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

    statistic = "std"
    made = operators.StandardDeviation


class RollingSkew(Named):
    """Skewness of a sliding window, one element at a time.

    Parameters
    ----------
    window, min_periods, dtype, algorithm
        As in :class:`RollingSum`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingSkew(3, min_periods=1)
    >>> [stream.push(x) for x in (1.0, 2.0, 3.0)]
    [nan, nan, 0.0]
    """

    statistic = "skew"
    made = operators.Skewness


class RollingKurt(Named):
    """Excess kurtosis of a sliding window, one element at a time.

    Parameters
    ----------
    window, min_periods, dtype, algorithm
        As in :class:`RollingSum`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingKurt(3, min_periods=1)
    >>> [stream.push(x) for x in (1.0, 1.0, 1.0)]
    [nan, nan, nan]
    """

    statistic = "kurt"
    made = operators.Kurtosis


class RollingCount(Named):
    """Number of observations of a sliding window, one element at a time.

    Parameters
    ----------
    window, min_periods, dtype, algorithm
        As in :class:`RollingSum`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingCount(3, min_periods=1)
    >>> [stream.push(x) for x in (1.0, None, 3.0)]
    [1, 1, 2]
    """

    statistic = "count"
    made = operators.Count


class RollingAny(Named):
    """Whether some element is not zero, in a sliding window, one element at a time.

    Parameters
    ----------
    window, min_periods, dtype, algorithm
        As in :class:`RollingSum`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingAny(3, min_periods=1)
    >>> [stream.push(x) for x in (0.0, 1.0, 0.0)]
    [False, True, True]
    """

    statistic = "any"
    made = operators.AnyTrue


class RollingAll(Named):
    """Whether no element is zero, in a sliding window, one element at a time.

    Parameters
    ----------
    window, min_periods, dtype, algorithm
        As in :class:`RollingSum`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingAll(3, min_periods=1)
    >>> [stream.push(x) for x in (2.0, 1.0, 0.0)]
    [True, True, False]
    """

    statistic = "all"
    made = operators.AllTrue


class RollingFirst(Named):
    """Oldest observation of a sliding window, one element at a time.

    Parameters
    ----------
    window, min_periods, dtype, algorithm
        As in :class:`RollingSum`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingFirst(3, min_periods=1)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0, 2.0)]
    [4.0, 4.0, 4.0, 1.0]
    """

    statistic = "first"
    made = operators.First


class RollingLast(Named):
    """Newest observation of a sliding window, one element at a time.

    Parameters
    ----------
    window, min_periods, dtype, algorithm
        As in :class:`RollingSum`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingLast(3, min_periods=1)
    >>> [stream.push(x) for x in (4.0, None, 3.0)]
    [4.0, 4.0, 3.0]
    """

    statistic = "last"
    made = operators.Last


class RollingLogSumExp(Named):
    """Logarithm of the sum of exponentials of a sliding window, one element at a time.

    Parameters
    ----------
    window, min_periods, dtype, algorithm
        As in :class:`RollingSum`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingLogSumExp(3, min_periods=1)
    >>> [stream.push(x) for x in (1000.0, -1000.0)]
    [1000.0, 1000.0]
    """

    statistic = "logsumexp"
    made = operators.LogSumExp


class RollingSem(Spread):
    """Standard error of the mean of a sliding window, one element at a time.

    Parameters
    ----------
    window, ddof, min_periods, dtype, algorithm
        As in :class:`RollingVar`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingSem(2)
    >>> [round(stream.push(x), 6) for x in (4.0, 1.0, 3.0)]
    [nan, 1.5, 1.0]
    """

    statistic = "sem"
    made = operators.StandardError


class _Decayed(Named, abstract=True):
    """Older elements weigh less."""

    def __init__(
        self,
        window: Any,
        decay: float,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
        algorithm: str = "auto",
    ) -> None:
        factor = check_number("decay", decay, 0.0, 1.0)
        Aggregate.__init__(
            self, type(self).made(factor), window, min_periods=min_periods, dtype=dtype, algorithm=algorithm
        )


class RollingDecayedSum(_Decayed):
    """Sum in which each observation weighs `decay` times the next newer one.

    Parameters
    ----------
    window, min_periods, dtype, algorithm
        As in :class:`RollingSum`.
    decay : float
        Between 0 and 1.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingDecayedSum(2, 0.5)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0)]
    [nan, 3.0, 3.5]
    """

    statistic = "decayed_sum"
    made = operators.DecayedSum


class RollingDecayedMean(_Decayed):
    """Mean in which each observation weighs `decay` times the next newer one.

    Parameters
    ----------
    window, decay, min_periods, dtype, algorithm
        As in :class:`RollingDecayedSum`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingDecayedMean(2, 0.5)
    >>> [stream.push(x) for x in (4.0, 1.0, 4.0)]
    [nan, 2.0, 3.0]
    """

    statistic = "decayed_mean"
    made = operators.DecayedMean
