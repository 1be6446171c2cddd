"""Machine vectors in kernels: 64 bytes of consecutive elements as one value.

::

    load(values, i)                        values[i], ..., values[i + lanes - 1]
    shift_in_previous(before, after, 2)    before[-2:] followed by after[:-2]
    shift_in_next(before, after, 2)        before[2:] followed by after[:2]
    stack_channels((x, x * x))             one value of two channels

Numba vectorises loops over slices only: it cannot keep a vector in a variable from one iteration to the
next, or shift elements between neighbouring vectors. Kernels that need this use the type `Vector`. LLVM
splits the 64 bytes into as many registers as the machine needs: one with AVX-512, two with AVX2, four with
SSE2 and NEON.

A vector can have several *channels* of 64 bytes each, to which arithmetic and shifts apply alike: the sums of
x and of x**2, for example. Arrays must be contiguous. Indices are checked with ``NUMBA_BOUNDSCHECK``
only, as everywhere in Numba. With ``NUMBA_DISABLE_JIT`` a vector is an array of shape (lanes,), or of shape
(channels, lanes), and all functions do the same.

State: none. Invariant: a channel has 64 bytes, whatever its dtype. Cost: one or two instructions per
register.
"""

import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from rollstat.compile.lowering import constant, lowered
from rollstat.compile.simd.codegen import (
    VECTOR_BYTES,
    Vector,
    any_lane,
    compare,
    compressed,
    elementwise,
    has_avx512,
    join_channels,
    load_lanes,
    splat,
    split_channels,
    store_lanes,
)


def lanes_in(dtype):
    """Return the number of elements of `dtype` in one vector; not for kernels."""
    return VECTOR_BYTES // np.dtype(dtype).itemsize


def aligned_empty(length, dtype):
    """Return an uninitialised array whose address is a multiple of the length of a vector."""
    room = np.empty(length + lanes_in(dtype), dtype)
    first = -room.ctypes.data % VECTOR_BYTES // room.itemsize
    return room[first : first + length]


def _is_contiguous(array, dimensions):
    return isinstance(array, types.Array) and array.layout == "C" and array.ndim == dimensions


# Loads and stores.


def lanes_of(values):
    """Return the number of elements of `values` in one vector, a constant of the compiled code."""
    return VECTOR_BYTES // values.itemsize


@lowered(lanes_of)
def _lanes_of(values):
    return constant(types.intp(values), VECTOR_BYTES * 8 // values.dtype.bitwidth)


def _check(values, i, lanes):
    if not 0 <= i <= len(values) - lanes:
        raise IndexError(f"vector at {i} of an array of {len(values)}")


def load(values, i):
    """Return the vector ``values[i : i + lanes]``."""
    _check(values, i, lanes_of(values))
    return values[i : i + lanes_of(values)].copy()


def load_like(values, i, model):
    """Return a vector with as many channels as `model`, from where :func:`store` wrote it."""
    _check(values, i, model.size)
    return values[i : i + model.size].reshape(model.shape).copy()


def load_2d(values, i, model):
    """Return a vector with as many channels as `model`: channel k is ``values[k, i : i + lanes]``."""
    return values[:, i : i + model.shape[-1]].reshape(model.shape).copy()


def _generate_load(context, builder, signature, arguments):
    vector, values = signature.return_type, signature.args[0]
    return load_lanes(context, builder, values, *arguments[:2], vector.lanes, vector.channels)


def _compile_load(function, dimensions):
    """Compile a function that loads from arrays of this many dimensions."""

    @lowered(function)
    def _load(values, i, *models):
        vector = models[0] if models else Vector(values.dtype)
        if _is_contiguous(values, dimensions) and values.dtype == vector.dtype:
            return vector(values, types.intp, *models), _generate_load


_compile_load(load, 1)
_compile_load(load_like, 1)
_compile_load(load_2d, 2)


def store(vector, values, i):
    """Write the channels of `vector`, one after the other, to `values` from `i` on."""
    _check(values, i, vector.size)
    values[i : i + vector.size] = vector.ravel()


def store_2d(vector, values, i):
    """Write channel k of `vector` to ``values[k, i : i + lanes]``, for every k."""
    values[:, i : i + vector.shape[-1]] = vector


def _compile_store(function, dimensions):
    """Compile a function that stores to arrays of this many dimensions."""

    @lowered(function)
    def _store(vector, values, i):
        def generate(context, builder, signature, arguments):
            value, array, index = arguments
            store_lanes(context, builder, split_channels(builder, value, vector), values, array, index)
            return context.get_dummy_value()

        if _is_contiguous(values, dimensions) and values.dtype == vector.dtype:
            return types.void(vector, values, types.intp), generate


_compile_store(store, 1)
_compile_store(store_2d, 2)


def store_bits(vector, shift, values, i):
    """Write the lanes of `vector`, read as integers, plus `shift` to the int64 `values` from `i` on."""
    values[i : i + len(vector)] = vector.view(f"i{vector.itemsize}") + np.int64(shift)


@lowered(store_bits)
def _store_bits(vector, shift, values, i):
    if not _is_contiguous(values, 1) or values.dtype != types.int64:
        return None

    def generate(context, builder, signature, arguments):
        bits = builder.bitcast(arguments[0], _integers(vector, vector.dtype.bitwidth))
        wide = _integers(vector, 64)
        wide_bits = bits if bits.type == wide else builder.sext(bits, wide)
        shifted = builder.add(wide_bits, splat(builder, arguments[1], wide))
        store_lanes(context, builder, [shifted], values, *arguments[2:])
        return context.get_dummy_value()

    return types.void(vector, types.int64, values, types.intp), generate


def _integers(vector, width):
    """Return the LLVM type of as many integers of `width` bits as `vector` has lanes."""
    return ir.VectorType(ir.IntType(width), vector.lanes)


def count_in_bits(vector, start):
    """Return a vector like `vector` whose lanes, read as integers, are ``start, start + 1, ...``."""
    return np.arange(start, start + len(vector), dtype=f"i{vector.itemsize}").view(vector.dtype)


@lowered(count_in_bits)
def _count_in_bits(vector, start):
    def generate(context, builder, signature, arguments):
        integers = _integers(vector, vector.dtype.bitwidth)
        first = arguments[1]
        if first.type != integers.element:
            first = builder.trunc(first, integers.element)
        lanes = ir.Constant(integers, list(range(vector.lanes)))
        return builder.bitcast(builder.add(splat(builder, first, integers), lanes), arguments[0].type)

    return vector(vector, types.int64), generate


def unaligned(values):
    """Number of elements of `values` before the first that stands at a multiple of a vector's length."""
    return -values.ctypes.data % VECTOR_BYTES // values.itemsize


@lowered(unaligned)
def _unaligned(values):
    size = values.dtype.bitwidth // 8

    def generate(context, builder, signature, arguments):
        data = context.make_array(values)(context, builder, arguments[0]).data
        word = context.get_value_type(types.intp)
        behind = builder.neg(builder.ptrtoint(data, word))
        return builder.udiv(builder.and_(behind, word(VECTOR_BYTES - 1)), word(size))

    return types.intp(values), generate


# Vectors from scalars and scalars from vectors.


def broadcast(value):
    """Return the vector with the scalar `value` in every lane."""
    value = np.asarray(value)
    return np.full(VECTOR_BYTES // value.itemsize, value)


@lowered(broadcast)
def _broadcast(value):
    vector = Vector(value)

    def generate(context, builder, signature, arguments):
        return splat(builder, arguments[0], context.get_value_type(vector))

    return vector(value), generate


def zeros_like(vector):
    """Return zeros of the dtype and number of channels of `vector`."""
    return np.zeros(vector.shape, vector.dtype)


elementwise(zeros_like, lambda builder, dtype, channel: ir.Constant(channel.type, None), 1)


def broadcast_lane(vector, lane):
    """Return the vector with one lane of `vector`, in every channel, in all lanes; `lane` is 0 or -1."""
    return np.broadcast_to(vector[..., lane, None], vector.shape).copy()


@lowered(broadcast_lane)
def _broadcast_lane(vector, lane):
    if isinstance(lane, types.IntegerLiteral):
        picked = [lane.literal_value % vector.lanes] * vector.lanes

        def generate(context, builder, signature, arguments):
            channels = split_channels(builder, arguments[0], vector)
            return join_channels(builder, [_shuffle(builder, each, each, picked) for each in channels])

        return vector(vector, lane), generate


def first_lane(vector):
    """Return the scalar in the first lane."""
    return vector[0]


@lowered(first_lane)
def _first_lane(vector):
    def generate(context, builder, signature, arguments):
        return builder.extract_element(arguments[0], ir.IntType(32)(0))

    return vector.dtype(vector), generate


# Channels.


def stack_channels(vectors):
    """Return a vector whose channels are the tuple `vectors`; the tuple itself if it holds scalars."""
    return np.stack(vectors) if np.ndim(vectors[0]) else vectors


@lowered(stack_channels)
def _stack_channels(vectors):
    if not isinstance(vectors, types.UniTuple):
        return None
    if not isinstance(vectors.dtype, Vector):
        return vectors(vectors), lambda context, builder, signature, arguments: arguments[0]

    def generate(context, builder, signature, arguments):
        return join_channels(builder, cgutils.unpack_tuple(builder, arguments[0], len(vectors)))

    return Vector(vectors.dtype.dtype, len(vectors))(vectors), generate


def channels_of(vector):
    """Return the channels of `vector` as a tuple."""
    return tuple(vector)


@lowered(channels_of)
def _channels_of(vector):
    if not isinstance(vector, Vector):
        return None
    channels = types.UniTuple(Vector(vector.dtype), vector.channels)

    def generate(context, builder, signature, arguments):
        return context.make_tuple(builder, channels, split_channels(builder, arguments[0], vector))

    return channels(vector), generate


# Arithmetic and shifts, channel by channel.


def _arithmetic(function, float_instruction, integer_instruction):
    def generate(builder, dtype, first, second):
        name = float_instruction if isinstance(dtype, types.Float) else integer_instruction
        return getattr(builder, name)(first, second)

    elementwise(function, generate, 2)


_arithmetic(operator.add, "fadd", "add")
_arithmetic(operator.sub, "fsub", "sub")
_arithmetic(operator.mul, "fmul", "mul")
elementwise(operator.truediv, lambda builder, dtype, first, second: builder.fdiv(first, second), 2)


def _shuffle(builder, first, second, picked):
    """Return the lanes `picked` from two vectors laid end to end."""
    return builder.shuffle_vector(
        first, second, ir.Constant(ir.VectorType(ir.IntType(32), len(picked)), picked)
    )


def shift_in_previous(before, after, count):
    """Return the last `count` lanes of `before` and then the first lanes of `after`.

    `count` is a literal; if it is at least the number of lanes, the result is `before`.
    """
    first = max(before.shape[-1] - count, 0)
    return np.concatenate([before[..., first:], after[..., :first]], axis=-1)


def shift_in_next(before, after, count):
    """Return the lanes of `before` from `count` on and then the first `count` lanes of `after`.

    `count` is a literal; if it is at least the number of lanes, the result is `after`.
    """
    return np.concatenate([before[..., count:], after[..., : min(count, after.shape[-1])]], axis=-1)


def _shifting(first_of):
    """Return what :func:`lowered` needs for a shift whose first lane is ``first_of(lanes, count)``."""

    def resolve(before, after, count):
        if not isinstance(count, types.IntegerLiteral) or before != after:
            return None
        first = first_of(before.lanes, count.literal_value)
        picked = list(range(first, first + before.lanes))

        def generate(context, builder, signature, arguments):
            pairs = zip(*(split_channels(builder, argument, before) for argument in arguments[:2]))
            return join_channels(builder, [_shuffle(builder, *pair, picked) for pair in pairs])

        return before(before, after, count), generate

    return resolve


lowered(shift_in_previous)(_shifting(lambda lanes, count: max(lanes - count, 0)))
lowered(shift_in_next)(_shifting(lambda lanes, count: min(count, lanes)))


def shift_in_zeros(vector, count):
    """Return `count` zeros, a literal, and then the first lanes of `vector`."""
    return shift_in_previous(zeros_like(vector), vector, count)


@lowered(shift_in_zeros)
def _shift_in_zeros(vector, count):
    if not isinstance(count, types.IntegerLiteral):
        return None
    first = max(vector.lanes - count.literal_value, 0)
    picked = list(range(first, first + vector.lanes))

    def generate(context, builder, signature, arguments):
        channels = split_channels(builder, arguments[0], vector)
        zeros = ir.Constant(channels[0].type, None)
        if has_avx512(context) and isinstance(vector.dtype, types.Float):
            # LLVM shifts zeros in by VEXPAND, which takes twice as long as a shift of two vectors, unless
            # it cannot know that they are zeros.
            hidden = ir.Constant(_integers(vector, vector.dtype.bitwidth), None)
            nowhere = ir.Constant(_integers(vector, 1), None)
            zeros = builder.bitcast(compressed(builder, hidden, nowhere), zeros.type)
        return join_channels(builder, [_shuffle(builder, zeros, each, picked) for each in channels])

    return vector(vector, count), generate


# Tests.


def replace_nan(value, sentinel):
    """Return `value` with `sentinel` in place of NaN; scalars or vectors."""
    return np.where(value == value, value, sentinel)[()]


def _generate_replace_nan(builder, dtype, value, sentinel):
    if not isinstance(dtype, types.Float):
        return value
    return builder.select(builder.fcmp_ordered("ord", value, value), value, sentinel)


elementwise(replace_nan, _generate_replace_nan)


def propagate_nan(vector, tested):
    """Return a vector that is NaN in every lane in which one of the two is; start with zeros.

    The result is their sum, one instruction; infinities and overflow can make it NaN as well.
    """
    if vector.dtype.kind != "f":
        return vector
    with np.errstate(invalid="ignore", over="ignore"):
        return vector + tested


def _generate_propagate_nan(builder, dtype, vector, tested):
    return builder.fadd(vector, tested) if isinstance(dtype, types.Float) else vector


elementwise(propagate_nan, _generate_propagate_nan)


def count_less(counts, first, second):
    """Return `counts` plus 1 in the lanes in which `first` is less than `second`."""
    return counts + (first < second)


def count_equal(counts, first, second):
    """Return `counts` plus 1 in the lanes in which `first` equals `second`."""
    return counts + (first == second)


def _compile_count(function, comparison):
    @lowered(function)
    def _count(counts, first, second):
        def generate(context, builder, signature, arguments):
            more = builder.add(arguments[0], ir.Constant(arguments[0].type, [1] * counts.lanes))
            found = compare(builder, first.dtype, comparison, *arguments[1:])
            return builder.select(found, more, arguments[0])

        if counts == Vector(types.int64) and first == second and first.lanes == counts.lanes:
            return counts(counts, first, second), generate


_compile_count(count_less, "<")
_compile_count(count_equal, "==")


def contains_nan(vector):
    """Return whether any lane of any channel is NaN."""
    return bool((vector != vector).any())


@lowered(contains_nan)
def _contains_nan(vector):
    def generate(context, builder, signature, arguments):
        if not isinstance(vector.dtype, types.Float):
            return context.get_constant(types.boolean, False)
        found = None
        for channel in split_channels(builder, arguments[0], vector):
            nan = builder.fcmp_unordered("uno", channel, channel)
            found = nan if found is None else builder.or_(found, nan)
        return any_lane(builder, found)

    return types.boolean(vector), generate


def nan_lanes(vector):
    """Return an integer; bit k is set where lane k of any channel is NaN."""
    lanes = (vector != vector).reshape(-1, lanes_of(vector)).any(axis=0)
    return sum(1 << k for k in np.flatnonzero(lanes).tolist())


@lowered(nan_lanes)
def _nan_lanes(vector):
    def generate(context, builder, signature, arguments):
        found = None
        for channel in split_channels(builder, arguments[0], vector):
            nan = builder.fcmp_unordered("uno", channel, channel)
            found = nan if found is None else builder.or_(found, nan)
        return builder.zext(builder.bitcast(found, ir.IntType(vector.lanes)), ir.IntType(64))

    if isinstance(vector, Vector) and isinstance(vector.dtype, types.Float):
        return types.int64(vector), generate
    return None


def transpose_four(source, one, two, three, four, target, place, step):
    """Transpose the 4 x 4 values that start at four indices of `source`.

    Column k goes to the four elements of `target` from ``place + k * step`` on.
    """
    rows = [source[start : start + 4].copy() for start in (one, two, three, four)]
    for i, column in enumerate(zip(*rows)):
        target[place + i * step : place + i * step + 4] = column


@lowered(transpose_four)
def _transpose_four(source, one, two, three, four, target, place, step):
    def generate(context, builder, signature, arguments):
        def shuffle(first, second, *lanes):
            return builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(ir.IntType(32), 4), lanes))

        values, out, start, distance = arguments[0], *arguments[5:]
        a, b, c, d = (load_lanes(context, builder, source, values, row, 4) for row in arguments[1:5])
        pairs = [
            (shuffle(a, b, i, 4 + i, 2 + i, 6 + i), shuffle(c, d, i, 4 + i, 2 + i, 6 + i)) for i in (0, 1)
        ]
        columns = [shuffle(*pairs[i % 2], i & 2, 1 + (i & 2), 4 + (i & 2), 5 + (i & 2)) for i in range(4)]
        for column in columns:
            store_lanes(context, builder, [column], target, out, start)
            start = builder.add(start, distance)
        return context.get_dummy_value()

    if source.dtype != target.dtype:
        return None
    return types.void(source, *[types.intp] * 4, target, types.intp, types.intp), generate
