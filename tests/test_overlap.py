"""`out` that shares memory with the input, the times, the bounds or another output."""

import warnings

import numpy as np
import pytest

import rollstat

LONG = 300_000  # several blocks


@pytest.mark.parametrize("name", ["sum", "median", "max", "mean", "argmax"])
def test_out_may_be_the_times(name):
    function = getattr(rollstat, f"rolling_{name}")
    rng = np.random.default_rng(1)
    values = rng.integers(0, 50, LONG).astype(np.float64)
    dtype = np.int64 if name == "argmax" else np.float64
    times = np.cumsum(rng.integers(0, 3, LONG)).astype(dtype)
    wanted = function(values, 40, times=times.copy())
    assert function(values, 40, times=times, out=times) is times
    np.testing.assert_array_equal(times, wanted)


def test_out_may_be_the_bounds_or_a_part_of_the_input():
    rng = np.random.default_rng(2)
    values = rng.integers(0, 50, LONG).astype(np.float64)
    start = np.arange(LONG) // 3 * 2
    end = np.minimum(start + np.arange(LONG) % 2 + 5, LONG)
    end = np.maximum.accumulate(end)
    wanted = rollstat.rolling_argmax(values, (start.copy(), end.copy()))
    for number in range(2):
        bounds = [start.copy(), end.copy()]
        result = rollstat.rolling_argmax(values, tuple(bounds), out=bounds[number])
        np.testing.assert_array_equal(result, wanted)
    memory = np.concatenate([values, np.zeros(100)])
    wanted = rollstat.rolling_max(values, 7, min_periods=1)
    np.testing.assert_array_equal(
        rollstat.rolling_max(memory[:LONG], 7, min_periods=1, out=memory[100:]), wanted
    )
    memory = values.copy()
    np.testing.assert_array_equal(
        rollstat.rolling_max(memory[::-1], 7, min_periods=1, out=memory),
        rollstat.rolling_max(values[::-1], 7, min_periods=1),
    )


def test_outputs_that_overlap_are_rejected_before_they_are_written():
    values = np.arange(10.0)
    memory = np.full(30, 5.0)
    for out in ((memory[:10], memory[:10]), (memory[:10], memory[5:15]), (memory[:20:2], memory[2:22:2])):
        with pytest.raises(ValueError, match="share no memory"):
            rollstat.rolling_minmax(values, 3, out=out)
    broadcast = np.lib.stride_tricks.as_strided(memory, (10,), (0,))
    sliding = np.lib.stride_tricks.sliding_window_view(memory, 5, writeable=True)[:2]
    with pytest.raises(ValueError, match="place for every result"):
        rollstat.rolling_min(values, 3, out=broadcast)
    with pytest.raises(ValueError, match="place for every result"):
        rollstat.rolling_kth(values[:5], [1, 2], 3, out=sliding)
    with pytest.raises(TypeError, match="out must be a writable"):
        rollstat.rolling_kth(values, [1, 2], 3, out=5)
    assert (memory == 5).all()
    rollstat.rolling_minmax(values, 3, min_periods=1, out=(memory[:20:2], memory[1:20:2]))
    low, high = rollstat.rolling_minmax(values, 3, min_periods=1)
    np.testing.assert_array_equal(memory[:20], np.stack([low, high], axis=1).ravel())
    np.testing.assert_array_equal(memory[20:], 5)


def test_outputs_may_be_the_inputs():
    rng = np.random.default_rng(3)
    x, y = rng.random(100), rng.random(100)
    wanted = rollstat.rolling_minmax(x, 4)
    memory = np.stack([x, y])
    rollstat.rolling_minmax(memory[0], 4, out=(memory[1], memory[0]))
    np.testing.assert_array_equal(memory, [wanted[1], wanted[0]])
    memory = np.stack([x, y])
    wanted = rollstat.rolling_cov(x, y, 4)
    np.testing.assert_array_equal(rollstat.rolling_cov(memory[0], memory[1], 4, out=memory[1]), wanted)


def test_several_order_statistics_in_one_array(rng):
    values = rng.random((4, 30))
    out = np.empty((2, 4, 30))
    assert rollstat.rolling_kth(values, [1, 2], 3, out=out) is out
    np.testing.assert_array_equal(out, rollstat.rolling_kth(values, [1, 2], 3))
    for bad in ((out[0], out[1]), np.empty((3, 4, 30)), np.empty((2, 4, 29))):
        with pytest.raises((ValueError, TypeError), match="out must"):
            rollstat.rolling_kth(values, [1, 2], 3, out=bad)


def test_out_is_unchanged_if_a_warning_is_an_error():
    values = np.zeros(LONG, np.int64)
    values[-1] = 2**60
    out = np.full(LONG, 5.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(rollstat.PrecisionWarning):
            rollstat.rolling_max(values, 3, out=out)
    assert (out == 5).all()
