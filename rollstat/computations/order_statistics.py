"""k-th smallest, median, quantiles: ranks for the selection algorithms, and what lies between ranks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.algorithms import small_window
from rollstat.algorithms.extrema import Extrema, automatic
from rollstat.blocks import Block, Point, Selection
from rollstat.engine import Output
from rollstat.kernels.selection.quantiles import (
    INTERPOLATIONS,
    interpolate,
    interpolate_constant,
    interpolate_whole,
    kth_ranks,
    picks_upper,
    quantile_ranks,
)
from rollstat.windows import Windows

__all__ = ["ALGORITHMS", "Kth", "OrderStatistics", "Quantile"]

ALGORITHMS = {
    "rank_bits": "every window and dtype",
    "small_window": "a fixed number of rows up to 512, step 1, values only",
    "three_trees": "a fixed number of rows, step 1",
    "two_heaps": "every window and dtype",
}

_FIXED_ONLY = {"small_window": small_window.LARGEST_WIDTH, "three_trees": None}


@dataclass(frozen=True)
class Kth:
    """The k-th smallest observation, or the -k-th largest for negative k."""

    k: int

    @property
    def required(self) -> int:
        """Observations without which there is no result."""
        return abs(self.k)

    def constant_rank(self, count: int) -> int:
        """Rank among `count` observations."""
        return self.k - 1 if self.k > 0 else count + self.k

    def ranks(self, count: NDArray[np.int64], wanted: int, rank: NDArray[np.int64]) -> None:
        """Write the rank of every row."""
        kth_ranks(count, self.k, max(wanted, self.required), rank)

    def point(self, count: int) -> Point:
        """Where it lies among `count` observations."""
        return Point(self.constant_rank(count))

    def needs_upper(self, count: int | None) -> bool:
        """Whether the next order statistic is needed too."""
        return False

    def kind(self) -> str:
        """Kind of the output."""
        return "value"


@dataclass(frozen=True)
class Quantile:
    """The q-quantile, by one of pandas' interpolations."""

    q: float
    interpolation: str = "linear"
    required = 1

    def constant_rank(self, count: int) -> int:
        """Rank of the observation at or below the quantile, among `count`."""
        return int(self.q * (count - 1))

    def ranks(self, count: NDArray[np.int64], wanted: int, rank: NDArray[np.int64]) -> None:
        """Write the rank of every row."""
        quantile_ranks(count, self.q, max(wanted, 1), rank)

    def point(self, count: int) -> Point:
        """Where it lies among `count` observations."""
        rank = self.constant_rank(count)
        fraction = self.q * (count - 1) - rank
        if fraction == 0 or self.interpolation == "lower":
            return Point(rank)
        if self.interpolation == "linear":
            return Point(rank, fraction)
        if self.interpolation == "midpoint":
            return Point(rank, midpoint=True)
        return Point(rank + picks_upper(rank, fraction, INTERPOLATIONS[self.interpolation]))

    def needs_upper(self, count: int | None) -> bool:
        """Whether the next order statistic is needed too."""
        if self.interpolation == "lower":
            return False
        return count is None or self.q * (count - 1) != int(self.q * (count - 1))

    def kind(self) -> str:
        """Kind of the output."""
        return "interpolated" if self.interpolation in ("linear", "midpoint") else "value"


@lru_cache(maxsize=32)
def _full(rank: tuple[int, ...], rows: int) -> NDArray[np.int64]:
    ranks = np.empty((len(rank), rows), np.int64)
    ranks[...] = np.array(rank, np.int64)[:, None]
    ranks.setflags(write=False)
    return ranks


class OrderStatistics:
    """Several order statistics of every window, from one selection.

    Parameters
    ----------
    requests : sequence of Kth or Quantile
        What is wanted, one output each.
    dtype : numpy.dtype
        Of the input.
    windows : Windows
        The windows of the run.
    algorithm : str
        ``"auto"`` or a key of `ALGORITHMS`.
    positions : bool
        Whether the outputs are the rows of the order statistics instead of their values.
    """

    def __init__(
        self,
        requests: Sequence[Kth | Quantile],
        dtype: np.dtype[Any],
        windows: Windows,
        algorithm: str,
        positions: bool = False,
    ) -> None:
        self.requests = requests
        self.positions = positions
        self.algorithm = algorithm
        self.rows = windows.rows
        self.dtype = dtype
        self.outputs = [
            Output("position" if positions else request.kind(), request.required) for request in requests
        ]
        _check_served(algorithm, windows)

    def block_rows(self, width: int) -> int:
        """Output rows of a block that suit windows of `width` rows."""
        rows: int = _driver(self._choose(width, width)).block_rows(width)
        return rows

    def _choose(self, width: int, fixed: int, values: NDArray[Any] | None = None) -> str:
        """Name the algorithm for windows of about `width` rows; `fixed` is 0 where their size varies."""
        if self.algorithm != "auto":
            if fixed or self.algorithm not in _FIXED_ONLY:
                return self.algorithm
            return "rank_bits"  # what an end of the data cuts off has no fixed size
        if small_window.suits(fixed, self.rows, self.dtype) and not self.positions:
            if values is None or small_window.suits_values(values, fixed):
                return "small_window"
        return "rank_bits"

    def compute(self, block: Block, wanted: int, results: list[NDArray[Any]]) -> None:
        """Write the order statistics of every row that has at least `wanted` observations."""
        if self._write_unsearched(block, results):
            return
        fixed = block.width if block.missing is None else 0
        requests = self.requests
        if fixed:
            constant: tuple[int, ...] | None = tuple(r.constant_rank(fixed) for r in requests)
            if any(r.required > fixed for r in requests):
                constant = None
        else:
            constant = None
        width = block.width or int(block.end[-1] - block.start[-1])
        probed = block.values if block.missing is None else None
        driver = _driver(self._choose(max(width, 1), block.width, probed))
        if constant is not None and self._write_points(driver, block, results):
            return
        if constant is not None:
            rank = _full(constant, block.rows)
        else:
            rank = np.empty((len(requests), block.rows), np.int64)
            for request, row in zip(requests, rank):
                request.ranks(block.count, wanted, row)
        pair = not self.positions and any(r.needs_upper(fixed or None) for r in requests)
        direct = len(requests) == 1 and not pair and not self.positions
        direct = direct and results[0].dtype == block.values.dtype
        lower = results[0][None, :] if direct else np.empty(rank.shape, block.values.dtype)
        selection = Selection(
            rank,
            constant,
            lower,
            np.empty_like(lower) if pair else None,
            np.empty(rank.shape, np.int64) if self.positions else None,
        )
        driver.select(block, selection)
        if self.positions:
            assert selection.position is not None
            for result, position in zip(results, selection.position):
                result[...] = position
        elif not direct:
            self._combine(block, selection, results)

    def _write_unsearched(self, block: Block, results: list[NDArray[Any]]) -> bool:
        """Write order statistics of values that nobody has searched for NaN, if there turn out to be none."""
        if block.searched or block.width != 5 or self.positions or block.values.dtype.kind != "f":
            return False
        if self.algorithm not in ("auto", "small_window") or any(r.required > 5 for r in self.requests):
            return False
        points = [request.point(5) for request in self.requests]
        if any(_is_end(point, 5) for point in points):
            return False
        if not small_window.select_points_of_five(block, points, results):
            return False
        block.missing = None
        return True

    def _write_points(self, driver: Any, block: Block, results: list[NDArray[Any]]) -> bool:
        """Have the algorithm write quantiles at once, without their two ranks; whether it can."""
        if self.positions:
            return False
        points = [request.point(block.width) for request in self.requests]
        if self.algorithm == "auto" and all(result.dtype == block.values.dtype for result in results):
            if all(_is_end(point, block.width) for point in points):
                _write_ends(block, points, results)
                return True
        if not hasattr(driver, "select_points"):
            return False
        between = any(point.midpoint or point.fraction > 0 for point in points)
        if results[0].dtype.kind != "f" and (between or results[0].dtype != block.values.dtype):
            return False
        written: bool = driver.select_points(block, points, results)
        return written

    def _combine(self, block: Block, selection: Selection, results: list[NDArray[Any]]) -> None:
        for i, (request, result) in enumerate(zip(self.requests, results)):
            lower = selection.lower[i]
            if isinstance(request, Kth) or selection.upper is None:
                result[...] = lower
                continue
            upper = selection.upper[i]
            code = INTERPOLATIONS[request.interpolation]
            floating = result.dtype.kind == "f"
            if floating and selection.constant is not None and request.kind() == "interpolated":
                position = request.q * (block.width - 1)
                fraction = position - int(position)
                if fraction == 0:
                    result[...] = lower
                else:
                    middle = request.interpolation == "midpoint"
                    interpolate_constant(lower, upper, fraction, middle, result)
                continue
            blend = interpolate if floating else interpolate_whole
            blend(lower, upper, block.count, request.q, code, result)


def _is_end(point: Point, width: int) -> bool:
    """Whether a point is the smallest or the largest value of every window."""
    return point.rank in (0, width - 1) and point.fraction == 0 and not point.midpoint


def _write_ends(block: Block, points: Sequence[Point], results: Sequence[NDArray[Any]]) -> None:
    """Write smallest and largest values, which no order statistic is as quick at as an extremum."""
    for point, result in zip(points, results):
        smallest = point.rank == 0
        request = Extrema(minimum=result) if smallest else Extrema(maximum=result)
        automatic(block, request)


def _check_served(algorithm: str, windows: Windows) -> None:
    if algorithm not in _FIXED_ONLY:
        return
    largest = _FIXED_ONLY[algorithm]
    if windows.fixed_width and (largest is None or windows.fixed_width <= largest):
        return
    others = "; ".join(f"{name!r} ({what})" for name, what in ALGORITHMS.items())
    raise ValueError(f"algorithm {algorithm!r} does not serve this window; the algorithms are {others}")


def _driver(name: str) -> Any:
    return import_module(f"rollstat.algorithms.{name}")
