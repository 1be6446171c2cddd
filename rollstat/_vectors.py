"""Machine vectors in kernels: 64 bytes of consecutive elements as one value.

Numba's own vectorisation stops at a loop over slices: values that live across iterations, and shifts by
whole elements between neighbouring registers, have no spelling in it. Here a kernel holds a vector in
a variable. LLVM splits the 64 bytes into as many registers as the machine needs (one with AVX-512, two
with AVX2, four with SSE2 and NEON), so the same kernel serves every machine.

::

    load(values, i)              values[i] ... values[i + lanes - 1]
    push_back(before, after, k)  before[lanes - k:] followed by after[:lanes - k]

Nothing here checks a bound. With ``NUMBA_DISABLE_JIT`` a vector is a small NumPy array, and every
bound is checked.
"""

# ruff: noqa: PLW0108 (an overload returns a function of its own signature)

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_model

__all__ = [
    "absorb_nan",
    "aligned",
    "broadcast",
    "greater",
    "holds_nan",
    "lanes_of",
    "lesser",
    "load",
    "observed_or",
    "push_back",
    "store",
]

_BYTES = 64


def lanes_of(values):
    """Number of elements of `values` in one vector, a constant of the compiled code."""
    return _BYTES // values.itemsize


def aligned(length, dtype):
    """Return zeros in memory that begins at a multiple of a vector's length."""
    itemsize = np.dtype(dtype).itemsize
    room = np.zeros(length + lanes_of(np.empty(0, dtype)), dtype)
    first = -room.ctypes.data % _BYTES // itemsize
    return room[first : first + length]


def _check(values, i):
    if not 0 <= i <= len(values) - lanes_of(values):
        raise IndexError(f"vector at {i} of an array of {len(values)}")


def load(values, i):
    """The vector ``values[i:i + lanes]`` of a contiguous array."""
    _check(values, i)
    return values[i : i + lanes_of(values)].copy()


def store(vector, values, i):
    """Write `vector` to ``values[i:i + lanes]`` of a contiguous array."""
    _check(values, i)
    values[i : i + lanes_of(values)] = vector


def broadcast(value):
    """The vector with the NumPy scalar `value` in every lane."""
    return np.full(_BYTES // value.itemsize, value)


def lesser(first, second):
    """Lane by lane, ``first if first < second else second``."""
    return np.where(first < second, first, second)


def greater(first, second):
    """Lane by lane, ``first if first > second else second``."""
    return np.where(first > second, first, second)


def push_back(before, after, count):
    """The last `count` lanes of `before`, then the first ``lanes - count`` of `after`.

    `count` is a literal; from the number of lanes on, the result is `before`.
    """
    count = min(count, len(before))
    return np.concatenate([before[len(before) - count :], after[: len(after) - count]])


def observed_or(vector, otherwise):
    """`vector`, with the lanes of `otherwise` where it is NaN."""
    return np.where(vector == vector, vector, otherwise)


def absorb_nan(vector, tested):
    """`vector`, with NaN in every lane where `tested` is NaN."""
    return np.where(tested == tested, vector, tested)


def holds_nan(vector):
    """Whether any lane is NaN."""
    return bool((vector != vector).any())


class Vector(types.Type):
    """Numba's type of a vector of `dtype`."""

    def __init__(self, dtype):
        self.dtype = dtype
        self.lanes = _BYTES * 8 // dtype.bitwidth
        super().__init__(name=f"Vector({dtype}, {self.lanes})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, vector):
        element = manager.lookup(vector.dtype).get_data_type()
        super().__init__(manager, vector, ir.VectorType(element, vector.lanes))


def _pointer(context, builder, array_type, array, index, vector):
    """Pointer to the vector of type `vector` that begins at `index`."""
    data = context.make_array(array_type)(context, builder, array).data
    address = builder.gep(data, [index])
    return builder.bitcast(address, context.get_value_type(vector).as_pointer())


@intrinsic
def _load(typing_context, values, i):
    vector = Vector(values.dtype)

    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, values, *arguments, vector)
        return builder.load(pointer, align=values.dtype.bitwidth // 8)

    return vector(values, types.intp), generate


@intrinsic
def _store(typing_context, vector, values, i):
    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, values, *arguments[1:], vector)
        builder.store(arguments[0], pointer, align=values.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(vector, values, types.intp), generate


@intrinsic
def _splat(typing_context, value):
    vector = Vector(value)

    def generate(context, builder, signature, arguments):
        shape = context.get_value_type(vector)
        first = builder.insert_element(ir.Constant(shape, ir.Undefined), arguments[0], ir.IntType(32)(0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), vector.lanes), [0] * vector.lanes)
        return builder.shuffle_vector(first, ir.Constant(shape, ir.Undefined), everywhere)

    return vector(value), generate


def _choice(comparison):
    """Intrinsic of ``first if first COMPARISON second else second``, the form that has an instruction."""

    @intrinsic
    def choose(typing_context, first, second):
        def generate(context, builder, signature, arguments):
            if isinstance(first.dtype, types.Float):
                chosen = builder.fcmp_ordered(comparison, *arguments)
            elif first.dtype.signed:
                chosen = builder.icmp_signed(comparison, *arguments)
            else:
                chosen = builder.icmp_unsigned(comparison, *arguments)
            return builder.select(chosen, *arguments)

        return first(first, second), generate

    return choose


_lesser = _choice("<")
_greater = _choice(">")


@intrinsic
def _observed_or(typing_context, vector, otherwise):
    def generate(context, builder, signature, arguments):
        missing = builder.fcmp_unordered("uno", arguments[0], arguments[0])
        return builder.select(missing, arguments[1], arguments[0])

    return vector(vector, otherwise), generate


@intrinsic
def _absorb_nan(typing_context, vector, tested):
    def generate(context, builder, signature, arguments):
        missing = builder.fcmp_unordered("uno", arguments[1], arguments[1])
        return builder.select(missing, arguments[1], arguments[0])

    return vector(vector, tested), generate


@intrinsic
def _holds_nan(typing_context, vector):
    def generate(context, builder, signature, arguments):
        missing = builder.fcmp_unordered("uno", arguments[0], arguments[0])
        bits = builder.bitcast(missing, ir.IntType(vector.lanes))
        return builder.icmp_unsigned("!=", bits, ir.IntType(vector.lanes)(0))

    return types.boolean(vector), generate


@intrinsic(prefer_literal=True)
def _push_back(typing_context, before, after, count):
    if not isinstance(count, types.IntegerLiteral):
        return None
    lanes = before.lanes
    picked = [max(lanes - count.literal_value, 0) + i for i in range(lanes)]

    def generate(context, builder, signature, arguments):
        pattern = ir.Constant(ir.VectorType(ir.IntType(32), lanes), picked)
        return builder.shuffle_vector(arguments[0], arguments[1], pattern)

    return before(before, after, count), generate


@overload(lanes_of, inline="always")
def _overload_lanes_of(values):
    lanes = _BYTES * 8 // values.dtype.bitwidth
    return lambda values: lanes


@overload(load, inline="always")
def _overload_load(values, i):
    return lambda values, i: _load(values, i)


@overload(store, inline="always")
def _overload_store(vector, values, i):
    return lambda vector, values, i: _store(vector, values, i)


@overload(broadcast, inline="always")
def _overload_broadcast(value):
    return lambda value: _splat(value)


@overload(lesser, inline="always")
def _overload_lesser(first, second):
    return lambda first, second: _lesser(first, second)


@overload(greater, inline="always")
def _overload_greater(first, second):
    return lambda first, second: _greater(first, second)


@overload(push_back, inline="always", prefer_literal=True)
def _overload_push_back(before, after, count):
    return lambda before, after, count: _push_back(before, after, count)


@overload(observed_or, inline="always")
def _overload_observed_or(vector, otherwise):
    if isinstance(vector.dtype, types.Float):
        return lambda vector, otherwise: _observed_or(vector, otherwise)
    return lambda vector, otherwise: vector


@overload(absorb_nan, inline="always")
def _overload_absorb_nan(vector, tested):
    if isinstance(vector.dtype, types.Float):
        return lambda vector, tested: _absorb_nan(vector, tested)
    return lambda vector, tested: vector


@overload(holds_nan, inline="always")
def _overload_holds_nan(vector):
    if isinstance(vector.dtype, types.Float):
        return lambda vector: _holds_nan(vector)
    return lambda vector: False
