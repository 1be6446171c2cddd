"""Times of rows, oldest first."""

import numpy as np
import pandas as pd

from rollstat.streaming.window_spec import Times, WindowSpec


def test_times_are_a_queue(rng):
    times, expected, last, most = Times(np.empty(0, np.int64)), [], 0, 0
    for step in range(3000):
        later = last + np.cumsum(rng.integers(0, 3, int(rng.integers(0, 4))))
        if len(later) == 1:
            times.append(int(later[0]))
        else:
            times.extend(later)
        expected.extend(later.tolist())
        most = max(most, len(expected))
        last = expected[-1] if expected else last
        if step % 5 == 0:
            limit = last - int(rng.integers(0, 4000))
            gone = times.up_to(limit)
            assert gone == sum(number <= limit for number in expected)
            times.drop(gone)
            del expected[:gone]
        assert times.numbers.tolist() == expected
        assert len(times.ring) <= max(2 * most, 64)
    assert times.up_to(float("nan")) == 0
    twin = Times(times.numbers)
    times.drop(len(times))
    assert len(times) == 0
    assert times.up_to(10**9) == 0
    assert twin.numbers.tolist() == expected
    twin = Times(np.arange(1300))
    twin.append(1300)
    twin.note(np.array([1300]))
    assert twin.up_to(1299) == 1300
    assert (twin.newest, times.newest) == (1300, None)


def test_offsets_of_fixed_length_are_durations():
    for offset in (pd.DateOffset(minutes=2, seconds=30), pd.offsets.Second(150), pd.DateOffset(seconds=150)):
        assert WindowSpec.parse(offset) == WindowSpec.parse("150s")
    assert WindowSpec.parse(pd.DateOffset(days=1)).by_calendar  # a day of the clock
