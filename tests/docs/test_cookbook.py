"""Every recipe of the cookbook runs when it is pasted alone, and answers take at most three lines."""

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "cookbook.rst"
QUESTIONS = [
    "Median of each business month",
    "Z-score against the last 30 days, today excluded",
    "A different look-back for each row",
    "Values on a regular five-minute grid",
    "Betas of three factors for each stock",
    "Exponentially weighted volatility with irregular times",
    "Weighted median price",
    "Largest drawdown of a year",
    "Your own function of two columns",
]


def recipes() -> dict[str, list[doctest.Example]]:
    """Return the examples of each recipe, by its question."""
    found: dict[str, list[doctest.Example]] = {}
    for text in PAGE.read_text(encoding="utf-8").split("\n**")[1:]:
        found[text.partition("**")[0]] = doctest.DocTestParser().get_examples(text)
    return found


RECIPES = recipes()


def test_the_usual_questions_are_answered():
    assert set(QUESTIONS) <= RECIPES.keys()


@pytest.mark.parametrize("question", RECIPES)
def test_recipes_run_when_they_are_pasted_alone(question):
    examples = RECIPES[question]
    assert examples[0].source.startswith("import ")
    assert sum(bool(example.want) for example in examples) == 1
    recipe = doctest.DocTest(examples, {}, question, str(PAGE), 0, None)
    report: list[str] = []
    doctest.DocTestRunner().run(recipe, out=report.append)
    assert not report, "".join(report)


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_take_at_most_three_lines(question):
    sources = [example.source for example in RECIPES[question]]
    data = [not (".rollstat." in source or "lambda" in source) for source in sources]
    assert 1 <= len(sources) - data.index(False) <= 3
