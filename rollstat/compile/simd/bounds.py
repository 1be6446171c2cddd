"""Vectors of the bounds of eight windows.

::

    start                        4  4  5  7  7  7  8  9
    load_at(older, start, i, 0)  older[4] older[4] older[5] ...     one element for each window
    add_if_less(counts, time, edges)                                counts of times before each window

State: none. Cost: a load of the bound and one of the element per lane, faster than the instruction that
gathers elements; two instructions for the comparison of one time with eight windows.
"""

import numpy as np
from llvmlite import ir
from numba import types

from rollstat.compile.lowering import lowered
from rollstat.compile.simd.codegen import (
    Vector,
    all_lanes,
    compare,
    join_channels,
    load_lanes,
    pointers,
    splat,
)

LANES = 8
_COUNTS = Vector(types.int64)
_FLOATS = Vector(types.float64)


def load_at(values, bound, i, offset, model):
    """Return a vector with as many channels as `model`, an element for each of the bounds ``i, ..., i + 7``.

    Lane j of channel k is ``values[k, bound[i + j] + offset]``.
    """
    return values[:, bound[i : i + LANES] + offset].reshape(model.shape)


@lowered(load_at)
def _load_at(values, bound, i, offset, model):
    if values.dtype != types.float64 or bound.dtype != types.int64:
        return None

    def generate(context, builder, signature, arguments):
        array, bounds, first, shift, _ = arguments
        lanes = [ir.Constant(ir.VectorType(ir.DoubleType(), LANES), ir.Undefined)] * model.channels
        for j in range(LANES):
            at = builder.add(first, first.type(j))
            (place,) = pointers(context, builder, bound, bounds, at, 1)
            place = builder.bitcast(place, ir.IntType(64).as_pointer())
            column = builder.add(builder.load(place), shift)
            for k, element in enumerate(pointers(context, builder, values, array, column, 1, model.channels)):
                element = builder.bitcast(element, ir.DoubleType().as_pointer())
                lanes[k] = builder.insert_element(lanes[k], builder.load(element), ir.IntType(32)(j))
        return join_channels(builder, lanes)

    return model(values, bound, types.int64, types.int64, model), generate


def rows_between(start, end, i):
    """Return the numbers of rows of the windows ``i, ..., i + 7`` as float64."""
    return (end[i : i + LANES] - start[i : i + LANES]).astype(np.float64)


@lowered(rows_between)
def _rows_between(start, end, i):
    if start.dtype != types.int64 or end.dtype != types.int64:
        return None

    def generate(context, builder, signature, arguments):
        first = load_lanes(context, builder, start, arguments[0], arguments[2], LANES)
        last = load_lanes(context, builder, end, arguments[1], arguments[2], LANES)
        return builder.sitofp(builder.sub(last, first), ir.VectorType(ir.DoubleType(), LANES))

    return _FLOATS(start, end, types.int64), generate


def are_consecutive(bound, i):
    """Return whether each of the bounds ``i, ..., i + 7`` is the one before plus 1."""
    return bool((bound[i : i + LANES] == bound[i] + np.arange(LANES)).all())


@lowered(are_consecutive)
def _are_consecutive(bound, i):
    if bound.dtype != types.int64:
        return None

    def generate(context, builder, signature, arguments):
        lanes = load_lanes(context, builder, bound, arguments[0], arguments[1], LANES)
        first = splat(builder, builder.extract_element(lanes, ir.IntType(32)(0)), lanes.type)
        expected = builder.add(first, ir.Constant(lanes.type, list(range(LANES))))
        return all_lanes(builder, builder.icmp_signed("==", lanes, expected))

    return types.boolean(bound, types.int64), generate


def add_if_less(counts, time, edges):
    """Return `counts` plus 1 in each lane whose edge is greater than `time`."""
    return counts + (time < edges)


@lowered(add_if_less)
def _add_if_less(counts, time, edges):
    if counts != _COUNTS or edges != Vector(time):
        return None

    def generate(context, builder, signature, arguments):
        before = compare(builder, time, "<", splat(builder, arguments[1], arguments[2].type), arguments[2])
        return builder.sub(arguments[0], builder.sext(before, arguments[0].type))

    return counts(counts, time, edges), generate
