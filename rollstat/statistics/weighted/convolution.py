"""Weighted sums with weights by position, and what follows from them."""

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat._extras import if_installed
from rollstat.blocks import Block, Outcome, read_only
from rollstat.dtypes import warn_of_rounding
from rollstat.kernels.sums.convolution import convolve_fixed, convolve_windows, spread_of_windows
from rollstat.plan import NAMED, Choice, Computation, Output
from rollstat.windows import FixedWindows, Windows

RESULTS = "sum", "mean", "var", "std"
ALGORITHMS = {
    "direct": "sums and means; other windows than those of a fixed number of rows one by one",
    "fft": "as 'direct', with SciPy",
}
# Times the mean size of values: what rounding errors of a transform must not be compared with.
_SPIKE = 256.0
# A transform takes pieces of so many times the weights, but at least so many values, and some at a time.
_PIECES, _LEAST_PIECE, _VALUES_AT_ONCE = 8, 4096, 1 << 16


class Convolution(Computation):
    """Weighted sum, mean, variance or standard deviation of the observations of every window.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the series.
    windows : Windows
        The windows of the call.
    weights : ndarray of float64
        The last one belongs to the last row of a full window.
    result : str
        One of `RESULTS`.
    ddof : int
        Delta degrees of freedom of variances.
    algorithm : str
        ``"auto"`` or a key of `ALGORITHMS`.
    """

    rounds = True

    def __init__(
        self,
        dtype: np.dtype[Any],
        windows: Windows,
        weights: NDArray[np.float64],
        result: str,
        ddof: int,
        algorithm: str,
    ) -> None:
        self._weights, self._result, self._ddof = read_only(weights), result, ddof
        self._algorithm = algorithm
        self._fft: Any = None
        if algorithm == "fft" or (algorithm == "auto" and len(weights) > thresholds.CONVOLVE_DIRECTLY):
            self._fft = if_installed("scipy.fft")
        if algorithm == "fft" and self._fft is None:
            raise ModuleNotFoundError("algorithm='fft' needs scipy", name="scipy")
        required = {"sum": 0, "mean": 1}.get(result, ddof + 1)
        self.outputs = [Output("float", required)]
        # Where the end of the data cuts a window, its own row says which weights are left.
        self._right = windows.right if isinstance(windows, FixedWindows) else 1
        self.reads_own_row = self._right > 1

    def block_rows(self, width: int, alone: bool = False) -> int:
        """Return the output rows of a block that suit windows of `width` rows."""
        return max(1 << 15, 64 * width)

    def choose(self, block: Block) -> Choice:
        """Return the algorithm for a block."""
        if not block.width or self._result in ("var", "std"):
            return Choice("windows", "window after window")
        if self._algorithm != "auto":
            return Choice(self._algorithm, NAMED)
        few = min(block.width, len(self._weights)) <= thresholds.CONVOLVE_DIRECTLY
        if few or self._fft is None:
            return Choice(
                "direct", f"at most {thresholds.CONVOLVE_DIRECTLY} weights, or SciPy is not installed"
            )
        return Choice("fft", "many weights", (("direct", "values differ much in size"),))

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the result of every window."""
        warn_of_rounding(block.values)
        algorithm, out = self.choose(block).name, results[0]
        total = out if out.dtype == np.float64 and out.flags.c_contiguous else np.empty(block.rows)
        with np.errstate(all="ignore"):
            if algorithm == "windows":
                outcome = Outcome(algorithm=algorithm)
                self._window_by_window(block, total)
            else:
                outcome = self._all_at_once(block, algorithm, total)
            if total is not out:
                out[...] = total
        return outcome

    def _all_at_once(self, block: Block, algorithm: str, total: NDArray[np.float64]) -> Outcome:
        """Write sums or means of windows of one width."""
        weights = self._weights[-block.width :]
        first = block.width - len(weights)
        values = block.values[first:].astype(np.float64, copy=False)
        if algorithm == "direct" and not (block.searched or first):
            if _directly(values, weights, total):  # a search for NaN would take half of the time
                if self._result == "mean":
                    total /= weights.sum()
                return Outcome(complete=True, algorithm=algorithm)
        missing = None if block.missing is None else block.missing[first:]
        values = values if missing is None else np.where(missing, 0.0, values)
        if algorithm == "fft" and self._algorithm == "auto":
            sizes = np.abs(values)
            if not sizes.max() < _SPIKE * sizes.mean():  # whose rounding would reach other windows
                algorithm = "direct"
        if algorithm == "fft":
            self._transform(values, weights, total)
        else:
            _directly(values, weights, total)
        if self._result == "mean" and missing is None:
            total /= weights.sum()
        elif self._result == "mean" and missing is not None:
            share = np.empty(block.rows)
            _directly((~missing).astype(np.float64), weights, share)
            total /= share
        return Outcome(algorithm=algorithm)

    def _transform(
        self, values: NDArray[np.float64], weights: NDArray[np.float64], total: NDArray[np.float64]
    ) -> None:
        """Write the weighted sums by real transforms of overlapping pieces, some of them at once."""
        fft, reach = self._fft, len(weights) - 1
        size = min(max(_PIECES * len(weights), _LEAST_PIECE), len(values))
        size = fft.next_fast_len(size, real=True)
        own = size - reach  # sums of a piece that do not wrap around
        pieces = -(-len(total) // own)
        padded = np.zeros(pieces * own + reach)
        padded[: len(values)] = values
        rows = sliding_window_view(padded, size)[::own]
        spectrum, at_once = fft.rfft(weights[::-1], size), max(_VALUES_AT_ONCE // size, 1)
        for first in range(0, pieces, at_once):
            part = fft.rfft(rows[first : first + at_once])
            part *= spectrum
            sums = fft.irfft(part, size, overwrite_x=True)[:, reach:].reshape(-1)
            written = total[first * own : (first + at_once) * own]
            written[:] = sums[: len(written)]

    def _window_by_window(self, block: Block, total: NDArray[np.float64]) -> None:
        """Write the results of any windows."""
        values, missing = block.values.astype(np.float64, copy=False), block.missing
        values = read_only(values if missing is None else np.where(missing, np.nan, values))
        last = block.end - 1 if block.own_row is None else block.own_row + self._right - 1
        windows = values, self._weights, block.start, block.end, last
        share, rows = np.empty(block.rows), len(self._weights)
        convolve_windows(*windows, total, share)
        if self._result != "sum":
            total /= share
        if self._result in ("var", "std"):
            mean = total.copy()
            spread_of_windows(*windows, mean, total)
            total *= rows / (rows - self._ddof) / share
        if self._result == "std":
            np.sqrt(total, out=total)


def _directly(values: NDArray[np.float64], weights: NDArray[np.float64], total: NDArray[np.float64]) -> bool:
    """Write the weighted sums; return whether all are finite."""
    return bool(convolve_fixed(read_only(values), read_only(-weights), total))
