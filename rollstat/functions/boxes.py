"""Extrema over boxes of images and volumes: windows along several axes at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat.algorithms.separable import box_extremum, extended_rows
from rollstat.dtypes import check_array, missing_value, plain, refuse_missing, result_dtype
from rollstat.explain import Explanation, PlanOnly, Step, explaining
from rollstat.kernels.simd.comparator import Greatest, Least
from rollstat.options import choice, whole_number

__all__ = ["box_extrema"]

_BEYOND = ("reflect", "nearest", "mirror", "wrap", "constant")
_TAKEN = ("axis", "center", "min_periods", "nan_policy", "mode", "fill_value", "out")


@dataclass(frozen=True)
class _Box:
    """A checked call: the array, and the rows of the box before and after an element along each axis."""

    array: NDArray[Any]
    axes: list[int]
    before: list[int]
    after: list[int]
    mode: str
    nan_policy: str
    min_periods: int
    fill_value: Any

    @classmethod
    def check(cls, arr: ArrayLike, window: Any, options: dict[str, Any]) -> "_Box":
        """Return the checked call, or raise."""
        array = check_array("arr", arr)
        axis = options["axis"]
        if not isinstance(window, tuple) or not axis or len(window) != len(axis):
            raise ValueError(
                f"window must be a tuple with one entry for each axis of {axis}; it was {window!r}"
            )
        for name, value in options.items():
            if name not in _TAKEN and value not in (None, 1, "auto"):
                raise ValueError(f"{name} does not apply to a box; it was {value!r}")
        rows = [whole_number("window", width, 1) for width in window]
        axes = [whole_number("axis", a, -array.ndim) for a in axis]
        if max(axes) >= array.ndim or len({a % array.ndim for a in axes}) < len(axes):
            raise ValueError(f"axis must hold different axes of {array.ndim} dimensions; it was {axis}")
        mode, policy = options.get("mode", "same"), options.get("nan_policy", "omit")
        choice("mode", mode, ("same", "valid", *_BEYOND))
        choice("nan_policy", policy, ("omit", "propagate", "raise"))
        given = options.get("min_periods")
        needed = prod(rows) if given is None else whole_number("min_periods", given, 0)
        if needed > prod(rows):
            raise ValueError(
                f"min_periods must be at most the size of the box, {prod(rows)}; it was {needed}"
            )
        after = [(width - 1) // 2 if options.get("center") else 0 for width in rows]
        before = [width - 1 - behind for width, behind in zip(rows, after)]
        axes = [a % array.ndim for a in axes]
        return cls(array, axes, before, after, mode, policy, needed, options.get("fill_value"))

    @property
    def beyond(self) -> str:
        """How the array is extended beyond its ends."""
        return self.mode if self.mode in _BEYOND else "cut"

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the result; the array's own where no result can be missing."""
        return result_dtype("value", self.array.dtype, self.mode != "same" or self.fill_value is not None)

    def observed(self) -> NDArray[np.bool_] | None:
        """Return where there is an observation; None if everywhere."""
        kind = self.array.dtype.kind
        if kind not in "fmM":
            return None
        missing: NDArray[np.bool_] = np.isnan(self.array) if kind == "f" else np.isnat(self.array)
        if not missing.any():
            return None
        if kind != "f":
            raise ValueError("arr must have no NaT for extrema over boxes")
        return ~missing

    def count(self, cells: NDArray[np.bool_], beyond: str) -> NDArray[np.int64]:
        """Count true cells in each box; whole numbers, so that a running sum is exact."""
        counts = cells.astype(np.int64)
        for axis, front, behind in zip(self.axes, self.before, self.after):
            lines = np.moveaxis(counts, axis, 0)
            place = extended_rows(len(lines), front, behind, beyond)
            extended = lines[place]
            extended[place < 0] = int(beyond == "constant")
            total = np.concatenate([np.zeros((1, *lines.shape[1:]), np.int64), extended.cumsum(axis=0)])
            width = front + 1 + behind
            counts = np.moveaxis(total[width:] - total[:-width], 0, axis)
        return counts

    def insufficient(self) -> NDArray[np.bool_] | None:
        """Return the boxes with too few observations; None if there can be none."""
        observed = self.observed()
        if observed is None and (self.mode != "same" or self.min_periods <= 1):
            return None
        cells = np.ones(self.array.shape, np.bool_) if observed is None else observed
        insufficient = self.count(cells, self.beyond) < max(self.min_periods, 1)
        if self.nan_policy == "propagate" and observed is not None:
            insufficient |= self.count(~observed, "cut" if self.beyond == "constant" else self.beyond) > 0
        return insufficient

    def whole(self) -> tuple[slice, ...]:
        """Return the slices of the boxes that ``mode="valid"`` keeps: those inside the array."""
        kept = [slice(None)] * self.array.ndim
        if self.mode == "valid":
            for axis, front, behind in zip(self.axes, self.before, self.after):
                kept[axis] = slice(front, max(self.array.shape[axis] - behind, front))
        return tuple(kept)

    def extremum(self, name: str, insufficient: NDArray[np.bool_] | None) -> NDArray[Any]:
        """Return the minimum or maximum of every box, missing ones marked."""
        order = Least() if name == "min" else Greatest()
        constant = self.fill_value if self.mode == "constant" and self.fill_value is not None else 0
        best, _ = box_extremum(
            order, plain(self.array), self.axes, self.before, self.after, self.beyond, constant
        )
        if self.array.dtype.kind in "mMb":
            best = best.view(self.array.dtype.newbyteorder("="))
        best = best.astype(self.dtype, copy=False)
        if insufficient is not None and insufficient.any():
            best[insufficient] = missing_value("value", self.dtype, self.fill_value)
        return best[self.whole()]


def _explained(box: _Box, window: Any, outputs: int) -> Explanation:
    """Return the explanation of a call."""
    box.observed()  # which raises for missing values of a dtype that has no extremum without them
    size, dtype = box.array.size, box.array.dtype
    steps = (Step("separable", "all", "a box is a window along one axis after the other", rows=size),)
    dtypes = (dtype,) * outputs, (box.dtype,) * outputs
    return Explanation(
        explaining.statistic, "box", window, box.min_periods, size, 1, steps, 1, dtype, *dtypes
    )


def box_extrema(
    arr: ArrayLike, window: Any, names: Sequence[str], options: dict[str, Any]
) -> list[NDArray[Any]]:
    """Return minimum and maximum of each box.

    Parameters
    ----------
    arr : array_like, shape (..., n, ...)
        Image, volume or more.
    window : tuple of int
        Width of the box along each axis of ``options["axis"]``.
    names : sequence of {"min", "max"}
        One array each.
    options : dict
        ``axis``, ``center``, ``min_periods``, ``nan_policy``, ``mode``, ``fill_value`` and ``out``.

    Returns
    -------
    list of ndarray
        The extrema, one array for each of `names`.
    """
    box = _Box.check(arr, window, options)
    if box.nan_policy == "raise":
        refuse_missing([box.array], None)
    if explaining.active:
        raise PlanOnly(_explained(box, window, len(names)))
    insufficient = box.insufficient()
    results = [box.extremum(name, insufficient) for name in names]
    out = options.get("out")
    if out is None:
        return results
    targets = [out] if isinstance(out, np.ndarray) else list(out)
    for target, result in zip(targets, results, strict=True):
        if target.shape != result.shape or target.dtype != result.dtype:
            raise ValueError(
                f"out must have shape {result.shape} and dtype {result.dtype}; "
                f"it had {target.shape} and {target.dtype}"
            )
    for target, result in zip(targets, results):
        target[...] = result
    return targets
