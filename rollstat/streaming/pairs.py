"""Streams of two series: covariance, correlation, slope and weighted mean."""

import rollstat.operators as operators
from rollstat.streaming.aggregate import Aggregate
from rollstat.streaming.moments import Spread
from rollstat.streaming.operator_stream import Named

__all__ = ["RollingBeta", "RollingCorr", "RollingCov", "RollingWeightedMean"]


class _Pair(Named, abstract=True):
    """An operator of two series."""

    push = Aggregate.push  # type: ignore[assignment]  # takes two elements, unlike the base


class RollingCov(Spread):
    """Covariance of two series in a sliding window: ``push(x, y)``.

    Parameters
    ----------
    window, ddof, min_periods, dtype, algorithm
        As in :class:`RollingVar`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingCov(2)
    >>> [stream.push(x, y) for x, y in ((4.0, 1.0), (1.0, 2.0), (3.0, 4.0))]
    [nan, -1.5, 2.0]
    """

    statistic = "cov"
    made = operators.Covariance
    push = Aggregate.push  # type: ignore[assignment]  # takes two elements, unlike the base


class RollingCorr(_Pair):
    """Correlation of two series in a sliding window: ``push(x, y)``.

    Parameters
    ----------
    window, min_periods, dtype, algorithm
        As in :class:`RollingSum`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingCorr(2)
    >>> [stream.push(x, y) for x, y in ((4.0, 1.0), (1.0, 2.0))]
    [nan, -1.0]
    """

    statistic = "corr"
    made = operators.Correlation


class RollingBeta(_Pair):
    """Slope of one series against another in a sliding window: ``push(x, y)``, x against y.

    Parameters
    ----------
    window, min_periods, dtype, algorithm
        As in :class:`RollingSum`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingBeta(2)
    >>> [stream.push(x, y) for x, y in ((4.0, 1.0), (1.0, 2.0))]
    [nan, -3.0]
    """

    statistic = "beta"
    made = operators.Slope


class RollingWeightedMean(_Pair):
    """Mean of a sliding window, weighted by a second series: ``push(x, weight)``.

    Parameters
    ----------
    window, min_periods, dtype, algorithm
        As in :class:`RollingSum`.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingWeightedMean(2)
    >>> [stream.push(x, w) for x, w in ((4.0, 1.0), (1.0, 2.0))]
    [nan, 2.0]
    """

    statistic = "weighted_mean"
    made = operators.WeightedMean
