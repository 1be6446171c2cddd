"""Everything on README and the front page works: code, commands, extras and links."""

import re
import textwrap
import tomllib
from pathlib import Path

import pytest

import rollstat.__main__

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FRONT_PAGE = (ROOT / "docs" / "index.rst").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def run_lines(code: str, names: dict[str, object]) -> int:
    """Run lines of code one by one, so that each of them counts; return their number."""
    lines = [line for line in code.splitlines() if line.strip()]
    for line in lines:
        exec(line, names)
    return len(lines)


def test_the_code_of_readme_runs():
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert sum(run_lines(block, names) for block in blocks) >= 10


def test_the_code_of_the_front_page_runs():
    tabs = re.findall(
        r"\.\. tab-item:: (.*?)\n\n +\.\. code-block:: python\n\n(.*?)(?=\n\n   \.\.|\n\n\S)",
        FRONT_PAGE,
        re.DOTALL,
    )
    assert [title for title, _ in tabs] == ["pandas", "Arrays", "Streams", "Spark"]
    for title, code in tabs:
        if title != "Spark":  # tests/spark and the Spark guide run such calls
            assert run_lines(textwrap.dedent(code), {}) >= 4


def test_the_pandas_calls_equal_those_of_pandas():
    names: dict[str, object] = {}
    run_lines(re.search(r"```python\n(.*?)```", README, re.DOTALL)[1], names)
    wind = names["wind"]
    assert wind.rollstat.rolling(25, center=True).median().equals(wind.rolling(25, center=True).median())
    assert wind.rollstat.rolling(1000).quantile([0.05, 0.95]).shape == (len(wind), 2)


def test_commands_and_extras_exist():
    commands = re.findall(r"python -m rollstat (\w+)", README + FRONT_PAGE)
    assert commands
    parser = rollstat.__main__._parser()
    for command in commands:
        parser.parse_args([command])
    sessions = set(re.findall(r"nox -s ([\w-]+)", README))
    noxfile = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    assert sessions >= {"demo", "tests", "report"}
    assert sessions <= set(re.findall(r"^def (\w+)\(session", noxfile, re.MULTILINE))
    extras = set(re.findall(r"rollstat\[(\w+)\]", README + FRONT_PAGE))
    assert extras <= set(PROJECT["project"]["optional-dependencies"])


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md"])
def test_relative_links_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for link in re.findall(r"\]\((?!https?://|#)([^)#]+)", text):
        assert (ROOT / link).exists(), f"{page} links to {link}"


def test_versions_agree():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {rollstat.__version__}\n" in citation
    assert f"## {rollstat.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_links_become_absolute_for_a_package_index(monkeypatch):
    pytest.importorskip("hatchling", reason="only a build environment has it")
    monkeypatch.syspath_prepend(ROOT)
    from hatch_metadata import absolute_links

    found = absolute_links(README, "https://host/project")
    targets = re.findall(r"\]\(([^)]+)\)", found)
    assert all(target.startswith("https://") for target in targets)
    assert "![Hourly" in found
    assert "(https://host/project/raw/main/docs/_static/wind.png)" in found
    assert "(https://host/project/blob/main/LICENSE)" in found
    assert absolute_links(README, "") == README
