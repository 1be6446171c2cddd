"""The same statistics on Spark.

``session`` starts Spark anywhere, ``rolling`` computes rolling statistics of every series of a data
frame, ``rolling_udf`` gives a function for columns of arrays and for Spark's own windows.
"""

from rollstat.spark.aggregate_spec import Aggregate, aggregate
from rollstat.spark.rolling_plan import rolling
from rollstat.spark.session import session
from rollstat.spark.stream_processor import rolling_stream
from rollstat.spark.udf import rolling_udf

__all__ = ["Aggregate", "aggregate", "rolling", "rolling_stream", "rolling_udf", "session"]
