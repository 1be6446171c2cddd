"""Every pair of calls in the migration tables runs and gives equal results."""

import runpy
from pathlib import Path

import pytest

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
