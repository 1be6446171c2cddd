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
from numba.extending import intrinsic, models, overload, register_model

__all__ = [
    "LANES",
    "any_nan",
    "bundle",
    "channels",
    "divide",
    "fill_nan",
    "four_on",
    "limit",
    "load",
    "load_each",
    "load_like",
    "nan_to_zero",
    "negative_to_zero",
    "one_on",
    "quotient",
    "seven_on",
    "six_on",
    "spread",
    "square_root",
    "store",
    "store_each",
    "subtract_product",
    "two_on",
    "zeros_like",
]

LANES = 8
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_ZERO = ir.Constant(_VECTOR, [0.0] * LANES)


class _LanesType(types.Type):
    """Type of a vector (one channel) or of a bundle."""

    def __init__(self, count):
        self.count = count
        super().__init__(name=f"lanes({count} x {LANES} x float64)")


_lanes = _LanesType(1)


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, data_model_manager, type_):
        backend = _VECTOR if type_.count == 1 else ir.ArrayType(_VECTOR, type_.count)
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


def fill_nan(lanes, filling):
    """`lanes` with `filling` in place of every NaN."""
    return np.where(lanes == lanes, lanes, filling)


def nan_to_zero(lanes):
    """`lanes` with 0 in place of every NaN."""
    return np.where(lanes == lanes, lanes, 0.0)


def zeros_like(lanes):
    """0 in every lane of as many channels."""
    return np.zeros(lanes.shape)


def negative_to_zero(lanes):
    """`lanes` with 0 in place of every negative value; NaN stays."""
    return np.where(lanes < 0.0, 0.0, lanes)


def limit(lanes, bound):
    """`lanes`, but no lane beyond `bound` on either side of 0; NaN stays."""
    return np.where(lanes > bound, bound, np.where(lanes < -bound, -bound, lanes))


def square_root(lanes):
    """Square root of each lane."""
    return np.sqrt(lanes)


def divide(lanes, divisor, inverse):
    """`lanes` over `divisor`, correctly rounded, given ``inverse == 1 / divisor``, in a third of the time.

    The quotient by the inverse is corrected by its exact remainder, which a fused multiply-add gives.
    """
    return lanes / divisor


def quotient(lanes, divisor, inverse):
    """As :func:`divide`, and quicker, but it may be NaN where the quotient is infinite."""
    return lanes / divisor


def subtract_product(lanes, left, right):
    """``lanes - left * right``, rounded once; twice where it is not compiled."""
    return lanes - left * right


def any_nan(lanes):
    """1 where some lane of some channel is NaN, else 0."""
    return int(bool((lanes != lanes).any()))


def _take(builder, value, type_):
    """The LLVM vectors of a value of `type_`."""
    if type_.count == 1:
        return [value]
    return [builder.extract_value(value, k) for k in range(type_.count)]


def _pack(builder, vectors):
    """One LLVM value of the vectors."""
    if len(vectors) == 1:
        return vectors[0]
    packed = ir.Constant(ir.ArrayType(_VECTOR, len(vectors)), ir.Undefined)
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
    return builder.bitcast(builder.gep(view.data, [index]), _VECTOR.as_pointer())


def _unary(function, generate_vector):
    """Make `function` act channel by channel inside kernels, as ``generate_vector(builder, vector)``."""

    @intrinsic
    def operation(typing_context, operand):
        def generate(context, builder, signature, arguments):
            return _pack(
                builder, [generate_vector(builder, v) for v in _take(builder, arguments[0], operand)]
            )

        return operand(operand), generate

    @overload(function, inline="always")
    def _operation(operand):
        if isinstance(operand, _LanesType):
            return lambda operand: operation(operand)


def _binary(function, generate_vector):
    """Make `function` act channel by channel inside kernels, as ``generate_vector(builder, left, right)``."""

    @intrinsic
    def operation(typing_context, left, right):
        def generate(context, builder, signature, arguments):
            pairs = zip(_take(builder, arguments[0], left), _take(builder, arguments[1], right), strict=True)
            return _pack(builder, [generate_vector(builder, *pair) for pair in pairs])

        return left(left, right), generate

    @overload(function, inline="always")
    def _operation(left, right):
        if isinstance(left, _LanesType) and left == right:
            return lambda left, right: operation(left, right)


def _shift(distance):
    order = ir.Constant(ir.VectorType(ir.IntType(32), LANES), list(range(distance, distance + LANES)))
    return lambda builder, left, right: builder.shuffle_vector(left, right, order)


def _fill(builder, vector, filling):
    return builder.select(builder.fcmp_ordered("ord", vector, vector), vector, filling)


def _clip(builder, vector):
    return builder.select(builder.fcmp_ordered("<", vector, _ZERO), _ZERO, vector)


def _vector_function(builder, name, *arguments):
    """Call an LLVM intrinsic of as many vectors."""
    signature = ir.FunctionType(_VECTOR, [_VECTOR] * len(arguments))
    function = cgutils.get_or_insert_function(builder.module, signature, f"llvm.{name}.v{LANES}f64")
    return builder.call(function, arguments)


def _limit(builder, vector, bound):
    lower = builder.fneg(bound)
    vector = builder.select(builder.fcmp_ordered(">", vector, bound), bound, vector)
    return builder.select(builder.fcmp_ordered("<", vector, lower), lower, vector)


_binary(operator.add, lambda builder, left, right: builder.fadd(left, right))
_binary(operator.sub, lambda builder, left, right: builder.fsub(left, right))
_binary(operator.mul, lambda builder, left, right: builder.fmul(left, right))
_binary(operator.truediv, lambda builder, left, right: builder.fdiv(left, right))
_binary(one_on, _shift(1))
_binary(two_on, _shift(2))
_binary(four_on, _shift(4))
_binary(six_on, _shift(6))
_binary(seven_on, _shift(7))
_binary(fill_nan, _fill)
_binary(limit, _limit)
_unary(square_root, lambda builder, vector: _vector_function(builder, "sqrt", vector))
_unary(nan_to_zero, lambda builder, vector: _fill(builder, vector, _ZERO))
_unary(zeros_like, lambda builder, vector: _ZERO)
_unary(negative_to_zero, _clip)


@intrinsic
def _load(typing_context, array, index, model):
    def generate(context, builder, signature, arguments):
        pointer = _address(context, builder, array, arguments[0], 0, arguments[1], model.count)
        places = [builder.gep(pointer, [ir.IntType(64)(k)]) for k in range(model.count)]
        return _pack(builder, [builder.load(place, align=8) for place in places])

    return model(array, types.intp, model), generate


@intrinsic
def _store(typing_context, array, index, lanes):
    def generate(context, builder, signature, arguments):
        pointer = _address(context, builder, array, arguments[0], 0, arguments[1], lanes.count)
        for k, vector in enumerate(_take(builder, arguments[2], lanes)):
            builder.store(vector, builder.gep(pointer, [ir.IntType(64)(k)]), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), generate


@intrinsic
def _load_each(typing_context, array, index, model):
    def generate(context, builder, signature, arguments):
        places = [
            _address(context, builder, array, arguments[0], k, arguments[1], 1) for k in range(model.count)
        ]
        return _pack(builder, [builder.load(place, align=8) for place in places])

    return model(array, types.intp, model), generate


@intrinsic
def _store_each(typing_context, array, index, lanes):
    def generate(context, builder, signature, arguments):
        for k, vector in enumerate(_take(builder, arguments[2], lanes)):
            pointer = _address(context, builder, array, arguments[0], k, arguments[1], 1)
            builder.store(vector, pointer, align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), generate


@intrinsic
def _spread(typing_context, scalar):
    def generate(context, builder, signature, arguments):
        empty = ir.Constant(_VECTOR, ir.Undefined)
        single = builder.insert_element(empty, arguments[0], ir.IntType(32)(0))
        first = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return builder.shuffle_vector(single, empty, first)

    return _lanes(types.float64), generate


@intrinsic
def _bundle(typing_context, vectors):
    def generate(context, builder, signature, arguments):
        return _pack(builder, cgutils.unpack_tuple(builder, arguments[0], len(vectors)))

    return _LanesType(len(vectors))(vectors), generate


@intrinsic
def _channels(typing_context, lanes):
    result = types.UniTuple(_lanes, lanes.count)

    def generate(context, builder, signature, arguments):
        return context.make_tuple(builder, result, _take(builder, arguments[0], lanes))

    return result(lanes), generate


def _corrected(builder, value, divisor, inverse):
    """Quotient by the inverse, and that quotient less its remainder; where it is infinite, that is none."""
    first = builder.fmul(value, inverse)
    remainder = _vector_function(builder, "fma", builder.fneg(divisor), first, value)
    return first, _vector_function(builder, "fma", remainder, inverse, first)


@intrinsic
def _divide(typing_context, lanes, divisor, inverse):
    def generate(context, builder, signature, arguments):
        first, corrected = _corrected(builder, *arguments)
        return _fill(builder, corrected, first)

    return _lanes(_lanes, _lanes, _lanes), generate


@intrinsic
def _quotient(typing_context, lanes, divisor, inverse):
    def generate(context, builder, signature, arguments):
        return _corrected(builder, *arguments)[1]

    return _lanes(_lanes, _lanes, _lanes), generate


@intrinsic
def _subtract_product(typing_context, lanes, left, right):
    def generate(context, builder, signature, arguments):
        value, first, second = arguments
        return _vector_function(builder, "fma", builder.fneg(first), second, value)

    return _lanes(_lanes, _lanes, _lanes), generate


@intrinsic
def _any_nan(typing_context, lanes):
    def generate(context, builder, signature, arguments):
        found = ir.IntType(LANES)(0)
        for vector in _take(builder, arguments[0], lanes):
            unordered = builder.fcmp_unordered("uno", vector, vector)
            found = builder.or_(found, builder.bitcast(unordered, found.type))
        return builder.zext(builder.icmp_unsigned("!=", found, found.type(0)), ir.IntType(64))

    return types.int64(lanes), generate


def _serves(array, dimensions):
    """Whether vectors can be read from and written to arrays of this type."""
    plain = isinstance(array, types.Array) and array.layout == "C" and array.dtype == types.float64
    return plain and array.ndim == dimensions


@overload(load, inline="always")
def _load_overload(array, i):
    if _serves(array, 1):
        return lambda array, i: _load(array, i, _spread(0.0))


@overload(load_like, inline="always")
def _load_like_overload(array, i, model):
    if _serves(array, 1):
        return lambda array, i, model: _load(array, i, model)


@overload(store, inline="always")
def _store_overload(array, i, lanes):
    if _serves(array, 1):
        return lambda array, i, lanes: _store(array, i, lanes)


@overload(load_each, inline="always")
def _load_each_overload(array, i, model):
    if _serves(array, 2):
        return lambda array, i, model: _load_each(array, i, model)


@overload(store_each, inline="always")
def _store_each_overload(array, i, lanes):
    if _serves(array, 2):
        return lambda array, i, lanes: _store_each(array, i, lanes)


@overload(spread, inline="always")
def _spread_overload(scalar):
    return lambda scalar: _spread(types.float64(scalar))


@overload(bundle, inline="always")
def _bundle_overload(vectors):
    if isinstance(vectors, types.UniTuple) and vectors.dtype == _lanes:
        return lambda vectors: _bundle(vectors)


@overload(channels, inline="always")
def _channels_overload(lanes):
    if isinstance(lanes, _LanesType):
        return lambda lanes: _channels(lanes)


@overload(divide, inline="always")
def _divide_overload(lanes, divisor, inverse):
    if lanes == divisor == inverse == _lanes:
        return lambda lanes, divisor, inverse: _divide(lanes, divisor, inverse)


@overload(quotient, inline="always")
def _quotient_overload(lanes, divisor, inverse):
    if lanes == divisor == inverse == _lanes:
        return lambda lanes, divisor, inverse: _quotient(lanes, divisor, inverse)


@overload(subtract_product, inline="always")
def _subtract_product_overload(lanes, left, right):
    if lanes == left == right == _lanes:
        return lambda lanes, left, right: _subtract_product(lanes, left, right)


@overload(any_nan, inline="always")
def _any_nan_overload(lanes):
    if isinstance(lanes, _LanesType):
        return lambda lanes: _any_nan(lanes)
