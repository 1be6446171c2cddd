"""Time halos in the exchange beside halos in the closure of the last pass, made by hand here.

    python asv_bench/spark_halos.py

One series in eight buckets, windows of 1,000 rows. By hand, a first pass finds the quantiles, a second
has every task return the last 999 rows before each cut, of which the driver keeps the last 999 of all, and
a third walks over the buckets, each from its halo on. The results of both are compared first. ``--quick``
takes a tenth of the rows.
"""

import argparse
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from spark_speed import CONF, run, take_turns, write_rows

from rollstat.spark import rolling, session
from rollstat.spark.frame import plan_rolling
from rollstat.spark.walk import Plan

WINDOW, BUCKETS = 1_000, 8
AGGS = {"m": ("median", "x")}


@dataclass(frozen=True)
class Tails:
    """Returns the last rows before each cut, of one task."""

    cuts: tuple[int, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Walk over one partition."""
        held: dict[int, pa.Table] = {}
        for batch in batches:
            rows = batch.column("row").to_numpy()
            part = np.searchsorted(np.array(self.cuts), rows, side="right")
            for bucket in range(len(self.cuts)):
                least = rows.min() - 1
                if bucket in held and held[bucket].num_rows == WINDOW - 1:
                    least = held[bucket]["row"][0].as_py()
                own = pa.Table.from_batches([batch.filter(pa.array((part == bucket) & (rows > least)))])
                if own.num_rows:
                    both = pa.concat_tables([held[bucket], own]) if bucket in held else own
                    held[bucket] = both.sort_by("row")[1 - WINDOW :]
        for bucket, table in held.items():
            named = np.full(table.num_rows, bucket + 1, np.int32)
            yield from table.append_column("part", pa.array(named)).to_batches()


@dataclass(frozen=True)
class Seeded:
    """Walks over a bucket from its halo on."""

    plan: Plan
    halos: dict[int, pa.RecordBatch]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Walk over one partition."""
        rows = (batch for batch in batches if batch.num_rows)
        for first in rows:
            walk = self.plan.walk()
            part = first.column("part")[0].as_py()
            if part:
                walk.skip(self.halos[part])
            yield from walk.run(chain([first], rows))


def by_closure(frame: DataFrame) -> DataFrame:
    """Rolling medians with the halos in the closure, and what it took to get them."""
    options = {"min_periods": None, "center": False, "closed": None, "nan_policy": "omit"}
    plan, fields = plan_rolling(
        frame.schema, [], ["row"], WINDOW, AGGS, descending=False, ties="columns", options=options
    )
    fractions = [i / BUCKETS for i in range(1, BUCKETS)]
    cuts = frame.agg(F.percentile_approx("row", fractions, 10_000).alias("cuts")).first().cuts
    start = time.perf_counter()
    tails = frame.mapInArrow(Tails(tuple(cuts)), "row long, x double, part int").toArrow()
    print(
        f"halos: {tails.num_rows:,} rows, {tails.nbytes:,} bytes to the driver in "
        f"{time.perf_counter() - start:.2f} s"
    )
    halos = {}
    for part in range(1, BUCKETS):
        last = tails.filter(pc.equal(tails["part"], part)).sort_by("row")[1 - WINDOW :]
        halos[part] = last.combine_chunks().to_batches()[0]
    part = sum((F.when(F.col("row") >= cut, 1).otherwise(0) for cut in cuts), F.lit(0)).cast("int")
    rows = frame.withColumn("part", part).repartitionById(BUCKETS, "part").sortWithinPartitions("row", "x")
    return rows.mapInArrow(Seeded(replace(plan, width=2), halos), T.StructType([*frame.schema, *fields]))


def by_exchange(frame: DataFrame) -> DataFrame:
    """Rolling medians as they are."""
    return rolling(frame, order_by="row", window=WINDOW, aggs=AGGS, split=BUCKETS)


def main() -> None:
    """Compare, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    arguments = parser.parse_args()
    rows = 1_000_000 if arguments.quick else 10_000_000
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    spark = session("local[2]", app="rollstat halos", conf=CONF)
    with tempfile.TemporaryDirectory() as folder:
        frame = write_rows(spark, rows, 8, Path(folder)).drop("key")
        forms = {"exchange": by_exchange, "closure": by_closure}
        found = [form(frame.where("row < 200000")).toArrow().sort_by("row") for form in forms.values()]
        assert found[0].equals(found[1])
        times = take_turns({n: lambda f=f: run(f(frame)) for n, f in forms.items()}, arguments.rounds)
    spark.stop()
    for name, seconds in times.items():
        print(f"{name:>10}  {seconds:6.2f} s  {seconds / times['closure']:5.2f}")


if __name__ == "__main__":
    main()
