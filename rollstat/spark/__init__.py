"""The same statistics on Spark: the session so far."""

from rollstat.spark.session import session

__all__ = ["session"]
