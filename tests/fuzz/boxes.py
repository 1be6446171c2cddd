"""Extrema over boxes of arrays of two and three dimensions."""

from typing import Any

import numpy as np

import rollstat
from rollstat.registry import REGISTRY
from tests.fuzz.compare import Answer, check
from tests.fuzz.draws import draw_values, lay_out
from tests.test_contract import is_missing, python_values

EXTENDED = {"reflect": "symmetric", "nearest": "edge", "mirror": "reflect", "wrap": "wrap"}


def fuzz(rng: np.random.Generator, note: dict[str, Any]) -> int:
    """Compare one random call; return the elements compared."""
    dtype = np.dtype(str(rng.choice(["f8", "f4", "i8", "u1", "?", "M8[s]", "m8[2h]"])))
    shape = tuple(rng.integers(1, 9, rng.integers(2, 4)).tolist())
    array = draw_values(rng, int(np.prod(shape)), dtype, True, True).reshape(shape)
    mask = rng.random(shape) < 0.3 if rng.random() < 0.4 else None
    axes = sorted(rng.choice(len(shape), rng.integers(1, len(shape) + 1), replace=False).tolist())
    size = tuple(rng.choice([1, 2, 3, 5, 20], len(axes)).tolist())
    options: dict[str, Any] = {"axis": tuple(axes), "center": bool(rng.integers(2))}
    options["mode"] = str(rng.choice(["same", "valid", *EXTENDED]))
    least = int(np.prod(size))
    if rng.random() < 0.5:
        least = options["min_periods"] = int(rng.integers(0, min(least, 5) + 1))
    if rng.random() < 0.3:
        options["nan_policy"] = "propagate"
    note.update(array=array, mask=mask, size=size, options=options)
    missing = is_missing(array) if mask is None else is_missing(array) | mask
    given = lay_out(rng, array) if mask is None else np.ma.MaskedArray(lay_out(rng, array), mask)
    low, high = rollstat.rolling_minmax(given, size, **options)
    wanted = _brute(array, missing, axes, size, options, least)
    assert low.shape == high.shape
    results = [result.reshape(-1) for result in (low, high)]
    check(REGISTRY["minmax"], results, wanted)
    if options["mode"] in ("same", "valid"):
        places = rollstat.rolling_argminmax(given, size, **options)
        for place, extremum in zip(map(np.ma.getdata, places), (low, high)):
            found = place >= 0
            np.testing.assert_array_equal(found, ~(is_missing(extremum) | np.ma.getmaskarray(extremum)))
            values = _values_at(array, axes, place).astype(extremum.dtype)
            np.testing.assert_array_equal(values[found], np.ma.getdata(extremum)[found])
    return len(wanted)


def _values_at(array: np.ndarray, axes: list[int], place: np.ndarray) -> np.ndarray:
    """Return the elements at these positions in the flattened axes."""
    index: list[Any] = list(np.indices(place.shape))
    lengths = [array.shape[axis] for axis in axes]
    for axis, rows in zip(axes, np.unravel_index(np.maximum(place, 0), lengths)):
        index[axis] = rows
    return np.asarray(array[tuple(index)])


def _brute(
    array: np.ndarray, missing: np.ndarray, axes: list[int], size: tuple[int, ...], options: Any, least: int
) -> list[Answer]:
    """Return minimum and maximum of every box."""
    reach = [(0, 0)] * array.ndim
    for axis, width in zip(axes, size):
        after = (width - 1) // 2 if options["center"] else 0
        reach[axis] = (width - 1 - after, after)
    mode, widths = options["mode"], [1 + sum(sides) for sides in reach]
    extended = EXTENDED.get(mode)
    outside = np.zeros(array.shape, bool)
    if extended:
        array, missing, outside = (np.pad(a, reach, extended) for a in (array, missing, outside))
    elif mode == "same":
        array, missing = (np.pad(a, reach) for a in (array, missing))
        outside = np.pad(outside, reach, constant_values=True)
    answers = []
    for place in np.ndindex(*(max(n - w + 1, 0) for n, w in zip(array.shape, widths))):
        box = tuple(slice(i, i + w) for i, w in zip(place, widths))
        gone = missing[box] & ~outside[box]
        seen = python_values(array[box][~gone & ~outside[box]])
        short = len(seen) < max(least, 1) or (options.get("nan_policy") == "propagate" and gone.any())
        answers.append(Answer((None, None) if short else (min(seen), max(seen)), short))
    return answers
