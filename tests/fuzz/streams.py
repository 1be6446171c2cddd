"""Streams: pushes, arrays, pops, copies and snapshots in any order, against the oracles."""

from typing import Any

import numpy as np

import rollstat
from rollstat.registry import REGISTRY, Statistic
from rollstat.streaming import STREAMS
from tests.fuzz.compare import Answer, Rule, answers, check
from tests.fuzz.draws import draw_values
from tests.streaming.cases import make, samples
from tests.test_contract import is_missing, outputs, taken


def fuzz(rng: np.random.Generator, note: dict[str, Any]) -> int:
    """Compare the answers of one stream; return how many."""
    name = str(rng.choice(sorted(STREAMS)))
    statistic, tried = REGISTRY[name], samples(name)
    sample = tried[rng.integers(len(tried))]
    types = taken(statistic, ["f8", "f4", "i8", "u1", "?", "M8[s]", "m8[2h]"])
    types = [dtype for dtype in types if dtype.kind in STREAMS[name]._row.kinds]
    dtype = types[0] if rng.random() < 0.5 else types[rng.integers(len(types))]
    n = int(rng.choice([5, 40, 150]))
    columns = [draw_values(rng, n, dtype, statistic.exact, False) for _ in range(statistic.series)]
    kind = str(rng.choice(["rows", "time", "expanding", "free"]))
    m = int(rng.choice([1, 3, 8, 60]))
    if abs(sample.get("k", 1)) > m:
        return 0
    window = {"rows": m, "time": float(m), "expanding": rollstat.Expanding(), "free": None}[kind]
    least = int(rng.integers(0, min(m, 3) + 1))
    times = np.sort(rng.integers(0, 2 * n, n)).astype(float) if kind == "time" else None
    note.update(
        statistic=name, sample=sample, window=window, dtype=dtype, columns=columns, least=least, times=times
    )
    stream = make(name, sample, window, min_periods=least, dtype=dtype)
    missing = np.logical_or.reduce([is_missing(column) for column in columns])
    rule, begin, end, compared = Rule(least, False, missing), 0, 0, 0
    steps = note["steps"] = []
    while end < n:
        step = str(rng.choice(["push", "extend", "pop", "copy", "snapshot"], p=[0.5, 0.2, 0.2, 0.05, 0.05]))
        count = 1 if step == "push" else int(rng.choice([0, 1, 2, 7, 30, n]))
        steps.append((step, count))
        if step == "copy":
            stream = stream.copy()
        elif step == "snapshot":
            stream = rollstat.restore(stream.snapshot())
        elif step == "pop":
            if kind == "free":
                count = min(count, end - begin)
                stream.pop(count)
                begin += count
        else:
            count = min(count, n - end)
            rows = []
            for row in range(end, end + count):
                first = {"rows": row + 1 - m, "expanding": 0, "free": begin}.get(kind)
                if times is not None:
                    first = int(np.searchsorted(times, times[row] - m, "right"))
                rows.append((row, max(first, 0), row + 1))
            part = [column[end : end + count] for column in columns]
            wanted = answers(statistic, columns, rows, sample, rule)
            try:
                results = _add(stream, step, part, None if times is None else times[end : end + count])
            except OverflowError:
                assert any(x is not None and abs(x) >= 2**63 for answer in wanted for x in answer.values)
                return compared
            check(statistic, results, wanted)
            end += count
            compared += count
    _check_value(
        statistic, stream, columns, (end - 1, begin if kind == "free" else rows[-1][1], end), sample, rule
    )
    return compared + 1


def _add(stream: Any, step: str, part: list[np.ndarray], times: np.ndarray | None) -> list[Any]:
    """Push the only row, or extend by all rows; return the results."""
    if step == "extend":
        return outputs(stream.extend(*part, **({} if times is None else {"times": times})))
    dtype = part[0].dtype
    values = [column[0] if dtype.kind in "mM" else column[0].item() for column in part]
    return _arrays(stream.push(*values, *(() if times is None else times)), dtype)


def _arrays(value: Any, dtype: np.dtype) -> list[Any]:
    """Return a single answer as arrays of one row."""
    arrays = [np.array([np.nan if x is None else x]) for x in outputs(value)]
    rounded = dtype == np.float32  # answers are Python floats all the same
    return [array.astype(dtype) if rounded and array.dtype.kind == "f" else array for array in arrays]


def _check_value(
    statistic: Statistic, stream: Any, columns: list[Any], row: tuple[int, int, int], sample: Any, rule: Rule
) -> None:
    """Compare the present value."""
    wanted: list[Answer] = answers(statistic, columns, [row], sample, rule)
    check(statistic, _arrays(stream.value, columns[0].dtype), wanted)
