"""One Spark session for all tests of a process."""

import os
import warnings
from pathlib import Path

import pytest

# Jobs of tests are short: Java's optimising compiler and parallel collectors cost more than they gain. A busy
# machine may stop any process for minutes. Sessions in the processes that tests start inherit all of this.
LIMITS = {
    "spark.executor.heartbeatInterval": "10m",
    "spark.network.timeout": "1h",
    "spark.python.authenticate.socketTimeout": "1h",
    "spark.sql.broadcastTimeout": "3600",
}
OPTIONS = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *(f"-D{key}={LIMITS[key]}" for key in LIMITS)]
os.environ.setdefault("SPARK_SUBMIT_OPTS", " ".join(OPTIONS))
SITE = str(Path(__file__).with_name("site"))  # what Python imports when a worker starts
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [SITE, os.environ.get("PYTHONPATH")]))


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
