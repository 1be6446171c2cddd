"""Many rows through a window of a stream: the combinations of single pushes, in their order, and no more."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollstat.streaming.operator_adapter import OperatorAdapter
from rollstat.streaming.operator_states import NumberWindow
from rollstat.streaming.window_spec import WindowSpec
from tests.spans import counting_operator

both = pytest.mark.parametrize("algorithm", ["two_stacks", "daba"])
# How much later each row is, and whether it is an observation; in parts, each of them given as an array or
# row by row.
rows_strategy = st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=25)
parts_strategy = st.lists(st.tuples(st.booleans(), rows_strategy), max_size=6)


class Order(NamedTuple):
    """Not associative: any two ways to combine the same elements differ."""

    def combine(self, older, newer):
        # The modulus keeps the numbers small: without the JIT, NumPy warns of overflow.
        return (31 * older + 1_000_003 * newer + 7) % 2_147_483_647


def arrays_of(rows, first, time):
    times = time + np.cumsum([later for later, _ in rows], dtype=np.int64)
    missing = np.array([not observed for _, observed in rows], np.bool_)
    # Elements are their positions among the observations.
    return times, first + np.cumsum(~missing) - 1, missing


@both
@given(parts=parts_strategy, span=st.integers(1, 40))
def test_elements_are_combined_in_order_and_no_more_often(algorithm, parts, span):
    operator, counter = counting_operator()
    single, single_counter = counting_operator()
    spec = WindowSpec("time", span)
    window = NumberWindow(OperatorAdapter(operator, np.int64), spec, algorithm)
    steps = NumberWindow(OperatorAdapter(single, np.int64), spec, algorithm)
    first = time = largest = results = 0
    held = []
    for at_once, rows in parts:
        times, values, missing = arrays_of(rows, first, time)
        written = window.extend(times, values, missing) if at_once else None
        for k, (t, x, gone) in enumerate(zip(times.tolist(), values.tolist(), missing.tolist())):
            held = [(s, y) for s, y in held if s > t - span] + [(t, x)] * (not gone)
            largest, results = max(largest, len(held)), results + bool(held)
            assert steps.push(t - span, t, x, not gone) == len(held)
            if not at_once:
                window.push(t - span, t, x, not gone)
            wanted = (held[0][1], held[-1][1], True) if held else None
            if held:
                assert (tuple(a[k] for a in written.arrays) if at_once else window.result()) == wanted
                assert steps.result() == wanted
            if at_once:
                assert written.insufficient[k] == (not held)
        if rows:
            first, time = first + int((~missing).sum()), int(times[-1])
        header, cells, _ = window.state
        assert window.queue.functions.check(header, cells)
        assert window.size == len(held)
        if algorithm == "daba":
            # Single pushes may still have to do what a flip does at once.
            assert counter[0] <= single_counter[0] + largest
        else:
            assert counter[0] <= 2 * first + results
    if held:
        assert window.value() == (held[0][1], held[-1][1], True)


@both
@pytest.mark.parametrize("limit", ["rows", "time", "expanding"])
@given(parts=parts_strategy, span=st.sampled_from([1, 2, 3, 4, 5, 8, 13, 21]), whole=st.booleans())
def test_every_combination_is_that_of_single_pushes(algorithm, limit, parts, span, whole):
    def make():
        spec = WindowSpec(limit, 0 if limit == "expanding" else span)
        return NumberWindow(OperatorAdapter(Order(), np.int64), spec, algorithm)

    window, steps, width = make(), make(), 2**62 if limit == "expanding" else span
    row = 0
    for at_once, rows in parts:
        times, values, missing = arrays_of([(1, observed or whole) for _, observed in rows], row, row - 1)
        written = window.extend(times, values, missing, 2) if at_once else None
        for k, (t, x, gone) in enumerate(zip(times.tolist(), values.tolist(), missing.tolist())):
            held = steps.push(t - width, t, x, not gone, 2)
            if not at_once:
                window.push(t - width, t, x, not gone, 2)
            else:
                assert written.insufficient[k] == (held < 2)
            if held >= 2:
                assert (written.arrays[0][k] if at_once else window.result()) == steps.result()
        row += len(rows)
        assert window.size == steps.size
    if steps.size:
        assert window.value() == steps.value()
