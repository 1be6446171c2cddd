"""Order statistics of any monotone windows, read off a sorted array."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.algorithms.bound_calls import bind
from rollstat.algorithms.ranking import NOTHING_MISSING
from rollstat.blocks import Block, Selection, exact_floats, read_only
from rollstat.kernels.rank_space.order_statistics_sorted import order_statistics_sorted, quantiles_of_windows

__all__ = ["block_rows", "seconds", "select", "windows_kernel"]

_NONE: NDArray[Any] = np.empty((0, 0), np.int64)


def block_rows(width: int) -> int:
    """Return the rows of a block: several windows, whose first is inserted value by value."""
    return max(1 << 18, 8 * width)


def seconds(rows: int, width: int, positions: bool = False) -> float:
    """Return about how long so many windows take: a third of the entries move, and all are compared."""
    return (rows + width) * (30 + (0.9 if positions else 0.35) * width) * 1e-9


def select(block: Block, request: Selection) -> None:
    """Answer the request, see :class:`rollstat.blocks.Selection`."""
    window = np.empty(block.longest + 1, block.values.dtype)
    order_statistics_sorted(
        read_only(block.values),
        NOTHING_MISSING if block.missing is None else block.missing,
        block.start,
        block.end,
        read_only(request.rank),
        window,
        request.lower,
        _NONE.astype(window.dtype) if request.upper is None else request.upper,
        _NONE if request.position is None else request.position,
    )


def windows_kernel(q: float, interpolation: int) -> Callable[..., bool]:
    """Return a function that writes quantiles of any windows in one kernel call, as floats.

    It gives up if a value is missing, or an integer is large. See
    :meth:`rollstat.plan.Computation.windows_kernel`.
    """
    codes: list[Any] = []

    def write(
        series: list[NDArray[Any]],
        start: NDArray[np.int64],
        end: NDArray[np.int64],
        longest: int,
        outputs: list[NDArray[Any]],
    ) -> bool:
        values = series[0] if series[0].dtype.kind == "f" else exact_floats(series[0])
        if values is None:
            return False
        window = np.empty(longest + 1, values.dtype)
        arguments = values, NOTHING_MISSING, start, end, q, interpolation, window, outputs[0]
        if not codes:
            codes.append(bind(quantiles_of_windows, *arguments))
        return bool(codes[0](*arguments))

    return write
