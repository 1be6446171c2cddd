"""What every stream is: a window that can be copied, pickled and written as bytes.

::

    stream ---> snapshot() ---> bytes ---> restore ---> an equal stream, in another process or release
"""

from collections.abc import Mapping
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from rollstat.snapshots import SnapshotError, read

__all__ = ["CLASSES", "Core", "Stream", "restore"]

CLASSES: dict[str, type["Stream"]] = {}

Rows = tuple[NDArray[Any], NDArray[np.bool_]]


class Core(Protocol):
    """A window of words in arrays."""

    rows: int
    count: int
    pushed: int

    def push(self, word: Any, missing: bool) -> None:
        """Take in a row; a full window of a fixed number of rows lets go of its oldest."""

    def pop(self, number: int) -> None:
        """Let go of the oldest rows."""

    def contents(self) -> Rows:
        """Words and missing marks of the rows, oldest first."""

    def load(self, words: NDArray[Any], missing: NDArray[np.bool_], pushed: int) -> None:
        """Hold these rows, the last of `pushed`, instead."""

    def copy(self) -> Self:
        """An equal core of its own memory."""


class Stream:
    """A window over a stream: what every class of streams has."""

    def __init_subclass__(cls, abstract: bool = False) -> None:
        super().__init_subclass__()
        if not (abstract or cls.__name__.startswith("_")):
            CLASSES[cls.__name__] = cls

    def snapshot(self) -> bytes:
        """Return the state as bytes that :func:`rollstat.restore` reads, in this release and later ones."""
        raise NotImplementedError  # every class that is not abstract has its own

    @classmethod
    def _from_snapshot(cls, parameters: Mapping[str, Any], arrays: list[NDArray[Any]]) -> Any:
        raise NotImplementedError  # every class that is not abstract has its own

    @classmethod
    def restore(cls, data: bytes) -> Self:
        """Return the stream that a snapshot of this class holds.

        Raises
        ------
        SnapshotError
            If the bytes are foreign, truncated, damaged, of a newer release or of another class.
        """
        stream = restore(data)
        if type(stream) is not cls:
            raise SnapshotError(f"the snapshot is of a {type(stream).__name__}, not of a {cls.__name__}")
        return stream

    def copy(self) -> Self:
        """Return an equal stream that goes its own way."""
        raise NotImplementedError  # every class that is not abstract has its own

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    def __reduce__(self) -> Any:
        return restore, (self.snapshot(),)


def restore(data: bytes) -> Any:
    """Return the stream that a snapshot holds.

    Parameters
    ----------
    data : bytes
        From the method ``snapshot`` of a stream, of this release or an older one.

    Returns
    -------
    stream
        Of the class that the snapshot was taken of; it goes on exactly as the other would have.

    Raises
    ------
    SnapshotError
        If the bytes are foreign, truncated, damaged or of a newer release.

    Examples
    --------
    >>> import rollstat
    >>> stream = rollstat.RollingMedian(3, min_periods=1)
    >>> stream.push(4.0)
    4.0
    >>> rollstat.restore(stream.snapshot()).push(2.0)
    3.0
    """
    name, parameters, arrays = read(data)
    if name not in CLASSES:
        raise SnapshotError(f"the snapshot is of a {name}, which this release does not have")
    try:
        return CLASSES[name]._from_snapshot(parameters, arrays)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise SnapshotError(f"the snapshot does not hold the state of a {name}: {error}") from error
