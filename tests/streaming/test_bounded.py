"""Steps of single pushes, counted at the level of classes; memory that does not move."""

import threading

import numpy as np
import pytest

import rollstat
from rollstat.kernels.extrema import monotonic_deque
from rollstat.kernels.selection import three_trees
from tests.kernels.selection.test_three_trees import STEPS_A_LEVEL
from tests.spans import counting_operator
from tests.streaming.cases import AGGREGATES, FIRST, columns_of, identity, make, push_all

ROWS = 3000
HOSTILE = {
    "sorted": np.arange(ROWS) * 1.0,
    "reversed": -np.arange(ROWS) * 1.0,
    "alternating": np.resize([-1.0, 1.0], ROWS) * np.arange(ROWS),
    "saw": np.arange(ROWS) % 128 * 1.0,
}
hostile = pytest.mark.parametrize("data", HOSTILE)


@hostile
@pytest.mark.parametrize("k", [1, 13, 128, -2])
def test_worst_push_of_three_trees(data, k):
    stream = rollstat.RollingKth(k, 256, min_periods=abs(k), algorithm="three_trees")
    header = stream._window.representation.arrays[0]
    most = 0
    for x in HOSTILE[data].tolist():
        stream.push(x)
        most = max(most, int(header[three_trees.STEPS]))  # those of the last push alone
    assert abs(k).bit_length() <= most <= STEPS_A_LEVEL * (1 + np.log2(abs(k)))


@hostile
@pytest.mark.parametrize("sign", [1, -1])
def test_comparisons_of_one_extremum(data, sign):
    stream = (rollstat.RollingMin if sign > 0 else rollstat.RollingMax)(256)
    for i, x in enumerate(HOSTILE[data].tolist()):
        stream.push(x)
        assert monotonic_deque.views(stream._window.representation.state[0])[0][
            monotonic_deque.COMPARISONS
        ] <= 2 * (i + 1)


def test_combinations_of_daba_in_every_single_step(rng):
    operator, counter = counting_operator()
    stream = rollstat.FixedAggregate(
        operator, 16, min_periods=1, dtype=np.int64, algorithm="daba", check=False
    )
    for i in range(200):
        before = int(counter[0])
        assert stream.push(i)[:2] == (max(0, i - 15), i)
        # At most 3 for the push, 2 for the row that leaves, 1 for the result.
        assert counter[0] - before <= 3 + 2 * (i >= 16) + 1
        before = int(counter[0])
        assert stream.value[1] == i
        assert counter[0] - before <= 1
    free = rollstat.SlidingAggregate(operator, dtype=np.int64, algorithm="daba", check=False)
    first = following = 0
    for number in rng.integers(0, 4, 400).tolist():
        before = int(counter[0])
        if number and following - first > 1:
            number = min(number, following - first - 1)
            first += number
            assert free.pop(number)[:2] == (first, following - 1)
            assert counter[0] - before <= 2 * number + 1
        else:
            assert free.push(following)[:2] == (first, following)
            following += 1
            assert counter[0] - before <= 3 + 1


def addresses(stream):
    """Where the memory of a stream lies."""
    found = []
    held = [stream]
    while held:
        thing = held.pop()
        if isinstance(thing, np.ndarray):
            found.append(thing.__array_interface__["data"][0])
        elif isinstance(thing, (tuple, list)):
            held.extend(thing)
        elif type(thing).__module__.startswith(("rollstat.streaming", "rollstat.statistics")):
            own = getattr(thing, "__dict__", {})
            held.extend(value for key, value in own.items() if key not in ("_out", "_results", "_stamps"))
    return sorted(found)


@pytest.mark.parametrize(("name", "sample"), [*FIRST, *AGGREGATES], ids=identity)
def test_windows_of_rows_never_move_in_memory(name, sample, rng):
    columns = columns_of(name, rng, 300)
    stream = make(name, sample, 40, min_periods=2)
    push_all(stream, [column[:3] for column in columns])
    before = addresses(stream)
    assert before
    push_all(stream, [column[3:] for column in columns])
    for rows in (30, 100):
        stream.extend(*(column[:rows] for column in columns))
    assert addresses(stream) == before


def test_two_threads_extend_their_own_streams(rng):
    values = rng.normal(size=(2, 6_000))
    classes = (rollstat.RollingMedian, rollstat.RollingVar, rollstat.RollingMin, rollstat.RollingMad)
    for cls in classes:
        together = threading.Barrier(2)
        streams, results = [cls(200), cls(200)], [None, None]

        def work(i, together=together, streams=streams, results=results):
            together.wait()
            results[i] = [streams[i].extend(part) for part in np.split(values[i], 8)]

        threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for i in range(2):
            alone = cls(200)
            for part, got in zip(np.split(values[i], 8), results[i]):
                np.testing.assert_array_equal(alone.extend(part), got)
            assert alone.push(1.0) == streams[i].push(1.0)
