"""Translation between the elements of a stream and the numbers that kernels store.

::

    pushed            stored              answered
    3.5, None, NaN    float64             float, NaN
    7, True, None     int64 or uint64     int or bool, None
    datetime64, NaT   int64               datetime64, NaT
    2 x 2 numbers     2 x 2 float64       -

A missing element is stored as NaN or 0 beside a mark. An answer of None means that there is none.
"""

import math
import operator
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from rollstat.dtypes import reject_missing, without_infinities
from rollstat.operators.layout import computing_dtype
from rollstat.options import Infinite, NanPolicy, choice

_WHOLE = (int, np.integer)
# NumPy counts timedelta64 among the signed integers, but it is not a number here.
_NUMBERS = (int, np.signedinteger, np.unsignedinteger, np.floating, np.bool_)
_NAMES = {"f": "float64, float32", "i": "integers", "b": "bool", "M": "datetimes", "m": "timedeltas"}


class Codec:
    """Encoding of the elements of one dtype.

    Parameters
    ----------
    dtype : dtype
        Of the elements: float64, float32, an integer, bool, or datetimes or timedeltas with a unit.
    kinds : str
        Kinds of dtype that the statistic accepts.
    inf : {"value", "missing"}
        What infinite elements are.
    nan_policy : {"omit", "propagate", "raise"}
        Missing elements are an error with ``"raise"``.

    Attributes
    ----------
    stored : dtype
        Of the numbers that elements are encoded as.
    """

    def __init__(
        self, dtype: DTypeLike, kinds: str = "fiubMm", inf: str = "value", nan_policy: str = "omit"
    ) -> None:
        self.dtype: Any
        self.rejects = choice("nan_policy", nan_policy, get_args(NanPolicy)) == "raise"
        self.finite = choice("inf", inf, get_args(Infinite)) == "missing"
        try:
            self.dtype = np.dtype(dtype).newbyteorder("=")
        except TypeError:
            raise TypeError(f"dtype must name a dtype; got {dtype!r}") from None
        kind = self.dtype.kind
        if kind not in kinds or kind not in "fiubMm" or self.dtype.itemsize > 8 or self.dtype == np.float16:
            served = ", ".join(name for key, name in _NAMES.items() if key in kinds)
            hint = "; float32 holds every float16" if self.dtype == np.float16 else ""
            raise TypeError(f"dtype must be one of {served}; got {self.dtype}{hint}")
        if kind in "mM" and np.datetime_data(self.dtype)[0] in ("generic", "Y", "M"):
            raise TypeError(f"dtype must have a unit of a fixed length; got {self.dtype}")
        self.kind = kind
        self.stored: Any = np.dtype(np.int64) if kind in "mM" else computing_dtype(self.dtype)
        limits = np.iinfo(self.dtype if kind in "iu" else np.int64)
        self._lowest, self._highest = (0, 1) if kind == "b" else (int(limits.min), int(limits.max))

    def check_stored(self, values: NDArray[Any], missing: NDArray[np.bool_]) -> None:
        """Raise ValueError if numbers do not stand for elements."""
        with np.errstate(over="ignore", invalid="ignore"):
            fits = values.astype(self.dtype).astype(self.stored) == values
        if self.kind in "mM":
            fits = values != np.iinfo(np.int64).min  # NaT
        if not (fits | missing).all():
            raise ValueError(f"its values must be of {self.dtype}")

    def encode(self, x: Any) -> tuple[Any, bool]:
        """Return the number that stands for an element, and whether it is missing, or raise."""
        number, missing = self._encode(x)
        if missing and self.rejects:
            raise ValueError(f"x must not be missing with nan_policy='raise'; got {x!r}")
        return number, missing

    def _encode(self, x: Any) -> tuple[Any, bool]:
        if x is None:
            return (math.nan if self.kind == "f" else 0), True
        if self.kind == "f":
            return self._encode_number(x)
        if self.kind in "mM":
            return self._encode_time(x)
        if isinstance(x, (float, np.floating)) and math.isnan(x):
            return 0, True
        duration: Any = np.timedelta64
        if not isinstance(x, (*_WHOLE, np.bool_)) or isinstance(x, duration):
            raise TypeError(f"x must be a whole number or None for {self.dtype}; got {x!r}")
        number = operator.index(int(x))
        if not self._lowest <= number <= self._highest:
            raise ValueError(f"x must lie in {self._lowest}..{self._highest} for {self.dtype}; got {x!r}")
        return number, False

    def _encode_number(self, x: Any) -> tuple[float, bool]:
        if not isinstance(x, (float, *_WHOLE, np.floating, np.bool_)):
            if isinstance(x, (str, bytes, complex, np.generic)) or not hasattr(x, "__float__"):
                raise TypeError(f"x must be a real number or None; got {x!r}")
            if isinstance(x, np.ndarray) and x.ndim:
                raise TypeError(f"x must be one number; got an array of shape {x.shape}: extend takes arrays")
        try:
            number = float(x)
        except OverflowError:
            raise ValueError(f"x must fit in float64; got {x!r}") from None
        if self.dtype == np.float32 and math.isfinite(number):
            with np.errstate(over="ignore"):
                single = float(np.float32(number))
            if math.isinf(single):
                raise ValueError(f"x must fit in float32; got {x!r}")
            number = single
        if self.finite and math.isinf(number):
            number = math.nan
        return number, number != number

    def _encode_time(self, x: Any) -> tuple[int, bool]:
        name = "datetime64" if self.kind == "M" else "timedelta64"
        duration: Any = np.timedelta64
        if isinstance(x, (str, bytes, float, *_NUMBERS)) and not isinstance(x, duration):
            raise TypeError(f"x must be a {name} or None; got {x!r}")
        if isinstance(x, datetime) and x.tzinfo is not None:
            x = x.astimezone(UTC).replace(tzinfo=None)
        try:
            given = np.asarray(x.to_numpy() if hasattr(x, "to_numpy") else x)
            if given.dtype.kind != self.kind:
                given = given.astype(f"{self.kind}8[us]")
            number = given.astype(self.dtype)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"x must be a {name} or None; got {x!r}") from None
        if np.isnat(number):
            return 0, True
        if given.dtype != self.dtype and number.astype(given.dtype) != given:
            raise ValueError(f"x must be exactly representable in {self.dtype}; got {x!r}")
        return int(number.astype(np.int64)), False

    def array(self, elements: ArrayLike, name: str = "array") -> Any:
        """Return `elements` as a 1-D array of the dtype, masked if they are; raise if they do not fit."""
        array = self._array(elements, name)
        array = without_infinities(array) if self.finite else array
        if self.rejects:
            reject_missing([np.ma.getdata(array)], np.ma.getmaskarray(array))
        return array

    def _array(self, elements: ArrayLike, name: str) -> Any:
        given = elements if isinstance(elements, np.ma.MaskedArray) else np.asarray(elements)
        if given.ndim != 1:
            raise ValueError(f"{name} must be 1-d; got shape {given.shape}")
        if given.dtype == self.dtype:
            return given
        if given.dtype.kind == "O" or (given.size == 0 and given.dtype == np.float64):
            encoded = [self.encode(x) for x in given.tolist()]
            values = np.array([number for number, _ in encoded], self.stored)
            return self.decode_array(values, np.array([missing for _, missing in encoded], np.bool_))
        if self.kind == "f" and given.dtype.kind in "fiub":
            with np.errstate(over="ignore"):
                floats = given.astype(self.dtype)
            if given.dtype.kind == "f" and (np.isinf(floats) & np.isfinite(given)).any():
                raise ValueError(f"{name} must fit in {self.dtype}; got {given.dtype}")
            return floats
        if self.kind in "mM" and given.dtype.kind == self.kind:
            same = given.astype(self.dtype)
            if (same.astype(given.dtype) != given)[~np.isnat(given)].any():
                raise ValueError(f"{name} must be exactly representable in {self.dtype}; got {given.dtype}")
            return same
        if self.kind in "iub" and given.dtype.kind in "iub":
            data = np.ma.getdata(given)
            if data.size and not self._lowest <= int(data.min()) <= int(data.max()) <= self._highest:
                raise ValueError(f"{name} must lie in {self._lowest}..{self._highest} for {self.dtype}")
            return given.astype(self.dtype)
        raise TypeError(f"{name} must hold elements of {self.dtype}; got {given.dtype}")

    def encode_array(self, array: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the stored values of an array of the dtype, perhaps the array itself, and missing marks."""
        if self.kind == "f":
            values = np.ma.filled(array, np.nan)
            missing = np.isnan(values)
        else:
            values, missing = np.ma.getdata(array), np.ma.getmaskarray(array).copy()
        if self.kind in "mM":
            missing |= np.isnat(values)
            values = values.view(np.int64)
        if values.dtype != self.stored or not values.flags.carray:
            values = values.astype(self.stored)
        return values, missing

    def decode_array(self, values: NDArray[Any], missing: NDArray[np.bool_]) -> Any:
        """Return stored values as an array of the dtype, masked if that has no missing value."""
        if self.kind == "f":
            return values.astype(self.dtype, copy=False)
        if self.kind in "mM":
            times = values.astype(np.int64)
            times[missing] = np.iinfo(np.int64).min
            return times.view(self.dtype)
        array = values.astype(self.dtype)
        return np.ma.MaskedArray(array, missing) if missing.any() else array

    def decoder(self, kind: str = "value") -> tuple[Callable[[Any], Any], Any]:
        """Return what makes a Python object of an answer, and what a stream answers where there is none.

        `kind` is one of :class:`rollstat.engine.Output`.
        """
        if kind in ("position", "offset"):
            return int, -1
        if kind == "flag":
            return bool, False
        if self.kind in "mM" and kind not in ("float", "integer"):
            unit, duration = np.datetime_data(self.dtype), np.dtype("m8").type
            cls: Any = duration if kind == "difference" else self.dtype.type
            return (lambda number: cls(int(number), unit)), cls("NaT", unit)
        if self.kind == "f":
            return (float if self.dtype == np.float64 else lambda number: float(np.float32(number))), math.nan
        if kind in ("float", "interpolated"):
            return float, math.nan
        return (bool if self.kind == "b" and kind == "value" else int), None


class ArrayCodec:
    """Encoding of elements that are arrays of float64 of one shape.

    An element with a NaN is missing, as in :func:`rollstat.rolling_aggregate`.

    Parameters
    ----------
    dtype : dtype
        float64 with the shape of an element.
    """

    kind = "f"

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = self.stored = dtype
        self.shape = dtype.shape

    def encode(self, x: Any) -> tuple[NDArray[np.float64], bool]:
        """Return a copy of an element, and whether it is missing, or raise."""
        if x is None:
            return np.full(self.shape, np.nan), True
        given = np.asarray(x)
        if given.shape != self.shape or given.dtype.kind not in "fiub":
            raise ValueError(
                f"x must hold numbers in the shape {self.shape}, or be None; got shape {given.shape}, "
                f"its dtype {given.dtype}"
            )
        numbers = given.astype(np.float64, "C")
        return numbers, bool(np.isnan(numbers).any())

    def array(self, elements: ArrayLike) -> NDArray[np.float64]:
        """Return elements in one array, of float64, or raise; masked numbers are NaN."""
        given: Any = np.ma.asarray(elements)
        if given.shape[1:] != self.shape or given.dtype.kind not in "fiub":
            raise ValueError(
                f"array must hold numbers in the shape (rows, {', '.join(map(str, self.shape))}); "
                f"got shape {given.shape} and dtype {given.dtype}"
            )
        return np.ascontiguousarray(given.astype(np.float64).filled(np.nan))

    def encode_array(self, array: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the elements, and which are missing."""
        return array, np.asarray(np.isnan(array).any(axis=tuple(range(1, array.ndim))))

    def decode_array(self, values: Any, missing: NDArray[np.bool_]) -> Any:
        """Return the elements: missing ones are NaN."""
        return values

    def check_stored(self, values: NDArray[Any], missing: NDArray[np.bool_]) -> None:
        """Accept all numbers."""


class ObjectCodec:
    """Elements that are Python objects and are stored as they are; None is missing."""

    dtype: Any = np.dtype(object)
    stored = dtype
    kind = "O"

    def encode(self, x: Any) -> tuple[Any, bool]:
        """Return the element, and whether it is missing."""
        return x, x is None

    def array(self, elements: Any) -> list[Any]:
        """Return the elements of a sequence."""
        return list(elements)

    def encode_array(self, elements: list[Any]) -> tuple[list[Any], NDArray[np.bool_]]:
        """Return the elements, and which are missing."""
        return elements, np.array([x is None for x in elements], np.bool_)

    def decode_array(self, values: NDArray[Any], missing: NDArray[np.bool_]) -> list[Any]:
        """Return the elements: missing ones are None."""
        return list(values)
