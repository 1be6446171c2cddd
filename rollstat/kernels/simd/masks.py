"""Tests of eight to 64 rows at once, and the rows that pass them.

::

    values   3.1  0.2  7.5  1.0  9.9  0.4  2.2  8.8     from 1 to 5
    passes    1    0    0    1    0    0    1    0
    target   ... 40   43   46                            rows 40 to 47, appended in order

State: none. Invariant: rows are appended in ascending order, and what lies beyond the number returned is
scratch. Cost: a few instructions a vector; but without AVX-512, which has an instruction that closes ranks,
appending costs one store and one addition a row, without branches.

Source: the instruction is VPCOMPRESS of the Intel Architecture Instruction Set Extensions reference.
"""

import numpy as np
from llvmlite import ir
from numba import types

from rollstat.kernels.simd.vectors import compare, operation

__all__ = ["all_beside", "append_between", "append_events", "nan_among", "rows_within"]

_LANE = ir.IntType(32)


def _compresses(context):
    """Whether the machine that kernels are compiled for has the instruction."""
    return "+avx512f" in context.codegen().magic_tuple()[2].split(",")


def _everywhere(builder, shape, scalar):
    """The vector with a scalar in every lane."""
    undefined = ir.Constant(shape, ir.Undefined)
    first = builder.insert_element(undefined, scalar, _LANE(0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_LANE, shape.count), None))


def _load(context, builder, values, array, index, lanes):
    data = context.make_array(values)(context, builder, array).data
    shape = ir.VectorType(context.get_data_type(values.dtype), lanes)
    pointer = builder.bitcast(builder.gep(data, [index]), shape.as_pointer())
    return builder.load(pointer, align=values.dtype.bitwidth // 8)


def _append(context, builder, vector, mask, target, array, n):
    """Write the lanes of `vector` that `mask` marks to `array`, of type `target`, from `n` on."""
    data = context.make_array(target)(context, builder, array).data
    lanes, element = vector.type.count, vector.type.element
    if _compresses(context):
        name = f"llvm.x86.avx512.mask.compress.v{lanes}i{element.width}"
        shape = ir.FunctionType(vector.type, [vector.type, vector.type, mask.type])
        function = builder.module.globals.get(name) or ir.Function(builder.module, shape, name)
        kept = builder.call(function, [vector, vector, mask])
        pointer = builder.bitcast(builder.gep(data, [n]), vector.type.as_pointer())
        builder.store(kept, pointer, align=element.width // 8)
        return
    for lane in range(lanes):
        builder.store(builder.extract_element(vector, _LANE(lane)), builder.gep(data, [n]))
        marked = builder.extract_element(mask, _LANE(lane))
        n = builder.add(n, builder.zext(marked, n.type))


def _advance(builder, mask, n):
    """`n` and the number of lanes that `mask` marks."""
    bits = builder.bitcast(mask, ir.IntType(mask.type.count))
    return builder.add(n, builder.zext(builder.ctpop(bits), n.type))


def _rows_from(builder, index, shape):
    """The vector of consecutive rows from `index` on."""
    first = index if shape.element.width == index.type.width else builder.trunc(index, shape.element)
    ascending = ir.Constant(shape, list(range(shape.count)))
    return builder.add(_everywhere(builder, shape, first), ascending)


def _plain_append_between(values, i, lowest, highest, target, n):
    """Append to `target`, which holds `n` rows, those of ``values[i:i + 8]`` from `lowest` to `highest`.

    `target` is an array of uint64 with room for eight more; returns how many rows it holds then.
    """
    part = values[i : i + 8]
    kept = i + np.flatnonzero((lowest <= part) & (part <= highest))
    target[n : n + len(kept)] = kept
    return n + len(kept)


@operation(_plain_append_between)
def append_between(context, values, i, lowest, highest, target, n):
    if values.dtype.bitwidth != 64 or target.dtype != types.uint64:
        return None

    def generate(context, builder, signature, arguments):
        array, index, low, high, rows, count = arguments
        part = _load(context, builder, values, array, index, 8)
        low, high = (_everywhere(builder, part.type, bound) for bound in (low, high))
        mask = builder.and_(
            compare(builder, values.dtype, "<=", low, part), compare(builder, values.dtype, "<=", part, high)
        )
        found = _rows_from(builder, index, ir.VectorType(ir.IntType(64), 8))
        _append(context, builder, found, mask, target, rows, count)
        return _advance(builder, mask, count)

    number = types.int64
    return number(values, types.intp, values.dtype, values.dtype, target, number), generate


def _plain_append_events(leaving, entering, j, under, far, leaves, enters, rows, n):
    """Append the rows among ``j, ..., j + 15`` that change sides, or enter between `under` and `far`.

    The sides are below `under`, from `far` on, and between. Appends what leaves, what enters and the row to
    three arrays of uint32 that hold `n` each and have room for 16 more; returns how many they hold then.
    """
    leave, enter = leaving[j : j + 16], entering[j : j + 16]
    low, high = enter < under, enter >= far
    kept = np.flatnonzero((low != (leave < under)) | (high != (leave >= far)) | (low == high))
    for target, part in ((leaves, leave[kept]), (enters, enter[kept]), (rows, j + kept)):
        target[n : n + len(kept)] = part
    return n + len(kept)


@operation(_plain_append_events)
def append_events(context, leaving, entering, j, under, far, leaves, enters, rows, n):
    code = types.uint32
    if any(array.dtype != code for array in (leaving, entering, leaves, enters, rows)):
        return None

    def generate(context, builder, signature, arguments):
        index, count = arguments[2], arguments[8]
        leave = _load(context, builder, leaving, arguments[0], index, 16)
        enter = _load(context, builder, entering, arguments[1], index, 16)
        low, high = (_everywhere(builder, leave.type, bound) for bound in arguments[3:5])
        under, over = builder.icmp_unsigned("<", enter, low), builder.icmp_unsigned(">=", enter, high)
        was_under, was_over = builder.icmp_unsigned("<", leave, low), builder.icmp_unsigned(">=", leave, high)
        mask = builder.or_(builder.xor(under, was_under), builder.xor(over, was_over))
        mask = builder.or_(mask, builder.not_(builder.or_(under, over)))
        found = _rows_from(builder, index, leave.type)
        kept = zip((leave, enter, found), (leaves, enters, rows), arguments[5:8])
        for vector, target, array in kept:
            _append(context, builder, vector, mask, target, array, count)
        return _advance(builder, mask, count)

    arrays = (leaving, entering, types.intp, code, code, leaves, enters, rows)
    return types.int64(*arrays, types.int64), generate


def _plain_all_beside(leaving, entering, j, lowest, highest):
    """Whether each row from `j` to ``j + 15`` leaves and enters below `lowest`, or both above `highest`."""
    leave, enter = leaving[j : j + 16], entering[j : j + 16]
    below, above = (leave < lowest) & (enter < lowest), (leave > highest) & (enter > highest)
    return bool((below | above).all())


@operation(_plain_all_beside)
def all_beside(context, leaving, entering, j, lowest, highest):
    code = types.uint32
    if leaving.dtype != code or entering.dtype != code:
        return None

    def generate(context, builder, signature, arguments):
        index = arguments[2]
        leave = _load(context, builder, leaving, arguments[0], index, 16)
        enter = _load(context, builder, entering, arguments[1], index, 16)
        low, high = (_everywhere(builder, leave.type, bound) for bound in arguments[3:])
        masks = []
        for comparison, bound in (("<", low), (">", high)):
            both = (builder.icmp_unsigned(comparison, codes, bound) for codes in (leave, enter))
            masks.append(builder.and_(*both))
        bits = builder.bitcast(builder.or_(*masks), ir.IntType(16))
        return builder.icmp_unsigned("==", bits, ir.IntType(16)(0xFFFF))

    return types.boolean(leaving, entering, types.intp, code, code), generate


def _plain_rows_within(rows, i, first, width):
    """Bits of the 64 from ``rows[i]`` on that lie in ``[first, first + width)``, the lowest for `i`."""
    inside = (rows[i : i + 64] - first).astype(np.uint32) < width
    return np.packbits(inside, bitorder="little").view(np.uint64)[0]


@operation(_plain_rows_within)
def rows_within(context, rows, i, first, width):
    if rows.dtype != types.uint32:
        return None

    def generate(context, builder, signature, arguments):
        part = _load(context, builder, rows, arguments[0], arguments[1], 64)
        low, size = (_everywhere(builder, part.type, bound) for bound in arguments[2:])
        inside = builder.icmp_unsigned("<", builder.sub(part, low), size)
        return builder.bitcast(inside, ir.IntType(64))

    return types.uint64(rows, types.intp, types.uint32, types.uint32), generate


def _plain_nan_among(values, i):
    """Bits of the 64 from ``values[i]`` on that are NaN, the lowest for `i`."""
    part = values[i : i + 64]
    return np.packbits(part != part, bitorder="little").view(np.uint64)[0]


@operation(_plain_nan_among)
def nan_among(context, values, i):
    def generate(context, builder, signature, arguments):
        if not isinstance(values.dtype, types.Float):
            return context.get_constant(types.uint64, 0)
        part = _load(context, builder, values, arguments[0], arguments[1], 64)
        return builder.bitcast(builder.fcmp_unordered("uno", part, part), ir.IntType(64))

    return types.uint64(values, types.intp), generate
