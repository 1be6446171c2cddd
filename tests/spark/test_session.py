"""The session of the tests bears a busy machine."""

import sys

import pyarrow as pa
import pytest

from rollstat.spark.start import known_warnings
from tests.spark.conftest import LIMITS


@pytest.mark.spark
def test_workers_start_from_bytecode_and_nothing_waits_for_too_short_a_time(spark):
    def modules(batches):
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"file": [sys.modules["pyspark"].__file__] * batch.num_rows})

    with known_warnings():
        (row,) = spark.range(1).mapInArrow(modules, "file string").collect()
    assert ".zip" not in row.file
    assert {name: spark.conf.get(name) for name in LIMITS} == LIMITS
