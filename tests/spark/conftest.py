"""One Spark session for all tests of a process."""

import warnings

import pytest


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
