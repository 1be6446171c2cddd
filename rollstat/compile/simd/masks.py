"""Tests of 8 to 64 rows at once, and the rows that pass them.

::

    values   3.1  0.2  7.5  1.0  9.9  0.4  2.2  8.8     between 1 and 5?
    mask      1    0    0    1    0    0    1    0
    target   ... 40   43   46                            rows of values[40:48], appended in order

State: none. Invariant: rows are appended in ascending order; array elements beyond the returned length are
scratch. Cost: a few instructions per vector. AVX-512 has an instruction that packs the marked lanes
together; without it, appending costs one store and one addition per row, without branches.

Source: VPCOMPRESS in the Intel Architecture Instruction Set Extensions reference.
"""

import numpy as np
from llvmlite import ir
from numba import types

from rollstat.compile.lowering import lowered
from rollstat.compile.simd.codegen import (
    compare,
    compressed,
    has_avx512,
    load_lanes,
    permuted,
    splat,
    store_lanes,
)

_LANE = ir.IntType(32)
_BYTE = ir.IntType(8)


def _append(context, builder, vector, mask, target, array, n):
    """Write the lanes of `vector` that `mask` marks to `array`, of type `target`, from `n` on."""
    data = context.make_array(target)(context, builder, array).data
    lanes, element = vector.type.count, vector.type.element
    if has_avx512(context):
        packed = compressed(builder, vector, mask)
        pointer = builder.bitcast(builder.gep(data, [n]), vector.type.as_pointer())
        builder.store(packed, pointer, align=element.width // 8)
        return
    # Each lane is stored; the next one overwrites it unless it is marked.
    for lane in range(lanes):
        builder.store(builder.extract_element(vector, _LANE(lane)), builder.gep(data, [n]))
        marked = builder.extract_element(mask, _LANE(lane))
        n = builder.add(n, builder.zext(marked, n.type))


def _advance(builder, mask, n):
    """Return `n` plus the number of lanes that `mask` marks."""
    bits = builder.bitcast(mask, ir.IntType(mask.type.count))
    return builder.add(n, builder.zext(builder.ctpop(bits), n.type))


def _rows_from(builder, index, vector_type):
    """Return the LLVM vector of the rows from `index` on."""
    element = vector_type.element
    first = index if element.width == index.type.width else builder.trunc(index, element)
    ascending = ir.Constant(vector_type, list(range(vector_type.count)))
    return builder.add(splat(builder, first, vector_type), ascending)


def append_between(values, i, lowest, highest, target, n):
    """Append the rows of ``values[i:i + 8]`` that lie in ``[lowest, highest]`` to `target`.

    `target` is a uint64 array that holds `n` rows and has room for eight more. Return the new number.
    """
    eight = values[i : i + 8]
    rows = i + np.flatnonzero((lowest <= eight) & (eight <= highest))
    target[n : n + len(rows)] = rows
    return n + len(rows)


@lowered(append_between)
def _append_between(values, i, lowest, highest, target, n):
    if values.dtype.bitwidth != 64 or target.dtype != types.uint64:
        return None

    def generate(context, builder, signature, arguments):
        array, index, low, high, rows, count = arguments
        eight = load_lanes(context, builder, values, array, index, 8)
        low, high = (splat(builder, bound, eight.type) for bound in (low, high))
        above = compare(builder, values.dtype, "<=", low, eight)
        mask = builder.and_(above, compare(builder, values.dtype, "<=", eight, high))
        found = _rows_from(builder, index, ir.VectorType(ir.IntType(64), 8))
        _append(context, builder, found, mask, target, rows, count)
        return _advance(builder, mask, count)

    number = types.int64
    return number(values, types.intp, values.dtype, values.dtype, target, number), generate


def append_active(leaving, entering, j, low, high, leaves, enters, marks, n):
    """Mark the active rows among ``j, ..., j + 15``, and append their codes.

    A row is active unless its leaving and entering codes both are less than `low` or both are at least
    `high`. `marks` receives 1 for active rows and 0 for others, at their places, and two uint32 arrays that
    hold `n` codes each, and have room for 16 more, the leaving and the entering codes. Return the new number.
    """
    leave, enter = leaving[j : j + 16], entering[j : j + 16]
    below, above = (leave < low) & (enter < low), (leave >= high) & (enter >= high)
    active = ~(below | above)
    marks[j : j + 16] = active
    for target, codes in ((leaves, leave), (enters, enter)):
        target[n : n + np.count_nonzero(active)] = codes[active]
    return n + np.count_nonzero(active)


@lowered(append_active)
def _append_active(leaving, entering, j, low, high, leaves, enters, marks, n):
    code = types.uint32
    if (
        any(array.dtype != code for array in (leaving, entering, leaves, enters))
        or marks.dtype != types.uint8
    ):
        return None

    def generate(context, builder, signature, arguments):
        index, marked, count = arguments[2], *arguments[7:]
        leave = load_lanes(context, builder, leaving, arguments[0], index, 16)
        enter = load_lanes(context, builder, entering, arguments[1], index, 16)
        low, high = (splat(builder, bound, leave.type) for bound in arguments[3:5])
        below = builder.and_(*(builder.icmp_unsigned("<", codes, low) for codes in (leave, enter)))
        above = builder.and_(*(builder.icmp_unsigned(">=", codes, high) for codes in (leave, enter)))
        mask = builder.not_(builder.or_(below, above))
        store_lanes(context, builder, [builder.zext(mask, ir.VectorType(_BYTE, 16))], marks, marked, index)
        for vector, target, array in zip((leave, enter), (leaves, enters), arguments[5:7]):
            _append(context, builder, vector, mask, target, array, count)
        return _advance(builder, mask, count)

    number = types.int64
    signature = number(leaving, entering, types.intp, code, code, leaves, enters, marks, number)
    return signature, generate


def copy_by_marks(found, e, marks, result, i):
    """Write ``found[e + marks up to k]`` to ``result[k]`` for k from `i` to ``i + 7``; return the last index.

    `marks` are of uint8, 0 or 1. `found` has room for eight elements behind index e + 1.
    """
    places = e + np.cumsum(marks[i : i + 8], dtype=np.int64)
    result[i : i + 8] = found[places]
    return places[-1]


@lowered(copy_by_marks)
def _copy_by_marks(found, e, marks, result, i):
    word, eight = ir.IntType(64), ir.VectorType(ir.IntType(64), 8)

    def pick(context, builder, array, e, sums):
        """Return the eight elements; with AVX-512 from one vector, which begins at the first of them."""
        if not has_avx512(context):
            data, picked = context.make_array(found)(context, builder, array).data, ir.Constant(eight, None)
            for lane in range(8):
                further = builder.and_(builder.lshr(sums, word(8 * lane)), word(255))
                element = builder.load(builder.gep(data, [builder.add(e, further)]))
                picked = builder.insert_element(picked, builder.bitcast(element, word), _LANE(lane))
            return picked
        first = builder.and_(sums, word(1))
        elements = load_lanes(context, builder, found, array, builder.add(e, first), 8)
        places = builder.zext(builder.bitcast(sums, ir.VectorType(_BYTE, 8)), eight)
        return permuted(
            builder, builder.bitcast(elements, eight), builder.sub(places, splat(builder, first, eight))
        )

    def generate(context, builder, signature, arguments):
        array, e, marked, written, i = arguments
        ones = builder.bitcast(load_lanes(context, builder, marks, marked, i, 8), word)
        # Multiplying by 1 in every byte makes each byte the sum of the bytes up to it.
        sums = builder.mul(ones, word(0x0101010101010101))
        lanes = pick(context, builder, array, e, sums)
        lanes = builder.bitcast(lanes, ir.VectorType(context.get_data_type(result.dtype), 8))
        store_lanes(context, builder, [lanes], result, written, i)
        return builder.add(e, builder.lshr(sums, word(56)))

    if marks.dtype == types.uint8 and found.dtype == result.dtype and found.dtype.bitwidth == 64:
        return types.int64(found, types.int64, marks, result, types.int64), generate


def within_bits(rows, i, first, width):
    """Return 64 bits: bit k is set where ``rows[i + k]`` lies in ``[first, first + width)``."""
    inside = (rows[i : i + 64] - first).astype(rows.dtype) < width
    return np.packbits(inside, bitorder="little").view(np.uint64)[0]


@lowered(within_bits)
def _within_bits(rows, i, first, width):
    number = rows.dtype
    if not isinstance(number, types.Integer) or number.signed:
        return None

    def generate(context, builder, signature, arguments):
        block = load_lanes(context, builder, rows, arguments[0], arguments[1], 64)
        low, size = (splat(builder, bound, block.type) for bound in arguments[2:])
        inside = builder.icmp_unsigned("<", builder.sub(block, low), size)
        return builder.bitcast(inside, ir.IntType(64))

    return types.uint64(rows, types.intp, number, number), generate


def nan_bits(values, i):
    """Return 64 bits: bit k is set where ``values[i + k]`` is NaN."""
    block = values[i : i + 64]
    return np.packbits(block != block, bitorder="little").view(np.uint64)[0]


@lowered(nan_bits)
def _nan_bits(values, i):
    def generate(context, builder, signature, arguments):
        if not isinstance(values.dtype, types.Float):
            return context.get_constant(types.uint64, 0)
        block = load_lanes(context, builder, values, arguments[0], arguments[1], 64)
        return builder.bitcast(builder.fcmp_unordered("uno", block, block), ir.IntType(64))

    return types.uint64(values, types.intp), generate


def rows_above(leaving, entering, excess):
    """Return 64 bits: bit i is set if `excess` is positive after the changes of the bits below i.

    A set bit of `entering` adds 1 to the excess, one of `leaving` subtracts 1.
    """
    bits = np.array([entering, leaving], np.uint64).view(np.uint8)
    entered, left = np.unpackbits(bits, bitorder="little").reshape(2, 64).astype(np.int64)
    before = excess + np.concatenate(([0], np.cumsum(entered - left)[:-1]))
    return np.packbits(before > 0, bitorder="little").view(np.uint64)[0]


def _sums_up_to(builder, lanes):
    """Return the sum of each of 64 bytes and all bytes before it."""
    word, eight = ir.IntType(64), ir.VectorType(ir.IntType(64), 8)
    for step in (8, 16, 32):
        shifted = builder.shl(builder.bitcast(lanes, eight), splat(builder, word(step), eight))
        lanes = builder.add(lanes, builder.bitcast(shifted, lanes.type))
    zeros = ir.Constant(lanes.type, None)
    for step in (8, 16, 32):  # add the last byte of the word so many bytes before
        source = [64 if i < step else i - step | 7 for i in range(64)]
        picked = ir.Constant(ir.VectorType(_LANE, 64), source)
        lanes = builder.add(lanes, builder.shuffle_vector(lanes, zeros, picked))
    return lanes


@lowered(rows_above)
def _rows_above(leaving, entering, excess):
    def generate(context, builder, signature, arguments):
        word, byte = ir.IntType(64), ir.VectorType(_BYTE, 64)
        mask = ir.VectorType(ir.IntType(1), 64)
        left, entered = (builder.zext(builder.bitcast(bits, mask), byte) for bits in arguments[:2])
        after = _sums_up_to(builder, builder.sub(entered, left))
        # An excess of more than 64 has the same effect as one of 65: it fits in a byte.
        low, high = word(-65), word(65)
        excess = builder.select(builder.icmp_signed("<", arguments[2], low), low, arguments[2])
        excess = builder.select(builder.icmp_signed(">", excess, high), high, excess)
        limit = splat(builder, builder.trunc(builder.neg(excess), ir.IntType(8)), byte)
        above = builder.bitcast(builder.icmp_signed(">", after, limit), word)
        first = builder.zext(builder.icmp_signed(">", excess, word(0)), word)
        return builder.or_(builder.shl(above, word(1)), first)

    if leaving == entering == types.uint64 and excess == types.int64:
        return types.uint64(leaving, entering, excess), generate
    return None
