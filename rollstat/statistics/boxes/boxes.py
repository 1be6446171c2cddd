"""Boxes (windows along several axes of an image or a volume), and extrema over boxes.

::

    mode="constant", fill_value=0      0 0 0 0      elements beyond the edges are observations
    box of 2 x 2                       0 3 2 .
                                       0 1 . .
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat.blocks import read_only
from rollstat.dtypes import (
    check_array,
    missing_value,
    plain,
    reject_missing,
    result_dtype,
    union_mask,
)
from rollstat.edges import EXTENSIONS, beyond_edges, extended, extended_ends, extended_rows
from rollstat.engine import Call, WholeCall
from rollstat.explanation import Explanation, Step
from rollstat.kernels.comparator import Greatest, Least, worst
from rollstat.kernels.missing.counting import has_nan
from rollstat.options import Options, check_flag, choice, whole_number
from rollstat.plan import Output
from rollstat.results import check_out, convert
from rollstat.statistics.boxes.separable import box_extremum
from rollstat.statistics.extrema.computation import ExtremaOf

_FOR_ONE_AXIS = (
    "closed",
    "step",
    "times",
    "segments",
    "at",
    "at_segments",
    "equal_times",
    "threads",
    "algorithm",
)


def _shortened(
    lines: NDArray[np.int64], before: int, after: int, extension: str
) -> tuple[int, int, NDArray[np.int64] | int]:
    """Return a shorter reach of windows along the first axis, and what the rows left out add to a count.

    Windows may be much longer than the axis. Outside of it, the counts of its rows repeat.
    """
    length = len(lines)
    periods = {"wrap": length, "reflect": 2 * length, "mirror": max(2 * length - 2, 1)}
    if extension in periods:
        period = periods[extension]
        cycle = lines[extended_rows(length, 0, period, extension)[:period]]
        return before % period, after % period, (before // period + after // period) * cycle.sum(axis=0)
    front, back = max(before - length, 0), max(after - length, 0)
    apart = front * lines[0] + back * lines[-1] if extension == "nearest" else 0
    return before - front, after - back, apart


def _each_axis(name: str, value: Any, axes: Sequence[Any]) -> tuple[Any, ...]:
    """Return a value for each axis of a box, from one value for all of them or as many as there are."""
    if not isinstance(value, (tuple, list)):
        return (value,) * len(axes)
    if len(value) != len(axes):
        raise ValueError(f"{name} must be one value, or one for each axis of {axes}; got {value!r}")
    return tuple(value)


@dataclass(frozen=True)
class Box:
    """A checked call.

    Attributes
    ----------
    array : ndarray
        Image, volume or array of more dimensions.
    window : tuple of int
        Rows of the box along each of the axes, as given.
    mask : ndarray of bool or None
        Where an element is missing, if the array is masked.
    axes : list of int
        Axes of the box, not negative.
    before, after : list of int
        Rows of the box before and after the own one, along each of the axes.
    mode : str
        As given.
    extension : str
        How the array is extended beyond its edges; ``"cut"`` if boxes end there instead.
    outside : scalar
        The value beyond the edges if the `extension` is ``"constant"``, of the dtype of the array.
    min_periods : int
        Observations that a result needs.
    options : Options
        The checked common options.
    joined : bool
        Whether `array` is an extension of the given one, because the modes of the axes differ.
    """

    array: NDArray[Any]
    window: tuple[int, ...]
    mask: NDArray[np.bool_] | None
    axes: list[int]
    before: list[int]
    after: list[int]
    mode: str
    extension: str
    outside: Any
    min_periods: int
    options: Options
    joined: bool = False

    @classmethod
    def check(
        cls, arr: ArrayLike, window: Any, options: dict[str, Any], extensions: Sequence[str] = EXTENSIONS
    ) -> "Box":
        """Return the checked call, or raise."""
        array = check_array("arr", arr)
        axis, modes = options["axis"], _each_axis("mode", options.get("mode", "same"), options["axis"])
        centers = _each_axis("center", options.get("center", False), axis)
        for mode in modes:
            choice("mode", mode, ("same", "valid", *extensions) if len({*modes}) == 1 else tuple(extensions))
        checked = Options.check(**{**options, "axis": -1, "mode": "same", "center": False})
        for name in _FOR_ONE_AXIS:
            value = options.get(name)
            if not (value is None or (np.ndim(value) == 0 and value in (1, "auto", "past"))):
                raise ValueError(f"{name} does not apply to a box; got {value!r}")
        if not isinstance(window, tuple) or not axis or len(window) != len(axis):
            raise ValueError(f"window must be a tuple with one entry for each axis of {axis}; got {window!r}")
        rows = [whole_number("window", width, 1) for width in window]
        axes = [whole_number("axis", a, -array.ndim) for a in axis]
        if max(axes) >= array.ndim or len({a % array.ndim for a in axes}) < len(axes):
            raise ValueError(f"axis must hold different axes of {array.ndim} dimensions; got {axis}")
        cells = prod(rows)
        if cells >= 2**63:
            raise ValueError(f"window must be a box of fewer than 2**63 elements; got {window!r}")
        min_periods = cells if checked.min_periods is None else checked.min_periods
        if min_periods > cells:
            raise ValueError(f"min_periods must be at most the box, {cells}; got {min_periods}")
        centered = [check_flag("center", center) for center in centers]
        after = [(width - 1) // 2 if center else 0 for width, center in zip(rows, centered)]
        before = [width - 1 - rows_after for width, rows_after in zip(rows, after)]
        axes = [a % array.ndim for a in axes]
        mask, mode = union_mask([arr], [array]), modes[0]
        extension, outside = beyond_edges(mode, array.dtype, checked.fill_value)
        if len({*modes}) > 1:  # then boxes lie inside of an array that is extended
            for a, reach, each in zip(axes, zip(before, after), modes):
                ends = extended_ends(array.shape[a], *reach, each)
                _, beyond = beyond_edges(each, array.dtype, checked.fill_value)
                array = extended(array, a, ends, beyond)
                mask = None if mask is None else extended(mask, a, ends, False)
            mode, extension = "valid", "cut"
        joined = len({*modes}) > 1
        return cls(
            array, window, mask, axes, before, after, mode, extension, outside, min_periods, checked, joined
        )

    @property
    def widths(self) -> list[int]:
        """Rows of a box along each of its axes."""
        return [before + 1 + after for before, after in zip(self.before, self.after)]

    @property
    def axes_last(self) -> bool:
        """Whether the axes of the box are the last ones, in order."""
        return self.axes == [*range(self.array.ndim - len(self.axes), self.array.ndim)]

    @property
    def cells(self) -> int:
        """Elements of a box."""
        return prod(self.widths)

    def dtype(self, kind: str) -> np.dtype[Any]:
        """Return the dtype of a result of this kind: integers stay integers where none can be missing."""
        replaced = self.mask is not None or self.options.fill_value is not None
        return result_dtype(kind, self.array.dtype.newbyteorder("="), replaced or self.mode != "same")

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the result."""
        return tuple(len(range(n)[kept]) for n, kept in zip(self.array.shape, self.kept()))

    @cached_property
    def observed(self) -> NDArray[np.bool_] | None:
        """Where there is an observation; None if everywhere."""
        kind, missing = self.array.dtype.kind, self.mask
        if missing is None and kind == "f" and not has_nan(read_only(plain(self.array).reshape(-1))):
            return None
        if missing is None and kind in "fmM":
            missing = np.isnan(self.array) if kind == "f" else np.isnat(self.array)
        return None if missing is None or not missing.any() else ~missing

    def count(self, cells: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the number of true cells in each box, none of which lies outside of the array.

        Differences of running integer sums are exact.
        """
        counts = cells.astype(np.int64)
        if not counts.size:
            return counts
        for axis, before, after in zip(self.axes, self.before, self.after):
            lines = np.moveaxis(counts, axis, 0)
            before, after, apart = _shortened(lines, before, after, self.extension)
            source = extended_rows(len(lines), before, after, self.extension)
            extended = lines[source]
            extended[source < 0] = 0
            total = np.concatenate([np.zeros((1, *lines.shape[1:]), np.int64), extended.cumsum(axis=0)])
            width = before + 1 + after
            counts = np.moveaxis(total[width:] - total[:-width] + apart, 0, axis)
        return counts

    def sizes(self) -> NDArray[np.int64]:
        """Return the number of elements inside of the array in each box, in a shape that broadcasts."""
        sizes: Any = np.ones((1,) * self.array.ndim, np.int64)
        for axis, before, after in zip(self.axes, self.before, self.after):
            place = np.arange(length := self.array.shape[axis])
            along = np.minimum(place + after, length - 1) - np.maximum(place - before, 0) + 1
            sizes = sizes * along.reshape([-1 if a == axis else 1 for a in range(self.array.ndim)])
        return np.asarray(sizes)

    def insufficient(self, required: int) -> NDArray[np.bool_] | None:
        """Return which boxes have too few observations, or fewer than `required`; None if no box can have."""
        observed, least = self.observed, max(self.min_periods, required)
        cut = self.extension == "cut"
        if observed is None and (self.mode == "valid" or not cut or least <= 1):
            return None
        missing = 0 if observed is None else self.count(~observed)
        insufficient = np.broadcast_to(
            (self.sizes() if cut else self.cells) - missing < least, self.array.shape
        )
        if self.options.nan_policy == "propagate":
            insufficient = insufficient | (missing > 0)
        return insufficient[self.kept()]

    def inside(self) -> tuple[slice, ...]:
        """Return the slices of the boxes that lie entirely inside the array."""
        kept = [slice(None)] * self.array.ndim
        for axis, before, after in zip(self.axes, self.before, self.after):
            kept[axis] = slice(before, max(self.array.shape[axis] - after, before))
        return tuple(kept)

    def kept(self) -> tuple[slice, ...]:
        """Return the slices of the boxes to keep: with ``mode="valid"`` those entirely inside the array."""
        return self.inside() if self.mode == "valid" else (slice(None),) * self.array.ndim


def box_call(
    box: Box,
    step: Step,
    outputs: Sequence[Output],
    find: Callable[[Box], list[NDArray[Any]]],
    stack: bool = False,
) -> WholeCall:
    """Return a call, whose options that concern results are checked.

    Parameters
    ----------
    box : Box
        The checked box.
    step : Step
        How it is computed, for an explanation.
    outputs : sequence of Output
        The results, all of one dtype.
    find : callable
        Returns an array of its own for each result: values for the boxes of :meth:`Box.kept`, or anything
        where a box has too few observations.
    stack : bool
        Whether the results share one array with a new first axis.

    Returns
    -------
    WholeCall
        Returns the results, several as a tuple unless they are stacked.
    """
    options = box.options
    if options.nan_policy == "raise":
        reject_missing([box.array], box.mask)
    dtypes = [box.dtype(output.kind) for output in outputs]
    fills = [missing_value(each.kind, dtype, options.fill_value) for each, dtype in zip(outputs, dtypes)]

    def describe(statistic: str) -> Explanation:
        size, given = box.array.size, box.array.dtype
        both = tuple(dtypes), tuple(dtypes)
        return Explanation(statistic, "box", box.window, box.min_periods, size, 1, (step,), 1, given, *both)

    def compute(box: Box, whole: Any) -> Any:
        results: Any = check_out(whole, [box.shape] * len(outputs), dtypes, stack)
        if whole is None and stack:
            results = whole = np.empty((len(outputs), *box.shape), dtypes[0])
        results, masks = _write(box, outputs, find(box), results, dtypes, fills)
        if box.mask is not None:
            all_masks = [np.zeros(box.shape, np.bool_) if mask is None else mask for mask in masks]
            whole = np.ma.MaskedArray(whole, np.stack(all_masks)) if stack else whole
            results = [np.ma.MaskedArray(result, np.array(mask)) for result, mask in zip(results, all_masks)]
        if stack:
            return whole
        return results[0] if len(outputs) == 1 else tuple(results)

    check_out(options.out, [box.shape] * len(outputs), dtypes, stack)
    # What is kept for other arrays holds no array of the caller.
    empty = replace(box, array=np.broadcast_to(np.empty((), box.array.dtype), box.array.shape))
    empty = replace(empty, options=options._replace(out=None))
    over = None if box.joined else lambda array, out: compute(replace(empty, array=array), out)
    return WholeCall(lambda: compute(box, options.out), describe, over)


def _write(
    box: Box,
    outputs: Sequence[Output],
    found: list[NDArray[Any]],
    targets: Sequence[NDArray[Any]],
    dtypes: Sequence[np.dtype[Any]],
    fills: Sequence[Any],
) -> tuple[Any, list[NDArray[np.bool_] | None]]:
    """Write what was found to the targets, if any; return the results, and where any are missing."""
    results: list[NDArray[Any]] = []
    masks: list[NDArray[np.bool_] | None] = []
    for output, values, dtype in zip(outputs, found, dtypes, strict=True):
        insufficient = box.insufficient(output.required)
        masks.append(insufficient)
        if insufficient is not None:
            values[insufficient] = np.zeros((), values.dtype)
        results.append(values if values.dtype == dtype else np.empty(box.shape, dtype))
        if results[-1] is not values:
            convert(values, results[-1])  # may raise, so nothing is written to the targets before
        if insufficient is not None:
            results[-1][insufficient] = fills[len(results) - 1]
    for result, target in zip(results, targets):
        target[...] = result
    return targets if len(targets) else [*map(np.ascontiguousarray, results)], masks


def box_extrema(
    arr: ArrayLike,
    window: Any,
    names: Sequence[str],
    options: dict[str, Any],
    last: bool = False,
    opposite: bool = False,
) -> WholeCall:
    """Return the call of the minimum, the maximum or both of each box, or their positions.

    Parameters
    ----------
    arr : array_like, shape (..., n, ...)
        Image, volume or array of more dimensions.
    window : tuple of int
        Rows of the box along each axis of ``options["axis"]``.
    names : sequence of {"min", "max"} or of {"argmin", "argmax"}
        The extrema or the positions to compute.
    options : dict
        The options given; those that concern a window along one axis do not apply.
    last : bool
        Whether the position of equal values is the last of them.
    opposite : bool
        Whether the rule for the position of the maximum is the opposite one.

    Returns
    -------
    WholeCall
        Returns one array for each of `names`, several as a tuple.
    """
    positions = names[0].startswith("arg")
    # An element beyond the edges has no position.
    box = Box.check(arr, window, options, () if positions else EXTENSIONS)
    lasts = last, last != opposite

    def find(box: Box) -> list[NDArray[Any]]:
        if positions:
            return [_position(box, name, rule) for name, rule in zip(names, lasts)]
        return [_extremum(box, name) for name in names]

    step = Step("separable", "all", "a box is a window along one axis after the other", rows=box.array.size)
    return box_call(box, step, [Output("position" if positions else "value")] * len(names), find)


def _extremum(box: Box, name: str) -> NDArray[Any]:
    """Return the minimum or maximum of every box."""
    order = Least() if name == "min" else Greatest()
    values, observed = plain(box.array), box.observed
    sentinel = worst(order, values.dtype)
    if observed is not None:
        values = np.where(observed, values, sentinel)
    outside = sentinel if box.extension == "cut" else plain(np.full(1, box.outside, box.array.dtype))[0]
    most = [2 * box.array.shape[axis] for axis in box.axes]  # rows further away are seen already
    before, after = list(map(min, box.before, most)), list(map(min, box.after, most))
    best = box_extremum(order, values, box.axes, before, after, box.extension, outside)[box.kept()]
    return best.view(box.array.dtype.newbyteorder("=")) if box.array.dtype.kind in "mMb" else best


def _position(box: Box, name: str, last: bool) -> NDArray[np.int64]:
    """Return where the minimum or maximum of every box is in the flattened axes.

    A pass along each axis, from the last on, finds the best of the bests of the axes after it.
    """
    observed, make = box.observed, partial(ExtremaOf, names=(name,), last=last)
    best = plain(box.array)
    missing = np.zeros(best.shape, np.bool_) if observed is None else ~observed
    place, elements = np.zeros(best.shape, np.int64), 1
    for axis, before, after in zip(box.axes[::-1], box.before[::-1], box.after[::-1]):
        options = Options.check(axis=axis, center=after > 0, min_periods=1)
        masked = best if observed is None else np.ma.MaskedArray(best, missing)
        row = np.ma.getdata(Call([masked], before + 1 + after, make, options).run())
        missing, row = row < 0, np.maximum(row, 0)
        best, place = (np.take_along_axis(each, row, axis) for each in (best, place))
        place += elements * row
        elements *= box.array.shape[axis]
    return place[box.kept()]
