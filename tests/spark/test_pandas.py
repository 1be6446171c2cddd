"""The accessor of pandas-on-Spark; `pyspark.pandas` needs pandas 2, which `nox -s spark-minimum` has."""

import ast
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rollstat.pandas  # registers the accessor of pandas
import rollstat.spark

OLD = int(pd.__version__.split(".")[0]) < 3
needs_old = pytest.mark.skipif(not OLD, reason="pyspark.pandas cannot be imported with pandas 3")
pytestmark = pytest.mark.spark


@pytest.mark.skipif(OLD, reason="pyspark.pandas can be imported")
def test_the_import_names_what_is_missing():
    code = "import rollstat.spark.pandas"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert "ImportError: pyspark.pandas of pyspark" in done.stderr
    assert f"cannot be imported with pandas {pd.__version__}" in done.stderr


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(7)
    time = pd.date_range("2025-01-01", periods=300, freq="37s", name="time")
    x = np.where(rng.random(300) < 0.1, np.nan, rng.normal(size=300))
    return pd.DataFrame({"x": x, "n": rng.integers(0, 9, 300)}, index=time)


@pytest.fixture(scope="module")
def on_spark(spark, frame):
    ps = pytest.importorskip(
        "pyspark.pandas", reason="cannot be imported with pandas 3", exc_type=ImportError
    )
    import rollstat.spark.pandas  # noqa: F401  # registers the accessor

    return ps.from_pandas(frame)


@needs_old
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("options", [{}, {"split": 4}, {"center": True, "split": 3}])
def test_rows_in_the_order_of_the_frame(frame, on_spark, options):
    found = on_spark.rollstat.rolling(9, min_periods=2, **options).quantile(0.3).to_pandas()
    center = options.get("center", False)
    wanted = frame.rollstat.rolling(9, min_periods=2, center=center).quantile(0.3)
    pd.testing.assert_frame_equal(found, wanted, check_freq=False)


@needs_old
@pytest.mark.filterwarnings("default")
def test_widths_series_and_several_results(frame, on_spark):
    found = on_spark["x"].rollstat.rolling("5min", split=3).median().to_pandas()
    pd.testing.assert_series_equal(found, frame["x"].rollstat.rolling("5min").median(), check_freq=False)
    by_column = on_spark.reset_index().rollstat.rolling("5 minutes", on="time").max().to_pandas()
    assert by_column["x"].tolist() == pytest.approx(
        frame["x"].rollstat.rolling("5min").max().tolist(), nan_ok=True
    )
    both = on_spark.rollstat.rolling(5).minmax()
    assert list(both.columns) == [
        "x_minmax_minimum",
        "x_minmax_maximum",
        "n_minmax_minimum",
        "n_minmax_maximum",
    ]


@needs_old
@pytest.mark.filterwarnings("default")
def test_the_conversion_of_the_guide(spark, on_spark):
    """The code of the guide runs; the frame that it ends with is the one that its comment shows."""
    guide = (Path(__file__).resolve().parents[2] / "docs" / "guide" / "spark_sql.rst").read_text()
    block = re.search(r"    *psdf = ps.DataFrame\(\{\"key\".*?(?=\n\S)", guide, re.DOTALL)
    code = textwrap.dedent(block[0]).splitlines()
    comment = [line[2:] for line in code if line.startswith("# ")]
    names = {"ps": sys.modules["pyspark.pandas"], "rs": rollstat.spark}
    *statements, last = ast.parse("\n".join(code)).body
    exec(compile(ast.Module(statements, []), "spark_sql.rst", "exec"), names)
    result = eval(compile(ast.Expression(last.value), "spark_sql.rst", "eval"), names)
    assert str(result.to_pandas()).split() == " ".join(comment).split()


@needs_old
@pytest.mark.filterwarnings("default")
def test_what_is_rejected(on_spark):
    with pytest.raises(AttributeError, match="a window of pandas-on-Spark has no statistic 'corr'"):
        on_spark.rollstat.rolling(5).corr()
    assert "median" in dir(on_spark.rollstat.rolling(5))
