"""A selection network as machine code of its own: all its comparisons in one loop, most values in registers.

::

    values   0 1 2 3 4 5 6 7 8 9 ...        block T = 4, two lanes      row 0   0 4        row 4   4  8
             `-----' `-----'                                            row 1   1 5        row 5   5  9
             lane 0  lane 1                                             row 2   2 6        ...
                                                                        row 3   3 7

A group is a vector of blocks of T windows. Its rows are made by shuffles of consecutive vectors, and rows
from T on by shifts of lanes of these; the comparisons of the network are straight code; the results are
shuffled back. What one block shares with the next is compared again. That costs little where T is about half
of the window or more.

For boxes over an image, each lane has T boxes below one another. The values of a box in the lanes of a vector
are consecutive, so all rows are loaded as they are.

State: the T rows of the next group, needed in any case. Invariant: the loop reads one group ahead.
Cost: the comparisons of the network, and about ``2 log2(T) + m / T`` shuffles, for each vector of results.
2,800 comparisons take three seconds to compile.
"""

from hashlib import sha256

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import NativeValue, models, register_model, unbox

from rollstat.compile.lowering import constant, lowered
from rollstat.compile.simd.codegen import VECTOR_BYTES, any_lane, compare, load_lanes, splat, store_lanes

# Kinds of output: a result, or a point between a result and the next one.
AT_RANK, LINEAR, MIDPOINT = range(3)


class _NetworkType(types.Type):
    """Numba's type of one network; all that its code depends on is in the type."""

    def __init__(self, *parts):
        self.block, self.inputs, self.comparisons, self.results, self.outputs = parts
        super().__init__(name=f"RegisterNetwork({sha256(repr(parts).encode()).hexdigest()})")


register_model(_NetworkType)(models.OpaqueModel)


@unbox(_NetworkType)
def _unbox(type_, network, compiler):
    return NativeValue(compiler.context.get_dummy_value())


class RegisterNetwork:
    """A selection network, for which kernels that take it are compiled.

    Parameters
    ----------
    block : int
        Windows of a block, a power of two.
    inputs : tuple of (int, int)
        Row and column of each value among those that the windows of a block cover, or the boxes of a block,
        one below another. A series has one column.
    comparisons : tuple of (int, int, int, int)
        Number of the lower and of the upper value that is made, -1 for one that is not needed, and the
        numbers of the two that are compared. The inputs have the numbers from 0 on.
    results : tuple of tuple of int
        The number of the value at each rank, for each window of a block.
    outputs : tuple of (int, int)
        Number of a result, and the kind: ``AT_RANK`` for the result itself, ``LINEAR`` or ``MIDPOINT`` for a
        point between it and the next result.
    """

    def __init__(self, block, inputs, comparisons, results, outputs):
        self._numba_type_ = _NetworkType(block, inputs, comparisons, results, outputs)
        self.name = self._numba_type_.name
        self._block = block

    def group_rows(self, dtype):
        """Return the windows of a group, for values of `dtype`."""
        return self._block * VECTOR_BYTES // np.dtype(dtype).itemsize


def group_rows(network, values):
    """Return the windows of a group, a constant of the compiled code."""
    return network.group_rows(values.dtype)


@lowered(group_rows)
def _group_rows(network, values):
    rows = network.block * VECTOR_BYTES * 8 // values.dtype.bitwidth
    return constant(types.intp(network, values), rows)


def select_groups(network, values, start, groups, fractions, out, place, step):
    """Write the outputs of the windows of some groups that begin at `start`.

    The values of one more group are read. Each output is written to `out`, of one dimension, from `place` on,
    and `step` elements further on for each next one. ``fractions`` says where ``LINEAR`` ones lie. Return
    whether no value is NaN, and every point between two results finite.
    """
    known, group = network._numba_type_, network.group_rows(values.dtype)
    rows = groups * group
    read = values[start : start + rows + group]
    made = {j: read[j : j + rows : known.block] for j in range(len(known.inputs))}
    for lower, upper, first, second in known.comparisons:
        made[lower], made[upper] = (f(made[first], made[second]) for f in (np.minimum, np.maximum))
    good = not (read != read).any()
    for i, (which, kind) in enumerate(known.outputs):
        for j in range(known.block):
            point = made[known.results[which][j]]
            if kind != AT_RANK:
                below, above = (made[known.results[k][j]].astype(float) for k in (which, which + 1))
                with np.errstate(over="ignore", invalid="ignore"):
                    linear = below + (above - below) * fractions[i]
                    point = (below + above) * 0.5 if kind == MIDPOINT else linear
                good &= bool(np.isfinite(point).all())
            out[place + i * step :][j : rows : known.block] = point
    return good


def select_boxes(network, rows, stride, start, out, place, below, step):
    """Write the results of the boxes whose first columns are the columns of a vector.

    Parameters
    ----------
    network : RegisterNetwork
        With results for outputs only.
    rows : ndarray of one dimension
        The rows that a block covers, `stride` elements apart.
    start : int
        First of the columns.
    out : ndarray of the dtype of the rows, of one dimension
        Receives the results of the first boxes from `place` on, the results of the next boxes of a block
        `below` elements further on, and the next output `step` elements further on.
    """
    known, lanes = network._numba_type_, VECTOR_BYTES // rows.itemsize
    begins = [row * stride + start + column for row, column in known.inputs]
    made = {j: rows[begin : begin + lanes] for j, begin in enumerate(begins)}
    for lower, upper, first, second in known.comparisons:
        made[lower], made[upper] = (f(made[first], made[second]) for f in (np.minimum, np.maximum))
    for i, (which, _) in enumerate(known.outputs):
        for j, value in enumerate(known.results[which]):
            out[place + i * step + j * below :][:lanes] = made[value]


@lowered(select_boxes)
def _select_boxes(network, rows, stride, start, out, place, below, step):
    lanes = VECTOR_BYTES * 8 // rows.dtype.bitwidth
    if out.dtype != rows.dtype:
        return None

    def generate(context, builder, signature, arguments):
        array, stride, start, target, place, below, step = arguments[1:]
        word = start.type

        class Made(dict):
            """Values by number; an input is loaded where it is first used."""

            def __missing__(self, number):
                row, column = network.inputs[number]
                begin = builder.add(builder.mul(stride, word(row)), builder.add(start, word(column)))
                self[number] = load_lanes(context, builder, rows, array, begin, lanes)
                return self[number]

        made = Made()
        _compare_all(builder, rows.dtype, network.comparisons, made)
        for i, (which, _) in enumerate(network.outputs):
            for j, value in enumerate(network.results[which]):
                begin = builder.add(place, builder.mul(step, word(i)))
                begin = builder.add(begin, builder.mul(below, word(j)))
                store_lanes(context, builder, [made[value]], out, target, begin)
        return context.get_dummy_value()

    word = types.intp
    return types.void(network, rows, word, word, out, word, word, word), generate


def _shuffle(builder, first, second, lanes):
    picked = ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes)
    return builder.shuffle_vector(first, second, picked)


def _rows_of(builder, vectors):
    """Return rows of consecutive vectors: row j has the values ``j, j + n, j + 2 n, ...`` of n vectors."""
    if len(vectors) == 1:
        return vectors
    halves, lanes = [], 2 * vectors[0].type.count
    for odd in (0, 1):
        pairs = zip(vectors[::2], vectors[1::2])
        half = [_shuffle(builder, *pair, list(range(odd, lanes, 2))) for pair in pairs]
        halves.append(_rows_of(builder, half))
    return [row for pair in zip(*halves) for row in pair]


def _vectors_of(builder, rows):
    """Return the consecutive vectors from which :func:`_rows_of` makes `rows`."""
    if len(rows) == 1:
        return rows
    vectors, lanes = [], rows[0].type.count
    for even, odd in zip(_vectors_of(builder, rows[::2]), _vectors_of(builder, rows[1::2])):
        for first in (0, lanes // 2):
            order = [lane for i in range(first, first + lanes // 2) for lane in (i, lanes + i)]
            vectors.append(_shuffle(builder, even, odd, order))
    return vectors


def _columns(block, lanes):
    """Return lists of the first values of vectors that are shuffled together, relative to their group."""
    if block <= lanes:
        return [[j * lanes for j in range(block)]]
    return [[lane * block + column for lane in range(lanes)] for column in range(0, block, lanes)]


def _compare_all(builder, dtype, comparisons, values):
    """Make all values of a network from its inputs."""
    for lower, upper, first, second in comparisons:
        one, two = values[first], values[second]
        if lower >= 0:
            values[lower] = builder.select(compare(builder, dtype, "<", one, two), one, two)
        if upper >= 0:
            values[upper] = builder.select(compare(builder, dtype, ">", two, one), two, one)


def _as_floats(builder, dtype, vector, element):
    """Return a vector of `dtype` as floats of the LLVM type `element`."""
    wide = ir.VectorType(element, vector.type.count)
    if vector.type == wide:
        return vector
    if isinstance(dtype, types.Float):
        return (builder.fpext if element == ir.DoubleType() else builder.fptrunc)(vector, wide)
    return (builder.sitofp if dtype.signed else builder.uitofp)(vector, wide)


def _blend(builder, dtype, below, above, kind, fraction):
    """Return points between two vectors, as float64."""
    below, above = (_as_floats(builder, dtype, vector, ir.DoubleType()) for vector in (below, above))
    if kind == MIDPOINT:
        return builder.fmul(builder.fadd(below, above), ir.Constant(below.type, [0.5] * below.type.count))
    gap = builder.fsub(above, below)
    return builder.fadd(below, builder.fmul(gap, splat(builder, fraction, below.type)))


@lowered(select_groups)
def _select_groups(network, values, start, groups, fractions, out, place, step):
    dtype, block = values.dtype, network.block
    lanes = VECTOR_BYTES * 8 // dtype.bitwidth
    if not all(kind == AT_RANK for _, kind in network.outputs) or out.dtype != dtype:
        if not isinstance(out.dtype, types.Float):
            return None

    def generate(context, builder, signature, arguments):
        array, first, count, shares, target, place, step = arguments[1:]
        word = first.type
        columns = _columns(block, lanes)
        bad = cgutils.alloca_once_value(builder, ir.IntType(1)(0))

        def reject_nan(vectors):
            found = None
            for one, two in zip(vectors[::2], vectors[1::2] or vectors):
                nan = builder.fcmp_unordered("uno", one, two)
                found = nan if found is None else builder.or_(found, nan)
            builder.store(builder.or_(builder.load(bad), any_lane(builder, found)), bad)

        def load_rows(group):
            begin = builder.add(first, builder.mul(group, word(block * lanes)))
            rows = []
            for column in columns:
                where = [builder.add(begin, word(offset)) for offset in column]
                vectors = [load_lanes(context, builder, values, array, i, lanes) for i in where]
                rows += _rows_of(builder, vectors)
            if isinstance(dtype, types.Float):
                reject_nan(rows)
            return rows

        def output(made, which, kind, share):
            """Return one output for each window of a block."""
            points, of = [made[value] for value in network.results[which]], dtype
            if kind != AT_RANK:
                above, of = [made[value] for value in network.results[which + 1]], types.float64
                points = [_blend(builder, dtype, *pair, kind, share) for pair in zip(points, above)]
                if isinstance(dtype, types.Float):
                    reject_nan([builder.fsub(point, point) for point in points])
            if out.dtype == of:
                return points
            element = context.get_data_type(out.dtype)
            return [_as_floats(builder, of, point, element) for point in points]

        data = context.make_array(fractions)(context, builder, shares).data
        between = [builder.load(builder.gep(data, [word(i)])) for i in range(len(network.outputs))]
        ahead = [cgutils.alloca_once_value(builder, row) for row in load_rows(word(0))]
        with cgutils.for_range(builder, count, intp=word) as loop:
            rows = [builder.load(row) for row in ahead]
            following = load_rows(builder.add(loop.index, word(1)))
            for row, pointer in zip(following, ahead):
                builder.store(row, pointer)
            made = {}
            for j in range(len(network.inputs)):
                shift, row = divmod(j, block)
                made[j] = rows[row]
                if shift:
                    picked = list(range(shift, shift + lanes))
                    made[j] = _shuffle(builder, rows[row], following[row], picked)
            _compare_all(builder, dtype, network.comparisons, made)
            for i, (which, kind) in enumerate(network.outputs):
                begin = builder.add(place, builder.mul(loop.index, word(block * lanes)))
                begin = builder.add(begin, builder.mul(step, word(i)))
                points = output(made, which, kind, between[i])
                for k, column in enumerate(columns):
                    part = points[k * len(column) : (k + 1) * len(column)]
                    for offset, vector in zip(column, _vectors_of(builder, part)):
                        at = builder.add(begin, word(offset))
                        store_lanes(context, builder, [vector], out, target, at)
        return builder.not_(builder.load(bad))

    shape = network, values, types.intp, types.intp, fractions, out, types.intp, types.intp
    return types.boolean(*shape), generate
