"""Every class of streams with the parameters that tests try, and what to compare it with."""

from typing import Any

import numpy as np
import pytest

from rollstat.registry import REGISTRY
from rollstat.streaming import REASONS, STREAMS
from rollstat.streaming.table import StatisticRow

LEADING = {"kth": ("k",), "argkth": ("k",)}


def samples(name: str) -> list[dict[str, Any]]:
    """Parameters of a statistic that its class takes too."""
    dropped = REASONS.get(name, {})
    tried: list[dict[str, Any]] = []
    for sample in REGISTRY[name].samples:
        kept = {key: value for key, value in sample.items() if key not in dropped}
        if kept not in tried:
            tried.append(kept)
    return tried


ORDERS = [name for name, cls in STREAMS.items() if isinstance(cls._row, StatisticRow)]
SUMS = [name for name in STREAMS if name not in ORDERS]
CASES = [(name, sample) for name in ORDERS for sample in samples(name)]
FIRST = [(name, samples(name)[0]) for name in ORDERS]
AGGREGATES = [(name, sample) for name in SUMS for sample in samples(name)]
NAMED = [*FIRST, *((name, samples(name)[0]) for name in SUMS)]
# A dtype, algorithm or window that compiles all of these once more is left to `nox -s sweeps`. The other
# operators differ most in their elements, states and results.
FURTHER = set(SUMS) - {"sum", "prod", "var", "any", "cov", "linear_fit"}


def typical(cases: list[tuple[str, Any]]) -> list[Any]:
    """Mark the cases of the further statistics as long."""
    return [pytest.param(*case, marks=pytest.mark.long if case[0] in FURTHER else ()) for case in cases]


def identity(case: Any) -> str:
    return "-".join(map(str, case.values())) if isinstance(case, dict) else str(case)


def make(name: str, sample: dict[str, Any], window: Any, **options: Any) -> Any:
    """A stream of a statistic."""
    own = dict(sample)
    leading = [own.pop(key) for key in LEADING.get(name, ())]
    return STREAMS[name](*leading, window, **own, **options)


def batch(name: str, sample: dict[str, Any], columns: list[Any], window: Any, **options: Any) -> list[Any]:
    """Arrays that the function over arrays gives."""
    result = REGISTRY[name].function(*columns, window=window, **sample, **options)
    return list(result) if isinstance(result, tuple) else [result]


def columns_of(name: str, rng: np.random.Generator, n: int, dtype: Any = "f8") -> list[Any]:
    """Series with ties, and missing values where the dtype has them."""
    dtype = np.dtype(dtype)
    columns = []
    for _ in range(REGISTRY[name].series):
        values = rng.integers(0, 2 if dtype.kind == "b" else 9, n)
        column = values.astype(dtype) if dtype.kind != "f" else (values * 0.7).astype(dtype)
        if dtype.kind in "fmM":
            column[rng.random(n) < 0.15] = "NaT" if dtype.kind in "mM" else np.nan
        columns.append(column)
    return columns


def push_all(stream: Any, columns: list[Any], times: Any = None) -> list[list[Any]]:
    """Answers to pushing row by row, one list for each output."""
    rows = list(zip(*(column if column.dtype.kind in "mM" else column.tolist() for column in columns)))
    given = [()] * len(rows) if times is None else [(t,) for t in times]
    answers = [stream.push(*row, *t) for row, t in zip(rows, given)]
    return [list(column) for column in zip(*(a if isinstance(a, tuple) else (a,) for a in answers))]


def plain(value: Any) -> Any:
    """A value as a float, or a whole number, None where missing."""
    if value is None or value is np.ma.masked:
        return None
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return None if np.isnat(value) else int(value.astype(np.int64))
    value = value.item() if isinstance(value, np.generic) else value
    return None if value != value else value


def same(name: str, got: Any, wanted: Any, single: bool = False) -> None:
    """Compare answers: exactly, or within the bound of a statistic with rounding."""
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted):
        assert len(one) == len(other)
        left, right = [plain(v) for v in one], [plain(v) for v in other]
        if REGISTRY[name].exact:
            assert left == right
            continue
        assert [v is None for v in left] == [v is None for v in right]
        pairs = [(a, b) for a, b in zip(left, right) if a is not None]
        tolerance = 1e-5 if single else 1e-9
        np.testing.assert_allclose(
            [a for a, _ in pairs], [b for _, b in pairs], rtol=tolerance, atol=tolerance
        )


def outputs(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


__all__ = [
    "AGGREGATES",
    "CASES",
    "FIRST",
    "FURTHER",
    "NAMED",
    "batch",
    "columns_of",
    "identity",
    "make",
    "outputs",
    "plain",
    "push_all",
    "same",
    "samples",
    "typical",
]
