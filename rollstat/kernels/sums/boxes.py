"""Sums and moments along one axis of an image or a volume, edges extended by rule.

::

    width 5 = 1 + 4      powers   x0 x1 x2 ...    x0+x1  x1+x2 ...    x0+...+x3  x1+...+x4 ...
                         totals   x0 x1 x2 ...                        + (x1+...+x4)  + (x2+...+x5) ...

Runs of 1, 2, 4, ... elements are combined from one another, and into the totals where the width has that bit.
A group of columns is copied to scratch memory, row after row, so that along any axis, vectors of one array
are combined with vectors of the same array a number of rows later.

State: scratch memory for powers and totals: one channel for sums, or three for count, mean and squared
deviations. The three are merged pairwise. Invariant: ``powers[:, p]`` describes `span` elements from p on,
``totals[:, p]`` describes `taken` ones, ``taken < span``, and both are parts of the width. Cost: at most
2 log2 m combinations of vectors for each vector of results. Nothing is subtracted; an element takes part in
at most 2 log2 m combinations. Source: the binary method, Knuth, The Art of Computer Programming 2, 4.6.3;
Chan, Golub and LeVeque (1983), doi:10.1080/00031305.1983.10483115, for moments.
"""

from rollstat.compile.jit import kernel
from rollstat.compile.simd.vectors import broadcast, lanes_of, load, store

_LEAST = 1e-300


@kernel
def _combine(values, first, target, length):
    """Combine `target` and the newer ``values[:, first:]``; there is room for a vector after `length`."""
    lanes = lanes_of(target)
    if len(target) == 1:
        sums, total = values[0], target[0]
        for i in range(0, length, lanes):
            store(load(total, i) + load(sums, first + i), total, i)
        return
    counts, means, squares = values[0], values[1], values[2]
    count, mean, square = target[0], target[1], target[2]
    for i in range(0, length, lanes):
        old, new = load(count, i), load(counts, first + i)
        both, distance = old + new, load(means, first + i) - load(mean, i)
        share = new / (both + broadcast(_LEAST))  # 0 of nothing
        store(both, count, i)
        store(load(mean, i) + distance * share, mean, i)
        more = distance * distance * old * share
        store(load(square, i) + load(squares, first + i) + more, square, i)


@kernel
def _copy(values, first, target, place, length):
    for channel in range(len(values)):
        read = values[channel, first : first + length]
        written = target[channel, place : place + length]
        for j in range(len(read)):
            written[j] = read[j]


@kernel
def _fill(constants, target, place, length):
    for channel in range(len(target)):
        target[channel, place : place + length] = constants[channel]


@kernel
def combined_along(values, across, before, source, constants, width, columns, rows, scratch, out):
    """Write the combination of `width` rows of the extended axis to every row of `out`.

    `values` and `out` are different arrays of float64: channels, laid flat, with rows of `across` elements.
    ``source[p]`` is the row at index p of the extended axis, -1 for the constants; `before` constants precede
    the first row. At most `columns` columns and `rows` rows of results are made at once, in `scratch`: powers
    and totals with room for ``(rows + width) * columns`` elements of each channel, and a vector.
    """
    powers, totals, length = scratch[0], scratch[1], len(source) - width + 1
    for corner in range(0, out.shape[1], length * across):
        for left in range(0, across, columns):
            wide, place = min(columns, across - left), corner + left
            for first in range(0, length, rows):
                high = min(rows, length - first)
                reach = high + width - 1
                begin = end = 0
                if wide == across:  # rows within the axis lie side by side
                    begin, end = max(before - first, 0), max(min(before + length - first, reach), 0)
                    row = first + begin - before
                    _copy(values, place + row * across, powers, begin * wide, (end - begin) * wide)
                for part in range(2):
                    for p in range(end * part, reach if part else begin):
                        row = source[first + p]
                        if row < 0:
                            _fill(constants, powers, p * wide, wide)
                        else:
                            _copy(values, place + row * across, powers, p * wide, wide)
                for channel in range(len(totals)):
                    totals[channel, : high * wide] = 0.0
                taken, span = 0, 1
                while True:
                    if width & span:
                        _combine(powers, taken * wide, totals, high * wide)
                        taken += span
                    if taken == width:
                        break
                    reach -= span
                    _combine(powers, span * wide, powers, reach * wide)
                    span *= 2
                side_by_side = wide if wide < across else high * wide
                for i in range(0, high * wide, side_by_side):
                    _copy(totals, i, out, place + first * across + i // wide * across, side_by_side)
