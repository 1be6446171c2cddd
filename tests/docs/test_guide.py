"""Every block of the guide runs when pasted alone, or after the first block of a page that says so."""

import doctest
import logging
import re
import textwrap
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
PAGES = sorted({page.name for page in GUIDE.glob("*.rst")} - {page.name for page in GUIDE.glob("spark*")})
CODE = re.compile(r"\.\. code-block:: python\n\n((?: {3}.*\n|\n)+)")
SETUP = "Paste this block first. Every other block of this page runs after it:"


def blocks(text: str, page: str) -> list[doctest.DocTest]:
    """Return each block of a page as a test of its own, after the page's setup if it has one."""
    groups: list[list[doctest.Example]] = [[]]
    for piece in doctest.DocTestParser().parse(text):
        if isinstance(piece, doctest.Example):
            groups[-1].append(piece)
        elif piece.strip():  # text ends a block
            groups.append([])
    found = [group for group in groups if group]
    setup = found.pop(0) if SETUP in text else []
    return [doctest.DocTest([*setup, *each], {}, page, page, 0, None) for each in found]


@pytest.mark.parametrize("page", PAGES)
def test_blocks_run_alone(page: str) -> None:
    runner = doctest.DebugRunner(verbose=False)
    for block in blocks((GUIDE / page).read_text(), page):
        if not any("rollstat.spark" in each.source for each in block.examples):  # tests/spark runs these
            runner.run(block)


def test_code_without_prompts_runs_alone() -> None:
    logger = logging.getLogger("rollstat")
    level = logger.level
    found = CODE.findall((GUIDE / "production.rst").read_text())
    assert found
    try:
        for code in map(textwrap.dedent, found):
            names: dict[str, object] = {}
            exec(code, names)
            if "when_ready" in names:  # a hook of Gunicorn
                names["when_ready"](None)
    finally:
        logger.setLevel(level)
