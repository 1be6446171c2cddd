"""Try an installation in a clean environment; ``nox -s package`` runs this.

python try_installation.py                          # without extras: the error names the extra
python try_installation.py [features,spark,plot,progress]    # with them
"""

import importlib
import sys

import numpy as np
import pandas as pd

import rollstat
import rollstat.pandas


def on_spark() -> None:
    """Run one job on Spark."""
    from rollstat.spark import rolling, session

    spark = session()
    frame = rolling(spark.range(100), order_by="id", window=3, aggs={"m": ("median", "id")})
    assert frame.where("m is null").count() == 2
    spark.stop()


def without_spark() -> None:
    """Check that the error names the extra."""
    try:
        importlib.import_module("rollstat.spark")
    except ModuleNotFoundError as error:
        message = str(error)
    else:
        message = "no error"
    assert "rollstat[spark]" in message, message


def main() -> None:
    """Make calls through arrays, pandas, streams and Spark."""
    series = pd.Series(np.random.default_rng(0).normal(size=2000))
    expected = series.rolling(25, center=True).median()
    pd.testing.assert_series_equal(series.rollstat.rolling(25, center=True).median(), expected)
    stream = rollstat.RollingMedian(5, min_periods=1)
    stream.push(4.0)
    assert rollstat.restore(stream.snapshot()).push(5.0) == 4.5
    if "spark" in "".join(sys.argv[1:]):
        on_spark()
    else:
        without_spark()
    rollstat.show_versions()


if __name__ == "__main__":
    main()
