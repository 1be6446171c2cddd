"""The kernel decorator: how functions are compiled.

Every compiled function of the library is made by :func:`kernel`. Kernels release the GIL, never use
``fastmath`` (it makes ``isnan(nan)`` false) and are stored on disk, see :mod:`rollstat.compile.cache`.

A kernel has up to two dispatchers::

    Python --> entry (_Kernel) ----------> machine code, optimised once with everything that it calls
    another kernel --> inner (_InnerKernel) --> LLVM code that is linked into the entry, not optimised yet

Without the second one, Numba would optimise every function and turn it into machine code by itself, and then
again in each of its callers. That doubles the time to compile. Functions whose names start with an underscore
have no entry.
"""

import inspect
import os
import time
from functools import update_wrapper
from uuid import uuid4
from weakref import WeakSet, WeakValueDictionary

from numba import config, types
from numba.core import callconv, compiler, ir
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import _FunctionCompiler
from numba.core.imputils import lower_constant
from numba.core.ir_utils import build_definitions
from numba.core.registry import CPUDispatcher
from numba.core.typing.templates import make_concrete_template
from numba.extending import models, register_model

from rollstat.compile import interrupts
from rollstat.compile.cache import KernelCache, all_types, record
from rollstat.compile.libraries import Address, InlinedLibrary, InnerCache, InnerLibrary, Library
from rollstat.compile.pipeline import KernelFlags, KernelPipeline, Pipeline

# ``i & INDEX`` equals `i` for every valid index and tells the compiler that it is not negative. Array
# accesses then need no test for counting from the end; that test can take a third of a kernel's time. The
# mask costs nothing: the two bits that it clears are shifted out when an index becomes an offset in bytes.
INDEX = 2**62 - 1


def _holds_arrays(type_):
    """Return whether elements of arrays of this type are arrays themselves."""
    if isinstance(type_, types.BaseTuple):
        return any(_holds_arrays(item) for item in type_)
    if not isinstance(type_, types.Array):
        return False
    fields = type_.dtype.fields.values() if isinstance(type_.dtype, types.Record) else ()
    return type_.ndim > 1 or any(isinstance(field.type, types.NestedArray) for field in fields)


def _with_numbers(function):
    """Return Numba's code of a function that reads names from the arguments that its signature adds."""
    code = compiler.run_frontend(function)
    for block in code.blocks.values():
        for assign in block.find_insts(ir.Assign):
            value = assign.value
            if isinstance(value, ir.Global | ir.FreeVar) and value.name in code.arg_names:
                assign.value = ir.Var(block.scope, value.name, value.loc)
    code._definitions = build_definitions(code.blocks)
    return code


class _UncountedCompiler(_FunctionCompiler):
    """A compiler without reference counts, unless methods of an operator pass arrays to the kernel."""

    library_class = Library
    passes = KernelPipeline

    def _choose_counting(self, args):
        tuples = [type_ for type_ in all_types(args) if isinstance(type_, types.BaseNamedTuple)]
        of_sums = ".kernels.sums." in self.py_func.__module__  # formulas of sums take vectors, never arrays
        operators = not of_sums and any(hasattr(type_.instance_class, "combine") for type_ in tuples)
        self.targetoptions["_nrt"] = operators and any(map(_holds_arrays, args))

    def _compile(self, args, return_type):
        """Return the result of the compiler, whose library is of the class for this kernel."""
        self._choose_counting(args)
        flags = KernelFlags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        flags.no_compile = issubclass(self.library_class, InnerLibrary)
        context = self.targetdescr.target_context
        library = self.library_class(context.codegen(), self.py_func.__qualname__)
        if flags.no_compile:
            library.digest = self.cache.key_without_target(args) or uuid4().hex
        else:
            library.enable_object_caching()
        with_numbers = hasattr(self.py_func, "__signature__")
        compile_function = compiler.compile_ir if with_numbers else compiler.compile_extra
        return compile_function(
            self.targetdescr.typing_context,
            context,
            _with_numbers(self.py_func) if with_numbers else self.py_func,
            args=args,
            return_type=return_type,
            flags=flags,
            locals=self.locals,
            library=library,
            pipeline_class=self.passes,
        )

    def _compile_core(self, args, return_type):
        begin = time.perf_counter()
        result = self._compile(args, return_type)
        record(self.py_func, args, "compiled", time.perf_counter() - begin)
        return result


class _InnerCompiler(_UncountedCompiler):
    """A compiler that stops before optimisation."""

    library_class = InnerLibrary
    noinline = False
    cache: InnerCache

    def _compile_core(self, args, return_type):
        result = self._compile(args, return_type)
        library = result.library
        if self.noinline:
            library._final_module.get_function(result.fndesc.llvm_func_name).add_function_attribute(
                "noinline"
            )
        result = result._replace(entry_point=Address())
        context = self.targetdescr.target_context
        context.insert_user_function(result.entry_point, result.fndesc, [library])
        return result


class _NoinlineCompiler(_InnerCompiler):
    """A compiler of functions that LLVM does not inline."""

    noinline = True


class _CountingCompiler(_InnerCompiler):
    """An inner compiler for functions that may make arrays."""

    library_class = InlinedLibrary
    passes = Pipeline

    def _choose_counting(self, args):
        self.targetoptions["_nrt"] = True

    def _compile_core(self, args, return_type):
        result = super()._compile_core(args, return_type)
        if isinstance(result.signature.return_type, types.Generator):  # its code would not be linked
            raise TypeError(f"{self.py_func.__qualname__} must return values; got a generator")
        return result


class _KernelType(types.Dispatcher):
    """Numba's type of a kernel: code that calls it has no address of this process, so it can be stored."""


register_model(_KernelType)(models.OpaqueModel)


@lower_constant(_KernelType)
def _lower_kernel(context, builder, type_, value):
    return context.get_dummy_value()


class _InnerKernel(CPUDispatcher):
    """A kernel for calls from other kernels, compiled for the types of the arguments, never for a literal.

    It is made when another kernel is compiled: most processes find all that they call in the cache.
    """

    def __init__(self, *of):
        self._of = of

    def __getattr__(self, name):
        with interrupts.held_back(), global_compiler_lock:
            of = vars(self).pop("_of", None)
            if of is not None:
                _make(self, *of)
        return object.__getattribute__(self, name)

    @property
    def _numba_type_(self):
        return _KernelType(self)

    def __call__(self, *args, **kws):
        raise TypeError(f"{self.py_func.__qualname__} can only be called from other kernels")

    def get_call_template(self, args, kws):
        types_alone = [types.unliteral(type_) for type_ in args]
        keywords = {name: types.unliteral(kws[name]) for name in kws}
        pysig, args = self.fold_argument_types(types_alone, keywords)
        if args not in self.overloads:
            self.compile(args)
        # Numba would compare the types with those of everything that this dispatcher has compiled.
        name, found = self.py_func.__name__, [self.overloads[args].signature]
        return make_concrete_template(name, name, found), pysig, args, {}

    def add_overload(self, cres):
        # The base class would also register the wrapper for Python, but there is none.
        self.overloads[tuple(cres.signature.args)] = cres


class _Kernel(CPUDispatcher):
    """A kernel for calls from Python; calls from other kernels go to its `inner` dispatcher."""

    inner: _InnerKernel
    _numba_type_ = _InnerKernel._numba_type_

    def compile(self, sig):
        with interrupts.held_back():
            return super().compile(sig)

    def _compilation_chain_init_hook(self):
        pass  # it reads the metadata of all installed packages, which takes longer than loading a kernel

    def get_call_template(self, args, kws):
        return self.inner.get_call_template(args, kws)

    def get_overload(self, sig):
        return self.inner.get_overload(sig)

    @property
    def is_compiling(self):
        return bool(self._compiling_counter) or self.inner.is_compiling


class _UnusedKernel(_Kernel):
    """A kernel that becomes a :class:`_Kernel` when it is used: a process uses few that it imports."""

    def __init__(self, function, inner, options):
        update_wrapper(self, function)
        self.inner = inner
        self._options = options

    def _become_used(self):
        with interrupts.held_back(), global_compiler_lock:
            options = vars(self).pop("_options", None)
            if options is not None:
                function = self.__wrapped__
                _make(self, _UncountedCompiler, function, options)
                if os.path.exists(function.__code__.co_filename):
                    self._cache = KernelCache(function, options)
                self.__class__ = _Kernel

    def __getattr__(self, name):
        self._become_used()
        return object.__getattribute__(self, name)

    def __call__(self, *args):
        self._become_used()
        return self(*args)

    def compile(self, sig):
        self._become_used()
        return self.compile(sig)


_dispatchers = WeakSet()
CHOSEN = []
"""Dispatchers by types of arguments: one dictionary for each overloaded function."""


def _mentions(arguments, cls):
    """Return whether types of arguments contain operators of a class."""
    return any(getattr(type_, "instance_class", None) is cls for type_ in all_types(arguments))


def forget(cls):
    """Release what is compiled for operators of a class; machine code that is in use stays."""
    with global_compiler_lock:
        for chosen in CHOSEN:
            for arguments in [each for each in chosen if _mentions(each, cls)]:
                del chosen[arguments]
        for dispatcher in filter(None, [reference() for reference in list(_dispatchers.data)]):
            results = dict(dispatcher.overloads)
            if any(_mentions(arguments, cls) for arguments in results):
                dispatcher._reset_overloads()
                for arguments, result in results.items():
                    if _mentions(arguments, cls):
                        dispatcher.targetctx._defns.pop(result.entry_point, None)
                    else:
                        dispatcher.add_overload(result)


def _make(dispatcher, compiler_class, function, options):
    """Make a dispatcher of `function` that compiles with `compiler_class`."""
    CPUDispatcher.__init__(dispatcher, function, targetoptions=dict(options))
    _dispatchers.add(dispatcher)
    dispatcher._compiler.__class__ = compiler_class  # a new one would read the signature once more
    if issubclass(compiler_class, _InnerCompiler):
        options = {**options, "compiler": compiler_class.__name__}
        dispatcher._cache = dispatcher._compiler.cache = InnerCache(function, options)


class _IntegerErrors(callconv.NumpyErrorModel):
    """NumPy's rules for division of floats, and Python's for division of integers by zero."""

    def fp_zero_division(self, builder, exc_args=None, loc=None):
        if not str((exc_args or ("",))[0]).startswith("integer"):
            return False
        self.call_conv.return_user_exc(builder, ZeroDivisionError, exc_args, loc)
        return True


callconv.error_models["rollstat"] = _IntegerErrors


_inner_functions = WeakValueDictionary()


def inner_function(function, forceinline=False, error_model="numpy", numbers=()):
    """Return the dispatcher of any Python function, such as a method of an operator, for calls from kernels.

    `error_model` is ``"numpy"``, or ``"rollstat"`` for a function that raises ZeroDivisionError where it
    divides an integer by zero. `numbers` are names that the function reads and that calls give by keyword.
    """
    key = function, forceinline, error_model, numbers
    dispatcher = _inner_functions.get(key)
    if dispatcher is None:
        options = {"nopython": True, "nogil": True, "error_model": error_model, "forceinline": forceinline}
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        if numbers:
            known = inspect.signature(function)
            new = [
                inspect.Parameter(name, 1, default=None) for name in numbers if name not in known.parameters
            ]
            function.__signature__ = known.replace(parameters=[*known.parameters.values(), *new])
        dispatcher = _inner_functions[key] = _InnerKernel(_CountingCompiler, function, options)
    return dispatcher


def plain(function):
    """Return the Python function of a kernel: for a call that would take longer to compile than to run."""
    return getattr(function, "py_func", function)


def kernel(function=None, *, inline="never", forceinline=False, noinline=False):
    """Compile `function` on first call: no GIL, cached by content, NumPy's rules for division.

    Parameters
    ----------
    function : callable
        A pure function of scalars and preallocated arrays: it makes no arrays, raises no exceptions and has
        no keyword defaults. Arrays are therefore not reference-counted, except where the states of an
        operator are arrays. This saves about 20 ns per call. Functions of the package whose names start with
        an underscore are for kernels only; a call from Python raises TypeError.
    inline : {"never", "always"}
        Whether Numba copies the body into its callers before type inference. This takes much longer to
        compile than a call: ``"always"`` is for functions that return views of arrays, because a call would
        have to reference-count the views.
    forceinline : bool
        Whether LLVM must inline the compiled function into other kernels: for small steps of their loops.
    noinline : bool
        Whether LLVM must not inline the compiled function into other kernels: for long steps that a loop
        seldom takes. They would occupy the registers that the rest of the loop needs.

    Returns
    -------
    callable
        The dispatcher, or `function` itself where ``NUMBA_DISABLE_JIT`` is set.
    """

    def decorate(function):
        if config.DISABLE_JIT:
            return function
        options = {
            "nopython": True,
            "nogil": True,
            "error_model": "numpy",
            "inline": inline,
            "forceinline": forceinline,
            "no_cfunc_wrapper": True,
        }
        inner_compiler = _NoinlineCompiler if noinline else _InnerCompiler
        inner = _InnerKernel(inner_compiler, function, options | {"no_cpython_wrapper": True})
        if function.__name__.startswith("_") and function.__module__.partition(".")[0] == "rollstat":
            return inner
        return _UnusedKernel(function, inner, options)

    return decorate if function is None else decorate(function)
