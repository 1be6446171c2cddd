"""What a stream says about itself: `len`, `full`, `observations`, `repr` and `value` after any steps."""

from typing import Any

import numpy as np

import rollstat
import rollstat.operators as ops
from rollstat.registry import REGISTRY
from rollstat.streaming import STREAMS
from tests.streaming.cases import make, samples

OBJECTS = "objects"
KINDS = ("rows", "time", "expanding", "free")


def fuzz(rng: np.random.Generator, note: dict[str, Any]) -> int:
    """Compare the views of one stream after each step; return the number of steps."""
    if rng.random() < 0.1:
        return of_greedy(rng, note)
    return compare(
        rng, note, str(rng.choice([*sorted(STREAMS), "sum of any", OBJECTS])), str(rng.choice(KINDS))
    )


def _make(rng: np.random.Generator, name: str, kind: str, m: int, least: int) -> tuple[Any, int]:
    """Return a stream and the number of its series."""
    window = {"rows": m, "time": f"{m}s", "expanding": rollstat.Expanding(), "free": None}[kind]
    if name in REGISTRY:
        tried = [each for each in samples(name) if abs(each.get("k", 1)) <= m]
        sample = tried[rng.integers(len(tried))]
        return make(name, sample, window, min_periods=least), REGISTRY[name].series
    options = {"min_periods": least, "dtype": object if name == OBJECTS else float}
    operator: Any = (lambda older, newer: older + newer) if name == OBJECTS else ops.Sum()
    if kind == "rows":
        return rollstat.FixedAggregate(operator, m, **options), 1
    if kind == "time":
        return rollstat.TimeAggregate(operator, f"{m}s", **options), 1
    return rollstat.SlidingAggregate(operator, **options), 1


def compare(rng: np.random.Generator, note: dict[str, Any], name: str, kind: str) -> int:
    """Compare the views of a stream of one class with the rows that its window holds."""
    m = int(rng.choice([3, 8]))
    stream, series = _make(rng, name, kind, m, int(rng.integers(0, 3)))
    steps = note["steps"] = []
    note.update(name=name, kind=kind, m=m)
    rows: list[tuple[float, bool]] = []  # time, and whether all of its elements are there
    began, now = None, 0.0
    for _ in range(25):
        step = str(
            rng.choice(
                ["push", "push", "extend", "pop", "copy", "restore", "reset"],
                p=[0.3, 0.2, 0.2, 0.1, 0.08, 0.08, 0.04],
            )
        )
        count = {"push": 1, "extend": int(rng.integers(0, 7)), "pop": int(rng.integers(0, 3))}.get(step, 0)
        columns = rng.integers(1, 9, (series, count)).astype(float)
        columns[rng.random(columns.shape) < 0.4] = np.nan
        times = now + np.sort(rng.integers(0, 4, count)) * 1.0
        steps.append((step, columns.tolist(), times.tolist()))
        if step == "copy":
            stream = stream.copy()
        elif step == "restore" and name != OBJECTS:
            stream = rollstat.restore(stream.snapshot())
        elif step == "reset":
            stream.reset()
            rows, began, now = [], None, 0.0
        elif step == "pop" and kind == "free":
            count = min(count, len(rows))
            _check_result(stream, stream.pop(count))
            del rows[:count]
        elif step in ("push", "extend"):
            _add(stream, step, columns, times, kind, name)
            for i in range(count):
                rows.append((times[i], not np.isnan(columns[:, i]).any()))
                if kind == "time":
                    began, now = times[i] if began is None else began, times[i]
                    rows = [row for row in rows if row[0] > now - m]
                elif kind == "rows":
                    rows = rows[-m:]
        assert len(stream) == len(rows), f"{len(stream)} rows for {len(rows)}"
        assert repr(stream) == f"<{type(stream).__name__} of {len(rows)} rows, value {stream.value!r}>"
        if hasattr(stream, "observations"):
            assert stream.observations == sum(observed for _, observed in rows)
        if kind != "time":
            assert stream.full == (kind == "rows" and len(rows) == m)
        elif hasattr(stream, "observations"):
            assert stream.full == (began is not None and began <= now - m)
    return len(steps)


def _add(stream: Any, step: str, columns: Any, times: Any, kind: str, name: str) -> None:
    """Push the only row, or extend by all rows; compare the last result with the value."""
    given: Any = columns
    stamps = times.astype("M8[s]")
    if name == OBJECTS:
        given = [[None if x != x else x for x in columns[0]]]
    if step == "push":
        last = stream.push(*(column[0] for column in given), *(stamps if kind == "time" else ()))
        _check_result(stream, last)
        return
    results = stream.extend(*given, **({"times": stamps} if kind == "time" else {}))
    several = results if isinstance(results, tuple) else (results,)
    assert all(len(column) == len(times) for column in several)


def _check_result(stream: Any, result: Any) -> None:
    """Compare a result with the value, which may be computed in another order."""
    value = stream.value
    pairs = zip(result, value, strict=True) if isinstance(value, tuple) else [(result, value)]
    for one, other in pairs:
        if isinstance(other, float):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
        else:
            assert one == other


def of_greedy(rng: np.random.Generator, note: dict[str, Any]) -> int:
    """Compare the views of windows that are asked for."""
    dtype = object if rng.random() < 0.5 else float
    operator: Any = (lambda older, newer: older + newer) if dtype is object else ops.Sum()
    stream, values, left, right = rollstat.GreedyAggregate(operator, dtype=dtype), [], 0, 0
    steps = note["steps"] = []
    for _ in range(25):
        x = None if rng.random() < 0.4 else float(rng.integers(1, 9))
        stream.push(x)
        values.append(x)
        if rng.random() < 0.4:
            left = int(rng.integers(left, len(values) + 1))
            right = int(rng.integers(max(left, right), len(values) + 1))
            _check_result(stream, stream.move(left, right))
        steps.append((x, left, right))
        kept = [value for value in values[left:right] if value is not None]
        missing = None if dtype is object else np.nan
        text = repr(sum(kept) if kept else missing)
        assert len(stream) == right - left
        assert stream.bounds == (left, right)
        assert stream.rows == len(values)
        assert repr(stream) == (
            f"<GreedyAggregate of {len(values)} rows, window {(left, right)}, value {stream.value!r}>"
        )
        assert repr(stream.value) == text
    return len(steps)
