"""Operations on one operand or on a pair, so that one kernel finds an extremum, with or without its position.

::

    prefer(Least(), 3, 5)                              3
    prefer(Arg(Least(), Oldest()), (3, 7), (5, 6))     (3, 7)     minimum and its position

An operand is a scalar, a vector or an array; a pair is a tuple of two of them. An operation on pairs runs
once for each element and returns the pair of results. An operand that is not a pair serves both elements.
Under the order :class:`Arg` a pair is a value and its position, and only the values are compared.

State: none. Invariant: single operands compile to the code of the operation itself, and pairs to that code
twice. Cost: that of the operations.
"""

from inspect import Parameter, Signature
from typing import Any, NamedTuple

from numba import types

from rollstat.compile import lowering
from rollstat.compile.jit import INDEX, kernel
from rollstat.compile.simd import vectors
from rollstat.kernels.simd import comparator, fill_copy
from rollstat.kernels.simd.comparator import choose

__all__ = [
    "Arg",
    "at",
    "broadcast",
    "broadcast_lane",
    "copy",
    "first_of",
    "load",
    "pairwise",
    "prefer",
    "rows",
    "rows_from",
    "set_at",
    "shift_in_next",
    "shift_in_previous",
    "store",
]


class Arg(NamedTuple):
    """The order of pairs of a value and its position; `ties` says which of equal values wins."""

    order: Any
    ties: Any


# Numba drops the parameters that a call omits, but cannot compile a call with a variable number of them.
_PARAMETERS = Signature(
    [Parameter(f"operand_{i}", Parameter.POSITIONAL_ONLY, default=None) for i in range(20)]
)


def _is(order, operand):
    """Return whether an operand, or Numba's type of it, is of the class `order`."""
    return isinstance(operand, order) or getattr(operand, "instance_class", None) is order


def _is_pair(operand):
    """Return whether an operand, or Numba's type of it, is a pair; named tuples are not."""
    if isinstance(operand, types.Type):
        return isinstance(operand, types.BaseTuple) and not isinstance(operand, types.BaseNamedTuple)
    return type(operand) is tuple


def _takes_pairs(operands):
    return any(_is_pair(operand) for operand in operands)


def _element(operand, side):
    """Return the operand, or Numba's type of it, for one element of a pair."""
    return operand[side] if _is_pair(operand) else operand


def pairwise(function, by_value=None):
    """Return `function`, a kernel or an operation, for single operands and for pairs.

    `by_value` is called instead of `function` where the order, the first operand, is an :class:`Arg`.
    """

    def operation(*operands):
        if by_value is not None and _is(Arg, operands[0]):
            return by_value(*operands)
        if not _takes_pairs(operands):
            return function(*operands)
        first, second = (function(*(_element(operand, side) for operand in operands)) for side in range(2))
        return None if first is None else (first, second)

    def type_of(*operands):
        if by_value is not None and _is(Arg, operands[0]):
            return lowering.result_type(by_value, operands)
        if not _takes_pairs(operands):
            return lowering.result_type(function, operands)
        first, second = (
            lowering.result_type(function, tuple(_element(operand, side) for operand in operands))
            for side in range(2)
        )
        return first if first == types.none else types.BaseTuple.from_types((first, second))

    def generate(context, builder, signature, operands):
        if by_value is not None and _is(Arg, signature.args[0]):
            return lowering.call(context, builder, by_value, signature.args, operands)
        if not _takes_pairs(signature.args):
            return lowering.call(context, builder, function, signature.args, operands)
        results = []
        for side in range(2):
            element_types = tuple(_element(operand, side) for operand in signature.args)
            elements = [
                builder.extract_value(operand, side) if _is_pair(operand_type) else operand
                for operand_type, operand in zip(signature.args, operands)
            ]
            results.append(lowering.call(context, builder, function, element_types, elements))
        if signature.return_type == types.none:
            return context.get_dummy_value()
        return context.make_tuple(builder, signature.return_type, results)

    operation.__signature__ = _PARAMETERS
    lowering.lowered(operation)(lambda *operands: (type_of(*operands)(*operands), generate))
    return operation


@kernel(forceinline=True)
def _prefer_by_value(order, newer, older):
    """Return the pair with the better value; among equal values the ties of `order` decide."""
    best = comparator.prefer(order.order, newer[0], older[0])
    return best, choose(order.order, order.ties, older[0], newer[0], older[1], newer[1])


@kernel(forceinline=True)
def _at(array, i):
    """Return element `i` of an array; `i` is not negative."""
    return array[i & INDEX]


@kernel(forceinline=True)
def _set_at(value, array, i):
    """Write `value` to element `i` of an array."""
    array[i] = value


def _rows(array, first, last):
    """Return elements `first` to `last` - 1 of an array."""
    return array[first:last]


@lowering.lowered(_rows)
def _compile_rows(array, first, last):
    def generate(context, builder, signature, arguments):
        return lowering.slice_of(context, builder, array, *arguments)

    return lowering.type_of_slice(array)(array, types.intp, types.intp), generate


def _rows_from(array, first):
    """Return the elements of an array from `first` on."""
    return array[first:]


@lowering.lowered(_rows_from)
def _compile_rows_from(array, first):
    def generate(context, builder, signature, arguments):
        last = context.get_constant(types.intp, 2**63 - 1)
        return lowering.slice_of(context, builder, array, *arguments, last)

    return lowering.type_of_slice(array)(array, types.intp), generate


def first_of(operand):
    """Return the operand, or the first element of a pair."""
    return operand[0] if _is_pair(operand) else operand


@lowering.lowered(first_of)
def _compile_first_of(operand):
    def generate(context, builder, signature, arguments):
        return builder.extract_value(arguments[0], 0) if _is_pair(operand) else arguments[0]

    return _element(operand, 0)(operand), generate


at = pairwise(_at)
rows = pairwise(_rows)
rows_from = pairwise(_rows_from)
set_at = pairwise(_set_at)
copy = pairwise(fill_copy.copy)
broadcast = pairwise(vectors.broadcast)
load = pairwise(vectors.load)
prefer = pairwise(comparator.prefer, by_value=_prefer_by_value)
shift_in_next = pairwise(vectors.shift_in_next)
shift_in_previous = pairwise(vectors.shift_in_previous)
broadcast_lane = pairwise(vectors.broadcast_lane)
store = pairwise(vectors.store)
