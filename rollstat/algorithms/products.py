"""Products and exact integer sums of windows, each by its kernel."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.algorithms.window_sums import deliver, longest, observations, working_row
from rollstat.blocks import Block
from rollstat.kernels.integer_sums import integer_sums
from rollstat.kernels.products import float_products
from rollstat.kernels.products import integer_products as multiply_integers

__all__ = ["block_rows", "exact_products", "exact_sums", "products"]

_NOTHING = np.empty(0, np.bool_)


def block_rows(width: int) -> int:
    """Rows a block that suit windows of `width` values: several windows."""
    return max(1 << 15, 4 * width)


@np.errstate(all="ignore")
def products(block: Block, out: NDArray[Any]) -> None:
    """Product in float64; 1 where nothing is observed. It is off by at most ``(m - 1) u`` of itself."""
    result = working_row(out)
    work = np.empty(longest(block)), np.empty(longest(block), np.int64)
    float_products(observations(block), block.start, block.end, *work, result)
    deliver(result, out)


def _whole(block: Block, view: type[np.integer[Any]]) -> tuple[NDArray[Any], NDArray[np.bool_], bool]:
    """Values as 64-bit integers seen as `view`, the mask or nothing, and whether they are unsigned."""
    unsigned = block.values.dtype.kind == "u"
    values = block.values.astype(np.uint64 if unsigned else np.int64, copy=False).view(view)
    values.flags.writeable = False  # one compiled version, not two
    return values, _NOTHING if block.missing is None else block.missing, unsigned


@np.errstate(all="ignore")
def exact_sums(block: Block, out: NDArray[Any]) -> int:
    """Sum of integers in int64, or in uint64 if they are unsigned.

    Returns
    -------
    int
        The first row whose sum does not fit, from which on nothing is written; -1 if all do.
    """
    return int(integer_sums(*_whole(block, np.int64), block.start, block.end, out.view(np.int64)))


@np.errstate(all="ignore")
def exact_products(block: Block, out: NDArray[Any]) -> int:
    """Product of integers, with the dtypes and the result of :func:`exact_sums`."""
    work = np.empty(longest(block), np.uint64), np.empty(longest(block), np.bool_)
    values, missing, unsigned = _whole(block, np.uint64)
    return int(
        multiply_integers(values, missing, unsigned, block.start, block.end, *work, out.view(np.uint64))
    )
