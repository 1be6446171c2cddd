"""Sums and means in which observations have weights, and log-sum-exp, each by its kernel."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.algorithms.window_sums import block_rows, deliver, evaluate, longest, observations, working_row
from rollstat.blocks import Block
from rollstat.kernels.decayed_sums import decayed_sums as sum_decayed
from rollstat.kernels.log_sum_exp import log_sum_exp
from rollstat.kernels.summands import Sum

__all__ = [
    "block_rows",
    "decay_factors",
    "decayed_means",
    "decayed_sums",
    "log_sums_of_exponentials",
    "weighted_means",
]


def weighted_means(block: Block, out: NDArray[Any]) -> None:
    """Mean of the values, each weighing as much as the second series says; NaN where all weights are 0.

    A row where either is missing is no observation. The numerator and the denominator are each off by
    at most 25 u of the sum of the absolute values of their terms.
    """
    missing = block.missing
    weights = observations(block, 1)
    result = working_row(out)
    totals = np.empty((1, block.rows))
    with np.errstate(all="ignore"):
        products = observations(block) * weights
        undefined = np.isnan(products)
        if missing is not None:
            undefined &= ~missing
        products.flags.writeable = False
        evaluate(block, Sum(0.0), result[None], products)
        evaluate(block, Sum(0.0), totals, weights)
        result /= totals[0]
        if undefined.any():  # no weight times infinity: not a missing value, but no number either
            before = np.concatenate(([0], np.cumsum(undefined)))
            result[before[block.end] > before[block.start]] = np.nan
    deliver(result, out)


@np.errstate(all="ignore")
def log_sums_of_exponentials(block: Block, out: NDArray[Any]) -> None:
    """``log(sum(exp(x)))`` without overflow; -inf where nothing is observed."""
    result = working_row(out)
    work = np.empty(longest(block)), np.empty(longest(block))
    log_sum_exp(observations(block), block.start, block.end, *work, result)
    deliver(result, out)


def decay_factors(times: NDArray[Any], half_life: float) -> NDArray[np.float64]:
    """Weight of each row against the one after it, that halves every `half_life`.

    ``factors[j]`` is that of row ``j - 1`` against row `j`; the first, of nothing, is 1.
    """
    return np.exp2(np.diff(times, prepend=times[:1]).astype(np.float64) / -half_life)


@np.errstate(all="ignore")
def _decay(block: Block, factors: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Decayed sums of the values and of their weights."""
    sums, totals = np.empty((2, block.rows))
    work = np.empty(longest(block)), np.empty(longest(block))
    sum_decayed(observations(block), factors, block.start, block.end, *work, sums, totals)
    return sums, totals


def decayed_sums(block: Block, factors: NDArray[np.float64], out: NDArray[Any]) -> None:
    """Sum in which the newest row of the window weighs 1 and each older one less.

    `factors` are from :func:`decay_factors`, or a single one that every step back multiplies by.
    """
    deliver(_decay(block, factors)[0], out)


def decayed_means(block: Block, factors: NDArray[np.float64], out: NDArray[Any]) -> None:
    """Mean of the values, weighing as in :func:`decayed_sums`; rows without a value have no weight."""
    sums, totals = _decay(block, factors)
    with np.errstate(all="ignore"):
        sums /= totals
    deliver(sums, out)
