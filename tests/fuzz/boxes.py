"""Boxes of arrays of one to four dimensions, every statistic and mode, against padded arrays and loops."""

from typing import Any, NamedTuple

import numpy as np

from rollstat.registry import REGISTRY
from tests.fuzz.compare import Answer, check
from tests.fuzz.draws import draw_values, lay_out
from tests.oracles import ORACLES, View
from tests.test_contract import call, is_missing, outputs, python_values

PADDED = {"reflect": "symmetric", "nearest": "edge", "mirror": "reflect", "wrap": "wrap"}
POSITIONS = ("argmin", "argmax", "argminmax")
STATISTICS = ("min", "max", "minmax", *POSITIONS, "kth", "median", "quantile")
DTYPES = ("f8", "f4", "i8", "u1", "?", "M8[s]", "m8[2h]")


class Drawn(NamedTuple):
    """A call: the array, where it is masked, the box, the options, and observations that a result needs."""

    array: np.ndarray
    mask: np.ndarray | None
    size: tuple[int, ...]
    options: dict[str, Any]
    least: int


def fuzz(rng: np.random.Generator, note: dict[str, Any], dtypes: tuple[str, ...] = DTYPES) -> int:
    """Compare one random call; return the boxes compared."""
    statistic = REGISTRY[str(rng.choice(STATISTICS))]
    drawn = _draw(rng, np.dtype(str(rng.choice(dtypes))), statistic.name)
    cells = int(np.prod(drawn.size))
    sample = dict(statistic.samples[rng.integers(len(statistic.samples))])
    if sample.pop("relative_to", "data") != "data" or abs(sample.get("k", 1)) > cells:
        return 0
    note.update(statistic=statistic.name, sample=sample, **drawn._asdict())
    given = lay_out(rng, drawn.array)
    if drawn.mask is not None:
        given = np.ma.MaskedArray(given, drawn.mask)
    results = outputs(call(statistic, [given], drawn.size, sample, **drawn.options))
    if rng.random() < 0.3:
        targets = [np.zeros_like(np.ma.getdata(result)) for result in results]
        out = targets[0] if len(targets) == 1 else tuple(targets)
        call(statistic, [given], drawn.size, sample, **drawn.options, out=out)
        for target, result in zip(targets, results):
            np.testing.assert_array_equal(target, np.ma.getdata(result))
    wanted, shape = _brute(drawn, statistic.name, sample)
    assert all(result.shape == shape for result in results), (results[0].shape, shape)
    given_fill = np.array([drawn.options.get("fill_value", 0)]).astype(results[0].dtype)
    has_fill = "fill_value" in drawn.options and not is_missing(given_fill)[0]
    fill = python_values(given_fill)[0] if has_fill else None
    check(statistic, [result.reshape(-1) for result in results], wanted, fill)
    return len(wanted)


def _draw(rng: np.random.Generator, dtype: np.dtype, name: str) -> Drawn:
    """Return a random call; no extreme integers if there are points between, which the oracle rounds."""
    positions, wide = name in POSITIONS, name not in ("median", "quantile")
    dimensions = int(rng.integers(1, 5))
    shape = tuple(rng.integers(1, 12 if dimensions < 3 else 6, dimensions).tolist())
    array = draw_values(rng, int(np.prod(shape)), dtype, True, wide).reshape(shape)
    mask = rng.random(shape) < 0.3 if rng.random() < 0.3 else None
    axes = rng.permutation(dimensions)[: rng.integers(1, dimensions + 1)].tolist()
    size = tuple(rng.choice([1, 2, 3, 5, 20] if dimensions < 3 else [1, 2, 3, 7], len(axes)).tolist())
    named = tuple(axis - dimensions if rng.random() < 0.3 else axis for axis in axes)
    options: dict[str, Any] = {"axis": named, "center": bool(rng.integers(2))}
    options["mode"] = str(rng.choice(["same", "valid", *([] if positions else [*PADDED, "constant"])]))
    fills: list[Any] = {"f": [0.0, 7.0, np.nan], "M": [np.datetime64(9, "s"), np.datetime64("NaT", "s")]}.get(
        dtype.kind, [np.timedelta64(4, "h"), np.timedelta64("NaT", "h")] if dtype.kind == "m" else [0, 1]
    )
    must = options["mode"] == "constant" and dtype.kind == "M"
    if must or (not positions and rng.random() < 0.3):
        options["fill_value"] = fills[rng.integers(len(fills))]
    least = int(np.prod(size))
    if rng.random() < 0.5:
        least = options["min_periods"] = int(rng.integers(0, min(least, 5) + 1))
    if rng.random() < 0.3:
        options["nan_policy"] = "propagate"
    return Drawn(array, mask, size, options, least)


def _brute(drawn: Drawn, name: str, sample: dict[str, Any]) -> tuple[list[Answer], tuple[int, ...]]:
    """Return the answers for every box, from the padded array, and the shape of the results."""
    array, options = drawn.array, drawn.options
    missing = is_missing(array) if drawn.mask is None else is_missing(array) | drawn.mask
    axes = [axis % array.ndim for axis in options["axis"]]
    reach = [(0, 0)] * array.ndim
    for axis, width in zip(axes, drawn.size):
        after = (width - 1) // 2 if options["center"] else 0
        reach[axis] = (width - 1 - after, after)
    outside = np.zeros(array.shape, bool)
    places = np.indices(array.shape)[axes]  # along each axis of the box
    flat = np.ravel_multi_index(tuple(places), [array.shape[axis] for axis in axes])
    mode, widths = options["mode"], [1 + sum(sides) for sides in reach]
    constant = np.array(options.get("fill_value", 0)).astype(array.dtype)
    if mode in PADDED:
        array, missing, outside, flat = (
            np.pad(part, reach, PADDED[mode]) for part in (array, missing, outside, flat)
        )
    elif mode != "valid":
        edge = mode == "same" or bool(is_missing(constant[None])[0])
        array = np.pad(array, reach, constant_values=constant)
        missing, flat = np.pad(missing, reach), np.pad(flat, reach)
        outside = np.pad(outside, reach, constant_values=edge)
    shape = tuple(max(n - w + 1, 0) for n, w in zip(array.shape, widths))
    answers = []
    for place in np.ndindex(*shape):
        box = tuple(slice(i, i + w) for i, w in zip(place, widths))
        gone, inside = missing[box] & ~outside[box], ~outside[box]
        seen = inside & ~gone
        order = np.argsort(flat[box][seen], kind="stable")
        values = python_values(array[box][seen][order])
        rows = flat[box][seen][order].tolist()
        short = len(values) < drawn.least or (options.get("nan_policy") == "propagate" and bool(gone.any()))
        view = View(values, rows, [], -1, 0, 0, None, None, array.dtype.newbyteorder("="))
        answer = None if short else ORACLES[name](view, **sample)
        if not isinstance(answer, tuple):
            answer = (answer,) * (2 if "minmax" in name else 1)
        answers.append(Answer(answer, short))
    return answers, shape
