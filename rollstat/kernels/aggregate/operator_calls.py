r"""Calls of the methods of an operator, and operator states in arrays.

::

    values    x0      x1      x2          lift        one element -> state
    cells    [s0]    [s1]    [s2]         load, save  a state from and to a cell
               \     /                    combine     (older, newer) -> state
               [s0 s1]                    lower       state -> result

An operator is an instance of a NamedTuple class with the method ``combine`` and, where they are not
the identity, ``lift`` and ``lower``. Its class is a Numba type, so each kernel is compiled for it, with its
methods; its fields are parameters known at run time.

States are stored in one array, the *cells*: of a plain dtype for scalar states, with further dimensions for
states that are small arrays, structured for tuples. A state loaded from a cell may be a view of the cell, and
must not be used after the cell is written again.

A `values` argument is an array or a tuple of arrays. Each element of an array (a sub-array if the array has
more than one dimension) is an argument of ``lift``; for a tuple, ``lift`` takes one argument from each array.

State, invariant, cost: none of its own.
"""

from inspect import getattr_static
from types import FunctionType

from numba import types

from rollstat.compile.jit import inner_function
from rollstat.compile.lowering import jitable, overloaded


def define(parameters, body, **names):
    """Return a function made from source: tuples of any length need an expression for each item."""
    source = f"def implementation({parameters}):\n" + "".join(f"    {line}\n" for line in body)
    exec(source, names)
    return names["implementation"]


def _compiled(function, numbers):
    """Return the function so that compiled code can call it; Numba knows some builtins and ufuncs itself."""
    if not isinstance(function, FunctionType):
        return function
    own = function.__globals__.get("__name__", "").partition(".")[0] == __name__.partition(".")[0]
    return inner_function(function, error_model="numpy" if own else "rollstat", numbers=numbers)


def method_call(cls, name, parameters, arguments):
    """Return the overload for ``instance.name(*arguments)``; its first parameter is the instance.

    Returns None where the class has no such method. The method may be a plain function, a static method or a
    compiled function. Numbers that it reads may be fields of the instance.
    """
    method, instance = getattr_static(cls, name, None), parameters.split(",")[0]
    if method is None:
        return None
    if isinstance(method, staticmethod):
        method = method.__func__
    else:
        arguments = [instance, *arguments]
    numbers = getattr(cls, "__numbers__", {}).get(name, ())
    call = ", ".join([*arguments, *(f"{number}={instance}.{name}_{number}" for number in numbers)])
    return define(parameters, [f"return method({call})"], method=_compiled(method, numbers))


_MESSAGE = "states and results that are arrays must all have the shape of the first"


def _item_types(cells):
    return [(name, cells.dtype.typeof(name)) for name in cells.dtype.fields]


def load(cells, i):
    """Return the state in cell `i`."""
    return tuple(cells[i]) if cells.dtype.names else cells[i]


@overloaded(load)
def _load(cells, i):
    if isinstance(cells.dtype, types.Record):
        # An array within a structure has its own type; a view of all of it is a plain array.
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
    """Return code that copies an array item by item: it compiles much faster than a slice assignment."""
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
    """Return `state` in the dtype of `cells`, so that all states of a kernel have one type."""
    return state


@overloaded(_as_state)
def _as_state_overload(cells, state):
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
    """Return what ``lift`` returns for one element, a tuple of arguments where there are several columns."""
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
    """Return the state of one element, in the dtype of `cells`."""
    return _as_state(cells, lift_argument(operator, element))


def take(values, i):
    """Return element `i`, a tuple with one item of each column where there are several."""
    return tuple(column[i] for column in values) if isinstance(values, tuple) else values[i]


@overloaded(take)
def _take(values, i):
    if isinstance(values, types.BaseTuple):
        items = ", ".join(f"values[{k}][i]" for k in range(len(values)))
        return define("values, i", [f"return ({items},)"])
    return lambda values, i: values[i]


@jitable
def lift(operator, cells, values, i):
    """Return the state of element `i` of `values`."""
    return lift_element(operator, cells, take(values, i))


def combine_states(operator, older, newer):
    """Return what ``combine`` returns."""
    return operator.combine(older, newer)


@overloaded(combine_states)
def _combine_states(operator, older, newer):
    return method_call(operator.instance_class, "combine", "operator, older, newer", ["older", "newer"])


@jitable
def combine(operator, cells, older, newer):
    """Return the combination of two adjacent states, the older one first, in the dtype of `cells`."""
    return _as_state(cells, combine_states(operator, older, newer))


def lower(operator, state):
    """Return the result of `state`: the state itself unless the operator has a ``lower``."""
    return operator.lower(state) if hasattr(operator, "lower") else state


@overloaded(lower)
def _lower(operator, state):
    call = method_call(operator.instance_class, "lower", "operator, state", ["state"])
    return call or (lambda operator, state: state)


def overflowed(operator, state):
    """Return whether the exact result of `state` does not fit its dtype."""
    return bool(operator.overflowed(state)) if hasattr(operator, "overflowed") else False


@overloaded(overflowed)
def _overflowed(operator, state):
    call = method_call(operator.instance_class, "overflowed", "operator, state", ["state"])
    return call or (lambda operator, state: False)


@jitable
def emit(operator, state, out, i, failed):
    """Lower `state` into row `i` of `out`, or mark the row in `failed` if its result overflowed.

    `out` is an array, or a tuple of arrays where ``lower`` returns a tuple; `failed` is a bool array
    with a slot for each row.
    """
    if overflowed(operator, state):
        failed[i] = True
    else:
        save(out, i, lower(operator, state))
