"""Precompile kernels while a wheel is built, if ``ROLLSTAT_PREBUILD`` is set.

Without it, the wheel is pure Python. ``ROLLSTAT_PREBUILD_STATISTICS`` and ``ROLLSTAT_PREBUILD_LEVELS`` name
some statistics or CPU levels, separated by commas. ``ROLLSTAT_PREBUILD_WORK`` names a folder that keeps
compiled kernels for the next build.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Compiled kernels are found only by the same versions.
_KEYED = ("numba", "llvmlite")
_VERSIONS = """
from importlib.metadata import version
for package in {}:
    print(package, version(package), sep='==')
"""


def _wanted() -> bool:
    return os.environ.get("ROLLSTAT_PREBUILD", "0") not in ("", "0")


def _installed_versions() -> list[str]:
    """Return requirements of the versions that the environment outside the isolated build has, if any."""
    command = [sys.executable, "-I", "-c", _VERSIONS.format(_KEYED)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else []


class PrebuildHook(BuildHookInterface):
    """Adds the folder ``rollstat/_prebuilt`` to the wheel."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return what a build environment needs to compile kernels."""
        if not _wanted():
            return []
        core = self.metadata.core
        return [*core.dependencies, *core.optional_dependencies["features"], *_installed_versions()]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and have the wheel include the result."""
        if self.target_name != "wheel" or version == "editable" or not _wanted():
            return
        self._temporary = tempfile.TemporaryDirectory(prefix="rollstat-wheel-")
        folder = Path(self._temporary.name) / "_prebuilt"
        command = [sys.executable, "-m", "rollstat.precompile.prebuild", str(folder)]
        for option in ("statistics", "levels", "work"):
            value = os.environ.get(f"ROLLSTAT_PREBUILD_{option.upper()}")
            command += [f"--{option}", *value.split(",")] if value else []
        paths = [self.root, os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        # Standard output belongs to the protocol between pip and the build.
        subprocess.run(command, cwd=self.root, env=environment, stdout=sys.stderr, check=True)
        build_data["force_include"][str(folder)] = "rollstat/_prebuilt"
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the compiled kernels."""
        if hasattr(self, "_temporary"):
            self._temporary.cleanup()
