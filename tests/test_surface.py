"""The stubs are those that `python -m tests.surface` writes."""

import pytest

from tests import surface


@pytest.mark.parametrize("name", surface.STUBS)
def test_stubs_are_current(name):
    if name.startswith("spark/"):
        pytest.importorskip("pyspark", reason="the functions of Spark need pyspark")
    if name.startswith("pandas/"):
        pytest.importorskip("pandas", "3", reason="the signatures of inherited methods are those of pandas 3")
    assert surface.STUBS[name]() == (surface.PACKAGE / name).read_text(), "run python -m tests.surface"


def test_a_stub_without_a_statistic_gets_its_name_again():
    name = "from .named_classes import RollingGini as RollingGini\n"
    text = surface.STREAMS.read_text()
    assert name in text
    written = [found for module, found in surface._IMPORT.findall(text) if module == ".named_classes"]
    assert surface._with_imports(text.replace(name, ""), ".named_classes", written) == text
