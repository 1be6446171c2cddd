r"""Calls of an operator's methods, and operator states kept in arrays.

::

    values    x0      x1      x2          lift      one element -> a state
    cells    [s0]    [s1]    [s2]         load, save a state from and to a cell
               \     /                      combine   (older, newer) -> a state
               [s0 s1]                    lower     a state -> what is asked for

An operator is an instance of a NamedTuple class with the method ``combine`` and, where they are not
the identity, ``lift`` and ``lower``. Its class is a type, so each kernel is specialised on it and its
methods are compiled into the kernel; its fields are parameters known at run time.

States live in one array, the *cells*: of a plain dtype for scalar states, with further dimensions for
states that are small arrays, structured for tuples. A state loaded from a cell may be a view of it,
and is not used after the cell is written again.

A `values` argument is an array, of which each element (a sub-array where it has more than one
dimension) is the argument of ``lift``, or a tuple of such arrays: then ``lift`` gets one argument from
each.
"""

from functools import cache
from inspect import getattr_static
from types import FunctionType

from numba import njit, types

from rollstat._lowering import NO_ENTRIES, jitable, overloaded

__all__ = [
    "combine",
    "combine_states",
    "define",
    "emit",
    "length",
    "lift",
    "lift_argument",
    "lift_element",
    "load",
    "lower",
    "method_call",
    "overflowed",
    "save",
    "take",
]


def define(parameters, body, **names):
    """Compile the source of one function: tuples of any length need an expression for each item."""
    source = f"def implementation({parameters}):\n" + "".join(f"    {line}\n" for line in body)
    exec(source, names)
    return names["implementation"]


@cache
def _compiled(function):
    """The function as compiled code can call it: Numba knows some builtins and ufuncs by themselves."""
    if isinstance(function, FunctionType):
        # A user's method may make arrays, whatever the kernel that is being compiled does.
        options = {"_nrt": True, "forceinline": False} | NO_ENTRIES
        return njit(nogil=True, error_model="numpy", **options)(function)
    return function


def method_call(cls, name, parameters, arguments):
    """What an overload returns for ``instance.name(*arguments)``, the first parameter being the instance.

    Returns None where the class has no such method. A plain function, a static method and an already
    compiled function may all stand in the class.
    """
    method = getattr_static(cls, name, None)
    if method is None:
        return None
    if isinstance(method, staticmethod):
        method = method.__func__
    else:
        arguments = [parameters.split(",")[0], *arguments]
    return define(parameters, [f"return method({', '.join(arguments)})"], method=_compiled(method))


_MESSAGE = "states and results that are arrays must all have the shape of the first"


def _item_types(cells):
    return [(name, cells.dtype.typeof(name)) for name in cells.dtype.fields]


def load(cells, i):
    """The state in cell `i`."""
    return tuple(cells[i]) if cells.dtype.names else cells[i]


@overloaded(load)
def _load(cells, i):
    if isinstance(cells.dtype, types.Record):
        # An array within a structure has a type of its own; a whole view of it is a plain array.
        whole = {name: "[:]" if isinstance(t, types.NestedArray) else "" for name, t in _item_types(cells)}
        items = ", ".join(f"cell[{name!r}]{view}" for name, view in whole.items())
        return define("cells, i", ["cell = cells[i]", f"return ({items},)"])
    return lambda cells, i: cells[i]


def save(cells, i, state):
    """Write `state` into cell `i`; `cells` may also be a tuple of arrays, one for each item."""
    if isinstance(cells, tuple):
        for column, item in zip(cells, state):
            column[i] = item
    else:
        cells[i] = state


def _copy_array(target, source, shape):
    """Lines of code that copy an array item by item, which compiles far quicker than a slice assignment."""
    differs = " or ".join(f"{source}.shape[{k}] != {length}" for k, length in enumerate(shape))
    lines = [f"if {differs}:", "    raise ValueError(MESSAGE)"]
    indices = [f"i{k}" for k in range(len(shape))]
    lines += [f"{'    ' * k}for {i} in range({shape[k]}):" for k, i in enumerate(indices)]
    place = ", ".join(indices)
    return [*lines, f"{'    ' * len(shape)}{target.format(place)} = {source}[{place}]"]


@overloaded(save)
def _save(cells, i, state):
    if isinstance(cells, types.BaseTuple):
        body = [f"save(cells[{k}], i, state[{k}])" for k in range(len(cells))] + ["return None"]
        return define("cells, i, state", body, save=save)
    if isinstance(cells.dtype, types.Record):
        body = ["cell = cells[i]"]
        for k, (name, type_) in enumerate(_item_types(cells)):
            if isinstance(type_, types.NestedArray):
                body += [f"target{k}, source{k} = cell[{name!r}], state[{k}]"]
                body += _copy_array(f"target{k}[{{}}]", f"source{k}", type_.shape)
            else:
                body.append(f"cell[{name!r}] = state[{k}]")
        return define("cells, i, state", body, MESSAGE=_MESSAGE)
    if cells.ndim > 1:
        shape = [f"cells.shape[{k}]" for k in range(1, cells.ndim)]
        return define("cells, i, state", _copy_array("cells[i, {}]", "state", shape), MESSAGE=_MESSAGE)

    def implementation(cells, i, state):
        cells[i] = state

    return implementation


def _as_state(cells, state):
    """`state` in the dtype of `cells`, so that every state of a kernel has one type."""
    return state


@overloaded(_as_state)
def _as_state_overload(cells, state):
    # A queue of free size has its cells in a tuple, the first of which has the dtype of all.
    cells = cells[0] if isinstance(cells, types.BaseTuple) else cells
    if isinstance(cells.dtype, types.Record):
        casts, items = {}, []
        for k, (_, type_) in enumerate(_item_types(cells)):
            if isinstance(type_, types.NestedArray) or state[k] == type_:
                items.append(f"state[{k}]")
            else:
                casts[f"cast{k}"] = type_
                items.append(f"cast{k}(state[{k}])")
        return define("cells, state", [f"return ({', '.join(items)},)"], **casts)
    if cells.ndim > 1 or state == cells.dtype:
        return lambda cells, state: state
    cast = cells.dtype
    return lambda cells, state: cast(state)


def lift_argument(operator, element):
    """What ``lift`` returns for one element; a tuple holds one argument for each column."""
    element = element if isinstance(element, tuple) else (element,)
    return operator.lift(*element) if hasattr(operator, "lift") else element[0]


@overloaded(lift_argument)
def _lift_argument(operator, element):
    several = isinstance(element, types.BaseTuple)
    items = [f"element[{k}]" for k in range(len(element))] if several else ["element"]
    call = method_call(operator.instance_class, "lift", "operator, element", items)
    return call or define("operator, element", [f"return {items[0]}"])


@jitable
def lift_element(operator, cells, element):
    """The state of one element, in the dtype of `cells`."""
    return _as_state(cells, lift_argument(operator, element))


def take(values, i):
    """Element `i`; a tuple with one item of each column where there are several."""
    return tuple(column[i] for column in values) if isinstance(values, tuple) else values[i]


@overloaded(take)
def _take(values, i):
    if isinstance(values, types.BaseTuple):
        items = ", ".join(f"values[{k}][i]" for k in range(len(values)))
        return define("values, i", [f"return ({items},)"])
    return lambda values, i: values[i]


def length(values):
    """How many elements there are."""
    return len(values[0] if isinstance(values, tuple) else values)


@overloaded(length)
def _length(values):
    if isinstance(values, types.BaseTuple):
        return lambda values: len(values[0])
    return lambda values: len(values)


@jitable
def lift(operator, cells, values, i):
    """The state of element `i` of `values`."""
    return lift_element(operator, cells, take(values, i))


def combine_states(operator, older, newer):
    """What ``combine`` returns."""
    return operator.combine(older, newer)


@overloaded(combine_states)
def _combine_states(operator, older, newer):
    return method_call(operator.instance_class, "combine", "operator, older, newer", ["older", "newer"])


@jitable
def combine(operator, cells, older, newer):
    """The state of two neighbouring stretches, the older one first, in the dtype of `cells`."""
    return _as_state(cells, combine_states(operator, older, newer))


def lower(operator, state):
    """What is asked for of `state`: the state itself unless the operator says otherwise."""
    return operator.lower(state) if hasattr(operator, "lower") else state


@overloaded(lower)
def _lower(operator, state):
    call = method_call(operator.instance_class, "lower", "operator, state", ["state"])
    return call or (lambda operator, state: state)


def overflowed(operator, state):
    """Whether the exact result of `state` does not fit its dtype."""
    return bool(operator.overflowed(state)) if hasattr(operator, "overflowed") else False


@overloaded(overflowed)
def _overflowed(operator, state):
    call = method_call(operator.instance_class, "overflowed", "operator, state", ["state"])
    return call or (lambda operator, state: False)


@jitable
def emit(operator, state, out, i, failed):
    """Lower `state` into row `i` of `out`, or mark the row in `failed` if its result overflowed.

    `out` is an array, or a tuple of arrays where ``lower`` gives a tuple; `failed` is a bool array
    with a slot for each row.
    """
    if overflowed(operator, state):
        failed[i] = True
    else:
        save(out, i, lower(operator, state))
