"""Aggregates of Python objects, whose operator may raise: strings, so that order and every element show."""

from typing import Any

import numpy as np
import pytest

import rollstat
from tests.fuzz.draws import draw_window


class Failure(Exception):
    """What the operator raises."""


class Joining:
    """Concatenation of strings, which raises after some calls."""

    def __init__(self) -> None:
        self.left = -1

    def __call__(self, older: str, newer: str) -> str:
        self.left -= 1
        if self.left == 0:
            raise Failure
        return older + newer


def fuzz(rng: np.random.Generator, note: dict[str, Any]) -> int:
    """Compare one array or one stream; return the answers compared."""
    n = int(rng.choice([1, 6, 40]))
    words = [None if rng.random() < 0.2 else chr(97 + i % 26) for i in range(n)]
    least = int(rng.integers(0, 3))
    note.update(words=words, least=least)
    areas = (_array, _rows, _times, _free, _greedy)
    return areas[rng.integers(len(areas))](rng, words, least, note)


def _joined(words: list[str | None], start: int, end: int, least: int) -> str | None:
    seen = [word for word in words[start:end] if word is not None]
    return "".join(seen) if len(seen) >= max(least, 1) else None


def _array(rng: np.random.Generator, words: list[Any], least: int, note: dict[str, Any]) -> int:
    drawn = draw_window(rng, len(words))
    least = min(least, drawn.most)
    note.update(window=drawn.window, options=drawn.options)
    given = np.array([*words, None], object)[:-1]
    found = rollstat.rolling_aggregate(given, Joining(), drawn.window, min_periods=least, **drawn.options)
    assert found.tolist() == [_joined(words, start, end, least) for _, start, end in drawn.rows]
    return len(found)


class Repeating:
    """A stream whose operator may raise: the call is then made again, on a copy if the stream has stopped."""

    def __init__(self, rng: np.random.Generator, operator: Joining, stream: Any) -> None:
        self.rng, self.operator, self.stream = rng, operator, stream

    def call(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Return the result of a method, or the value of a property."""
        before = self.stream.copy()
        self.operator.left = int(self.rng.integers(1, 8)) if self.rng.random() < 0.3 else -1
        try:
            return self._result(name, arguments, options)
        except Failure:
            self.operator.left = -1
            unchanged = name == "push" and isinstance(self.stream, rollstat.GreedyAggregate)
            if name != "value" and not unchanged:
                with pytest.raises(RuntimeError, match="must not be used"):
                    _ = self.stream.value
                self.stream = before
            return self._result(name, arguments, options)

    def _result(self, name: str, arguments: Any, options: Any) -> Any:
        found = getattr(self.stream, name)
        return found(*arguments, **options) if callable(found) else found


def _stream(
    stream: Repeating,
    words: list[Any],
    least: int,
    first: Any,
    times: Any,
) -> int:
    """Push and extend at random; the window of row i begins at ``first(i)``."""
    end = 0
    while end < len(words):
        count = int(stream.rng.choice([1, 1, 2, 5, 30]))
        part = words[end : end + count]
        if count == 1:
            given = () if times is None else (times[end],)
            answers = [stream.call("push", part[0], *given)]
        else:
            options = {} if times is None else {"times": times[end : end + len(part)]}
            answers = list(stream.call("extend", part, **options))
        rows = range(end, end + len(part))
        assert answers == [_joined(words, first(i), i + 1, least) for i in rows], (rows, answers)
        end += len(part)
        assert stream.call("value") == answers[-1]
    return end


def _rows(rng: np.random.Generator, words: list[Any], least: int, note: dict[str, Any]) -> int:
    m = note["window"] = int(rng.choice([1, 2, 3, 9]))
    least, operator = min(least, m), Joining()
    stream = rollstat.FixedAggregate(operator, m, min_periods=least, dtype=object)
    return _stream(Repeating(rng, operator, stream), words, least, lambda i: max(i + 1 - m, 0), None)


def _times(rng: np.random.Generator, words: list[Any], least: int, note: dict[str, Any]) -> int:
    span = note["window"] = int(rng.choice([1, 3, 9]))
    times = note["times"] = np.sort(rng.integers(0, 2 * len(words), len(words))).tolist()
    operator = Joining()
    stream = rollstat.TimeAggregate(operator, span, min_periods=least, dtype=object)

    def first(i: int) -> int:
        return int(np.searchsorted(times, times[i] - span, "right"))

    return _stream(Repeating(rng, operator, stream), words, least, first, times)


def _free(rng: np.random.Generator, words: list[Any], least: int, note: dict[str, Any]) -> int:
    operator, start = Joining(), 0
    stream = Repeating(rng, operator, rollstat.SlidingAggregate(operator, min_periods=least, dtype=object))
    for i, word in enumerate(words):
        answer = stream.call("push", word)
        assert answer == _joined(words, start, i + 1, least), (i, start, answer)
        if rng.random() < 0.5:
            count = int(rng.integers(0, i + 2 - start))
            answer = stream.call("pop", count)
            start += count
            assert answer == _joined(words, start, i + 1, least), (i, start, answer)
    return len(words)


def _greedy(rng: np.random.Generator, words: list[Any], least: int, note: dict[str, Any]) -> int:
    operator = Joining()
    stream = Repeating(rng, operator, rollstat.GreedyAggregate(operator, min_periods=least, dtype=object))
    start = end = rows = compared = 0
    moves = note["moves"] = []
    while rows < len(words):
        count = int(rng.integers(1, 8))
        stream.call("extend", words[rows : rows + count])
        rows = min(rows + count, len(words))
        for _ in range(int(rng.integers(0, 4))):
            end = int(rng.integers(end, rows + 1))
            start = int(rng.integers(start, end + 1))
            moves.append((rows, start, end))
            answer = stream.call("move", start, end)
            assert answer == _joined(words, start, end, least), (moves, answer)
            compared += 1
    return compared
