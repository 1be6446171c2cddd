"""Eight float64 values side by side: explicit vectors for loops that a compiler does not vectorise.

A scan carries its state from row to row, so no loop vectoriser touches it, although eight neighbouring
windows could run in one register. Here a kernel says so itself::

    row = load(values, i)            # values[i:i + 8]
    total = total + row              # eight sums at once
    store(out, i, total)

A *bundle* is several such vectors, its channels, that go through the same additions and shifts, such as
the sums of x and of x**2. LLVM maps eight lanes to one, two or four registers, whatever the machine has.
With ``NUMBA_DISABLE_JIT`` lanes are arrays of shape (8,), bundles of shape (channels, 8), and all
functions do the same. Arrays are contiguous and of float64; an index outside is caught with
``NUMBA_BOUNDSCHECK`` only, as anywhere in Numba.
"""

import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import models, register_model

from rollstat._lowering import lowered

__all__ = [
    "LANES",
    "bundle",
    "channels",
    "four_on",
    "load",
    "load_each",
    "load_like",
    "one_on",
    "seven_on",
    "six_on",
    "spread",
    "store",
    "store_each",
    "two_on",
    "zeros_like",
]

LANES = 8
VECTOR = ir.VectorType(ir.DoubleType(), LANES)
ZERO = ir.Constant(VECTOR, [0.0] * LANES)


class LanesType(types.Type):
    """Type of a vector (one channel) or of a bundle."""

    def __init__(self, count):
        self.count = count
        super().__init__(name=f"lanes({count} x {LANES} x float64)")


lanes_type = LanesType(1)


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, data_model_manager, type_):
        backend = VECTOR if type_.count == 1 else ir.ArrayType(VECTOR, type_.count)
        super().__init__(data_model_manager, type_, backend)


def load(array, i):
    """Elements `i` to ``i + 7`` of `array`."""
    return array[i : i + LANES].copy()


def store(array, i, lanes):
    """Write lanes, or the channels of a bundle one after the other, to `array` from `i` on."""
    array[i : i + lanes.size] = lanes.ravel()


def load_like(array, i, model):
    """Lanes or a bundle as :func:`store` wrote it, with as many channels as `model`."""
    return array[i : i + model.size].reshape(model.shape).copy()


def load_each(array, i, model):
    """Elements `i` to ``i + 7`` of every row of a two-dimensional `array`: a channel from each."""
    return array[:, i : i + LANES].reshape(model.shape).copy()


def store_each(array, i, lanes):
    """Write each channel to elements `i` to ``i + 7`` of its own row of a two-dimensional `array`."""
    array[:, i : i + LANES] = lanes


def spread(scalar):
    """`scalar` in every lane."""
    return np.full(LANES, scalar, np.float64)


def bundle(vectors):
    """A bundle of the tuple `vectors`."""
    return np.stack(vectors)


def channels(lanes):
    """The vectors of a bundle, as a tuple."""
    return tuple(lanes)


def _shifted(lanes, following, distance):
    return np.concatenate((lanes[..., distance:], following[..., :distance]), axis=-1)


def one_on(lanes, following):
    """The eight elements that start one into `lanes` and go on in `following`."""
    return _shifted(lanes, following, 1)


def two_on(lanes, following):
    """The eight elements that start two into `lanes` and go on in `following`."""
    return _shifted(lanes, following, 2)


def four_on(lanes, following):
    """The eight elements that start four into `lanes` and go on in `following`."""
    return _shifted(lanes, following, 4)


def six_on(lanes, following):
    """The eight elements that start six into `lanes` and go on in `following`."""
    return _shifted(lanes, following, 6)


def seven_on(lanes, following):
    """The eight elements that start seven into `lanes` and go on in `following`."""
    return _shifted(lanes, following, 7)


def zeros_like(lanes):
    """0 in every lane of as many channels."""
    return np.zeros(lanes.shape)


def take(builder, value, type_):
    """The LLVM vectors of a value of `type_`."""
    if type_.count == 1:
        return [value]
    return [builder.extract_value(value, k) for k in range(type_.count)]


def pack(builder, vectors):
    """One LLVM value of the vectors."""
    if len(vectors) == 1:
        return vectors[0]
    packed = ir.Constant(ir.ArrayType(VECTOR, len(vectors)), ir.Undefined)
    for k, vector in enumerate(vectors):
        packed = builder.insert_value(packed, vector, k)
    return packed


def _address(context, builder, array_type, array, row, index, count):
    """Pointer to the first of `count` vectors at `index`, in row `row` of a two-dimensional array."""
    view = context.make_array(array_type)(context, builder, array)
    shape = cgutils.unpack_tuple(builder, view.shape)
    if context.enable_boundscheck:
        last = builder.add(index, index.type(LANES * count - 1))
        cgutils.do_boundscheck(context, builder, index, shape[-1])
        cgutils.do_boundscheck(context, builder, last, shape[-1])
    if len(shape) == 2:
        if context.enable_boundscheck:
            cgutils.do_boundscheck(context, builder, index.type(row), shape[0])
        index = builder.add(index, builder.mul(shape[1], index.type(row)))
    return builder.bitcast(builder.gep(view.data, [index]), VECTOR.as_pointer())


def unary(function, generate_vector):
    """Make `function` act channel by channel inside kernels, as ``generate_vector(builder, vector)``."""

    @lowered(function, LanesType)
    def _operation(operand):
        if not isinstance(operand, LanesType):
            return None

        def generate(context, builder, signature, arguments):
            return pack(builder, [generate_vector(builder, v) for v in take(builder, arguments[0], operand)])

        return operand(operand), generate


def binary(function, generate_vector):
    """Make `function` act channel by channel inside kernels, as ``generate_vector(builder, left, right)``."""

    @lowered(function, LanesType, LanesType)
    def _operation(left, right):
        if not isinstance(left, LanesType) or left != right:
            return None

        def generate(context, builder, signature, arguments):
            pairs = zip(take(builder, arguments[0], left), take(builder, arguments[1], right), strict=True)
            return pack(builder, [generate_vector(builder, *pair) for pair in pairs])

        return left(left, right), generate


def _shift(distance):
    order = ir.Constant(ir.VectorType(ir.IntType(32), LANES), list(range(distance, distance + LANES)))
    return lambda builder, left, right: builder.shuffle_vector(left, right, order)


binary(operator.add, lambda builder, left, right: builder.fadd(left, right))
binary(operator.sub, lambda builder, left, right: builder.fsub(left, right))
binary(operator.mul, lambda builder, left, right: builder.fmul(left, right))
binary(operator.truediv, lambda builder, left, right: builder.fdiv(left, right))
binary(one_on, _shift(1))
binary(two_on, _shift(2))
binary(four_on, _shift(4))
binary(six_on, _shift(6))
binary(seven_on, _shift(7))
unary(zeros_like, lambda builder, vector: ZERO)


def _serves(array, dimensions):
    """Whether vectors can be read from and written to arrays of this type."""
    plain = isinstance(array, types.Array) and array.layout == "C" and array.dtype == types.float64
    return plain and array.ndim == dimensions


def _generate_load(context, builder, signature, arguments):
    model = signature.return_type
    pointer = _address(context, builder, signature.args[0], arguments[0], 0, arguments[1], model.count)
    places = [builder.gep(pointer, [ir.IntType(64)(k)]) for k in range(model.count)]
    return pack(builder, [builder.load(place, align=8) for place in places])


@lowered(load)
def _load(array, i):
    if _serves(array, 1):
        return lanes_type(array, types.intp), _generate_load


@lowered(load_like)
def _load_like(array, i, model):
    if _serves(array, 1):
        return model(array, types.intp, model), _generate_load


@lowered(store)
def _store(array, i, lanes):
    def generate(context, builder, signature, arguments):
        pointer = _address(context, builder, array, arguments[0], 0, arguments[1], lanes.count)
        for k, vector in enumerate(take(builder, arguments[2], lanes)):
            builder.store(vector, builder.gep(pointer, [ir.IntType(64)(k)]), align=8)
        return context.get_dummy_value()

    if _serves(array, 1):
        return types.void(array, types.intp, lanes), generate


@lowered(load_each)
def _load_each(array, i, model):
    def generate(context, builder, signature, arguments):
        places = [
            _address(context, builder, array, arguments[0], k, arguments[1], 1) for k in range(model.count)
        ]
        return pack(builder, [builder.load(place, align=8) for place in places])

    if _serves(array, 2):
        return model(array, types.intp, model), generate


@lowered(store_each)
def _store_each(array, i, lanes):
    def generate(context, builder, signature, arguments):
        for k, vector in enumerate(take(builder, arguments[2], lanes)):
            pointer = _address(context, builder, array, arguments[0], k, arguments[1], 1)
            builder.store(vector, pointer, align=8)
        return context.get_dummy_value()

    if _serves(array, 2):
        return types.void(array, types.intp, lanes), generate


def spread_scalar(builder, scalar, vector_type):
    """The LLVM vector that holds `scalar` in every lane."""
    empty = ir.Constant(vector_type, ir.Undefined)
    single = builder.insert_element(empty, scalar, ir.IntType(32)(0))
    first = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(single, empty, first)


@lowered(spread)
def _spread(scalar):
    def generate(context, builder, signature, arguments):
        return spread_scalar(builder, arguments[0], VECTOR)

    return lanes_type(types.float64), generate


@lowered(bundle)
def _bundle(vectors):
    def generate(context, builder, signature, arguments):
        return pack(builder, cgutils.unpack_tuple(builder, arguments[0], len(vectors)))

    if isinstance(vectors, types.UniTuple) and vectors.dtype == lanes_type:
        return LanesType(len(vectors))(vectors), generate


@lowered(channels)
def _channels(lanes):
    def generate(context, builder, signature, arguments):
        return context.make_tuple(builder, signature.return_type, take(builder, arguments[0], lanes))

    if isinstance(lanes, LanesType):
        return types.UniTuple(lanes_type, lanes.count)(lanes), generate
