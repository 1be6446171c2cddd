"""What expanding windows must know about all earlier rows, in bounded memory.

::

    rows of a series    | 5 2 9 4 7 1 8 3 |  6 0 7 ...          a batch or a bucket ends
    kth, k = 2          |  2 1            |  with their rows    the k smallest; no other can become the result
    sum                 |  39             |                     one state of the operator

The states of two neighbouring ranges of rows combine into one. So a worker can pass over a series in little
memory, and each bucket of a split series can start from the combined states of the buckets before it. A
median or a quantile may later be any earlier observation, so it has no such state.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import types as T

from rollstat.operators.interface import NOTHING
from rollstat.operators.layout import as_cells
from rollstat.registry import REGISTRY
from rollstat.spark.arrow_columns import WIDE, MaskedColumn
from rollstat.spark.evaluation import DECIMAL_SUMS, Call, carried, evaluate, limbs, mean, total
from rollstat.streaming import STREAMS
from rollstat.streaming.operator_adapter import OperatorAdapter
from rollstat.streaming.table import OperatorRow
from rollstat.streaming.windows.operator import NumberWindow
from rollstat.windows import Expanding

__all__ = ["CarriedState", "counts_rows", "initial_state", "why_no_state"]

_EXTREMA = ("min", "max", "minmax", "ptp", "argmin", "argmax", "argminmax")
_ALL_ROWS = np.int64(2**62)
_QUEUE_CELLS = 64  # states of single rows that wait to be combined


def _is_operator(statistic: str) -> bool:
    cls = STREAMS.get(statistic)
    return statistic == "aggregate" or (cls is not None and isinstance(cls._row, OperatorRow))


def _operator(statistic: str, parameters: Mapping[str, Any]) -> Any:
    if statistic == "aggregate":
        return parameters["op"]
    made = STREAMS[statistic]._row.operator
    return made(**{name: parameters[name] for name in made._fields if name in parameters})


def why_no_state(statistic: str, options: Mapping[str, Any]) -> str | None:
    """Return why a statistic has no state of bounded size; None if it has one."""
    if options.get("algorithm", "auto") != "auto":
        return f"with algorithm={options['algorithm']!r} it asks for all rows at once"
    if statistic in ("kth", "argkth") or statistic in _EXTREMA or _is_operator(statistic):
        return None
    return "any earlier row may become the result, so its state has no bound"


def counts_rows(statistic: str, parameters: Mapping[str, Any]) -> bool:
    """Return whether the state depends on the row numbers in the series."""
    return _is_operator(statistic) and bool(getattr(_operator(statistic, parameters), "with_row", False))


class CarriedState:
    """What one call must know about the earlier rows.

    Parameters
    ----------
    call : Call
        The call.
    options : mapping
        The common options.

    Attributes
    ----------
    rows : int
        Rows of the series so far.
    count : int
        Observations among them.
    missing_seen : bool
        Whether a row was missing.
    first_row : int
        Row number in the series of the first row, if the state counts rows.
    """

    def __init__(self, call: Call, options: Mapping[str, Any]) -> None:
        statistic = REGISTRY[call.statistic]
        self.call, self.statistic = call, statistic
        self.nan_policy = options.get("nan_policy", "omit")
        given = options.get("min_periods")
        default = 1 if statistic.min_periods is None else statistic.min_periods
        self.min_periods: int = default if given is None else given
        self.rows = self.count = self.first_row = 0
        self.missing_seen = False

    def advance(self, columns: Sequence[MaskedColumn]) -> list[MaskedColumn]:
        """Add rows and return the results of each."""
        missing = _missing(columns)
        if self.nan_policy == "raise" and missing.any():
            raise ValueError("a value is missing, and nan_policy is 'raise'")
        results = self._results(columns, missing, self.count + np.cumsum(~missing))
        masked = np.zeros(len(missing), np.bool_)
        if self.nan_policy == "propagate":
            masked = np.logical_or.accumulate(missing) | self.missing_seen
        self._count(len(missing), int((~missing).sum()), bool(missing.any()))
        return [np.ma.MaskedArray(result.data, np.ma.getmaskarray(result) | masked) for result in results]

    def skip(self, columns: Sequence[MaskedColumn]) -> None:
        """Add rows without computing results."""
        missing = _missing(columns)
        self._add(columns, missing)
        self._count(len(missing), int((~missing).sum()), bool(missing.any()))

    def combine(self, later: Self) -> None:
        """Add the rows of the state `later`, which follow the rows of this one."""
        self._combine(later)
        self._count(later.rows, later.count, later.missing_seen)

    def _count(self, rows: int, count: int, missing_seen: bool) -> None:
        self.rows += rows
        self.count += count
        self.missing_seen |= missing_seen

    def copy(self) -> Self:
        """Return an equal, independent state."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """The whole state."""
        return [np.array([self.rows, self.count, self.missing_seen], np.int64), *self._arrays()]

    @property
    def max_bytes(self) -> int:
        """The most bytes that the state can take."""
        return sum(array.nbytes for array in self.arrays)

    def load(self, arrays: Sequence[NDArray[Any]]) -> None:
        """Replace the state by what `arrays` returned."""
        self.rows, self.count, missing_seen = arrays[0].tolist()
        self.missing_seen = bool(missing_seen)
        self._load(arrays[1:])

    # The subclasses define these.
    _results: Any
    _add: Any
    _combine: Any
    _arrays: Any
    _load: Any


class _SelectionState(CarriedState):
    """The observations that can still become a result, oldest first, and their rows."""

    def __init__(self, call: Call, options: Mapping[str, Any], dtype: np.dtype[Any]) -> None:
        super().__init__(call, options)
        ranks = [int(rank) for rank in np.atleast_1d(call.parameters.get("k", 1)).tolist()]
        self.low = max([rank for rank in ranks if rank > 0], default=0)
        self.high = max([-rank for rank in ranks if rank < 0], default=0)
        self.values = np.empty(0, dtype)
        self.positions = np.empty(0, np.int64)

    def _results(
        self, columns: Sequence[MaskedColumn], missing: NDArray[np.bool_], count: NDArray[np.int64]
    ) -> list[MaskedColumn]:
        (column,) = columns
        kept, new = len(self.values), len(column)
        earlier = np.ma.MaskedArray(self.values, np.zeros(kept, np.bool_))
        window = np.zeros(new, np.int64), np.arange(kept + 1, kept + new + 1)
        parameters = dict(self.call.parameters)
        relative_to = parameters.pop("relative_to", "data")
        options = {"min_periods": 1, "nan_policy": self.nan_policy}
        results = evaluate(
            self.statistic, [np.ma.concatenate([earlier, column])], window, parameters, options
        )
        rows = np.arange(self.rows, self.rows + new)
        positions = np.concatenate([self.positions, rows])
        self._add(columns, missing)
        insufficient = count < max(self.min_periods, 1)
        finished = []
        for result in results:
            data, mask = np.ma.getdata(result), np.ma.getmaskarray(result) | insufficient
            if self.statistic.name.startswith("arg"):
                mask |= data < 0
                data = positions[np.maximum(data, 0)]
                data = rows - data if relative_to == "newest" else data
            finished.append(np.ma.MaskedArray(data, mask))
        return finished

    def _add(self, columns: Sequence[MaskedColumn], missing: NDArray[np.bool_]) -> None:
        new = np.flatnonzero(~missing)
        self._append(columns[0].data[new], self.rows + new)

    def _combine(self, later: "_SelectionState") -> None:
        self._append(later.values, self.rows + later.positions)

    def _append(self, values: NDArray[Any], positions: NDArray[np.int64]) -> None:
        """Append observations, and keep only those that can become a result of later rows."""
        values = np.concatenate([self.values, values])
        keys = values.view(f"i{values.itemsize}") if values.dtype.kind in "Mm" else values
        keep = np.zeros(len(values), np.bool_)
        if self.statistic.name in _EXTREMA and len(values):
            # The first or the last of equal values is the result, depending on the statistic.
            for extreme in (keys.min(), keys.max()):
                keep[np.flatnonzero(keys == extreme)[[0, -1]]] = True
        elif len(values):
            # Of equal values the older ranks lower.
            keep |= _smallest(keys, self.low)
            keep |= ~_smallest(keys, len(keys) - self.high)
        self.values, self.positions = values[keep], np.concatenate([self.positions, positions])[keep]

    @property
    def max_bytes(self) -> int:
        """The most bytes that the state can take."""
        kept = 4 if self.statistic.name in _EXTREMA else self.low + self.high
        return super().max_bytes + kept * (self.values.itemsize + self.positions.itemsize)

    def _arrays(self) -> list[NDArray[Any]]:
        return [self.values, self.positions]

    def _load(self, arrays: Sequence[NDArray[Any]]) -> None:
        self.values, self.positions = arrays


class _OperatorState(CarriedState):
    """The state of an operator."""

    def __init__(self, call: Call, options: Mapping[str, Any], dtype: np.dtype[Any]) -> None:
        super().__init__(call, options)
        self._dtype = dtype
        self._with = OperatorAdapter(_operator(call.statistic, call.parameters), dtype)
        of = self._with
        self._window = NumberWindow(of.ready, of.layout, of.example, "daba", _QUEUE_CELLS, size="folding")
        self._required = _required(call, dtype)

    def _extend(self, columns: Sequence[MaskedColumn]) -> tuple[list[NDArray[Any]], NDArray[np.bool_]]:
        given = [column.astype(self._dtype, copy=False) for column in columns]
        row = self.first_row + self.rows
        values, missing = self._with.encode_columns(self._with.arrays(given), row)
        stamps = np.arange(row, row + len(missing))
        written = self._window.extend(stamps, _ALL_ROWS, values, missing)
        return written.arrays, written.failed

    def _results(
        self, columns: Sequence[MaskedColumn], missing: NDArray[np.bool_], count: NDArray[np.int64]
    ) -> list[MaskedColumn]:
        outs, failed = self._extend(columns)
        insufficient = count < max(self.min_periods, self._required)
        if not self.min_periods and self._with.identity is not NOTHING:
            outs[0][count == 0] = self._with.identity
            insufficient &= count > 0
        if (failed & ~insufficient).any():
            raise OverflowError("an exact result does not fit in 64 bits")
        if self._with.counts_rows:
            outs = outs[:-1]  # the last one counts observations
        return [np.ma.MaskedArray(out, insufficient) for out in outs]

    def _add(self, columns: Sequence[MaskedColumn], missing: NDArray[np.bool_]) -> None:
        self._extend(columns)

    def _combine(self, later: "_OperatorState") -> None:
        self._window.join(later._window)

    def copy(self) -> Self:
        """Return an equal, independent state."""
        other = super().copy()
        other._window = self._window.copy()
        return other

    def _arrays(self) -> list[NDArray[Any]]:
        window = self._window.copy()
        window.fold()
        return window.state

    def _load(self, arrays: Sequence[NDArray[Any]]) -> None:
        header, cells, stamps = arrays
        # Stored records are not marked as aligned. Without a copy astype would keep them so, and kernels
        # would be compiled again for them.
        self._window.state = [header, as_cells(cells, self._window.cells.dtype), stamps]


class _DecimalState(CarriedState):
    """The sum of decimals in limbs; see `evaluation`."""

    def __init__(self, call: Call, options: Mapping[str, Any], dtype: np.dtype[Any]) -> None:
        super().__init__(call, options)
        self.sums = np.zeros(4 if dtype == WIDE else 2, np.int64)

    def _results(
        self, columns: Sequence[MaskedColumn], missing: NDArray[np.bool_], count: NDArray[np.int64]
    ) -> list[MaskedColumn]:
        parts = zip(self.sums, limbs(columns[0]))
        sums = [start + np.cumsum(part.filled(0)) for start, part in parts]
        self._add(columns, missing)
        of = self.call.types[0]
        if self.call.statistic == "sum":
            return [total(sums, count < self.min_periods, of)]
        return [mean(sums, count, count < self.min_periods, self.call.scale, of)]

    def _add(self, columns: Sequence[MaskedColumn], missing: NDArray[np.bool_]) -> None:
        self._add_limbs(np.array([part.filled(0).sum() for part in limbs(columns[0])]))

    def _combine(self, later: "_DecimalState") -> None:
        self._add_limbs(later.sums)

    def _add_limbs(self, sums: NDArray[np.int64]) -> None:
        self.sums = np.array(carried(list(self.sums + sums)))

    def _arrays(self) -> list[NDArray[Any]]:
        return [self.sums]

    def _load(self, arrays: Sequence[NDArray[Any]]) -> None:
        (self.sums,) = arrays


def _missing(columns: Sequence[MaskedColumn]) -> NDArray[np.bool_]:
    """Return which rows miss a value in any column."""
    missing = [np.ma.getmaskarray(column) for column in columns]
    missing += [np.isnan(column.data) for column in columns if column.dtype.kind == "f"]
    missing += [np.isnat(column.data) for column in columns if column.dtype.kind in "Mm"]
    return np.asarray(np.logical_or.reduce(missing))


def _smallest(keys: NDArray[Any], k: int) -> NDArray[np.bool_]:
    """Return which values are the k smallest; ties go to the first."""
    if not 0 < k < len(keys):
        return np.full(len(keys), k > 0)
    kth = np.partition(keys, k - 1)[k - 1]
    keep: NDArray[np.bool_] = keys < kth
    keep[np.flatnonzero(keys == kth)[: k - int(keep.sum())]] = True
    return keep


def _required(call: Call, dtype: np.dtype[Any]) -> int:
    """Return the fewest observations that give a result, by calling the function on a few values."""
    statistic = REGISTRY[call.statistic]
    rows = 8 + int(call.parameters.get("ddof", 0))
    column = np.ma.MaskedArray(np.arange(1, rows + 1).astype(dtype), np.zeros(rows, np.bool_))
    inputs = [column] * statistic.series
    result = evaluate(statistic, inputs, Expanding(), call.parameters, {"min_periods": 1})[0]
    return 1 + int(np.ma.getmaskarray(result).argmin())


def initial_state(call: Call, dtypes: Sequence[np.dtype[Any]], options: Mapping[str, Any]) -> CarriedState:
    """Return the state of a call before the first row.

    Parameters
    ----------
    call : Call
        Call of a statistic that has a state.
    dtypes : sequence of dtype
        Of its columns, as workers have them.
    options : mapping
        The common options.
    """
    if call.statistic in DECIMAL_SUMS and call.types and isinstance(call.types[0], T.DecimalType):
        return _DecimalState(call, options, dtypes[0])
    if not _is_operator(call.statistic):
        return _SelectionState(call, options, dtypes[0])
    dtype = dtypes[0] if len(dtypes) == 1 else np.dtype(np.float64)
    return _OperatorState(call, options, dtype)
