"""Machine vectors in kernels: 64 bytes of consecutive elements as one value.

::

    load(values, i)              values[i] ... values[i + lanes - 1]
    push_back(before, after, k)  before[lanes - k:] followed by after[:lanes - k]

Numba's own vectorisation stops at a loop over slices: values that live across iterations, and shifts by
whole elements between neighbouring registers, have no spelling in it. Here a kernel holds a vector in
a variable. LLVM splits the 64 bytes into as many registers as the machine needs (one with AVX-512, two
with AVX2, four with SSE2 and NEON), so the same kernel serves every machine.

State: none. Invariant: 64 bytes, whatever the element. Cost: an instruction or two each. Nothing
here checks a bound when compiled; with ``NUMBA_DISABLE_JIT`` a vector is a small NumPy array, and every
bound is checked.
"""

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic, models, register_model

__all__ = [
    "VECTOR_BYTES",
    "Vector",
    "absorb_nan",
    "add",
    "aligned",
    "broadcast",
    "compare",
    "first_lane",
    "holds",
    "holds_nan",
    "lanes_in",
    "lanes_of",
    "load",
    "operation",
    "pull_forward",
    "push_back",
    "spread",
    "store",
    "unaligned",
    "zeros",
]

VECTOR_BYTES = 64


class Vector(types.Type):
    """Numba's type of a vector of `dtype`."""

    def __init__(self, dtype):
        self.dtype = dtype
        self.lanes = VECTOR_BYTES * 8 // dtype.bitwidth
        super().__init__(name=f"Vector({dtype}, {self.lanes})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, vector):
        element = manager.lookup(vector.dtype).get_data_type()
        super().__init__(manager, vector, ir.VectorType(element, vector.lanes))


def operation(plain, **options):
    """Give the decorated code generator, or the function `plain` where kernels are not compiled."""

    def decorate(generator):
        if config.DISABLE_JIT:
            return plain
        made = intrinsic(**options)(generator) if options else intrinsic(generator)
        made.__doc__ = plain.__doc__
        return made

    return decorate


def lanes_in(dtype):
    """Number of elements of `dtype` in one vector, outside of kernels."""
    return VECTOR_BYTES // np.dtype(dtype).itemsize


def aligned(length, dtype):
    """Return uninitialised memory that begins at a multiple of a vector's length."""
    room = np.empty(length + lanes_in(dtype), dtype)
    first = -room.ctypes.data % VECTOR_BYTES // room.itemsize
    return room[first : first + length]


def _plain_lanes_of(values):
    """Number of elements of `values` in one vector, a constant of the compiled code."""
    return VECTOR_BYTES // values.itemsize


@operation(_plain_lanes_of)
def lanes_of(context, values):
    lanes = VECTOR_BYTES * 8 // values.dtype.bitwidth

    def generate(context, builder, signature, arguments):
        return context.get_constant(types.intp, lanes)

    return types.intp(values), generate


def _check(values, i):
    if not 0 <= i <= len(values) - _plain_lanes_of(values):
        raise IndexError(f"vector at {i} of an array of {len(values)}")


def _pointer(context, builder, values, array, index):
    """Pointer to the vector of elements of `array`, of type `values`, that begins at `index`."""
    data = context.make_array(values)(context, builder, array).data
    shape = context.get_value_type(Vector(values.dtype))
    return builder.bitcast(builder.gep(data, [index]), shape.as_pointer())


def _plain_load(values, i):
    """The vector ``values[i:i + lanes]`` of a contiguous array."""
    _check(values, i)
    return values[i : i + _plain_lanes_of(values)].copy()


@operation(_plain_load)
def load(context, values, i):
    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, values, *arguments)
        return builder.load(pointer, align=values.dtype.bitwidth // 8)

    return Vector(values.dtype)(values, types.intp), generate


def _plain_store(vector, values, i):
    """Write `vector` to ``values[i:i + lanes]`` of a contiguous array."""
    _check(values, i)
    values[i : i + _plain_lanes_of(values)] = vector


@operation(_plain_store)
def store(context, vector, values, i):
    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, values, *arguments[1:])
        builder.store(arguments[0], pointer, align=values.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(vector, values, types.intp), generate


def _plain_broadcast(value):
    """The vector with the NumPy scalar `value` in every lane."""
    return np.full(VECTOR_BYTES // value.itemsize, value)


@operation(_plain_broadcast)
def broadcast(context, value):
    vector = Vector(value)

    def generate(context, builder, signature, arguments):
        undefined = ir.Constant(context.get_value_type(vector), ir.Undefined)
        first = builder.insert_element(undefined, arguments[0], ir.IntType(32)(0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), vector.lanes), [0] * vector.lanes)
        return builder.shuffle_vector(first, undefined, everywhere)

    return vector(value), generate


def _plain_unaligned(values):
    """Number of elements of `values` before the first that stands at a multiple of a vector's length."""
    return -values.ctypes.data % VECTOR_BYTES // values.itemsize


@operation(_plain_unaligned)
def unaligned(context, values):
    size = values.dtype.bitwidth // 8

    def generate(context, builder, signature, arguments):
        data = context.make_array(values)(context, builder, arguments[0]).data
        word = context.get_value_type(types.intp)
        behind = builder.neg(builder.ptrtoint(data, word))
        return builder.udiv(builder.and_(behind, word(VECTOR_BYTES - 1)), word(size))

    return types.intp(values), generate


def _plain_add(first, second):
    """Sum of two vectors of integers."""
    return first + second


@operation(_plain_add)
def add(context, first, second):
    def generate(context, builder, signature, arguments):
        return builder.add(*arguments)

    return first(first, second), generate


def _plain_zeros(values):
    """The vector of zeros for elements of `values`."""
    return np.zeros(_plain_lanes_of(values), values.dtype)


@operation(_plain_zeros)
def zeros(context, values):
    vector = Vector(values.dtype)

    def generate(context, builder, signature, arguments):
        return ir.Constant(context.get_value_type(vector), None)

    return vector(values), generate


def _shuffle(picked):
    """Code of the vector of the lanes `picked` from two vectors laid end to end, or from one."""

    def generate(context, builder, signature, arguments):
        pattern = ir.Constant(ir.VectorType(ir.IntType(32), len(picked)), picked)
        second = arguments[1] if signature.args[1] == signature.args[0] else arguments[0]
        return builder.shuffle_vector(arguments[0], second, pattern)

    return generate


def _plain_push_back(before, after, count):
    """The last `count` lanes of `before`, then the first ``lanes - count`` of `after`.

    `count` is a literal; from the number of lanes on, the result is `before`.
    """
    count = min(count, len(before))
    return np.concatenate([before[len(before) - count :], after[: len(after) - count]])


@operation(_plain_push_back, prefer_literal=True)
def push_back(context, before, after, count):
    if not isinstance(count, types.IntegerLiteral):
        return None
    lanes = before.lanes
    picked = [max(lanes - count.literal_value, 0) + i for i in range(lanes)]
    return before(before, after, count), _shuffle(picked)


def _plain_pull_forward(before, after, count):
    """The lanes of `before` from `count` on, then the first `count` of `after`.

    `count` is a literal; from the number of lanes on, the result is `after`.
    """
    return np.concatenate([before[count:], after[: min(count, len(after))]])


@operation(_plain_pull_forward, prefer_literal=True)
def pull_forward(context, before, after, count):
    if not isinstance(count, types.IntegerLiteral):
        return None
    lanes = before.lanes
    picked = [min(count.literal_value, lanes) + i for i in range(lanes)]
    return before(before, after, count), _shuffle(picked)


def _plain_spread(vector, lane):
    """The vector with one lane of `vector` in every lane; `lane` is the literal 0 or -1."""
    return np.full(len(vector), vector[lane])


@operation(_plain_spread, prefer_literal=True)
def spread(context, vector, lane):
    if not isinstance(lane, types.IntegerLiteral):
        return None
    return vector(vector, lane), _shuffle([lane.literal_value % vector.lanes] * vector.lanes)


def _plain_first_lane(vector):
    """The scalar in the first lane."""
    return vector[0]


@operation(_plain_first_lane)
def first_lane(context, vector):
    def generate(context, builder, signature, arguments):
        return builder.extract_element(arguments[0], ir.IntType(32)(0))

    return vector.dtype(vector), generate


def compare(builder, dtype, comparison, first, second):
    """Generate ``first COMPARISON second``; false where they are not comparable."""
    if isinstance(dtype, types.Float):
        return builder.fcmp_ordered(comparison, first, second)
    if dtype.signed:
        return builder.icmp_signed(comparison, first, second)
    return builder.icmp_unsigned(comparison, first, second)


def _plain_absorb_nan(vector, tested):
    """A vector that is NaN in every lane where one of the two is; begin with zeros.

    It is their sum, one instruction, which infinities and overflow can make NaN as well.
    """
    if vector.dtype.kind != "f":
        return vector
    with np.errstate(invalid="ignore", over="ignore"):
        return vector + tested


@operation(_plain_absorb_nan)
def absorb_nan(context, vector, tested):
    def generate(context, builder, signature, arguments):
        if not isinstance(vector.dtype, types.Float):
            return arguments[0]
        return builder.fadd(*arguments)

    return vector(vector, tested), generate


def _plain_holds(vector, value):
    """Whether any lane is `value`."""
    return bool((vector == value).any())


@operation(_plain_holds)
def holds(context, vector, value):
    def generate(context, builder, signature, arguments):
        vector_type = arguments[0].type
        same = ir.Constant(vector_type, ir.Undefined)
        for lane in range(vector.lanes):
            same = builder.insert_element(same, arguments[1], ir.IntType(32)(lane))
        equal = compare(builder, vector.dtype, "==", arguments[0], same)
        bits = builder.bitcast(equal, ir.IntType(vector.lanes))
        return builder.icmp_unsigned("!=", bits, ir.IntType(vector.lanes)(0))

    return types.boolean(vector, vector.dtype), generate


def _plain_holds_nan(vector):
    """Whether any lane is NaN."""
    return bool((vector != vector).any())


@operation(_plain_holds_nan)
def holds_nan(context, vector):
    def generate(context, builder, signature, arguments):
        if not isinstance(vector.dtype, types.Float):
            return context.get_constant(types.boolean, False)
        missing = builder.fcmp_unordered("uno", arguments[0], arguments[0])
        bits = builder.bitcast(missing, ir.IntType(vector.lanes))
        return builder.icmp_unsigned("!=", bits, ir.IntType(vector.lanes)(0))

    return types.boolean(vector), generate
