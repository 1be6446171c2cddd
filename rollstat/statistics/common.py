"""What all statistics share: registration, signature and docstring, checks of parameters, and calls.

A public function checks its own parameters and returns a call of a computation; see :func:`call` and
:func:`combine`. The decorator :func:`statistic` runs the call and keeps its plan.
"""

import inspect
import math
import numbers as abstract_numbers
import textwrap
from collections.abc import Callable, Mapping
from functools import partial, wraps
from types import MappingProxyType
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat import operators as built_in
from rollstat.dtypes import check_array, without_infinities
from rollstat.engine import Call, execute, key_of_arrays
from rollstat.foreign import call_like
from rollstat.names import reject_unknown
from rollstat.operators.interface import key_of
from rollstat.options import DEFAULTS, CommonOptions, Options, Window, get_threads, parse_width
from rollstat.plan import PLAIN_DTYPES, Computation, Plan, keep_plan, kept_plans
from rollstat.registry import REGISTRY, Statistic, check_algorithm
from rollstat.statistics.aggregate.computation import Combination
from rollstat.statistics.aggregate.drivers import ALGORITHMS
from rollstat.windows import Around, Expanding, Forward

Function = TypeVar("Function", bound=Callable[..., Any])

_OWN_KINDS = (np.ndarray, list, tuple, np.ma.MaskedArray)
# Arguments of these types that are equal mean the same.
_SIMPLE_TYPES = {int, float, str, bool, bytes, type(None), Expanding}
# Options that are keys in other forms, or none.
_OF_DATA = {"at", "nan_policy", "times", "halflife", "segments", "out"}
_MOST_SEGMENTS = 1_000  # of calls whose plans are kept
_LONGEST_LIST = 100  # that is part of a key

_SERIES = """\
arr : array_like of float, int, bool, datetime64 or timedelta64, shape (..., n, ...)
    The series, along `axis`.
"""

_NUMBERS = """\
arr : array_like of float, int or bool, shape (..., n, ...)
    The series, along `axis`.
"""

_WINDOW = """\
window : int, str, timedelta, number, array, DateOffset, (start, end), Expanding, Forward, Around or indexer
    The window of each row: a number of rows, ending with the row itself; a duration, a calendar unit or a
    number, together with `times`; an array with a size for each row; or explicit bounds ``[start, end)``, two
    integer arrays. See :ref:`windows`.
"""

_DDOF = """\
ddof : int, default 1
    Delta degrees of freedom: the divisor is the number of observations minus `ddof`.
"""

_EWM = """\
window : window, default Expanding()
    All rows so far, or any window that :func:`rolling_mean` takes; rows outside it have no weight.
alpha : float, optional
    The share of the newest row; each row has ``1 - alpha`` times the weight of the next row.
    Pass exactly one of `alpha`, `com`, `span` and `halflife`.
com : float, optional
    The centre of mass in rows, ``1 / alpha - 1``.
span : float, optional
    The number of rows of a moving average with the same mean age, ``2 / alpha - 1``.
halflife : float, str or timedelta, optional
    The number of rows in which weights halve. With `times`, the duration, such as ``"5D"``, or a number if
    the times are numbers.
adjust : bool, default True
    Whether to divide by the sum of the weights. Otherwise each observation has the share `alpha`, and the
    window's first observation has the rest.
ignore_na : bool, default False
    Whether missing values leave the weights of earlier values unchanged.
"""

_RAISES = """\
ValueError, TypeError
    If an array, a parameter, the window or an option is invalid. Raised before anything is computed.
"""

_IN_DTYPE = """\
ndarray, shape (..., rows, ...)
    Floats and datetimes in the dtype of `arr`. Integers and bool keep their dtype with ``fill_value=``, or
    with ``mode="valid"`` if no result can be missing; otherwise they are float64, with NaN for a missing
    result.
"""

_FLOAT = """\
ndarray of float, shape (..., rows, ...)
    float32 for float32 input, otherwise float64. NaN where missing.
"""

_SHARED = {
    "series": _SERIES,
    "numbers": _NUMBERS,
    "window": _WINDOW,
    "ddof": _DDOF,
    "ewm": _EWM,
    "options": inspect.cleandoc(CommonOptions.__doc__ or "").partition("----------\n")[2] + "\n",
    "raises": _RAISES,
    "in dtype": _IN_DTYPE,
    "float": _FLOAT,
}


def _document(text: str, error_bound: tuple[str, ...]) -> str:
    """Return a docstring with the shared text in place of ``{window}``, ``{options}`` and so on."""
    text = inspect.cleandoc(text)
    for number, bound in enumerate(error_bound):
        text = text.replace(f"{{error bound {number}}}" if number else "{error bound}", bound)
    for name, part in _SHARED.items():
        text = text.replace(f"{{{name}}}\n", part)
    return text


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature with the common options in place of ``**options``."""
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    common = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in DEFAULTS.items()
        if name not in signature.parameters
    ]
    return signature.replace(parameters=[*own, *common])


def _call_key(name: str, arrays: tuple[Any, ...], others: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what decides the plan of a call of aligned arrays and simple arguments; None for others."""
    times, decays = None, False
    if not _OF_DATA.isdisjoint(options):
        if options.get("at") is not None or options.get("nan_policy") == "raise":
            return None
        times = options.get("times")
        decays = "halflife" in options and type(options.get("window")) is Expanding
        if "times" in options:
            options = {**options, "times": None}  # the key of the arrays holds them
        segments = options.get("segments")
        if type(segments) is np.ndarray and segments.dtype == np.int64 and segments.size <= _MOST_SEGMENTS:
            options = {**options, "segments": segments.tobytes()}
        if "out" in options:
            options = {name: value for name, value in options.items() if name != "out"}
    key = key_of_arrays(arrays, times, not decays)
    if key is None:
        return None
    simple = *others, *options.values()
    types = tuple(map(type, simple))
    if not _SIMPLE_TYPES.issuperset(types):
        keys = [key_of(_as_tuple(value)) for value in simple if type(value) not in _SIMPLE_TYPES]
        if None in keys:
            return None
        simple = *keys, *(value for value in simple if type(value) in _SIMPLE_TYPES)
    return name, *key, *options, *simple, types, get_threads()


def _as_tuple(value: Any) -> Any:
    """Return the parts of a window, or the elements of a short list; other values as they are."""
    if isinstance(value, (Forward, Around)):
        return tuple(vars(value).values())
    return tuple(value) if type(value) is list and len(value) <= _LONGEST_LIST else value


def _run(call: Any, key: Any, arrays: tuple[Any, ...]) -> Any:
    """Run a resolved call; keep its plan if the call is over its arguments.

    A plan that is kept serves every call with an equal `key`: to resolve a call reads nothing but the key and
    the types of its arrays.
    """
    if key is None:
        return call.run()
    if not isinstance(call, Call):
        if call.over is not None:
            keep_plan(key, call.over)
        return call.run()
    if len(call.arrays) - (call.derive is not None) != len(arrays):
        return call.run()
    return call.run(key if all(a is b for a, b in zip(call.arrays, arrays)) else None)


def _as_box(
    signature: inspect.Signature, arguments: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call over several axes, with the rows of its box along each of them."""
    axes = tuple(options["axis"])
    bound = signature.bind(*arguments, **{**options, "axis": axes})
    if isinstance(bound.arguments.get("window"), abstract_numbers.Integral):
        bound.arguments["window"] = (bound.arguments["window"],) * len(axes)
    return bound.args, bound.kwargs


def _is_own(arguments: tuple[Any, ...]) -> bool:
    """Return whether the first argument is an array, or a tuple of arrays, that no other library owns."""
    one = arguments[0] if arguments else ()
    return type(one[0] if type(one) is tuple and one else one) in _OWN_KINDS


def _without_infinities(arguments: tuple[Any, ...], series: int) -> tuple[Any, ...]:
    """Return the arguments of a function with NaN for infinite elements of its series."""
    arrays = [
        tuple(map(without_infinities, each)) if type(each) is tuple else without_infinities(each)
        for each in arguments[:series]
    ]
    return *arrays, *arguments[series:]


def statistic(*, name: str | None = None, cost: str, **fields: Any) -> Callable[[Function], Function]:
    """Register a public function, and complete its signature and docstring.

    Parameters
    ----------
    name : str, optional
        Name of the statistic. Default: the name of the function without ``rolling_``.
    cost : str
        Field of :class:`rollstat.registry.Statistic`; it may be indented.
    **fields
        Its other fields; ``function`` and ``parameters`` are read from the function.
    """

    def decorate(resolve: Function) -> Function:
        @wraps(resolve)
        def resolved(*arguments: Any, **options: Any) -> Any:
            if of_k and "m" in options:
                options["window"] = options.pop("m")
            try:
                if isinstance(options.get("axis"), (tuple, list)):
                    arguments, options = _as_box(signature, arguments, options)
                return resolve(*arguments, **options)
            except TypeError:
                reject_unknown(f"{resolve.__name__}()", options, own_names, DEFAULTS)
                raise

        def over_own(*arguments: Any, **options: Any) -> Any:
            if options.get("inf") == "missing":
                arguments = _without_infinities(arguments, series)
            return resolved(*arguments, **options).run()

        @wraps(resolve)
        def function(*arguments: Any, **options: Any) -> Any:
            for given in names[len(arguments) :]:  # series given by name
                if given not in options:
                    break
                arguments += (options.pop(given),)
            if options.get("inf") == "missing" and _is_own(arguments):
                arguments = _without_infinities(arguments, series)
            if of_k and "m" in options:  # the name of the window in the formulas of order statistics
                options["window"] = options.pop("m")
            arrays = arguments[:series]
            key = _call_key(short, arrays, arguments[series:], options)
            plan = kept_plans.get(key)
            if isinstance(plan, Plan):
                return execute(plan, arrays, times=options.get("times"), out=options.get("out"))
            if plan is not None:
                return plan(*arrays, options.get("out"))
            if _is_own(arguments):
                return _run(resolved(*arguments, **options), key, arrays)
            return call_like(function, over_own, arguments, options)

        short = name or resolve.__name__.removeprefix("rolling_")
        series = fields.get("series", 1)
        signature = inspect.signature(resolve)
        names = tuple(signature.parameters)[:series]
        own_names = [name for name in signature.parameters if name != "options"]
        of_k = "k" in own_names
        shared = {"arr", "other", "x", "window", "options"}
        parameters = tuple(name for name in signature.parameters if name not in shared)
        function.__doc__ = _document(resolve.__doc__ or "", fields.get("error_bound", ()))
        function.__signature__ = _signature(resolve)  # type: ignore[attr-defined]  # functions have it, their type does not say so
        REGISTRY.register(
            Statistic(
                name=short,
                function=function,
                resolve=resolved,
                parameters=parameters,
                cost=textwrap.dedent(cost),
                **fields,
            )
        )
        return cast(Function, function)

    return decorate


operators: Any = built_in  # type checkers take class attributes of the operators for fields

COMBINED: dict[str, Any] = {
    "family": "aggregate",
    "kinds": "fiub",
    "cost": "O(1) combinations amortised; O(1) worst case with daba",
    "source": "Tangwongsan, Hirzel and Schneider (2021), In-Order Sliding-Window Aggregation",
    "algorithms": ALGORITHMS,
}
"""Fields of the registry that statistics by an operator share."""


def plain_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a block for values of `dtype`."""
    return np.dtype({"b": np.uint8, "m": np.int64}.get(dtype.kind, dtype.newbyteorder("=")))


def numbers(name: str, arr: ArrayLike, durations: bool = False) -> NDArray[Any]:
    """Return `arr` as an array of numbers or bool, or of timedeltas with `durations`; or raise TypeError."""
    if type(arr) is np.ndarray and arr.dtype.char in PLAIN_DTYPES and arr.ndim:
        return arr
    array = check_array(name, arr)
    if array.dtype.kind not in ("fiubm" if durations else "fiub"):
        allowed = "numbers, bool or timedelta64" if durations else "numbers or bool"
        since = ": subtract a time, as with arr - arr[0], or series - datetime.time(0) for times of day"
        way_out = since if durations and array.dtype.kind == "M" else ""
        raise TypeError(f"{name} must hold {allowed}; got {array.dtype}{way_out}")
    return array


def as_floats(series: Any) -> Any:
    """Return a series as float64, NaN where it is masked."""
    values = np.asarray(np.ma.getdata(series), np.float64)
    if not isinstance(series, np.ma.MaskedArray):
        return values
    return np.ma.MaskedArray(np.where(np.ma.getmaskarray(series), np.nan, values), series.mask)


def call(
    computation: Callable[..., Computation],
    arrays: list[ArrayLike],
    window: Window,
    options: CommonOptions,
    name: str = "this statistic",
    algorithms: Mapping[str, str] = MappingProxyType({}),
    *,
    series_names: tuple[str, ...] = ("arr", "other"),
    stack: bool = False,
    finish: Callable[..., Any] | None = None,
    derive: Callable[..., Any] | None = None,
    **parameters: Any,
) -> Any:
    """Return the checked call of a computation; the decorator of the public functions runs it.

    Parameters
    ----------
    computation : callable
        Class of the computation.
    arrays : list of array_like
        The series.
    window : Window
        The window.
    options : CommonOptions
        Options of the call, unchecked.
    name : str
        Name of the statistic in messages.
    algorithms : mapping of str to str
        Names that ``algorithm=`` takes. If there are any, the computation has a parameter `algorithm`.
    series_names, stack, finish, derive
        `names`, `stack`, `finish` and `derive` of :class:`rollstat.engine.Call`.
    **parameters
        Parameters of the computation.

    Returns
    -------
    Call
        Typed Any, because the public functions declare what the decorator returns.
    """
    checked = Options.check(**options)
    check_algorithm(checked.algorithm, algorithms, name)
    if algorithms:
        parameters["algorithm"] = checked.algorithm
    return Call(
        arrays, window, partial(computation, **parameters), checked, series_names, stack, finish, derive
    )


def combine(
    arrays: list[ArrayLike],
    window: Window,
    operator: Any,
    name: str,
    options: CommonOptions,
    required: int = 1,
    kind: str | None = None,
    names: tuple[str, ...] = ("arr", "other"),
    finish: Callable[..., Any] | None = None,
    durations: bool = False,
) -> Any:
    """Return the call of an associative operator over the windows of arrays called `names`; see :func:`call`.

    `required` and `kind` belong to its :class:`rollstat.plan.Output`. With `durations`, timedeltas are
    allowed and are integers for the operator.
    """
    dtypes = tuple(plain_dtype(numbers(n, array, durations).dtype) for n, array in zip(names, arrays))
    parameters: dict[str, Any] = {"operator": operator, "dtypes": dtypes, "required": required, "kind": kind}
    return call(
        Combination,
        arrays,
        window,
        options,
        name,
        ALGORITHMS,
        series_names=names,
        finish=finish,
        **parameters,
    )


NORMAL = 0.6744897501960817  # the upper quartile of the standard normal distribution


def check_real(name: str, value: Any, text: str, fits: Callable[[float], bool]) -> float:
    """Return `value` as a float; raise unless it is a real number that fits: `text` says which do."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, abstract_numbers.Real):
        raise TypeError(f"{name} must be {text}; got {value!r}")
    if not fits(float(value)):
        raise ValueError(f"{name} must be {text}; got {value!r}")
    return float(value)


def check_number(name: str, value: Any, least: float, most: float) -> float:
    """Return `value` as a float; raise unless it is a number from `least` to `most`."""
    text = f"a number of at least {least:g}" + (f" and at most {most:g}" if math.isfinite(most) else "")
    return check_real(name, value, text, lambda x: least <= x <= most)


def check_k(k: Any, most: int | None = None) -> int:
    """Return k as an int; raise if it is none, or not one of at most `most` order statistics."""
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, (int, np.integer)):
        raise TypeError(f"k must be a whole number (1 is the smallest, -1 the largest); got {k!r}")
    if k == 0 or (most is not None and most >= 1 and abs(int(k)) > most):
        span = "1..m or -m..-1" if most is None else f"1..{most} or -{most}..-1"
        raise ValueError(f"k must lie in {span}; got {k}")
    return int(k)


def check_scale(scale: Any) -> float:
    """Return the factor of a deviation; raise unless `scale` is a finite number or ``"normal"``."""
    if isinstance(scale, str) and scale == "normal":
        return 1 / NORMAL
    text = "a finite number of at least 0, or 'normal'"
    return check_real("scale", scale, text, lambda x: 0 <= x < math.inf)


def check_share(proportion: Any) -> float:
    """Return the proportion to cut off at each end; raise unless it is a number from 0 to below 0.5."""
    text = "a number of at least 0 and below 0.5, since half at each end leaves nothing"
    return check_real("proportion", proportion, text, lambda x: 0 <= x < 0.5)


def check_decay(decay: Any) -> float:
    """Return the decay as a float; raise unless it is a number above 0 and at most 1."""
    return check_real("decay", decay, "a number above 0 and at most 1", lambda x: 0 < x <= 1)


def check_base(base: Any) -> float:
    """Return the base of a logarithm as a float; raise unless it is a finite number above 1."""
    return check_real("base", base, "a finite number above 1", lambda x: 1 < x < math.inf)


def check_target(target: Any) -> float:
    """Return the target as a float; raise unless it is a finite number."""
    return check_real("target", target, "a finite number", math.isfinite)


_DECAYS = {
    "alpha": ("above 0 and at most 1", lambda x: 0 < x <= 1, lambda x: 1 - x),
    "com": ("at least 0", lambda x: 0 <= x < math.inf, lambda x: 1 - 1 / (1 + x)),
    "span": ("at least 1", lambda x: 1 <= x < math.inf, lambda x: 1 - 2 / (x + 1)),
    "halflife": ("above 0", lambda x: 0 < x < math.inf, lambda x: 0.5 ** (1 / x)),
}


def check_weights(**given: Any) -> float:
    """Return the factor by which a row ages; raise unless exactly one of the four parameters is given."""
    named = {name: value for name, value in given.items() if value is not None}
    if len(named) != 1:
        raise ValueError(
            f"exactly one of alpha, com, span and halflife must be given; got {', '.join(named) or 'none'}"
        )
    ((name, value),) = named.items()
    text, fits, decay = _DECAYS[name]
    hint = ", or a duration such as '5D' together with times=" if name == "halflife" else ""
    return float(decay(check_real(name, value, f"a number {text}{hint}", fits)))


def check_halflife(unit: Any, **given: Any) -> float:
    """Return the time in which weights halve, in units of so many nanoseconds, or None for numbers.

    Raise unless it fits times of that unit, and is the only one of the four parameters.
    """
    halflife = given["halflife"]
    if sum(value is not None for value in given.values()) > 1:
        check_weights(**given)
    width = parse_width(halflife, "halflife")
    if (width is None) != (unit is None):
        expected = "a number" if unit is None else "a duration such as '5D'"
        raise TypeError(f"halflife must be {expected} for times of this type; got {halflife!r}")
    if width is None:
        check_weights(halflife=halflife)
    number = float(halflife) if width is None else float(width / (unit or 1))
    if not number > 0:
        raise ValueError(f"halflife must be a positive duration; got {halflife!r}")
    return number
