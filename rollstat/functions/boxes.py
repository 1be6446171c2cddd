"""Extrema over boxes: windows along several axes of an image or a volume."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat.algorithms.separable import box_extremum, extended_rows
from rollstat.computations.extrema import ExtremaOf
from rollstat.dtypes import (
    check_array,
    missing_value,
    plain,
    refuse_missing,
    result_dtype,
    union_mask,
)
from rollstat.engine import Call, WholeCall
from rollstat.explain import Explanation, Step
from rollstat.kernels.simd.comparator import Greatest, Least, worst
from rollstat.options import Options, choice, whole_number
from rollstat.results import check_out, convert

__all__ = ["Box", "box_extrema"]

_EXTENSIONS = ("reflect", "nearest", "mirror", "wrap", "constant")
_FOR_ONE_AXIS = ("closed", "step", "times", "segments", "threads", "algorithm")


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
    apart: NDArray[np.int64] | int = front + back if extension == "constant" else 0
    if extension == "nearest":
        apart = front * lines[0] + back * lines[-1]
    return before - front, after - back, apart


@dataclass(frozen=True)
class Box:
    """A checked call: the array, its mask if it is masked, the axes of the box, its rows before and after.

    `kind` says what the results are, values or positions.
    """

    array: NDArray[Any]
    mask: NDArray[np.bool_] | None
    axes: list[int]
    before: list[int]
    after: list[int]
    mode: str
    min_periods: int
    options: Options
    kind: str = "value"

    @classmethod
    def check(cls, arr: ArrayLike, window: Any, options: dict[str, Any], kind: str = "value") -> "Box":
        """Return the checked call, or raise."""
        array = check_array("arr", arr)
        axis, mode = options["axis"], options.get("mode", "same")
        # An element beyond the edges has no position.
        choice("mode", mode, ("same", "valid", *(_EXTENSIONS if kind == "value" else ())))
        checked = Options.check(**{**options, "axis": -1, "mode": "same"})
        for name in _FOR_ONE_AXIS:
            value = options.get(name)
            if not (value is None or (np.ndim(value) == 0 and value in (1, "auto"))):
                raise ValueError(f"{name} does not apply to a box; it was {value!r}")
        if not isinstance(window, tuple) or not axis or len(window) != len(axis):
            raise ValueError(
                f"window must be a tuple with one entry for each axis of {axis}; it was {window!r}"
            )
        rows = [whole_number("window", width, 1) for width in window]
        axes = [whole_number("axis", a, -array.ndim) for a in axis]
        if max(axes) >= array.ndim or len({a % array.ndim for a in axes}) < len(axes):
            raise ValueError(f"axis must hold different axes of {array.ndim} dimensions; it was {axis}")
        cells = prod(rows)
        if cells >= 2**63:
            raise ValueError(f"window must be a box of fewer than 2**63 elements; it was {window!r}")
        min_periods = cells if checked.min_periods is None else checked.min_periods
        if min_periods > cells:
            raise ValueError(f"min_periods must be at most the box, {cells}; it was {min_periods}")
        after = [(width - 1) // 2 if checked.center else 0 for width in rows]
        before = [width - 1 - rows_after for width, rows_after in zip(rows, after)]
        axes = [a % array.ndim for a in axes]
        return cls(array, union_mask([arr], [array]), axes, before, after, mode, min_periods, checked, kind)

    @property
    def extension(self) -> str:
        """How the array is extended beyond its edges; ``"cut"`` if boxes end there instead."""
        if self.mode == "constant" and self.fill != self.fill:  # NaN and NaT are no observations
            return "cut"
        return self.mode if self.mode in _EXTENSIONS else "cut"

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the result: for values that of the array where no result can be missing."""
        replaced = self.mask is not None or self.options.fill_value is not None
        return result_dtype(self.kind, self.array.dtype, replaced or self.mode != "same")

    @property
    def fill(self) -> Any:
        """The value of a missing result; with ``mode="constant"`` also that beyond the edges."""
        given = self.options.fill_value
        if self.mode == "constant" and given is None:
            given = np.zeros((), self.array.dtype)[()]
        return missing_value(self.kind, self.dtype, given)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the result."""
        return np.broadcast_to(False, self.array.shape)[self.whole()].shape

    def observed(self) -> NDArray[np.bool_] | None:
        """Return where there is an observation; None if everywhere."""
        kind, missing = self.array.dtype.kind, self.mask
        if missing is None and kind in "fmM":
            missing = np.isnan(self.array) if kind == "f" else np.isnat(self.array)
        return None if missing is None or not missing.any() else ~missing

    def count(self, cells: NDArray[np.bool_], extension: str) -> NDArray[np.int64]:
        """Return the number of true cells in each box; differences of running integer sums are exact."""
        counts = cells.astype(np.int64)
        if not counts.size:
            return counts
        for axis, before, after in zip(self.axes, self.before, self.after):
            lines = np.moveaxis(counts, axis, 0)
            before, after, apart = _shortened(lines, before, after, extension)
            source = extended_rows(len(lines), before, after, extension)
            extended = lines[source]
            extended[source < 0] = int(extension == "constant")
            total = np.concatenate([np.zeros((1, *lines.shape[1:]), np.int64), extended.cumsum(axis=0)])
            width = before + 1 + after
            counts = np.moveaxis(total[width:] - total[:-width] + apart, 0, axis)
        return counts

    def insufficient(self, required: int = 1) -> NDArray[np.bool_] | None:
        """Return which boxes have too few observations, or fewer than `required`; None if no box can have."""
        observed, least = self.observed(), max(self.min_periods, required)
        if observed is None and (self.mode == "valid" or self.extension != "cut" or least <= 1):
            return None
        cells = np.ones(self.array.shape, np.bool_) if observed is None else observed
        insufficient = self.count(cells, self.extension) < least
        if self.options.nan_policy == "propagate" and observed is not None:
            extension = "cut" if self.extension == "constant" else self.extension
            insufficient |= self.count(~observed, extension) > 0
        return insufficient

    def inside(self) -> tuple[slice, ...]:
        """Return the slices of the boxes that lie entirely inside the array."""
        kept = [slice(None)] * self.array.ndim
        for axis, before, after in zip(self.axes, self.before, self.after):
            kept[axis] = slice(before, max(self.array.shape[axis] - after, before))
        return tuple(kept)

    def whole(self) -> tuple[slice, ...]:
        """Return the slices of the boxes to keep: with ``mode="valid"`` those entirely inside the array."""
        return self.inside() if self.mode == "valid" else (slice(None),) * self.array.ndim

    def extremum(self, name: str, insufficient: NDArray[np.bool_] | None, fill: Any) -> NDArray[Any]:
        """Return the minimum or maximum of every box, and `fill` for those in `insufficient`."""
        order = Least() if name == "min" else Greatest()
        values, observed = plain(self.array), self.observed()
        if observed is not None:
            values = np.where(observed, values, worst(order, values.dtype))
        outside = plain(np.full(1, fill, self.array.dtype))[0] if self.mode == "constant" else 0
        most = [2 * self.array.shape[axis] for axis in self.axes]  # rows further away are seen already
        before, after = list(map(min, self.before, most)), list(map(min, self.after, most))
        best, _ = box_extremum(order, values, self.axes, before, after, self.extension, outside)
        if insufficient is not None:
            best[insufficient] = 0
        if self.array.dtype.kind in "mMb":
            best = best.view(self.array.dtype.newbyteorder("="))
        best = best[self.whole()]
        result = np.empty(best.shape, self.dtype)
        convert(best, result)
        if insufficient is not None:
            result[insufficient[self.whole()]] = fill
        return result

    def position(self, name: str, last: bool, insufficient: NDArray[np.bool_] | None, fill: Any) -> Any:
        """Return where the minimum or maximum of every box is in the flattened axes, and `fill` as above.

        A pass along each axis, from the last on, finds the best of the bests of the axes after it.
        """
        observed, make = self.observed(), partial(ExtremaOf, names=(name,), last=last)
        best = plain(self.array)
        missing = np.zeros(best.shape, np.bool_) if observed is None else ~observed
        place, elements = np.zeros(best.shape, np.int64), 1
        for axis, before, after in zip(self.axes[::-1], self.before[::-1], self.after[::-1]):
            options = Options.check(axis=axis, center=self.options.center, min_periods=1)
            masked = best if observed is None else np.ma.MaskedArray(best, missing)
            row = np.ma.getdata(Call([masked], before + 1 + after, make, options).run())
            missing, row = row < 0, np.maximum(row, 0)
            best, place = (np.take_along_axis(each, row, axis) for each in (best, place))
            place += elements * row
            elements *= self.array.shape[axis]
        if insufficient is not None:
            place[insufficient] = fill
        return place[self.whole()]


def _explained(box: Box, window: Any, outputs: int, statistic: str) -> Explanation:
    """Return the explanation of a call."""
    size, dtype = box.array.size, box.array.dtype
    steps = (Step("separable", "all", "a box is a window along one axis after the other", rows=size),)
    dtypes = (dtype,) * outputs, (box.dtype,) * outputs
    return Explanation(statistic, "box", window, box.min_periods, size, 1, steps, 1, dtype, *dtypes)


def box_extrema(
    arr: ArrayLike, window: Any, names: Sequence[str], options: dict[str, Any], last: bool = False
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
        Whether the position of equal values is the last of them; with both positions, that of the minimum.

    Returns
    -------
    WholeCall
        Returns one array for each of `names`, several as a tuple.
    """
    box = Box.check(arr, window, options, "position" if names[0].startswith("arg") else "value")
    if box.options.nan_policy == "raise":
        refuse_missing([box.array], box.mask)
    fill = box.fill
    targets = check_out(box.options.out, [box.shape] * len(names), [box.dtype] * len(names))
    return WholeCall(
        lambda: _compute(box, names, fill, targets, last),
        lambda statistic: _explained(box, window, len(names), statistic),
    )


def _compute(
    box: Box, names: Sequence[str], fill: Any, targets: Sequence[Any], last: bool
) -> NDArray[Any] | tuple[NDArray[Any], ...]:
    """Return the extrema or positions `names` of each box, in `targets` where these are not None."""
    insufficient = box.insufficient()
    if box.kind == "value":
        results = [box.extremum(name, insufficient, fill) for name in names]
    else:
        lasts = (last, last != (len(names) == 2))
        results = [box.position(name, rule, insufficient, fill) for name, rule in zip(names, lasts)]
    for i, target in enumerate(targets):
        if target is not None:
            target[...] = results[i]
            results[i] = target
    if box.mask is not None:
        mask = np.zeros(box.shape, np.bool_) if insufficient is None else insufficient[box.whole()]
        results = [np.ma.MaskedArray(result, mask.copy()) for result in results]
    return results[0] if len(results) == 1 else tuple(results)
