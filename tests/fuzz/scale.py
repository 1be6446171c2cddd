"""Statistics that round, at extreme scale, against fractions and the bounds of their docstrings.

A result is within its bound, and stays there if rows outside its window change.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import rollstat
from rollstat.registry import REGISTRY, Statistic
from rollstat.streaming import STREAMS
from tests.fuzz.exact_results import OF_MORE, RESULTS, error_bounds
from tests.fuzz.streams import _add
from tests.streaming.cases import make
from tests.test_contract import call, is_missing, outputs, taken

U = Fraction(1, 2**53)
SMALLEST = Fraction(1, 2**1074)
LARGEST = Fraction(2**1024 - 2**970)
# Values for streams, whose operators hold means: they do not scale sums, and an offset costs digits.
MODERATE = ("plain", "spikes", "constant", "near", "wide", "small")


def _per_run(rng: np.random.Generator, n: int) -> np.ndarray:
    powers = np.repeat(rng.choice([-1074, -1000, -600, -300, 0, 300, 600, 1000], n // 8 + 1), 8)[:n]
    with np.errstate(all="ignore"):
        return np.ldexp(rng.integers(-9, 10, n).astype(float), powers)


def _with(rng: np.random.Generator, values: np.ndarray, others: list[float], share: float) -> np.ndarray:
    chosen = rng.random(len(values)) < share
    return np.where(chosen, rng.choice(others, len(values)), values)


def _cancelling(rng: np.random.Generator, n: int) -> np.ndarray:
    values = rng.standard_normal(n + 1)
    values[1::2] = -values[:-1:2][: len(values[1::2])] * (1 + 2.0**-50)  # but for their last digits
    return values[:n]


KINDS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "plain": lambda rng, n: rng.standard_normal(n),
    "offset": lambda rng, n: 2.0**40 + rng.standard_normal(n),
    "cancel": _cancelling,
    "outliers": lambda rng, n: _with(rng, rng.standard_normal(n), [1e6, -1e6], 0.04),
    "decades": lambda rng, n: rng.standard_normal(n) * 10.0 ** rng.integers(-6, 7, n),
    "spikes": lambda rng, n: _with(rng, rng.standard_normal(n), [np.inf, -np.inf], 0.04),
    "constant": lambda rng, n: np.repeat(rng.standard_normal(n // 20 + 1), 20)[:n],
    "tiny": lambda rng, n: 1e-200 * rng.integers(-9, 10, n),
    "huge": lambda rng, n: 1e307 * rng.integers(-9, 10, n),
    "large": lambda rng, n: 1e200 * rng.standard_normal(n),
    "subnormal": lambda rng, n: 5e-324 * rng.integers(-3, 4, n),
    "runs": _per_run,
    "extremes": lambda rng, n: _with(rng, rng.standard_normal(n), [1e300, -1e300, 1e-300, 5e-324], 0.1),
}
INTEGERS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "small": lambda rng, n: rng.integers(-9, 10, n),
    "near": lambda rng, n: 2**60 + rng.integers(0, 1000, n),
    "wide": lambda rng, n: np.where(rng.random(n) < 0.2, 2**61 - 9, rng.integers(-9, 10, n)),
}


def draw(rng: np.random.Generator, n: int, dtype: np.dtype, moderate: bool) -> np.ndarray:
    """Return values of one kind, with gaps if they are floats; `moderate` ones suit sums of powers."""
    kinds = KINDS if dtype.kind == "f" else INTEGERS
    names = [name for name in kinds if not moderate or name in MODERATE]
    values = kinds[str(rng.choice(names))](rng, n).astype(dtype)
    if dtype.kind == "f":
        values[rng.random(n) < rng.choice([0.0, 0.0, 0.2, 0.8])] = np.nan
    return values


def fuzz(rng: np.random.Generator, note: dict[str, Any]) -> int:
    """Compare the results of one statistic on one face; return the rows compared."""
    names = [name for name in sorted(REGISTRY) if not REGISTRY[name].exact and name not in OF_MORE]
    return compare(rng, REGISTRY[str(rng.choice(names))], note)


FACES = ("rows", "rows", "time", "bounds", "expanding", "push", "extend")


def compare(
    rng: np.random.Generator, statistic: Statistic, note: dict[str, Any], faces: Sequence[str] = FACES
) -> int:
    """Compare one random call of `statistic` or one of its streams; return the rows compared."""
    sample = dict(statistic.samples[rng.integers(len(statistic.samples))])
    dtype = taken(statistic, ["f8", "f8", "i8"])[rng.integers(3)]
    face = str(rng.choice(faces))
    streamed = face in ("push", "extend")
    n, m = int(rng.choice([12, 60, 150])), int(rng.choice([2, 3, 5, 8, 17, 40]))
    columns = [draw(rng, n, dtype, streamed) for _ in range(statistic.series)]
    note.update(statistic=statistic.name, sample=sample, face=face, m=m, columns=columns)
    rows = [(0 if face == "expanding" else max(i + 1 - m, 0), i + 1) for i in range(n)]
    if streamed and statistic.name not in STREAMS:
        return 0
    results = _results(statistic, columns, face, m, rows, sample)
    if results is None:
        return 0
    missing = np.logical_or.reduce([is_missing(column) for column in columns])
    compared = sum(check(statistic, results, i, rows[i], columns, missing, sample) for i in range(n))
    if streamed or face == "expanding":
        return compared
    row = int(rng.integers(n))
    changed = [draw(rng, n, dtype, False) for _ in columns]
    inside = slice(*rows[row])
    for column, other in zip(columns, changed):
        other[inside] = column[inside]
    note["changed"] = row, changed
    results = _results(statistic, changed, face, m, rows, sample)
    if results is not None:
        missing = np.logical_or.reduce([is_missing(column) for column in changed])
        compared += check(statistic, results, row, rows[row], changed, missing, sample)
    return compared


def _results(
    statistic: Statistic,
    columns: list[np.ndarray],
    face: str,
    m: int,
    rows: list[tuple[int, int]],
    sample: dict[str, Any],
) -> list[np.ndarray] | None:
    """Return the outputs of a function or a stream; None if an exact result does not fit."""
    n = len(rows)
    window: Any = {
        "time": m - 0.5,
        "bounds": tuple(np.array(rows).T.astype(np.int64)),
        "expanding": rollstat.Expanding(),
    }.get(face, m)
    options: dict[str, Any] = {"times": np.arange(float(n))} if face == "time" else {}
    try:
        if face in ("push", "extend"):
            stream = make(statistic.name, sample, window, min_periods=1, dtype=columns[0].dtype)
            if face == "extend":
                return _add(stream, "extend", columns, None)
            single = [_add(stream, "push", [column[i : i + 1] for column in columns], None) for i in range(n)]
            return [np.concatenate(parts) for parts in zip(*single)]
        return outputs(call(statistic, columns, window, sample, min_periods=1, **options))
    except OverflowError:
        return None


def check(
    statistic: Statistic,
    results: list[np.ndarray],
    row: int,
    bounds: tuple[int, int],
    columns: list[np.ndarray],
    missing: np.ndarray,
    sample: dict[str, Any],
) -> bool:
    """Raise AssertionError unless the results of a row are within their bounds; return whether it has any."""
    seen = [i for i in range(*bounds) if not missing[i]]
    series = [column[seen].tolist() for column in columns]
    finite = all(math.isfinite(value) for column in series for value in column)
    own, results_of = RESULTS[statistic.name]
    if not seen or (not finite and own == "other"):
        return False
    if not finite:
        wanted = math.nan if own == "moment" else _infinite_sum(series[0])
        for result in results:
            np.testing.assert_equal(float(result[row]), wanted)
        return True
    exact = [[Fraction(value) for value in column] for column in series]
    if statistic.name in ("slope", "linear_fit"):
        exact.append([Fraction(i - bounds[0]) for i in seen])
    places = {"rows": seen, "end": bounds[1]} if statistic.family == "exponential" else {}
    answers = results_of(*exact, **sample, **places)
    limits = error_bounds(statistic.name, exact, sample, answers, places)
    for result, answer, limit in zip(results, answers, limits, strict=True):
        if answer is None:
            assert np.isnan(float(result[row])), (row, result[row], "NaN")
        elif limit is not None:
            _check_number(float(result[row]), answer, limit, row)
    return True


def _infinite_sum(values: list[float]) -> float:
    both = math.inf in values and -math.inf in values
    return math.nan if both else math.inf if math.inf in values else -math.inf


def _check_number(result: float, wanted: Fraction, bound: Fraction, row: int) -> None:
    """Raise AssertionError unless a result is this close to the exact one, or both are out of range."""
    tolerance = bound + 2 * SMALLEST
    if math.isinf(result):
        assert abs(wanted) + tolerance >= LARGEST * (1 - U), (row, result, float(wanted))
        return
    assert not math.isnan(result), (row, "NaN")
    error = abs(Fraction(result) - wanted)
    assert error <= tolerance, (row, result, str(wanted)[:40], float(error / max(bound, SMALLEST)))
