"""Every block of the guide runs when pasted alone; a page that follows one data set runs as a whole."""

import doctest
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
PAGES = sorted({page.name for page in GUIDE.glob("*.rst")} - {page.name for page in GUIDE.glob("spark*")})
WHOLE = {"features.rst"}


def blocks(page: str) -> list[doctest.DocTest]:
    """Return the examples of each block of a page as a test of its own."""
    groups: list[list[doctest.Example]] = [[]]
    for piece in doctest.DocTestParser().parse((GUIDE / page).read_text()):
        if isinstance(piece, doctest.Example):
            groups[-1].append(piece)
        elif piece.strip() and page not in WHOLE:  # text ends a block
            groups.append([])
    return [doctest.DocTest(each, {}, page, page, each[0].lineno, None) for each in groups if each]


@pytest.mark.parametrize("page", PAGES)
def test_blocks_run_alone(page: str) -> None:
    runner = doctest.DebugRunner(verbose=False)
    for block in blocks(page):
        runner.run(block)
