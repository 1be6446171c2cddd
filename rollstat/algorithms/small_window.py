"""Selection in small windows of constant width by selection networks over tiles of windows."""

import numpy as np

from rollstat.blocks import Block, Selection
from rollstat.kernels.lanes import VECTOR_BYTES
from rollstat.kernels.selection_network import select_in_tiles
from rollstat.kernels.small_window import pick, replace_missing
from rollstat.networks import selection_network

__all__ = ["LARGEST_WIDTH", "block_rows", "select", "serves"]

LARGEST_WIDTH = 256
"""Widest window served: networks grow with m log^2 m, and so does the time to build them."""

_ROW_BYTES = 1024  # lanes of a group: fewer cost more overhead an instruction, more fall out of the cache
_RANKS_AT_ONCE = 4


def serves(block: Block, request: Selection) -> bool:
    """Whether :func:`select` can answer the request: windows of constant, small width; no positions."""
    return 0 < block.width <= LARGEST_WIDTH and request.position is None


def block_rows(width: int) -> int:
    """Rows a block that suit windows of `width` values: whole groups of tiles, results still in cache."""
    return 1 << 16


def select(block: Block, request: Selection) -> None:
    """Answer the request, see :class:`rollstat.blocks.Selection`."""
    if not serves(block, request):
        raise ValueError(
            f"small_window serves windows of constant width, 1 to {LARGEST_WIDTH} values, without positions"
        )
    if block.rows == 0:
        return
    if block.missing is None and request.constant is not None:
        _select_constant(block, request)
    else:
        for i in range(len(request.rank)):
            _select_varying(block, request, i)


def _tile(width, rows):
    """Windows that share their work: more save comparisons, but need more rows of scratch."""
    largest = 4 if width < 13 else 8 if width < 32 else 16 if width < 64 else 32
    while largest > width or (largest > 1 and largest > rows):
        largest //= 2
    return largest


def _scratch(size, dtype):
    """An array of zeros that starts on a vector's boundary."""
    spare = VECTOR_BYTES // dtype.itemsize
    array = np.zeros(size + spare, dtype)
    return array[-array.ctypes.data % VECTOR_BYTES // dtype.itemsize :]


def _find(values, width, ranges, targets):
    """Write ranks of every window of `values`, one after the other, into the rows of `targets`."""
    rows = targets.shape[1]
    network = selection_network(width, ranges, _tile(width, rows))
    vector_lanes = VECTOR_BYTES // values.itemsize
    tiles = -(-rows // network.tile)
    lanes = min(_ROW_BYTES // values.itemsize, -(-tiles // vector_lanes) * vector_lanes)
    stride = lanes + (network.reach // vector_lanes + 2) * vector_lanes
    work = _scratch(network.rows * stride, values.dtype)
    values = values.view()
    values.flags.writeable = False  # one compiled version, not two
    select_in_tiles(
        values,
        network.instructions,
        network.results,
        network.reach,
        lanes,
        vector_lanes,
        work,
        stride,
        targets,
    )


def _select_constant(block, request):
    """Without missing values: the ranks of all requests in one pass."""
    last = block.width - 1
    upper = request.upper is not None
    ranges = tuple((rank, min(rank + upper, last)) for rank in request.constant)
    if not upper and request.lower.flags.c_contiguous:
        _find(block.values, block.width, ranges, request.lower)
        return
    found = np.empty((sum(high + 1 - low for low, high in ranges), block.rows), block.values.dtype)
    _find(block.values, block.width, ranges, found)
    position = 0
    for i, (low, high) in enumerate(ranges):
        request.lower[i] = found[position]
        if high > low:
            request.upper[i] = found[position + 1]
        position += high + 1 - low


def _select_varying(block, request, i):
    """With a rank a row, or with missing values: find every rank that occurs, then pick by row."""
    rank = request.rank[i]
    wanted = np.flatnonzero(rank >= 0)
    if len(wanted) == 0:
        return
    keys = block.values
    if block.missing is not None:
        dtype = block.values.dtype
        limits = (-np.inf, np.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        keys, below = np.empty_like(block.values), np.empty(block.rows, np.int64)
        share = _share(rank[wanted], block.count[wanted])
        replace_missing(
            block.values, block.missing, block.width, share, *map(dtype.type, limits), keys, below
        )
        rank = np.where(rank >= 0, rank + below, -1)
    last, top = block.width - 1, int(rank.max())
    upper = request.upper is not None
    for low in range(int(rank[wanted].min()), top + 1, _RANKS_AT_ONCE):
        high = min(low + _RANKS_AT_ONCE - 1, top)
        found = np.empty((min(high + upper, last) - low + 1, block.rows), keys.dtype)
        _find(keys, block.width, ((low, low + len(found) - 1),), found)
        pick(found, low, high, rank, request.lower[i])
        if upper and len(found) > 1:
            pick(found[1:], low, min(high, low + len(found) - 2), rank, request.upper[i])


def _share(rank, count):
    """Share of the missing values to put below, so that ranks differ least: the slope of rank by count."""
    fewest, most = count.argmin(), count.argmax()
    counts = int(count[most] - count[fewest])
    return (min(max(int(rank[most] - rank[fewest]), 0), counts), counts) if counts else (0, 1)
