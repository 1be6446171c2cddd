"""Pages show the figures of the data file, and no others."""

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"\d(?: ns| ms| µs| s\b|×)|\d times")


@pytest.fixture(scope="module")
def figures():
    sys.path.insert(0, str(ROOT / "asv_bench"))
    try:
        return runpy.run_path(str(ROOT / "asv_bench" / "benchmarks" / "figures.py"))
    finally:
        sys.path.remove(str(ROOT / "asv_bench"))


def test_pages_show_the_figures_of_the_data_file(figures):
    for path, text in figures["pages"](figures["load"]()).items():
        assert path.read_text(encoding="utf-8") == text, (
            f"run `python asv_bench/report.py --write`: {path.name}"
        )


PAGES = [
    "README.md",
    "docs/index.rst",
    *(str(page.relative_to(ROOT)) for page in ROOT.glob("docs/performance/*.rst")),
]


@pytest.mark.parametrize("page", sorted(PAGES))
def test_other_sentences_have_no_figures(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for name in ("table", "timing"):
        text = re.sub(rf"<!-- {name} -->.*<!-- end of {name} -->", "", text, flags=re.DOTALL)
    assert not NUMBER.findall(text)
