"""After an operator has raised, in any of its calls, a window rejects use until a reset, or is unchanged."""

import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest

from rollstat.streaming import FixedAggregate, GreedyAggregate, SlidingAggregate, TimeAggregate


class Raising(NamedTuple):
    """First and last element of a window whose elements increase; raises in the call that `calls` says."""

    calls: Any

    def lift(self, x):
        self.calls[0] += 1
        if self.calls[0] == self.calls[1]:
            raise ArithmeticError
        return float(x), float(x), 1.0

    def combine(self, older, newer):
        self.calls[0] += 1
        if self.calls[0] == self.calls[1]:
            raise ArithmeticError
        # Infinite from the first combination in the wrong order or of an element twice.
        sound = older[2] + newer[2] if older[1] < newer[0] else np.inf
        return older[0], newer[1], sound

    def lower(self, state):
        self.calls[0] += 1
        if self.calls[0] == self.calls[1]:
            raise ArithmeticError
        return state[0] + 1e3 * state[1] + 1e6 * state[2]


class RaisingLists(NamedTuple):
    """Lists of elements, changed in place where that is allowed, also by a call that raises."""

    calls: Any

    def count(self):
        self.calls[0] += 1
        if self.calls[0] == self.calls[1]:
            raise ArithmeticError

    def lift(self, x):
        self.count()
        return [x]

    def combine(self, older, newer):
        self.count()
        return older + newer

    def combine_into(self, older, newer):
        older.extend(newer)
        self.count()
        return older

    def lower(self, state):
        self.count()
        return tuple(state)


def observed(stream):
    return stream.value, len(stream), getattr(stream, "observations", None), getattr(stream, "rows", None)


def is_unchanged(stream, before):
    """Assert that a call which has raised changed nothing."""
    np.testing.assert_equal(observed(stream), before)
    return stream


def rejects_use(stream, before):
    """Assert that only a reset makes the stream usable."""
    elements = (1.0, 1e6) if isinstance(stream, TimeAggregate) else (1.0,)
    change = (lambda: stream.move(0, 1)) if isinstance(stream, GreedyAggregate) else stream.add
    for use in (
        lambda: stream.push(*elements),
        lambda: change(*elements[: 0 if isinstance(stream, GreedyAggregate) else None]),
        lambda: stream.extend(np.ones(1), times=np.full(1, 1e6) if len(elements) > 1 else None),
        lambda: stream.value,
        lambda: len(stream),
        lambda: repr(stream),
        stream.copy,
        lambda: pickle.dumps(stream),
    ):
        with pytest.raises(RuntimeError, match="must not be used"):
            use()
    stream.reset()
    assert len(stream) == 0
    stream.push(*elements)
    assert getattr(stream, "rows", len(stream)) == 1


def raise_everywhere(calls, stream, method, *arguments, check=rejects_use):
    """Call a method, raising in the first call of the operator, then in the second, and so on.

    `check` asserts what a copy is afterwards. Returns the result of the call that has not raised.
    """
    calls[:] = 0, -1
    before = observed(stream)
    for number in range(1, 10**6):
        twin = stream.copy()
        calls[:] = 0, number
        try:
            result = method(stream, *arguments)
        except ArithmeticError:
            calls[:] = 0, -1
            check(stream, before)
            stream.__dict__.update(twin.__dict__)
            stream._window = twin._window
            continue
        calls[:] = 0, -1
        np.testing.assert_equal(result, method(twin, *arguments))
        np.testing.assert_equal(observed(stream), observed(twin))
        return result


def operator_and_dtype(objects):
    calls = np.array([0, -1])
    return (calls, RaisingLists(calls), object) if objects else (calls, Raising(calls), np.float64)


def push(stream, *elements):
    return stream.push(*elements)


def extend(stream, array, **times):
    return stream.extend(array, **times)


def value(stream):
    return stream.value


KINDS = [("two_stacks", False), ("daba", False), ("two_stacks", True)]
OF_TIMES = [pytest.param(*KINDS[0], marks=pytest.mark.long), *KINDS[1:]]


@pytest.mark.parametrize(("algorithm", "objects"), KINDS)
def test_windows_of_rows_and_of_any_size(algorithm, objects, rng):
    calls, operator, dtype = operator_and_dtype(objects)
    for stream in (
        SlidingAggregate(operator, dtype=dtype, algorithm=algorithm),
        FixedAggregate(operator, 6, min_periods=1, dtype=dtype, algorithm=algorithm),
        FixedAggregate(operator, 5, min_periods=3, dtype=dtype, algorithm=algorithm),
    ):
        number = 0
        free = isinstance(stream, SlidingAggregate)
        for _ in range(120):
            action = rng.integers(0, 10)
            if action < 6:
                missing = rng.random() < 0.1
                raise_everywhere(calls, stream, push, None if missing else float(number))
                number += 1
            elif action < 8 and free:
                rows = int(rng.integers(0, len(stream) // 3 + 2))
                raise_everywhere(calls, stream, lambda s, n: s.pop(n), min(rows, len(stream)))
            elif action == 8:
                rows = int(rng.integers(0, 9))
                array = np.arange(number, number + rows).astype(dtype)
                raise_everywhere(calls, stream, extend, array)
                number += rows
            else:
                raise_everywhere(calls, stream, value, check=is_unchanged)


@pytest.mark.parametrize(("algorithm", "objects"), OF_TIMES)
def test_windows_of_times(algorithm, objects, rng):
    calls, operator, dtype = operator_and_dtype(objects)
    stream = TimeAggregate(operator, 20.0, dtype=dtype, algorithm=algorithm)
    time, number = 0.0, 0
    for _ in range(100):
        time += float(rng.integers(0, 8)) if rng.random() < 0.95 else 15.0
        if rng.random() < 0.9:
            raise_everywhere(calls, stream, push, float(number), time)
            number += 1
        else:
            array, times = np.arange(number, number + 7).astype(dtype), time + np.arange(7.0)
            raise_everywhere(calls, stream, lambda s, a, t: s.extend(a, times=t), array, times)
            number, time = number + 7, time + 6


@pytest.mark.parametrize("objects", [False, True])
def test_windows_as_they_are_asked_for(objects, rng):
    calls, operator, dtype = operator_and_dtype(objects)
    stream = GreedyAggregate(operator, dtype=dtype)
    start = end = 0
    for _ in range(80):
        if rng.random() < 0.5:
            raise_everywhere(
                calls, stream, push, None if rng.random() < 0.1 else float(stream.rows), check=is_unchanged
            )
        else:
            array = np.arange(stream.rows, stream.rows + 5).astype(dtype)
            raise_everywhere(calls, stream, extend, array)
        end = max(end, min(end + int(rng.integers(0, 9)), stream.rows))
        start = min(start + int(rng.integers(0, 7)), end)
        raise_everywhere(calls, stream, lambda s, i, j: s.move(i, j), start, end)


def test_a_growing_ring(rng):
    """A ring that is enlarged, and made smaller, in a call that raises."""
    for algorithm in ("two_stacks", "daba"):
        calls, operator, dtype = operator_and_dtype(False)
        stream = SlidingAggregate(operator, dtype=dtype, algorithm=algorithm)
        for number in range(300):
            if number in (64, 65, 128, 129, 130):
                raise_everywhere(calls, stream, push, float(number))
            else:
                stream.push(float(number))
        for number in range(300, 340):
            raise_everywhere(calls, stream, lambda s, n: s.pop(n), int(rng.integers(1, 12)))
            raise_everywhere(calls, stream, push, float(number))
