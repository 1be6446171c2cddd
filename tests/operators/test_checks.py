"""A check of the laws names the samples on which an operator breaks them."""

import operator as python_operators
from typing import NamedTuple

import pytest

from rollstat import operators as ops
from tests.operators.builtin import Half


class WrongIdentity(NamedTuple):
    identity = 1.0

    def combine(self, older, newer):
        return older + newer


def test_check_operator_names_the_values():
    values = r"\(.*1\.0.*\), \(.*1\.0.*\), \(.*4\.0.*\): .*2\.5.* is not .*1\.75"
    with pytest.raises(ValueError, match=f"combine is not associative on {values}"):
        ops.check_operator(Half(), [1.0, 4.0])
    with pytest.raises(ValueError, match=r"identity 1.0 is none before \(.*2\.0.*\): .*3\.0.* is not .*2\.0"):
        ops.check_operator(WrongIdentity(), [2.0])
    with pytest.raises(ValueError, match="samples"):
        ops.check_operator(Half(), [])


def test_check_operator_sees_changed_arguments_and_wrong_accumulation():
    def update(older, newer):
        older |= newer
        return older

    with pytest.raises(ValueError, match="combine changed its arguments"):
        ops.check_operator(update, [{1}, {2}])
    wrong = ops.function_operator(python_operators.or_, combine_into=python_operators.and_)
    with pytest.raises(ValueError, match="combine_into differs"):
        ops.check_operator(wrong, [{1}, {2}])
    right = ops.function_operator(python_operators.or_, combine_into=update, identity=frozenset())
    ops.check_operator(right, [{1}, {2}, {1, 3}])
