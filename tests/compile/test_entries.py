"""What Python passes to a compiled step, and what comes back."""

import inspect
import math

import numpy as np
import pytest
from numba import config

import rollstat
from rollstat.compile import entries
from rollstat.compile.bound_calls import words
from rollstat.compile.jit import kernel

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


@kernel
def _add(total, table, number, factors, double, x):
    """Add to an array and a matrix; return None for a negative total, and raise for one of 1000."""
    total[1] += number * x * (2 if double else 1) * factors[0][1]
    table[1, 2] += 1
    if total[1] == 1000:
        raise ArithmeticError
    return None if total[1] < 0 else (total[1], table[1, 2], total[1] > 3)


@entries.entry
def add(bound, objects, number):
    """Take one float, of which the class is among the arguments."""
    total, table, cls, number_of_x, factors, double, missing = entries.arguments_of(bound)
    item = entries.word_at(objects) if number == 1 else 0
    if number != 1 or entries.word_at(item + 8 * (entries.HEAD - 1)) != cls:
        return entries.LATER
    x = entries.float_at(item + 8 * entries.HEAD)
    return entries.answered(_add, missing, (total, table, number_of_x, factors, double, x))


MISSING = ("too", "few")


def bound():
    total, table = np.zeros(2), np.zeros((2, 3), np.int64)
    return total, table, words((add,), total, table, id(float), 0.5, ((1.0, 3.0), 7), True, id(MISSING))


def test_arguments_are_read_where_they_lie():
    total, table, made = bound()
    step = entries.step_of(made)
    assert step(1.5) == (4.5, 1, True)
    assert step(-0.5) == (3.0, 2, False)
    assert step(-2.0) is MISSING
    assert total.tolist() == [0.0, -3.0]
    assert table[1, 2] == 3
    assert math.isinf(step(math.inf)[0])


@pytest.mark.parametrize("given", [(), (1,), (True,), ("1.5",), (None,), (np.float64(1),), (1.0, 2.0)])
def test_what_a_step_does_not_take_changes_nothing(given):
    total, table, made = bound()
    assert entries.step_of(made)(*given) is NotImplemented
    assert total.tolist() == [0.0, 0.0]
    assert not table.any()


class Layout:
    __slots__ = ("quick",)


class Owner:
    """A class whose objects have their window in the first slot, as streams."""

    __slots__ = ("__dict__", "_window")

    def _push(self, *given, **named):
        return "Python", given, named

    def _close(self):
        self.closed = True


Owner.push = entries.method(Owner, entries.push, "($self, x, t=None)", "Push.")


class Derived(Owner):
    def push(self, x):
        return super().push(2 * x)


def test_a_method_falls_back_on_python():
    owner, other = Owner(), Derived()
    assert owner.push(1.5) == ("Python", (1.5,), {})  # without a window
    owner._window = other._window = window = Layout()
    assert owner.push(1.5) == ("Python", (1.5,), {})  # without steps
    total, _, window.quick = bound()
    push = owner.push
    assert push(1.0) == (3.0, 1, False)
    assert push(1) == ("Python", (1,), {})
    assert owner.push(1.0, t=2) == ("Python", (1.0,), {"t": 2})
    assert other.push(1.0) == (9.0, 2, True)
    with pytest.raises(TypeError, match="Owner"):
        Owner.push(1.0)
    total[1] = 997
    with pytest.raises(ArithmeticError):
        owner.push(1.0)
    assert owner.closed
    assert str(inspect.signature(Owner.push)) == "(self, /, x, t=None)"
    assert Owner.push.__doc__ == "Push."


class Length(float):
    """A number of metres."""


@pytest.mark.parametrize("name", ["Median", "Min", "Argmax", "Mean"])
def test_streams_take_floats_of_all_kinds(name):
    kinds = (float, Length, np.float64, np.float32)
    streams = [getattr(rollstat, f"Rolling{name}")(3, min_periods=1) for _ in kinds]
    for x in (3.0, 1.5, -2.0, math.nan, 8.0):
        answers = [str(float(stream.push(kind(x)))) for stream, kind in zip(streams, kinds)]
        assert len(set(answers)) == 1
