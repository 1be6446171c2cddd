"""Z-scores and mean absolute deviations, from the mean of each window; autocorrelation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import operators as built_in
from rollstat.blocks import UNKNOWN, Block, Outcome, read_only
from rollstat.kernels.sums.deviations import standardize, sum_of_distances, sum_of_integer_distances
from rollstat.operators.layout import computing_dtype
from rollstat.operators.moments import MeanOffset
from rollstat.plan import Choice, Computation, Output
from rollstat.statistics.aggregate.drivers import aggregate, prepare
from rollstat.statistics.sums.float_range import is_moderate
from rollstat.statistics.sums.window_sums import block_rows, choose, evaluate, observations, write_sums
from rollstat.windows import Windows

operators: Any = built_in  # type checkers take class attributes of the operators for fields

# Exponent of the sum of as many values as a window can have.
_SPARE = 64
# Outside these limits deviations have fewer digits, or distances from the mean may exceed float64.
_LEAST, _GREATEST = 2.0**-960, 2.0**960
_POWER = 500


class _OfMoments(Computation):
    """A statistic that follows from moments of the window.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the series.
    windows : Windows
        The windows of the call.
    """

    rounds = True
    outputs = (Output("float"),)

    def __init__(self, dtype: np.dtype[Any], windows: Windows) -> None:
        pass

    def block_rows(self, width: int, alone: bool = False) -> int:
        """Return the output rows of a block that suit windows of `width` rows."""
        return block_rows(width)

    def choose(self, block: Block) -> Choice:
        """Return the algorithm for a block."""
        return choose(block)


def _means(block: Block, values: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the mean of each window less one of its observations, and that observation.

    `values` are the :func:`observations` of the block.
    """
    found = np.empty((2, block.rows))
    if values.dtype.kind == "f":
        evaluate(block, MeanOffset(), found, values)
        return found[0], found[1]
    operator, layout = prepare(MeanOffset(), [values.dtype])
    offset, reference = found[0], np.zeros(block.rows, computing_dtype(values.dtype))
    aggregate(block.over([values]), operator, layout, [offset, reference])
    return offset, reference


def _deliver(result: NDArray[np.float64], out: NDArray[Any]) -> None:
    with np.errstate(over="ignore"):  # values that float32 cannot hold become infinite
        out[...] = result


class ZScore(_OfMoments):
    """Distance of the own value from the mean of the window, in standard deviations.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the series.
    windows : Windows
        The windows of the call: one for each row, or each `step`-th.
    ddof : int
        Delta degrees of freedom.
    """

    reads_own_row = True

    def __init__(self, dtype: np.dtype[Any], windows: Windows, ddof: int) -> None:
        windows.position(0, 0)
        self._ddof = ddof
        self.outputs = (Output("float", ddof + 1),)

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the z-score of every row; rows whose own value is missing are insufficient."""
        assert block.own_row is not None
        values, missing = observations(block, shifted=True), block.missing
        score, deviation = self._scores(block, values)
        for extreme, power in ((deviation < _LEAST, -_POWER), (deviation > _GREATEST, _POWER)):
            if extreme.any() and not is_moderate(values):  # not only constant windows
                with np.errstate(over="ignore"):  # in other windows
                    again = self._scores(block, read_only(np.ldexp(values, -power)))
                score[extreme] = again[0][extreme]
        _deliver(score, results[0])
        undefined = None if missing is None else missing[block.own_row]
        return Outcome(undefined=undefined, algorithm=self.choose(block).name)

    def _scores(self, block: Block, values: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the z-score of every row, and the deviation of its window."""
        assert block.own_row is not None
        score, deviation = np.empty((2, block.rows))
        evaluate(block, operators.StandardDeviation(self._ddof), deviation[None], values)
        offset, reference = _means(block, values)
        standardize(read_only(values[block.own_row]), read_only(reference), offset, deviation, score)
        return score, deviation


class MeanAbsoluteDeviation(_OfMoments):
    """Mean distance from the mean."""

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the deviation of every window."""
        values = observations(block, shifted=True)
        mean = _mean_distances(block, values)
        if values.dtype.kind == "f" and not np.isfinite(mean).all():  # a sum may have left the range
            with np.errstate(over="ignore"):
                again = np.ldexp(_mean_distances(block, read_only(np.ldexp(values, -_SPARE))), _SPARE)
            mean = np.where(np.isfinite(mean), mean, again)
        _deliver(mean, results[0])
        return Outcome(algorithm=self.choose(block).name)


def _mean_distances(block: Block, values: NDArray[Any]) -> NDArray[np.float64]:
    """Return the mean distance from the mean of every window; `values` may be integers."""
    offset, reference = _means(block, values)
    total, bounds = np.empty(block.rows), (block.start, block.end)
    if values.dtype.kind == "f":
        sum_of_distances(values, reference, offset, *bounds, np.empty(8), total)
    else:
        sum_of_integer_distances(values, block.mask, reference, offset, *bounds, total)
    return total / np.maximum(block.count, 1)


class Autocorrelation(_OfMoments):
    """Correlation of the values of a window with those `lag` rows before them.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the series.
    windows : Windows
        The windows of the call.
    lag : int
        At least 1.
    """

    def __init__(self, dtype: np.dtype[Any], windows: Windows, lag: int) -> None:
        self._lag = lag

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the correlation of every window; a pair is a row of the window and the one `lag` before."""
        lag, values, missing = min(self._lag, len(block.values)), block.values, block.missing
        pairs = len(values) - lag
        if missing is not None:
            missing = missing[lag:] | missing[:pairs]
        end = np.clip(block.end - lag, 0, pairs)
        start = np.minimum(np.minimum(block.start, pairs), end)
        width = block.width - self._lag if block.width > self._lag else 0
        series = read_only(values[lag:]), (read_only(values[:pairs]),)
        kept = UNKNOWN if missing is None and values.dtype.kind == "f" else missing
        lagged = Block(series[0], kept, start, end, width, series[1])
        correlation = np.empty(block.rows)
        write_sums(lagged, operators.Correlation(), correlation)
        correlation[lagged.count < 2] = np.nan
        _deliver(correlation, results[0])
        return Outcome(algorithm=self.choose(block).name)
