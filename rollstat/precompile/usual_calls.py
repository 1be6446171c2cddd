"""The calls that programs usually make, on small arrays: they need the kernels that are compiled in advance.

::

    registry           statistic x parameters --+
    thresholds         rows of windows ---------+--> calls of functions over arrays
    kinds of windows, options, kinds of data ---+
    table of streams   class x window x data ------> pushes, pops, values, extensions

Every algorithm that ``algorithm="auto"`` chooses is reached by a window on each side of every threshold, and
by data in which neighbours are alike, in order, equal, or missing. Masked arrays, segments and carried states
are what the pandas accessor and Spark workers pass. Most calls need only kernels that an earlier call has
compiled.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.registry import REGISTRY, Statistic
from rollstat.statistics import lower_upper_envelope, rolling_aggregate
from rollstat.streaming import (
    REASONS,
    STREAMS,
    FixedAggregate,
    GreedyAggregate,
    SlidingAggregate,
    TimeAggregate,
)
from rollstat.streaming.operator_adapter import OperatorAdapter
from rollstat.streaming.operator_states import NumberWindow
from rollstat.streaming.table import OperatorRow
from rollstat.streaming.window_spec import WindowSpec
from rollstat.windows import Expanding, Forward

Call = Callable[[], Any]

DTYPES = ("float64", "float32", "int64")
"""Dtypes that are compiled unless the caller names others."""

# Rows at which `auto` changes to another algorithm.
_EDGES = (
    thresholds.SORTED_BY_NETWORK,
    thresholds.NETWORK,
    thresholds.SORTED_WINDOW_OF_TRIMMED_MEANS,
    thresholds.SORTED_WINDOW_OF_MEAN_DIFFERENCES,
    thresholds.NETWORK_OF_FEW_LANES,
    thresholds.NETWORK_OF_LONG_SERIES,
    thresholds.COMPARED_RANK,
    thresholds.SORTED_WINDOW_OF_DEVIATIONS,
    thresholds.SAMPLED,
    thresholds.BLOCKWISE,
)
_WIDTHS = sorted({5, *_EDGES, *(edge + 1 for edge in _EDGES)})
_NARROW, _WIDE, _ROWS = 5, 100, 400
_LONG = max(thresholds.NETWORK_ROWS_A_ROW * _NARROW, thresholds.ONE_CALL_ROWS) + _NARROW  # rows in blocks
_BOXES = ("min", "max", "minmax", "median")  # take boxes of arrays with several dimensions
_OF_IMAGES = (*_BOXES, "sum", "mean")  # of bytes
# Take a size for each row, and integers of every width.
_SIZED = ("sum", "mean", "var", "std", "min", "max", "median", "quantile")
_INTEGERS = [np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)]


def _series(kind: str, rows: int, dtype: np.dtype[Any], number: int = 0) -> NDArray[Any]:
    """Return a series of `rows` values; the seed depends on its `number` alone."""
    rng = np.random.default_rng(number)
    values = rng.standard_normal(rows)
    if kind == "walk":
        values = values.cumsum()
    elif kind == "rising":
        values = np.arange(float(rows))
    elif kind == "levels":
        values = rng.integers(0, 4, rows).astype(float)
    if dtype.kind == "f" and kind == "missing":
        values[rng.random(rows) < 0.1] = np.nan
    if dtype.kind == "f":
        return values.astype(dtype)
    return np.abs(np.rint(values * 16)).astype(np.int64).astype(dtype)


def _function(statistic: Statistic, parameters: Mapping[str, Any]) -> Callable[..., Any]:
    """Return a function of arrays, window and options."""

    def call(arrays: list[Any], window: Any, **options: Any) -> Any:
        options.setdefault("threads", 1)  # whatever the setting of the process is
        return statistic.function(*arrays, window=window, **parameters, **options)

    return call


def _masked(array: NDArray[Any]) -> Any:
    """Return an array as nullable columns of pandas and columns of Spark reach the functions."""
    return np.ma.MaskedArray(array, np.arange(len(array)) % 11 == 7)


def _kinds_of_windows(rows: int) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield windows of all kinds, with the options that name them."""
    regular = np.arange(rows) * 2
    seconds = regular + (regular % 3 == 0)
    widths = {"f8": 20.0, "i8": 20, "M8[ns]": "20s", "M8[us]": "20s", "M8[s]": "20s"}
    for window in (_NARROW, _WIDE, Expanding(), Forward(_NARROW)):
        yield window, {}
    for dtype, width in widths.items():
        yield width, {"times": seconds.astype(dtype)}
    yield "20s", {"times": regular.astype("M8[s]")}
    yield 20.0, {"times": seconds.astype("f8"), "center": True, "closed": "both"}
    end = np.arange(1, rows + 1)
    yield (np.maximum(end - 7, 0), end), {}
    for closed in ("both", "left", "neither"):
        yield _NARROW, {"closed": closed}
    yield _NARROW, {"center": True}
    yield _NARROW, {"step": 3}


def _array_calls(statistic: Statistic, dtype: np.dtype[Any]) -> Iterator[Call]:
    """Yield calls of a function over arrays."""
    kinds = ["normal", "walk", "rising", "levels"] + ["missing"] * (dtype.kind == "f")
    for parameters in statistic.samples:
        call = _function(statistic, parameters)

        def data(kind: str, rows: int) -> list[NDArray[Any]]:
            return [_series(kind, rows, dtype, number) for number in range(statistic.series)]

        for kind in kinds:
            for width in _WIDTHS:
                yield partial(call, data(kind, 3 * width + 50), width)
            yield partial(call, data(kind, _LONG), _NARROW)
        if statistic.name == "kth":
            yield partial(call, data("normal", _ROWS), _WIDE, algorithm="three_trees")
        for kind in {"normal", kinds[-1]}:
            arrays = data(kind, _ROWS)
            masked = [_masked(array) for array in arrays]
            for window, options in _kinds_of_windows(_ROWS):
                for given, periods in ((arrays, None), (arrays, 1), (arrays, 0), (masked, 1)):
                    yield partial(call, given, window, min_periods=periods, **options)
                yield partial(call, arrays, window, nan_policy="propagate", **options)
                parts = {"segments": np.array([0, 150, 150, 160, _ROWS]), "min_periods": 1}
                if not isinstance(window, tuple) and "times" not in options:
                    for given in (arrays, masked):
                        yield partial(call, given, window, **parts, **options)
            yield from _further_options(call, arrays)
    if statistic.series == 2 and dtype == np.float64:  # prices and volumes
        mixed = [_series("normal", _ROWS, dtype), _series("normal", _ROWS, np.dtype(np.int64), 1)]
        for window, options in _kinds_of_windows(_ROWS):
            yield partial(call, mixed, window, **options)
    if statistic.name in _BOXES:
        square = _series(kinds[-1], _ROWS, dtype).reshape(20, 20)
        for box in ((3, 3), (9, 9)):
            yield partial(call, [square], box, axis=(0, 1))
        if dtype.kind in "fiu":
            yield partial(lower_upper_envelope, square[0], 3)
    if statistic.name in _OF_IMAGES and dtype == np.float64:
        image = np.arange(2**18).reshape(512, 512).astype(np.uint8)
        for size in (3, 15):
            yield partial(call, [image], (size, size), axis=(0, 1))
            yield partial(call, [image], (size, size), axis=(0, 1), mode="reflect")
        yield partial(call, [image[0]], _NARROW)
    if statistic.name in _SIZED:
        seconds = (np.arange(_ROWS) * 2).astype("M8[s]")
        for times in (seconds, seconds.astype("M8[ns]")):
            yield partial(call, [_series("normal", _ROWS, dtype)], "20s", times=times, at=times[::7])
        for each in _INTEGERS if dtype == np.int64 else (dtype,):
            for rows in (_ROWS, _LONG):  # in one call, and in blocks
                values = [_series("normal", rows, each)]
                sizes = np.where(np.arange(rows) % 2, _NARROW, _WIDE)
                for window in (_NARROW, thresholds.BLOCKWISE + 1, sizes):
                    yield partial(call, values, window, min_periods=1)


def _weights_in_time(statistic: Statistic) -> Iterator[Call]:
    """Yield calls and streams of exponential weights that fall with time."""
    times = (np.arange(_ROWS) * 2).astype("M8[s]")
    arrays = [_series("missing", _ROWS, np.dtype(float), number) for number in range(statistic.series)]
    call = _function(statistic, {"halflife": "10s"})
    stream = STREAMS[statistic.name]
    for window in (Expanding(), "20s"):
        yield partial(call, arrays, window, times=times)
        yield partial(_use_stream, partial(stream, window=window, halflife="10s"), arrays, times)


def _regressions(statistic: Statistic) -> Iterator[Call]:
    """Yield regressions on two and three series."""
    first, *others = [_series("normal", _ROWS, np.dtype(float), number) for number in range(4)]
    for count in (2, 3):
        yield partial(statistic.function, first, others[:count], window=_NARROW)


def _further_options(call: Callable[..., Any], arrays: list[NDArray[Any]]) -> Iterator[Call]:
    """Yield calls with options that change the type of the result or the shape of the arrays."""
    for window in (_NARROW, _WIDE):
        yield partial(call, arrays, window, mode="valid")
        if arrays[0].dtype.kind not in "mM":
            yield partial(call, arrays, window, fill_value=0)
        if not any((array != array).any() for array in arrays):
            yield partial(call, arrays, window, nan_policy="raise")
    square = [array.reshape(20, 20) for array in arrays]
    yield partial(call, square, _NARROW, axis=0)
    yield partial(call, square, _NARROW, axis=1, min_periods=1)


def _streams(statistic: str, window: Any, dtype: np.dtype[Any]) -> Iterator[Call]:
    """Yield functions that make streams of a statistic, for each sample of its parameters."""
    rejected = REASONS.get(statistic, {})
    for sample in REGISTRY[statistic].samples:
        given = {name: value for name, value in sample.items() if name not in rejected}
        for periods in (None, 1):
            yield partial(STREAMS[statistic], **given, **window, min_periods=periods, dtype=dtype)


def _use_stream(make: Call, columns: list[NDArray[Any]], times: NDArray[Any] | None) -> None:
    """Make a stream, push, extend by short and long arrays, copy and pop."""
    stream = make()
    for row in range(21):
        elements = [None if row == 20 else column[row] for column in columns]
        elements = [x.item() if isinstance(x, np.number) else x for x in elements]
        stream.push(*elements, *(() if times is None else (times[row],)))
    _ = stream.value
    for first, last in ((21, 31), (31, 200), (200, 5_000), (5_000, len(columns[0]))):
        part = [column[first:last] for column in columns]
        stream.extend(*part, **({} if times is None else {"times": times[first:last]}))
    again = stream.copy()
    if again._window.spec.free:
        again.pop(3)
    if again._window.spec.kind == "expanding":
        with suppress(TypeError, ValueError):  # operators that ask for rows or times cannot be merged
            stream.merge(again)
    _ = stream.value


def _use_late_rows(make: Call, columns: list[NDArray[Any]]) -> None:
    """Make a stream, push, and insert rows that arrive late."""
    try:
        stream = make()
    except ValueError:  # linear fits and exponential weights take no late rows
        return
    for row, time in enumerate(np.arange(10, 50).astype("M8[s]")):
        elements = [column[row].item() for column in columns]
        stream.push(*elements, time)
        stream.insert(*elements, time - 7)


def _stream_calls(statistic: str, dtype: np.dtype[Any]) -> Iterator[Call]:
    """Yield uses of a stream with each kind of window."""
    if statistic not in STREAMS:
        return
    series, rows = REGISTRY[statistic].series, 30 * _ROWS
    for kind in ["normal"] + ["missing"] * (dtype.kind == "f"):
        columns = [_series(kind, rows, dtype, number) for number in range(series)]
        seconds = np.arange(rows) * 2
        for window, times in (
            (_NARROW, None),
            (_WIDE, None),
            (2 * _ROWS, None),
            (None, None),
            (Expanding(), None),
            (20.0, seconds.astype(float)),
            ("20s", seconds.astype("M8[s]")),
        ):
            for make in _streams(statistic, {"window": window}, dtype):
                yield partial(_use_stream, make, columns, times)
        if dtype == np.float64:
            for make in _streams(statistic, {"window": "20s", "lateness": "20s"}, dtype):
                yield partial(_use_late_rows, make, columns)


def _general_calls(operator: Any, dtype: np.dtype[Any]) -> Iterator[Call]:
    """Yield uses of the streams that take any operator."""
    column = _series("normal", _ROWS, dtype)

    def use_greedy() -> None:
        stream = GreedyAggregate(operator, dtype=dtype)
        stream.push(column[0].item())
        stream.extend(column[1:])
        for end in (5, 50, 60):
            stream.move(end // 2, end)

    yield use_greedy
    for cls, window, times in (
        (SlidingAggregate, (), None),
        (FixedAggregate, (_NARROW,), None),
        (TimeAggregate, (20.0,), np.arange(_ROWS) * 2.0),
        (TimeAggregate, ("20s",), (np.arange(_ROWS) * 2).astype("M8[s]")),
    ):
        yield partial(_use_stream, partial(cls, operator, *window, dtype=dtype), [column], times)


def _use_carried_state(operator: Any, columns: list[NDArray[Any]], dtype: np.dtype[Any]) -> None:
    """Pass over arrays with the state that Spark workers carry from batch to batch, and join two."""
    adapter = OperatorAdapter(operator, dtype)
    windows = []
    for _ in range(2):
        window = NumberWindow(adapter, WindowSpec("expanding"), "daba")
        values, missing = adapter.encode_columns(adapter.arrays(columns), 0)
        window.extend(np.arange(len(missing)), values, missing)
        windows.append(window)
    windows[0].join(windows[1])
    windows[0].copy().fold()


def _serve_features() -> None:
    """Push rows into a stream of features, and ask for them."""
    import rollstat.features as f

    columns = [f.sum("x").over("1D", 3), f.mean("x").over("1D")]
    stream = f.Features(columns, by="key", on="time").stream()
    days = np.arange("2026-01-01", "2026-01-06", dtype="M8[D]").astype("M8[ns]")
    for day in days:
        stream.push({"key": 1, "time": day, "x": 1.0})
    stream.query(1, days[-1])


def _operator_calls(statistic: Statistic, dtype: np.dtype[Any]) -> Iterator[Call]:
    """Yield uses of the operator of a statistic, if it has one: over an array, and as a carried state."""
    row = STREAMS[statistic.name]._row if statistic.name in STREAMS else None
    if not isinstance(row, OperatorRow):
        return
    of = dtype if statistic.series == 1 else np.dtype(np.float64)
    columns = [_series("normal", _ROWS, of, number) for number in range(statistic.series)]
    array = columns[0] if statistic.series == 1 else tuple(columns)
    for sample in statistic.samples:
        operator = row.make(sample)
        yield partial(_use_carried_state, operator, columns, of)
        yield partial(rolling_aggregate, array, operator, _NARROW)


def usual_calls(statistic: str, dtype: np.dtype[Any]) -> Iterator[Call]:
    """Yield the usual calls of a statistic, as functions without arguments."""
    entry = REGISTRY[statistic]
    if dtype.kind not in entry.kinds:
        return
    yield from _array_calls(entry, dtype)
    yield from _stream_calls(statistic, dtype)
    yield from _operator_calls(entry, dtype)
    if dtype == np.float64 and entry.family == "exponential":
        yield from _weights_in_time(entry)
    if dtype == np.float64 and statistic == "regression":
        yield from _regressions(entry)
    if dtype == np.float64 and statistic == "count" and find_spec("narwhals"):
        yield _serve_features
    if statistic == "aggregate":
        objects = _series("normal", _ROWS, dtype).astype(object)
        bounds = np.maximum(np.arange(_ROWS) - 7, 0), np.arange(1, _ROWS + 1)
        yield partial(entry.function, objects, max, bounds)
        for sample in entry.samples:
            yield from _general_calls(sample["operator"], dtype)
            yield partial(_use_carried_state, sample["operator"], [_series("normal", _ROWS, dtype)], dtype)
