"""Every pair of calls in the migration tables runs and gives equal results; who computes what is true."""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.api.indexers import BaseIndexer

import rollstat.pandas

ROOT = Path(__file__).parents[2]
OLDEST = {"pandas": "3", "scipy": "1.16"}  # versions with all the calls that the page maps


@pytest.fixture(scope="module")
def script():
    """Return the script that writes the tables."""
    return runpy.run_path(str(ROOT / "asv_bench" / "migration.py"))


@pytest.mark.parametrize("library", ["pandas", "bottleneck", "scipy", "polars"])
def test_mapped_calls_are_equal(script, library):
    pytest.importorskip(library, OLDEST.get(library), reason="the page maps its calls")
    data = script["names"](400)
    for call in script["CALLS"][library]():
        script["check"](call, library, data)
        table = ROOT / "docs" / "performance" / "tables" / f"migration-{library}.rst"
        assert f"``{call.theirs}``" in table.read_text()
        assert f"``{call.ours}``" in table.read_text()


def test_every_window_function_of_bottleneck_and_polars_is_mapped(script):
    calls = {name: " ".join(call.theirs for call in make()) for name, make in script["CALLS"].items()}
    bottleneck = pytest.importorskip("bottleneck", reason="the page maps its calls")
    polars = pytest.importorskip("polars", reason="the page maps its calls")
    assert all(f"bn.{name}(" in calls["bottleneck"] for name in dir(bottleneck) if name.startswith("move_"))
    functions = [*dir(polars), *dir(polars.Series), *dir(polars.Expr)]
    assert all(f"{name}(" in calls["polars"] for name in functions if name.startswith("rolling"))


class Backwards(BaseIndexer):
    """Windows of up to three rows, the newest row first."""

    def get_window_bounds(self, num_values=0, min_periods=None, center=None, closed=None, step=None):
        end = np.arange(num_values, 0, -1)
        return np.maximum(end - 3, 0), end


TIMED = pd.Series(np.arange(12.0), pd.date_range("2026", periods=12, freq="D"))
FRAME = pd.DataFrame({"key": [0, 1] * 6, "x": TIMED, "y": TIMED[::-1].to_numpy()})
GROUPS = FRAME.rollstat.groupby("key")
BY_ROLLSTAT = {
    "widths": lambda: TIMED.rollstat.rolling("3D", step=2).sum(),
    "indexers in any order": lambda: TIMED.rollstat.rolling(Backwards(), min_periods=1).median(),
    "indexers within groups": lambda: GROUPS["x"].rolling(Backwards(), min_periods=1).median(),
    "win_type": lambda: TIMED.rollstat.rolling(3, win_type="hann").mean(),
    "win_type within groups": lambda: GROUPS["x"].rolling(3, win_type="hann").mean(),
    "ewm": lambda: TIMED.rollstat.ewm(halflife="2D", times=TIMED.index).mean(),
    "ewm within groups": lambda: GROUPS["x"].ewm(span=3).std(),
    "functions": lambda: TIMED.rollstat.rolling(3).apply(lambda x: x[-1] - x[0], raw=True),
    "known functions": lambda: TIMED.rollstat.rolling(3).apply(np.ptp, raw=True),
    "pipe": lambda: TIMED.rollstat.rolling(3).pipe(lambda windows: windows.sum()),
}
BY_PANDAS = {
    "zero-length windows": lambda: TIMED.rollstat.rolling(0).sum(),
    "few windows within groups": lambda: GROUPS["x"].rolling(3).apply(lambda x: x[-1] - x[0], raw=True),
    "functions of Series": lambda: TIMED.rollstat.rolling(3).apply(lambda x: x.iloc[0]),
    "corr within groups": lambda: GROUPS["x"].rolling(3).corr(FRAME["y"]),
    "series that indexers cannot align": lambda: TIMED.rollstat.rolling(Backwards()).cov(TIMED.iloc[3:]),
}
BY_NOBODY = {
    "win_type": lambda: TIMED.rollstat.rolling(3, win_type="hann").mad(),
    "method": lambda: FRAME.rollstat.rolling(3, method="table").mad(),
    "zero-length windows": lambda: TIMED.rollstat.rolling(0).mad(),
}


@pytest.mark.parametrize("call", [*BY_ROLLSTAT.values(), *BY_PANDAS.values()], ids=[*BY_ROLLSTAT, *BY_PANDAS])
def test_who_computes_what(call):
    before = rollstat.pandas.handed_back()
    call()
    assert (rollstat.pandas.handed_back() != before) == (call in BY_PANDAS.values())


@pytest.mark.parametrize("call", BY_NOBODY.values(), ids=BY_NOBODY)
def test_what_nobody_computes(call):
    with pytest.raises((ValueError, AttributeError)):
        call()
