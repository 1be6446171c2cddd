"""Statistics of two series that follow from sums of products: covariance, correlation, straight lines.

A row where either series is missing is no observation. Every function writes one row of `out` for each
window of `block`, whose second series is ``block.others[0]``; rows with too few observations may get
anything. Errors are those of :mod:`rollstat.algorithms.moments`, relative to the product of both
deviations: no result can be told from that of series changed by some ``80 u`` of their distance from a
value of the window.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.algorithms.window_sums import block_rows, deliver, evaluate, observations, working_row
from rollstat.blocks import Block, Outcome
from rollstat.kernels.missing.counting import take_mean_rows
from rollstat.kernels.sums.moment_formulas import Correlation, Covariance, Line, Summand

__all__ = ["betas", "block_rows", "correlations", "covariances", "linear_fits"]


def _write(block: Block, summand: Summand, out: NDArray[Any]) -> Outcome:
    """Evaluate a summand of one output."""
    result = working_row(out)
    outcome = evaluate(block, summand, result[None], observations(block), observations(block, 1))
    deliver(result, out)
    return outcome


def covariances(block: Block, ddof: int, out: NDArray[Any]) -> Outcome:
    """Sum of products of both deviations from the mean, over the number of observations less `ddof`."""
    return _write(block, Covariance(float(ddof)), out)


def correlations(block: Block, out: NDArray[Any]) -> Outcome:
    """Pearson's correlation, in [-1, 1]; NaN where either series is constant."""
    return _write(block, Correlation(0.0), out)


def betas(block: Block, out: NDArray[Any]) -> Outcome:
    """Slope of the values against the second series: covariance over the second one's variance."""
    return _write(block, Correlation(1.0), out)


def linear_fits(
    block: Block, slope: NDArray[Any], intercept: NDArray[Any], determination: NDArray[Any]
) -> Outcome:
    """Straight line of least squares through the values, and the share of variance that it explains (R²).

    The line runs over the second series; without one over rows, of which a window's first is row 0.
    R² is NaN where the values are constant, all three where the second series is.
    """
    y = observations(block)
    if block.others:
        x = observations(block, 1)
    else:
        x = np.arange(float(len(y)))
        x.flags.writeable = False
    lines = np.empty((3, block.rows))
    outcome = evaluate(block, Line(1.0 if block.others else 0.0), lines, y, x)
    if not block.others:
        _move_to_first_rows(block, outcome.complete, y, *lines[:2])
    for line, out in zip(lines, (slope, intercept, determination)):
        deliver(line, out)
    return outcome


def _move_to_first_rows(
    block: Block,
    complete: bool,
    y: NDArray[np.float64],
    slope: NDArray[np.float64],
    height: NDArray[np.float64],
) -> None:
    """Turn the height of lines at the mean row of each window's observations into that at its first row.

    The mean of whole numbers is exact but for one rounding.
    """
    if complete and block.width:
        with np.errstate(all="ignore"):
            height -= slope * ((block.width - 1) / 2)
    else:
        take_mean_rows(y, block.start, block.end, slope, height)
