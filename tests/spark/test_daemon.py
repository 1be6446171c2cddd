"""The process that workers are forked from."""

import json
import os
import subprocess
import sys

import pyarrow as pa
import pytest

from rollstat.spark.daemon import installed_first
from rollstat.spark.start import known_warnings

SEEN = """
import json, os, sys
from rollstat.spark.daemon import preload
safe = preload()
names = ("numba", "pyspark.worker", "pyarrow", "pandas")
print(json.dumps([safe, len(os.listdir("/proc/self/task")), *(name in sys.modules for name in names)]))
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads as Linux shows them")
@pytest.mark.parametrize("threads", ["1", "4", ""])
def test_it_imports_only_what_starts_no_thread(threads):
    environment = os.environ | {"OMP_NUM_THREADS": threads}
    done = subprocess.run(
        [sys.executable, "-c", SEEN], env=environment, check=True, capture_output=True, text=True
    )
    safe, running, numba, worker, pyarrow, pandas = json.loads(done.stdout)
    assert safe == numba == (threads == "1")
    assert worker or not safe  # the daemon of older Spark has always imported it
    assert not pyarrow
    assert not pandas
    if safe:
        assert running == 1


def test_archives_of_an_installed_pyspark_come_last():
    archives = ["/site/pyspark/python/lib/pyspark.zip", "/site/pyspark/python/lib/py4j-0.10.9.9-src.zip"]
    assert installed_first([*archives, "/work", "/site"]) == ["/work", "/site", *archives]
    # Without an installed pyspark the archives are the only ones.
    assert installed_first([*archives, "/work"]) == [*archives, "/work"]
    other = ["/opt/spark/python/lib/pyspark.zip", "/site"]
    assert installed_first(other) == other


@pytest.mark.spark
def test_workers_of_a_local_session_are_forked_from_it(spark):
    def parent(batches):
        for batch in batches:
            with open(f"/proc/{os.getppid()}/cmdline") as file:
                yield pa.RecordBatch.from_pydict(
                    {
                        "command": [file.read().replace("\0", " ")] * batch.num_rows,
                        "pyspark": [sys.modules["pyspark"].__file__] * batch.num_rows,
                    }
                )

    with known_warnings():
        (row,) = spark.range(1).mapInArrow(parent, "command string, pyspark string").collect()
    assert "-m rollstat.spark.daemon" in row.command
    assert ".zip" not in row.pyspark
