"""Median absolute deviation, and the Hampel filter that compares with this deviation."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.blocks import MOST_KEPT, Block, Kept, Outcome, kept_arrays, read_only, room_for
from rollstat.kernels.rank_space import mad_tree
from rollstat.kernels.rank_space import sorted_windows as readers
from rollstat.kernels.rank_space.distances import (
    BATCH,
    distances_of_columns,
    float_deviations,
    integer_deviations,
    integer_distances,
)
from rollstat.kernels.selection.quantiles import INTERPOLATIONS, interpolate_large
from rollstat.plan import Choice, Output
from rollstat.registry import reject_algorithm
from rollstat.sorting import SIGN_BIT
from rollstat.statistics.ranks.rank_space import (
    NETWORK,
    RANKED_ROWS,
    SORTED_WINDOW,
    RankComputation,
    read_columns,
    read_sorted,
    small_blocks,
    sorted_columns,
)
from rollstat.statistics.selection.ranking import measurable, ranks
from rollstat.windows import Windows

_FEWEST_RANKED = 512  # rows ranked at a time: to sort fewer takes longer for each
_found, _memory = Kept(), Kept()  # new memory would take as long as the computation where windows are wide


class _Distances(RankComputation):
    """The two middle observations of every window, and the two middle distances from the median."""

    algorithms = NETWORK
    widest = thresholds.SORTED_WINDOW_OF_DEVIATIONS
    distances = True
    of_others = False  # whether the row that a window belongs to is left out

    def _algorithm(self, block: Block) -> str:
        """Return the algorithm for a block with values."""
        return self.choose(block, block.missing is None).name

    def _find(self, block: Block, algorithm: str) -> list[NDArray[Any]]:
        """Return lower and upper median, nearer and farther middle distance; 0 without observations."""
        dtype = measurable(block.values[:0]).dtype
        found = kept_arrays(_found, block.rows, 4 * (dtype,))
        if algorithm == "network":
            if block.missing is None and dtype == np.float64:
                _sort_all(measurable(block.values), block.width, found)
            else:
                read_columns(block, measurable, readers.Distances(), found)
            return found
        for array in found:
            array[:] = 0
        if self.of_others:
            read_sorted(block, measurable, readers.DistancesOfOthers(), 1, found, block.own_row)
            return found
        if algorithm == "sorted_window":
            read_sorted(block, measurable, readers.Distances(), 1, found)
            return found
        # Parts of few windows: then the words around a cursor nearly always have the members asked for.
        values, fewest = measurable(block.values), max(min(RANKED_ROWS, 8 * block.longest), _FEWEST_RANKED)
        most = min(max(fewest, 4 * block.longest), len(values))
        key = room_for(len(values)), room_for(most), values.dtype
        memory = _memory.get(key, partial(mad_tree.allocate, *key), key[0] <= MOST_KEPT)
        given = values, read_only(block.mask), block.start, block.end
        done = int(mad_tree.find_in_parts(*given, fewest, memory, *found))
        rest = Block(block.values, block.missing, block.start[done:], block.end[done:])
        for rows, part in small_blocks(rest, fewest):  # those that take a sort by comparisons, if any
            rank, row = ranks(part.values, part.missing)
            ordered, scratch = measurable(part.values[row]), mad_tree.create(len(row))
            results = [array[done:][rows] for array in found]
            mad_tree.find_distances(rank, ordered, part.start, part.end, scratch, *results)
        return found


def _sort_all(values: NDArray[Any], width: int, results: Sequence[NDArray[Any]]) -> None:
    """Write what :meth:`_Distances._find` returns, from all windows of `width` values sorted at once."""
    for rows, found in sorted_columns(values, width, 0, width - 1):
        lower, upper, near, far = (result[rows] for result in results)
        lower[...], upper[...] = found[(width - 1) // 2], found[width // 2]
        distances_of_columns(found, np.empty(BATCH), near, far)


class Deviation(_Distances):
    """Median of the distances from the median.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the input.
    windows : Windows
        The windows of the call.
    scale : float
        Factor of the deviation.
    algorithm : str
        ``"auto"`` or a key of `NETWORK`.
    """

    def __init__(self, dtype: np.dtype[Any], windows: Windows, scale: float, algorithm: str) -> None:
        super().__init__(dtype, windows, algorithm)
        self.scale = scale
        self.reader = readers.Deviation(float(scale))
        self.can_fail = dtype.kind in "mM"
        self.outputs = [Output("difference" if self.can_fail else "interpolated")]

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the deviation of every window."""
        algorithm = self._algorithm(block)
        if self.can_fail:
            self._write_times(self._find(block, algorithm), results[0])
            return Outcome(algorithm=algorithm)
        deviation = np.empty(block.rows)
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            found = self._find(block, algorithm)
            if found[0].dtype == np.uint64:
                integer_deviations(*found, deviation)
            else:
                float_deviations(*found, found[0], deviation)
            results[0][...] = deviation if self.scale == 1 else deviation * self.scale
        return Outcome(algorithm=algorithm)

    def _write_times(self, found: list[NDArray[Any]], result: NDArray[Any]) -> None:
        """Write whole numbers of the unit of time, rounded down."""
        lower, upper, near, far = found
        gap, one = upper - lower, np.uint64(1)
        if self.scale == 1:
            odd = (near & one) + (far & one) + (gap & one)
            result[...] = ((near >> one) + (far >> one) + (gap >> one) + (odd >> one)).astype(np.int64)
            return
        whole = scaled_deviation(near.astype(object) + far.astype(object) + gap.astype(object), self.scale)
        if (whole >= 2**63).any():
            raise OverflowError("a deviation of datetimes, times scale, does not fit in 64 bits")
        result[...] = whole.astype(np.int64)


def scaled_deviation(doubled: Any, scale: float) -> Any:
    """Return half of a whole number, or of an array of them, times `scale` and rounded down once."""
    over, under = float(scale).as_integer_ratio()
    return doubled * over // (2 * under)


class Hampel(_Distances):
    """Values with outliers replaced by the median of their window, and where they were.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the input.
    windows : Windows
        The windows of the call: one for each row, or each `step`-th.
    factor : float
        Distance from the median, in deviations, beyond which a value is an outlier.
    exclude_self : bool
        Whether the own value is left out of its window.
    algorithm : str
        ``"auto"`` or a key of `NETWORK`.
    """

    reads_own_row = True
    numbers_only = True
    outputs = (Output("interpolated"), Output("flag"))

    def __init__(
        self, dtype: np.dtype[Any], windows: Windows, factor: float, exclude_self: bool, algorithm: str
    ) -> None:
        super().__init__(dtype, windows, algorithm)
        self.factor, self.of_others = factor, exclude_self
        self.reader = None if exclude_self else readers.Outlier(float(factor))
        if exclude_self:
            self.filled_step = 1  # no network leaves the own value out
        if exclude_self and algorithm not in ("auto", "sorted_window"):
            served = {"sorted_window": SORTED_WINDOW["sorted_window"]}
            reject_algorithm(algorithm, served, "call")

    def choose(self, block: Block, complete: bool = True) -> Choice:
        """Return the algorithm for a block, all values of which are observations if it is `complete`."""
        if self.of_others:
            return Choice("sorted_window", "the own value is taken out of the sorted window")
        return super().choose(block, complete)

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the cleaned values and the outliers; rows whose own value is missing are insufficient."""
        assert block.own_row is not None
        own, deviation = block.values[block.own_row], np.empty(block.rows)
        algorithm = self._algorithm(block)
        plain = own.astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            found = self._find(block, algorithm)
            if found[0].dtype == np.uint64:
                integer_deviations(*found, deviation)
                center = _whole_center(found[0], found[1], own.dtype)
                distance = np.empty(block.rows)
                integer_distances(measurable(own), found[0], found[1], distance)
            else:
                center = np.empty(block.rows)
                float_deviations(*found, center, deviation)
                distance = np.abs(plain - center)
            outlier = distance > self.factor * deviation
            results[0][...] = np.where(outlier, center, plain)
        results[1][...] = outlier
        insufficient = None if block.missing is None else block.missing[block.own_row]
        if self.of_others:
            inside = (block.start <= block.own_row) & (block.own_row < block.end)
            alone = block.count <= inside
            insufficient = alone if insufficient is None else alone | insufficient
        return Outcome(undefined=insufficient, algorithm=algorithm)


def _whole_center(lower: NDArray[Any], upper: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Medians of whole numbers of `dtype` rounded once, from the keys of the two middle ones."""
    signed, center = dtype == np.int64, np.empty(len(lower))
    if signed:
        lower, upper = lower ^ SIGN_BIT, upper ^ SIGN_BIT
    pairs = np.full(len(lower), 2)
    interpolate_large(lower, upper, signed, pairs, 0.5, INTERPOLATIONS["midpoint"], center)
    return center
