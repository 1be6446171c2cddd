"""The type of machine vectors, and generators of LLVM code for them.

::

    elementwise(function, generate, 2)     ->  function(vector, vector) in kernels, channel by channel
    load_lanes(...), store_lanes(...)      ->  instructions that read and write any number of lanes

Kernels use the functions of :mod:`rollstat.compile.simd.vectors` and of the modules beside it; these
functions are made with these generators. A vector is one LLVM vector per channel; several channels form an
LLVM array.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import models, register_model

from rollstat.compile.lowering import lowered

VECTOR_BYTES = 64


class Vector(types.Type):
    """Numba's type of a vector of `dtype` with a number of channels."""

    def __init__(self, dtype, channels=1):
        self.dtype = dtype
        self.lanes = VECTOR_BYTES * 8 // dtype.bitwidth
        self.channels = channels
        super().__init__(name=f"Vector({dtype}, {self.lanes}, {channels})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, vector):
        channel = ir.VectorType(manager.lookup(vector.dtype).get_data_type(), vector.lanes)
        value = channel if vector.channels == 1 else ir.ArrayType(channel, vector.channels)
        super().__init__(manager, vector, value)


def split_channels(builder, value, vector):
    """Return the LLVM vectors in a value of the type `vector`."""
    if vector.channels == 1:
        return [value]
    return [builder.extract_value(value, k) for k in range(vector.channels)]


def join_channels(builder, channels):
    """Return one value of the LLVM vectors `channels`."""
    if len(channels) == 1:
        return channels[0]
    joined = ir.Constant(ir.ArrayType(channels[0].type, len(channels)), ir.Undefined)
    for k, channel in enumerate(channels):
        joined = builder.insert_value(joined, channel, k)
    return joined


def splat(builder, scalar, vector_type):
    """Return the LLVM vector with `scalar` in every lane."""
    undefined = ir.Constant(vector_type, ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector_type.count), None)
    return builder.shuffle_vector(first, undefined, zeros)


def compare(builder, dtype, comparison, first, second):
    """Return ``first COMPARISON second``; false where one of them is NaN."""
    if isinstance(dtype, types.Float):
        return builder.fcmp_ordered(comparison, first, second)
    if dtype.signed:
        return builder.icmp_signed(comparison, first, second)
    return builder.icmp_unsigned(comparison, first, second)


def any_lane(builder, mask):
    """Return whether `mask` is true in any lane."""
    bits = ir.IntType(mask.type.count)
    return builder.icmp_unsigned("!=", builder.bitcast(mask, bits), bits(0))


def all_lanes(builder, mask):
    """Return whether `mask` is true in every lane."""
    bits = ir.IntType(mask.type.count)
    return builder.icmp_unsigned("==", builder.bitcast(mask, bits), bits(2**mask.type.count - 1))


def pointers(context, builder, array_type, array, index, lanes, channels=1):
    """Return pointers to `channels` vectors of an array, the first at `index`.

    In a one-dimensional array the channels follow one another, in a two-dimensional one each is in its row.
    """
    view = context.make_array(array_type)(context, builder, array)
    shape = cgutils.unpack_tuple(builder, view.shape)
    size = index.type
    if context.enable_boundscheck:
        last = builder.add(index, size(lanes * (channels if len(shape) == 1 else 1) - 1))
        cgutils.do_boundscheck(context, builder, index, shape[-1])
        cgutils.do_boundscheck(context, builder, last, shape[-1])
        if len(shape) == 2:
            cgutils.do_boundscheck(context, builder, size(channels - 1), shape[0])
    step = shape[1] if len(shape) == 2 else size(lanes)
    vector = ir.VectorType(context.get_data_type(array_type.dtype), lanes).as_pointer()
    places = [builder.add(index, builder.mul(step, size(k))) for k in range(channels)]
    return [builder.bitcast(builder.gep(view.data, [place]), vector) for place in places]


def load_lanes(context, builder, array_type, array, index, lanes, channels=1):
    """Return the vectors of any number of `lanes` that :func:`pointers` points to, as one value."""
    places = pointers(context, builder, array_type, array, index, lanes, channels)
    align = array_type.dtype.bitwidth // 8
    return join_channels(builder, [builder.load(place, align=align) for place in places])


def store_lanes(context, builder, channels, array_type, array, index):
    """Write LLVM vectors of any number of lanes to where :func:`pointers` points."""
    lanes = channels[0].type.count
    places = pointers(context, builder, array_type, array, index, lanes, len(channels))
    for channel, place in zip(channels, places):
        builder.store(channel, place, align=array_type.dtype.bitwidth // 8)


def has_avx512(context):
    """Return whether the machine that kernels are compiled for has AVX-512."""
    return "+avx512f" in context.codegen().magic_tuple()[2].split(",")


def compressed(builder, integers, mask):
    """Return the lanes of a vector of integers that `mask` marks, then any others; only with AVX-512."""
    name = f"llvm.x86.avx512.mask.compress.v{integers.type.count}i{integers.type.element.width}"
    shape = ir.FunctionType(integers.type, [integers.type, integers.type, mask.type])
    function = builder.module.globals.get(name) or ir.Function(builder.module, shape, name)
    return builder.call(function, [integers, integers, mask])


def permuted(builder, words, places):
    """Return the lanes of eight 64-bit integers at eight `places` from 0 to 7; only with AVX-512."""
    name = "llvm.x86.avx512.permvar.di.512"
    shape = ir.FunctionType(words.type, [words.type, words.type])
    function = builder.module.globals.get(name) or ir.Function(builder.module, shape, name)
    return builder.call(function, [words, places])


def elementwise(function, generate, arity=0):
    """Compile calls of `function` channel by channel; all arguments have the type of the first.

    ``generate(builder, dtype, *channels)`` returns one channel of the result from one of each argument.
    With an `arity`, all are vectors; without, scalars are compiled as well.
    """

    @lowered(function, *[Vector] * arity)
    def _resolve(first, *others):
        if arity and not (isinstance(first, Vector) and all(other == first for other in others)):
            return None

        def code(context, builder, signature, arguments):
            if not isinstance(first, Vector):
                return generate(builder, first, *arguments)
            channels = zip(*(split_channels(builder, argument, first) for argument in arguments))
            return join_channels(builder, [generate(builder, first.dtype, *each) for each in channels])

        return first(first, *[first] * len(others)), code
