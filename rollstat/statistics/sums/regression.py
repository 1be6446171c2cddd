"""Least squares of one series on several over every window; see :mod:`rollstat.kernels.sums.regression`."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat.blocks import Block, Outcome, read_only
from rollstat.compile.jit import plain
from rollstat.dtypes import PrecisionWarning, warn_at_caller, warn_of_rounding
from rollstat.kernels.sums.regression import memory_size, regress_windows, state_size
from rollstat.options import CommonOptions, Window
from rollstat.plan import Choice, Computation, Output
from rollstat.statistics.common import as_floats, call, numbers, statistic
from rollstat.windows import Windows

MOST_INFLATION = 1e10
"""Variance inflation factor beyond which a regression has no result."""


class Regression(NamedTuple):
    """What :func:`rolling_regression` returns.

    Attributes
    ----------
    coefficients, errors : ndarray, shape (k + 1, ..., rows)
        The coefficients, the intercept first, and their standard errors; of shape (k, ..., rows)
        without an intercept.
    determination : ndarray, shape (..., rows)
        The proportion of the variance that is explained, R².
    residual : ndarray, shape (..., rows)
        The standard deviation of the residuals.
    prediction : ndarray, shape (..., rows)
        The value of the line at the regressors of the row that the window belongs to.
    """

    coefficients: NDArray[Any]
    errors: NDArray[Any]
    determination: NDArray[Any]
    residual: NDArray[Any]
    prediction: NDArray[Any]


def _parts(coefficients: int, results: NDArray[Any]) -> Regression:
    """Return all results, stacked along a first axis, by name."""
    return Regression(
        results[:coefficients], results[coefficients : 2 * coefficients], *results[2 * coefficients :]
    )


class LeastSquares(Computation):
    """Least squares of the first series on the others.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the first series.
    windows : Windows
        The windows of the call.
    regressors : int
        How many of the others are regressors.
    intercept : bool
        Whether to fit an intercept.
    """

    can_fail = True

    def __init__(self, dtype: np.dtype[Any], windows: Windows, regressors: int, intercept: bool) -> None:
        self._series = regressors + 1
        self._intercept = intercept
        coefficients = regressors + intercept
        with_error = Output("float", coefficients + 1)
        fitted = Output("float", coefficients)
        self.outputs = [fitted] * coefficients + [with_error] * coefficients + [fitted, with_error, fitted]
        try:
            windows.position(0, 0)
        except ValueError:  # windows that belong to no row have no prediction
            return
        self.reads_own_row = True

    def block_rows(self, width: int, alone: bool = False) -> int:
        """Return the output rows of a block that suit windows of `width` rows."""
        return max(1 << 14, 8 * width)

    def choose(self, block: Block) -> Choice:
        """Return the algorithm for a block."""
        return Choice("centred_products", "rows are added and parts of windows merged, never subtracted")

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the result of every row; insufficient ones are undefined."""
        series = [block.values, *block.others]
        for values in series:
            warn_of_rounding(values)
        rows = np.stack(series, axis=1, dtype=np.float64, casting="unsafe")
        taken, missing, (start, end) = self._series, block.missing, block.observed
        own = np.full((block.rows, taken), np.nan)
        if block.own_row is not None:
            own = rows[block.own_row]
        if missing is not None:
            rows = rows[~missing]
        weights = np.ascontiguousarray(rows[:, taken:].ravel())
        if (weights < 0).any():
            raise ValueError(f"weights must not be negative; got {weights.min()}")
        out = np.empty((len(results), block.rows))
        memory = np.empty((block.longest, plain(state_size)(taken))), np.empty(memory_size(taken))
        data = [read_only(array) for array in (rows, weights, own, start, end)]
        with np.errstate(all="ignore"):
            beyond = regress_windows((0,) * taken, *data, self._intercept, MOST_INFLATION, *memory, out)
            for result, found in zip(results, out):
                result[...] = found
        if beyond:
            warn_at_caller(
                f"{beyond} windows have no regression, because a regressor is nearly a combination of the "
                f"others: its variance inflation factor is above {MOST_INFLATION:.0e}",
                PrecisionWarning,
            )
        return Outcome(algorithm="centred_products")


@statistic(
    family="sums",
    kinds="fiub",
    series=2,
    several=True,
    outputs=("intercept", "{}", "intercept_error", "{}_error", "determination", "residual", "prediction"),
    exact=False,
    cost="O(k²) per element and O(k³) per row, for k regressors",
    source="West (1979), Updating Mean and Variance Estimates; Chan, Golub and LeVeque (1983)",
)
def rolling_regression(
    y: ArrayLike,
    x: Any,
    window: Window,
    intercept: bool = True,
    weights: ArrayLike | None = None,
    **options: Unpack[CommonOptions],
) -> Regression:
    """Least-squares regression of one series on several others over each window.

    Parameters
    ----------
    y : array_like of float, int or bool, shape (..., n, ...)
        The response, along `axis`.
    x : array_like, tuple of array_like, or array_like of shape (k, ..., n, ...)
        The regressors: one series of the shape of `y`, or k of them.
    {window}
    intercept : bool, default True
        Whether to fit an intercept.
    weights : array_like of float, int or bool, of the shape of `y`, optional
        Weight of the squared residual of each row, at least 0. A row of weight 0 counts as an observation.
    {options}

    Returns
    -------
    Regression
        A named tuple of arrays: `coefficients` and their standard `errors`, shape (k + 1, ..., rows), the
        intercept first, or (k, ..., rows) without one; `determination`, R² (without an intercept,
        of deviations from 0 instead of the mean); `residual`, the standard deviation of the residuals; and
        `prediction`, the value at the regressors of the row that the window belongs to, even if the window
        excludes the row, as with ``closed="left"``. float32 for float32 input, otherwise float64. With
        `out`, the results are the rows of one array.

    Raises
    ------
    {raises}

    Warns
    -----
    PrecisionWarning
        If windows have no result, because a regressor is so nearly a combination of the others that its
        variance inflation factor, ``1 / (1 - R²)`` of a regression on them, is above 1e10.

    Notes
    -----
    A row where any series is missing is ignored; the prediction for a row needs only its regressors. There
    must be as many observations as coefficients, and one more for standard errors and
    `residual`. If a regressor is constant and there is an intercept, or if it is always 0
    and there is none, all results are NaN. Predictions are NaN if windows belong to no row.

    Means are computed after one value of the window is subtracted, products are products of deviations from
    means, and both are merged from the parts of a window. So a common offset does not reduce accuracy,
    and values that have left the window have no influence.
    The error of a coefficient is at most ``100 * u * v * g * sd(y) / sd(x)``, and the error of the residual
    variance at most ``(100 + v / 1e5) * u * g**2 * var(y)``, for up to 1e5 observations. Here `v` is the
    largest variance inflation factor, `g` is 1 plus the sum of ``abs(coefficient) * sd(x) / sd(y)``,
    and u = 2**-53; without an intercept, deviations are taken from 0. A residual variance below ``32 * u *
    var(y)`` is 0. Differences between values must lie between 1e-150 and 1e150.

    Cost: O(k²) per element and O(k³) per row for k regressors, amortised. Source: West, *Updating Mean and
    Variance Estimates*, 1979, doi:10.1145/359146.359153; Chan, Golub and LeVeque, *Algorithms for Computing
    the Sample Variance*, 1983, doi:10.1080/00031305.1983.10483115.

    Examples
    --------
    >>> import rollstat
    >>> y, market, size = [1.0, 3.0, 2.0, 6.0, 4.0], [0.0, 1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 0.0, 1.0, 0.0]
    >>> fit = rollstat.rolling_regression(y, (market, size), 4)
    >>> intercept, beta, of_size = fit.coefficients.round(3)
    >>> beta, of_size
    (array([  nan,   nan,   nan, 1.643, 1.25 ]), array([  nan,   nan,   nan, 2.429, 2.75 ]))
    >>> fit.prediction.round(3)
    array([  nan,   nan,   nan, 6.071, 4.25 ])
    """
    several = isinstance(x, tuple) or np.ndim(x) == np.ndim(y) + 1
    regressors: Sequence[Any] = [*x] if several else [x]
    if not regressors:
        raise ValueError("x must hold at least one series; got none")
    names = ["y", *([f"x[{j}]" for j in range(len(regressors))] if several else ["x"])]
    series = [y, *regressors]
    if weights is not None:
        names, series = [*names, "weights"], [*series, weights]
    for name, each in zip(names, series):
        numbers(name, each)
    series = [as_floats(each) if isinstance(each, np.ma.MaskedArray) else each for each in series]
    parameters: dict[str, Any] = {"regressors": len(regressors), "intercept": bool(intercept)}
    return call(
        LeastSquares,
        series,
        window,
        options,
        "regression",
        series_names=tuple(names),
        stack=True,
        finish=partial(_parts, len(regressors) + bool(intercept)),
        **parameters,
    )
