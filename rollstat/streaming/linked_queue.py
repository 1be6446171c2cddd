"""A queue of numbers in linked chunks, in which no number ever moves.

::

    [ . . 15 19 ]  ->  [ 22 24 24 31 ]  ->  [ 40 . . . ]
          oldest                              newest
"""

from collections import deque
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["LinkedQueue", "number_up_to"]

_CHUNK = 512


def number_up_to(numbers: NDArray[Any], limit: Any) -> int:
    """Return how many numbers, which never decrease, are at most `limit`; none if it is NaN."""
    return 0 if limit != limit else int(np.searchsorted(numbers, limit, side="right"))


class LinkedQueue:
    """Numbers in order of arrival; appending and dropping move none of them.

    Parameters
    ----------
    dtype : dtype
        Of the numbers.
    """

    __slots__ = ("_chunks", "_first", "_length", "dtype")

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        self._chunks: deque[NDArray[Any]] = deque()
        self._first = self._length = 0

    def copy(self) -> Self:
        """Return an equal queue with its own memory."""
        other = type(self)(self.dtype)
        other._chunks = deque(chunk.copy() for chunk in self._chunks)
        other._first, other._length = self._first, self._length
        return other

    def __len__(self) -> int:
        return self._length

    @property
    def numbers(self) -> NDArray[Any]:
        """A copy of all numbers, oldest first."""
        whole = np.concatenate([*self._chunks, np.empty(0, self.dtype)])
        return whole[self._first : self._first + self._length]

    @property
    def newest(self) -> Any:
        """The newest number of a queue that is not empty."""
        end = self._first + self._length - 1
        return self._chunks[-1][end % _CHUNK]

    def append(self, number: Any) -> None:
        """Add a number."""
        end = self._first + self._length
        if end == len(self._chunks) * _CHUNK:
            self._chunks.append(np.empty(_CHUNK, self.dtype))
        self._chunks[-1][end % _CHUNK] = number
        self._length += 1

    def drop(self, number: int) -> None:
        """Remove the oldest numbers, and the chunks that are empty then."""
        self._first += number
        self._length -= number
        while self._first >= _CHUNK:
            self._chunks.popleft()
            self._first -= _CHUNK

    def up_to(self, limit: Any) -> int:
        """Return how many of the numbers, which never decrease, are at most `limit`."""
        end = self._first + self._length
        for i, chunk in enumerate(self._chunks):
            first, last = self._first if i == 0 else 0, min(end - i * _CHUNK, _CHUNK)
            found = number_up_to(chunk[first:last], limit)
            if found < last - first:
                return i * _CHUNK + first + found - self._first
        return self._length

    def load(self, numbers: NDArray[Any]) -> None:
        """Replace all numbers."""
        self._first, self._length = 0, len(numbers)
        padded = np.zeros(-(-len(numbers) // _CHUNK) * _CHUNK, self.dtype)
        padded[: len(numbers)] = numbers
        self._chunks = deque(chunk.copy() for chunk in padded.reshape(-1, _CHUNK))
