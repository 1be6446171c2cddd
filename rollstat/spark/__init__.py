"""The same statistics on Spark.

``session`` starts Spark anywhere, ``rolling`` computes rolling statistics of every series of a data
frame, ``rolling_udf`` gives a function for columns of arrays and for Spark's own windows.
"""

from rollstat.spark.aggregates import Aggregate, aggregate
from rollstat.spark.frame import rolling
from rollstat.spark.session import session
from rollstat.spark.stream import rolling_stream
from rollstat.spark.udf import rolling_udf

__all__ = ["Aggregate", "aggregate", "rolling", "rolling_stream", "rolling_udf", "session"]
