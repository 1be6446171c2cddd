"""How functions that kernels call are compiled: given as code, chosen by types, or written in Python.

::

    @lowered(count_ones)        ->  one instruction, whatever else the kernel does
    @chosen(lift)               ->  a call of another kernel, as the types of the arguments say
    @overloaded(combine)        ->  what Numba compiles of a function made for those types

All of them leave the function itself as it is for Python, which calls it where kernels are not compiled.
The first two are decided while types are inferred; an overload that Numba inlines would do the same, and
costs the compiler some 20 ms for every call in every kernel.

Beside them are the functions of bits, and of the cache, that are single instructions.
"""

import inspect

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, overload, register_jitable, type_callable

__all__ = [
    "NO_ENTRIES",
    "chosen",
    "count_leading_zeros",
    "count_ones",
    "count_trailing_zeros",
    "jitable",
    "known",
    "lowered",
    "overloaded",
    "prefetch",
    "prefetch_to_write",
]

# Functions that only kernels call need no entries for Python and for C, which can take the compiler as long
# as the functions themselves.
NO_ENTRIES = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

jitable = register_jitable(**NO_ENTRIES)


def overloaded(function):
    """As Numba's ``overload``, without entries."""
    return overload(function, jit_options=NO_ENTRIES)


def lowered(function, *kinds):
    """Let the decorated function say how calls of `function` within kernels are compiled.

    It is given the types of the arguments, and returns a signature and what generates the code, as for an
    intrinsic of Numba, or None where it serves no such types. `kinds` are the classes of those types, any by
    default.
    """

    def decorate(resolve):
        def typer(*arguments):
            found = resolve(*arguments)
            return None if found is None else found[0]

        def generate(context, builder, signature, arguments):
            return resolve(*signature.args)[1](context, builder, signature, arguments)

        typer.pysig = inspect.signature(function)
        type_callable(function)(lambda context: typer)
        lower_builtin(function, *(kinds or [types.VarArg(types.Any)]))(generate)
        return resolve

    return decorate


def known(signature, value):
    """What :func:`lowered` wants for a result that is `value`, a constant."""

    def generate(context, builder, signature, arguments):
        return context.get_constant(signature.return_type, value)

    return signature, generate


def chosen(function):
    """Let the decorated function choose the kernel that a call of `function` within kernels is of.

    It is given the types of the arguments, and returns a kernel of as many parameters.
    """

    def decorate(choose):
        def typing(context):
            def typer(*arguments):
                return context.resolve_function_type(types.Dispatcher(choose(*arguments)), arguments, {})

            typer.pysig = inspect.signature(function)
            return typer

        def generate(context, builder, signature, arguments):
            implementation = context.get_function(types.Dispatcher(choose(*signature.args)), signature)
            context.add_linking_libs(implementation.libs)
            return implementation(builder, arguments)

        type_callable(function)(typing)
        lower_builtin(function, types.VarArg(types.Any))(generate)
        return choose

    return decorate


def count_trailing_zeros(word):
    """Number of zero bits below the lowest one bit of a uint64; 64 for zero."""
    word = int(word)
    return 64 if word == 0 else (word & -word).bit_length() - 1


def count_leading_zeros(word):
    """Number of zero bits above the highest one bit of a uint64; 64 for zero."""
    return 64 - int(word).bit_length()


def count_ones(word):
    """Number of one bits of a uint64."""
    return int(word).bit_count()


def _bits(function, method, *flags):
    """Compile a function of the bits of a word as one instruction."""

    @lowered(function)
    def _operation(word):
        def generate(context, builder, signature, arguments):
            return getattr(builder, method)(arguments[0], *flags)

        return types.int64(types.uint64), generate


_ZERO_IS_DEFINED = ir.Constant(ir.IntType(1), 0)
_bits(count_trailing_zeros, "cttz", _ZERO_IS_DEFINED)
_bits(count_leading_zeros, "ctlz", _ZERO_IS_DEFINED)
_bits(count_ones, "ctpop")


def prefetch(array, index):
    """Have the cache fetch the line of an element of a contiguous array, and wait for nothing.

    The element need not exist.
    """


def prefetch_to_write(array, index):
    """As :func:`prefetch`, for an element that is to be written."""


def _prefetching(function, to_write):
    """Compile a function that has the cache fetch a line as one instruction."""

    @lowered(function)
    def _operation(array, index):
        def generate(context, builder, signature, arguments):
            view = context.make_array(array)(context, builder, arguments[0])
            byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
            signature = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
            called = cgutils.get_or_insert_function(builder.module, signature, "llvm.prefetch.p0")
            address = builder.bitcast(builder.gep(view.data, [arguments[1]]), byte)
            to_keep, of_data = word(3), word(1)
            builder.call(called, [address, word(to_write), to_keep, of_data])
            return context.get_dummy_value()

        return types.void(array, types.intp), generate


_prefetching(prefetch, to_write=0)
_prefetching(prefetch_to_write, to_write=1)
