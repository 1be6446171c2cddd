"""Windows at the times of labels: rows and labels go through one exchange, one sort and one pass together.

::

    sorted        | r r L r L L |  L  | r r r r L | ...      L is a label, after the rows of its time
    held rows     | r r   r     |     | r r r r   |          with the offsets of the series, some empty
    results       |     1   2 3 |  4  |         5 |          of the windows `at` the times of the labels

A label has no value of its own, so held rows never include labels, and a window of m rows is m rows.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rollstat.options import Options
from rollstat.spark.aggregates import CallWindow, check_column
from rollstat.spark.arrow_columns import MaskedColumn, arrow_type, to_arrow
from rollstat.spark.batch_walk import Walk, WalkPlan, reached_later
from rollstat.spark.request import ColumnReferences, with_plain_names


def with_labels(frame: DataFrame, plan: WalkPlan, at: DataFrame) -> tuple[DataFrame, WalkPlan]:
    """Return rows and labels in one frame, and the plan over that.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    plan : WalkPlan
        What to compute in columns of the rows.
    at : DataFrame
        The labels.

    Returns
    -------
    frame : DataFrame
        The columns that the plan needs, whether a row is a label, and the columns of a label as a struct.
    plan : WalkPlan
        The plan over these columns.
    """
    if plan.looks_ahead:
        raise ValueError(
            "at does not apply to windows that look ahead: Forward, Around, center, equal_times='all'"
        )
    indexes, plan = plan.narrowed(plan.deciding_ties)
    rows, names = with_plain_names(frame)
    fields = [rows.schema[names[index]] for index in indexes]
    own = dict(zip((*plan.keys, plan.order[0]), plan.names))  # columns that labels have
    references = ColumnReferences(at)
    found = {index: references.name(name, "at") for index, name in own.items()}
    labels = references.frame()
    for index, name in found.items():
        check_column(labels.schema, name, f"at: column {name!r}")
        kind, wanted = (f.dataType.simpleString() for f in (labels.schema[name], fields[index]))
        if kind != wanted:
            raise TypeError(f"at: column {name!r} must be {wanted}, as in df; got {kind}")
    plain, given = with_plain_names(labels)
    place = dict(zip(labels.columns, given))
    passed = F.struct(*(plain[name].alias(f"c{i}") for i, name in enumerate(given[: len(at.columns)])))
    absent = F.lit(None).cast(plain.select(passed.alias("label")).schema["label"].dataType)

    def one_side(frame: DataFrame, columns: list[Column], label: bool, struct: Column) -> DataFrame:
        every = [*columns, F.lit(label), struct]
        return frame.select(*(column.alias(f"column{i}") for i, column in enumerate(every)))

    of_rows = [rows[names[index]] for index in indexes]
    of_labels = [
        plain[place[found[i]]] if i in found else F.lit(None).cast(field.dataType)
        for i, field in enumerate(fields)
    ]
    both = one_side(rows, of_rows, False, absent).union(one_side(plain, of_labels, True, passed))
    return both, on_labels(plan, len(indexes))


def on_labels(plan: WalkPlan, label: int, name: str = "label") -> WalkPlan:
    """Return the plan over rows and labels, which the column `label` marks and which come last at a time."""
    keys = len(plan.keys)
    return replace(
        plan,
        order=(plan.order[0], label, *plan.order[1:]),
        descending=(plan.descending[0], False, *plan.descending[1:]),
        names=(*plan.names[: keys + 1], name, *plan.names[keys + 1 :]),
        label=label,
        walk=LabelWalk,
    )


def labels_of(rows: DataFrame, plan: WalkPlan, width: int) -> tuple[DataFrame, list[Column]]:
    """Return the labels among the rows with results, and their `width` columns."""
    assert plan.label is not None
    marker, struct = (rows[rows.columns[plan.label + i]] for i in range(2))
    return rows.where(marker), [struct.getField(f"c{i}") for i in range(width)]


class LabelWalk(Walk):
    """The walk over sorted rows and labels; only labels have results, and `computed` counts those: none."""

    def __init__(self, plan: WalkPlan) -> None:
        super().__init__(plan)
        self.marks: list[NDArray[np.bool_]] = []  # which pending rows are labels
        self.label_starts = [0]  # where the labels of each series start among the pending ones
        self.times: list[NDArray[Any]] = []  # of the pending labels
        self.last_time: NDArray[Any] = np.empty(0)  # of a row or a label

    @property
    def new(self) -> int:
        """The rows and labels that are not finished."""
        return sum(map(len, self.marks))

    def _marks(self, batch: pa.RecordBatch) -> NDArray[np.bool_]:
        return np.asarray(batch.column(self.plan.label).fill_null(False))

    def _check_order(self, batch: pa.RecordBatch, changes: NDArray[np.bool_]) -> None:
        """Check the order; labels may tie."""
        super()._check_order(batch, changes | self._marks(batch) if self.plan.unique else changes)

    def _keep(self, batch: pa.RecordBatch, changes: NDArray[np.bool_], columns: list[MaskedColumn]) -> None:
        """Keep the columns of the rows, and the times of the labels."""
        marks, starts = self._marks(batch), np.flatnonzero(changes)
        before: NDArray[np.int64] = (np.cumsum(marks) - marks)[starts]
        self.label_starts += (before + sum(map(len, self.times))).tolist()
        self.marks.append(marks)
        self.times.append(columns[-1].data[marks])
        self.last_time = columns[-1].data[-1:]
        self.starts += (starts - before + self.held).tolist()
        for held, column in zip(self.columns, columns):
            held.append(column[~marks])
        self.held += int((~marks).sum())

    def _join(self) -> None:
        super()._join()
        self.offsets = np.array([*self.starts, self.held], np.int64)  # some series have no rows
        self.times = [np.concatenate(self.times)]

    def _options(self, window: CallWindow, first: int) -> dict[str, Any]:
        """Return the options of calls over the held rows from `first` on, at the labels."""
        given = window.with_times(self.whole[-1].data[first:], self.times[0])
        at = np.array([*self.label_starts, len(self.times[0])], np.int64)
        return given | {"segments": np.maximum(self.offsets - first, 0), "at_segments": at}

    def _step(self, *, final: bool) -> Iterator[pa.RecordBatch]:
        """Compute the results of all labels, drop old rows, and return the finished batches."""
        self._join()
        if len(self.times[0]):
            self._compute(self._windows(), len(self.times[0]))
        else:
            self._add_results(None for _ in self.plan.fields)
        self._drop(self._reached_later(), 0)
        self.marks, self.times, self.label_starts = [], [], [0]
        return self._emit()

    def _add_results(self, results: Iterable[Any]) -> None:
        """Append the results of the labels to each new column, and nulls for rows."""
        marks = np.concatenate(self.marks)
        place = pa.array(np.cumsum(marks) - 1, mask=~marks)
        for ready, result, new in zip(self.ready, results, self.plan.fields, strict=True):
            nulls = pa.nulls(len(marks), arrow_type(new.dataType))
            ready.append(nulls if result is None else to_arrow(result, new.dataType).take(place))

    def _reached_later(self) -> int:
        """Return the first held row that later labels reach; these are not before the last row or label."""
        begin = int(self.offsets[-2])
        times = self.whole[-1].data[begin:]
        if not len(times):
            return begin
        starts = []
        for window in self.plan.windows:
            options = Options.check(**window.with_times(times, self.last_time))
            start = options.windows(window.given, np.array([0, len(times)])).bound(0)[0]
            starts.append(reached_later(window, times, start))
        return begin + min(starts)

    def _describe_held(self, row: int) -> str:
        """Return key and order of a label."""
        row = int(np.flatnonzero(np.concatenate(self.marks))[row])
        return super()._describe_held(row + self.held - self.new)
