"""Splitting one long series into buckets, each with a halo of the rows that its windows reach.

::

    cells     |  0  |  1  |  2  |  3  |  4  |  5  |  6  |  7  |     between quantiles of the order column
    buckets   |======= 0 =======|==== 1 ====|======= 2 =======|
    with halo                |..|==== 1 ====|..|               whole cells, at least as far as windows reach

A cell is an interval of values of the first order column, so the cell of a row depends on that row alone,
and a task that runs again splits the same way. Cells rise with the values, and the first holds all nulls. If
rows descend, buckets are numbered from the last cell, and windows reach back to higher cells. Halos of
windows of rows follow from exact counts of the rows of each cell, halos of windows by width from the values
of the cuts. The rows of a halo are sent to every bucket that needs them, in the one exchange that there is,
marked, and dropped after the walk.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rollstat.calendar_units import at_most, is_calendar
from rollstat.options import Options
from rollstat.spark.aggregates import CallWindow
from rollstat.spark.arrow_columns import Kind, MaskedColumn, missing_rows, to_masked
from rollstat.spark.batch_walk import WalkPlan
from rollstat.windows import Around, FixedWindows, Forward, TimeWindows

BUCKET, HALO = "rollstat_bucket", "rollstat_halo"
ROWS_PER_BUCKET = 2_000_000  # the aim of `split="auto"`
MAX_BUCKETS = 256  # a row is compared with each bucket of its series
_CELLS_PER_BUCKET = 64
_SAMPLED = 1_000  # rows of a sample from the shortest series that is split: its length is known to 10 %
_ACCURACY = 10_000  # quantiles are off by at most one in this many rows; cells are far longer


@dataclass(frozen=True)
class Reach:
    """How far windows reach before and after their row.

    Attributes
    ----------
    back, ahead : int
        Numbers of rows.
    width_back, width_ahead : int or float
        Widths in units of the order column.
    """

    back: int = 0
    ahead: int = 0
    width_back: Any = 0
    width_ahead: Any = 0


@dataclass(frozen=True)
class Bucket:
    """Consecutive cells of a series that one task computes.

    Attributes
    ----------
    start, end : int
        Its cells ``start..end - 1``.
    first, last : int
        Its cells with the halo on both sides, ``first..last - 1``.
    rows_before, length : int
        Rows of the series before the first cell of the halo, and rows from there to the last one if rows were
        counted, else 0 and -1.
    """

    start: int
    end: int
    first: int
    last: int
    rows_before: int
    length: int


@dataclass(frozen=True)
class Split:
    """A frame with the bucket of each row.

    Attributes
    ----------
    rows : DataFrame
        The rows with the columns `BUCKET` and `HALO`; rows of halos are repeated.
    ends : tuple of int
        The bucket after the last one of the series that are not split, which are hashed into buckets by key,
        and of each series that is split.
    rows_before, lengths : dict
        Rows of the series before the first row of a bucket, and rows of a bucket with its halo, where rows
        were counted.
    """

    rows: DataFrame
    ends: tuple[int, ...]
    rows_before: dict[int, int]
    lengths: dict[int, int]


def reach_of(plan: WalkPlan, order: Kind) -> Reach:
    """Return how far the windows of a plan reach; `order` is the first order column."""
    if plan.carries_states:
        return Reach()  # states replace the rows before
    reaches = [_reach_of(window, order) for window in plan.windows]
    reach = Reach(*(max(sides) for sides in zip(*map(astuple, reaches))))
    # A label is not a row of its window.
    own = plan.label is not None and any(not window.by_width for window in plan.windows)
    return replace(reach, back=reach.back + own)


def without_bound(plan: WalkPlan) -> str | None:
    """Name a window of calendar units other than months, if there is one: how far it reaches is unknown."""
    sizes = (size for window in plan.windows for size in window.sizes if is_calendar(size))
    return next((f"a window of a DateOffset, {n!r}" for n in sizes if not isinstance(n, str)), None)


def _reach_of(window: CallWindow, order: Kind) -> Reach:
    """Return how far one kind of windows reaches."""
    options = dict(window.options) | ({"times": np.empty(0, order.times_dtype)} if window.by_width else {})
    sizes = list(map(at_most, window.sizes))
    given = type(window.given)(*sizes) if isinstance(window.given, (Forward, Around)) else sizes[0]
    windows = Options.check(**options).windows(given, np.zeros(2, np.int64))
    if isinstance(windows, FixedWindows):
        return Reach(max(windows.left, 0), max(windows.right - 1, 0))
    assert isinstance(windows, TimeWindows)
    back, ahead = (
        0 if width is None else float(width) if order.dtype.kind == "f" else int(width) + 1
        for width in windows.interval[:2]
    )
    if order.dtype == np.dtype("M8[D]"):
        back, ahead = (math.ceil(width / 86_400_000_000) for width in (back, ahead))
    return Reach(width_back=back, width_ahead=ahead)


def sorted_cuts(cuts: pa.Array, kind: Kind) -> tuple[pa.Array, list[Any]]:
    """Return distinct cuts, which are quantiles of the order column, in rising order, also as numbers."""
    values = to_masked(cuts, kind)
    keep = np.flatnonzero(~missing_rows([values]))
    rising, first = np.unique(_numbers(values).data[keep], return_index=True)
    return cuts.take(pa.array(keep[first])), rising.tolist()


def _numbers(values: MaskedColumn) -> MaskedColumn:
    return values.view(np.int64) if values.dtype.kind in "mM" else values


def cell_of(column: pa.Array, kind: Kind, rising: Sequence[Any]) -> NDArray[np.int64]:
    """Return the cell of each value; NaN is the largest value."""
    values = _numbers(to_masked(column, kind))
    cell = np.searchsorted(np.array(rising, values.dtype), values.data, side="right")
    return np.where(np.ma.getmaskarray(values), 0, cell)


def choose_buckets(
    counts: Sequence[int] | None, rising: Sequence[Any], buckets: int, reach: Reach, descending: bool
) -> list[Bucket]:
    """Choose at most `buckets` buckets of about equal length, and the halo of each.

    Parameters
    ----------
    counts : sequence of int or None
        Rows of each cell, one more than there are cuts. None assumes cells of equal length; halos of a
        number of rows need counts.
    rising : sequence
        The cuts as increasing numbers.
    buckets : int
        Number of buckets to aim at.
    reach : Reach
        Reach of the windows.
    descending : bool
        Whether rows go from large to small, and buckets with them.
    """
    rows, widths = (reach.back, reach.ahead), (reach.width_back, reach.width_ahead)
    (down, up), (lower, higher) = (rows[::-1], widths[::-1]) if descending else (rows, widths)
    cells = len(rising) + 1
    total = list(range(cells + 1)) if counts is None else np.concatenate([[0], np.cumsum(counts)]).tolist()
    wanted = [bisect_left(total, math.ceil(total[-1] * i / buckets)) for i in range(1, buckets)]
    starts = sorted({0, cells, *(min(start, cells) for start in wanted)})
    chosen = []
    for start, end in pairwise(starts):
        first = min(max(bisect_right(total, total[start] - down) - 1, 0), start)
        last = max(min(bisect_left(total, total[end] + up), cells), end)
        if lower and start:
            first = min(first, bisect_right(rising, rising[start - 1] - lower))
        # The cell from the cut at `end` on is needed only if windows reach beyond that.
        if higher and end < cells:
            last = max(last, bisect_right(rising, rising[end - 1] + higher) + 1)
        before = total[-1] - total[last] if descending else total[first]
        counted = (0, -1) if counts is None else (before, total[last] - total[first])
        chosen.append(Bucket(start, end, first, last, *counted))
    return chosen[::-1] if descending else chosen


@dataclass(frozen=True)
class CountCells:
    """Counts the rows of each cell of each series within a task.

    It takes batches of series number and order column, and returns series, cell and number of rows.
    """

    kind: Kind
    rising: tuple[tuple[Any, ...], ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Count the rows of one partition."""
        counts = [np.zeros(len(rising) + 1, np.int64) for rising in self.rising]
        for batch in batches:
            series = batch.column(0).to_numpy(zero_copy_only=False)
            for number, rising in enumerate(self.rising):
                column = batch.column(1).filter(pa.array(series == number))
                cell = cell_of(column, self.kind, rising)
                counts[number] += np.bincount(cell, minlength=len(rising) + 1)
        for number, count in enumerate(counts):
            cell = np.flatnonzero(count)
            columns = {"series": np.full(len(cell), number, np.int32), "cell": cell, "rows": count[cell]}
            yield pa.RecordBatch.from_pydict(columns)


def split_series(
    frame: DataFrame,
    known: DataFrame,
    keys: Sequence[str],
    order: str,
    kind: Kind,
    plan: WalkPlan,
    split: int | str,
) -> Split | None:
    """Find the series that are too long for one task, and split them; None if there are none.

    Parameters
    ----------
    frame : DataFrame
        The rows, and labels between them.
    known : DataFrame
        The rows alone, at least with keys and order, to measure the series.
    keys : sequence of str
        Columns that name the series.
    order, kind
        The first order column.
    plan : WalkPlan
        What to compute.
    split : int or "auto"
        Number of buckets of each series that is split, or choose it by the lengths.
    """
    reach = reach_of(plan, kind)
    if keys:
        few = _long_series(known, keys, split)
        if few is None:
            return None
        series = few.num_rows
        frame, known = (_with_numbers(rows, keys, few) for rows in (frame, known))
    else:
        frame, known = (rows.withColumn("rollstat_series", F.lit(0)) for rows in (frame, known))
        series = 1
    # A first guess of the number of buckets decides how fine the cells are.
    cuts, rows = _quantiles(
        known, order, series, _CELLS_PER_BUCKET * (split if isinstance(split, int) else 16)
    )
    wanted = [_number_of_buckets(count, split, reach) for count in rows]
    if not keys and wanted[0] < 2:
        return None
    cuts, rising = zip(*(sorted_cuts(cut, kind) for cut in cuts))
    counts: list[Any] = [None] * series
    if plan.numbers_rows or reach.back or reach.ahead:
        counts = _count(known, order, CountCells(kind, tuple(map(tuple, rising))))
    down = plan.descending[0]
    buckets = [choose_buckets(c, r, w, reach, down) for c, r, w in zip(counts, rising, wanted)]
    return _assign(frame, keys, order, cuts, buckets)


def _long_series(frame: DataFrame, keys: Sequence[str], split: int | str) -> pa.Table | None:
    """Return the keys of the long series, named by their positions; None if there is no such series.

    A sample tells which series are long. Unless the number of buckets is given, a long series also has at
    least twice the rows of an average partition.
    """
    longest = ROWS_PER_BUCKET if split == "auto" else ROWS_PER_BUCKET // 4
    fraction = min(1.0, _SAMPLED / longest)
    sample = frame.select(*keys).sample(fraction, seed=0)
    rows, level = F.count(F.lit(1)).alias("rollstat_rows"), F.grouping_id().alias("rollstat_level")
    counts = sample.groupingSets([[*keys], []], *keys).agg(rows, level)
    wanted = (F.col("rollstat_rows") > fraction * longest) | (F.col("rollstat_level") > 0)
    table = counts.where(wanted).toArrow()
    whole = pc.greater(table["rollstat_level"], 0)
    least = 0.0
    if split == "auto":
        total = pc.sum(table.filter(whole)["rollstat_rows"]).as_py() or 0
        least = 2 * total / _partitions(frame)
    long = pc.and_not(pc.greater_equal(table["rollstat_rows"], least), whole)
    table = table.filter(long).drop_columns(["rollstat_rows", "rollstat_level"])
    return table.rename_columns([f"rollstat_key{i}" for i in range(len(keys))]) if table.num_rows else None


def _with_numbers(frame: DataFrame, keys: Sequence[str], long: pa.Table) -> DataFrame:
    """Add the number of each long series; null for other series."""
    numbers = pa.array(np.arange(long.num_rows, dtype=np.int32))
    few = F.broadcast(frame.sparkSession.createDataFrame(long.append_column("rollstat_series", numbers)))
    same = [frame[key].eqNullSafe(few[name]) for key, name in zip(keys, long.column_names)]
    return frame.join(few, same, "left").drop(*long.column_names)


def _partitions(frame: DataFrame) -> int:
    """Return the number of partitions after an exchange by keys."""
    return int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)


def _quantiles(frame: DataFrame, order: str, series: int, cells: int) -> tuple[Sequence[pa.Array], list[int]]:
    """Return the quantiles of the order column of each series, and its number of rows."""
    fractions = [i / cells for i in range(1, cells)]
    quantiles = F.percentile_approx(frame[order], fractions, _ACCURACY)
    rows = frame.where("rollstat_series is not null").groupBy("rollstat_series")
    table = rows.agg(F.count(F.lit(1)).alias("rows"), quantiles.alias("cuts")).toArrow()
    table = table.sort_by("rollstat_series")
    lists = table["cuts"].combine_chunks()
    cuts = [lists.slice(i, 1).flatten() for i in range(table.num_rows)]
    absent = series - table.num_rows  # a frame without rows has no series
    cuts += [pa.array([], lists.type.value_type)] * absent
    return cuts, [*table["rows"].to_pylist(), *[0] * absent]


def _number_of_buckets(rows: int, split: int | str, reach: Reach) -> int:
    """Return the number of buckets for a series."""
    if isinstance(split, int):
        return split
    buckets = math.ceil(rows / ROWS_PER_BUCKET)
    if reach.back or reach.ahead:
        buckets = min(buckets, rows // (4 * (reach.back + reach.ahead)))
    return max(min(buckets, MAX_BUCKETS), 1)


def _count(frame: DataFrame, order: str, job: CountCells) -> list[list[int]]:
    """Return the rows of each cell of each series."""
    rows = frame.where("rollstat_series is not null").select("rollstat_series", frame[order])
    table = rows.mapInArrow(job, "series int, cell long, rows long").toArrow()
    counts = [np.zeros(len(rising) + 1, np.int64) for rising in job.rising]
    for series, cell, count in zip(*(table[name].to_pylist() for name in ("series", "cell", "rows"))):
        counts[series][cell] += count
    return [count.tolist() for count in counts]


def _assign(
    frame: DataFrame,
    keys: Sequence[str],
    order: str,
    cuts: Sequence[pa.Array],
    chosen: list[list[Bucket]],
) -> Split:
    """Add to each row the bucket that needs it, once for each such bucket."""
    first = _partitions(frame) if keys else 0
    ends = tuple(accumulate(map(len, chosen), initial=first))
    buckets = dict(enumerate(chain(*chosen), first))
    columns = {
        "rollstat_number": np.repeat(np.arange(len(chosen), dtype=np.int32), np.diff(ends)),
        BUCKET: np.array([*buckets], np.int32),
    }
    for edge in ("first", "start", "end", "last"):
        columns[f"rollstat_{edge}"] = pa.concat_arrays(
            [_values_at(cut, [getattr(bucket, edge) for bucket in own]) for cut, own in zip(cuts, chosen)]
        )
    few = F.broadcast(frame.sparkSession.createDataFrame(pa.table(columns)))

    def within(low: str, high: str) -> Column:
        """Whether a row lies between two edges; nulls lie before all cuts, and a null edge is none."""
        below, above = (~F.coalesce(frame[order] >= few[edge], F.lit(False)) for edge in (low, high))
        return (few[low].isNull() | ~below) & (few[high].isNull() | above)

    needs = (frame["rollstat_series"] == few["rollstat_number"]) & within("rollstat_first", "rollstat_last")
    bucket = few[BUCKET]
    if keys:
        bucket = F.coalesce(bucket, F.pmod(F.hash(*(frame[key] for key in keys)), F.lit(first)))
    halo = ~within("rollstat_start", "rollstat_end")
    old = [frame[name] for name in frame.columns if name != "rollstat_series"]
    rows = frame.join(few, needs, "left").select(*old, bucket.alias(BUCKET), halo.alias(HALO))
    counted = {number: bucket for number, bucket in buckets.items() if bucket.length >= 0}
    rows_before = {number: bucket.rows_before for number, bucket in counted.items()}
    return Split(rows, ends, rows_before, {number: bucket.length for number, bucket in counted.items()})


def _values_at(cuts: pa.Array, cells: list[int]) -> pa.Array:
    """Return the cut at which each cell starts; null for the first cell and behind the last one."""
    return cuts.take(pa.array([cell - 1 if 0 < cell <= len(cuts) else None for cell in cells], pa.int64()))
