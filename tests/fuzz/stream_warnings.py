"""Warnings as errors: a push, a pop or an array that raises leaves a stream as it was."""

import warnings
from typing import Any

import numpy as np

import rollstat
from rollstat.registry import REGISTRY
from rollstat.streaming import STREAMS
from tests.fuzz.draws import draw_values
from tests.streaming.cases import make, samples
from tests.test_contract import taken

DTYPES = ["i8", "i8", "u8", "f8", "M8[ns]", "m8[ns]"]
LARGE = (2**53 - 1, 2**53 + 1, 2**54 + 3, 2**60 + 1, 2**62, 2**63 - 1)


def fuzz(rng: np.random.Generator, note: dict[str, Any]) -> int:
    """Compare one stream before and after each step that raises; return the number of steps."""
    return of_stream(rng, note, str(rng.choice(sorted(STREAMS))))


def _draw(rng: np.random.Generator, n: int, dtype: np.dtype) -> Any:
    """Return elements, of which some integers are beyond 2**53 and some masked."""
    values = draw_values(rng, n, dtype, False, False)
    if dtype.itemsize < 8 or dtype.kind == "f":
        return values
    numbers = values.view(np.uint64 if dtype.kind == "u" else np.int64)
    large = rng.choice(np.array(LARGE, numbers.dtype), n)
    if dtype.kind != "u":
        large *= rng.choice([-1, 1], n)
    chosen = rng.random(n) < rng.choice([0.0, 0.1, 0.6, 1.0])
    numbers[chosen] = large[chosen]
    masked = dtype.kind in "iu" and rng.random() < 0.3
    return np.ma.MaskedArray(values, rng.random(n) < 0.2) if masked else values


def of_stream(rng: np.random.Generator, note: dict[str, Any], name: str) -> int:
    """Compare a stream before and after each step that raises; return the number of steps."""
    statistic, tried = REGISTRY[name], samples(name)
    sample, m = tried[rng.integers(len(tried))], int(rng.choice([1, 3, 8, 60]))
    if abs(sample.get("k", 1)) > m:
        return 0
    kind = str(rng.choice(["rows", "time", "expanding", "free"]))
    window = {"rows": m, "time": float(m), "expanding": rollstat.Expanding(), "free": None}[kind]
    types = [dtype for dtype in taken(statistic, DTYPES) if dtype.kind in STREAMS[name]._row.kinds]
    dtype, n = types[rng.integers(len(types))], int(rng.choice([10, 40, 400]))
    columns = [_draw(rng, n, dtype) for _ in range(statistic.series)]
    times = np.sort(rng.integers(0, 2 * n, n)).astype(float) if kind == "time" else None
    stream = make(name, sample, window, min_periods=int(rng.integers(0, min(m, 3) + 1)), dtype=dtype)
    note.update(statistic=name, sample=sample, window=window, dtype=dtype, columns=columns, times=times)
    steps = note["steps"] = []
    end = 0
    while end < n:
        step = str(rng.choice(["push", "extend", "pop"], p=[0.6, 0.25, 0.15]))
        count = {"push": 1, "extend": int(rng.choice([0, 1, 3, 20, n])), "pop": int(rng.integers(0, 3))}[step]
        if step == "pop" and kind != "free":
            continue
        steps.append((step, count))
        saved, length = stream.snapshot(), len(stream)
        part = [column[end : end + count] for column in columns]
        try:
            with warnings.catch_warnings(action="error"):
                _step(stream, step, count, part, None if times is None else times[end : end + count])
        except rollstat.PrecisionWarning:
            assert len(stream) == length, "the number of rows has changed"
            assert stream.snapshot() == saved, "the stream has changed"
        except OverflowError:
            return len(steps)  # sums and products keep an element whose result does not fit
        end += 0 if step == "pop" else max(count, 1)
    return len(steps)


def _step(stream: Any, step: str, count: int, part: list[Any], times: Any) -> None:
    if step == "pop":
        stream.pop(min(count, len(stream)))
    elif step == "extend":
        stream.extend(*part, **({} if times is None else {"times": times}))
    else:
        row = [None if column[0] is np.ma.masked else column[0] for column in part]
        stream.push(*row, *(() if times is None else times.tolist()))
