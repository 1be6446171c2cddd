"""Jobs on two executors that are killed; ``test_faults.py`` runs them and reads the output.

python -m tests.spark.faults MASTER FOLDER
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

from rollstat import Expanding, rolling_kth, rolling_median
from rollstat.spark import rolling, session

ROWS, KEYS, WINDOW = 60_000, 7, 101
CONF = {
    "spark.executorEnv.PYTHONPATH": str(Path(__file__).resolve().parents[2]),
    "spark.sql.shuffle.partitions": 4,
    "spark.sql.execution.arrow.maxRecordsPerBatch": 500,
    "spark.executor.memory": "512m",
    "spark.driver.memory": "512m",
    # Tasks are started twice whenever one is a little slower than the rest.
    "spark.speculation": True,
    "spark.speculation.interval": "20ms",
    "spark.speculation.multiplier": 1.01,
    "spark.speculation.quantile": 0.3,
    "spark.speculation.minTaskRuntime": "20ms",
}
AGGS = {"m": ("median", "x")}


def parent(process):
    """Return the parent of a process."""
    return int(
        subprocess.run(["ps", "-o", "ppid=", "-p", str(process)], capture_output=True, check=True).stdout
    )


def command(process):
    """Return the command line of a process."""
    done = subprocess.run(["ps", "-o", "args=", "-p", str(process)], check=True, capture_output=True)
    return done.stdout.decode()


def kill_executor_once(marker, rows=0):
    """Pass batches on; the first task that has passed so many rows kills its executor."""

    def run(batches):
        seen = 0
        for batch in batches:
            yield batch
            seen += batch.num_rows
            if seen >= rows and not os.path.exists(marker):
                executor = parent(os.getppid())  # a worker's parent is its daemon
                assert "CoarseGrainedExecutorBackend" in command(executor)
                try:
                    handle = os.open(marker, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
                except FileExistsError:
                    continue
                os.write(handle, str(executor).encode())
                os.close(handle)
                os.kill(executor, signal.SIGKILL)

    return run


def executors(driver):
    """Return the executors of a driver."""
    listed = subprocess.run(["ps", "-eo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    lines = [line.split(None, 1) for line in listed.splitlines()]
    port = driver.conf.get("spark.driver.port")
    return [int(pid) for pid, text in lines if "CoarseGrainedExecutorBackend" in text and f":{port}" in text]


def check(name, result, wanted):
    """Print whether a result is exact."""
    table = result.select("row", "m").toArrow().sort_by("row")
    exact = table["row"].to_pylist() == list(range(ROWS)) and table["m"].to_pylist() == wanted
    print(name, "exact" if exact else "WRONG", flush=True)


def main(master, folder):
    """Run every fault in turn."""
    spark = session(master, app="rollstat faults", conf=CONF)

    x = "if(id % 50 = 3, null, (id * 7919) % 10007 * 0.5D) as x"
    frame = spark.range(0, ROWS, 1, 6).selectExpr("id as row", f"id % {KEYS} as key", x)
    row = np.arange(ROWS)
    x = np.ma.MaskedArray(row * 7919 % 10007 * 0.5, row % 50 == 3)
    keyed = [None] * ROWS
    for key in range(KEYS):
        keyed[key::KEYS] = rolling_median(x[key::KEYS], WINDOW, min_periods=1).tolist()
    whole = rolling_median(x, WINDOW, min_periods=1).tolist()
    common = {"order_by": "row", "window": WINDOW, "min_periods": 1, "aggs": AGGS}

    # While rows are sent to the exchange; then during the walk after it.
    dying = frame.mapInArrow(kill_executor_once(folder / "sending", 3000), frame.schema)
    check("sending", rolling(dying, partition_by="key", **common), keyed)
    result = rolling(frame, partition_by="key", **common)
    check("walking", result.mapInArrow(kill_executor_once(folder / "walking", 4000), result.schema), keyed)

    # In the first pass over a long series; then between the passes, with the loss of cached blocks.
    dying = frame.mapInArrow(kill_executor_once(folder / "looking", 3000), frame.schema)
    check("looking", rolling(dying, split=6, **common), whole)
    cached = frame.repartition(5).persist()
    result = rolling(cached, split=6, **common)
    victim = executors(spark)[0]
    (folder / "between").write_text(str(victim))
    os.kill(victim, signal.SIGKILL)
    check("between", result, whole)

    # While rows are sent to make the states of buckets.
    marker = folder / "states"
    marker.touch()  # kill nothing during the search for the cuts
    dying = frame.mapInArrow(kill_executor_once(marker, 3000), frame.schema)
    aggs = {"m": ("kth", "x", {"k": 500})}
    result = rolling(dying, order_by="row", window=Expanding(), aggs=aggs, split=6)
    marker.unlink()
    check("states", result, rolling_kth(x, 500, Expanding()).tolist())
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
