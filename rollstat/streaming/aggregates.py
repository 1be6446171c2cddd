"""Windows of any associative operator over a stream: by pop, by rows, by time."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from rollstat.options import whole_number
from rollstat.streaming.aggregate import Aggregate
from rollstat.streaming.window_spec import Span

__all__ = ["FixedAggregate", "SlidingAggregate", "TimeAggregate"]


class SlidingAggregate(Aggregate):
    """Any associative operator over a window that takes and drops any number of elements.

    Parameters
    ----------
    operator : Operator or callable
        From :mod:`rollstat.operators` or alike, or a function of two states.
    min_periods : int, default 1
        Least number of observations for a result; with 0 an empty window gives the identity.
    dtype : dtype, default float64
        Of the elements.
    algorithm : {"auto", "two_stacks", "daba"}, default "auto"
        ``"daba"``, which is what ``"auto"`` means for numbers, takes O(1) combinations in every single step;
        ``"two_stacks"``, which serves objects too, O(1) amortised.

    Examples
    --------
    >>> import rollstat, rollstat.operators
    >>> stream = rollstat.SlidingAggregate(rollstat.operators.Sum())
    >>> stream.push(4.0), stream.push(1.0), stream.push(3.0), stream.pop(2)
    (4.0, 5.0, 8.0, 3.0)
    """

    def __init__(
        self,
        operator: Any,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
        algorithm: str = "auto",
    ) -> None:
        super().__init__(operator, None, min_periods=min_periods, dtype=dtype, algorithm=algorithm)


class FixedAggregate(Aggregate):
    """Any associative operator over the last rows of a stream.

    Parameters
    ----------
    operator : Operator or callable
        As in :class:`SlidingAggregate`.
    window : int
        Rows in the window.
    min_periods : int, optional
        Least number of observations for a result; by default the window.
    dtype, algorithm
        As in :class:`SlidingAggregate`.

    Examples
    --------
    >>> import rollstat, rollstat.operators
    >>> stream = rollstat.FixedAggregate(rollstat.operators.Minimum(), 3)
    >>> [stream.push(x) for x in (4.0, 1.0, 3.0, 2.0, 5.0)]
    [nan, nan, 1.0, 1.0, 2.0]
    """

    def __init__(
        self,
        operator: Any,
        window: int,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
        algorithm: str = "auto",
    ) -> None:
        rows = whole_number("window", window, 1)
        super().__init__(operator, rows, min_periods=min_periods, dtype=dtype, algorithm=algorithm)


class TimeAggregate(Aggregate):
    """Any associative operator over the elements of the last `span`: those in ``(t - span, t]``.

    Parameters
    ----------
    operator : Operator or callable
        As in :class:`SlidingAggregate`.
    span : float, str or timedelta
        Width of the window; numbers are for times that are numbers.
    min_periods : int, default 1
        Least number of observations for a result.
    dtype, algorithm
        As in :class:`SlidingAggregate`.

    Examples
    --------
    >>> import rollstat, rollstat.operators
    >>> stream = rollstat.TimeAggregate(rollstat.operators.Maximum(), 10)
    >>> [stream.push(x, t) for x, t in ((3.0, 0), (1.0, 4), (2.0, 9), (1.5, 10))]
    [3.0, 3.0, 3.0, 2.0]
    """

    def __init__(
        self,
        operator: Any,
        span: Any,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = np.float64,
        algorithm: str = "auto",
    ) -> None:
        width = float(span) if isinstance(span, int) and not isinstance(span, bool) else span
        if span is None or not Span.parse(width).timed:
            raise TypeError(f"span must be a number, a width such as '5min' or a timedelta; it was {span!r}")
        super().__init__(operator, width, min_periods=min_periods, dtype=dtype, algorithm=algorithm)
