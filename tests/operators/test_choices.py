"""Operators that select an element: ties, missing order, and losses."""

import math
from functools import reduce

import pytest

from rollstat import operators
from rollstat.operators.choices import ArgExtremum


def folded(operator, values):
    rows = getattr(operator, "with_row", False)
    lift = getattr(operator, "lift", lambda x: x)
    states = [lift(x, i) if rows else lift(x) for i, x in enumerate(values)]
    return getattr(operator, "lower", lambda x: x)(reduce(operator.combine, states))


def test_the_oldest_of_equal_elements():
    values = [2.0, 7.0, 1.0, 7.0, 1.0]
    assert folded(operators.Minimum(), values) == 1.0
    assert folded(operators.Maximum(), values) == 7.0
    assert folded(operators.ArgMinimum(), values) == 2
    assert folded(operators.ArgMaximum(), values) == 1
    assert folded(operators.First(), values) == 2.0
    assert folded(operators.Last(), values) == 1.0


@pytest.mark.parametrize(("greatest", "last", "row"), [(0, 0, 2), (0, 1, 4), (1, 0, 1), (1, 1, 3)])
def test_either_of_equal_elements(greatest, last, row):
    assert folded(ArgExtremum(bool(greatest), bool(last)), [2.0, 7.0, 1.0, 7.0, 1.0]) == row


@pytest.mark.parametrize(
    ("relative", "values", "loss"),
    [
        (True, [4.0, 8.0, 6.0, 2.0, 9.0], 0.75),
        (False, [4.0, 8.0, 6.0, 2.0, 9.0], 6.0),
        (True, [1.0, 2.0, 3.0], 0.0),
        (True, [math.inf, 5.0], 1.0),
        (True, [0.0, 0.0], 0.0),
    ],
)
def test_losses_from_a_peak(relative, values, loss):
    operator = operators.Drawdown(relative)
    assert folded(operator, values) == loss
    halves = [reduce(operator.combine, map(operator.lift, part)) for part in (values[:1], values[1:])]
    assert operator.lower(operator.combine(*halves)) == loss


def test_a_loss_in_proportion_to_a_negative_element_is_undefined():
    assert math.isnan(folded(operators.Drawdown(True), [3.0, -1.0, 2.0]))
