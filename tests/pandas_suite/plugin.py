"""pandas' own tests of windows, answered by the accessor.

``python -m pytest -c tests/pandas_suite/pytest.ini --pyargs pandas.tests.window`` runs the tests of the
installed pandas. If a test calls ``rolling``, ``expanding`` or ``ewm`` of a Series, DataFrame or groupby, it
gets the accessor's object. If the accessor or pandas itself calls them, it gets pandas' own. So a
delegated call reaches pandas.

The report counts the tests that call the accessor. The run fails if less than `LEAST` of them pass, if a test
fails that `explained.toml` does not list, or if an entry of that file matches no failure. Failures that the
file calls deliberate do not count in the rate.
``--real-pandas`` changes nothing, and shows what fails in pandas itself.
"""

import fnmatch
import sys
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pandas.api.typing import DataFrameGroupBy

import rollstat.pandas
from rollstat import engine
from rollstat.statistics import common

LEAST = 0.995
SHOWN = 50  # problems
EXPLAINED = Path(__file__).with_name("explained.toml")
TESTS = Path(pd.__file__).parent / "tests"
METHODS = ("rolling", "expanding", "ewm")
NDFRAME = next(base for base in pd.DataFrame.__mro__ if "rolling" in vars(base))
GROUPBY = next(base for base in DataFrameGroupBy.__mro__ if "rolling" in vars(base))


class Calls:
    """Counts of what happened, in total and in the present test."""

    def __init__(self) -> None:
        self.total: Counter[str] = Counter()
        self.test = ""  # file and name of the present test
        self.called = False  # whether it has called the accessor

    def add(self, what: str) -> None:
        """Count one event."""
        self.total[what] += 1


CALLS = Calls()
OUTCOMES: dict[str, str] = {}  # of the tests that called the accessor


def caller() -> str:
    """Return the module that called a patched method."""
    return str(sys._getframe(2).f_globals.get("__name__", ""))


def patched(name: str, real: Callable[..., Any], find: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a method that answers tests by that of the accessor, and all others by pandas' own."""

    def method(self: Any, *args: Any, **options: Any) -> Any:
        module = caller()
        if not module.startswith("pandas.tests"):
            if module.startswith("rollstat"):
                CALLS.add("delegated to pandas")
            return real(self, *args, **options)
        CALLS.called = True
        CALLS.add("calls of the accessor")
        return getattr(find(self), name)(*args, **options)

    method.__name__ = name
    method.__doc__ = real.__doc__
    return method


def counted(real: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the engine that counts how often it computes."""

    def function(*args: Any, **options: Any) -> Any:
        CALLS.add("executions of the engine")
        return real(*args, **options)

    return function


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that leaves pandas as it is."""
    parser.addoption("--real-pandas", action="store_true", help="run the tests on pandas itself")


def pytest_configure(config: pytest.Config) -> None:
    """Replace the methods of pandas."""
    if config.getoption("--real-pandas"):
        return
    for name in METHODS:
        if hasattr(rollstat.pandas.SeriesAccessor, name):
            setattr(NDFRAME, name, patched(name, getattr(NDFRAME, name), lambda data: data.rollstat))
    if hasattr(rollstat.pandas, "GroupBy"):
        for name in METHODS:
            setattr(GROUPBY, name, patched(name, getattr(GROUPBY, name), rollstat.pandas.GroupBy))
    for module in (engine, common):
        module.execute = counted(module.execute)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    """Forget what the test before has called."""
    CALLS.test = f"{item.path.relative_to(TESTS)}::{item.nodeid.partition('::')[2]}"
    CALLS.called = False
    return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep the outcome of a test that called the accessor, and of every failure."""
    if report.failed:
        OUTCOMES[CALLS.test] = "failed"
    elif report.when == "call" and CALLS.called:
        OUTCOMES[CALLS.test] = "xfailed" if hasattr(report, "wasxfail") else report.outcome


def explanations() -> dict[str, bool]:
    """Return the patterns of tests that are allowed to fail, and whether the difference is deliberate."""
    entries = tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))["explained"]
    return {pattern: entry.get("deliberate", False) for entry in entries for pattern in entry["tests"]}


def matches(name: str, pattern: str) -> bool:
    """Return whether a test has the name; an asterisk stands for any text, brackets for themselves."""
    return fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the totals."""
    if config.getoption("--real-pandas"):
        return
    write = terminalreporter.write_line
    terminalreporter.section("pandas' tests through the accessor")
    totals = Counter(OUTCOMES.values())
    for outcome, number in totals.most_common():
        write(f"{number:6} {outcome}")
    for what, number in CALLS.total.most_common():
        write(f"{number:6} {what}")
    write("passed {:.2%}, and {:.2%} without deliberate differences".format(*rates()))
    found = problems()
    for problem in found[:SHOWN]:
        write(problem)
    if found[SHOWN:]:
        write(f"and {len(found) - SHOWN} more")


def rates() -> tuple[float, float]:
    """Return the rate of tests that pass, of all and of those without a deliberate difference."""
    deliberate = [pattern for pattern, chosen in explanations().items() if chosen]
    passed = sum(outcome == "passed" for outcome in OUTCOMES.values())
    failed = [name for name, outcome in OUTCOMES.items() if outcome == "failed"]
    counted = [name for name in failed if not any(matches(name, pattern) for pattern in deliberate)]
    return passed / max(passed + len(failed), 1), passed / max(passed + len(counted), 1)


def problems() -> list[str]:
    """Return why the run fails: too low a rate, a failure without a reason, a reason without a failure."""
    failed = [name for name, outcome in OUTCOMES.items() if outcome == "failed"]
    reasons = explanations()
    found = [f"at least {LEAST:.1%} must pass"] if rates()[1] < LEAST else []
    found += [f"no reason for {name}" for name in failed if not any(matches(name, p) for p in reasons)]
    files = {name.partition("::")[0] for name in OUTCOMES}
    for pattern in reasons:
        in_run = pattern.partition("::")[0] in files
        if in_run and not any(matches(name, pattern) for name in failed):
            found.append(f"no failure matches {pattern}")
    return found


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let the run fail for its problems alone; explained failures are allowed."""
    if session.config.getoption("--real-pandas") or session.exitstatus not in (0, 1):
        return
    session.exitstatus = int(bool(problems()))
