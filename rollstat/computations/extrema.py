"""Minimum, maximum, where they stand and how far apart they are."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block
from rollstat.engine import Output
from rollstat.windows import Windows

__all__ = ["ALGORITHMS", "ExtremaOf", "write_distance"]

ALGORITHMS = {
    "doubling": "a fixed number of rows, step 1",
    "block_scan": "every window and dtype",
    "wedge": "every window and dtype",
}

_FIXED_ONLY = ("doubling",)
_KINDS = {"min": "value", "max": "value", "argmin": "position", "argmax": "position", "ptp": "difference"}


@cache
def _driver() -> Any:
    return import_module("rollstat.algorithms.extrema")


class ExtremaOf:
    """Extrema of every window.

    Parameters
    ----------
    wanted : sequence of {"min", "max", "argmin", "argmax", "ptp"}
        One output each.
    windows : Windows
        The windows of the run.
    algorithm : str
        ``"auto"`` or a key of `ALGORITHMS`.
    last : bool
        Whether the position of equal values is the last of them.
    relative_to : {"data", "oldest", "newest"}
        Where positions count from.
    """

    def __init__(
        self,
        wanted: Sequence[str],
        windows: Windows,
        algorithm: str = "auto",
        last: bool = False,
        relative_to: str = "data",
    ) -> None:
        self.wanted = wanted
        self.algorithm = algorithm
        self.last = last
        self.relative_to = relative_to
        kinds = [_KINDS[name] for name in wanted]
        if relative_to != "data":
            kinds = ["offset" if kind == "position" else kind for kind in kinds]
        self.outputs = [Output(kind) for kind in kinds]
        if algorithm in _FIXED_ONLY and windows.fixed_width == 0:
            others = "; ".join(f"{name!r} ({what})" for name, what in ALGORITHMS.items())
            raise ValueError(
                f"algorithm {algorithm!r} does not serve this window; the algorithms are {others}"
            )

    def block_rows(self, width: int) -> int:
        """Output rows of a block that suit windows of `width` rows."""
        rows: int = _driver().block_rows(width)
        return rows

    def one_kernel(
        self, dtype: np.dtype[Any], width: int, rows: int, base: int, least: int | None, head: int, short: int
    ) -> Callable[..., bool] | None:
        """What writes `rows` results of windows of `width` to arrays, None if no kernel does it alone.

        It is called with the values that the windows see, always writeable or never, and an array for each
        output, and returns whether the results are right. Positions count from `base`; rows with fewer
        observations than `least` are NaN. The arrays begin with `short` rows that are NaN, whatever it
        returns, and `head` rows whose windows begin where the first whole one does.
        """
        if "ptp" in self.wanted or self.relative_to != "data" or self.algorithm not in ("auto", "doubling"):
            return None
        kernel: Callable[..., bool] | None = _driver().one_kernel(
            tuple(self.wanted), dtype, width, rows, base, self.last, least, head, short
        )
        return kernel

    def compute(self, block: Block, wanted: int, results: list[NDArray[Any]]) -> None:
        """Write the extrema of every row that has at least `wanted` observations."""
        driver = _driver()
        request = driver.Extrema(last=self.last)
        if not block.searched:
            request.least = block.least
        if self.relative_to == "data":
            request.base, block.base = block.base, 0
        for name, result in zip(self.wanted, results):
            if name == "ptp":
                request.minimum = np.empty(block.rows, block.values.dtype)
                request.maximum = np.empty(block.rows, block.values.dtype)
            else:
                target = {
                    "min": "minimum",
                    "max": "maximum",
                    "argmin": "minimum_position",
                    "argmax": "maximum_position",
                }
                setattr(request, target[name], result)
        # Results that are worked on once more are memory of their own, no part of the caller's.
        final = all(result.base is not None for result in results)
        algorithm = self.algorithm
        if algorithm in _FIXED_ONLY and not block.width:
            algorithm = "auto"  # what an end of the data cuts off has no fixed size
        driver.ALGORITHMS[algorithm](block, request)
        if not final and block.width == 0:
            # The value that never wins is no large number of the data, about which a caller is warned.
            empty = block.start == block.end
            for result in results:
                result[empty] = 0
        for name, result in zip(self.wanted, results):
            if name == "ptp":
                write_distance(block, wanted, request.minimum, request.maximum, result)
            elif name.startswith("arg") and self.relative_to != "data":
                result[...] = result - block.start if self.relative_to == "oldest" else block.end - 1 - result


def write_distance(
    block: Block, wanted: int, low: NDArray[Any], high: NDArray[Any], result: NDArray[Any]
) -> None:
    """Write ``high - low``; as unsigned numbers for integers, since it need not fit in their dtype.

    Rows with fewer than `wanted` observations may hold anything.
    """
    if result.dtype.kind == "f":
        with np.errstate(invalid="ignore", over="ignore"):
            np.subtract(high, low, out=result)
        result[low == high] = 0  # two infinities of one sign are no distance apart
        return
    observed = block.count >= max(wanted, 1)
    distance = high.astype(np.uint64) - low.astype(np.uint64)
    if result.dtype == np.int64 and (distance[observed] > np.iinfo(np.int64).max).any():
        raise OverflowError("the distance between two datetimes of a window does not fit in 64 bits")
    result[...] = np.where(observed, distance, 0).astype(result.dtype)
