"""Minimum, maximum, their positions and their distance."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import tiers
from rollstat.algorithms import extrema
from rollstat.blocks import Block, Line, Outcome
from rollstat.kernels.extrema.distances import write_distances, write_whole_distances
from rollstat.plan import NAMED, Choice, Computation, Output
from rollstat.registry import refuse_algorithm
from rollstat.windows import Windows

__all__ = ["ALGORITHMS", "ExtremaOf", "write_distance"]

ALGORITHMS = {
    "doubling": "a fixed number of rows, step 1",
    "block_scan": "every window and dtype",
    "wedge": "every window and dtype",
}

_FIXED_ONLY = ("doubling",)
_KINDS = {"min": "value", "max": "value", "argmin": "position", "argmax": "position", "ptp": "difference"}


class ExtremaOf(Computation):
    """Extrema of every window.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the input.
    windows : Windows
        The windows of the call.
    names : sequence of {"min", "max", "argmin", "argmax", "ptp"}
        One output each. If both positions are wanted, their rules for equal values are opposite.
    algorithm : str
        ``"auto"`` or a key of `ALGORITHMS`.
    last : bool
        Whether the position of equal values is the last of them; with both positions, that of the minimum.
    relative_to : {"data", "oldest", "newest"}
        Where positions count from.
    """

    def __init__(
        self,
        dtype: np.dtype[Any],
        windows: Windows,
        names: Sequence[str],
        algorithm: str = "auto",
        last: bool = False,
        relative_to: str = "data",
    ) -> None:
        self.names = names
        self.algorithm = algorithm
        self.last = last
        self.relative_to = relative_to
        self.rows = windows.rows
        # The wedge promises at most three comparisons a value, so it must see each value once.
        self.one_block = algorithm == "wedge"
        kinds = [_KINDS[name] for name in names]
        if relative_to != "data":
            kinds = ["offset" if kind == "position" else kind for kind in kinds]
        self.outputs = [Output(kind) for kind in kinds]
        if algorithm in _FIXED_ONLY and windows.fixed_width == 0:
            refuse_algorithm(algorithm, ALGORITHMS, "window")

    def block_rows(self, width: int, alone: bool = False) -> int:
        """Return the output rows of a block that suit windows of `width` rows."""
        return extrema.block_rows(width, alone)

    def choose(self, block: Block) -> Choice:
        """Return the algorithm for a block; those for fixed windows do not serve boundary windows."""
        if self.algorithm == "auto" or (self.algorithm in _FIXED_ONLY and not block.width):
            return extrema.choose(block, tuple(self.names), self.rows, self.last)
        return Choice(self.algorithm, NAMED)

    def line_kernel(self, line: Line) -> Callable[..., bool] | None:
        """Return what writes nearly all extrema of a line in one call, see :class:`Computation`."""
        if self.names == ("ptp",):
            return self._distance_kernel(line)
        if "ptp" in self.names or self.relative_to != "data" or self.algorithm not in ("auto", "doubling"):
            return None
        names = tuple(self.names)
        if self.algorithm == "auto" and extrema.serves_quickly(
            names, line.dtype, line.width, self.rows, self.last
        ):
            return None
        if names == ("argmin", "argmax"):
            return self._both_positions(line)
        return extrema.one_kernel(names, line, self.last)

    def _both_positions(self, line: Line) -> Callable[..., bool] | None:
        """Return what writes nearly all positions of both extrema, by a kernel for each."""
        lowest = extrema.one_kernel(("argmin",), line, self.last)
        highest = extrema.one_kernel(("argmax",), line, not self.last)
        if lowest is None or highest is None:
            return None

        def write(series: list[NDArray[Any]], outputs: list[NDArray[Any]]) -> bool:
            return lowest(series, outputs[:1]) and highest(series, outputs[1:])

        return write

    def windows_kernel(self, dtype: np.dtype[Any], least: int) -> Callable[..., bool] | None:
        """Return what writes an extremum of any windows in one call, see :class:`Computation`."""
        if least or self.algorithm != "auto" or tuple(self.names) not in (("min",), ("max",)):
            return None
        return extrema.windows_kernel(self.names[0])

    def _distance_kernel(self, line: Line) -> Callable[..., bool] | None:
        """Return what writes nearly all distances of the two extrema in one kernel call."""
        both, short = ("min", "max"), line.short
        if self.algorithm not in ("auto", "doubling") or line.head or line.dtype.kind not in "fiub":
            return None
        if self.algorithm == "auto" and extrema.serves_quickly(both, line.dtype, line.width, self.rows):
            return None
        full = extrema.one_kernel(both, line._replace(short=0, nan_below=None), False)
        if full is None:
            return None

        def write(series: list[NDArray[Any]], outputs: list[NDArray[Any]]) -> bool:
            low, high = np.empty(line.rows, line.dtype), np.empty(line.rows, line.dtype)
            (out,) = outputs
            if short:
                out[:short] = np.nan
                out = out[short:]
            if not full(series, [low, high]):
                return False
            if out.dtype.kind == "f":
                write_distances(low, high, out)
            else:
                write_whole_distances(low, high, out)
            return True

        return write

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the extrema of every row with at least `min_periods` observations."""
        request = extrema.Extrema(last=self.last, opposite={"argmin", "argmax"} <= set(self.names))
        if not block.searched:
            request.least = block.nan_below
        absolute = self.relative_to == "data"
        if absolute:
            request.base = block.base
        for name, result in zip(self.names, results):
            if name == "ptp":
                request.minimum = np.empty(block.rows, block.values.dtype)
                request.maximum = np.empty(block.rows, block.values.dtype)
            else:
                setattr(request, extrema.FIELDS[name], result)
        outcome = extrema.ALGORITHMS[tiers.algorithm_for(self.choose(block), block)](block, request)
        # Results in arrays of their own are converted later; views of the output are final.
        final = all(result.base is not None for result in results)
        if not final and block.width == 0:
            # A sentinel left in an empty window would cause a warning in the conversion.
            empty = block.start == block.end
            for result in results:
                result[empty] = 0
        for name, result in zip(self.names, results):
            if name == "ptp":
                write_distance(block, min_periods, request.minimum, request.maximum, result)
            elif name.startswith("arg") and not absolute:
                result[...] = result - block.start if self.relative_to == "oldest" else block.end - 1 - result
        return outcome._replace(base_added=absolute)


def write_distance(block: Block, min_periods: int, low: Any, high: Any, result: NDArray[Any]) -> None:
    """Write ``high - low``; as unsigned numbers for integers, since it need not fit in their dtype.

    Rows with fewer than `min_periods` observations may hold anything.
    """
    if result.dtype.kind == "f":
        with np.errstate(invalid="ignore", over="ignore"):
            np.subtract(high, low, out=result)
        result[low == high] = 0  # the distance between equal infinities is 0
        return
    observed = block.count >= max(min_periods, 1)
    distance = high.astype(np.uint64) - low.astype(np.uint64)
    if result.dtype == np.int64 and (distance[observed] > np.iinfo(np.int64).max).any():
        raise OverflowError("the distance between two datetimes of a window does not fit in 64 bits")
    result[...] = np.where(observed, distance, 0).astype(result.dtype)
