"""Make the machine code that a wheel brings: ``python -m rollstat.precompile.prebuild FOLDER``.

::

    dtype --> process of the highest level --> work folder --> process of each other level --> FOLDER,
              that compiles for all levels                     that loads, and compiles        manifest.json
              (usual calls)                                    what fits only its level

Code for a CPU level runs on every CPU that has its features; see :data:`rollstat.compile.cache.LEVELS`. On
x86-64 there are two levels: v3 (nearly all CPUs since 2015) and v4 (AVX-512). A CPU below
v3 compiles as without a wheel: code for v2 would make wheels half as large again for very few users. Other
architectures have one level. The calls run while they are compiled, so this machine must support the levels
that it compiles for. Most of the time to compile goes by before LLVM knows the level, so it is spent once.
"""

import argparse
import gc
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import rollstat
from rollstat.compile.cache import LEVELS, MARKER, compiled_kernels, host_levels
from rollstat.compile.levels import BUILD_LEVEL, compile_also
from rollstat.precompile.usual_calls import DTYPES
from rollstat.precompile.versions import MANIFEST, compiler_versions
from rollstat.precompile.warmup import warmup
from rollstat.registry import REGISTRY

_BUILT = ("x86-64-v4", "x86-64-v3")  # in this order: only the first may have instructions of its own


def levels_to_build() -> tuple[str, ...]:
    """Return the levels of which wheels of this platform have code; raise if this CPU lacks one."""
    levels = _BUILT if platform.machine().lower() in ("x86_64", "amd64") else host_levels()
    missing = [level for level in levels if level not in host_levels()]
    if missing:
        raise RuntimeError(
            f"this CPU cannot run code for {', '.join(missing)}: name the levels to build, "
            f"of {', '.join(host_levels())}, or build on another machine"
        )
    return levels


def settings(level: str, folder: Path) -> dict[str, str]:
    """Return the environment of a process that compiles for a level and stores kernels in `folder`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "ROLLSTAT_"))}
    paths = [str(Path(rollstat.__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
    features = LEVELS.get(level)
    return kept | {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "NUMBA_CPU_NAME": level if features else "generic",
        "NUMBA_CPU_FEATURES": ",".join(f"+{feature}" for feature in features or ("neon",)),
        "NUMBA_CACHE_DIR": str(folder),
        BUILD_LEVEL: level,
    }


def _make_calls(statistics: Sequence[str], dtype: str, also: Sequence[str]) -> None:
    """Make the usual calls in this process; print the names of the files that it stored or loaded.

    Kernels are compiled for the levels `also` too.
    """
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)  # compiling makes many objects, which live long
    files = compile_also(also)
    for number, statistic in enumerate(statistics, 1):
        done = warmup(statistic, dtype, progress=False)
        level = os.environ[BUILD_LEVEL]
        print(f"{level} {dtype} {number}/{len(statistics)} {statistic}: {done}", file=sys.stderr, flush=True)
    print(json.dumps(sorted(files.union(kernel.key for kernel in compiled_kernels if kernel.key))))


def _files_of(dtype: str, levels: Sequence[str], statistics: Sequence[str], work: Path) -> list[list[str]]:
    """Compile for a dtype; return the names of the files to bring for each level."""
    command = [sys.executable, "-m", "rollstat.precompile.prebuild", str(work), "--calls"]
    command += ["--dtypes", dtype, "--statistics", *statistics]
    found: list[list[str]] = []
    for level in levels:
        also = [] if found or len(levels) == 1 else ["--levels", *levels[1:]]
        done = subprocess.run(
            [*command, *also], env=settings(level, work), stdout=subprocess.PIPE, text=True, check=True
        )
        found.append(json.loads(done.stdout.splitlines()[-1]))
    return found


def prebuild(
    folder: Path,
    levels: Sequence[str] | None = None,
    statistics: Sequence[str] | None = None,
    dtypes: Sequence[str] = DTYPES,
    jobs: int | None = None,
    work: Path | None = None,
) -> int:
    """Write the compiled kernels of usual calls to a new folder, and return their number.

    Parameters
    ----------
    folder : Path
        Must not exist.
    levels : sequence of str, optional
        CPU levels; see :func:`levels_to_build`.
    statistics, dtypes : sequence of str
        As in :func:`rollstat.warmup`.
    jobs : int, optional
        Processes at a time. Default: one for each CPU.
    work : Path, optional
        Folder in which compiled kernels are kept for the next build. Default: a temporary one.
    """
    levels = levels_to_build() if levels is None else levels
    names = list(REGISTRY) if statistics is None else list(statistics)
    temporary = Path(tempfile.mkdtemp(prefix="rollstat-prebuild-"))
    work = temporary if work is None else work.absolute()
    try:
        # Dtypes share kernels. A process loads what another has stored, so each begins somewhere else.
        first = [len(names) * number // len(dtypes) for number in range(len(dtypes))]
        orders = [names[i:] + names[:i] for i in first]
        with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
            found = list(pool.map(lambda dtype, order: _files_of(dtype, levels, order, work), dtypes, orders))
        files = {level: set().union(*each) for level, each in zip(levels, zip(*found))}
        stored = work / "rollstat"
        folder.mkdir(parents=True)
        for file in set().union(*files.values()):
            shutil.copyfile(stored / file, folder / file)
        for marker in stored.glob(f"*{MARKER}"):
            (folder / marker.name).touch()
        counts = {level: len(files[level]) for level in levels}
        manifest = {"rollstat": rollstat.__version__, "versions": compiler_versions(), "levels": counts}
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return sum(counts.values())


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m rollstat.precompile.prebuild", description="Compile the kernels that a wheel brings."
    )
    parser.add_argument("folder", type=Path, help="new folder for the kernels")
    parser.add_argument("--statistics", nargs="+", help="all by default")
    parser.add_argument("--dtypes", nargs="+", default=DTYPES)
    parser.add_argument("--levels", nargs="+", help="CPU levels, those of a wheel by default")
    parser.add_argument("--jobs", type=int, help="processes at a time")
    parser.add_argument("--work", type=Path, help="folder that keeps compiled kernels for the next build")
    parser.add_argument("--calls", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.calls:
        _make_calls(given.statistics, given.dtypes[0], given.levels or ())
        return
    number = prebuild(given.folder, given.levels, given.statistics, given.dtypes, given.jobs, given.work)
    size = sum(file.stat().st_size for file in given.folder.iterdir())
    print(f"{number} kernels, {size / 1e6:.1f} MB, in {given.folder}")


if __name__ == "__main__":
    main()
