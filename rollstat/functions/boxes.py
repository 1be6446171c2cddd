"""Extrema over boxes: windows along several axes of an image or a volume."""

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

_EXTENSIONS = ("reflect", "nearest", "mirror", "wrap", "constant")
_OPTIONS = ("axis", "center", "min_periods", "nan_policy", "mode", "fill_value", "out")


@dataclass(frozen=True)
class _Box:
    """A checked call: the array, the axes of the box, and its rows before and after each row."""

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
            if name not in _OPTIONS and value not in (None, 1, "auto"):
                raise ValueError(f"{name} does not apply to a box; it was {value!r}")
        rows = [whole_number("window", width, 1) for width in window]
        axes = [whole_number("axis", a, -array.ndim) for a in axis]
        if max(axes) >= array.ndim or len({a % array.ndim for a in axes}) < len(axes):
            raise ValueError(f"axis must hold different axes of {array.ndim} dimensions; it was {axis}")
        mode, policy = options.get("mode", "same"), options.get("nan_policy", "omit")
        choice("mode", mode, ("same", "valid", *_EXTENSIONS))
        choice("nan_policy", policy, ("omit", "propagate", "raise"))
        given = options.get("min_periods")
        min_periods = prod(rows) if given is None else whole_number("min_periods", given, 0)
        if min_periods > prod(rows):
            raise ValueError(f"min_periods must be at most the box, {prod(rows)}; it was {min_periods}")
        after = [(width - 1) // 2 if options.get("center") else 0 for width in rows]
        before = [width - 1 - rows_after for width, rows_after in zip(rows, after)]
        axes = [a % array.ndim for a in axes]
        return cls(array, axes, before, after, mode, policy, min_periods, options.get("fill_value"))

    @property
    def extension(self) -> str:
        """How the array is extended beyond its edges; ``"cut"`` if boxes end there instead."""
        return self.mode if self.mode in _EXTENSIONS else "cut"

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the result: that of the array where no result can be missing."""
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

    def count(self, cells: NDArray[np.bool_], extension: str) -> NDArray[np.int64]:
        """Return the number of true cells in each box; differences of running integer sums are exact."""
        counts = cells.astype(np.int64)
        for axis, before, after in zip(self.axes, self.before, self.after):
            lines = np.moveaxis(counts, axis, 0)
            source = extended_rows(len(lines), before, after, extension)
            extended = lines[source]
            extended[source < 0] = int(extension == "constant")
            total = np.concatenate([np.zeros((1, *lines.shape[1:]), np.int64), extended.cumsum(axis=0)])
            width = before + 1 + after
            counts = np.moveaxis(total[width:] - total[:-width], 0, axis)
        return counts

    def insufficient(self) -> NDArray[np.bool_] | None:
        """Return which boxes have too few observations; None if no box can have."""
        observed = self.observed()
        if observed is None and (self.mode != "same" or self.min_periods <= 1):
            return None
        cells = np.ones(self.array.shape, np.bool_) if observed is None else observed
        insufficient = self.count(cells, self.extension) < max(self.min_periods, 1)
        if self.nan_policy == "propagate" and observed is not None:
            extension = "cut" if self.extension == "constant" else self.extension
            insufficient |= self.count(~observed, extension) > 0
        return insufficient

    def whole(self) -> tuple[slice, ...]:
        """Return the slices of the boxes to keep: with ``mode="valid"`` those entirely inside the array."""
        kept = [slice(None)] * self.array.ndim
        if self.mode == "valid":
            for axis, before, after in zip(self.axes, self.before, self.after):
                kept[axis] = slice(before, max(self.array.shape[axis] - after, before))
        return tuple(kept)

    def extremum(self, name: str, insufficient: NDArray[np.bool_] | None) -> NDArray[Any]:
        """Return the minimum or maximum of every box, with the missing value for those in `insufficient`."""
        order = Least() if name == "min" else Greatest()
        constant = self.fill_value if self.mode == "constant" and self.fill_value is not None else 0
        best, _ = box_extremum(
            order, plain(self.array), self.axes, self.before, self.after, self.extension, constant
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
    """Return the minimum, the maximum or both of each box.

    Parameters
    ----------
    arr : array_like, shape (..., n, ...)
        Image, volume or array of more dimensions.
    window : tuple of int
        Rows of the box along each axis of ``options["axis"]``.
    names : sequence of {"min", "max"}
        The extrema to compute.
    options : dict
        The options given: ``axis``, ``center``, ``min_periods``, ``nan_policy``, ``mode``, ``fill_value`` and
        ``out``.

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
