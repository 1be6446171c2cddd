"""A test on samples of the laws that an operator must satisfy."""

from collections.abc import Iterable
from copy import deepcopy
from itertools import pairwise, product
from typing import Any

import numpy as np

from rollstat.operators.interface import arguments_of_lift, as_operator, for_dtype
from rollstat.operators.layout import computing_dtype

_STATES_TRIED = 16


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


def _sample_states(operator: Any, samples: Iterable[Any]) -> list[tuple[str, Any]]:
    """Return states of samples and of pairs of samples, each with the text of its samples."""
    several = arguments_of_lift(operator) > 1
    states = []
    for sample in samples:
        arguments = tuple(sample) if several else (sample,)
        lifted = operator.lift(*arguments) if hasattr(operator, "lift") else arguments[0]
        states.append((_format(sample), lifted))
    states = states[:_STATES_TRIED]
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
                law = f"identity {_format(identity)} is none"
                compare(f"{law} before ({name})", operator.combine(identity, state), state)
                compare(f"{law} after ({name})", operator.combine(state, identity), state)
        if hasattr(operator, "combine_into"):
            for (a, older), (b, newer) in product(states, repeat=2):
                accumulated = operator.combine_into(deepcopy(older), newer)
                law = f"combine_into differs from combine on ({a}), ({b})"
                compare(law, accumulated, operator.combine(older, newer))
