"""Laws of the built-in operators, their meaning, and division by zero."""

import numpy as np
import pytest

import rollstat
from rollstat import operators as ops
from tests.operators.builtin import BUILTIN, FLOATS, WITH_ROW, columns, fold, name, needs_compiled_code, same


def elements(operator, samples):
    """Samples as ``lift`` takes them, in the dtypes of computing."""
    values = columns(operator, samples)
    return list(zip(*values)) if isinstance(values, tuple) else list(values)


@pytest.mark.parametrize(("operator", "samples", "meaning"), BUILTIN, ids=name)
def test_monoid_laws(operator, samples, meaning):
    ops.check_operator(operator, elements(operator, samples))


@pytest.mark.parametrize(("operator", "meaning"), WITH_ROW, ids=name)
def test_monoid_laws_with_rows(operator, meaning):
    ops.check_operator(operator, list(zip(FLOATS, range(len(FLOATS)))))
    assert fold(operator, list(zip(FLOATS, range(len(FLOATS))))) == meaning(FLOATS)


@pytest.mark.parametrize(("operator", "samples", "meaning"), BUILTIN, ids=name)
def test_meaning(operator, samples, meaning):
    arguments = elements(operator, samples)
    for start in range(len(samples)):
        for end in range(start + 1, len(samples) + 1):
            wanted = meaning(samples[start:end])
            assert same(fold(operator, arguments[start:end]), wanted), samples[start:end]


def test_matrices_multiply_in_the_order_of_rows(rng):
    matrices = rng.standard_normal((5, 3, 3))
    ops.check_operator(ops.MatrixProduct(), list(matrices))
    np.testing.assert_allclose(
        fold(ops.MatrixProduct(), list(matrices)), np.linalg.multi_dot(list(matrices)), rtol=1e-12
    )


def test_every_operator_is_exported_and_tested():
    tested = {type(row[0]) for row in (*BUILTIN, *WITH_ROW)} | {ops.MatrixProduct}
    exported = {getattr(ops, name) for name in ops.__all__}
    assert {cls for cls in exported if hasattr(cls, "_fields")} == tested


@needs_compiled_code
@pytest.mark.parametrize("algorithm", ["operator_scan", "greedy", "daba"])
@pytest.mark.parametrize(
    "operator", [lambda older, newer: older // newer, lambda older, newer: older % newer], ids=["//", "%"]
)
def test_integers_divided_by_zero_raise_and_write_nothing(operator, algorithm):
    values = np.array([9, 3, 0, 5])
    out = np.full(4, 7.0)
    with pytest.raises(ZeroDivisionError, match="by zero"):
        rollstat.rolling_aggregate(values, operator, 2, check=False, algorithm=algorithm, out=out)
    assert out.tolist() == [7.0] * 4
    wanted = [operator(9, 3), operator(0, 5)]
    bounds = np.array([0, 2]), np.array([2, 4])
    assert rollstat.rolling_aggregate(values, operator, bounds, False, algorithm=algorithm).tolist() == wanted


@needs_compiled_code
def test_integers_divided_by_zero_stop_streams():
    stream = rollstat.FixedAggregate(lambda older, newer: older // newer, 2, dtype=np.int64)
    for change in (lambda: stream.push(0), lambda: stream.extend([1, 0])):
        assert stream.extend([9, 3])[1] == 3
        with pytest.raises(ZeroDivisionError, match="by zero"):
            change()
        with pytest.raises(RuntimeError, match="reset"):
            stream.push(2)
        stream.reset()


def test_floats_divided_by_zero_are_those_of_numpy():
    found = rollstat.rolling_aggregate(np.array([1.0, 0.0, 0.0]), lambda older, newer: older / newer, 2)
    assert str(found.tolist()) == "[nan, inf, nan]"
