"""The wedge against brute force, and its promised number of comparisons."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollstat.kernels.extrema import wedge

FLOATS = st.lists(
    st.sampled_from([0.0, -0.0, 1.0, 2.0, 3.5, -np.inf, np.inf]) | st.floats(-9, 9), max_size=40
)


def make(window, dtype=np.float64, **options):
    return wedge.create(window, dtype, **options)


def comparisons(values, window):
    """Comparisons made up to and including each value."""
    state = make(window)
    made = []
    for x in values:
        wedge.push(*state, x, False)
        made.append(state[0][wedge.COMPARISONS])
    return np.array(made)


def assert_few(values, window, per_value=3):
    made = comparisons(np.asarray(values, np.float64), window)
    assert (made <= per_value * np.arange(len(made))).all()


def assert_answers(state, rows):
    """`rows` are the window's (position, value or None), oldest first."""
    header, position, value, observed = state
    assert wedge.check(header, position, value, observed)
    held = [(x, row) for row, x in rows if x is not None]
    assert header[wedge.OBSERVED] == len(held)
    if not held:
        assert wedge.minimum_position(header, position) == wedge.maximum_position(header, position) == -1
        return
    smallest, largest = min(x for x, _ in held), max(x for x, _ in held)
    assert wedge.minimum(header, position, value) == smallest
    assert wedge.maximum(header, position, value) == largest
    lows = [row for x, row in held if x == smallest]
    highs = [row for x, row in held if x == largest]
    low, high = wedge.minimum_position(header, position), wedge.maximum_position(header, position)
    if header[wedge.ADAPTIVE]:
        assert low in lows
        assert high in highs
    elif header[wedge.RISING]:
        assert (low, high) == (lows[0], highs[-1])
    else:
        assert (low, high) == (lows[-1], highs[0])


@pytest.mark.parametrize("ties", ["any", "minimum_first", "minimum_last"])
@pytest.mark.parametrize("window", [1, 2, 3, 4])
def test_every_short_series(window, ties):
    for values in itertools.product([0.0, 1.0, 2.0, None], repeat=5):
        state = make(window, ties=ties)
        for i, x in enumerate(values):
            wedge.push(*state, 0.0 if x is None else x, x is None)
            first = max(0, i + 1 - window)
            assert_answers(state, list(enumerate(values))[first : i + 1])


@given(st.lists(st.sampled_from([None, "pop", "pop 2"]) | st.integers(0, 5), max_size=60))
def test_windows_of_changing_length(steps):
    state, rows, following = make(0, np.int64, capacity=60), [], 0
    for step in steps:
        if isinstance(step, str):
            count = min(len(rows), int(step[-1]) if step[-1].isdigit() else 1)
            wedge.pop(*state, count)
            del rows[:count]
        else:
            wedge.push(*state, 0 if step is None else step, step is None)
            rows.append((following, step))
            following += 1
        assert_answers(state, rows)


@given(FLOATS, st.integers(1, 12))
def test_at_most_three_comparisons_a_value(values, window):
    assert_few(values, window)


@given(st.lists(st.integers(0, 6), max_size=60), st.integers(1, 20), st.sampled_from([1, -1]))
def test_at_most_two_comparisons_on_monotone_data(steps, window, sign):
    steps = np.maximum(steps, 3) - 3
    assert_few(sign * np.cumsum(steps), window, per_value=2)


def adversarial_series():
    """Series that make the wedges as long as they get, and cut them back as often as they can."""
    k = np.arange(60)
    yield np.where(k % 2, k, -k)  # grows to both sides
    yield np.where(k % 2, 60 - k, k - 60)  # closes from both sides
    yield np.concatenate([[0], 100 - k, [200], k])  # long fall above an older low, then cut
    yield np.repeat([0, 1, 1, 1, 1, 2], 10)
    yield np.tile([5, 5, 5, 9, 5, 5, 5, 1], 8)
    yield np.tile([0, 9, 8, 7, 6, 5, 4, 3, 2, 10], 6)
    yield np.tile([9, 0, 1, 2, 3, 4, 5, 6, 7, -1], 6)
    yield np.concatenate([np.tile([0, 100], 10), [50] * 10, [200, -200] * 10])


@pytest.mark.parametrize("ties", ["any", "minimum_first", "minimum_last"])
def test_at_most_three_comparisons_on_adversarial_data(ties, rng):
    series = [*adversarial_series(), rng.standard_normal(2000), rng.integers(0, 4, 2000)]
    for values in series:
        for window in (1, 2, 3, 7, 64, 5000):
            state = make(window, ties=ties)
            for i, x in enumerate(values.astype(float)):
                wedge.push(*state, x, False)
                assert state[0][wedge.COMPARISONS] <= 3 * i


def test_every_short_series_keeps_the_bounds():
    for values in itertools.product(range(4), repeat=6):
        assert_few(values, 6)
        if sorted(values) == list(values) or sorted(values, reverse=True) == list(values):
            assert_few(values, 6, per_value=2)


def test_one_push_can_cost_much_and_the_sum_cannot():
    values = np.concatenate([[-1.0], np.arange(100.0, 0.0, -1.0), [1000.0]])
    made = comparisons(values, 1000)
    assert made[-1] - made[-2] > 90
    assert made[-1] <= 3 * (len(values) - 1)


@pytest.mark.parametrize("ties", ["any", "minimum_first", "minimum_last"])
def test_rows_loaded_at_once_are_rows_pushed(ties, rng):
    for rows in (0, 1, 2, 5, 7):
        for _ in range(30):
            data, missing = rng.integers(0, 4, rows), rng.random(rows) < 0.3
            state = make(7, np.int64, ties=ties)
            for x in rng.integers(0, 4, 11):
                wedge.push(*state, x, False)
            wedge.load(*state, data, missing, 20 + rows)
            held = [None if absent else int(x) for x, absent in zip(data, missing)]
            for _ in range(20 + rows, 40):
                window = list(enumerate(held, 20))[-7:]
                assert_answers(state, window)
                held.append(int(rng.integers(0, 4)))
                wedge.push(*state, held[-1], False)
            assert state[0][wedge.COMPARISONS] <= 3 * (len(held) - 1)


def _hostile(kind, rows, rng):
    """Rows of which every one, none, or every other block or half of a block is in front of a wedge."""
    grows = np.arange(rows, 0.0, -1)  # towards the oldest row
    return {
        "rising": -grows,
        "falling": grows,
        "wider to the past": np.where(rng.random(rows) < 0.5, grows, -grows),
        "every other block wider": np.arange(rows) // 64 % 2 * grows * rng.choice([-1, 1], rows),
        "equal": np.zeros(rows),
        "normal": rng.standard_normal(rows),
        "few values": rng.integers(0, 3, rows).astype(float),
    }[kind]


@pytest.mark.parametrize("ties", ["any", "minimum_first", "minimum_last"])
@pytest.mark.parametrize(
    "kind",
    ["rising", "falling", "wider to the past", "every other block wider", "equal", "normal", "few values"],
)
def test_many_rows_loaded_at_once(kind, ties, rng):
    for rows, pushed in ((63, 63), (64, 100), (65, 65), (129, 1000), (1000, 1000), (777, 12345)):
        for share in (0.0, 0.3, 0.98):
            data = _hostile(kind, rows, rng)
            data[rng.random(rows) < share] = np.nan
            state, whole = make(1000, ties=ties), make(1000, np.int64, ties=ties)
            wedge.load(*state, data, None, pushed)
            held = [(pushed - rows + i, None if x != x else x) for i, x in enumerate(data)]
            assert_answers(state, held)
            observed = max(int(state[0][wedge.OBSERVED]), 1)
            assert state[0][wedge.COMPARISONS] <= 3 * (observed - 1)
            if kind != "normal":
                wedge.load(*whole, np.nan_to_num(data).astype(np.int64), np.isnan(data), pushed)
                assert_answers(whole, held)
                assert whole[0][wedge.COMPARISONS] == state[0][wedge.COMPARISONS]


def test_push_counts_the_observations_whose_extrema_are_known():
    state = make(2)
    header, position, value, _ = state
    values = [(3.0, False), (1.0, False), (0.0, True), (0.0, True), (5.0, False)]
    expected = [(1, 3, 3), (2, 1, 3), (1, 1, 1), (0, None, None), (1, 5, 5)]
    for (x, missing), (count, low, high) in zip(values, expected):
        assert wedge.push(*state, x, missing) == count
        if count:
            assert wedge.minimum(header, position, value) == low
            assert wedge.maximum(header, position, value) == high
        else:
            assert wedge.minimum_position(header, position) == -1


def test_positions_stay_within_the_window():
    header, position, value, observed = make(5)
    assert position.shape == (2, 8)
    for x in np.arange(1000.0):
        wedge.push(header, position, value, observed, x, False)
    assert header[wedge.NEXT] == 1000
    assert wedge.minimum_position(header, position) == 995
