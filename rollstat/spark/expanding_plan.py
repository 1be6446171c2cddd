"""The driver's side of expanding windows over buckets: states made, joined, and sent where they are needed.

::

    rows needed --> exchange by part, sort, Totals --> (part, states) --> one task, Prefixes --+
    whole rows ------------------------------------------------------------- union <-----------+
                                                      exchange by part, sort: each part's states come first

Nothing passes through the driver, and nothing runs before the result is asked for.
"""

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from rollstat.spark.bucket_plan import HALO, PART, Parts
from rollstat.spark.expanding_walk import CarriedPlan, Prefixes, Totals
from rollstat.spark.sort_prefix import place_of
from rollstat.spark.warnings_filter import known_warnings

__all__ = ["STATE", "with_states"]

STATE = "rollstat_state"
_SCHEMA = "part int, state binary"
# What these give of a set of rows does not depend on their order, but for rounding.
_OF_SETS = {"all", "any", "beta", "corr", "count", "cov", "kth", "kurt", "logsumexp", "max", "mean", "min"}
_OF_SETS |= {"minmax", "prod", "ptp", "sem", "skew", "std", "sum", "var", "weighted_mean"}


def with_states(
    parts: Parts, plan: CarriedPlan, types: Sequence[T.DataType], rest: Sequence[int]
) -> DataFrame:
    """Rows of all parts, and one more of each part that has others before it: the states of these.

    Parameters
    ----------
    parts : Parts
        The rows.
    plan : CarriedPlan
        What is to be done with them.
    types : sequence of DataType
        Of the columns.
    rest : sequence of int
        The columns that order rows which tie.

    Returns
    -------
    DataFrame
        With the column `STATE` after that of the part.
    """
    sent = parts.frame.drop(HALO)
    states = _totals(sent, parts, plan, types, rest)
    with known_warnings():
        joined = (
            states.repartition(1).sortWithinPartitions("part").mapInArrow(Prefixes(plan, parts.ends), _SCHEMA)
        )
    names = sent.columns[:-1]
    nothing = [F.lit(None).cast(what).alias(name) for name, what in zip(names, types)]
    rows = joined.select(*nothing, F.col("part").alias(PART), F.col("state").alias(STATE))
    return sent.withColumn(STATE, F.lit(None).cast("binary")).unionAll(rows)


def _totals(
    sent: DataFrame, parts: Parts, plan: CarriedPlan, types: Sequence[T.DataType], rest: Sequence[int]
) -> DataFrame:
    """States of each bucket, of no more columns than it takes."""
    inputs = [place for place, _ in plan.inputs]
    of_sets = all(call.statistic in _OF_SETS for call in plan.calls)
    # Rows that tie in what is needed of them are the same, whatever their order.
    ties = [] if plan.unique else inputs if of_sets else rest
    needed = sorted({*plan.order, *inputs, *ties})
    rows = sent.where(F.col(PART) >= parts.plain).select(*(sent.columns[place] for place in needed), PART)
    new = {place: number for number, place in enumerate(needed)}
    job = replace(
        replace(plan, keys=()).moved(new),
        names=plan.names[len(plan.keys) :],
        unique=False,
        parts=len(needed),
        before=parts.before,
    )
    rows = rows.repartitionById(parts.count, PART)
    names = rows.columns
    by = order_of(rows, [names[place] for place in job.order], plan.descending)
    by += [rows[names[new[place]]].asc() for place in ties if place not in plan.order]
    first = place_of(rows[names[job.order[0]]], types[plan.order[0]], plan.descending[0])
    if first is not None:
        by.insert(0, first)
    with known_warnings():
        return rows.sortWithinPartitions(*by).mapInArrow(Totals(job), _SCHEMA)


def order_of(rows: DataFrame, names: Sequence[str], descending: Sequence[bool]) -> list[Column]:
    """Columns of the order, each in its direction."""
    return [rows[name].desc() if down else rows[name].asc() for name, down in zip(names, descending)]
