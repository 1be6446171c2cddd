"""Order statistics of boxes over rows and columns of images, in which no value is missing.

::

    image    a b c d      small boxes: rows of lanes,    a b c d      other boxes: tiles, which overlap,
             e f g h      lane j has the boxes whose     e f g h      with the boxes inside of them
             i j k l      first column is column j       i j k l
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds, tiers
from rollstat.blocks import Point, read_only
from rollstat.compile.simd.register_networks import AT_RANK
from rollstat.compile.simd.vectors import aligned_empty, lanes_in
from rollstat.dtypes import is_large, plain
from rollstat.edges import extended_rows
from rollstat.kernels.selection import rank_bins
from rollstat.kernels.selection.extended_image import Edges, copy_part
from rollstat.kernels.selection.selection_network import LaneScratch, run_box_in_registers, run_box_network
from rollstat.plan import Choice
from rollstat.sorting import order
from rollstat.statistics.boxes.boxes import Box
from rollstat.statistics.selection import small_window
from rollstat.statistics.selection.computation import OrderStatistic
from rollstat.statistics.selection.networks import box_network, register_network
from rollstat.statistics.selection.ranking import write_point
from rollstat.statistics.selection.small_window import outputs_of

_ROW_BYTES = 1024  # of lanes: with fewer, each instruction has more overhead; more exceed the cache

# Most rows of a box, and how many boxes below one another share comparisons.
_SHARING = ((6, 2), (10, 4), (2**63, 8))

_SHARING_IN_REGISTERS = ((3, 2), (8, 4), (2**63, 8))
_SECONDS_A_BYTE = 2e-11  # of each element of a box, that a compiled network saves, about

_SHORTEST_SIDE = 32  # of a tile
_rows = lru_cache(maxsize=16)(extended_rows)  # many images have the same size
_NO_PIXELS = np.empty((0, 0), np.int64)


def choose(box: Box, requests: Sequence[OrderStatistic], inside: bool) -> Choice:
    """Return the algorithm for order statistics of boxes, and why.

    With `inside`, only boxes that lie inside the array are wanted.
    """
    if len(box.axes) != 2:
        return Choice("strips", f"a box over {len(box.axes)} axes, as a window over columns laid end to end")
    if box.extension == "cut" and not inside:
        return Choice("strips", "boxes end at the edges of the array")
    if box.array.dtype.kind not in "fiu" and any(each.point(box.cells).between for each in requests):
        return Choice("strips", "points between times or truth values are wanted")
    at_run_time = (("strips", "a value is missing, or float64 does not hold the integers"),)
    widest = small_window.widest(box.cells, box.array.size, box.array.dtype)
    most = min(widest, thresholds.BOX_NETWORK[box.array.itemsize])
    if box.cells <= most:
        return Choice("box_network", f"a box of at most {most} elements", at_run_time)
    if prod(map(_side, box.widths)) > rank_bins.MOST_PIXELS:
        return Choice("strips", f"a tile around a box has more than {rank_bins.MOST_PIXELS} elements")
    return Choice("box_bins", f"a box of more than {most} elements", at_run_time)


def _side(width: int) -> int:
    """Return the length of a tile for boxes of this width, measured; coordinates up to 254 are bytes."""
    return max(_SHORTEST_SIDE, min(4 * width, 160), min(5 * width // 2, 255), 2 * width)


def boxes_of(
    choice: Choice, box: Box, requests: Sequence[OrderStatistic], inside: bool
) -> list[NDArray[Any]] | None:
    """Return order statistics of every box, the two axes of which come last; None if values prevent it."""
    values = box.array
    points = tuple(request.point(box.cells) for request in requests)
    between = any(point.between for point in points)
    if choice.name == "strips" or box.observed is not None:
        return None
    if any(request.kind() == "interpolated" for request in requests) and is_large(values):
        return None
    images = values if box.axes_last else np.moveaxis(values, box.axes, (-2, -1))
    leading, shape = images.shape[:-2], images.shape[-2:]
    images = read_only(plain(images).reshape(prod(leading), *shape))
    beyond = [(0, 0) if inside or not n else each for n, each in zip(shape, zip(box.before, box.after))]
    row, column = (_rows(length, *each, box.extension) for length, each in zip(shape, beyond))
    edges = Edges(row, column, beyond[1][0], plain(np.full(1, box.outside, values.dtype))[0])
    rows, columns = (max(len(each) - width + 1, 0) for each, width in zip((row, column), box.widths))
    computed = np.dtype(np.float64) if between and values.dtype.kind != "f" else images.dtype
    found = np.empty((len(images), len(points), rows, columns), computed)
    write = _by_network if choice.name == "box_network" else _by_bins
    for image, results in zip(images, found if rows and columns else ()):
        write(image, edges, box.widths, points, results)
    found = found if between else found.view(values.dtype.newbyteorder("="))
    return [found[:, i].reshape(*leading, rows, columns) for i in range(len(points))]


def _by_network(
    image: NDArray[Any], edges: Edges, widths: Sequence[int], points: tuple[Point, ...], found: NDArray[Any]
) -> None:
    """Write points of all boxes of an extended image to `found`, of shape (points, rows, columns)."""
    ranges, outputs, fractions = outputs_of(points)
    if _in_registers(image, edges, widths, (ranges, outputs), found):
        return
    sharing = next(boxes for most, boxes in _SHARING if widths[0] <= most)
    network = box_network(widths[0], widths[1], ranges, sharing)
    vector = lanes_in(image.dtype)
    lanes = -(-min(_ROW_BYTES // image.itemsize, found.shape[2]) // vector) * vector
    stride = lanes + (network.reach // vector + 2) * vector
    work = aligned_empty(network.rows * stride, image.dtype)
    scratch = LaneScratch(work, work[:0], lanes, stride)
    run_box_network(image, edges, network, scratch, np.array(outputs), fractions, found)


def _in_registers(
    image: NDArray[Any], edges: Edges, widths: Sequence[int], wanted: tuple[Any, Any], found: NDArray[Any]
) -> bool:
    """Write ranks by a network that is compiled into the loop; return whether to compile it pays."""
    rows, columns = found.shape[1:]
    block = next(boxes for most, boxes in _SHARING_IN_REGISTERS if widths[0] <= most)
    if rows * columns < thresholds.COMPILED_NETWORK_ROWS or prod(widths) > thresholds.COMPILED_NETWORK:
        return False
    if columns < lanes_in(image.dtype) or rows < block or any(kind != AT_RANK for _, kind in wanted[1]):
        return False
    network = register_network(widths[0], *wanted, block, small_window.MOST_COMPARISONS, widths[1])
    if network is None or found.dtype != image.dtype:
        return False
    seconds = _SECONDS_A_BYTE * prod(widths) * rows * columns * image.itemsize
    if not tiers.pays(run_box_in_registers, (network.name, image.dtype.char), seconds):
        return False
    stride = len(edges.columns)
    work = np.empty((block + widths[0] - 1) * stride, image.dtype)
    out = found.reshape(len(found), -1)
    run_box_in_registers(network, block, image, edges, work, stride, columns, out)
    return True


def _by_bins(
    image: NDArray[Any], edges: Edges, widths: Sequence[int], points: tuple[Point, ...], found: NDArray[Any]
) -> None:
    """Do what :func:`_by_network` does, tile by tile."""
    ends = len(edges.rows), len(edges.columns)
    sides = [min(_side(width), end) for width, end in zip(widths, ends)]
    starts = [range(0, end - width + 1, side - width + 1) for end, width, side in zip(ends, widths, sides)]
    tile = rank_bins.create(*sides)
    for top, left in product(*starts):
        shape = min(sides[0], ends[0] - top), min(sides[1], ends[1] - left)
        values = np.empty(shape, image.dtype)
        copy_part(image, edges, top, left, values)
        values = values.reshape(-1)
        pixels = order(values)
        rank_bins.fill(pixels, shape[1], tile)
        boxes = shape[0] - widths[0] + 1, shape[1] - widths[1] + 1
        for point, result in zip(points, found):
            part = result[top : top + boxes[0], left : left + boxes[1]]
            lower = np.empty(boxes, np.int64)
            upper = np.empty(boxes, np.int64) if point.between else _NO_PIXELS
            rank_bins.select(pixels, tile, widths[0], widths[1], point.rank, lower, upper)
            below, above = values.take(lower, mode="clip"), values.take(upper, mode="clip")
            if point.between:
                between = np.empty(below.size, found.dtype)
                write_point(point, below.reshape(-1), above.reshape(-1), between)
                below = between.reshape(boxes)
            part[...] = below
