"""Order statistics of boxes over rows and columns of images, in which no value is missing.

::

    image     a b c d        boxes of 2 x 2, as rows of lanes:    a b c d    lane j has the boxes whose
              e f g h                                             e f g h    first column is column j
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.blocks import Point, read_only
from rollstat.compile.simd.vectors import aligned_empty, lanes_in
from rollstat.dtypes import is_large, plain
from rollstat.edges import extended_rows
from rollstat.kernels.selection.selection_network import Edges, LaneScratch, run_box_network
from rollstat.plan import Choice
from rollstat.statistics.boxes.boxes import Box
from rollstat.statistics.selection.computation import Kth, Quantile
from rollstat.statistics.selection.networks import box_network
from rollstat.statistics.selection.small_window import outputs_of

_ROW_BYTES = 1024  # of lanes: with fewer, each instruction has more overhead; more exceed the cache

# Most rows of a box, and how many boxes below one another share comparisons.
_SHARING = ((6, 2), (10, 4), (2**63, 8))


def choose(box: Box, requests: Sequence[Kth | Quantile], inside: bool) -> Choice:
    """Return the algorithm for order statistics of boxes, and why.

    With `inside`, only boxes that lie inside the array are wanted.
    """
    if len(box.axes) != 2:
        return Choice("strips", f"a box over {len(box.axes)} axes, as a window over columns laid end to end")
    if box.extension == "cut" and not inside:
        return Choice("strips", "boxes end at the edges of the array")
    if box.array.dtype.kind not in "fiu" and any(each.point(box.cells).between for each in requests):
        return Choice("strips", "points between times or truth values are wanted")
    if box.cells > thresholds.BOX_NETWORK:
        return Choice("strips", f"a box of more than {thresholds.BOX_NETWORK} elements")
    at_run_time = (("strips", "a value is missing, or float64 does not hold the integers"),)
    return Choice("box_network", f"a box of at most {thresholds.BOX_NETWORK} elements", at_run_time)


def boxes_of(
    choice: Choice, box: Box, requests: Sequence[Kth | Quantile], inside: bool
) -> list[NDArray[Any]] | None:
    """Return order statistics of every box, the two axes of which come last; None if values prevent it."""
    values = box.array
    points = tuple(request.point(box.cells) for request in requests)
    between = any(point.between for point in points)
    if choice.name == "strips" or box.observed is not None:
        return None
    if any(request.kind() == "interpolated" for request in requests) and is_large(values):
        return None
    images = np.moveaxis(values, box.axes, (-2, -1))
    leading, shape = images.shape[:-2], images.shape[-2:]
    images = read_only(plain(images).reshape(prod(leading), *shape))
    widths = [before + 1 + after for before, after in zip(box.before, box.after)]
    beyond = [(0, 0) if inside or not n else each for n, each in zip(shape, zip(box.before, box.after))]
    row, column = (extended_rows(length, *each, box.extension) for length, each in zip(shape, beyond))
    edges = Edges(row, column, beyond[1][0], plain(np.full(1, box.outside, values.dtype))[0])
    rows, columns = (max(len(each) - width + 1, 0) for each, width in zip((row, column), widths))
    computed = np.dtype(np.float64) if between and values.dtype.kind != "f" else images.dtype
    found = np.empty((len(images), len(points), rows, columns), computed)
    for image, results in zip(images, found if rows and columns else ()):
        _by_network(image, edges, (widths[0], widths[1]), points, results)
    found = found if between else found.view(values.dtype.newbyteorder("="))
    return [found[:, i].reshape(*leading, rows, columns) for i in range(len(points))]


def _by_network(
    image: NDArray[Any], edges: Edges, widths: tuple[int, int], points: tuple[Point, ...], found: NDArray[Any]
) -> None:
    """Write points of all boxes of an extended image to `found`, of shape (points, rows, columns)."""
    ranges, outputs, fractions = outputs_of(points)
    sharing = next(boxes for most, boxes in _SHARING if widths[0] <= most)
    network = box_network(*widths, ranges, sharing)
    vector = lanes_in(image.dtype)
    lanes = -(-min(_ROW_BYTES // image.itemsize, found.shape[2]) // vector) * vector
    stride = lanes + (network.reach // vector + 2) * vector
    work = aligned_empty(network.rows * stride, image.dtype)
    scratch = LaneScratch(work, work[:0], lanes, stride)
    run_box_network(image, edges, network, scratch, np.array(outputs), fractions, found)
