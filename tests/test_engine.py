"""Input, output and threads of the engine."""

import os
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest

import rollstat
from rollstat.engine import Call
from rollstat.options import Options
from rollstat.plan import Computation, Output


def test_wide_integers_stay_exact():
    top = np.iinfo(np.uint64).max
    values = np.array([top, top - 1, top - 2, 0], np.uint64)
    result = rollstat.rolling_kth(values, -1, 2, mode="valid")
    assert result.dtype == np.uint64
    assert result.tolist() == [top, top - 1, top - 2]
    result = rollstat.rolling_kth(values, 1, 2, fill_value=7)
    assert result.tolist() == [7, top - 1, top - 2, 0]
    with pytest.warns(rollstat.PrecisionWarning, match="beyond 2\\*\\*53"):
        rollstat.rolling_kth(values, 1, 2)
    low = np.array([-(2**63), 2**63 - 1, 0])
    assert rollstat.rolling_kth(low, 1, 2, mode="valid").tolist() == [-(2**63), 0]


@pytest.mark.parametrize("function", [rollstat.rolling_min, rollstat.rolling_sum, rollstat.rolling_first])
def test_a_warning_names_the_line_of_the_caller(function):
    with pytest.warns(rollstat.PrecisionWarning) as caught:
        function(np.array([2**60, 2**60 + 1, 2**60 + 2]), 2)
    assert {warning.filename for warning in caught} == {__file__}


def test_fill_value_must_fit():
    for bad in (0.5, 2**70, "x", [1]):
        with pytest.raises((ValueError, TypeError), match="fill_value"):
            rollstat.rolling_kth([1, 2, 3], 1, 2, fill_value=bad)
    assert rollstat.rolling_kth([1.0, 2.0], 1, 2, fill_value=-1).tolist() == [-1.0, 1.0]
    times = np.array([5, 3], "M8[s]")
    assert rollstat.rolling_kth(times, 1, 2, fill_value=np.datetime64(0, "s")).view(np.int64).tolist() == [
        0,
        3,
    ]


def test_floats_keep_their_dtype(rng):
    for dtype in ("f4", "f8"):
        assert rollstat.rolling_median(rng.random(9).astype(dtype), 4).dtype == dtype
    assert rollstat.rolling_median([1, 2, 3], 2).tolist()[1:] == [1.5, 2.5]
    assert rollstat.rolling_kth([True, False, True], 1, 2, mode="valid").tolist() == [False, False]
    with pytest.raises(TypeError, match="arr must hold"):
        rollstat.rolling_median(np.zeros(3, np.longdouble), 2)


def test_medians_of_datetimes_round_down():
    days = np.array(["2024-01-01", "2024-01-04", "2024-01-05"], "M8[D]")
    result = rollstat.rolling_median(days, 2)
    assert np.isnat(result[0])
    assert result[1:].astype(str).tolist() == ["2024-01-02", "2024-01-04"]


def test_short_lines_are_independent(rng):
    values = rng.random((50, 9))
    values[rng.random((50, 9)) < 0.2] = np.nan
    for options in ({}, {"min_periods": 1}, {"step": 2}, {"mode": "valid"}, {"center": True}):
        wanted = np.stack([rollstat.rolling_median(line, 3, **options) for line in values])
        np.testing.assert_array_equal(rollstat.rolling_median(values, 3, **options), wanted)
        np.testing.assert_array_equal(rollstat.rolling_median(values.T, 3, axis=0, **options), wanted.T)
    wanted = np.stack([rollstat.rolling_argkth(line, 1, 3) for line in values])
    np.testing.assert_array_equal(rollstat.rolling_argkth(values, 1, 3), wanted)


STEPPED = {
    "median": {},
    "quantile": {"q": 0.1},
    "iqr": {},
    "argkth": {"k": 2},
    "rank": {},
    "mad": {},
    "hampel": {},
    "trimmed_mean": {},
    "min": {},
    "argmax": {"relative_to": "newest"},
    "ptp": {},
    "sum": {},
    "std": {},
    "cov": {},
    "linear_fit": {},
    "count": {},
    "first": {},
}


@pytest.mark.parametrize("name", STEPPED)
@pytest.mark.parametrize("kind", ["floats", "gaps", "integers", "masked"])
def test_steps_return_rows_of_the_results_of_all_windows(rng, name, kind):
    values = rng.integers(-9, 9, 40_000) if kind in ("integers", "masked") else rng.standard_normal(40_000)
    if kind == "gaps":
        values[rng.integers(0, 40_000, 4_000)] = np.nan
        values[1000:1100] = np.nan
    if kind == "masked":
        values = np.ma.masked_array(values, rng.random(40_000) < 0.2)
    function, parameters = getattr(rollstat, f"rolling_{name}"), STEPPED[name]
    arrays = (values, rng.standard_normal(40_000)) if name == "cov" else (values,)
    for m, step, options in (
        (24, 7, {}),
        (24, 24, {"min_periods": 3, "center": True}),
        (5, 2, {"closed": "left"}),
        (200, 32, {"nan_policy": "propagate"}),
    ):
        every = function(*arrays, window=m, **parameters, **options)
        found = function(*arrays, window=m, step=step, **parameters, **options)
        several = isinstance(every, tuple)
        for wanted, result in zip(every if several else (every,), found if several else (found,)):
            wanted = wanted[::step]
            assert result.dtype == wanted.dtype
            np.testing.assert_array_equal(np.ma.getmaskarray(result), np.ma.getmaskarray(wanted))
            np.testing.assert_allclose(result, wanted, rtol=1e-11, atol=1e-12)


def test_rows_between_two_steps_are_computed_where_that_takes_less_time():
    values = np.zeros(100_000)
    for step, algorithm in ((1, "small_window"), (9, "small_window"), (10, "sorted_window")):
        explanation = rollstat.explain(rollstat.rolling_median, values, 9, step=step)
        assert explanation.algorithm == algorithm
        assert sum(part.rows for part in explanation.steps) + explanation.too_short == -(-100_000 // step)
    named = rollstat.explain(rollstat.rolling_median, values, 9, step=3, algorithm="two_heaps")
    assert named.algorithm == "two_heaps"
    for exclude_self, kind in ((False, "full"), (True, "all")):
        hampel = rollstat.explain(rollstat.rolling_hampel, values, 9, step=3, exclude_self=exclude_self)
        assert kind in {part.windows for part in hampel.steps}


def test_rows_between_two_steps_raise_no_warning_and_no_error():
    values = np.zeros(60_000, np.int64)
    values[[30, 31, 39_999, 40_000]] = 2**60 + 1
    for function in (rollstat.rolling_median, partial(rollstat.rolling_kth, k=2)):
        with pytest.warns(rollstat.PrecisionWarning):
            function(values, window=3)
        assert not function(values, window=3, step=3)[1:].any()
    times = np.zeros(60_000, "M8[ns]")
    times[30:32] = np.array([-(2**63) + 1, 2**63 - 1]).view("M8[ns]")
    with pytest.raises(OverflowError):
        rollstat.rolling_iqr(times, 2, 0.0, 1.0)
    distance = rollstat.rolling_iqr(times, 2, 0.0, 1.0, step=2)[1:].astype(int)
    assert np.flatnonzero(distance).tolist() == [14, 15]
    assert distance[[14, 15]].tolist() == [2**63 - 1, 2**63 - 1]


def test_several_ranks_are_stacked_along_a_new_first_axis(rng):
    values = rng.random((3, 40))
    result = rollstat.rolling_quantile(values, 5, [0.1, 0.5, 0.9])
    assert result.shape == (3, 3, 40)
    for part, q in zip(result, (0.1, 0.5, 0.9)):
        np.testing.assert_array_equal(part, rollstat.rolling_quantile(values, 5, q))
    result = rollstat.rolling_kth(values.T, [1, -1], 5, axis=0, mode="valid")
    assert result.shape == (2, 36, 3)
    np.testing.assert_array_equal(result[1], rollstat.rolling_kth(values.T, -1, 5, axis=0, mode="valid"))


@pytest.mark.parametrize("name", ["sum", "max", "argmax", "median", "mad", "rank", "linear_fit", "first"])
def test_few_windows_of_a_long_series(name, rng):
    function, times, rows = getattr(rollstat, f"rolling_{name}"), np.arange(400.0), np.array([3, 90, 94, 399])
    values = rng.standard_normal(400)
    values[[90, 95]] = np.nan
    values[[89, 91, 92]] = -0.0, 0.0, np.inf
    masked = np.ma.masked_array(values, np.arange(400) % 7 == 5)
    for data in (values, masked):
        options = {"times": times, "min_periods": 2}
        whole = np.asarray(function(data, 9.0, **options))[..., rows]
        assert np.asarray(function(data, 9.0, at=times[:0], **options)).shape[-1] == 0
        few = np.asarray(function(data, 9.0, at=times[rows], **options))
        np.testing.assert_allclose(few, whole, rtol=1e-12, atol=1e-15)
        assert (np.signbit(few) == np.signbit(whole)).all()


def test_out_may_overlap_the_input(rng):
    values = rng.random(100)
    wanted = rollstat.rolling_median(values, 5)
    assert rollstat.rolling_median(values, 5, out=values) is values
    np.testing.assert_array_equal(values, wanted)


def test_out_of_any_layout(rng):
    values = rng.random(60)
    wanted = rollstat.rolling_median(values, 5)
    out = np.zeros(120)
    rollstat.rolling_median(values, 5, out=out[::2])
    np.testing.assert_array_equal(out[::2], wanted)
    assert (out[1::2] == 0).all()
    for bad in (np.zeros(59), np.zeros(60, np.float32), [0.0] * 60, None):
        if bad is not None:
            with pytest.raises((ValueError, TypeError), match="out must"):
                rollstat.rolling_median(values, 5, out=bad)


def test_results_do_not_depend_on_threads(rng):
    values = rng.standard_normal(300_000)
    one = rollstat.rolling_median(values, 101)
    for threads in (2, "auto"):
        np.testing.assert_array_equal(rollstat.rolling_median(values, 101, threads=threads), one)
    rollstat.set_threads("auto")
    try:
        assert rollstat.get_threads() == len(os.sched_getaffinity(0))
        np.testing.assert_array_equal(rollstat.rolling_median(values, 101), one)
    finally:
        rollstat.set_threads(1)


def test_a_read_only_memory_map(tmp_path, rng):
    path = tmp_path / "values.bin"
    rng.random(10_000).tofile(path)
    values = np.memmap(path, np.float64, mode="r")
    np.testing.assert_array_equal(
        rollstat.rolling_median(values, 25), rollstat.rolling_median(values.copy(), 25)
    )


def test_bad_axis_and_empty_k_raise():
    with pytest.raises(ValueError, match="axis must lie"):
        rollstat.rolling_median(np.zeros((2, 3)), 2, axis=2)
    with pytest.raises(ValueError, match="k must hold at least one value"):
        rollstat.rolling_kth([1.0, 2.0], [], 2)


def test_threads_start_no_block_after_an_error():
    class Failing(Computation):
        outputs = (Output("float"),)
        begun = 0

        def block_rows(self, width, alone=False):
            return 1

        def compute(self, block, min_periods, results):
            self.begun += 1
            if self.begun == 1:
                raise KeyboardInterrupt
            time.sleep(0.01)

    computation = Failing()
    with pytest.raises(KeyboardInterrupt):
        Call([np.zeros(1000)], 1, lambda dtype, windows: computation, Options.check(threads=2)).run()
    assert computation.begun < 1000


def test_a_nested_call_does_not_wait_for_threads():
    class Nested(Computation):
        outputs = (Output("float"),)

        def block_rows(self, width, alone=False):
            return 100

        def compute(self, block, min_periods, results):
            inner = rollstat.rolling_median(block.values, 3, threads=2)
            results[0][:] = inner[-len(results[0]) :]

    values = np.arange(1000.0)
    result = Call([values], 3, lambda dtype, windows: Nested(), Options.check(threads=2)).run()
    np.testing.assert_array_equal(result, rollstat.rolling_median(values, 3))


def test_messages_contain_the_argument():
    with pytest.raises(ValueError, match="out must hold one array; got 3"):
        rollstat.rolling_median(np.zeros(3), 2, out=[1, 2, 3])
    with pytest.raises(ValueError, match=r"proportion must be .*below 0\.5.*got 0\.5"):
        rollstat.rolling_trimmed_mean(np.zeros(3), 2, 0.5)


def test_counts_of_float32_are_float64():
    values = np.ones(2**24 + 3, np.float32)
    result = rollstat.rolling_count(values, rollstat.Expanding())
    assert result.dtype == np.float64
    assert result[-1] == len(values)
    assert rollstat.RollingCount(2, dtype=np.float32).extend(values[:4]).dtype == np.float64
    assert rollstat.rolling_nunique(values[:4], 2).dtype == np.float64


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_starts_its_own_threads():
    code = """
import os, sys, numpy as np, rollstat
values = np.random.default_rng(0).standard_normal(300_000)
expected = rollstat.rolling_median(values, 101, threads=2)
child = os.fork()
if child == 0:
    found = rollstat.rolling_median(values, 101, threads=2)
    os._exit(0 if np.array_equal(found, expected, equal_nan=True) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=120, check=False)
    assert ended.returncode == 0
