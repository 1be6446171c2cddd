"""k-th smallest, median, quantiles: ranks for the selection algorithms, and interpolation between ranks."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.blocks import Block, Kept, Outcome, Point, Selection, exact_floats, kept_arrays, read_only
from rollstat.dtypes import EXACT, compute_dtype
from rollstat.kernels.comparator import Greatest, Least
from rollstat.kernels.missing.counting import has_nan
from rollstat.kernels.missing.nan_bitmap import empty_bitmap, mark_insufficient, replace_nan
from rollstat.kernels.rank_space import sorted_windows as readers
from rollstat.kernels.selection.quantiles import (
    INTERPOLATIONS,
    interpolate,
    interpolate_large,
    interpolate_whole,
    picks_upper,
    wanted_ranks,
    whole_spread,
)
from rollstat.plan import IN_ANY_ORDER, NAMED, Choice, Computation, OneCall, Output
from rollstat.registry import reject_algorithm
from rollstat.statistics.extrema import drivers as extrema
from rollstat.statistics.extrema.computation import write_distance
from rollstat.statistics.selection import rank_bits, row_by_row, small_window, wavelet_matrix
from rollstat.statistics.selection.ranking import write_sorted
from rollstat.statistics.sorted_windows import sorted_in_one_call
from rollstat.windows import Windows

ALGORITHMS = {
    "rank_bits": "every window and dtype",
    "small_window": "a fixed number of rows up to 512, step 1, values only",
    "sorted_window": "every window and dtype, in O(m)",
    "three_trees": "a fixed number of rows, step 1",
    "two_heaps": "every window and dtype",
    "wavelet_matrix": "every window and dtype",
}

_DRIVERS: dict[str, Callable[[Block, Selection], None]] = {
    "rank_bits": rank_bits.select,
    "small_window": small_window.select,
    "sorted_window": row_by_row.sorted_window,
    "three_trees": row_by_row.three_trees,
    "two_heaps": row_by_row.two_heaps,
    "wavelet_matrix": wavelet_matrix.select,
}
_POINTS = {"rank_bits": rank_bits.select_points, "small_window": small_window.select_points}
_FIXED_ONLY = {"small_window": small_window.LARGEST_WIDTH, "three_trees": None}


_replaced, _selected, _quantiles = Kept(), Kept(), Kept()
_PROBED_ROWS = 1 << 10  # that are searched for NaN before a network finds it
_SURELY_COMPLETE = 64  # rows of the widest window that is computed without a search for a complete one

_IF_NOT_FLOATS = (("rank_bits", "values are missing, and results are not floating numbers that hold them"),)
_IF_ROUNDED = (("rank_bits", "float64 does not hold the values"),)


@dataclass(frozen=True)
class OrderStatistic:
    """The k-th smallest observation, or the -k-th largest for negative `k`; the q-quantile if `k` is 0."""

    k: int = 0
    q: float = 0.0
    interpolation: str = "lower"

    @property
    def required(self) -> int:
        """Fewest observations for which there is a result."""
        return max(abs(self.k), 1)

    @property
    def code(self) -> int:
        """The interpolation, as kernels take it."""
        return INTERPOLATIONS[self.interpolation]

    def ranks(self, count: NDArray[np.int64], min_periods: int, rank: NDArray[np.int64]) -> None:
        """Write the rank of every row."""
        wanted_ranks(count, self.k, self.q, max(min_periods, self.required), rank)

    def point(self, count: int) -> Point:
        """Return where it lies among `count` observations."""
        if self.k:
            return Point(self.k - 1 if self.k > 0 else count + self.k)
        rank = int(self.q * (count - 1))
        fraction = self.q * (count - 1) - rank
        if fraction == 0:
            return Point(rank)
        if self.kind() == "value":
            return Point(rank + picks_upper(rank, fraction, self.code))
        middle = self.interpolation == "midpoint"
        return Point(rank, 0.0 if middle else fraction, middle)

    def needs_upper(self, count: int | None) -> bool:
        """Return whether the next order statistic is needed too."""
        if self.interpolation == "lower":
            return False
        return count is None or self.q * (count - 1) != int(self.q * (count - 1))

    def kind(self) -> str:
        """Return the kind of the output."""
        return "interpolated" if self.interpolation in ("linear", "midpoint") else "value"


class OrderStatistics(Computation):
    """Several order statistics of every window, from one selection.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the input.
    windows : Windows
        The windows of the call.
    requests : sequence of OrderStatistic
        The order statistics, one output each.
    algorithm : str
        ``"auto"`` or a key of `ALGORITHMS`.
    positions : bool
        Whether the outputs are the rows of the order statistics instead of their values.
    """

    filled_step = sys.maxsize

    def __init__(
        self,
        dtype: np.dtype[Any],
        windows: Windows,
        requests: Sequence[OrderStatistic],
        algorithm: str,
        positions: bool = False,
    ) -> None:
        self.requests = requests
        self.positions = positions
        self.algorithm = algorithm
        self.any_order = algorithm in ("auto", "wavelet_matrix")
        self.rows = windows.length if windows.fixed_width else windows.rows
        self.dtype = dtype
        self._varies = not windows.fixed_width
        self.outputs = [
            Output("position" if positions else request.kind(), request.required) for request in requests
        ]
        if algorithm in _FIXED_ONLY:
            width, largest = windows.fixed_width, _FIXED_ONLY[algorithm]
            if not width or (largest is not None and width > largest):
                reject_algorithm(algorithm, ALGORITHMS, "window")

    def block_rows(self, width: int, alone: bool = False) -> int:
        """Return the output rows of a block that suit windows of `width` rows."""
        name = self._choose_selection(width).name
        if name == "small_window":
            return small_window.block_rows(self.dtype.itemsize, alone and len(self.requests) == 1)
        return rank_bits.block_rows(width) if name == "rank_bits" else row_by_row.block_rows(width)

    def _choose_selection(self, fixed: int) -> Choice:
        """Return the selection algorithm for windows of `fixed` rows, 0 where that varies."""
        if self.algorithm == "small_window" and not fixed:
            return Choice(
                "rank_bits",
                f"{self.algorithm} needs windows of the same width; boundary windows are shorter",
            )
        if self.algorithm != "auto":
            return Choice(self.algorithm, NAMED)
        if self.positions:
            return Choice("rank_bits", "positions are requested")
        if not fixed:
            return Choice("rank_bits", "the width of the windows varies")
        widest = small_window.widest(fixed, self.rows, self.dtype)
        if fixed > widest:
            reason = f"windows of more than {widest} rows, over {self.rows} rows"
            at_run_time = (("sortedness", "the values only rise or only fall"),)
            return Choice("rank_bits", reason, at_run_time)
        reason = f"windows of at most {widest} rows, over {self.rows} rows"
        return Choice("small_window", reason, _IF_NOT_FLOATS if self.dtype.kind != "f" else ())

    def choose(self, block: Block, complete: bool = True) -> Choice:
        """Return the algorithm for a block, all values of which are observations if it is `complete`."""
        fixed = block.width
        if block.any_order:
            return Choice("wavelet_matrix", IN_ANY_ORDER)
        if (
            self.algorithm == "auto"
            and self._varies
            and not self.positions
            and _is_narrow(block, len(self.requests))
        ):
            return Choice("sorted_window", "windows that vary, of few rows on average", _IF_ROUNDED)
        selection = self._choose_selection(fixed)
        if not (complete and fixed and self.algorithm == "auto" and self._all_ends(fixed)):
            return selection
        extremum = extrema.choose(block)
        reason = f"the smallest or largest value of every window; {extremum.reason}"
        return Choice(extremum.name, reason, ((selection.name, "a value is missing"),))

    def _all_ends(self, width: int) -> bool:
        """Return whether all results are the smallest or the largest value of every window."""
        if self.positions or any(request.required > width for request in self.requests):
            return False
        dtype = self.dtype
        same = all(request.kind() == "value" for request in self.requests) or dtype.kind in "fmM"
        return same and all(_is_end(request.point(width), width) for request in self.requests)

    def one_call(self, least: int, marks: Sequence[float], longest: int) -> OneCall | None:
        """Return what writes all results of a series in one call; see :class:`Computation`."""
        if len(self.requests) > 1:
            if self.positions or len({request.required for request in self.requests}) > 1:
                return None
            return sorted_in_one_call(self._points(), least, marks)
        (request,) = self.requests
        reader: Any = readers.Position(request.k) if self.positions else readers.Kth(request.k)
        if not request.k:
            reader = readers.QuantileOf(request.q, request.code)
        return sorted_in_one_call(reader, least, marks)

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the order statistics of every row with at least `min_periods` observations."""
        all_needed = block.nan_below == block.width > 0 and not block.searched
        certain = all_needed and has_nan(block.values[:_PROBED_ROWS])
        if not certain and self._write_unsearched(block, results):
            return Outcome(complete=True, algorithm="small_window")
        if certain or (all_needed and has_nan(block.values)):
            return self._write_complete(block, min_periods, results)
        algorithm = self.choose(block, block.missing is None).name
        if algorithm == "sorted_window" and self.algorithm == "auto":
            if self._read_sorted(block, min_periods, results):
                return Outcome(marked=_nan_below(block, results) is not None, algorithm=algorithm)
            algorithm = "rank_bits"
        if algorithm == "small_window" and block.missing is not None:
            if self._write_observed(block, min_periods, results):
                return Outcome(marked=_nan_below(block, results) is not None, algorithm=algorithm)
            algorithm = "rank_bits"
        if algorithm in _DRIVERS:
            self._select(algorithm, block, min_periods, results)
        else:
            self._write_ends(block, results)
        return Outcome(algorithm=algorithm)

    def _select(self, algorithm: str, block: Block, min_periods: int, results: list[NDArray[Any]]) -> None:
        """Run a selection algorithm, and write what lies between two ranks."""
        if self._write_points(algorithm, block, results):
            return
        requests = self.requests
        shape, dtype = (len(requests), block.rows), block.values.dtype
        memory = kept_arrays(_selected, len(requests) * block.rows, (np.dtype(np.int64), dtype, dtype))
        rank, lower, upper = (array.reshape(shape) for array in memory)
        for request, row in zip(requests, rank):
            request.ranks(block.count, min_periods, row)
        fixed = block.width if block.missing is None else 0
        pair = not self.positions and any(r.needs_upper(fixed or None) for r in requests)
        direct = len(requests) == 1 and not pair and not self.positions
        direct = direct and results[0].dtype == block.values.dtype
        selection = Selection(
            rank,
            results[0][None, :] if direct else lower,
            upper if pair else None,
            np.empty(rank.shape, np.int64) if self.positions else None,
        )
        _DRIVERS[algorithm](block, selection)
        if self.positions:
            assert selection.position is not None
            for result, position in zip(results, selection.position):
                result[...] = position
        elif not direct:
            self._combine(block, selection, results)

    def _write_complete(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the order statistics of windows without NaN, and NaN in the other rows."""
        values, width = block.values, block.width
        outcome = Outcome(algorithm=self._choose_selection(width).name)
        bitmap = empty_bitmap(len(values))
        replaced = _replaced.get((values.dtype, len(values)), partial(np.empty_like, values))
        replace_nan(values, bitmap, replaced)
        rows = np.flatnonzero(np.isnan(values[: None if width > _SURELY_COMPLETE else 0]))
        if np.diff(rows, prepend=-1, append=len(values)).max() > width:
            complete = Block.regular(replaced, None, width)
            outcome = OrderStatistics.compute(self, complete, min_periods, results)
        for result in results:
            mark_insufficient(bitmap, width, width, result.dtype.type(np.nan), result)
        return outcome._replace(marked=True)

    def _write_observed(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> bool:
        """Write order statistics of windows in which values are missing; return whether networks can."""
        served = [r.kind() == "value" or f.dtype.kind == "f" for r, f in zip(self.requests, results)]
        if not all(served) or block.magnitude > EXACT:
            return False
        below = _nan_below(block, results)
        least, mark = (min_periods, 0.0) if below is None else (below, np.nan)
        for request, result in zip(self.requests, results):
            fewest = max(least, request.required)
            small_window.select_observed(block, request.k, request.q, request.code, fewest, mark, result)
        return True

    def _read_sorted(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> bool:
        """Write all order statistics from a sorted array of each window, if float64 holds the values."""
        values, requests = exact_floats(read_only(block.values)), self.requests
        if values is None or any(
            r.kind() != "value" and f.dtype.kind != "f" for r, f in zip(requests, results)
        ):
            return False
        below = _nan_below(block, results)
        least, mark = (min_periods, 0.0) if below is None else (below, np.nan)
        one = len(requests) == 1 and results[0].dtype == values.dtype
        found = results[0][None] if one else np.empty((len(requests), block.rows))
        windows = read_only(block.start), read_only(block.end), read_only(np.empty(0, np.int64))
        scratch = np.empty(block.longest + 1), np.full(len(requests), mark)
        readers.sorted_windows(self._points(), values, block.mask, *windows, max(least, 1), *scratch, found)
        with np.errstate(over="ignore"):  # values that float32 cannot hold become infinite
            for result, row in zip(() if one else results, found):
                result[...] = row
        return True

    def _points(self) -> readers.Points:
        """Return what reads all order statistics from a sorted window."""
        k, q, code = zip(*[(request.k, request.q, request.code) for request in self.requests])
        return readers.Points(np.array(k), np.array(q), np.array(code), np.empty(len(k)))

    def _write_unsearched(self, block: Block, results: list[NDArray[Any]]) -> bool:
        """Write order statistics before a search for NaN; return whether there is none."""
        width = block.width
        if block.searched or not width or self.positions or block.values.dtype.kind != "f":
            return False
        if self._choose_selection(width).name != "small_window" or any(
            r.required > width for r in self.requests
        ):
            return False
        points = [request.point(width) for request in self.requests]
        if self.algorithm == "auto" and all(_is_end(point, width) for point in points):
            return False
        return small_window.is_compiled(block, points) and small_window.select_points(block, points, results)

    def _write_points(self, algorithm: str, block: Block, results: list[NDArray[Any]]) -> bool:
        """Write points that have the same rank in every row; return whether the algorithm can."""
        width, write = block.width, _POINTS.get(algorithm)
        if write is None or not width or block.missing is not None or self.positions:
            return False
        if any(request.required > width for request in self.requests) or block.magnitude > EXACT:
            return False
        points = [request.point(width) for request in self.requests]
        between = any(point.between for point in points)
        if results[0].dtype.kind != "f" and (between or results[0].dtype != block.values.dtype):
            return False
        return write_sorted(read_only(block.values), width, points, results) or write(block, points, results)

    def _write_ends(self, block: Block, results: list[NDArray[Any]]) -> None:
        """Write smallest and largest values with an extremum algorithm, faster than a selection."""
        orders = [Greatest() if request.point(block.width).rank else Least() for request in self.requests]
        extrema.automatic(block, list(map(extrema.Extremum, orders, results)))

    def _combine(self, block: Block, selection: Selection, results: list[NDArray[Any]]) -> None:
        """Write the results from the values at both ranks."""
        for i, (request, result) in enumerate(zip(self.requests, results)):
            lower = selection.lower[i]
            if request.k or selection.upper is None:
                result[...] = lower
                continue
            upper = selection.upper[i]
            floating = result.dtype.kind == "f"
            if floating and request.kind() == "interpolated" and block.magnitude > EXACT:
                words, signed = (x.view(np.uint64) for x in (lower, upper)), lower.dtype.kind == "i"
                interpolate_large(*words, signed, block.count, request.q, request.code, result)
                continue
            blend = interpolate if floating else interpolate_whole
            blend(lower, upper, block.count, request.q, request.code, result)


def _nan_below(block: Block, results: Sequence[NDArray[Any]]) -> int | None:
    """Return ``block.nan_below``; None for datetimes, which cannot hold NaN."""
    return block.nan_below if all(result.dtype.kind == "f" for result in results) else None


def _is_narrow(block: Block, requests: int) -> bool:
    """Return whether to keep the windows of a block, whose width varies, as a sorted array."""
    if block.width or block.reach is not None or block.longest > thresholds.LONGEST_SORTED_WINDOW_OF_POINTS:
        return False
    most = thresholds.SORTED_WINDOW_OF_POINTS * requests * block.rows
    return int((block.end - block.start).sum()) <= most


def _is_end(point: Point, width: int) -> bool:
    """Return whether a point is the smallest or the largest value of every window."""
    return point.rank in (0, width - 1) and point.fraction == 0 and not point.midpoint


class Spread(OrderStatistics):
    """Difference of two quantiles of every window, from one selection.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the input.
    windows : Windows
        The windows of the call.
    requests : sequence of OrderStatistic
        The lower and the higher quantile, of one interpolation.
    algorithm : str
        ``"auto"`` or a name of `ALGORITHMS`.
    """

    def __init__(
        self,
        dtype: np.dtype[Any],
        windows: Windows,
        requests: Sequence[OrderStatistic],
        algorithm: str,
    ) -> None:
        super().__init__(dtype, windows, requests, algorithm)
        kind = requests[0].kind()
        self.can_fail = dtype.kind in "mM"
        self._wide = dtype.kind in "iu" and dtype.itemsize == 8 and kind == "interpolated"
        self._inner = compute_dtype(kind, dtype)
        whole = self.can_fail or (dtype.kind in "iub" and kind == "value")
        self.outputs = [Output("difference" if whole else "interpolated")]

    def one_call(self, least: int, marks: Sequence[float], longest: int) -> OneCall | None:
        """Return what writes all results of a series in one call; see :class:`Computation`."""
        if self.dtype == np.float32:  # whose quantiles are rounded before they are subtracted
            return None
        low, high = self.requests
        reader = readers.SpreadOf(low.q, high.q, low.code, self._wide)
        return sorted_in_one_call(reader, least, marks, distances=True)

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the distance of every row with at least `min_periods` observations."""
        low, high = kept_arrays(_quantiles, block.rows, (self._inner, self._inner))
        low[:], high[:] = 0, 0
        outcome = super().compute(block, min_periods, [low, high])
        write_distance(block, min_periods, low, high, results[0])
        return outcome

    def _write_points(self, algorithm: str, block: Block, results: list[NDArray[Any]]) -> bool:
        return not self._wide and super()._write_points(algorithm, block, results)

    def _combine(self, block: Block, selection: Selection, results: list[NDArray[Any]]) -> None:
        """Subtract 64-bit integers before they are rounded: 0 and the distance replace the two quantiles."""
        if not self._wide:
            super()._combine(block, selection, results)
            return
        upper = selection.lower if selection.upper is None else selection.upper
        results[0][...] = 0
        low, high = self.requests
        middle = low.interpolation == "midpoint"
        whole_spread(selection.lower, upper, block.count, low.q, high.q, middle, results[1])
