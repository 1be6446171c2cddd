"""Tampered snapshots with a right checksum: each raises a clear error, or gives a stream that works.

Calls run in a process of their own, with limits on time and memory, because damaged indices could make
compiled code crash, never return or allocate without end. That process prints the number of each call before
it makes the call.
"""

import faulthandler
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import rollstat
from rollstat import operators
from rollstat.registry import REGISTRY
from rollstat.snapshots import SnapshotError, read, write
from rollstat.streaming import STREAMS
from tests.streaming.cases import make, samples

SECONDS, BYTES = 60, 2**34
CALLS = 40
_INTEGERS = [-1, 0, 1, 2, 3, 8, 64, 2**31, 2**40, 2**62, 2**63 - 1, -(2**63), 10**30]
_LEAVES = [*_INTEGERS, 0.5, -1.0, float("nan"), float("inf"), "", "x", "f4", "O", None, True, [], [1, 2], {}]
_DTYPES = ["f8", "f4", "i8", "i4", "u8", "u1", "?", "M8[ns]", "S3", "V5", "i8,f8"]
_AGGREGATES = {
    "SlidingAggregate": lambda operator, **o: rollstat.SlidingAggregate(operator, **o),
    "FixedAggregate": lambda operator, **o: rollstat.FixedAggregate(operator, 5, **o),
    "TimeAggregate": lambda operator, **o: rollstat.TimeAggregate(operator, 4.0, **o),
    "GreedyAggregate": lambda operator, **o: rollstat.GreedyAggregate(operator, **o),
}

NAMES = [*_AGGREGATES, *STREAMS]
OPERATORS = [operators.Sum, operators.Maximum, operators.Variance]
DTYPES = ["f8", "f8", "i8"]


def fuzz(rng: np.random.Generator, note: dict[str, Any]) -> int:
    """Make some calls in another process; return how many."""
    note["seed"] = seed = int(rng.integers(2**31))
    run(seed, CALLS)
    return CALLS


def run(seed: int, calls: int, names: Sequence[str] = NAMES, before: str = "") -> str:
    """Make calls in another process after the code `before`; raise if one fails; return what is printed."""
    code = f"{before}\nfrom tests.fuzz import snapshots\nsnapshots.work({seed}, 0, {calls}, {list(names)})"
    made = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=10 * SECONDS,
        check=False,
    )
    last = made.stdout.split()[-1:]
    assert last == ["done"], f"call {last} of seed {seed}: {made.stderr[-4000:]}"
    return made.stdout


def work(seed: int, first: int, last: int, names: Sequence[str] = NAMES) -> None:
    """Make calls in this process."""
    if sys.platform == "linux":  # other systems do not limit memory like this; Windows lacks the module
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    warnings.simplefilter("ignore")
    for number in range(first, last):
        print(number, flush=True)
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        call(np.random.default_rng([seed, number]), names)
        faulthandler.cancel_dump_traceback_later()
    print("done", flush=True)


def call(rng: np.random.Generator, names: Sequence[str]) -> None:
    """Tamper with the snapshot of a stream of one of the classes, and use the stream that it gives."""
    stream, dtype = _stream(rng, str(rng.choice(names)))
    name, parameters, arrays = read(stream.snapshot())
    for _ in range(int(rng.integers(1, 3))):
        name, parameters, arrays = _mutated(rng, name, parameters, arrays)
    try:
        data = write(name, parameters, arrays)
    except (SnapshotError, TypeError, ValueError):
        return  # these cannot be written
    try:
        restored = rollstat.restore(data)
    except SnapshotError:
        return
    _use(rng, restored, dtype)


def _stream(rng: np.random.Generator, name: str) -> tuple[Any, Any]:
    """Return a stream with some rows, and the dtype of its elements."""
    dtype = np.dtype(rng.choice(DTYPES))
    rows = int(rng.choice([0, 3, 20, 90]))
    if name in _AGGREGATES:
        operator = rng.choice(OPERATORS)()
        timed = name == "GreedyAggregate" and rng.random() < 0.5
        stream = _AGGREGATES[name](operator, dtype=dtype, **({"times": float} if timed else {}))
    else:
        sample = samples(name)[0]
        window = (5, 4.0, rollstat.Expanding(), None)[rng.integers(4)]
        if dtype.kind not in REGISTRY[name].kinds:
            dtype = np.dtype("f8")
        stream = make(name, sample, window, dtype=dtype)
    for i in range(rows):
        _push(rng, stream, float(i), dtype)
    if isinstance(stream, rollstat.GreedyAggregate) and rows:
        stream.move(rows // 4, rows // 2)
        stream.move(rows // 3, rows // 2)
    return stream, dtype


def _push(rng: np.random.Generator, stream: Any, time: float, dtype: Any) -> None:
    window = stream._window
    row = [None if rng.random() < 0.2 else dtype.type(rng.integers(9)).item() for _ in range(window.columns)]
    timed = window.spec is not None and window.spec.timed
    if timed and window.spec.kind == "time":
        time = np.datetime64(int(time), "s")
    stream.push(*row, *([time] if timed else []))


def _use(rng: np.random.Generator, stream: Any, dtype: Any) -> None:
    """Do all that can be done with a stream; only errors for bad arguments are raised."""
    columns, n = stream._window.columns, 30
    actions = [
        lambda: stream.value,
        lambda: repr(stream),
        lambda: rollstat.restore(stream.snapshot()),
        *([lambda i=i: _push(rng, stream, 1000.0 + i, dtype) for i in range(n)]),
        lambda: stream.extend(*[rng.integers(0, 9, n).astype(dtype)] * columns),
        lambda: stream.extend(*[rng.integers(0, 9, n).astype(dtype)] * columns, times=2000.0 + np.arange(n)),
        lambda: stream.move(stream.rows - 3, stream.rows),
        lambda: stream.move(1000.0, 1010.0),
        lambda: stream.pop(len(stream) // 2),
        lambda: len(stream),
        lambda: stream.copy(),
        lambda: stream.snapshot(),
        lambda: stream.reset(),
    ]
    for action in actions:
        try:
            action()
        except (AttributeError, OverflowError, TypeError, ValueError) as error:
            if isinstance(error, (SnapshotError, AttributeError)) and "'move'" not in str(error):
                if "'pop'" not in str(error):
                    raise


def _mutated(rng: np.random.Generator, name: str, parameters: Any, arrays: list[Any]) -> Any:
    """Return a snapshot with one change."""
    kind = rng.choice(["class", "parameter", "value", "value", "value", "array", "dtype", "number"])
    arrays = list(arrays)
    i = int(rng.integers(len(arrays)))
    if kind == "class":
        name = str(rng.choice([*_AGGREGATES, *(cls.__name__ for cls in STREAMS.values()), "Other", ""]))
    elif kind == "parameter":
        parameters = _mutated_value(rng, parameters)
    elif kind == "value":
        arrays[i] = _with_values(rng, arrays[i])
    elif kind == "array":
        n = len(arrays[i])
        arrays[i] = [
            lambda a: a[: n // 2],
            lambda a: a[1:],
            lambda a: np.concatenate([a, a]),
            lambda a: np.concatenate([a, a[:1]]),
            lambda a: a[None],
            lambda a: a[:0],
            lambda a: a[::-1],
        ][rng.integers(7)](arrays[i])
    elif kind == "dtype":
        arrays[i] = np.zeros(arrays[i].shape, str(rng.choice(_DTYPES)))
    elif rng.random() < 0.5:
        del arrays[i]
    else:
        arrays.insert(i, arrays[int(rng.integers(len(arrays)))])
    return name, parameters, arrays or [np.zeros(0)]


def _mutated_value(rng: np.random.Generator, value: Any) -> Any:
    """Return a value of JSON in which one leaf has changed, or is missing."""
    if isinstance(value, dict) and value:
        key = str(rng.choice(list(value)))
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return value | {key: _mutated_value(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.9:
        i = int(rng.integers(len(value)))
        return [*value[:i], _mutated_value(rng, value[i]), *value[i + 1 :]]
    return _LEAVES[rng.integers(len(_LEAVES))]


def _with_values(rng: np.random.Generator, array: Any) -> Any:
    """Return an array in which some values have changed."""
    array = array.copy()
    if not array.size:
        return array
    flat = array.reshape(-1)
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(len(flat)))
        if flat.dtype.kind in "iu":
            near = int(flat[place]) + int(rng.integers(-3, 4))
            value = near if rng.random() < 0.5 else _INTEGERS[rng.integers(len(_INTEGERS))]
            limits = np.iinfo(flat.dtype)
            flat[place] = min(max(value, limits.min), limits.max)
        elif flat.dtype.kind == "f":
            flat[place] = rng.choice([np.nan, np.inf, -np.inf, -0.0, 5e-324, 1e308, 0.5])
        else:
            raw = flat.view(np.uint8)
            raw[rng.integers(len(raw))] = rng.integers(256)
    return array
