"""What every stream promises, tested for all of them."""

import copy
import pickle
import struct
import zlib
from typing import Any

import numpy as np
import pytest

import rollstat
from rollstat.registry import REGISTRY
from rollstat.snapshots import SnapshotError
from rollstat.streaming import REASONS, STREAMS
from rollstat.streaming.base import CLASSES
from tests.streaming.cases import (
    CASES,
    FIRST,
    NAMED,
    batch,
    columns_of,
    identity,
    make,
    outputs,
    push_all,
    same,
    typical,
)

every = pytest.mark.parametrize(("name", "sample"), CASES, ids=identity)
each = pytest.mark.parametrize(("name", "sample"), FIRST, ids=identity)

N = 30


def test_every_statistic_has_a_stream_or_a_reason():
    assert set(REGISTRY) - set(STREAMS) == {name for name, why in REASONS.items() if isinstance(why, str)}


def test_every_class_is_public():
    assert set(CLASSES) <= set(rollstat.__all__)


@every
def test_stream_equals_batch_at_every_split(name, sample, rng):
    columns = columns_of(name, rng, N)
    wanted = batch(name, sample, columns, 5, min_periods=2)
    for split in range(0, N + 1, 3):
        stream = make(name, sample, 5, min_periods=2)
        first = outputs(stream.extend(*(column[:split] for column in columns)))
        same(name, first, [column[:split] for column in wanted])
        twin = stream.copy()
        rest = outputs(stream.extend(*(column[split:] for column in columns)))
        same(name, rest, [column[split:] for column in wanted])
        pushed = push_all(twin, [column[split:] for column in columns]) or [[]] * len(wanted)
        same(name, pushed, [column[split:] for column in wanted])
        same(name, [[v] for v in outputs(twin.value)], [[v] for v in outputs(stream.value)])


@each
def test_windows_by_time_of_everything_and_free_ones(name, sample, rng):
    columns = columns_of(name, rng, N)
    seconds = np.sort(rng.integers(0, 60, N))
    times = seconds.astype("M8[s]")
    wanted = batch(name, sample, columns, "10s", times=times)
    same(name, push_all(make(name, sample, "10s"), columns, times), wanted)
    stream = make(name, sample, 10.0)
    same(
        name, outputs(stream.extend(*(c[:11] for c in columns), times=seconds[:11])), [w[:11] for w in wanted]
    )
    same(name, push_all(stream, [c[11:] for c in columns], seconds[11:]), [w[11:] for w in wanted])
    wanted = batch(name, sample, columns, rollstat.Expanding())
    stream = make(name, sample, rollstat.Expanding())
    same(name, push_all(stream, [c[:7] for c in columns]), [w[:7] for w in wanted])
    same(name, outputs(stream.extend(*(c[7:] for c in columns))), [w[7:] for w in wanted])
    assert len(stream) == N
    assert not stream.full


@each
def test_pop(name, sample, rng):
    columns = columns_of(name, rng, 150)
    stream = make(name, sample, None)
    start, position = 0, name.startswith("arg")
    for i in range(150):
        stream.push(*(column[i] for column in columns))
        number = int(rng.integers(0, 3)) if i > 90 else 0
        number = min(number, len(stream))
        value = stream.pop(number)
        start += number
        assert len(stream) == i + 1 - start
        if i % 7 == 0 and len(stream):
            window = [column[start : i + 1] for column in columns]
            wanted = [w[-1:] for w in batch(name, sample, window, rollstat.Expanding())]
            if position:
                wanted = [np.where(rows >= 0, rows + start, -1) for rows in wanted]
            same(name, [[v] for v in outputs(value)], wanted)
    with pytest.raises(ValueError, match="n must be at most"):
        stream.pop(len(stream) + 1)
    with pytest.raises(ValueError, match="n must be"):
        stream.pop(-1)
    assert len(stream) == 150 - start
    same(name, [[v] for v in outputs(stream.value)], [[v] for v in outputs(value)])
    with pytest.raises(TypeError, match="pop needs"):
        make(name, sample, 5).pop()


@each
@pytest.mark.parametrize("dtype", ["f4", "i8", "M8[s]", "?"])
def test_dtypes(name, sample, dtype, rng):
    if np.dtype(dtype).kind not in STREAMS[name]._row.kinds:
        with pytest.raises(TypeError, match="dtype must be"):
            make(name, sample, 5, dtype=dtype)
        return
    columns = columns_of(name, rng, N, dtype)
    wanted = batch(name, sample, columns, 4, min_periods=2)
    stream = make(name, sample, 4, min_periods=2, dtype=dtype)
    half = outputs(stream.extend(*(column[:13] for column in columns)))
    same(name, half, [column[:13] for column in wanted], dtype == "f4")
    assert [array.dtype for array in half] == [array.dtype for array in wanted]
    same(name, push_all(stream, [c[13:] for c in columns]), [w[13:] for w in wanted], dtype == "f4")


def restarted(stream: Any) -> list[Any]:
    return [
        stream.copy(),
        copy.deepcopy(stream),
        pickle.loads(pickle.dumps(stream)),
        rollstat.restore(stream.snapshot()),
        type(stream).restore(stream.snapshot()),
    ]


@every
def test_restarts_continue_exactly(name, sample, rng):
    columns = columns_of(name, rng, N)
    for at in (0, 3, 17):
        stream = make(name, sample, 5, min_periods=1)
        push_all(stream, [column[:at] for column in columns])
        twins = restarted(stream)
        later = push_all(stream, [column[at:] for column in columns])
        for twin in twins:
            got = push_all(twin, [column[at:] for column in columns])
            np.testing.assert_array_equal(np.array(got, float), np.array(later, float))
    stream.reset()
    assert len(stream) == 0
    same(name, [[v] for v in outputs(stream.value)], [[v] for v in outputs(make(name, sample, 5).value)])
    np.testing.assert_array_equal(
        np.array(push_all(stream, columns), float),
        np.array(push_all(make(name, sample, 5, min_periods=1), columns), float),
    )


@each
def test_restarts_of_windows_by_time(name, sample, rng):
    columns = columns_of(name, rng, N)
    stream = make(name, sample, 5.0)
    push_all(stream, [column[:20] for column in columns], range(20))
    twin = rollstat.restore(stream.snapshot())
    rest = [column[20:] for column in columns]
    same(name, push_all(twin, rest, range(20, N)), push_all(stream, rest, range(20, N)))


@pytest.mark.parametrize(("name", "sample"), typical(NAMED), ids=identity)
def test_times_at_the_ends_of_their_range(name, sample, rng):
    first, last = np.datetime64(-(2**63) + 1, "ns"), np.datetime64(2**63 - 1, "ns")
    two, three = np.timedelta64(2, "ns"), np.timedelta64(3, "ns")
    times = np.array([first, first, first + three, last - two, last, last])
    columns = columns_of(name, rng, 6)
    # The same distances about zero.
    near = [0, 0, 3, 98, 100, 100]
    near = push_all(make(name, sample, np.timedelta64(10, "ns")), columns, np.array(near, "M8[ns]"))
    got = push_all(make(name, sample, np.timedelta64(10, "ns")), columns, times)
    assert repr(got) == repr(near)
    same(name, outputs(make(name, sample, np.timedelta64(10, "ns")).extend(*columns, times=times)), near)


@each
def test_from_tail_continues_a_batch(name, sample, rng):
    columns = columns_of(name, rng, N)
    wanted = batch(name, sample, columns, 5, min_periods=1)
    own = dict(sample)
    leading = [own.pop("k")] if "k" in own else []
    tail = [column[:20] for column in columns]
    stream = STREAMS[name].from_tail(*tail, *leading, 5, min_periods=1, **own)
    same(name, push_all(stream, [c[20:] for c in columns]), [w[20:] for w in wanted])


@each
def test_merge_of_everything_seen(name, sample, rng):
    columns = columns_of(name, rng, N)
    first, second = (make(name, sample, rollstat.Expanding()) for _ in range(2))
    first.extend(*(column[:12] for column in columns))
    second.extend(*(column[12:] for column in columns))
    first.merge(second)
    wanted = batch(name, sample, columns, rollstat.Expanding())
    same(name, [[v] for v in outputs(first.value)], [w[-1:] for w in wanted])
    with pytest.raises(TypeError, match="merge needs"):
        make(name, sample, 5).merge(make(name, sample, 5))


@each
def test_errors_change_nothing(name, sample, rng):
    columns = columns_of(name, rng, 12)
    stream = make(name, sample, 5.0)
    push_all(stream, columns, range(12))
    before = stream.snapshot()
    row = (1.0,) * len(columns)
    for bad in (
        (*row, 10.5),
        (*row, np.nan),
        (*row, "now"),
        row,
        (*row[1:], "1.5", 13.0),
        (*row[1:], 1j, 13.0),
    ):
        with pytest.raises((TypeError, ValueError)):
            stream.push(*bad)
    for times in ([10.0, 11.0], [12.0, 11.5], [12.0, np.nan], [12.0], None):
        with pytest.raises((TypeError, ValueError)):
            stream.extend(*([1.0, 2.0] for _ in columns), times=times)
    assert stream.snapshot() == before
    stream = make(name, sample, 5)
    with pytest.raises(TypeError, match="t does not apply"):
        stream.push(*row, 3.0)
    with pytest.raises(TypeError):
        stream.push(*row[1:], "1.5")
    with pytest.raises((TypeError, ValueError)):
        stream.extend(*([[1.0]] for _ in columns))
    assert len(stream) == 0
    with pytest.raises(ValueError, match="window"):
        make(name, sample, 0)
    with pytest.raises(ValueError, match="min_periods"):
        make(name, sample, 5, min_periods=6)


@each
def test_any_kind_of_number(name, sample):
    stream, other = make(name, sample, 5, min_periods=1), make(name, sample, 5, min_periods=1)
    kinds = (float, int, np.float32, np.int64, np.float64, bool)
    row = len(columns_of(name, np.random.default_rng(0), 1))
    for kind in kinds:
        got = outputs(stream.push(*(kind(1) for _ in range(row))))
        same(name, [[v] for v in got], [[v] for v in outputs(other.push(*(1.0 for _ in range(row))))])
    got = outputs(stream.push(*(None for _ in range(row))))
    same(name, [[v] for v in got], [[v] for v in outputs(other.push(*(np.nan for _ in range(row))))])


@each
def test_a_snapshot_of_another_class_is_rejected(name, sample):
    stream = make(name, sample, 5)
    other = next(STREAMS[key] for key, _ in FIRST if key != name)
    with pytest.raises(SnapshotError, match="not of a"):
        other.restore(stream.snapshot())
    for data in (b"", b"foreign", stream.snapshot()[:-1], stream.snapshot() + b"x"):
        with pytest.raises(SnapshotError):
            rollstat.restore(data)
    damaged = bytearray(stream.snapshot())
    damaged[len(damaged) // 2] ^= 1
    with pytest.raises(SnapshotError):
        rollstat.restore(bytes(damaged))


@pytest.mark.parametrize(
    "header", [b"no JSON", b"\xff", b"{}", b'{"class": 1, "arrays": [["x", [1]]], "fields": [0]}']
)
def test_bytes_with_a_right_checksum_and_no_right_header_are_rejected(header):
    data = b"rollstat" + struct.pack("<HI", 1, len(header)) + header
    with pytest.raises(SnapshotError, match="header"):
        rollstat.restore(data + struct.pack("<I", zlib.crc32(data)))


def test_a_window_without_end_is_rejected():
    with pytest.raises(ValueError, match="window must be at most"):
        rollstat.RollingMedian(2**70)


@pytest.mark.parametrize(
    ("window", "name", "sample"),
    [
        pytest.param(window, *case.values, marks=case.marks if window is None else ())
        for window in (5, 5.0, None)
        for case in typical(NAMED)
    ],
    ids=identity,
)
def test_an_empty_window_has_no_answer(name, sample, window):
    stream = make(name, sample, window)
    for value in outputs(stream.value):
        if name == "count":
            assert value == 0
        else:
            assert value is None or value == -1 or value is False or np.isnan(value)
    if window is None:
        assert repr(stream.pop(0)) == repr(stream.value)
        with pytest.raises(ValueError, match="n must be at most"):
            stream.pop()
    assert len(stream) == 0


@each
def test_integers_of_which_the_newest_is_missing(name, sample):
    """The streams of integers answer as those of floats."""
    kinds, number = REGISTRY[name].kinds, REGISTRY[name].series
    answers = []
    for dtype in ("i8", "f8"):
        if np.dtype(dtype).kind in kinds:
            stream = make(name, sample, 3, min_periods=1, dtype=dtype)
            answers.append([stream.push(*[x] * number) for x in (1, 2, None, 4, None)])
    np.testing.assert_array_equal(np.array(answers[0], float), np.array(answers[-1], float))
