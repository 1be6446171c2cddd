"""One Spark session for all tests of a process."""

import os
import warnings

import pytest

# Jobs of tests are short: Java's optimising compiler and parallel collectors cost more than they gain.
# Sessions in the processes that tests start inherit this.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


@pytest.fixture(scope="session")
def spark():
    from rollstat.spark import session

    conf = {
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.execution.arrow.maxRecordsPerBatch": 101,
        "spark.sql.session.timeZone": "America/New_York",
        "spark.sql.warehouse.dir": "/dev/null/none",
    }
    started = session(app="rollstat tests", conf=conf)
    yield started
    with warnings.catch_warnings():
        # Sockets that py4j leaves to the garbage collector.
        warnings.simplefilter("ignore", ResourceWarning)
        started.stop()
