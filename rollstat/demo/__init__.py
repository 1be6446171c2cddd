"""A demonstration on real data; run it with ``python -m rollstat.demo``."""

from rollstat._extras import require

require("spark,plot", "rollstat.demo", "pyspark", "pyarrow", "matplotlib")
