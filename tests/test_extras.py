"""Errors where the packages of an extra are not installed."""

import subprocess
import sys

import pytest

from rollstat._extras import require


def test_the_message_names_the_packages_and_the_extra():
    require("plot", "the picture", "numpy")
    with pytest.raises(ModuleNotFoundError, match=r"the picture needs nowhere; run: .* 'rollstat\[plot\]'"):
        require("plot", "the picture", "numpy", "nowhere")


@pytest.mark.parametrize(
    ("code", "missing", "extra"),
    [
        ("import rollstat.spark", "pyspark", "spark"),
        ("from rollstat.spark import rolling", "pyarrow", "spark"),
        ("import rollstat.features", "narwhals", "features"),
        ("import rollstat.demo", "matplotlib", "spark,plot"),
    ],
)
def test_importing_a_part_without_its_extra(code, missing, extra):
    hidden = f"import sys; sys.modules[{missing!r}] = None; {code}"
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        f"needs {missing}; run: python -m pip install 'rollstat[{extra}]'"
    )
