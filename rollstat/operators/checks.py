"""Tests on samples of the laws that an operator must satisfy."""

import math
from collections.abc import Iterable
from copy import deepcopy
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np

from rollstat.operators.interface import arguments_of_lift, as_operator, for_dtype, key_of
from rollstat.operators.layout import computing_dtype

_STATES_TRIED = 16
_SAMPLE = 4  # elements of the data whose triples are tried
_passed: set[Any] = set()  # keys of operators that were associative on numbers of earlier calls
_ROUNDING = 1e-6  # relative to the largest number; floats are associative only up to rounding


def _equal(first: Any, second: Any, rtol: float, atol: float) -> bool:
    first, second = (x.tolist() if isinstance(x, np.ndarray) else x for x in (first, second))
    if isinstance(first, tuple | list) and isinstance(second, tuple | list):
        return len(first) == len(second) and all(_equal(a, b, rtol, atol) for a, b in zip(first, second))
    if isinstance(first, float) or isinstance(second, float):
        if first == second or (first != first and second != second):
            return True
        return bool(abs(first - second) <= atol + rtol * max(abs(first), abs(second)))
    return bool(first == second)


def _format(value: Any) -> str:
    """Return the text of a value, with NumPy scalars as plain numbers."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_format, value))}{',' * (len(value) == 1)})"
    return repr(value.item() if isinstance(value, np.generic) else value)


def _lifted(operator: Any, samples: Iterable[Any]) -> list[tuple[str, Any]]:
    """Return the states of samples, each with the text of its sample."""
    several = arguments_of_lift(operator) > 1
    states = []
    for sample in samples:
        arguments = tuple(sample) if several else (sample,)
        lifted = operator.lift(*arguments) if hasattr(operator, "lift") else arguments[0]
        states.append((_format(sample), lifted))
    return states


def _sample_states(operator: Any, samples: Iterable[Any]) -> list[tuple[str, Any]]:
    """Return states of samples and of pairs of samples, each with the text of its samples."""
    states = _lifted(operator, samples)[:_STATES_TRIED]
    for (name, older), (other, newer) in pairwise(states[:]):
        if len(states) < _STATES_TRIED:
            states.append((f"{name} then {other}", operator.combine(older, newer)))
    return states


def _prepare(operator: Any, samples: Iterable[Any]) -> tuple[Any, list[Any]]:
    """Return the operator for the samples, and the samples, numbers converted to their computing dtype."""
    operator, samples = as_operator(operator), list(samples)
    if not samples:
        raise ValueError("samples must hold at least one element")
    if not any(isinstance(sample, tuple | np.ndarray) for sample in samples):
        array = np.asarray(samples) if all(np.isscalar(sample) for sample in samples) else None
        if array is not None and array.dtype.kind in "biufc":
            array = array.astype(computing_dtype(array.dtype))
            return for_dtype(operator, array.dtype), list(array)
    return operator, samples


def check_operator(operator: Any, samples: Iterable[Any], *, rtol: float = 1e-9, atol: float = 1e-12) -> None:
    """Raise if an operator is not associative, its identity is wrong, or it changes its arguments.

    The methods are called as plain Python on all triples of up to 16 states made of the samples. The results
    of ``lower`` are compared.

    Parameters
    ----------
    operator : Operator or callable
        An operator, or a function of two states.
    samples : iterable
        Arguments of ``lift``; tuples if it takes several columns.
    rtol, atol : float
        Relative and absolute tolerance for floats.

    Raises
    ------
    ValueError
        If a law is violated; the message names the law, the values and both results.
    """
    operator, samples = _prepare(operator, samples)
    states = _sample_states(operator, samples)

    def lower(state: Any) -> Any:
        return operator.lower(state) if hasattr(operator, "lower") else state

    def compare(law: str, first: Any, second: Any) -> None:
        if not _equal(lower(first), lower(second), rtol, atol):
            raise ValueError(f"{law}: {_format(lower(first))} is not {_format(lower(second))}")

    with np.errstate(all="ignore"):
        for (a, older), (b, newer) in product(states, repeat=2):
            kept = deepcopy((older, newer))
            operator.combine(older, newer)
            if not _equal((older, newer), kept, rtol, atol):
                raise ValueError(f"combine changed its arguments ({a}), ({b}): only combine_into may")
        for (a, older), (b, middle), (c, newer) in product(states, repeat=3):
            left = operator.combine(operator.combine(older, middle), newer)
            right = operator.combine(older, operator.combine(middle, newer))
            compare(f"combine is not associative on ({a}), ({b}), ({c})", left, right)
        if hasattr(operator, "identity"):
            identity = operator.identity() if callable(operator.identity) else operator.identity
            for name, state in states:
                law = f"identity {_format(identity)} is not neutral"
                compare(f"{law} before ({name})", operator.combine(identity, state), state)
                compare(f"{law} after ({name})", operator.combine(state, identity), state)
        if hasattr(operator, "combine_into"):
            for (a, older), (b, newer) in product(states, repeat=2):
                accumulated = operator.combine_into(deepcopy(older), newer)
                law = f"combine_into differs from combine on ({a}), ({b})"
                compare(law, accumulated, operator.combine(older, newer))


def _largest(value: Any) -> float:
    """Return the largest magnitude of the numbers in a state; inf if one is not finite."""
    if isinstance(value, float | int | np.number):
        return abs(float(value)) if math.isfinite(value) else math.inf
    if isinstance(value, np.ndarray):
        value = value.ravel().tolist()
    return max(map(_largest, value), default=0.0) if isinstance(value, tuple | list) else 0.0


def _differ(first: Any, second: Any, atol: float) -> bool:
    """Return whether two states or results differ, if their type defines a comparison."""
    own: Any = type(first).__eq__
    return own is not object.__eq__ and not _equal(first, second, 0.0, atol)


def _elements(series: Any) -> list[Any]:
    """Return different observed elements near the start of a series."""
    array = series if isinstance(series, np.ndarray) else np.asarray(series)
    found = np.ma.MaskedArray(array, np.ma.getmaskarray(series)).ravel()[:1000].compressed()
    if found.dtype.kind == "f":
        found = found[np.isfinite(found)]
    found = found.astype(computing_dtype(found.dtype))
    return list(found[np.sort(np.unique(found, return_index=True)[1])][:_SAMPLE])


def check_on_data(operator: Any, columns: Any, objects: bool = False) -> bool:
    """Raise ValueError if an operator is not associative on a sample of the data.

    Return whether more data could show more.

    Parameters
    ----------
    operator : Operator
        Its methods are called as plain Python. One that Python cannot call is not checked.
    columns : sequence
        The series, or elements that are objects. Of objects only adjacent triples are tried, because their
        combination may be expensive.
    objects : bool
        Whether elements are objects.
    """
    known = key_of(operator)
    if known in _passed:
        return False
    try:
        failed = _failure(operator, columns, objects)
    except Exception:  # what is wrong with the call shows when it runs
        return False
    if failed:
        raise ValueError(f"operator must be associative; {failed}; check=False skips this check")
    if failed is not None and known is not None:
        _passed.add(known)
    return failed is None


def _failure(operator: Any, columns: Any, objects: bool) -> str | None:
    """Return how three elements show that an operator is not associative.

    Empty if no elements show it, None if there are too few different ones to tell.
    """
    if objects:
        states = _lifted(operator, deepcopy([each for each in columns if each is not None][:_SAMPLE]))
        triples: Iterable[Any] = zip(states, states[1:], states[2:])
    else:
        rows = [_elements(series) for series in columns]
        if getattr(operator, "with_row", False):
            rows.append(list(range(_SAMPLE)))
        samples = list(zip(*rows)) if len(rows) > 1 else rows[0]
        operator = operator if len(rows) > 1 else for_dtype(operator, np.asarray(samples).dtype)
        states = _lifted(operator, samples)
        triples = permutations(states, 3) if len(states) > 2 else product(states, repeat=3)
    lower = getattr(operator, "lower", lambda state: state)
    with np.errstate(all="ignore"):
        for (a, older), (b, middle), (c, newer) in triples:
            early, late = operator.combine(older, middle), operator.combine(middle, newer)
            left, right = operator.combine(early, newer), operator.combine(older, late)
            atol = _ROUNDING * _largest((older, middle, newer, early, late, left, right))
            if math.isinf(atol) or not _differ(left, right, atol):
                continue
            first, second = lower(left), lower(right)
            if _differ(first, second, max(atol, _ROUNDING * _largest((first, second)))):
                return f"got {_format(first)} for ({a}, {b}), {c} and {_format(second)} for {a}, ({b}, {c})"
    return "" if len(states) > 2 and not objects else None
