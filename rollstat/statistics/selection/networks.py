"""Selection networks for many neighbouring windows at once: the comparisons that find given ranks.

A block of ``T`` consecutive windows of ``m`` values has a core, the ``m - T + 1`` values that lie in all of
them. A value of rank ``k`` in a window has rank ``k - T + 1`` to ``k`` in the core, so only those candidates
are kept, sorted. Each half of the block shares ``T / 2`` more values: they are merged in, and half of the
candidates are dropped. This repeats down to single windows, whose one candidate is the answer::

    values         a b c d e f g h i j k l             m = 9, T = 4: windows a-i, b-j, c-k, d-l
    core                [d e f g h i]                  ranks k-3 .. k of 6, for four windows
    halves          [b c d e f g h i]                  with b, c: ranks k-1 .. k of 8, for a-i and b-j
                        [d e f g h i j k]              with j, k: ranks k-1 .. k of 8, for c-k and d-l
    windows       [a b c d e f g h i]                  with one value each: rank k of 9
                    [b c d e f g h i j] ...

This takes O(log^2 m) comparisons a window (22 minima or maxima for the median of 25); a sorting network for
each window takes O(m log^2 m). It is the one-dimensional case of A. Adams, "Fast median filters using
separable sorting networks", ACM Transactions on Graphics 40(4), 2021, doi:10.1145/3450626.3459773, where a
block is called a tile. Sorted lists are merged with the odd-even and bitonic merges of K. E. Batcher,
"Sorting networks and their applications", 1968, doi:10.1145/1468075.1468121; only the comparisons on which a
wanted rank depends are kept.

The networks run over *lanes*, one block in each (:mod:`rollstat.kernels.selection.selection_network`). Value
``T * s + j`` of a block is value ``j`` of the block ``s`` lanes further on. So there are ``T`` rows of input,
and what two blocks share is computed once: a reference is a row together with a lane shift. Networks that are
compiled (:mod:`rollstat.compile.simd.register_networks`) have a row for every value that a block covers.

A box of several columns is a window of rows of an image. A lane is a column of outputs, a block is ``T``
rows of them, and a value with lane shift ``j`` belongs to the j-th column of the box. A run of rows is sorted
column by column, then sorted columns are merged in pairs, pairs of pairs and so on, each once for all boxes.
"""

from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from rollstat.compile.simd.register_networks import RegisterNetwork
from rollstat.kernels.selection.selection_network import EXCHANGE, MAXIMUM, MINIMUM, Network

_SHIFT = 32  # a reference is ``shift << 32 | value``
_VALUE = (1 << _SHIFT) - 1
_Pair = tuple[int, int]


class _Builder:
    """Collects comparisons, each distinct one (up to a lane shift) once."""

    def __init__(self, block: int, period: int, columns: int = 1) -> None:
        self.block = block
        self.period = period
        self.columns = columns
        self.operands: list[_Pair] = []
        self._known: dict[_Pair, int] = {}
        self._runs: dict[_Pair, list[int]] = {}

    def value(self, index: int) -> int:
        """Return the reference to value `index` of the block."""
        return index // self.period << _SHIFT | index % self.period

    def exchange(self, first: int, second: int) -> _Pair:
        """Return references to the lower and to the upper of two values."""
        shift = min(first, second) >> _SHIFT << _SHIFT
        if first < second:
            pair = first - shift, second - shift
        else:
            pair = second - shift, first - shift
        lower = self._known.get(pair)
        if lower is None:
            lower = self._known[pair] = self.period + 2 * len(self.operands)
            self.operands.append(pair)
        return lower + shift, lower + 1 + shift

    def merge(self, a: list[int], b: list[int], low: int, high: int) -> list[int]:
        """Return ranks `low` to `high` of the union of two sorted lists, by the odd-even merge."""
        if not a or not b:
            return (a or b)[low : high + 1]
        if len(a) == len(b) == 1:
            return list(self.exchange(a[0], b[0])[low : high + 1])
        # Rank 0 is even 0; ranks 2i - 1 and 2i are odd i - 1 and even i, in order. The last one may be alone.
        evens = (len(a) + 1) // 2 + (len(b) + 1) // 2
        odds = len(a) // 2 + len(b) // 2
        first, last = (low + 1) // 2, (high + 1) // 2
        even = self.merge(a[0::2], b[0::2], first, min(last, evens - 1))
        odd_first = max(first - 1, 0)
        odd = self.merge(a[1::2], b[1::2], odd_first, min(last - 1, odds - 1)) if last and odds else []
        ranks: list[int] = []
        for i in range(first, last + 1):
            pair = [odd[i - 1 - odd_first]] if 0 < i <= odds else []
            pair += [even[i - first]] if i < evens else []
            ranks += self.exchange(*pair) if len(pair) == 2 else pair
        skipped = 2 * first - 1 if first else 0
        return ranks[low - skipped : high + 1 - skipped]

    def middle(self, a: list[int], b: list[int], low: int, high: int) -> list[int]:
        """Return ranks `low` to `high` of the union of two sorted lists, by dropping the others first."""
        kept = high + 1 - low
        if kept & (kept - 1) or low > kept or not b or high >= len(a) + len(b):
            return self.merge(a, b, low, high)
        # The lowest ``high + 1`` values, as a bitonic list: every pair drops its upper value.
        rest = []
        for i in range(high + 1):
            pair = a[i : i + 1] + (b[high - i : high - i + 1])
            rest.append(self.exchange(*pair)[0] if len(pair) == 2 else pair[0])
        # The highest `kept` of these: the first `low` pairs drop their lower value.
        rest = [self.exchange(rest[i], rest[i + kept])[1] if i < low else rest[i] for i in range(kept)]
        return self.sort_bitonic(rest)

    def sort_bitonic(self, values: list[int]) -> list[int]:
        """Return a bitonic list, whose length is a power of two, sorted."""
        half = len(values) // 2
        if half == 0:
            return values
        pairs = [self.exchange(values[i], values[i + half]) for i in range(half)]
        return self.sort_bitonic([p[0] for p in pairs]) + self.sort_bitonic([p[1] for p in pairs])

    def run(self, start: int, length: int) -> list[int]:
        """Return values `start` to ``start + length - 1`` sorted; the length is a power of two."""
        if length == 1:
            return [self.value(start)]
        shift = start // self.period
        key = start - shift * self.period, length
        if key not in self._runs:
            half = length // 2
            halves = self.run(key[0], half), self.run(key[0] + half, half)
            self._runs[key] = self.merge(*halves, 0, length - 1)
        return _shifted(self._runs[key], shift)

    def across(self, column: list[int], low: int, high: int) -> list[int]:
        """Return ranks `low` to `high` of as many sorted columns side by side as a box has."""
        union: list[int] = []
        wide, width, place = column, 1, 0
        while 2 * width < self.columns:
            if self.columns & width:
                run = _shifted(wide, place)
                union = self.middle(run, union, 0, len(union) + len(run) - 1)
                place += width
            wide = self.merge(wide, _shifted(wide, width), 0, 2 * len(wide) - 1)
            width *= 2
        if 2 * width == self.columns:
            return self.middle(wide, _shifted(wide, width), low, high)
        return self.middle(_shifted(wide, place), union, low, high)

    def rows(self, start: int, length: int) -> list[int]:
        """Return all values of a power of two of rows of a box, sorted."""
        column = self.run(start, length)
        return self.across(column, 0, len(column) * self.columns - 1)

    def core(self, m: int, offset: int, block: int, low: int, high: int) -> list[int]:
        """Return ranks `low` to `high` of what windows `offset` to ``offset + block - 1`` share."""
        start, length = offset + block - 1, block
        lists = []
        while start < offset + m:
            while length > offset + m - start:
                length //= 2
            lists.append(self.run(start, length))
            start += length
        union: list[int] = []
        for i, run in enumerate(reversed(lists)):
            whole = 0, len(union) + len(run) - 1
            last = i == len(lists) - 1 and self.columns == 1
            union = self.middle(run, union, *((low, high) if last else whole))
        return union if self.columns == 1 else self.across(union, low, high)

    def windows(self, m: int, low: int, high: int) -> list[list[int]]:
        """Return ranks `low` to `high` of each window of a block, of `m` values or rows of a box."""
        found, columns = [], self.columns

        def divide(offset: int, block: int, candidates: list[int], first: int) -> None:
            """Find windows `offset` to ``offset + block - 1``; `first` is the rank of ``candidates[0]``."""
            if block == 1:
                found.append(candidates[low - first :])
                return
            half = block // 2
            seen = (m - half + 1) * columns
            needed = max(low - (half - 1) * columns, 0), min(high, seen - 1)
            for start, side in ((offset + half - 1, offset), (offset + m, offset + half)):
                run = self.rows(start, half)[: high + 1]
                ranks = self.middle(candidates, run, needed[0] - first, needed[1] - first)
                divide(side, half, ranks, needed[0])

        sharing = self.block
        while sharing > m + 1:
            sharing //= 2
        first, last = max(low - (sharing - 1) * columns, 0), min(high, (m - sharing + 1) * columns - 1)
        for offset in range(0, self.block, sharing):
            divide(offset, sharing, self.core(m, offset, sharing, first, last), first)
        return found


def _shifted(references: list[int], lanes: int) -> list[int]:
    """Return what lies so many lanes further on."""
    return [reference + (lanes << _SHIFT) for reference in references]


def _uses(operands: list[_Pair], block: int, results: Iterable[int]) -> tuple[list[int], list[int]]:
    """Return for every value its last use (-1: none), and how many lanes beyond the last one are read.

    Only comparisons on which a result depends count as uses.
    """
    last = [-1] * (block + 2 * len(operands))
    beyond = [0] * len(last)
    for reference in results:
        value = reference & _VALUE
        last[value] = len(operands)
        beyond[value] = max(beyond[value], reference >> _SHIFT)
    for i in range(len(operands) - 1, -1, -1):
        lower = block + 2 * i
        if last[lower] < 0 and last[lower + 1] < 0:
            continue
        lanes = beyond[lower] = beyond[lower + 1] = max(beyond[lower], beyond[lower + 1])
        for reference in operands[i]:
            value = reference & _VALUE
            last[value] = max(last[value], i)
            beyond[value] = max(beyond[value], lanes + (reference >> _SHIFT))
    return last, beyond


def _assemble(
    operands: list[_Pair], block: int, last: list[int], beyond: list[int]
) -> tuple[list[tuple[int, ...]], list[int], int]:
    """Return instructions over as few rows as possible, the row of every value, and the number of rows."""
    row = list(range(block)) + [-1] * (2 * len(operands))
    free: list[int] = []
    rows = block
    instructions: list[tuple[int, ...]] = []
    for i, (first, second) in enumerate(operands):
        lower = block + 2 * i
        kept = [value for value in (lower, lower + 1) if last[value] >= 0]
        if not kept:
            continue
        free += {row[r & _VALUE] for r in (first, second) if last[r & _VALUE] == i}
        for value in kept:
            if not free:
                free.append(rows)
                rows += 1
            row[value] = free.pop()
        operation = EXCHANGE if len(kept) == 2 else MINIMUM if kept[0] == lower else MAXIMUM
        target = max(row[lower], 0), max(row[lower + 1], 0)
        sources = row[first & _VALUE], first >> _SHIFT, row[second & _VALUE], second >> _SHIFT
        instructions.append((operation, beyond[lower], *target, *sources))
    return instructions, row, rows


def _build(
    m: int, ranges: Iterable[tuple[int, int]], block: int, period: int, columns: int = 1
) -> tuple[list[_Pair], list[list[int]], list[int], list[int]]:
    """Return comparisons, the references to the results, and what :func:`_uses` returns."""
    builder = _Builder(block, period, columns)
    found = []
    for low, high in ranges:
        windows = builder.windows(m, low, high)
        found += [[window[rank] for window in windows] for rank in range(high + 1 - low)]
    uses = _uses(builder.operands, period, [reference for rank in found for reference in rank])
    return builder.operands, found, *uses


@lru_cache(maxsize=64)
def selection_network(m: int, ranges: tuple[tuple[int, int], ...], block: int) -> Network:
    """Build the network that finds ranks of every window of `m` values.

    Parameters
    ----------
    m : int
        Number of values in a window.
    ranges : tuple of (int, int)
        First and last rank of each range of ranks to find, ``0 <= first <= last < m``.
    block : int
        Number of windows in a lane, a power of two; they share work as far as they overlap.

    Returns
    -------
    Network
        Its results are the ranks of all ranges, in order.
    """
    return _network(block, *_build(m, ranges, block, block))


@lru_cache(maxsize=64)
def box_network(m: int, columns: int, ranges: tuple[tuple[int, int], ...], block: int) -> Network:
    """Build the network that finds ranks of boxes of `m` rows and some `columns`.

    The parameters are those of :func:`selection_network`. A lane has a column of `block` boxes, and there is
    a row of input for each of the ``m + block - 1`` rows that they cover.
    """
    inputs = m + block - 1
    return _network(inputs, *_build(m, ranges, block, inputs, columns))


@lru_cache(maxsize=64)
def register_network(
    m: int,
    ranges: tuple[tuple[int, int], ...],
    outputs: tuple[tuple[int, int], ...],
    block: int,
    most: int,
    columns: int = 1,
) -> RegisterNetwork | None:
    """Build the network of :func:`box_network` to be compiled, where lanes share no comparison.

    Windows of a series are boxes of one column. `outputs` are those of :class:`RegisterNetwork`. Returns None
    if there are more than `most` comparisons.
    """
    rows = m + block - 1
    operands, found, _, _ = _build(m, ranges, block, rows, columns)
    lanes: dict[int, set[int]] = {}  # at which each value is needed
    for reference in chain.from_iterable(found):
        lanes.setdefault(reference & _VALUE, set()).add(reference >> _SHIFT)
    made = []
    for i in range(len(operands) - 1, -1, -1):
        pair = rows + 2 * i, rows + 2 * i + 1
        wanted = [lanes.get(value, set()) for value in pair]
        for lane in sorted(wanted[0] | wanted[1]):
            sources = [(r & _VALUE, (r >> _SHIFT) + lane) for r in operands[i]]
            made.append(([(v, lane) if lane in at else None for v, at in zip(pair, wanted)], sources))
            for value, at in sources:
                lanes.setdefault(value, set()).add(at)
    if len(made) > most:
        return None
    inputs = [(row, lane) for row in range(rows) for lane in sorted(lanes.get(row, ()))]
    number: dict[Any, int] = {None: -1, **{place: i for i, place in enumerate(inputs)}}
    comparisons = []
    for targets, sources in reversed(made):
        for target in targets:
            number.setdefault(target, len(number) - 1)
        comparisons.append(tuple(number[value] for value in (*targets, *sources)))
    results = tuple(tuple(number[r & _VALUE, r >> _SHIFT] for r in rank) for rank in found)
    return RegisterNetwork(block, tuple(inputs), tuple(comparisons), results, outputs)


def _network(
    inputs: int, operands: list[_Pair], found: list[list[int]], last: list[int], beyond: list[int]
) -> Network:
    """Return a network as instructions over rows, the first of which are its `inputs`."""
    instructions, row, rows = _assemble(operands, inputs, last, beyond)
    return Network(
        np.array(instructions, np.int32).reshape(-1, 8),
        np.array([[(row[r & _VALUE], r >> _SHIFT) for r in rank] for rank in found], np.int32),
        max(beyond[:inputs]),
        rows,
    )
