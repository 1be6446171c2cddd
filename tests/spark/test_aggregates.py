"""The functions that name statistics: ``rollstat.spark.median("x")``."""

import ast
import inspect
from pathlib import Path

import pytest

import rollstat.spark as rs
from rollstat.spark.aggregates import BUILDERS, builder


def test_every_statistic_has_one_and_its_declaration_has_the_same_parameters():
    declared = {
        function.name: [
            (argument.arg, place >= len(function.args.args) - len(function.args.defaults))
            for place, argument in enumerate(function.args.args)
        ]
        for function in ast.parse(Path(rs.__file__).with_name("__init__.pyi").read_text()).body
        if isinstance(function, ast.FunctionDef)
    }
    assert declared == {
        name: [
            (p.name, p.default is not p.empty) for p in inspect.signature(builder(name)).parameters.values()
        ]
        for name in BUILDERS
    }
    assert {*BUILDERS} <= {*dir(rs)}
    assert not {*BUILDERS} & {*rs.__all__}


def test_what_they_return():
    low_high = rs.quantile("x", [0.25, 0.75]).alias("low", "high")
    assert low_high == rs.Aggregate("quantile", ("x",), {"q": [0.25, 0.75]}, ("low", "high"))
    assert rs.corr("x", other="y") == rs.aggregate("corr", "x", "y")
    assert rs.combine("x", max) == rs.aggregate("aggregate", "x", operator=max)
    assert rs.kth("x", 2) == rs.kth("x", k=2) == rs.aggregate("kth", "x", k=2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rs.kth("x"), r"kth\(column, k\): missing a required argument: 'k'"),
        (lambda: rs.median("x", 3), r"median\(column\): too many positional arguments"),
    ],
)
def test_wrong_arguments_show_the_signature(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_other_names_are_not_there():
    with pytest.raises(AttributeError, match=r"'rollstat\.spark' has no attribute 'middle'"):
        _ = rs.middle
