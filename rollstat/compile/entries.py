r"""Methods that Python calls as it calls methods written in C, and the compiled steps that they run.

::

    stream.push(x) ---> method ---> words of the window: [ steps | arguments of the steps ] ---> answer
                             \---> the method in Python, where there is no step, or it does not take `x`

All of it runs under the interpreter's lock. A step does not convert its arguments in every call: they lie in
memory as words, and a step reads only the words that it uses. A method finds the words by the first slots of
its object and of the object in that slot, so that nothing is looked up by name.

State: an array of int64, the words: the addresses of STEPS steps, then the arguments. A number is one word,
an array its address and its shape, a tuple the words of its items. The caller keeps the arrays.
Invariant: none. Cost: 4 ns more than ``abs``, measured, for a step that takes and returns a float. Numba's
own wrapper makes a tuple of the arguments, and that takes longer than many steps.

Source: the layouts of ``PyFloatObject`` and ``PyArrayObject_fields`` in the headers of Python and NumPy,
whose macros read the same fields; ``METH_FASTCALL`` in the reference of Python's C API.
"""

import ctypes
import struct

import numpy as np
from llvmlite import ir
from numba import config, typeof, types
from numba.core.datamodel.models import PrimitiveModel
from numba.core.imputils import impl_ret_borrowed
from numba.extending import NativeValue, intrinsic, register_model, unbox

from rollstat.compile.jit import kernel

STEPS = 3
"""Words before the arguments."""
HEAD = object.__basicsize__ // 8
"""Words in the header of an object: its reference count and its type."""
LATER = 1
"""What a step returns that has changed nothing, because it does not take the arguments."""

_WORD = ir.IntType(64)
_OBJECT = _WORD.as_pointer()
_STEP = ir.FunctionType(_WORD, [_OBJECT, _WORD, _WORD])


class Bound(types.BaseTuple):
    """The arguments of a step, in memory."""

    def __init__(self, items):
        self.types = items
        super().__init__(f"rollstat.Bound({', '.join(map(str, items))})")

    def __getitem__(self, place):
        return self.types[place]

    def __len__(self):
        return len(self.types)

    def __iter__(self):
        return iter(self.types)


@register_model(Bound)
class _BoundModel(PrimitiveModel):
    def __init__(self, manager, type_):
        super().__init__(manager, type_, _OBJECT)


@unbox(Bound)
def _read_bound(type_, words, compiler):
    """Read the address of the data of an array."""
    return NativeValue(_load(compiler.builder, compiler.builder.bitcast(words, _OBJECT), HEAD, _OBJECT))


def _load(builder, words, place, type_=_WORD):
    """Return the word in a place as a value of a type."""
    address = builder.gep(words, [_WORD(place)])
    return builder.load(builder.bitcast(address, type_.as_pointer()))


def words_of(item):
    """Return the words of an argument or a tuple of them."""
    if isinstance(item, np.ndarray):
        return [item.ctypes.data, *item.shape]
    if isinstance(item, tuple):
        return [word for part in item for word in words_of(part)]
    if isinstance(item, float):
        return list(struct.unpack("q", struct.pack("d", item)))
    return [int(item)]


def _is_held(type_):
    """Return whether words stand for values of a type."""
    if isinstance(type_, types.BaseTuple):
        return all(map(_is_held, type_))
    if isinstance(type_, types.Array):
        return type_.layout == "C"
    return type_ in (types.int64, types.float64, types.boolean)


def compiled_step(dispatcher, arguments):
    """Return the address of a step for arguments in memory, and its library; 0 if they cannot lie there."""
    found = tuple(map(typeof, arguments))
    if not all(map(_is_held, found)):
        return 0, None
    return compiled(dispatcher, Bound(found), types.int64, types.int64)


def _value(context, builder, type_, words, place):
    """Return the value whose words begin at a place, and the place after them."""
    if isinstance(type_, types.BaseTuple):
        items = []
        for each in type_:
            item, place = _value(context, builder, each, words, place)
            items.append(item)
        return context.make_tuple(builder, type_, items), place
    word = _load(builder, words, place)
    if isinstance(type_, types.Array):
        from numba.np.arrayobj import populate_array

        shape = [_load(builder, words, place + 1 + k) for k in range(type_.ndim)]
        size = _WORD(context.get_abi_sizeof(context.get_data_type(type_.dtype)))
        strides = [size]
        for length in shape[:0:-1]:
            strides.insert(0, builder.mul(strides[0], length))
        array = context.make_array(type_)(context, builder)
        data = builder.inttoptr(word, array.data.type)
        populate_array(array, data, shape, strides, size, meminfo=None)
        return array._getvalue(), place + 1 + type_.ndim
    if type_ == types.float64:
        word = builder.bitcast(word, ir.DoubleType())
    elif type_ == types.boolean:
        word = builder.trunc(word, ir.IntType(1))
    return word, place + 1


@intrinsic
def arguments_of(typing_context, bound):
    """Return the arguments of a step as a tuple."""
    result = types.BaseTuple.from_types(bound.types)

    def generate(context, builder, signature, arguments):
        value, _ = _value(context, builder, result, arguments[0], STEPS)
        return impl_ret_borrowed(context, builder, result, value)

    return result(bound), generate


def _reader(result, type_):
    @intrinsic
    def read(typing_context, address):
        """Return the number at an address."""

        def generate(context, builder, signature, arguments):
            return builder.load(builder.inttoptr(arguments[0], type_.as_pointer()))

        return result(types.int64), generate

    return read


word_at = _reader(types.int64, _WORD)
float_at = _reader(types.float64, ir.DoubleType())


@intrinsic
def whole_number(typing_context, address):
    """Return the value of a Python integer, or 2**62 for one that does not fit in 64 bits."""

    def generate(context, builder, signature, arguments):
        api, flag = context.get_python_api(builder), ir.IntType(32)
        overflow = builder.alloca(flag)
        convert = api._get_function(
            ir.FunctionType(_WORD, [api.pyobj, flag.as_pointer()]), name="PyLong_AsLongLongAndOverflow"
        )
        # A number that does not fit is -1.
        found = builder.call(convert, [builder.inttoptr(arguments[0], api.pyobj), overflow])
        fits = builder.icmp_signed("==", builder.load(overflow), flag(0))
        return builder.select(fits, found, _WORD(2**62))

    return types.int64(types.int64), generate


@intrinsic
def answered(typing_context, step, missing, arguments):
    """Return the address of the object that a kernel returns, of the object `missing` for None, or 0.

    Zero means that the kernel has raised, or that there is no memory; then an exception is set.
    """
    called = step.get_call_type(typing_context, tuple(arguments), {})
    inner = getattr(step.dispatcher, "inner", step.dispatcher)
    result = called.return_type

    def generate(context, builder, signature, given):
        compiled = inner.overloads[tuple(called.args)]
        context.add_linking_libs([compiled.library])
        items = [builder.extract_value(given[2], i) for i in range(len(arguments))]
        items = [context.cast(builder, *each) for each in zip(items, arguments, called.args)]
        status, value = context.call_internal_no_propagate(builder, compiled.fndesc, called, items)
        api = context.get_python_api(builder)
        answer = builder.alloca(api.pyobj)
        with builder.if_else(status.is_error, likely=False) as (raised, returned):
            with raised:
                context.call_conv.raise_error(builder, api, status)
                builder.store(api.get_null_object(), answer)
            with returned:
                plain = result.type if isinstance(result, types.Optional) else result
                with builder.if_else(status.is_none, likely=False) as (absent, present):
                    with absent:
                        other = builder.inttoptr(given[1], api.pyobj)
                        api.incref(other)
                        builder.store(other, answer)
                    with present:
                        builder.store(api.from_native_value(plain, value), answer)
        return builder.ptrtoint(builder.load(answer), _WORD)

    return types.int64(step, types.int64, arguments), generate


@intrinsic
def taken(typing_context, step, words, objects, number):
    """Return what the step at a given address returns for objects of Python."""

    def generate(context, builder, signature, arguments):
        step, words, *rest = arguments
        return builder.call(
            builder.inttoptr(step, _STEP.as_pointer()), [builder.inttoptr(words, _OBJECT), *rest]
        )

    return types.int64(types.int64, types.int64, types.int64, types.int64), generate


def _calls(name):
    """Return a function for kernels that calls the method `name` of an object, with what Python passed."""

    @intrinsic
    def call(typing_context, itself, objects, number, names):
        def generate(context, builder, signature, arguments):
            api, (itself, objects, number, names) = context.get_python_api(builder), arguments
            itself, objects, names = (builder.inttoptr(each, api.pyobj) for each in (itself, objects, names))
            kind = ir.FunctionType(api.pyobj, [api.pyobj, api.pyobj, _WORD, api.pyobj])
            function = api._get_function(kind, name="PyObject_Vectorcall")
            method = api.object_getattr_string(itself, name)
            result = builder.call(function, [method, objects, number, names])
            api.decref(method)
            return builder.ptrtoint(result, _WORD)

        return types.int64(*[types.int64] * 4), generate

    return call


_push_otherwise, _pop_otherwise = _calls("_push"), _calls("_pop")


@intrinsic
def _close(typing_context, itself):
    """Call the method `_close` of an object while an exception is set; the exception remains."""

    def generate(context, builder, signature, arguments):
        api = context.get_python_api(builder)
        with api.err_push():
            api.decref(api.call_method(builder.inttoptr(arguments[0], api.pyobj), "_close"))
        return context.get_dummy_value()

    return types.none(types.int64), generate


@intrinsic
def _not_implemented(typing_context):
    """Return a reference to NotImplemented."""

    def generate(context, builder, signature, arguments):
        api = context.get_python_api(builder)
        found = api.get_c_object("_Py_NotImplementedStruct")
        api.incref(found)
        return builder.ptrtoint(found, _WORD)

    return types.int64(), generate


def entry(function):
    """Compile a function of words so that it has an address; it releases no lock and raises nothing."""
    dispatcher = kernel(function)
    if not config.DISABLE_JIT:
        dispatcher.targetoptions |= {"nogil": False, "no_cfunc_wrapper": False}
    return dispatcher


def compiled(dispatcher, *kinds):
    """Return the address of an entry for these types, and the library that must stay in memory."""
    dispatcher.compile(kinds)
    result = dispatcher.overloads[kinds]
    return result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name), result.library


@kernel(forceinline=True)
def _try(itself, objects, number, names, place):
    """Run a step of the window of a stream if it has one, or return LATER."""
    window = word_at(itself + 8 * HEAD)
    array = word_at(window + 8 * HEAD) if window != 0 else 0
    if names != 0 or array == 0:
        return LATER
    words = word_at(array + 8 * HEAD)
    step = word_at(words + 8 * place)
    if step == 0:
        return LATER
    answer = taken(step, words, objects, number)
    if answer == 0:
        _close(itself)
    return answer


@entry
def push(itself, objects, number, names):
    """Push into the window of a stream by its compiled step, or by its method `_push`."""
    answer = _try(itself, objects, number, names, 0)
    return _push_otherwise(itself, objects, number, names) if answer == LATER else answer


@entry
def pop(itself, objects, number, names):
    """Remove rows from the window of a stream by its compiled step, or by its method `_pop`."""
    answer = _try(itself, objects, number, names, 1)
    return _pop_otherwise(itself, objects, number, names) if answer == LATER else answer


@kernel(forceinline=True)
def _run(array, objects, number, place):
    words = word_at(array + 8 * HEAD)
    answer = taken(word_at(words + 8 * place), words, objects, number)
    return _not_implemented() if answer == LATER else answer


@entry
def run_first(array, objects, number, names):
    """Run the first step of words, or return NotImplemented."""
    return _run(array, objects, number, 0)


@entry
def run_second(array, objects, number, names):
    """Run the second step of words, or return NotImplemented."""
    return _run(array, objects, number, 1)


class _Definition(ctypes.Structure):
    """``PyMethodDef``."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


_FAST_WITH_KEYWORDS = 0x82
_definitions = {}
_make_method = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.POINTER(_Definition))(
    ("PyDescr_NewMethod", ctypes.pythonapi)
)
_make_function = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.POINTER(_Definition), ctypes.py_object, ctypes.py_object
)(("PyCFunction_NewEx", ctypes.pythonapi))


def _definition(dispatcher, key, text):
    """Return what Python knows of an entry; it must stay in memory."""
    if key not in _definitions:
        address, library = compiled(dispatcher, *[types.int64] * 4)
        name = dispatcher.__name__.encode()
        _definitions[key] = _Definition(name, address, _FAST_WITH_KEYWORDS, text.encode()), library
    return _definitions[key][0]


def method(cls, dispatcher, signature, doc):
    """Return an entry as a method of a class; `signature` is its text, such as ``"($self, x)"``."""
    text = f"{dispatcher.__name__}{signature}\n--\n\n{doc}"
    return _make_method(cls, _definition(dispatcher, (dispatcher, cls), text))


def step_of(words, place=0):
    """Return a step of words as a function."""
    dispatcher = (run_first, run_second)[place]
    return _make_function(_definition(dispatcher, dispatcher, ""), words, None)
