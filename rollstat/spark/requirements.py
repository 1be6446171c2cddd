"""Raise, when this is imported, if the extra ``spark`` is not installed."""

from rollstat._extras import require

require("spark", "rollstat.spark", "pyspark", "pyarrow")
