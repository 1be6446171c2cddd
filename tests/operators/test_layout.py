"""Dtypes of states and results, with and without compiling."""

import re
from typing import NamedTuple

import numpy as np
import pytest
from numba import config, njit

import rollstat
from rollstat import operators as ops
from rollstat.operators import layout
from rollstat.operators.interface import for_dtype
from tests.operators.builtin import BUILTIN, FLOATS, columns, name, needs_compiled_code

ROWS = (np.array(FLOATS), np.arange(len(FLOATS)))


COLUMNS = [(operator, columns(operator, samples)) for operator, samples, _ in BUILTIN]


COLUMNS += [(ops.ArgMinimum(), ROWS), (ops.ArgMaximum(), ROWS), (ops.MatrixProduct(), np.ones((4, 2, 2)))]


@pytest.mark.parametrize(("operator", "values"), COLUMNS, ids=name)
def test_dtypes_without_compiling_are_those_of_compiled_code(operator, values, monkeypatch):
    known = ops.describe(operator, values)
    if not config.DISABLE_JIT:
        monkeypatch.setattr(layout, "_call_interpreted", layout._call_compiled)
    assert ops.describe(operator, values) == known


def add(a, b):
    return a + b


def test_layouts_of_functions():
    values = np.ones(3, np.int64)
    assert ops.describe(ops.function_operator(add), values).state == np.int64
    halves = ops.function_operator(add, lift=lambda x: x / 2, lower=lambda s: (s, s > 1))
    assert ops.describe(halves, values).outputs == (np.float64, np.bool_)
    growing = ops.function_operator(lambda a, b: a + b + 0.5)
    assert ops.describe(growing, values).state == np.float64
    with pytest.raises(TypeError, match="states of one shape"):
        ops.describe(ops.function_operator(add, lift=lambda x: (x, x)), values)


def make_shift(amount):
    class Shifted(NamedTuple):
        def lift(self, x):
            return x + amount

        def combine(self, older, newer):
            return newer

    return Shifted()


def test_classes_of_one_name_are_distinguished():
    results = []
    for amount in (0, 0.5):
        operator = for_dtype(make_shift(amount), np.dtype(np.int64))
        results.append(ops.describe(operator, np.ones(1, np.int64)).state)
    assert results == [np.int64, np.float64]


def yields(older, newer):
    yield older


@njit
def compiled_generator(older, newer):
    yield older


LEVELS = [1.0, 2.0]
OPTIONS = {"level": 1.0}


def ping(older, newer):
    return older if newer < 0 else pong(older, newer - 1)


def pong(older, newer):
    return older if newer < 0 else ping(older, newer - 1)


@needs_compiled_code
@pytest.mark.parametrize(
    ("parts", "line"),
    [
        (
            [lambda older, newer: older + LEVELS[0]],
            "combine .*: it reads LEVELS, a list; use a tuple, a NumPy",
        ),
        (
            [lambda older, newer: older + OPTIONS["level"]],
            "combine .*: it reads OPTIONS, a dict; use a tuple",
        ),
        (
            [max, lambda x: x * LEVELS[0]],
            "lift of max cannot .* float64: it reads LEVELS, a list; .* a NamedTuple",
        ),
        (
            [max, None, lambda x: x.level],
            "lower of max .*: Unknown attribute 'level' of type float64; .* object",
        ),
        ([ping], "combine of ping .*: it calls pong, a plain function; decorate pong with numba.njit"),
    ],
)
def test_the_first_line_says_what_cannot_be_compiled_and_why(parts, line):
    with pytest.raises(TypeError) as error:
        rollstat.rolling_aggregate(np.ones(3), ops.function_operator(*parts), 2, check=False)
    assert re.match(line, str(error.value).splitlines()[0])


def in_closure():
    def itself(older, newer):
        return older if newer < 1 else itself(older, newer - 1)

    return itself


def itself(older, newer):
    return older if newer < 1 else itself(older, newer - 1)


@needs_compiled_code
@pytest.mark.parametrize(
    ("operator", "message"),
    [
        (yields, "yields must return values; got a generator"),
        (lambda older, newer: compiled_generator(older, newer), "must return values; got a generator"),
        (lambda older, newer: older if newer < 1 else None, "never None"),
        (itself, "combine must not call itself .*; got itself"),
        (in_closure(), "combine must not call itself .*; got in_closure.<locals>.itself"),
    ],
)
def test_functions_that_cannot_be_compiled(operator, message):
    with pytest.raises(TypeError, match=message):
        ops.describe(ops.function_operator(operator), np.ones(2))
