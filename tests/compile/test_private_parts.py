"""The private parts of Numba and llvmlite that `rollstat.compile` needs: a new release fails here first.

Each part is named with the arguments or attributes by which it is used. What the parts do is tested by the
tests of the modules that use them.
"""

import inspect
from importlib import import_module

import numba
import pytest
from llvmlite import binding, ir
from numba.core import types
from numba.core.registry import cpu_target

# Module that needs the part, the part, and what is passed to it: by position, or by name after a sign ``=``.
CALLED = {
    "jit": {
        "numba.core.compiler:compile_extra": (
            "typingctx targetctx func =args =return_type =flags =locals =library =pipeline_class"
        ),
        "numba.core.dispatcher:_FunctionCompiler": "py_func targetdescr targetoptions locals pipeline_class",
        "numba.core.dispatcher:_FunctionCompiler._compile_core": "self args return_type",
        "numba.core.registry:CPUDispatcher": "py_func =targetoptions",
        "numba.core.registry:CPUDispatcher.get_call_template": "self args kws",
        "numba.core.registry:CPUDispatcher.get_overload": "self sig",
        "numba.core.registry:CPUDispatcher.add_overload": "self cres",
        "numba.core.registry:CPUDispatcher._compile_for_args": "self args kws",
        "numba.core.registry:CPUDispatcher._compilation_chain_init_hook": "self",
        "numba.core.callconv:NumpyErrorModel.fp_zero_division": "self builder exc_args loc",
        "numba.core.imputils:lower_constant": "type",
        "numba.core.types:Dispatcher": "dispatcher",
    },
    "libraries": {
        "numba.core.codegen:JITCodeLibrary": "codegen name",
        "numba.core.codegen:JITCodeLibrary.add_ir_module": "self ir_module",
        "numba.core.codegen:JITCodeLibrary.finalize": "self",
        "numba.core.codegen:JITCodeLibrary._get_module_for_linking": "self",
        "numba.core.codegen:JITCodeLibrary._finalize_dynamic_globals": "self",
        "numba.core.compiler:compile_result": (
            "=target_context =entry_point =library =fndesc =signature =objectmode"
        ),
        "llvmlite.binding:parse_bitcode": "bitcode",
    },
    "cache": {
        "numba.core.caching:CompileResultCacheImpl.reduce": "self data",
        "numba.core.caching:_Cache.load_overload": "self sig target_context",
        "numba.core.caching:_Cache.save_overload": "self sig data",
        "numba.core.runtime:rtsys.initialize": "ctx",
        "numba.core.serialize:NumbaPickler": "file",
        "numba.core.sigutils:normalize_signature": "sig",
        "numba.misc.appdirs:AppDirs": "=appname =appauthor",
        "numba.core.codegen:CodeLibrary": "codegen name",
        "numba.core.codegen:JITCPUCodegen.set_env": "self env_name env",
        "numba.core.cpu:CPUContext.get_executable": "self library fndesc env",
        "numba.core.compiler:compile_result": (
            "=target_context =entry_point =library =fndesc =environment =signature =objectmode"
        ),
        "llvmlite.binding:ObjectFileRef.from_data": "data",
        "llvmlite.binding:ExecutionEngine.add_object_file": "self obj_file",
        "llvmlite.binding:parse_bitcode": "bitcode",
    },
    "pipeline": {
        "numba.core.compiler:CompilerBase.define_pipelines": "self",
        "numba.core.compiler:CompilerBase._compile_core": "self",
        "numba.core.compiler:DefaultPassBuilder.define_nopython_pipeline": "state",
        "numba.core.compiler_machinery:PassManager": "pipeline_name",
        "numba.core.compiler_machinery:PassManager.finalize": "self",
        "numba.core.compiler_machinery:PassManager._runPass": "self index pss internal_state",
    },
    "code": {"numba.core.dispatcher:Dispatcher": "py_func =locals =targetoptions =pipeline_class"},
    "entries": {
        "numba.np.arrayobj:populate_array": "array data shape strides itemsize =meminfo",
        "numba.core.pythonapi:PythonAPI.get_c_object": "self name",
        "numba.core.pythonapi:PythonAPI._get_function": "self fnty =name",
        "numba.core.pythonapi:PythonAPI.object_getattr_string": "self obj attr",
        "numba.core.pythonapi:PythonAPI.call_method": "self callee method",
        "numba.core.pythonapi:PythonAPI.err_push": "self",
        "numba.core.pythonapi:PythonAPI.from_native_value": "self typ val",
        "numba.core.base:BaseContext.call_internal_no_propagate": "self builder fndesc sig args",
        "numba.core.callconv:CPUCallConv.raise_error": "self builder api status",
        "numba.core.codegen:JITCodeLibrary.get_pointer_to_function": "self name",
        "numba.core.datamodel.models:PrimitiveModel": "dmm fe_type be_type",
    },
    "lowering": {
        "numba.core.imputils:impl_ret_borrowed": "ctx builder retty ret",
        "numba.core.typing.context:Context.resolve_function_type": "self func args kws",
        "numba.core.base:BaseContext.get_function": "self fn sig",
        "numba.core.base:BaseContext.add_linking_libs": "self libs",
        "numba.core.base:BaseContext.make_tuple": "self builder typ values",
        "numba.extending:type_callable": "func",
        "numba.extending:lower_builtin": "func argtys",
    },
    "simd": {
        "numba.core.cgutils:unpack_tuple": "builder tup",
        "numba.core.cgutils:do_boundscheck": "context builder ind dimlen",
        "numba.core.cgutils:get_or_insert_function": "module fnty name",
        "numba.core.cgutils:alloca_once": "builder ty",
        "numba.extending:register_model": "fe_type_cls",
    },
}
PARTS = [(user, part, names) for user, parts in CALLED.items() for part, names in parts.items()]


@pytest.mark.parametrize(("user", "part", "parameters"), PARTS, ids=[part for _, part, _ in PARTS])
def test_parts_take_the_arguments(user, part, parameters):
    module, _, path = part.partition(":")
    message = f"rollstat.compile.{user} needs {part}({parameters}), which Numba {numba.__version__} has not"
    found = import_module(module)
    for name in path.split("."):
        assert hasattr(found, name), message
        found = getattr(found, name)
    by_position = [name for name in parameters.split() if name[0] != "="]
    by_name = {name[1:]: None for name in parameters.split() if name[0] == "="}
    try:
        inspect.signature(found).bind(*by_position, **by_name)
    except TypeError as error:
        pytest.fail(f"{message}: {error}")


@numba.njit
def _add(one, two):
    return one + two


ATTRIBUTES = {
    "the compiler of a dispatcher": (
        lambda: _add._compiler,
        "py_func targetdescr targetoptions locals pipeline_class",
    ),
    "a dispatcher": (
        lambda: _add,
        "overloads nopython_signatures targetoptions _can_compile _compiling_counter _cache disable_compile",
    ),
    "compiler flags": (
        lambda: import_module("numba.core.compiler").Flags(),
        "no_compile nrt error_model inline no_cpython_wrapper no_cfunc_wrapper _values",
    ),
    "a code library": (
        lambda: cpu_target.target_context.codegen().create_library("rollstat"),
        "_linking_libraries _final_module _finalized",
    ),
    "the engine of LLVM": (
        lambda: cpu_target.target_context.codegen()._engine,
        "_ee _defined_symbols finalize_object",
    ),
    "the identity of a function": (
        lambda: import_module("numba.core.bytecode").FunctionIdentity.from_function(_add.py_func),
        "unique_id",
    ),
    "the target context": (
        lambda: cpu_target.target_context,
        "refresh codegen insert_user_function enable_boundscheck get_constant get_dummy_value make_array",
    ),
    "the typing context": (lambda: cpu_target.typing_context, "refresh _lookup_global"),
    "error models": (lambda: import_module("numba.core.callconv"), "error_models NumpyErrorModel"),
    "types": (lambda: types, "BaseNamedTuple BaseTuple NestedArray Record unliteral VarArg"),
    "LLVM bindings": (lambda: binding, "get_host_cpu_features get_host_cpu_name get_process_triple"),
    "an LLVM builder": (lambda: ir.IRBuilder(), "cttz ctlz ctpop shuffle_vector insert_element fence"),
}


@pytest.mark.parametrize("part", ATTRIBUTES)
def test_parts_have_the_attributes(part):
    make, names = ATTRIBUTES[part]
    missing = [name for name in names.split() if not hasattr(make(), name)]
    assert not missing, f"rollstat.compile needs {missing} of {part}, which Numba {numba.__version__} has not"


def test_a_target_is_known_by_name_and_features():
    triple, name, features = cpu_target.target_context.codegen().magic_tuple()
    assert all(isinstance(part, str) for part in (triple, name, features))
