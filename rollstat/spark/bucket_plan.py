"""The driver's side of splitting long series: look at the order column, and say where each row goes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from rollstat.options import Options
from rollstat.spark.arrow_columns import Kind
from rollstat.spark.bucket_bounds import Bucket, CountCells, Reach, choose_buckets, walk_order
from rollstat.spark.warnings_filter import known_warnings
from rollstat.windows import Expanding, FixedWindows, TimeWindows

__all__ = ["HALO", "MOST_BUCKETS", "PART", "Parts", "find_parts", "reach_of"]

PART, HALO = "rollstat_part", "rollstat_halo"
ROWS_A_BUCKET = 2_000_000  # what `split="auto"` aims at
MOST_BUCKETS = 256  # Java compiles no method above 64 KB: the comparisons of `_tree` for 1,024 are more
_CELLS_A_BUCKET = 64
_ACCURACY = 10_000  # quantiles are off by at most this part of the rows; cells are far longer


@dataclass(frozen=True)
class Parts:
    """Where every row goes.

    Attributes
    ----------
    frame : DataFrame
        The rows, those of halos repeated, with the columns `PART` and `HALO`.
    alone : DataFrame
        The same without halos.
    repeated : int
        Rows of all halos; about, where they were not counted.
    count : int
        Number of parts.
    before : dict
        Rows of its series before the first one of a part, where that is not zero.
    ends : tuple of int
        The part after the last one of each series that is cut.
    plain : int
        The first part of a series that is cut.
    """

    frame: DataFrame
    alone: DataFrame
    repeated: int
    count: int
    before: dict[int, int]
    ends: tuple[int, ...]
    plain: int


def reach_of(window: Any, options: dict[str, Any], time: Kind | None, order: Kind) -> Reach:
    """How far windows reach, in rows or in units of the order column; nowhere where states are carried on."""
    if isinstance(window, Expanding):
        return Reach(0, 0, by_width=False)
    checked = options if time is None else options | {"times": np.empty(0, _width_dtype(time))}
    windows = Options.check(**checked).windows(window, np.zeros(2, np.int64))
    if isinstance(windows, FixedWindows):
        return Reach(max(windows.left, 0), max(windows.right - 1, 0), by_width=False)
    assert isinstance(windows, TimeWindows)
    width = float(windows._width) if order.dtype.kind == "f" else int(windows._width) + 1
    if order.dtype == np.dtype("M8[D]"):
        width = math.ceil(width / 86_400_000_000)
    return Reach(width, width if options.get("center") else 0, by_width=True)


def _width_dtype(time: Kind) -> np.dtype[Any]:
    return np.dtype("M8[us]") if time.dtype.kind == "M" else time.dtype


def find_parts(
    frame: DataFrame,
    keys: Sequence[str],
    order: str,
    kind: Kind,
    descending: bool,
    reach: Reach,
    split: int | str,
    counted: bool,
) -> Parts | None:
    """Look for series that are too long, and cut them; None where there are none.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    keys : sequence of str
        Columns that name the series.
    order, kind, descending
        The first column of the order.
    reach : Reach
        Of the windows.
    split : int or "auto"
        Number of buckets of each series that is cut, or to choose it by the lengths.
    counted : bool
        Whether the rows before each bucket have to be known.
    """
    if keys:
        numbered = _number_long_series(frame, keys, split)
        if numbered is None:
            return None
        frame, series = numbered
    else:
        frame, series = frame.withColumn("rollstat_series", F.lit(0)), 1
    # A first estimate of the number of buckets decides how fine the cells are.
    cuts, rows = _look(frame, order, series, _CELLS_A_BUCKET * (split if isinstance(split, int) else 16))
    buckets = [_buckets(count, split, reach) for count in rows]
    if not keys and buckets[0] < 2:
        return None
    walks = [walk_order(cut, kind, descending) for cut in cuts]
    counts: list[Any] = [None] * series
    if counted or reach.in_rows:
        counts = _count(frame, order, CountCells(kind, tuple(tuple(w[1]) for w in walks), descending))
    chosen = [choose_buckets(c, w[1], b, reach) for c, w, b in zip(counts, walks, buckets)]
    repeated = sum(map(_repeated, counts, rows, chosen))
    return _send(frame, keys, order, descending, [walk[0] for walk in walks], chosen, repeated)


def _repeated(counts: Sequence[int] | None, rows: int, chosen: Sequence[Bucket]) -> int:
    """Rows of the halos of a series, of which the cells are taken as equal if they were not counted."""
    halos = [cell for b in chosen for cell in range(b.first, b.last) if not b.start <= cell < b.end]
    if counts is None:
        return rows * len(halos) // max(chosen[-1].end, 1)
    return sum(counts[cell] for cell in halos)


def _number_long_series(
    frame: DataFrame, keys: Sequence[str], split: int | str
) -> tuple[DataFrame, int] | None:
    """Number the series that are longer than a bucket; null for all others. None where none is."""
    least = ROWS_A_BUCKET * 2 if split == "auto" else ROWS_A_BUCKET // 4
    long = frame.groupBy(*keys).agg(F.count(F.lit(1)).alias("rollstat_rows"))
    table = long.where(F.col("rollstat_rows") > least).toArrow()
    if not table.num_rows:
        return None
    table = table.drop_columns(["rollstat_rows"])
    table = table.append_column("rollstat_series", pa.array(np.arange(table.num_rows, dtype=np.int32)))
    renamed = table.rename_columns([f"rollstat_key{i}" for i in range(len(keys))] + ["rollstat_series"])
    with known_warnings():
        few = F.broadcast(frame.sparkSession.createDataFrame(renamed))
    same = [frame[key].eqNullSafe(few[f"rollstat_key{i}"]) for i, key in enumerate(keys)]
    joined = frame.join(few, same, "left")
    return joined.drop(*renamed.column_names[:-1]), table.num_rows


def _look(frame: DataFrame, order: str, series: int, cells: int) -> tuple[list[pa.Array], list[int]]:
    """Quantiles of the order column of each series, and its rows."""
    fractions = [i / cells for i in range(1, cells)]
    quantiles = F.percentile_approx(frame[order], fractions, _ACCURACY)
    rows = frame.where("rollstat_series is not null").groupBy("rollstat_series")
    table = rows.agg(F.count(F.lit(1)).alias("rows"), quantiles.alias("cuts")).toArrow()
    table = table.sort_by("rollstat_series")
    lists = table["cuts"].combine_chunks()
    cuts = [lists.slice(i, 1).flatten() for i in range(table.num_rows)]
    missing = series - table.num_rows  # a frame without rows has no series either
    cuts += [pa.array([], lists.type.value_type)] * missing
    return cuts, [*table["rows"].to_pylist(), *[0] * missing]


def _buckets(rows: int, split: int | str, reach: Reach) -> int:
    """Number of buckets of a series."""
    if isinstance(split, int):
        return split
    wanted = math.ceil(rows / ROWS_A_BUCKET)
    if not reach.by_width:
        wanted = min(wanted, rows // max(4 * (reach.back + reach.ahead), 1))
    return max(min(wanted, MOST_BUCKETS), 1)


def _count(frame: DataFrame, order: str, job: CountCells) -> list[list[int]]:
    """Rows of each cell of each series."""
    rows = frame.where("rollstat_series is not null").select("rollstat_series", frame[order])
    with known_warnings():
        table = rows.mapInArrow(job, "series int, cell long, rows long").toArrow()
    counts = [np.zeros(len(rising) + 1, np.int64) for rising in job.rising]
    for series, cell, count in zip(*(table[name].to_pylist() for name in ("series", "cell", "rows"))):
        counts[series][cell] += count
    return [count.tolist() for count in counts]


def _literal(value: pa.Scalar, data_type: T.DataType) -> Column:
    """A cut as a literal of exactly its value."""
    if isinstance(data_type, T.TimestampType):
        return F.timestamp_micros(F.lit(value.value))
    if isinstance(data_type, T.TimestampNTZType):
        text = np.datetime_as_string(np.int64(value.value).view("M8[us]"))
        return F.lit(text.replace("T", " ")).cast(data_type)
    if isinstance(data_type, T.DateType):
        return F.date_from_unix_date(F.lit(value.value))
    return F.lit(value.as_py()).cast(data_type)


def _tree(passed: Sequence[Column], results: Sequence[Column]) -> Column:
    """Result by how many of the conditions, each of which implies the one before it, hold."""
    if not passed:
        return results[0]
    middle = len(passed) // 2
    return F.when(passed[middle], _tree(passed[middle + 1 :], results[middle + 1 :])).otherwise(
        _tree(passed[:middle], results[: middle + 1])
    )


def _targets(
    column: Column, data_type: T.DataType, falls: bool, cuts: pa.Array, base: int, buckets: list[Bucket]
) -> tuple[Column, Column]:
    """Parts that a row of a series belongs to, as an array of (part, halo), and the one without a halo."""
    edges = {edge for b in buckets for edge in (b.first, b.start, b.end, b.last)}
    used = sorted(edges - {0, len(cuts) + 1})
    literals = [_literal(cuts[edge - 1], data_type) for edge in used]
    # A row that is null has passed no cut, or all of them in a descending order.
    passed = [
        (column <= cut) | column.isNull() if falls else column.isNotNull() & (column >= cut)
        for cut in literals
    ]
    results, own = [], []
    for cell in [0, *used]:
        goes = [
            (base + i, not b.start <= cell < b.end) for i, b in enumerate(buckets) if b.first <= cell < b.last
        ]
        results.append(F.array(*(F.struct(F.lit(part), F.lit(halo)) for part, halo in goes)))
        own.append(F.lit(next(part for part, halo in goes if not halo)))
    return _tree(passed, results), _tree(passed, own)


def _send(
    frame: DataFrame,
    keys: Sequence[str],
    order: str,
    falls: bool,
    cuts: list[pa.Array],
    chosen: list[list[Bucket]],
    repeated: int,
) -> Parts:
    """Add to each row the part that it goes to, once for each part."""
    plain = int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200) if keys else 0
    data_type = frame.schema[order].dataType
    where: Any = None
    part: Any = None
    before: dict[int, int] = {}
    base = plain
    ends = []
    for number, (cut, buckets) in enumerate(zip(cuts, chosen)):
        goes, own = _targets(frame[order], data_type, falls, cut, base, buckets)
        before |= {base + i: bucket.before for i, bucket in enumerate(buckets) if bucket.before}
        base += len(buckets)
        ends.append(base)
        this = F.col("rollstat_series") == number
        where = F.when(this, goes) if where is None else where.when(this, goes)
        part = F.when(this, own) if part is None else part.when(this, own)
    if keys:
        own = F.pmod(F.hash(*(frame[key] for key in keys)), F.lit(plain))
        where, part = where.otherwise(F.array(F.struct(own, F.lit(False)))), part.otherwise(own)
    sent = frame.select("*", F.inline(where).alias(PART, HALO)).drop("rollstat_series")
    alone = frame.select("*", part.alias(PART), F.lit(False).alias(HALO)).drop("rollstat_series")
    return Parts(sent, alone, repeated, base, before, tuple(ends), plain)
