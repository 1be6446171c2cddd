"""Results stay exact when executors, drivers and tasks are killed."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from rollstat.spark import rolling
from tests.spark.cluster import standalone
from tests.spark.conftest import SITE
from tests.spark.test_structured_streaming import write

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = os.environ | {"PYTHONPATH": f"{SITE}{os.pathsep}{ROOT}", "SPARK_LOCAL_IP": "127.0.0.1"}

pytestmark = pytest.mark.spark


@pytest.mark.long
def test_executors_killed_in_the_middle_of_a_job_change_nothing(tmp_path):
    with standalone(tmp_path) as master:
        command = [sys.executable, "-m", "tests.spark.faults", master, str(tmp_path)]
        done = subprocess.run(command, check=False, env=ENVIRONMENT, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-4000:]
    faults = ["sending", "walking", "looking", "between", "states"]
    assert done.stdout.split() == [word for fault in faults for word in (fault, "exact")]
    killed = {int((tmp_path / fault).read_text()) for fault in faults}
    assert len(killed) == len(faults)
    # Spark itself tells of each of them.
    assert len(re.findall("Lost executor .* exited with code 137", done.stderr)) >= len(faults)


def test_a_failing_kernel_names_the_key_and_the_row(spark):
    text = ["id as row", "id % 2 as key", "if(id in (71, 77), 9223372036854775807, 1) as x"]
    frame = spark.range(0, 90, 1, 4).selectExpr(*text)
    result = rolling(frame, partition_by="key", order_by="row", window=3, aggs={"s": ("sum", "x")})
    with pytest.raises(Exception, match=r"OverflowError: sum failed at key=1, row=71: "):
        result.collect()


DRIVER = """
import sys
import time
from pathlib import Path

from rollstat.spark import rolling_stream, session

folder = Path(sys.argv[1])


def hold(place):
    # Batches pass, but wait at the row that a file names, for as long as that file exists.
    path = folder / f"hold {place}"

    def run(batches):
        for batch in batches:
            if path.exists() and max(batch.column("row").to_pylist()) >= int(path.read_text()):
                (folder / "held").touch()
                while path.exists():
                    time.sleep(0.01)
            yield batch

    return run


spark = session("local[2]", conf={"spark.sql.shuffle.partitions": 2})
stream = spark.readStream.schema("key int, row long, x double").option("maxFilesPerTrigger", 1)
stream = stream.parquet(f"{folder}/in")
stream = stream.mapInArrow(hold("before"), stream.schema)
aggs = {"m": ("median", "x")}
result = rolling_stream(stream, partition_by="key", order_by="row", window=30, aggs=aggs)
result = result.mapInArrow(hold("after"), result.schema)
writer = result.writeStream.format("parquet").option("path", f"{folder}/out")
query = writer.option("checkpointLocation", f"{folder}/state").trigger(availableNow=True).start()
query.awaitTermination()
print("done")
"""


@pytest.mark.long
def test_a_driver_killed_in_the_middle_of_a_batch_loses_and_repeats_nothing(spark, tmp_path):
    rows, files = 4000, 8
    rng = np.random.default_rng(1)
    table = pa.table(
        {"key": pa.array(np.arange(rows) % 3, pa.int32()), "row": np.arange(rows), "x": rng.normal(size=rows)}
    )
    for number in range(files):
        write(table.slice(number * rows // files, rows // files), tmp_path, number)
    command = [sys.executable, "-c", DRIVER, str(tmp_path)]
    held = tmp_path / "held"
    # A batch waits before or after its rows have changed the state, and its driver is killed.
    for batch, place in ((1, "before"), (3, "after"), (6, "after"), (files, None)):
        stop = tmp_path / f"hold {place}"
        if place is not None:
            stop.write_text(str(batch * rows // files))
        with open(tmp_path / "log", "ab") as log:
            driver = subprocess.Popen(
                command, env=ENVIRONMENT, stdout=log, stderr=log, start_new_session=True
            )
        if place is None:
            assert driver.wait() == 0, (tmp_path / "log").read_text()[-3000:]
            break
        while not held.exists():
            assert driver.poll() is None, (tmp_path / "log").read_text()[-3000:]
            time.sleep(0.01)
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
        assert (tmp_path / "state" / "offsets" / str(batch)).exists()
        assert not (tmp_path / "state" / "commits" / str(batch)).exists()
        stop.unlink()  # workers that outlive their driver end
        held.unlink()
    found = spark.read.parquet(str(tmp_path / "out")).toArrow().sort_by("row")
    frame = spark.createDataFrame(table)
    whole = rolling(frame, partition_by="key", order_by="row", window=30, aggs={"m": ("median", "x")})
    assert found["row"].to_pylist() == list(range(rows))
    assert found.to_pylist() == whole.toArrow().sort_by("row").to_pylist()
