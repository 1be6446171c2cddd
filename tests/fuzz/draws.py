"""Random windows, values and memory layouts."""

from typing import Any, NamedTuple

import numpy as np
from pandas.api.indexers import FixedForwardWindowIndexer

import rollstat

CLOSED = (None, "right", "left", "both", "neither")
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 5e-324, 1e308, -1e308])


class Drawn(NamedTuple):
    """A window, and which rows it holds by definition.

    Attributes
    ----------
    window
        As a call takes it.
    options : dict
        ``center``, ``closed``, ``step``, ``times``, ``segments`` and ``mode``, as far as they are given.
    rows : list of (int, int, int)
        The own row, the first row and the row after the last one of the window of each result.
    default : int
        Observations that a result needs by default.
    most : int
        The largest `min_periods` that may be given.
    """

    window: Any
    options: dict[str, Any]
    rows: list[tuple[int, int, int]]
    default: int
    most: int


def draw_window(rng: np.random.Generator, n: int) -> Drawn:
    """Return a window of any kind over `n` rows."""
    kinds = [_by_rows, _by_rows, _by_time, _by_bounds, _expanding, _forward, _indexer]
    kinds += [_in_any_order, _around_rows, _sizes, _around_times, _at_times]
    return kinds[rng.integers(len(kinds))](rng, n)


def _segments(rng: np.random.Generator, n: int, options: dict[str, Any]) -> list[tuple[int, int]]:
    """Return first rows and ends of segments, perhaps one, and note them in the options."""
    if rng.random() < 0.75:
        return [(0, n)]
    cuts = np.sort(rng.integers(0, n + 1, rng.integers(0, 5)))
    offsets = np.array([0, *cuts, n])
    options["segments"] = offsets
    return list(zip(offsets[:-1].tolist(), offsets[1:].tolist()))


def _step(rng: np.random.Generator, options: dict[str, Any]) -> int:
    if rng.random() < 0.75:
        return 1
    options["step"] = int(rng.integers(1, 6))
    return options["step"]


def _width(rng: np.random.Generator, n: int) -> int:
    return int(rng.choice([1, 2, 3, 5, 8, 17, 40, max(n - 1, 1), n + 3]))


def _around(
    rng: np.random.Generator, n: int, left: int, right: int, options: dict[str, Any]
) -> list[tuple[int, int, int]]:
    """Return windows ``[i - left, i + right)`` cut at the ends of segments; only whole ones at random."""
    segments, step = _segments(rng, n, options), _step(rng, options)
    whole = rng.random() < 0.2
    if whole:
        options["mode"] = "valid"
    rows = []
    for low, high in segments:
        for i in range(low, high, step):
            if whole and len(segments) == 1 and not (i - left >= low and i + right <= high):
                continue
            start = min(max(i - left, low), high)
            end = min(max(i + right, start), high)
            if whole and end - start != left + right:
                continue
            rows.append((i, start, end))
    return rows


def _by_rows(rng: np.random.Generator, n: int) -> Drawn:
    m, options = _width(rng, n), {}
    center, closed = bool(rng.random() < 0.3), CLOSED[rng.integers(5)] if rng.random() < 0.4 else None
    if center:
        options["center"] = True
    if closed:
        options["closed"] = closed
    ahead = (m - 1) // 2 if center else 0
    right = ahead + 1 - (closed in ("left", "neither"))
    left = m - ahead - 1 + (closed in ("left", "both"))
    return Drawn(m, options, _around(rng, n, left, right, options), m, m)


def _forward(rng: np.random.Generator, n: int) -> Drawn:
    m, options = _width(rng, n), {}
    return Drawn(rollstat.Forward(m), options, _around(rng, n, 0, m, options), m, m)


def _around_rows(rng: np.random.Generator, n: int) -> Drawn:
    before, after, options = int(rng.integers(0, 9)), int(rng.integers(0, 9)), {}
    m = before + after + 1
    return Drawn(rollstat.Around(before, after), options, _around(rng, n, before, after + 1, options), m, m)


def _in_any_order(rng: np.random.Generator, n: int) -> Drawn:
    start = rng.integers(0, n + 1, n)
    end = np.minimum(start + rng.integers(0, rng.choice([2, 6, n + 1]), n), n)
    return Drawn((start, end), {}, list(zip(range(n), start.tolist(), end.tolist())), 1, 3)


def _sizes(rng: np.random.Generator, n: int) -> Drawn:
    options: dict[str, Any] = {}
    segments, step = _segments(rng, n, options), _step(rng, options)
    m = rng.integers(0, rng.choice([3, 20]), n)
    rows = [(i, max(i + 1 - int(m[i]), low), i + 1) for low, high in segments for i in range(low, high, step)]
    return Drawn(m, options, rows, 1, 3)


def _within(times: list[int], low: int, high: int) -> tuple[int, int]:
    """Return the first row whose time lies between two others, ends included, and the row after the last."""
    start = sum(time < low for time in times)
    return start, max(start, sum(time <= high for time in times))


def _around_times(rng: np.random.Generator, n: int) -> Drawn:
    times, before, after = np.sort(rng.integers(0, 2 * n + 1, n)), *rng.integers(0, 9, 2).tolist()
    window = rollstat.Around(f"{before}s", f"{after}s")
    rows = [(i, *_within(times.tolist(), t - before, t + after)) for i, t in enumerate(times.tolist())]
    return Drawn(window, {"times": times.astype("M8[s]")}, rows, 1, 3)


def _at_times(rng: np.random.Generator, n: int) -> Drawn:
    times, asked = np.sort(rng.integers(0, 2 * n + 1, n)), rng.integers(-3, 2 * n + 4, rng.integers(0, n + 2))
    width = int(rng.integers(1, 20))
    options = {"times": times.astype("M8[s]"), "at": asked.astype("M8[s]"), "closed": "both"}
    rows = [(-1, *_within(times.tolist(), t - width, t)) for t in asked.tolist()]
    return Drawn(f"{width}s", options, rows, 1, 3)


def _expanding(rng: np.random.Generator, n: int) -> Drawn:
    options: dict[str, Any] = {}
    segments, step = _segments(rng, n, options), _step(rng, options)
    closed = (None, None, "left", "neither", "both")[rng.integers(5)]
    if closed is not None:
        options["closed"] = closed
    own = closed not in ("left", "neither")
    rows = [(i, low, i + own) for low, high in segments for i in range(low, high, step)]
    return Drawn(rollstat.Expanding(), options, rows, 1, 3)


def _indexer(rng: np.random.Generator, n: int) -> Drawn:
    m, options = _width(rng, n), {}
    step = _step(rng, options)
    rows = [(i, i, min(i + m, n)) for i in range(0, n, step)]
    return Drawn(FixedForwardWindowIndexer(window_size=m), options, rows, m, m)


def _by_bounds(rng: np.random.Generator, n: int) -> Drawn:
    count = n if rng.random() < 0.7 else int(rng.integers(0, 2 * n + 1))
    start = np.sort(rng.integers(0, n + 1, count))
    reach = rng.integers(0, rng.choice([2, 6, n + 1]), count)
    end = np.minimum(np.maximum.accumulate(start + reach), n)
    dtype = rng.choice([np.int64, np.int32, np.uint16])
    window = start.astype(dtype), end.astype(dtype)
    own = range(n) if count == n else [-1] * count  # only rows of the data have a value of their own
    return Drawn(window, {}, list(zip(own, start.tolist(), end.tolist())), 1, 3)


def _by_time(rng: np.random.Generator, n: int) -> Drawn:
    options: dict[str, Any] = {}
    segments, step = _segments(rng, n, options), _step(rng, options)
    span = int(rng.choice([2, 10, 3 * n + 1]))
    halves = 2 * rng.integers(-5, span, n)  # times in half units, so that all is whole
    kind = rng.choice(["int", "float", "datetime", "regular"])
    if kind == "float":
        halves += rng.integers(0, 2, n)
    if kind == "regular":
        halves = np.arange(n) * 6
    for low, high in segments:
        halves[low:high].sort()
    sign = 1
    if rng.random() < 0.2:
        sign = -1
        halves = -halves
    width = 2 * int(rng.choice([1, 2, 3, 7, 9, 30]))
    center = bool(rng.random() < 0.3)
    closed = str(rng.choice(["right", "left", "both", "neither"]))
    if center:
        options["center"] = True
    if closed != "right" or rng.random() < 0.5:
        options["closed"] = closed
    rows = []
    for low, high in segments:
        for i in range(low, high, step):
            held = [
                j
                for j in range(low, high)
                if _holds(sign * (halves[j] - halves[i]), j - i, width, center, closed)
            ]
            rows.append((i, held[0], held[-1] + 1) if held else (i, low, low))
    window: Any = width // 2
    if kind == "float":
        options["times"] = halves / 2
        window = float(window) if rng.random() < 0.5 else window
    elif kind == "datetime":
        options["times"] = (halves // 2).astype("M8[s]")
        window = f"{window}s" if rng.random() < 0.5 else np.timedelta64(1000 * window, "ms")
    else:
        options["times"] = (halves // 2).astype(np.int64)
    return Drawn(window, options, rows, 1, 3)


def _holds(distance: int, rows: int, width: int, center: bool, closed: str) -> bool:
    """Return whether a window holds the value that is so far after its own, in time and in rows."""
    at_left, at_right = closed in ("left", "both"), closed in ("right", "both")
    if center:
        distance, low, high = 2 * distance, -width, width
    else:
        low, high = -width, 0
        if at_right and rows > 0:
            return False  # later rows of the same time are the future
    return (low < distance or (at_left and low == distance)) and (
        distance < high or (at_right and distance == high)
    )


def draw_values(rng: np.random.Generator, n: int, dtype: np.dtype, exact: bool, wide: bool) -> np.ndarray:
    """Return values with ties, runs, missing ones and gaps; extreme ones where the statistic is `exact`."""
    kind = rng.choice(["ties", "noise", "sorted", "constant", "special"])
    share = rng.choice([0.0, 0.0, 0.15, 0.6, 1.0])
    if dtype.kind == "b":
        return rng.integers(0, 2, n).astype(bool)
    if dtype.kind in "iu":
        if wide and kind == "special":
            limits = np.iinfo(dtype)
            return rng.choice(np.array([limits.min, limits.min + 1, 0, limits.max - 1, limits.max], dtype), n)
        high = 100 if kind != "ties" else 4
        values = rng.integers(0 if dtype.kind == "u" else -high, high, n)
        if kind == "sorted":
            values.sort()
        return (values * (kind != "constant")).astype(dtype)
    if dtype.kind in "mM":
        values = rng.integers(-50, 50, n).astype(dtype)
        values[rng.random(n) < share] = "NaT"
        return values
    if kind == "special" and exact:
        values = rng.choice(SPECIAL, n)
    elif kind == "ties":
        values = rng.integers(0, 6, n) * 0.25
    else:
        values = rng.standard_normal(n) * 10.0 ** rng.integers(-2, 3)
    if kind == "sorted":
        values.sort()
    if kind == "constant":
        values[:] = 1.5
    with np.errstate(over="ignore"):
        values = values.astype(dtype)
    if dtype == np.float32:
        values = np.nan_to_num(values, nan=0.0) if exact else values
    values[rng.random(n) < share] = np.nan
    if rng.random() < 0.2:  # a gap, after which weights that decay are very small
        first, last = np.sort(rng.integers(0, n + 1, 2))
        values[first:last] = np.nan
    return values


def lay_out(rng: np.random.Generator, array: np.ndarray) -> np.ndarray:
    """Return an equal array with another layout in memory."""
    kind = rng.choice(["plain", "plain", "strided", "reversed", "swapped", "frozen", "unaligned", "column"])
    if kind == "strided":
        return np.repeat(array, 3, axis=-1)[..., ::3]
    if kind == "reversed":
        return array[..., ::-1].copy()[..., ::-1]
    if kind == "swapped":
        return array.astype(array.dtype.newbyteorder(">"))
    if kind == "frozen":
        array = array.copy()
        array.flags.writeable = False
    if kind == "unaligned":
        memory = np.zeros(array.nbytes + 1, np.uint8)
        view = memory[1:].view(array.dtype) if array.size else array
        view = view.reshape(array.shape)
        view[...] = array
        return view
    if kind == "column":
        return np.asfortranarray(array)
    return array
