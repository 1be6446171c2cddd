"""Order statistics over boxes: windows along several axes of an image or a volume.

::

    image     a b c d        boxes of 2 x 2 in the first two rows      a e b f c g d h
              e f g h        are windows of four values over the       [-----]
              i j k l        columns laid end to end, two apart            [-----]
                                                                               [-----]
"""

from collections.abc import Iterator, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from rollstat import thresholds
from rollstat.edges import extended, extended_ends
from rollstat.engine import Call, WholeCall
from rollstat.explanation import Step
from rollstat.options import Options
from rollstat.plan import Choice, MakeComputation, Output
from rollstat.statistics.boxes.boxes import Box, box_call
from rollstat.statistics.boxes.images import boxes_of, choose
from rollstat.statistics.selection.computation import OrderStatistic, OrderStatistics

# Values that are laid end to end at a time.
_VALUES_AT_ONCE = 1 << 21


def extended_box(box: Box, inside: bool) -> tuple[Any, list[int]]:
    """Return the array with the axes of the box last and extended, and the width of boxes over it.

    A first axis of one element leaves an axis beside those of the box. The array is masked where there is no
    observation. With `inside`, only boxes that lie inside the array are wanted, and it is not extended.
    """
    observed = box.observed
    values: Any = box.array if observed is None else np.ma.MaskedArray(box.array, ~observed)
    values = np.moveaxis(values[None], [1 + axis for axis in box.axes], range(-len(box.axes), 0))
    widths = []
    for i, (before, after) in enumerate(zip(box.before, box.after)):
        axis = values.ndim - len(box.axes) + i
        length = values.shape[axis]
        if box.extension == "cut" and not inside:  # rows beyond the edges hold nothing, however many
            before, after = min(before, length), min(after, length)
        widths.append(before + 1 + after)
        if inside or not length:
            continue
        cut = box.extension == "cut"
        values, outside = (np.ma.MaskedArray(values), np.ma.masked) if cut else (values, box.outside)
        ends = extended_ends(length, before, after, box.extension)
        values = extended(values, axis, ends, outside)
    return values, widths


def _strips(values: Any, widths: Sequence[int]) -> Iterator[Any]:
    """Yield arrays of some lines each, in which the columns of boxes are laid end to end.

    There is a line for each place of boxes along all axes but the last, in C order.
    """
    axes = tuple(range(values.ndim - len(widths), values.ndim - 1))
    arrays = [np.ma.getdata(values)]
    if isinstance(values, np.ma.MaskedArray):
        arrays.append(np.ma.getmaskarray(values))
    views = [sliding_window_view(array, tuple(widths[:-1]), axis=axes) for array in arrays]
    shape, length = views[0].shape[: values.ndim - 1], values.shape[-1] * prod(widths[:-1])
    at_once = max(_VALUES_AT_ONCE // length, 1)
    for first in range(0, prod(shape), at_once):
        places = np.unravel_index(np.arange(first, min(first + at_once, prod(shape))), shape)
        parts = [view[places].reshape(len(places[0]), length) for view in views]
        yield parts[0] if len(parts) == 1 else np.ma.MaskedArray(parts[0], parts[1])


def _of_lines(lines: Any, width: int, cells: int, make: MakeComputation) -> list[NDArray[Any]]:
    """Return the results of the windows of `width` values in each line that begin `cells` values apart."""
    count, length = lines.shape
    options = Options.check(min_periods=1, fill_value=0 if lines.dtype.kind in "iub" else None)
    as_rows = width <= thresholds.BOX_AS_ROWS
    start = np.arange(0, length - width + 1, cells) + np.arange(0, count * length, length)[:, None]
    window = width if as_rows else (start.ravel(), start.ravel() + width)
    found = Call([lines.reshape(-1)], window, make, options).run()
    results = [np.ma.getdata(each) for each in (found if isinstance(found, tuple) else (found,))]
    if as_rows:
        return [each.reshape(count, length)[:, width - 1 :: cells] for each in results]
    return [each.reshape(start.shape) for each in results]


def box_order_statistics(
    arr: ArrayLike, window: Any, requests: Sequence[OrderStatistic], one: bool, options: dict[str, Any]
) -> WholeCall:
    """Return the call of order statistics of each box.

    Parameters
    ----------
    arr : array_like, shape (..., n, ...)
        Image, volume or array of more dimensions.
    window : tuple of int
        Rows of the box along each axis of ``options["axis"]``.
    requests : sequence of OrderStatistic
        The order statistics.
    one : bool
        Whether there is one request, whose result is returned without a first axis.
    options : dict
        The options given; those that concern a window along one axis do not apply.

    Returns
    -------
    WholeCall
        Returns the order statistics, stacked along a new first axis unless there is only `one`.
    """
    box = Box.check(arr, window, options)
    least = max(box.min_periods, *(request.required for request in requests))
    inside = box.extension == "cut" and (box.mode == "valid" or least >= box.cells)
    choice = choose(box, requests, inside)
    step = Step(choice.name, "all", choice.reason, choice.at_run_time, rows=box.array.size)
    outputs = [Output(request.kind(), request.required) for request in requests]
    found = partial(_found, requests=requests, inside=inside, choice=choice)
    return box_call(box, step, outputs, found, stack=not one)


def _found(box: Box, requests: Sequence[OrderStatistic], inside: bool, choice: Choice) -> list[NDArray[Any]]:
    """Return the order statistics of each box; anything where a box has too few observations."""
    everything = boxes_of(choice, box, requests, inside)
    results = []
    for found in _by_strips(box, requests, inside) if everything is None else everything:
        if not box.axes_last:
            found = np.moveaxis(found, range(-len(box.axes), 0), box.axes)
        if inside and box.mode != "valid":
            everywhere = np.zeros(box.array.shape, found.dtype)
            everywhere[box.inside()] = found
            found = everywhere
        results.append(found)
    return results


def _by_strips(box: Box, requests: Sequence[OrderStatistic], inside: bool) -> list[NDArray[Any]]:
    """Return the order statistics of each box from columns laid end to end, the axes of the box last."""
    values, widths = extended_box(box, inside)
    leading = values.ndim - len(widths)
    sizes = [max(n - w + 1, 0) for n, w in zip(values.shape[leading:], widths)]
    shape = (*values.shape[1:leading], *sizes)
    if not prod(shape):
        return [np.zeros(shape, box.array.dtype) for _ in requests]
    make = partial(OrderStatistics, requests=tuple(requests), algorithm="auto")
    step = prod(widths[:-1])
    parts = [_of_lines(lines, step * widths[-1], step, make) for lines in _strips(values, widths)]
    return [np.concatenate(found).reshape(shape) for found in zip(*parts)]
