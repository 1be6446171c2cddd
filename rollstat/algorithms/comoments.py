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
from rollstat.blocks import Block
from rollstat.kernels.summands import Correlation, Covariance, Line, Summand

__all__ = ["betas", "block_rows", "correlations", "covariances", "linear_fits"]


def _write(block: Block, summand: Summand, out: NDArray[Any]) -> None:
    """Evaluate a summand of one output."""
    result = working_row(out)
    evaluate(block, summand, result[None], observations(block), observations(block, 1))
    deliver(result, out)


def covariances(block: Block, ddof: int, out: NDArray[Any]) -> None:
    """Sum of products of both deviations from the mean, over the number of observations less `ddof`."""
    _write(block, Covariance(float(ddof)), out)


def correlations(block: Block, out: NDArray[Any]) -> None:
    """Pearson's correlation, in [-1, 1]; NaN where either series is constant."""
    _write(block, Correlation(0.0), out)


def betas(block: Block, out: NDArray[Any]) -> None:
    """Slope of the values against the second series: covariance over the second one's variance."""
    _write(block, Correlation(1.0), out)


def linear_fits(
    block: Block, slope: NDArray[Any], intercept: NDArray[Any], determination: NDArray[Any]
) -> None:
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
    evaluate(block, Line(1.0 if block.others else 0.0), lines, y, x)
    if not block.others:
        with np.errstate(all="ignore"):
            lines[1] -= lines[0] * _mean_rows(block)
    for line, out in zip(lines, (slope, intercept, determination)):
        deliver(line, out)


def _mean_rows(block: Block) -> NDArray[np.float64] | float:
    """Mean of the rows of each window's observations, its first row being 0: exact but for one rounding."""
    mean: NDArray[np.float64] | float
    if block.missing is None:
        mean = ((block.width or block.count) - 1) / 2
        return mean
    total = np.concatenate(([0], np.cumsum(np.where(block.missing, 0, np.arange(len(block.values))))))
    mean = (total[block.end] - total[block.start] - block.start * block.count) / block.count
    return mean
