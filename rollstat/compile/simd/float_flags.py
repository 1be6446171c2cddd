"""The flags that the processor sets when a floating result overflows, or underflows with a loss of digits.

::

    clear_flags()    loads, sums, stores    range_left()

Both calls are in one kernel, so that nothing else sets or clears a flag between them.

State: the flags of the thread. Invariant: without a flag, every result since :func:`clear_flags` is rounded
as if exponents had no limits. Cost: a few cycles per call, none per value. Where the flags cannot be read, in
Python and on other processors, the answer is that the range may have been left.

Source: Intel 64 Software Developer's Manual, volume 1, section 10.2.3 (MXCSR); Arm Architecture Reference
Manual, FPSR.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils

from rollstat.compile.lowering import lowered

_WORD = ir.IntType(32)
_LONG = ir.IntType(64)
# The six flags of MXCSR, and its overflow and underflow flags.
_ALL, _RANGE = 0x3F, 8 | 16
# Overflow and underflow in FPSR.
_ARM_RANGE = 4 | 8


def clear_flags():
    """Clear the flags of this thread."""


def range_left():
    """Return whether a result may have overflowed or underflowed since the flags were cleared."""
    return True


def _processor(builder):
    return builder.module.triple.partition("-")[0]


def _call_sse(builder, name, word):
    """Store or load MXCSR."""
    signature = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer()])
    function = cgutils.get_or_insert_function(builder.module, signature, f"llvm.x86.sse.{name}")
    builder.call(function, [builder.bitcast(word, ir.IntType(8).as_pointer())])


def _assembly(builder, result, arguments, text, constraints):
    """Insert an instruction that no access to memory passes."""
    signature = ir.FunctionType(result, [argument.type for argument in arguments])
    code = ir.InlineAsm(signature, text, f"{constraints},~{{memory}}", side_effect=True)
    return builder.call(code, arguments)


@lowered(clear_flags)
def _clear_flags():
    def generate(context, builder, signature, arguments):
        if _processor(builder) == "x86_64":
            word = cgutils.alloca_once(builder, _WORD)
            _call_sse(builder, "stmxcsr", word)
            builder.store(builder.and_(builder.load(word), _WORD(~_ALL & 0xFFFFFFFF)), word)
            _call_sse(builder, "ldmxcsr", word)
        elif _processor(builder) in ("aarch64", "arm64"):
            _assembly(builder, ir.VoidType(), [_LONG(0)], "msr fpsr, $0", "r")
        return context.get_dummy_value()

    return types.void(), generate


@lowered(range_left)
def _range_left():
    def generate(context, builder, signature, arguments):
        if _processor(builder) == "x86_64":
            word = cgutils.alloca_once(builder, _WORD)
            _call_sse(builder, "stmxcsr", word)
            flags = builder.and_(builder.load(word), _WORD(_RANGE))
        elif _processor(builder) in ("aarch64", "arm64"):
            flags = builder.and_(_assembly(builder, _LONG, [], "mrs $0, fpsr", "=r"), _LONG(_ARM_RANGE))
        else:
            return context.get_constant(types.boolean, True)
        return builder.icmp_unsigned("!=", flags, flags.type(0))

    return types.boolean(), generate
