"""Warnings as errors: a call that raises leaves `out` as it was."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import rollstat
from rollstat.registry import REGISTRY, Statistic
from tests.fuzz.draws import draw_values, draw_window
from tests.test_contract import as_out, call, fits, outputs, taken

DTYPES = ("i8", "i8", "u8", "f8", "f4", "M8[ns]", "m8[ns]")
LARGE = (2**53 - 1, 2**53 + 1, 2**54 + 3, 2**60 + 1, 2**62, 2**63 - 1)
FLOATS = (1e-300, 1e154, 1e200, 1e308)
BOXED = ("min", "max", "kth", "median", "quantile")


def fuzz(rng: np.random.Generator, note: dict[str, Any]) -> int:
    """Compare one call with `out`; return the number of results."""
    return of_function(rng, note, REGISTRY[str(rng.choice(sorted(REGISTRY)))])


def draw_large(rng: np.random.Generator, n: int, dtype: np.dtype) -> Any:
    """Return values of which some cannot be computed exactly; integers may be masked."""
    values = draw_values(rng, n, dtype, False, False)
    chosen = rng.random(n) < rng.choice([0.0, 0.1, 0.6, 1.0])
    if dtype.kind == "f":
        values[chosen] = rng.choice(np.array(FLOATS, dtype), n)[chosen]
        return values
    numbers = values.view(np.uint64 if dtype.kind == "u" else np.int64)
    large = rng.choice(np.array(LARGE, numbers.dtype), n)
    if dtype.kind != "u":
        large *= rng.choice([-1, 1], n)
    numbers[chosen] = large[chosen]
    if dtype.kind in "iu" and rng.random() < 0.3:
        return np.ma.MaskedArray(values, rng.random(n) < 0.2)
    return values


def of_function(
    rng: np.random.Generator, note: dict[str, Any], statistic: Statistic, dtypes: Sequence[str] = DTYPES
) -> int:
    """Compare `out` before and after a call that raises; return the number of results."""
    sample = dict(statistic.samples[rng.integers(len(statistic.samples))])
    types = taken(statistic, list(dtypes)) or taken(statistic)
    dtype, n = types[rng.integers(len(types))], int(rng.choice([0, 7, 60, 200]))
    columns = [draw_large(rng, n, dtype) for _ in range(statistic.series)]
    drawn = draw_window(rng, n)
    window, options = drawn.window, dict(drawn.options)
    if "times" not in options and not fits(sample, window):
        return 0
    options["min_periods"] = int(rng.integers(0, min(drawn.most, 3) + 1))
    if statistic.name in BOXED and rng.random() < 0.3:
        columns = [column[: n // 5 * 5].reshape(5, -1) for column in columns]
        window, options = (2, 1 + abs(sample.get("k", 1))), {"axis": (0, 1), "min_periods": 1}
    elif "segments" not in options and rng.random() < 0.3:  # several lines
        columns = [np.ma.stack([column, column[::-1]]) for column in columns]
    note.update(statistic=statistic.name, sample=sample, columns=columns, window=window, options=options)
    try:
        with warnings.catch_warnings(action="ignore"):
            wanted = [
                np.ma.getdata(part) for part in outputs(call(statistic, columns, window, sample, **options))
            ]
    except (ValueError, OverflowError):
        return 0
    targets = [np.frombuffer(b"\x25" * part.nbytes, part.dtype).reshape(part.shape).copy() for part in wanted]
    out, targets = as_out(statistic, targets)
    before = [target.tobytes() for target in targets]
    try:
        with warnings.catch_warnings(action="error"):
            call(statistic, columns, window, sample, **options, out=out)
    except rollstat.PrecisionWarning:
        assert [target.tobytes() for target in targets] == before, "out has changed"
    else:
        for target, part in zip(targets, wanted):
            np.testing.assert_array_equal(target, part)
    return sum(part.size for part in wanted)
