"""Windows that reach the first row of their series: a walk that carries states on instead of rows.

::

    held rows       |  a a a  |  b b b  |  c c c  |  d d d ...      d goes on in the next batch
    computed by     | state   |    one call for all    | state      states of a end, states of d begin

Where a series is cut into buckets, one pass makes the states of each bucket; one small task joins them in
the order of the buckets; and each bucket starts from the states of all before it, which reach it as its
first row, through the exchange that brings the others.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rollstat import snapshots
from rollstat.spark.arrow_columns import to_arrow
from rollstat.spark.batch_walk import Plan, Walk
from rollstat.spark.carried_states import Carried, Column, carried_for, why_not
from rollstat.windows import Expanding

__all__ = ["MOST_STATE_BYTES", "CarriedPlan", "CarriedWalk", "Prefixes", "Totals", "carrying"]

# States go from bucket to bucket as one cell of a column of bytes. Of such a column Arrow holds less than
# 2 GiB, Java grows it by doubling, and both sides hold copies while they hand it over.
MOST_STATE_BYTES = 2**29
_NAME = "spark.expanding"


def carrying(plan: Plan) -> tuple[Plan, str | None]:
    """The plan with states that are carried on where all statistics have one, and why series are not cut."""
    if not isinstance(plan.window, Expanding):
        return plan, None
    for call in plan.calls:
        reason = why_not(call.statistic, plan.options)
        if reason is not None:
            return plan, f"{call.statistic!r}: {reason}"
    carried = CarriedPlan(**{field.name: getattr(plan, field.name) for field in fields(plan)})
    most = sum(state.most_bytes for state in carried.states())
    if most > MOST_STATE_BYTES:
        names = ", ".join(repr(call.statistic) for call in plan.calls)
        reason = f"states take up to {most:,} bytes, of which {MOST_STATE_BYTES:,} can be sent"
        return carried, f"{names}: {reason}"
    return carried, None


@dataclass(frozen=True)
class CarriedPlan(Plan):
    """A plan of windows that reach the first row; where series are cut, a column holds the states."""

    @property
    def halo(self) -> int | None:
        """The column that marks rows of a halo; there are none."""
        return None

    def walk(self) -> "CarriedWalk":
        """A walk with nothing before it."""
        return CarriedWalk(self)

    def begin(self, batches: Iterable[pa.RecordBatch]) -> tuple[Walk, Iterable[pa.RecordBatch]]:
        """A walk over one partition, which starts from the states in its first row if there are any."""
        walk = self.walk()
        if self.parts is None:
            return walk, batches
        rows = (batch for batch in batches if batch.num_rows)
        first = next(rows, None)
        if first is None:
            return walk, ()
        state = first.column(self.parts + 1)[0]
        if state.is_valid:
            walk.load(state.as_py())
            first = first.slice(1)
        return walk, chain([first], rows)

    def states(self) -> list[Carried]:
        """States of all calls before the first row."""
        dtypes = [_dtype_of(kind.dtype) for _, kind in self.inputs]
        return [
            carried_for(call, [dtypes[number] for number in call.inputs], self.options) for call in self.calls
        ]


def _dtype_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """As columns reach the kernels: integers are widened."""
    return np.dtype(np.int64) if dtype.kind == "i" else dtype


def _write(states: list[Carried]) -> bytes:
    """States of all calls as bytes."""
    arrays = [state.arrays for state in states]
    return snapshots.write(_NAME, {"arrays": list(map(len, arrays))}, list(chain(*arrays)))


def _read(plan: CarriedPlan, message: bytes) -> list[Carried]:
    """States of all calls out of bytes."""
    _, parameters, arrays = snapshots.read(message)
    states, rest = plan.states(), iter(arrays)
    for state, number in zip(states, parameters["arrays"], strict=True):
        state.load([next(rest) for _ in range(number)])
    return states


class CarriedWalk(Walk):
    """The walk over one partition; of the rows before there is nothing but the states."""

    plan: CarriedPlan

    def __init__(self, plan: CarriedPlan) -> None:
        super().__init__(plan)
        self.states = plan.states()

    def load(self, message: bytes) -> None:
        """Start from these states."""
        self.states = _read(self.plan, message)

    def _step(self, *, final: bool) -> Iterator[pa.RecordBatch]:
        """Compute all held rows, and forget them."""
        columns, _, offsets = self._joined()
        if self.starts[1:2] == [0]:  # the first held row is the first of its series
            self.states = self.plan.states()
        place = 0
        for number, call in enumerate(self.plan.calls):
            results = self._results(number, columns, offsets)
            for result, data_type in zip(results, call.types):
                self.ready[place].append(to_arrow(result, data_type))
                place += 1
        self._forget_all()
        return self._give_out()

    def _forget_all(self) -> None:
        self.columns = [[] for _ in self.columns]
        self.starts, self.held, self.lost = [0], 0, 0

    def _results(self, number: int, columns: list[Column], offsets: NDArray[np.int64]) -> list[Column]:
        """Results of one call: by states those of the first and last series, by one call the others."""
        begin, end = int(offsets[1]), int(offsets[-2])
        parts = [self._carry_on(number, columns, 0, begin)]
        if end > begin:
            parts.append(self._whole(number, columns, offsets[1:-1]))
        if end:
            self.states[number] = self.plan.states()[number]
            parts.append(self._carry_on(number, columns, end, int(offsets[-1])))
        return [np.ma.concatenate(list(pieces)) for pieces in zip(*parts)]

    def _carry_on(self, number: int, columns: list[Column], first: int, last: int) -> list[Column]:
        """Results of rows of the series that the state is of; a row that fails is named."""
        call, state = self.plan.calls[number], self.states[number]
        given = [columns[place] for place in call.inputs]
        before = state.copy()
        try:
            return state.take([column[first:last] for column in given])
        except (ArithmeticError, MemoryError, TypeError, ValueError) as error:

            def fails(end: int) -> bool:
                try:
                    before.copy().take([column[first:end] for column in given])
                except (ArithmeticError, TypeError, ValueError):
                    return True
                return False

            low, high = first, first + 1 if isinstance(error, MemoryError) else last
            raise self._failure(call, low, high, fails, error) from error

    def _whole(self, number: int, columns: list[Column], offsets: NDArray[np.int64]) -> list[Column]:
        """Results of series that begin and end among the held rows."""
        call = self.plan.calls[number]
        first = int(offsets[0])
        given = [column[first : int(offsets[-1])] for column in columns]
        options = self._options(offsets - first, None)
        try:
            results = self._call(call, given, self.plan.window, options)
        except (ArithmeticError, MemoryError, TypeError, ValueError):
            # One by one, the states say where it failed.
            parts = []
            for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist()):
                self.states[number] = self.plan.states()[number]
                parts.append(self._carry_on(number, columns, a, b))
            return [np.ma.concatenate(list(pieces)) for pieces in zip(*parts)]
        return [
            np.ma.asarray(self._positions(result, offsets - first) if call.positions else result)
            for result in results
        ]


@dataclass(frozen=True)
class Totals:
    """Makes the states of one bucket: gives its part and these."""

    plan: CarriedPlan

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Walk over one partition."""
        states, part = self.plan.states(), None
        for batch in batches:
            if not batch.num_rows:
                continue
            if part is None:
                assert self.plan.parts is not None
                part = batch.column(self.plan.parts)[0].as_py()
                walk = Walk(self.plan)
                for state in states:
                    state.begin(self.plan.before.get(part, 0))
            columns = walk.read(batch)
            for call, state in zip(self.plan.calls, states):
                state.skip([columns[place] for place in call.inputs])
        if part is not None:
            yield _row(part, states)


def _row(part: int, states: list[Carried]) -> pa.RecordBatch:
    state = pa.array([_write(states)], pa.binary())
    return pa.RecordBatch.from_arrays([pa.array([part], pa.int32()), state], names=["part", "state"])


@dataclass(frozen=True)
class Prefixes:
    """Joins the states of buckets, which come in order: gives each part and the states before it.

    Attributes
    ----------
    ends : tuple of int
        The part after the last one of each series.
    """

    plan: CarriedPlan
    ends: tuple[int, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Walk over the states of all buckets."""
        total: list[Carried] = []
        end = 0
        for batch in batches:
            for part, message in zip(batch.column(0).to_pylist(), batch.column(1)):
                states = _read(self.plan, message.as_py())
                if part >= end:
                    end = self.ends[bisect_right(self.ends, part)]
                    total = states
                    continue
                yield _row(part, total)
                for state, later in zip(total, states):
                    state.join(later)
