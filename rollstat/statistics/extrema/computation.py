"""Minimum, maximum, their positions and their distance."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.blocks import Block, Outcome
from rollstat.compile.bound_calls import BoundKernel
from rollstat.kernels.comparator import Greatest, Least, Newest, Oldest
from rollstat.kernels.extrema.any_windows import extremes_of_windows, write_distances
from rollstat.plan import NAMED, SHORT, Bounds, Choice, Computation, OneCall, Output
from rollstat.registry import reject_algorithm
from rollstat.statistics.extrema import drivers
from rollstat.windows import Windows

ALGORITHMS = {
    "doubling": "a fixed number of rows, step 1",
    "block_scan": "every window and dtype",
    "wedge": "every window and dtype",
}

_FIXED_ONLY = ("doubling",)
_NOTHING = np.empty(0)
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
        One output each.
    algorithm : str
        ``"auto"`` or a key of `ALGORITHMS`.
    last : bool
        Whether the position of equal values is the last of them.
    opposite : bool
        Whether the rule for the position of the maximum is the opposite one.
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
        opposite: bool = False,
        relative_to: str = "data",
    ) -> None:
        self.dtype = dtype
        self.names = names
        self.filled_step = thresholds.FILLED_STEP_OF_ENDS
        self.algorithm = algorithm
        self.last, self.opposite = last, opposite
        self.relative_to = relative_to
        self.distance = names == ("ptp",)
        self._positions = any(name.startswith("arg") for name in names)
        self.any_order = algorithm == "auto"
        # The wedge promises at most three comparisons a value, so it must see each value once.
        self.one_block = algorithm == "wedge"
        kinds = [_KINDS[name] for name in names]
        if relative_to != "data":
            kinds = ["offset" if kind == "position" else kind for kind in kinds]
        self.outputs = [Output(kind) for kind in kinds]
        if algorithm in _FIXED_ONLY and windows.fixed_width == 0:
            reject_algorithm(algorithm, ALGORITHMS, "window")

    def block_rows(self, width: int, alone: bool = False) -> int:
        """Return the output rows of a block that suit windows of `width` rows."""
        # Offsets are made of positions and bounds, which should stay in the cache.
        return drivers.block_rows(width, alone and self.relative_to == "data")

    def choose(self, block: Block) -> Choice:
        """Return the algorithm for a block; those for fixed windows do not serve boundary windows."""
        if self.algorithm == "auto" or (self.algorithm in _FIXED_ONLY and not block.width):
            return drivers.choose(block)
        return Choice(self.algorithm, NAMED)

    def _wanted(self, outputs: Sequence[NDArray[Any]], dtype: Any) -> list[drivers.Extremum]:
        """Return the extrema to compute for the outputs; both ends of a distance in arrays of a dtype."""
        names, found = self.names, list(outputs)
        if self.distance:
            names, found = ("min", "max"), list(np.empty((2, len(outputs[0])), dtype))
        wanted = []
        for name, out in zip(names, found):
            order: Any = Greatest() if name.endswith("max") else Least()
            last = self.last != (name == "argmax" and self.opposite)
            rule: Any = Newest() if last else Oldest()
            wanted.append(drivers.Extremum(order, out, rule if name.startswith("arg") else None))
        return wanted

    def one_call(self, least: int, marks: Sequence[float], longest: int) -> OneCall | None:
        """Return what writes all results of a series in one call; see :class:`Computation`."""
        distance, relative_to = self.distance, self.relative_to
        if distance and (self.dtype == np.float32 or marks[0] == marks[0]):
            return None  # float64 would round distances twice, and two marks have none
        if not all(mark == marks[0] or mark != mark for mark in marks):
            return None
        kernel, wanted = BoundKernel(extremes_of_windows), self._wanted([_NOTHING] * len(self.names), float)
        rules = [
            (-1.0 if isinstance(order, Greatest) else 1.0, isinstance(ties, Newest), ties is None)
            for order, _, ties in wanted
        ]

        def run(columns: list[NDArray[Any]], bounds: Bounds, outputs: Sequence[NDArray[np.float64]]) -> None:
            values, (start, end, _, _) = columns[0], bounds
            found = np.empty((2, len(start))) if distance else outputs
            for (sign, newest, is_value), out in zip(rules, found):
                rows = np.empty(len(values), np.int64)
                value, position = (out, _NOTHING) if is_value else (_NOTHING, out)
                kernel(values, start, end, sign, newest, least, rows, marks[0], value, position)
                if relative_to == "oldest":
                    np.subtract(out, start, out=out, where=out >= 0)
                elif relative_to == "newest":
                    np.subtract(end - 1, out, out=out, where=out >= 0)
            if distance:
                write_distances(found[0], found[1], outputs[0])

        return OneCall(Choice("wedge", SHORT), run, 10.0 * (3 if distance else len(rules)))

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the extrema of every row with at least `min_periods` observations."""
        absolute, wanted = self.relative_to == "data", self._wanted(results, block.values.dtype)
        outcome = drivers.ALGORITHMS[self.choose(block).name](block, wanted, block.base if absolute else 0)
        if self.distance:
            write_distance(block, min_periods, wanted[0].out, wanted[1].out, results[0])
            return outcome
        # Results in arrays of their own are converted later; views of the output are final.
        final = all(result.base is not None for result in results)
        if not final and block.width == 0:
            # A sentinel left in an empty window would cause a warning in the conversion.
            empty = block.start == block.end
            for result in results:
                result[empty] = 0
        for result in results if self.relative_to != "data" else ():
            if self.relative_to == "oldest":
                result -= block.start
            else:
                np.subtract(block.end, result, out=result)
                result -= 1
        return outcome._replace(base_added=absolute) if self._positions else outcome


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
        raise OverflowError("the difference of two datetimes of a window does not fit in 64 bits")
    result[...] = np.where(observed, distance, 0).astype(result.dtype)
