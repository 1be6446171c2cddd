"""Compilation of steps that Python calls with one element at a time.

::

    push(x) ---> [ read x and the arrays from their objects | step | box ] ---> answer

All of it runs under the interpreter's lock.

State, invariant: none. Cost: to release the lock and take it back takes 27 ns, as long as many steps, so a
single step keeps it; loops over arrays release it, see :mod:`rollstat.compile.jit`. The usual conversion of a
number and an array takes 20 ns more: here the type of the number is checked to be float, and the array is
known to be a state that the caller has made.

Source: the layout of ``PyFloatObject`` and ``PyArrayObject_fields`` in the headers of Python and NumPy, whose
macros read the same fields.
"""

from llvmlite import ir
from numba import config, typeof, types
from numba.core.datamodel.models import PrimitiveModel
from numba.core.imputils import impl_ret_borrowed
from numba.extending import NativeValue, intrinsic, register_model, unbox
from numba.np.arrayobj import populate_array

from rollstat.compile.jit import kernel

_WORD = ir.IntType(64)
# Words in the header of an object: its reference count and its type.
_HEAD = object.__basicsize__ // 8


class _Number(types.Type):
    """A Python float; anything else is a TypeError."""

    def __init__(self):
        super().__init__(name="rollstat.Number")


class _State(types.Type):
    """A contiguous array of one dimension; the caller guarantees that it is one."""

    def __init__(self, array):
        self.array = array
        super().__init__(name=f"rollstat.State({array})")


@register_model(_Number)
class _NumberModel(PrimitiveModel):
    def __init__(self, manager, type_):
        super().__init__(manager, type_, ir.DoubleType())


@register_model(_State)
class _StateModel(PrimitiveModel):
    def __init__(self, manager, type_):
        super().__init__(manager, type_, _WORD.as_pointer())


def _word(builder, words, place):
    return builder.load(builder.gep(words, [_WORD(place)]))


@unbox(_Number)
def _read_number(type_, number, compiler):
    """Read the value of a float, or of an object of a subclass, as numpy.float64 is."""
    builder, api = compiler.builder, compiler.pyapi
    words = builder.bitcast(number, _WORD.as_pointer())
    cls = builder.inttoptr(_word(builder, words, _HEAD - 1), api.pyobj)
    wanted = api.get_c_object("PyFloat_Type")
    is_subtype = api._get_function(
        ir.FunctionType(ir.IntType(32), [api.pyobj, api.pyobj]), name="PyType_IsSubtype"
    )
    exact = builder.icmp_unsigned("==", cls, wanted)
    before = builder.basic_block
    with builder.if_then(builder.not_(exact), likely=False):
        derived = builder.icmp_signed("!=", builder.call(is_subtype, [cls, wanted]), ir.IntType(32)(0))
        with builder.if_then(builder.not_(derived)):
            api.err_set_string("PyExc_TypeError", "x must be a float")
        other = builder.basic_block
    good = builder.phi(ir.IntType(1))
    good.add_incoming(ir.IntType(1)(1), before)
    good.add_incoming(derived, other)
    # The word behind the header can be read even if the object is not a float.
    value = builder.load(builder.bitcast(builder.gep(words, [_WORD(_HEAD)]), ir.DoubleType().as_pointer()))
    return NativeValue(value, is_error=builder.not_(good))


@unbox(_State)
def _read_state(type_, array, compiler):
    return NativeValue(compiler.builder.bitcast(array, _WORD.as_pointer()))


@intrinsic
def _plain(typing_context, argument):
    if not isinstance(argument, _State):
        result = types.float64 if isinstance(argument, _Number) else argument

        def unchanged(context, builder, signature, arguments):
            # The result is a further reference if references are counted.
            return impl_ret_borrowed(context, builder, result, arguments[0])

        return result(argument), unchanged

    def generate(context, builder, signature, arguments):
        # Fields of an array: the address of its data, the number of dimensions, the address of the shape.
        data, shape = (_word(builder, arguments[0], _HEAD + i) for i in (0, 2))
        length = builder.load(builder.inttoptr(shape, _WORD.as_pointer()))
        array = context.make_array(argument.array)(context, builder)
        size = _WORD(context.get_abi_sizeof(context.get_data_type(argument.array.dtype)))
        populate_array(array, builder.inttoptr(data, array.data.type), [length], [size], size, meminfo=None)
        return array._getvalue()

    return argument.array(argument), generate


def _unchanged(argument):
    return argument


# Returns the float64 or the array that an argument of a step stands for.
plain = _unchanged if config.DISABLE_JIT else _plain


def _is_state(type_):
    """Return whether a type is a contiguous 1-D array of numbers or of structures of numbers."""
    if not isinstance(type_, types.Array) or type_.ndim > 1 or type_.layout != "C" or not type_.mutable:
        return False
    fields = type_.dtype.fields.values() if isinstance(type_.dtype, types.Record) else ()
    return not any(isinstance(field.type, types.NestedArray) for field in fields)


def types_of_step(arguments):
    """Return the types for which a step is compiled, to be called with these arguments and then a float."""
    found = [typeof(argument) for argument in arguments]
    return (*(_State(type_) if _is_state(type_) else type_ for type_ in found), _Number())


def single_step(function):
    """Compile a step over preallocated arrays so that a call from Python takes the least time."""
    dispatcher = kernel(function)
    if not config.DISABLE_JIT:
        dispatcher.targetoptions["nogil"] = False
    return dispatcher
