"""The contract of every registered statistic, tested over the registry."""

import copy
import inspect
import itertools
import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.api.indexers import FixedForwardWindowIndexer

import rollstat
from rollstat.registry import REGISTRY, Statistic
from tests.oracles import ORACLES, View
from tests.streaming.cases import FURTHER


def text_of(value: Any) -> str:
    """Return a parameter as text that every process has; the name of a function."""
    return getattr(value, "__name__", str(value))


CASES = [
    pytest.param(statistic, dict(sample), id="-".join([name, *(text_of(value) for value in sample.values())]))
    for name, statistic in REGISTRY.items()
    for sample in statistic.samples
]
FIRST = [pytest.param(statistic, dict(statistic.samples[0]), id=name) for name, statistic in REGISTRY.items()]
DTYPES = ["f8", "f4", "i8", "u8", "i4", "u1", "?", "M8[s]", "m8[ms]"]


def taken(statistic: Statistic, dtypes: list[str] = DTYPES) -> list[np.dtype]:
    """Return those of the given dtypes that a statistic takes."""
    return [np.dtype(d) for d in dtypes if np.dtype(d).kind in statistic.kinds]


def data(rng: np.random.Generator, n: int, dtype: np.dtype, ties: int = 6) -> np.ndarray:
    """Return values with ties, and with missing values if the dtype has any."""
    values = rng.integers(0, ties, n)
    if dtype.kind == "f":
        result = (values * 0.1).astype(dtype)
        result[rng.random(n) < 0.15] = np.nan
        return result
    if dtype.kind in "mM":
        result = values.astype(dtype)
        result[rng.random(n) < 0.15] = "NaT"
        return result
    return values.astype(dtype)


def call(statistic: Statistic, arrays: list[Any], window: Any, sample: dict[str, Any], **options: Any) -> Any:
    """Call a statistic."""
    return statistic.function(*arrays, window=window, **sample, **options)


def parameters_of(statistic: Statistic) -> list[str]:
    return list(inspect.signature(statistic.function).parameters)


def fits(sample: dict[str, Any], window: Any, **options: Any) -> bool:
    """Return whether a window is wide enough for the k of a sample, and ends with the row that weights do."""
    if "weights" in sample and (options.get("center") or not isinstance(window, (int, rollstat.Expanding))):
        return False  # see tests/statistics/weighted
    return not isinstance(window, int) or abs(sample.get("k", 1)) <= window


def outputs(result: Any) -> list[np.ndarray]:
    if not isinstance(result, tuple):
        return [result]
    lowest = min(map(np.ndim, result))
    return [one for part in result for one in (part if np.ndim(part) > lowest else [part])]


def as_out(statistic: Statistic, targets: list[Any]) -> tuple[Any, list[Any]]:
    """Return what `out` takes for these arrays, and the arrays: where all results are one array, its rows."""
    if "{}" not in statistic.outputs:
        return targets[0] if len(targets) == 1 else tuple(targets), targets
    whole = np.stack(targets)
    return whole, list(whole)


def is_missing(array: np.ndarray) -> np.ndarray:
    """Return where a result is missing."""
    if isinstance(array, np.ma.MaskedArray):
        return np.ma.getmaskarray(array)
    if array.dtype.kind == "f":
        return np.isnan(array)
    if array.dtype.kind in "mM":
        return np.isnat(array)
    return np.zeros(array.shape, bool)


def python_values(array: np.ndarray) -> list[Any]:
    """Return values as Python numbers; datetimes as integers in their unit."""
    return (array.view(np.int64) if array.dtype.kind in "mM" else array).tolist()


def expected(
    statistic: Statistic,
    arrays: list[np.ndarray],
    bounds: Any,
    sample: dict[str, Any],
    min_periods: int,
    windows_of: Any = None,
) -> list[list[Any]]:
    """Return the results of the oracle for every window, or those of some rows; None where missing."""
    values = [python_values(array) for array in arrays]
    missing = np.logical_or.reduce([is_missing(array) for array in arrays])
    starts, ends = (list(bound) for bound in bounds)
    step = -(-len(missing) // max(len(starts), 1))
    every = zip(itertools.count(0, max(step, 1)), starts, ends)
    rows = []
    for row, start, end in every if windows_of is None else ((i, starts[i], ends[i]) for i in windows_of):
        seen = [i for i in range(start, end) if not missing[i]]
        view = View(
            [values[0][i] for i in seen],
            seen,
            [[v[i] for i in seen] for v in values[1:]],
            row,
            start,
            end,
            None if missing[row] else values[0][row],
            None if end == start or missing[end - 1] else values[0][end - 1],
            arrays[0].dtype,
            [None if is_missing(array)[row] else v[row] for array, v in zip(arrays[1:], values[1:])],
        )
        answer = ORACLES[statistic.name](view, **sample) if len(seen) >= min_periods else None
        rows.append(answer if isinstance(answer, tuple) else (answer,) * len(statistic.outputs))
    return [list(column) for column in zip(*rows)] if rows else [[] for _ in statistic.outputs]


def agree(statistic: Statistic, result: Any, wanted: list[list[Any]]) -> None:
    """Compare with the oracle: exactly, or with a tolerance if the statistic rounds."""
    for array, column in zip(outputs(result), wanted, strict=True):
        assert array.shape == (len(column),)
        missing = np.array([value is None for value in column], bool)
        if array.dtype == np.bool_ and not isinstance(array, np.ma.MaskedArray):
            assert [bool(v) for v in array] == [bool(v) for v in column]
            continue
        if array.dtype.kind == "i" and not isinstance(array, np.ma.MaskedArray):
            assert (array[missing] == -1).all()
        else:
            assert is_missing(array)[~missing].sum() == sum(
                isinstance(v, float) and np.isnan(v) for v in column if v is not None
            )
            assert is_missing(array)[missing].all()
        got = [value for value, gone in zip(python_values(np.asarray(array)), missing) if not gone]
        want = [value for value in column if value is not None]
        if array.dtype == np.float32:
            want = [float(np.float32(value)) for value in want]
        if statistic.exact:
            assert [g == w or (g != g and w != w) for g, w in zip(got, want)] == [True] * len(want), (
                got,
                want,
            )
        else:
            rtol = 1e-5 if array.dtype == np.float32 else 1e-9
            np.testing.assert_allclose(got, np.array(want, float), rtol=rtol, atol=rtol)


def equal(statistic: Statistic, a: np.ndarray, b: np.ndarray) -> None:
    """Compare two results for the same windows; the cut into blocks can change the rounding."""
    if statistic.exact:
        np.testing.assert_array_equal(a, b)
    else:
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def bounds_of(n: int, left: int, right: int, step: int = 1) -> tuple[list[int], list[int]]:
    """Return the bounds of windows ``[i - left, i + right)``, cut short at the ends of the data."""
    rows = range(0, n, step)
    return [min(max(i - left, 0), n) for i in rows], [min(max(i + right, 0), n) for i in rows]


def arrays_for(statistic: Statistic, rng: np.random.Generator, n: int, dtype: np.dtype) -> list[np.ndarray]:
    return [data(rng, n, dtype) for _ in range(statistic.series)]


def minimum_periods(statistic: Statistic, options: dict[str, Any], default: int) -> int:
    """Return min_periods: as given, the default of the statistic, or that of the window."""
    if "min_periods" in options or statistic.min_periods is None:
        return default
    return statistic.min_periods


WINDOWS = {
    "fixed": (5, {}, lambda n: bounds_of(n, 4, 1), 5),
    "one": (1, {}, lambda n: bounds_of(n, 0, 1), 1),
    "growing": (5, {"min_periods": 1}, lambda n: bounds_of(n, 4, 1), 1),
    "wide": (100, {"min_periods": 2}, lambda n: bounds_of(n, 99, 1), 2),
    "centred": (4, {"center": True, "min_periods": 2}, lambda n: bounds_of(n, 2, 2), 2),
    "closed": (4, {"closed": "both", "min_periods": 3}, lambda n: bounds_of(n, 4, 1), 3),
    "open": (4, {"closed": "neither", "min_periods": 2}, lambda n: bounds_of(n, 3, 0), 2),
    "left": (4, {"closed": "left", "min_periods": 2}, lambda n: bounds_of(n, 4, 0), 2),
    "step": (6, {"step": 4, "min_periods": 2}, lambda n: bounds_of(n, 5, 1, 4), 2),
    "expanding": (rollstat.Expanding(), {}, lambda n: bounds_of(n, n, 1), 1),
    "forward": (rollstat.Forward(3), {"min_periods": 2}, lambda n: bounds_of(n, 0, 3), 2),
    "around": (rollstat.Around(3, 1), {"min_periods": 2}, lambda n: bounds_of(n, 3, 2), 2),
    "indexer": (
        FixedForwardWindowIndexer(window_size=3),
        {"min_periods": 1},
        lambda n: bounds_of(n, 0, 3),
        1,
    ),
}


@pytest.mark.parametrize(("statistic", "sample"), CASES)
def test_every_kind_of_window_agrees_with_the_oracle(statistic, sample, rng):
    for window, options, bounds, min_periods in WINDOWS.values():
        if not fits(sample, window, **options):
            continue
        arrays = arrays_for(statistic, rng, 40, taken(statistic)[0])
        result = call(statistic, arrays, window, sample, **options)
        needed = minimum_periods(statistic, options, min_periods)
        agree(statistic, result, expected(statistic, arrays, bounds(40), sample, needed))


@pytest.mark.parametrize(("statistic", "sample"), FIRST)
def test_first_windows_that_are_empty(statistic, sample, rng):
    arrays = [rng.integers(0, 6, 40).astype(taken(statistic)[0]) for _ in range(statistic.series)]
    for m in (1, 4, 30):
        if not fits(sample, m):
            continue
        by_rows = call(statistic, arrays, m, sample, closed="left", min_periods=0)
        bounds = tuple(map(np.array, bounds_of(40, m, 0)))
        by_bounds = call(statistic, arrays, bounds, sample, min_periods=0)
        for a, b in zip(outputs(by_rows), outputs(by_bounds)):
            equal(statistic, a, b)


@pytest.mark.parametrize(("statistic", "sample"), CASES)
def test_every_dtype_agrees_with_the_oracle(statistic, sample, rng):
    for dtype in taken(statistic):
        arrays = arrays_for(statistic, rng, 40, dtype)
        result = call(statistic, arrays, 5, sample, min_periods=2)
        agree(statistic, result, expected(statistic, arrays, bounds_of(40, 4, 1), sample, 2))


@pytest.mark.parametrize(("statistic", "sample"), CASES)
def test_longer_windows_agree_with_the_oracle(statistic, sample, rng):
    arrays = arrays_for(statistic, rng, 700, taken(statistic)[0])
    for array in arrays:
        if array.dtype.kind == "f":
            array[:] = np.where(np.isnan(array), array, rng.standard_normal(700).round(2))
    result = call(statistic, arrays, 130, sample, min_periods=90)
    some = [*range(80, 140), *range(140, 700, 9), 699]  # around the first full window, and after that
    found = tuple(part[some] for part in outputs(result))
    agree(statistic, found, expected(statistic, arrays, bounds_of(700, 129, 1), sample, 90, some))


@pytest.mark.parametrize(("statistic", "sample"), FIRST)
def test_windows_by_time_and_by_bounds(statistic, sample, rng):
    n = 40
    times = np.sort(rng.integers(0, 60, n)).astype("M8[s]")
    arrays = arrays_for(statistic, rng, n, taken(statistic)[0])
    seconds = times.view(np.int64)
    start = [min(i, int(np.searchsorted(seconds, seconds[i] - 9, "right"))) for i in range(n)]
    by_time = call(statistic, arrays, "9s", sample, times=times)
    wanted = expected(statistic, arrays, (start, range(1, n + 1)), sample, minimum_periods(statistic, {}, 1))
    agree(statistic, by_time, wanted)
    by_number = call(statistic, arrays, 9, sample, times=seconds)
    by_bounds = call(statistic, arrays, (np.array(start), np.arange(1, n + 1)), sample, min_periods=1)
    for a, b, c in zip(outputs(by_time), outputs(by_number), outputs(by_bounds)):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)


# Statistics that compare a row with its window.
OF_ROWS = ("hampel", "zscore")


def between(times: np.ndarray, low: np.ndarray, high: np.ndarray, closed: str) -> tuple[Any, Any]:
    """Return the bounds of windows of the times from `low` to `high`."""
    start = np.searchsorted(times, low, "left" if closed in ("left", "both") else "right")
    end = np.searchsorted(times, high, "right" if closed in ("right", "both") else "left")
    return start, np.maximum(start, end)


def windows_of_any_form(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Return windows over `n` rows, their options, bounds, and the default of `min_periods`."""
    times, asked = np.sort(rng.integers(0, 60, n)), rng.integers(-5, 70, n)
    of_rows, at = {"times": times.astype("M8[s]")}, {"at": asked.astype("M8[s]")}
    at |= of_rows
    so_far, before = (np.searchsorted(times, asked, side) for side in ("right", "left"))
    start, reach = rng.integers(0, n + 1, n), rng.integers(0, 9, n)
    end = np.minimum(start + reach, n)
    days, month = times.astype("M8[D]"), pd.DateOffset(months=1)
    earlier, later = (
        np.array(moved, "M8[D]") for moved in (pd.DatetimeIndex(days) - month, pd.DatetimeIndex(days) + month)
    )
    return {
        "any order": ((start, end), {}, (start, end), 1),
        "nested": ((np.arange(n // 2), n - np.arange(n // 2)), {}, None, 1),
        "forward width": (rollstat.Forward("9s"), of_rows, between(times, times, times + 9, "left"), 1),
        "around widths": (
            rollstat.Around("4s", "9s"),
            of_rows,
            between(times, times - 4, times + 9, "both"),
            1,
        ),
        "equal times": (
            "9s",
            {**of_rows, "equal_times": "all"},
            between(times, times - 9, times, "right"),
            1,
        ),
        "rows for each": (reach, {}, (np.maximum(np.arange(n) + 1 - reach, 0), np.arange(n) + 1), 1),
        "widths for each": (
            rollstat.Around(reach.astype("m8[s]"), "4s"),
            of_rows,
            between(times, times - reach, times + 4, "both"),
            1,
        ),
        "calendar": (rollstat.Forward("1 month"), {"times": days}, between(days, days, later, "left"), 1),
        "calendar at": (
            "1mo",
            {"times": days, "at": days[::-1]},
            between(days, earlier[::-1], days[::-1], "right"),
            1,
        ),
        "at": ("9s", at, between(times, asked - 9, asked, "right"), 1),
        "at, left": ("9s", {**at, "closed": "left"}, between(times, asked - 9, asked, "left"), 1),
        "at, around": (rollstat.Around("2s", "9s"), at, between(times, asked - 2, asked + 9, "both"), 1),
        "rows at": (7, {**at, "min_periods": 2}, (np.maximum(so_far - 7, 0), so_far), 2),
        "rows at, left": (
            7,
            {**at, "min_periods": 2, "closed": "left"},
            (np.maximum(before - 7, 0), before),
            2,
        ),
        "forward at": (
            rollstat.Forward(7),
            {**at, "min_periods": 2},
            (before, np.minimum(before + 7, n)),
            2,
        ),
        "expanding at": (rollstat.Expanding(), at, (np.zeros(n, np.int64), so_far), 1),
    }


# Windows in any order compile two more kernels for each operator.
@pytest.mark.parametrize(
    ("statistic", "sample"),
    [
        pytest.param(*case.values, id=case.id, marks=pytest.mark.long if case.id in FURTHER else ())
        for case in FIRST
    ],
)
def test_windows_of_any_form_agree_with_the_oracle(statistic, sample, rng):
    arrays = arrays_for(statistic, rng, 40, taken(statistic)[0])
    for name, (window, options, bounds, least) in windows_of_any_form(rng, 40).items():
        if statistic.name in OF_ROWS and ("at" in options or bounds is None):
            with pytest.raises(ValueError, match=r"at does not apply|one pair of bounds for each"):
                call(statistic, arrays, window, sample, **options)
            continue
        result = call(statistic, arrays, window, sample, **options)
        needed = minimum_periods(statistic, options, least)
        wanted = expected(statistic, arrays, window if bounds is None else bounds, sample, needed)
        if statistic.name == "regression" and ("at" in options or bounds is None):
            wanted[-1] = [None] * len(wanted[-1])  # windows that belong to no row have no prediction
        try:
            agree(statistic, result, wanted)
        except AssertionError as error:
            error.add_note(name)
            raise


@pytest.mark.parametrize(("statistic", "sample"), FIRST)
def test_missing_value_policies(statistic, sample, rng):
    kinds = [d for d in taken(statistic) if d.kind in "fmM"]
    if not kinds:
        kinds = [np.dtype("f8")] if "f" in statistic.kinds else []
    for dtype in kinds[:1]:
        arrays = arrays_for(statistic, rng, 40, dtype)
        arrays[0][7] = np.nan if dtype.kind == "f" else "NaT"
        missing = np.logical_or.reduce([is_missing(a) for a in arrays])
        result = call(statistic, arrays, 5, sample, min_periods=1, nan_policy="propagate")
        full = [not missing[max(i - 4, 0) : i + 1].any() for i in range(40)]
        wanted = expected(statistic, arrays, bounds_of(40, 4, 1), sample, 1)
        wanted = [
            [v if ok else (False if np.asarray(o).dtype == bool else None) for v, ok in zip(column, full)]
            for column, o in zip(wanted, outputs(result))
        ]
        agree(statistic, result, wanted)
        with pytest.raises(ValueError, match="nan_policy='raise'"):
            call(statistic, arrays, 5, sample, nan_policy="raise")


@pytest.mark.parametrize(("statistic", "sample"), FIRST)
def test_infinite_values_can_be_missing(statistic, sample, rng):
    if "f" not in statistic.kinds:
        pytest.skip("takes no floats")
    arrays = arrays_for(statistic, rng, 40, np.dtype("f8"))
    for array in arrays:
        array[rng.integers(0, 40, 3)] = np.inf
    before = copy.deepcopy(arrays)
    found = call(statistic, arrays, 5, sample, min_periods=1, inf="missing")
    wanted = call(statistic, [np.where(np.isinf(a), np.nan, a) for a in arrays], 5, sample, min_periods=1)
    for one, other in zip(outputs(found), outputs(wanted), strict=True):
        np.testing.assert_array_equal(one, other)
    for array, kept in zip(arrays, before):
        np.testing.assert_array_equal(array, kept)
    with pytest.raises(ValueError, match="inf must be one of 'value', 'missing'; got 'nan'"):
        call(statistic, arrays, 5, sample, inf="nan")


@pytest.mark.parametrize(("statistic", "sample"), FIRST)
def test_layouts_axes_and_masks_do_not_change_results(statistic, sample, rng):
    dtype = taken(statistic)[0]
    arrays = arrays_for(statistic, rng, 24, dtype)
    before = copy.deepcopy(arrays)
    plain = outputs(call(statistic, arrays, 5, sample, min_periods=1))
    for array, kept in zip(arrays, before):
        np.testing.assert_array_equal(array, kept)

    def same(changed, **options):
        for a, b in zip(plain, outputs(call(statistic, changed, 5, sample, min_periods=1, **options))):
            np.testing.assert_array_equal(a, b)
            assert b.dtype == a.dtype

    frozen = [array.copy() for array in arrays]
    for array in frozen:
        array.flags.writeable = False
    same(frozen)
    same([np.repeat(array, 3)[::3] for array in arrays])
    same([array[::-1].copy()[::-1] for array in arrays])
    same([array.astype(array.dtype.newbyteorder(">")) for array in arrays])
    same(arrays, threads=2)
    for axis in range(3):
        shape = [2, 2, 2]
        shape[axis] = 24
        block = [np.moveaxis(np.broadcast_to(a, (2, 2, 24)), -1, axis) for a in arrays]
        results = outputs(call(statistic, block, 5, sample, min_periods=1, axis=axis))
        for a, b in zip(plain, results):
            assert b.shape == tuple(shape)
            equal(statistic, np.moveaxis(b, axis, -1), np.broadcast_to(a, (2, 2, 24)))
    masked = [np.ma.MaskedArray(np.where(is_missing(a), a.dtype.type(0), a), is_missing(a)) for a in arrays]
    for a, b in zip(plain, outputs(call(statistic, masked, 5, sample, min_periods=1))):
        assert isinstance(b, np.ma.MaskedArray)
        present = ~np.ma.getmaskarray(b)
        equal(statistic, a[present], np.asarray(b)[present])


@pytest.mark.parametrize(("statistic", "sample"), FIRST)
def test_which_results_are_equal_to_the_bit(statistic, sample, rng):
    """The table of docs/guide/numerics.rst: only sums of floats round differently."""
    n, m = 200, 20
    dtype = taken(statistic)[0]
    arrays = [(rng.lognormal(size=n) * 100).astype(dtype) for _ in range(statistic.series)]
    plain = outputs(call(statistic, arrays, m, sample, min_periods=1))
    rows = np.arange(n)
    bounds = np.maximum(rows - m + 1, 0), rows + 1
    lines = [np.stack([array] * 3) for array in arrays]
    double = [np.tile(array, 2) for array in arrays]
    by_line = outputs(call(statistic, lines, m, sample, min_periods=1, axis=1))
    by_segment = outputs(call(statistic, double, m, sample, min_periods=1, segments=[0, n, 2 * n]))
    stepped = outputs(call(statistic, arrays, m, sample, min_periods=1, step=3))
    bounded = outputs(call(statistic, arrays, bounds, sample, min_periods=1))
    threaded = outputs(call(statistic, arrays, m, sample, min_periods=1, threads=2))
    lines_threaded = outputs(call(statistic, lines, m, sample, min_periods=1, axis=1, threads=2))
    for i, result in enumerate(plain):
        np.testing.assert_array_equal(threaded[i], result)
        np.testing.assert_array_equal(lines_threaded[i], by_line[i])
        positions = statistic.name.startswith("arg")  # of the whole series, which segments only divide
        equal(statistic, by_segment[i][n:] - n if positions else by_segment[i][n:], result)
        equal(statistic, by_line[i], np.stack([result] * 3))
        equal(statistic, stepped[i], result[::3])
        equal(statistic, bounded[i], result)


@pytest.mark.parametrize(("statistic", "sample"), FIRST)
def test_small_and_empty_input(statistic, sample):
    dtype = taken(statistic)[0]
    for n, window in itertools.product((0, 1, 2), (1, 2, 5)):
        if not fits(sample, window):
            continue
        arrays = [np.arange(n).astype(dtype) for _ in range(statistic.series)]
        result = call(statistic, arrays, window, sample, min_periods=1)
        wanted = expected(statistic, arrays, bounds_of(n, window - 1, 1), sample, 1)
        agree(statistic, result, wanted)


@pytest.mark.parametrize(("statistic", "sample"), FIRST)
def test_out_receives_the_result_and_is_unchanged_after_errors(statistic, sample, rng):
    arrays = arrays_for(statistic, rng, 30, taken(statistic)[0])
    plain = outputs(call(statistic, arrays, 5, sample))
    given, out = as_out(statistic, [np.zeros_like(a) for a in plain])
    result = outputs(call(statistic, arrays, 5, sample, out=given))
    for a, b, o in zip(plain, result, out):
        assert b is o or ("{}" in statistic.outputs and np.shares_memory(b, o))
        np.testing.assert_array_equal(a, o)
    untouched = [np.full_like(a, 1) for a in plain]
    for bad in ({"min_periods": 9}, {"closed": "up"}, {"axis": 4}, {"algorithm": "guess"}, {"mode": "full"}):
        with pytest.raises((ValueError, TypeError), match=next(iter(bad))):
            call(statistic, arrays, 5, sample, out=untouched if len(out) > 1 else untouched[0], **bad)
    for array in untouched:
        np.testing.assert_array_equal(array, np.full_like(array, 1))


@pytest.mark.parametrize(("statistic", "sample"), FIRST)
def test_results_do_not_depend_on_later_rows(statistic, sample, rng):
    dtype = taken(statistic)[0]
    arrays = arrays_for(statistic, rng, 30, dtype)
    changed = [array.copy() for array in arrays]
    for array, other in zip(changed, arrays_for(statistic, rng, 30, dtype)):
        array[20:] = other[20:]
    for a, b in zip(
        outputs(call(statistic, arrays, 5, sample, min_periods=1)),
        outputs(call(statistic, changed, 5, sample, min_periods=1)),
    ):
        np.testing.assert_array_equal(a[:20], b[:20])


@pytest.mark.parametrize(("statistic", "sample"), FIRST)
def test_bad_arrays_are_rejected(statistic, sample):
    extra = [np.zeros(3)] * (statistic.series - 1)
    # An operator may combine objects, and Sum combines complex numbers.
    of_numbers = [np.array([1, "a", None], object), np.array([1j, 2, 3])]
    strings = [] if statistic.name in ("nunique", "mode") else [np.array(["a", "b", "c"])]
    for bad in (*strings, *(of_numbers if statistic.name != "aggregate" else [])):
        with pytest.raises(TypeError, match=r"(arr|y) must hold"):
            call(statistic, [bad, *extra], 2, sample)
    with pytest.raises(ValueError, match="at least one dimension"):
        call(statistic, [np.float64(3), *extra], 2, sample)
    for window in (0, -1):
        with pytest.raises(ValueError, match="window must be"):
            call(statistic, [np.zeros(3), *extra], window, sample)


@pytest.mark.parametrize(("statistic", "sample"), FIRST)
def test_named_algorithms_agree(statistic, sample, rng):
    arrays = arrays_for(statistic, rng, 300, taken(statistic)[0])
    auto = outputs(call(statistic, arrays, 20, sample, min_periods=10))
    for algorithm in statistic.algorithms:
        named = outputs(call(statistic, arrays, 20, sample, min_periods=10, algorithm=algorithm))
        for a, b in zip(auto, named):
            if statistic.exact:
                np.testing.assert_array_equal(a, b, err_msg=algorithm)
            else:
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=algorithm)


SPECIAL = st.sampled_from([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 5e-324, -5e-324, 1e308, -1e308, np.nan])


@pytest.mark.parametrize(
    ("statistic", "sample"), [c for c in CASES if c.values[0].exact and "f" in c.values[0].kinds]
)
@given(values=st.lists(SPECIAL, max_size=24), m=st.integers(2, 9), low=st.integers(0, 2))
def test_special_values(statistic, sample, values, m, low):
    arrays = [np.array(values)] * statistic.series
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = call(statistic, arrays, m, sample, min_periods=low)
    agree(statistic, result, expected(statistic, arrays, bounds_of(len(values), m - 1, 1), sample, low))


def test_everything_public_is_registered():
    functions = [statistic.function for statistic in REGISTRY.values()]
    for name in rollstat.__all__:
        if name.startswith("rolling_") or name.endswith("_filter"):
            assert getattr(rollstat, name) in functions, f"{name} is public but not in the registry"
    for statistic in REGISTRY.values():
        assert statistic.function.__name__ in rollstat.__all__
        assert statistic.name in ORACLES, f"{statistic.name} has no oracle"
        assert statistic.cost
        assert statistic.source


@pytest.mark.parametrize(("statistic", "sample"), FIRST)
def test_docstrings_are_complete(statistic, sample):
    text = statistic.function.__doc__
    for part in ("Parameters", "Returns", "Raises", "Examples"):
        assert f"{part}\n{'-' * len(part)}\n" in text
    assert ">>> " in text
    for part in ("Cost", "Source", "issing"):
        assert part in text, f"the docstring of {statistic.name} lacks {part}"
    for parameter in parameters_of(statistic):
        assert f"{parameter} :" in text, f"{parameter} of {statistic.name} is not documented"


@pytest.mark.parametrize(("statistic", "sample"), FIRST)
def test_functions_pickle(statistic, sample):
    assert pickle.loads(pickle.dumps(statistic.function)) is statistic.function
