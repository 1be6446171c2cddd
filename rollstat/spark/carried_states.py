"""What a statistic has to know of all rows before those at hand, for windows that reach the first row.

::

    rows of a series    | 5 2 9 4 7 1 8 3 |  6 0 7 ...          a batch ends, or a bucket
    kth, k = 2          |  2 1            |  with their rows    the k smallest: others can never come back
    sum                 |  39             |                     one state of the operator

Two such states, of neighbouring stretches, join into one. So a series is walked over in little memory; and
in buckets, each of which starts from the joined states of those before it. A median or a quantile may
come to ask for any row that there was, so there is no such state for it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rollstat.operators.interface import NOTHING
from rollstat.registry import REGISTRY
from rollstat.spark.aggregate_spec import Call, evaluate
from rollstat.streaming import STREAMS
from rollstat.streaming.operator_adapter import OperatorAdapter
from rollstat.streaming.table import OperatorRow
from rollstat.streaming.windows.operator import NumberWindow
from rollstat.windows import Expanding

__all__ = ["Carried", "Column", "asks_for_rows", "carried_for", "why_not"]

Column = np.ma.MaskedArray[Any, Any]

_EXTREMA = ("min", "max", "minmax", "ptp", "argmin", "argmax")
_MANY_ROWS = np.int64(2**62)
_ROOM = 64  # states of single rows that wait to be combined


def _is_operator(statistic: str) -> bool:
    cls = STREAMS.get(statistic)
    return statistic == "aggregate" or (cls is not None and isinstance(cls._row, OperatorRow))


def _operator(statistic: str, parameters: Mapping[str, Any]) -> Any:
    if statistic == "aggregate":
        return parameters["op"]
    made = STREAMS[statistic]._row.operator
    return made(**{name: parameters[name] for name in made._fields if name in parameters})


def why_not(statistic: str, options: Mapping[str, Any]) -> str | None:
    """Why a statistic has no state that can be carried on; None where it has one."""
    if options.get("algorithm", "auto") != "auto":
        return f"with algorithm={options['algorithm']!r} it asks for all rows at once"
    if statistic in ("kth", "argkth") or statistic in _EXTREMA or _is_operator(statistic):
        return None
    return "any row before may come to count, so its state has no bound"


def asks_for_rows(statistic: str, parameters: Mapping[str, Any]) -> bool:
    """Whether the state tells at which rows of the series it was made."""
    return _is_operator(statistic) and bool(getattr(_operator(statistic, parameters), "with_row", False))


class Carried:
    """What one call has to know of the rows before.

    Parameters
    ----------
    call : Call
        What is computed.
    options : mapping
        The common options.

    Attributes
    ----------
    rows : int
        Rows of the series so far.
    count : int
        Observations among them.
    lacking : bool
        Whether a row was missing.
    first : int
        Row of its series that the first one was.
    """

    def __init__(self, call: Call, options: Mapping[str, Any]) -> None:
        statistic = REGISTRY[call.statistic]
        self.call, self.statistic = call, statistic
        self.policy = options.get("nan_policy", "omit")
        given = options.get("min_periods")
        default = 1 if statistic.min_periods is None else statistic.min_periods
        self.least: int = default if given is None else given
        self.rows = self.count = 0
        self.lacking = False
        self.first = 0

    def begin(self, row: int) -> None:
        """Say which row of its series the first one is that is taken, where the state asks for rows."""
        self.first = row

    def take(self, columns: Sequence[Column]) -> list[Column]:
        """Go on over rows, and return the results of each."""
        missing = np.logical_or.reduce([_missing(column) for column in columns])
        if self.policy == "raise" and missing.any():
            raise ValueError("a value is missing, and nan_policy is 'raise'")
        count = self.count + np.cumsum(~missing)
        results = self._results(columns, missing, count)
        hidden = np.zeros(len(missing), np.bool_)
        if self.policy == "propagate":
            hidden = np.logical_or.accumulate(missing) | self.lacking
        self.rows += len(missing)
        self.count += int((~missing).sum())
        self.lacking |= bool(missing.any())
        return [np.ma.MaskedArray(result.data, np.ma.getmaskarray(result) | hidden) for result in results]

    def skip(self, columns: Sequence[Column]) -> None:
        """Go on over rows without results."""
        missing = np.logical_or.reduce([_missing(column) for column in columns])
        self._keep(columns, missing)
        self.rows += len(missing)
        self.count += int((~missing).sum())
        self.lacking |= bool(missing.any())

    def join(self, later: Self) -> None:
        """Go on over the rows that `later` has seen, which are the next ones."""
        self._join(later)
        self.rows += later.rows
        self.count += later.count
        self.lacking |= later.lacking

    def copy(self) -> Self:
        """Return an equal state that goes its own way."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """The whole state."""
        return [np.array([self.rows, self.count, self.lacking], np.int64), *self._arrays()]

    @property
    def most_bytes(self) -> int:
        """Bytes that the state may come to take."""
        return sum(array.nbytes for array in self.arrays)

    def load(self, arrays: Sequence[NDArray[Any]]) -> None:
        """Hold this state instead."""
        self.rows, self.count, lacking = arrays[0].tolist()
        self.lacking = bool(lacking)
        self._load(arrays[1:])

    # What the two kinds provide.

    def _results(
        self, columns: Sequence[Column], missing: NDArray[np.bool_], count: NDArray[np.int64]
    ) -> list[Column]:
        raise NotImplementedError  # both kinds have their own

    def _keep(self, columns: Sequence[Column], missing: NDArray[np.bool_]) -> None:
        raise NotImplementedError  # both kinds have their own

    def _join(self, later: Any) -> None:
        raise NotImplementedError  # both kinds have their own

    def _arrays(self) -> list[NDArray[Any]]:
        raise NotImplementedError  # both kinds have their own

    def _load(self, arrays: Sequence[NDArray[Any]]) -> None:
        raise NotImplementedError  # both kinds have their own


class _Chosen(Carried):
    """The observations that can still be chosen, oldest first, and their rows."""

    def __init__(self, call: Call, options: Mapping[str, Any], dtype: np.dtype[Any]) -> None:
        super().__init__(call, options)
        k = call.parameters.get("k", 1)
        ranks = [int(rank) for rank in np.atleast_1d(k).tolist()]
        self.low = max([rank for rank in ranks if rank > 0], default=0)
        self.high = max([-rank for rank in ranks if rank < 0], default=0)
        self.values = np.empty(0, dtype)
        self.places = np.empty(0, np.int64)

    def _results(
        self, columns: Sequence[Column], missing: NDArray[np.bool_], count: NDArray[np.int64]
    ) -> list[Column]:
        (column,) = columns
        kept, new = len(self.values), len(column)
        before = np.ma.MaskedArray(self.values, np.zeros(kept, np.bool_))
        whole = np.ma.concatenate([before, column])
        window = np.zeros(new, np.int64), np.arange(kept + 1, kept + new + 1)
        parameters = dict(self.call.parameters)
        relative_to = parameters.pop("relative_to", "data")
        asked = {"min_periods": 1, "nan_policy": self.policy}
        results = evaluate(self.statistic, [whole], window, parameters, asked)
        places = np.concatenate([self.places, np.arange(self.rows, self.rows + new)])
        self._keep(columns, missing)
        few = count < max(self.least, 1)
        finished = []
        for result in results:
            data, mask = np.ma.getdata(result), np.ma.getmaskarray(result) | few
            if self.statistic.name.startswith("arg"):
                mask |= data < 0
                data = places[np.maximum(data, 0)]
                if relative_to == "newest":
                    data = np.arange(self.rows, self.rows + new) - data
            finished.append(np.ma.MaskedArray(data, mask))
        return finished

    def _keep(self, columns: Sequence[Column], missing: NDArray[np.bool_]) -> None:
        (column,) = columns
        new = np.flatnonzero(~missing)
        values = np.concatenate([self.values, column.data[new]])
        places = np.concatenate([self.places, self.rows + new])
        self._choose(values, places)

    def _join(self, later: "_Chosen") -> None:
        values = np.concatenate([self.values, later.values])
        self._choose(values, np.concatenate([self.places, self.rows + later.places]))

    def _choose(self, values: NDArray[Any], places: NDArray[np.int64]) -> None:
        """Keep of observations, oldest first, those that rows to come can make a result."""
        keys = values.view(f"i{values.itemsize}") if values.dtype.kind in "Mm" else values
        keep = np.zeros(len(values), np.bool_)
        if self.statistic.name in _EXTREMA and len(values):
            # Ties go to the first or to the last of them.
            for extreme in (keys.min(), keys.max()):
                keep[np.flatnonzero(keys == extreme)[[0, -1]]] = True
        elif len(values):
            # Of equal values the older is the smaller.
            keep |= _smallest(keys, self.low)
            keep |= ~_smallest(keys, len(keys) - self.high)
        self.values, self.places = values[keep], places[keep]

    @property
    def most_bytes(self) -> int:
        """Bytes that the state may come to take."""
        kept = 4 if self.statistic.name in _EXTREMA else self.low + self.high
        return super().most_bytes + kept * (self.values.itemsize + self.places.itemsize)

    def _arrays(self) -> list[NDArray[Any]]:
        return [self.values, self.places]

    def _load(self, arrays: Sequence[NDArray[Any]]) -> None:
        self.values, self.places = arrays


class _Combined(Carried):
    """The state of an operator."""

    def __init__(self, call: Call, options: Mapping[str, Any], dtype: np.dtype[Any]) -> None:
        super().__init__(call, options)
        self._dtype = dtype
        self._with = OperatorAdapter(_operator(call.statistic, call.parameters), dtype)
        of = self._with
        self._window = NumberWindow(of.ready, of.layout, of.example, "daba", _ROOM, size="folding")
        self._required = _required(call, dtype)

    def _take(self, columns: Sequence[Column]) -> tuple[list[NDArray[Any]], NDArray[np.bool_]]:
        given = [column.astype(self._dtype, copy=False) for column in columns]
        row = self.first + self.rows
        values, missing = self._with.encode_columns(self._with.arrays(given), row)
        stamps = np.arange(row, row + len(missing))
        written = self._window.extend(stamps, np.int64(_MANY_ROWS), values, missing)
        return written.arrays, written.failed

    def _results(
        self, columns: Sequence[Column], missing: NDArray[np.bool_], count: NDArray[np.int64]
    ) -> list[Column]:
        outs, failed = self._take(columns)
        few = count < max(self.least, self._required)
        if not self.least and self._with.identity is not NOTHING:
            outs[0][count == 0] = self._with.identity
            few &= count > 0
        if (failed & ~few).any():
            raise OverflowError("an exact result does not fit in 64 bits")
        if self._with.counts_rows:
            outs = outs[:-1]  # the last counts observations
        return [np.ma.MaskedArray(out, few) for out in outs]

    def _keep(self, columns: Sequence[Column], missing: NDArray[np.bool_]) -> None:
        self._take(columns)

    def _join(self, later: "_Combined") -> None:
        self._window.join(later._window)

    def copy(self) -> Self:
        """Return an equal state that goes its own way."""
        other = super().copy()
        other._window = self._window.copy()
        return other

    def _arrays(self) -> list[NDArray[Any]]:
        window = self._window.copy()
        window.fold()
        return window.arrays

    def _load(self, arrays: Sequence[NDArray[Any]]) -> None:
        header, cells, stamps = arrays
        self._window.arrays = [header, cells.astype(self._window.cells.dtype, copy=False), stamps]


def _missing(column: Column) -> NDArray[np.bool_]:
    missing = np.ma.getmaskarray(column)
    if column.dtype.kind == "f":
        missing = missing | np.isnan(column.data)
    if column.dtype.kind in "Mm":
        missing = missing | np.isnat(column.data)
    return missing


def _smallest(keys: NDArray[Any], k: int) -> NDArray[np.bool_]:
    """Which are the k smallest; of equal ones the first."""
    if k >= len(keys):
        return np.ones(len(keys), np.bool_)
    if k <= 0:
        return np.zeros(len(keys), np.bool_)
    edge = np.partition(keys, k - 1)[k - 1]
    keep: NDArray[np.bool_] = keys < edge
    keep[np.flatnonzero(keys == edge)[: k - int(keep.sum())]] = True
    return keep


def _required(call: Call, dtype: np.dtype[Any]) -> int:
    """Observations without which there is no result, by asking the function for the first ones."""
    statistic = REGISTRY[call.statistic]
    rows = 8 + int(call.parameters.get("ddof", 0))
    column = np.ma.MaskedArray(np.arange(1, rows + 1).astype(dtype), np.zeros(rows, np.bool_))
    asked = {"min_periods": 1}
    result = evaluate(statistic, [column] * statistic.series, Expanding(), call.parameters, asked)[0]
    return 1 + int(np.ma.getmaskarray(result).argmin())


def carried_for(call: Call, dtypes: Sequence[np.dtype[Any]], options: Mapping[str, Any]) -> Carried:
    """State of a call before the first row.

    Parameters
    ----------
    call : Call
        Of a statistic that has one.
    dtypes : sequence of dtype
        Of its columns, as workers have them.
    options : mapping
        The common options.
    """
    if not _is_operator(call.statistic):
        return _Chosen(call, options, dtypes[0])
    dtype = dtypes[0] if len(dtypes) == 1 else np.dtype(np.float64)
    return _Combined(call, options, dtype)
