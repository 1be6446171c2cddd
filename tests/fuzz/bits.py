"""Results that are promised to be bit-for-bit equal: one call in all the ways that must agree.

The promise is the table of docs/guide/numerics.rst. A zero may have either sign, and a NaN any bits; a
distance is never -0.0. No oracle takes part, so series may be long.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rollstat import tiers
from rollstat.registry import REGISTRY, Statistic
from rollstat.streaming import STREAMS
from tests.fuzz.draws import draw_values, lay_out
from tests.streaming.cases import make, push_all, samples
from tests.test_contract import DTYPES, as_out, call, is_missing, outputs, taken

DISTANCES = {"ptp", "iqr", "mad", "gini", "var", "std", "sem"}
"""Statistics whose zeros have no sign."""


def fuzz(rng: np.random.Generator, note: dict[str, Any], dtypes: Sequence[str] = DTYPES) -> int:
    """Compare one random call in all the ways; return the rows compared."""
    statistic = REGISTRY[str(rng.choice(sorted(REGISTRY)))]
    types = taken(statistic, list(dtypes))
    return compare(rng, note, statistic, types[rng.integers(len(types))])


def compare(
    rng: np.random.Generator, note: dict[str, Any], statistic: Statistic, dtype: np.dtype, longest: int = 5000
) -> int:
    """Compare one random call of a statistic in all the ways; return the rows compared."""
    sample = dict(statistic.samples[rng.integers(len(statistic.samples))])
    n = int(rng.choice([1, 7, 60, 300, longest]))
    m = int(rng.choice([1, 2, 3, 5, 9, 30, 200, n, n + 3]))
    m = max(m, abs(sample.get("k", 1)))
    arrays = [_values(rng, n, dtype) for _ in range(statistic.series)]
    options: dict[str, Any] = {"min_periods": int(rng.integers(0, min(m, 4) + 1))}
    if rng.random() < 0.3:
        options["center"] = True
    if rng.random() < 0.2:
        options["nan_policy"] = "propagate"
    note.update(statistic=statistic.name, sample=sample, m=m, options=options, arrays=arrays)
    try:
        first = _results(statistic, arrays, m, sample, options)
    except OverflowError:
        return 0  # of integers; the arrays and the streams test when
    compared = 0
    for way, results in _ways(rng, statistic, arrays, m, sample, options, first):
        note["way"] = way
        for one, other in zip(first, results, strict=True):
            _same_bits(statistic, one, other, way)
        compared += len(first[0])
    return compared


def _values(rng: np.random.Generator, n: int, dtype: np.dtype) -> np.ndarray:
    """Return values of all kinds; extreme ones, infinities, subnormals and both zeros half of the time."""
    if dtype.kind not in "fiu" or rng.random() < 0.5:
        return draw_values(rng, n, dtype, True, True)
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        sizes = [0.0, 1.0, np.inf, limits.max, limits.tiny, limits.smallest_subnormal]
        pool = np.array([*sizes, *(-size for size in sizes), np.nan], dtype)
    else:
        whole = np.iinfo(dtype)
        pool = np.array([whole.min, whole.min + 1, 0, 1, whole.max - 1, whole.max], dtype)
    return rng.choice(rng.permutation(pool)[: rng.integers(1, len(pool) + 1)], n)


def _results(
    statistic: Statistic, arrays: list[Any], window: Any, sample: dict[str, Any], options: Any, **more: Any
) -> list[Any]:
    return [result.copy() for result in outputs(call(statistic, arrays, window, sample, **options, **more))]


def _ways(
    rng: np.random.Generator,
    statistic: Statistic,
    arrays: list[np.ndarray],
    m: int,
    sample: dict[str, Any],
    options: dict[str, Any],
    first: list[np.ndarray],
) -> Iterator[tuple[str, list[Any]]]:
    """Yield the name and the results of every way that promises the bits of the first results."""

    def again(given: list[Any] = arrays, window: Any = m, **more: Any) -> list[Any]:
        return _results(statistic, given, window, sample, {**options, **more})

    yield "the same call", again()
    yield "threads", again(threads=2)
    yield "layout", again([lay_out(rng, array) for array in arrays])
    targets = [np.full_like(result, 1) for result in first]
    out, targets = as_out(statistic, targets)
    again(out=out)
    yield "out", targets
    whole_sums = statistic.name in ("sum", "prod") and arrays[0].dtype.kind in "iub"
    if not (statistic.exact or whole_sums):
        return
    for mode in ("quick", "fast"):
        with tiers.using(mode):
            yield f"{mode} tier", again()
    for name in sorted(statistic.algorithms):
        try:
            yield name, again(algorithm=name)
        except ValueError as error:
            if "does not support" not in str(error):
                raise
    n, position = (
        len(arrays[0]),
        statistic.name.startswith("arg") and sample.get("relative_to", "data") == "data",
    )
    after = (m - 1) // 2 if options.get("center") else 0
    rows = np.arange(n)
    bounds = np.maximum(rows + 1 + after - m, 0), np.minimum(rows + after + 1, n)
    fixed = {key: value for key, value in options.items() if key != "center"}
    if statistic.name != "hampel":  # bounds do not say which row is a window's own
        yield "bounds", _results(statistic, arrays, bounds, sample, fixed)
    if not after:
        yield "times", _results(statistic, arrays, float(m), sample, fixed, times=rows)
    step = int(rng.integers(2, 5))
    yield "step", [_spread(part, first[i], step) for i, part in enumerate(again(step=step))]
    for axis in (0, 1):
        lines = [np.stack([array[::-1], array, array], 1 - axis) for array in arrays]
        yield f"axis {axis}", [result.take(1, 1 - axis) for result in again(lines, axis=axis)]
    double = [np.concatenate([array[::-1], array]) for array in arrays]
    parts = [part[n:] for part in again(double, segments=[0, n, 2 * n])]
    yield "segments", [np.where(part < 0, part, part - n) if position else part for part in parts]
    if statistic.name in STREAMS and "center" not in options and "nan_policy" not in options:
        yield from _streams(rng, statistic.name, arrays, m, sample, options, first)


def _spread(part: np.ndarray, whole: np.ndarray, step: int) -> np.ndarray:
    """Return the whole results with every `step`-th replaced, so that these are compared."""
    result = whole.copy()
    result[::step] = part
    return result


def _streams(
    rng: np.random.Generator,
    name: str,
    arrays: list[np.ndarray],
    m: int,
    sample: dict[str, Any],
    options: dict[str, Any],
    first: list[np.ndarray],
) -> Iterator[tuple[str, list[np.ndarray]]]:
    """Yield the results of pushes, and of arrays that a stream is extended by."""
    if sample not in samples(name):
        return
    n = len(arrays[0])
    least = max(options["min_periods"], 0)
    fresh = make(name, sample, m, min_periods=least, dtype=arrays[0].dtype)
    if n <= 300:
        yield "pushes", [_column(got, like) for got, like in zip(push_all(fresh.copy(), arrays), first)]
    cuts = np.sort(rng.integers(0, n + 1, rng.integers(0, 6)))
    parts = [outputs(fresh.extend(*chunk)) for chunk in zip(*(np.split(array, cuts) for array in arrays))]
    joined = [np.ma.concatenate(chunks) for chunks in zip(*parts)]
    yield "extend", [_column(list(got), like) for got, like in zip(joined, first)]


def _column(answers: list[Any], like: np.ndarray) -> np.ndarray:
    """Return single answers as the function over arrays returns them."""
    missing = {"b": False, "i": -1, "f": np.nan}.get(
        like.dtype.kind, np.array("NaT", like.dtype)[()] if like.dtype.kind in "mM" else 0
    )
    gone = [answer is None or answer is np.ma.masked for answer in answers]
    column = np.array([missing if lost else answer for lost, answer in zip(gone, answers)])
    return column.astype(like.dtype)


def _same_bits(statistic: Statistic, one: Any, other: Any, way: str) -> None:
    """Raise AssertionError unless both arrays have equal bits, zeros and NaN aside."""
    assert one.dtype == other.dtype, (way, one.dtype, other.dtype)
    assert one.shape == other.shape, (way, one.shape, other.shape)
    if statistic.name in DISTANCES and one.dtype.kind == "f":
        negative = np.flatnonzero((other == 0) & np.signbit(other))
        assert not len(negative), (way, "-0.0 in rows", negative[:9])
    left, right = _bits(one), _bits(other)
    differ = np.flatnonzero(left != right)
    assert not len(differ), (way, "rows", differ[:9], one[differ[:9]], other[differ[:9]])


def _bits(array: np.ndarray) -> np.ndarray:
    """Return the bits as integers; one pattern for both zeros, and one for NaN."""
    if array.dtype.kind == "f":
        array = np.where(is_missing(array), np.array(np.nan, array.dtype), array + array.dtype.type(0))
    return np.ascontiguousarray(array).view(f"u{array.itemsize}")
