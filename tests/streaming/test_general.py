"""Windows of any operator over a stream, against folds of the window."""

import functools
import pickle

import numpy as np
import pytest

import rollstat
from rollstat import operators
from rollstat.streaming import STREAMS, FixedAggregate, SlidingAggregate, TimeAggregate
from tests.spans import counting_operator
from tests.streaming.cases import (
    AGGREGATES,
    batch,
    columns_of,
    identity,
    make,
    outputs,
    push_all,
    typical,
)

OPERATORS = {
    "Sum": (operators.Sum(), np.sum),
    "Mean": (operators.Mean(), np.mean),
    "Variance": (operators.Variance(1), lambda a: np.var(a, ddof=1) if len(a) > 1 else np.nan),
}
both = pytest.mark.parametrize("algorithm", ["two_stacks", "daba"])


def values_of(rng, n):
    values = rng.normal(size=n)
    values[rng.random(n) < 0.2] = np.nan
    return values


def expected(function, values, least=1):
    kept = values[~np.isnan(values)]
    return function(kept) if len(kept) >= least else np.nan


@pytest.mark.parametrize("name", OPERATORS)
def test_rows(name, rng):
    operator, function = OPERATORS[name]
    values = values_of(rng, 60)
    stream = FixedAggregate(operator, 5, min_periods=2)
    wanted = [expected(function, values[max(0, i - 4) : i + 1], 2) for i in range(60)]
    pushed = [stream.push(float(x)) for x in values]
    np.testing.assert_allclose(pushed, wanted, atol=1e-12)
    for split in (0, 1, 17, 60):
        other = FixedAggregate(operator, 5, min_periods=2)
        first = other.extend(values[:split])
        twins = [other.copy(), pickle.loads(pickle.dumps(other)), rollstat.restore(other.snapshot())]
        whole = np.concatenate([first, other.extend(values[split:])])
        np.testing.assert_array_equal(whole, pushed)
        for twin in twins:
            np.testing.assert_array_equal([twin.push(x) for x in values[split:]], pushed[split:])
    assert stream.full
    assert len(stream) == 5


@both
def test_time(algorithm, rng):
    values, times = values_of(rng, 80), np.sort(rng.integers(0, 90, 80))
    stream = TimeAggregate(operators.Sum(), 7, algorithm=algorithm)
    wanted = [expected(np.sum, values[: i + 1][times[: i + 1] > times[i] - 7]) for i in range(80)]
    np.testing.assert_allclose([stream.push(x, t) for x, t in zip(values, times)], wanted, atol=1e-12)
    before = stream.snapshot()
    for t in (times[-1] - 1, np.nan, None, "now"):
        with pytest.raises((TypeError, ValueError)):
            stream.push(1.0, t)
    with pytest.raises(ValueError, match="times must"):
        stream.extend([1.0, 2.0], times=[100, 99])
    assert stream.snapshot() == before
    other = TimeAggregate(operators.Sum(), 7, algorithm=algorithm)
    both_parts = [other.extend(values[:31], times=times[:31]), other.extend(values[31:], times=times[31:])]
    np.testing.assert_allclose(np.concatenate(both_parts), wanted, atol=1e-12)


@both
def test_any_size(algorithm, rng):
    stream = SlidingAggregate(operators.Sum(), dtype=np.int64, min_periods=0, algorithm=algorithm)
    assert stream.value == 0
    window = []
    for i in range(400):
        stream.push(i * i)
        window.append(i * i)
        number = min(int(rng.integers(0, 3)) if i > 200 else 0, len(window))
        del window[:number]
        assert stream.pop(number) == sum(window)
        assert len(stream) == len(window)
    with pytest.raises(ValueError, match="n must be at most"):
        stream.pop(len(window) + 1)
    assert stream.value == sum(window)
    stream.reset()
    assert stream.value == 0


def test_no_observation_has_no_result():
    assert np.isnan(SlidingAggregate(operators.Mean()).value)
    assert SlidingAggregate(operators.Sum(), dtype=np.int64).value is None
    stream = FixedAggregate(operators.Maximum(), 3, dtype=np.int64)
    assert [stream.push(x) for x in (1, 5, 2, 0)] == [None, None, 5, 5]
    for bad in (1.5, "2", 2**70):
        with pytest.raises((TypeError, ValueError)):
            stream.push(bad)
    assert stream.value == 5


def test_an_exact_sum_that_does_not_fit_is_an_error_until_it_leaves():
    stream = FixedAggregate(operators.Sum(), 2, dtype=np.int64, min_periods=1)
    stream.push(2**62)
    with pytest.raises(OverflowError):
        stream.push(2**62)
    assert stream.push(1) == 2**62 + 1


@pytest.mark.filterwarnings("ignore::rollstat.PrecisionWarning")
def test_an_array_with_a_sum_that_does_not_fit_changes_nothing():
    stream = rollstat.RollingSum(3, dtype=np.int64, min_periods=1)
    stream.extend([1, 2**62, 1])
    for bad in ([2**62, *[0] * 20], [0] * 20 + [2**62, 2**62]):
        with pytest.raises(OverflowError):
            stream.extend(np.array(bad))
    assert len(stream) == 3
    assert [stream.value, stream.push(0), stream.push(0)] == [2**62 + 2, 2**62 + 1, 1]


def test_two_columns(rng):
    x, y = rng.normal(size=(2, 30))
    stream = FixedAggregate(operators.Covariance(1), 6)
    got = [stream.push(a, b) for a, b in zip(x, y)][5:]
    wanted = [np.cov(x[i - 5 : i + 1], y[i - 5 : i + 1])[0, 1] for i in range(5, 30)]
    np.testing.assert_allclose(got, wanted)
    fit = FixedAggregate(operators.LinearFit(), 6)
    np.testing.assert_allclose(fit.extend(x, y)[0][-1], np.polyfit(x[-6:], y[-6:], 1)[0])


def test_a_function_of_ones_own(rng):
    values = rng.normal(size=20)
    stream = FixedAggregate(lambda older, newer: older * newer, 4)
    np.testing.assert_allclose(
        [stream.push(x) for x in values][3:],
        [functools.reduce(lambda a, b: a * b, values[i - 3 : i + 1]) for i in range(3, 20)],
    )
    with pytest.raises(TypeError, match="pickle"):
        stream.snapshot()


def close(got, wanted):
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(np.array(one, float), np.array(other, float), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("name", "sample"), AGGREGATES, ids=identity)
def test_named_streams_equal_batch(name, sample, rng):
    columns = columns_of(name, rng, 30)
    wanted = batch(name, sample, columns, 5, min_periods=4)
    stream = make(name, sample, 5, min_periods=4)
    got = outputs(stream.extend(*(column[:11] for column in columns)))
    close(got, [w[:11] for w in wanted])
    twin = rollstat.restore(stream.snapshot())
    assert type(twin) is type(stream)
    rest = [column[11:] for column in columns]
    later = push_all(stream, rest)
    close(later, [w[11:] for w in wanted])
    assert repr(push_all(twin, rest)) == repr(later)


@pytest.mark.parametrize(("name", "sample"), typical(AGGREGATES), ids=identity)
def test_named_streams_by_time_equal_batch(name, sample, rng):
    columns = columns_of(name, rng, 30)
    wanted = batch(name, sample, columns, 5.0, min_periods=4, times=np.arange(30.0))
    close(push_all(make(name, sample, 5.0, min_periods=4), columns, range(30)), wanted)


@pytest.mark.parametrize(("name", "sample"), AGGREGATES, ids=identity)
def test_named_streams_of_constants_with_the_defaults(name, sample, rng):
    columns = columns_of(name, rng, 30)
    for column in columns:
        column[5:15] = 2
    wanted = batch(name, sample, columns, 5)
    close(push_all(make(name, sample, 5), columns), wanted)


@pytest.mark.parametrize("dtype", ["i8", pytest.param("u8", marks=pytest.mark.long)])
def test_products_of_whole_numbers_are_restored(dtype):
    stream = rollstat.RollingProd(3, dtype=dtype)
    stream.extend([5, 2, 3])
    twin = rollstat.restore(stream.snapshot())
    assert [twin.value, *twin.extend([7, 2**58])] == [30, 42, 21 * 2**58]


@pytest.mark.parametrize(("name", "sample"), typical(AGGREGATES), ids=identity)
def test_named_streams_of_everything_keep_one_state(name, sample, rng):
    columns = columns_of(name, rng, 300)
    wanted = batch(name, sample, columns, rollstat.Expanding(), min_periods=3)
    stream = make(name, sample, rollstat.Expanding(), min_periods=3)
    close(push_all(stream, [c[:130] for c in columns]), [w[:130] for w in wanted])
    room = len(stream.snapshot())
    close(outputs(stream.extend(*(c[130:] for c in columns))), [w[130:] for w in wanted])
    assert len(stream) == 300
    assert len(stream.snapshot()) <= room + 8


@pytest.mark.parametrize("algorithm", ["daba", pytest.param("two_stacks", marks=pytest.mark.long)])
@pytest.mark.parametrize(("name", "sample"), typical(AGGREGATES), ids=identity)
def test_merge_of_everything_seen(name, sample, algorithm, rng):
    columns = columns_of(name, rng, 90)
    parts = [make(name, sample, rollstat.Expanding(), min_periods=4, algorithm=algorithm) for _ in range(3)]
    for part, rows in zip(parts, (slice(0, 2), slice(2, 80), slice(90, 90))):
        part.extend(*(column[rows] for column in columns))
    first, second, none = parts
    if name == "linear_fit":
        with pytest.raises(TypeError, match="with_row"):
            first.merge(second)
        return
    none.merge(first)
    none.merge(second)
    none.merge(make(name, sample, rollstat.Expanding(), min_periods=4, algorithm=algorithm))
    assert len(none) == 80
    got = push_all(none, [column[80:] for column in columns])
    wanted = batch(name, sample, columns, rollstat.Expanding(), min_periods=4)
    close(got, [w[80:] for w in wanted])
    with pytest.raises(TypeError, match="merge needs"):
        make(name, sample, 5).merge(make(name, sample, 5))
    with pytest.raises(ValueError, match="same parameters"):
        none.merge(make(name, sample, rollstat.Expanding()))


@pytest.mark.parametrize(("name", "sample"), AGGREGATES, ids=identity)
def test_named_streams_from_a_tail(name, sample, rng):
    columns = columns_of(name, rng, 30)
    wanted = batch(name, sample, columns, 5, min_periods=1)
    tail = tuple(column[:20] for column in columns)
    stream = STREAMS[name].from_tail(tail if len(tail) > 1 else tail[0], 5, min_periods=1, **sample)
    close(push_all(stream, [column[20:] for column in columns]), [w[20:] for w in wanted])


def joined(older, newer):
    return older + newer


class Words:
    """Lists of words, joined in place where they may be."""

    def lift(self, word):
        return [word]

    def combine(self, older, newer):
        return older + newer

    def combine_into(self, accumulator, newer):
        accumulator.extend(newer)
        return accumulator

    def lower(self, words):
        return "".join(words)


@pytest.mark.parametrize("operator", [joined, Words()], ids=["function", "class"])
def test_objects(operator):
    words = ["a", "b", None, "c", "d", "e", None, "f"]
    kept = [w or "" for w in words]
    fixed = FixedAggregate(operator, 3, min_periods=1, dtype=object)
    wanted = ["".join(kept[max(0, i - 2) : i + 1]) for i in range(8)]
    assert [fixed.push(w) for w in words] == wanted
    other = FixedAggregate(operator, 3, min_periods=1, dtype=object)
    assert other.extend(words[:5]).tolist() == wanted[:5]
    twins = [other.copy(), pickle.loads(pickle.dumps(other))]
    assert other.extend(words[5:]).tolist() == wanted[5:]
    for twin in twins:
        assert [twin.push(w) for w in words[5:]] == wanted[5:]
    timed = TimeAggregate(operator, 3, dtype=object)
    assert [timed.push(w, i) for i, w in enumerate(words)] == wanted
    assert TimeAggregate(operator, 3, dtype=object).extend(words, times=range(8)).tolist() == wanted
    free = SlidingAggregate(operator, dtype=object)
    assert [free.push(w) for w in words][-1] == "abcdef"
    assert [free.pop(2), free.pop(3), free.pop(0), free.pop(2), free.pop()] == ["cdef", "ef", "ef", "f", None]
    with pytest.raises(ValueError, match="n must be at most"):
        free.pop()
    with pytest.raises(TypeError, match="pickle"):
        fixed.snapshot()
    with pytest.raises(ValueError, match="'daba' supports numbers"):
        FixedAggregate(operator, 3, dtype=object, algorithm="daba")


@pytest.mark.parametrize(
    ("dtype", "name", "sample"),
    [
        pytest.param(
            dtype,
            *case,
            marks=() if dtype == "f8" or (dtype == "i8" and case[0] in ("sum", "var")) else pytest.mark.long,
        )
        for case in AGGREGATES
        for dtype in ("f8", "f4", "i8")
    ],
    ids=identity,
)
def test_long_arrays_are_left_to_the_function(name, sample, dtype, rng):
    columns = columns_of(name, rng, 90, dtype)
    wanted = batch(name, sample, columns, 5, min_periods=2)
    stream = make(name, sample, 5, min_periods=2, dtype=dtype)
    got = [*outputs(stream.extend(*(column[:40] for column in columns)))]
    more = outputs(stream.extend(*(column[40:75] for column in columns)))
    last = push_all(stream, [column[75:] for column in columns])
    assert len(stream) == 5
    for split in (0, 1, 2, 4, 6):
        begun = make(name, sample, 5, min_periods=2, dtype=dtype)
        begun.extend(*(column[:split] for column in columns))
        rest = outputs(begun.extend(*(column[split:] for column in columns)))
        for one, right in zip(rest, wanted, strict=True):
            np.testing.assert_allclose(one.astype(float), right[split:], rtol=1e-5, atol=1e-5)
    for first, second, third, right in zip(got, more, last, wanted, strict=True):
        whole = np.concatenate([first, second, np.array(third, float)])
        tolerance = 1e-5 if dtype == "f4" else 1e-9
        np.testing.assert_allclose(whole.astype(float), right, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("window", [1, 2])
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("Sum", ()),
        ("Mean", ()),
        ("Count", ()),
        ("Prod", ()),
        ("Any", ()),
        ("LogSumExp", ()),
        ("DecayedSum", (0.5,)),
        ("Max", ()),
    ],
)
def test_windows_without_observations_answer_as_arrays_do(name, parameters, window):
    values = np.array([np.nan, 1, np.nan, np.nan, 2])
    plain = {"LogSumExp": "logsumexp", "DecayedSum": "decayed_sum"}.get(name, name.lower())
    wanted = getattr(rollstat, f"rolling_{plain}")(values, window, *parameters, min_periods=0)
    stream = getattr(rollstat, f"Rolling{name}")(window, *parameters, min_periods=0)
    np.testing.assert_array_equal(stream.copy().extend(values), wanted)
    np.testing.assert_array_equal([float(stream.push(x)) for x in values], wanted)


@pytest.mark.parametrize("name", ["any", "all", "sum", "count", "last"])
@pytest.mark.parametrize("least", [1, 2, 4])
def test_long_arrays_of_floats_that_are_masked(name, least, rng):
    parts = [np.full(4, np.nan), np.ma.MaskedArray(np.ones(5), [1, 1, 0, 0, 0])]
    parts += [np.ma.MaskedArray(rng.integers(0, 2, 30) * 1.0, rng.random(30) < 0.5) for _ in range(3)]
    stream, single = (STREAMS[name](4, min_periods=least) for _ in range(2))
    for part in parts:
        wanted = push_all(single, [np.ma.filled(part, np.nan)])
        got = stream.extend(part)
        assert not isinstance(got, np.ma.MaskedArray)
        np.testing.assert_array_equal(np.array(got, float), np.array(wanted[0], float))


@pytest.mark.parametrize("algorithm", ["two_stacks", "daba"])
def test_windows_whose_value_is_not_read_are_not_evaluated(algorithm):
    operator, counter = counting_operator()
    made = []
    for change, remove in ((SlidingAggregate.push, SlidingAggregate.pop), (SlidingAggregate.add, drop)):
        stream = SlidingAggregate(operator, dtype=np.int64, algorithm=algorithm)
        counter[0] = 0
        for i in range(1000):
            change(stream, i)
            if i % 3 == 0 and i > 10:
                remove(stream, 2)
        made.append(int(counter[0]))
        assert stream.value == (660, 999, True)
    # One combination less for each of 1330 results, but those of a window in one buffer, which take none.
    assert made[1] < made[0] - 900
    assert made[1] <= (2000 if algorithm == "two_stacks" else 5000)
    fixed = FixedAggregate(operators.Sum(), 3)
    assert [fixed.add(x) for x in (1.0, 2.0, 4.0, 8.0)] == [None] * 4
    assert fixed.value == 14.0


def drop(stream, n):
    assert stream.drop(n) is None


def test_a_growing_window_combines_in_place():
    calls = {"combine": 0, "combine_into": 0}

    def combine(older, newer):
        calls["combine"] += 1
        return older | newer

    def into(older, newer):
        calls["combine_into"] += 1
        older |= newer
        return older

    operator = operators.function_operator(combine, combine_into=into)
    stream = SlidingAggregate(operator, dtype=object, check=False)
    sets = [{i} for i in range(1000)]
    for x in sets:
        stream.add(x)
    assert calls == {"combine": 1, "combine_into": 998}
    first = stream.value
    stream.add({-1})
    assert first == set(range(1000))
    assert stream.value == set(range(-1, 1000))
    assert all(len(x) == 1 for x in sets)


def test_a_window_by_time_is_full_once_it_begins_at_the_first_row(rng):
    stream = TimeAggregate(operators.Sum(), 10)
    full = []
    for t in (5, 9, 14.5, 15, 40):
        stream.push(1.0, t)
        full.append(stream.full)
        assert rollstat.restore(stream.snapshot()).full == stream.full
    assert full == [False, False, False, True, True]
    stream.reset()
    assert not stream.full
    stream.extend([1.0, 2.0], times=[0.0, 10.0])
    assert stream.full
    assert not SlidingAggregate(operators.Sum()).full


@pytest.mark.parametrize(
    ("size", "algorithm"),
    [
        pytest.param(size, algorithm, marks=() if (size, algorithm) == (2, "daba") else pytest.mark.long)
        for size in (1, 2, 3)
        for algorithm in ("two_stacks", "daba")
    ],
)
def test_matrices_in_compiled_windows(size, algorithm, rng):
    matrices = rng.integers(-2, 3, (40, size, size)).astype(float)
    matrices[rng.random(40) < 0.2, 0, -1] = np.nan
    product, options = operators.MatrixProduct(), {"dtype": np.dtype((float, (size, size)))}
    options["algorithm"] = algorithm

    def check(found, wanted):
        assert (found is None) == np.isnan(wanted).any()
        if found is not None:
            np.testing.assert_array_equal(found, wanted)

    def over(window, **more):
        return rollstat.rolling_aggregate(matrices, product, window, **more)

    fixed = FixedAggregate(product, 5, min_periods=2, **options)
    for i, wanted in enumerate(over(5, min_periods=2)):
        check(fixed.push(matrices[i].tolist() if i % 3 else matrices[i]), wanted)
        if i == 20:
            fixed, other = rollstat.restore(fixed.snapshot()), fixed
            check(other.copy().value, wanted)
            check(pickle.loads(pickle.dumps(other)).value, wanted)
    times = np.arange(40) // 2
    timed = TimeAggregate(product, 3, **options)
    wanted = over(3, min_periods=1, times=times)
    for i in range(20):
        check(timed.push(matrices[i], times[i]), wanted[i])
    np.testing.assert_array_equal(timed.extend(matrices[20:], times=times[20:]), wanted[20:])
    sliding = SlidingAggregate(product, **options)
    given = np.ma.MaskedArray(np.nan_to_num(matrices), np.isnan(matrices))
    whole = over(rollstat.Expanding(), min_periods=1)
    np.testing.assert_array_equal(sliding.extend(given), whole)
    for found in (sliding.pop(38), sliding.push(None)):
        check(found, over(2, min_periods=1)[-1])


def test_matrices_of_greedy_windows(rng):
    matrices = rng.integers(0, 3, (9, 2, 2)).astype(float)
    dtype = np.dtype((float, (2, 2)))
    greedy = rollstat.GreedyAggregate(operators.MatrixProduct(), dtype=dtype)
    greedy.push(matrices[0])
    greedy.extend(matrices[1:])
    np.testing.assert_array_equal(greedy.move(0, 3), np.linalg.multi_dot(list(matrices[:3])))
    greedy = rollstat.restore(greedy.snapshot())
    np.testing.assert_array_equal(greedy.move(2, 9), np.linalg.multi_dot(list(matrices[2:])))


def test_elements_that_are_no_matrices_are_rejected():
    stream = FixedAggregate(operators.MatrixProduct(), 2, min_periods=1, dtype=np.dtype((float, (2, 2))))
    stream.push(np.eye(2))
    for bad in (1.0, np.eye(3), [["a", "b"], ["c", "d"]], np.eye(2) * 1j):
        with pytest.raises(ValueError, match=r"x must hold numbers in the shape \(2, 2\)"):
            stream.push(bad)
        with pytest.raises(ValueError, match=r"array must hold numbers in the shape \(rows, 2, 2\)"):
            stream.extend([bad])
    np.testing.assert_array_equal(stream.value, np.eye(2))
    for dtype in (np.float64, np.dtype((float, 2)), np.dtype((np.float32, (2, 2)))):
        with pytest.raises(TypeError, match="dtype must be float64 with the shape of an element"):
            SlidingAggregate(operators.MatrixProduct(), dtype=dtype)
    with pytest.raises(TypeError, match="dtype must be one of float64"):
        SlidingAggregate(operators.Sum(), dtype=np.dtype((float, (2, 2))))


def test_matrices_as_objects(rng):
    matrices = rng.integers(0, 3, (7, 2, 2)).astype(float)
    wanted = rollstat.rolling_aggregate(matrices, operators.MatrixProduct(), 3, min_periods=1)
    stream = FixedAggregate(operators.MatrixProduct(), 3, min_periods=1, dtype=object)
    np.testing.assert_array_equal([stream.push(matrix) for matrix in matrices], wanted)
    timed = TimeAggregate(operators.MatrixProduct(), 3, dtype=object)
    np.testing.assert_array_equal([timed.push(matrix, i) for i, matrix in enumerate(matrices)], wanted)


def test_float16_is_rejected_with_the_dtype_to_take():
    for cls, arguments in ((rollstat.RollingMedian, (3,)), (FixedAggregate, (operators.Sum(), 3))):
        with pytest.raises(TypeError, match="got float16; float32 holds every float16"):
            cls(*arguments, dtype=np.float16)
        values = np.array([0.1, 2.0, 3.5, 1.0], np.float16)
        stream = cls(*arguments, dtype=np.float32)
        assert (
            stream.extend(values)[-1]
            == cls(*arguments, dtype=np.float32).extend(values.astype(np.float32))[-1]
        )
