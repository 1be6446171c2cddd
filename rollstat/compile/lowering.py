"""How functions that kernels call are compiled: as LLVM code, by choice of a kernel, or as Python.

::

    @lowered(count_ones)        ->  one instruction
    @dispatching                ->  a call of another kernel, chosen by the types of the arguments
    @overloaded(combine)        ->  a Python function, made for these types, that Numba compiles

Each stays a Python function, called where kernels are not compiled. All are resolved during
type inference. Numba's own overloads would do the same, but Numba optimises each of them and turns it into
machine code by itself. That takes some 20 ms.

The module also has functions that are single instructions, counting bits and prefetching, and the tuples that
generators of code make.
"""

import inspect
from functools import wraps

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.imputils import impl_ret_borrowed
from numba.core.registry import cpu_target
from numba.extending import lower_builtin, type_callable

from rollstat.compile.interrupts import held_back
from rollstat.compile.jit import CHOSEN, inner_function


def lowered(function, *kinds):
    """Let the decorated function compile calls of `function` in kernels.

    It gets the types of the arguments. It returns a signature and a code generator, as an intrinsic of Numba
    does, or None if it does not support these types. `kinds` are the classes of the types, any by default.
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


def constant(signature, value):
    """Return what :func:`lowered` expects, for a call whose result is the constant `value`."""

    def generate(context, builder, signature, arguments):
        return context.get_constant(signature.return_type, value)

    return signature, generate


def tuple_of(context, builder, type_, values):
    """Generate a tuple of arguments; count each of these once more if references are counted."""
    return impl_ret_borrowed(context, builder, type_, context.make_tuple(builder, type_, values))


def dispatched(function):
    """Let the decorated function choose the kernel that calls of `function` in kernels go to.

    It gets the types of the arguments and returns a kernel with the same parameters.
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


def dispatching(choose):
    """Make the decorated function call the kernel that it chooses, in Python and in kernels.

    It gets the arguments or their types, see :func:`class_of`, and returns a kernel with the same parameters.
    """

    @wraps(choose)
    def call(*arguments):
        return choose(*arguments)(*arguments)

    dispatched(call)(choose)
    return call


def class_of(argument):
    """Return the class of a named tuple, from the tuple or from its type in kernels."""
    return getattr(argument, "instance_class", type(argument))


def overloaded(function):
    """Let the decorated function make the function that calls of `function` in kernels go to.

    It gets the types of the arguments and returns a Python function with the same parameters.
    """

    def decorate(make):
        def choose(*arguments):
            arguments = tuple(map(types.unliteral, arguments))
            if arguments not in chosen:
                chosen[arguments] = inner_function(make(*arguments), forceinline=True)
            return chosen[arguments]

        chosen = {}
        CHOSEN.append(chosen)
        dispatched(function)(choose)
        return make

    return decorate


def jitable(function):
    """Let kernels call the decorated Python function."""
    overloaded(function)(lambda *arguments: function)
    return function


def result_type(function, *arguments):
    """Return the type that a call of `function` in a kernel has; no machine code is made."""
    context = cpu_target.typing_context
    with held_back(), global_compiler_lock:  # a refresh half done misleads other threads and later calls
        context.refresh()
        return context.resolve_function_type(context.resolve_value_type(function), arguments, {}).return_type


def count_trailing_zeros(word):
    """Return the number of zero bits below the lowest one bit of a uint64; 64 for zero."""
    word = int(word)
    return 64 if word == 0 else (word & -word).bit_length() - 1


def count_leading_zeros(word):
    """Return the number of zero bits above the highest one bit of a uint64; 64 for zero."""
    return 64 - int(word).bit_length()


def count_ones(word):
    """Return the number of one bits of a uint64."""
    return int(word).bit_count()


def _compile_as(function, method, *flags):
    """Compile a function of a word as the instruction `method` of the builder."""

    @lowered(function)
    def _operation(word):
        def generate(context, builder, signature, arguments):
            return getattr(builder, method)(arguments[0], *flags)

        return types.int64(types.uint64), generate


_ZERO_IS_DEFINED = ir.Constant(ir.IntType(1), 0)
_compile_as(count_trailing_zeros, "cttz", _ZERO_IS_DEFINED)
_compile_as(count_leading_zeros, "ctlz", _ZERO_IS_DEFINED)
_compile_as(count_ones, "ctpop")


def prefetch(array, index):
    """Request the cache line of an element of a contiguous array, without waiting for it.

    The index may be out of bounds.
    """


def prefetch_to_write(array, index):
    """Like :func:`prefetch`, for an element that will be written."""


def _compile_prefetch(function, to_write):
    """Compile a prefetching function as one instruction."""

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


_compile_prefetch(prefetch, to_write=0)
_compile_prefetch(prefetch_to_write, to_write=1)
