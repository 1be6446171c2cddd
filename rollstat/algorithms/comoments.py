"""Statistics of two series that follow from sums of products: covariance, correlation, straight lines.

A row is an observation if both series have a value there. Every function writes one row of `out` for each
window of `block`, whose second series is ``block.others[0]``; insufficient rows are undefined. Errors are
those of :mod:`rollstat.algorithms.moments`, relative to the product of both deviations: each result is the
exact one for values that differ from the given ones by at most about ``80 u`` of their distance from some
value of the window.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.algorithms.moments import means
from rollstat.algorithms.window_sums import SPARE, block_rows, deliver, differences, evaluate, working_row
from rollstat.blocks import Block, Outcome, read_only
from rollstat.kernels.missing.counting import subtract_mean_row
from rollstat.kernels.sums.moment_formulas import Correlation, Covariance, Line, Summand

__all__ = ["betas", "block_rows", "correlations", "covariances", "linear_fits"]


def _write(block: Block, summand: Summand, out: NDArray[Any]) -> Outcome:
    """Write the only output of `summand`."""
    result = working_row(out)
    outcome = evaluate(block, summand, result[None], differences(block)[0], differences(block, 1)[0])
    deliver(result, out)
    return outcome


def covariances(block: Block, ddof: int, out: NDArray[Any]) -> Outcome:
    """Write the covariance, the central sum of products divided by count - `ddof`."""
    return _write(block, Covariance(float(ddof)), out)


def correlations(block: Block, out: NDArray[Any]) -> Outcome:
    """Write Pearson's correlation, in [-1, 1]; NaN where either series is constant."""
    return _write(block, Correlation(0.0), out)


def betas(block: Block, out: NDArray[Any]) -> Outcome:
    """Write the slope of the values against the second series, their covariance divided by its variance."""
    return _write(block, Correlation(1.0), out)


def linear_fits(
    block: Block, slope: NDArray[Any], intercept: NDArray[Any], determination: NDArray[Any]
) -> Outcome:
    """Write slope and intercept of the least-squares line through the values, and R².

    The line is a function of the second series, or, if there is none, of the row counted from the start of
    the window. R² is NaN where the values are constant, all three are where the second series is.
    """
    y, anchor = differences(block)
    origin = 0
    if block.others:
        x, origin = differences(block, 1)
    else:
        x = np.arange(float(len(y)))
        x.flags.writeable = False
    lines = np.empty((3, block.rows))
    outcome = evaluate(block, Line(1.0 if block.others else 0.0), lines, y, x)
    if anchor or origin:
        _set_heights(block, lines)
    if not block.others:
        if y.dtype == np.int64:  # which has no NaN
            y = np.zeros(len(y)) if block.missing is None else np.where(block.missing, np.nan, 0.0)
        _move_to_first_rows(block, outcome.complete, y, *lines[:2])
        if y.dtype.kind == "f" and np.isinf(lines[1]).any():
            _scale_heights(block, y, lines[1])
    for line, out in zip(lines, (slope, intercept, determination)):
        deliver(line, out)
    return outcome


def _set_heights(block: Block, lines: NDArray[np.float64]) -> None:
    """Compute the heights of lines through large integers from their means.

    Heights above an anchor would be rounded to its digits, however small the values of the window are.
    """
    means(block.over([block.values]), lines[1])
    if block.others:
        mean = np.empty(block.rows)
        means(block.over(block.others), mean)
        with np.errstate(invalid="ignore"):  # slopes that are not defined
            lines[1] -= lines[0] * mean


def _scale_heights(block: Block, y: NDArray[np.float64], height: NDArray[np.float64]) -> None:
    """Compute infinite heights at first rows again, from values so small that slopes are finite."""
    small = np.empty((3, block.rows))
    linear_fits(block.over([read_only(np.ldexp(y, -SPARE))]), *small)
    with np.errstate(over="ignore"):
        np.copyto(height, np.ldexp(small[1], SPARE), where=np.isinf(height))


def _move_to_first_rows(
    block: Block,
    complete: bool,
    y: NDArray[np.float64],
    slope: NDArray[np.float64],
    height: NDArray[np.float64],
) -> None:
    """Replace the height of each line at the mean row of the observations by that at the first row.

    The mean row is a quotient of integers and is rounded once.
    """
    if complete and block.width:
        with np.errstate(all="ignore"):
            height -= slope * ((block.width - 1) / 2)
    else:
        subtract_mean_row(y, block.start, block.end, slope, height)
