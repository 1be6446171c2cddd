"""The state of a stream as bytes: a versioned header, then plain arrays.

::

    "rollstat" | version | length | header (JSON) | arrays, one after the other | CRC-32
     8 bytes     uint16    uint32   class, parameters, dtype and shape of each      uint32

All numbers are little-endian. Bytes that are truncated, damaged, in another format or not a snapshot raise an
error. Unlike a pickle, a snapshot runs no code when it is read. The checksum finds damage, not tampering:
classes check parameters and arrays before they use them.
"""

import json
import math
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

VERSION = 1
_MAGIC = b"rollstat"
_HEAD = struct.Struct("<8sHI")
_TAIL = struct.Struct("<I")


class SnapshotError(ValueError):
    """The bytes are not a snapshot, or not one that this release can read."""


def write(name: str, parameters: dict[str, Any], arrays: list[NDArray[Any]]) -> bytes:
    """Encode a state.

    Parameters
    ----------
    name : str
        Name of the class.
    parameters : dict
        Its parameters; JSON values.
    arrays : list of ndarray
        The state.

    Returns
    -------
    bytes
        The snapshot.
    """
    layout = [[array.dtype.newbyteorder("<").str, list(array.shape)] for array in arrays]
    if any(array.dtype.hasobject for array in arrays):
        raise SnapshotError("a stream of Python objects cannot be stored as a snapshot; use pickle")
    fields = [_field(array.dtype) for array in arrays]
    header = json.dumps(
        {"class": name, "parameters": parameters, "arrays": layout, "fields": fields}
    ).encode()
    body = b"".join(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes() for array in arrays)
    data = _HEAD.pack(_MAGIC, VERSION, len(header)) + header + body
    return data + _TAIL.pack(zlib.crc32(data))


def _field(dtype: np.dtype[Any]) -> Any:
    """Return the fields of a structured dtype, which its short name lacks; None for other dtypes."""
    return None if dtype.names is None else dtype.newbyteorder("<").descr


def _dtype(short: str, fields: Any) -> np.dtype[Any]:
    if fields is None:
        return np.dtype(short)
    parts: Any = [tuple(tuple(p) if isinstance(p, list) else p for p in field) for field in fields]
    return np.lib.format.descr_to_dtype(parts)  # np.dtype would take padding for fields


def read(data: bytes) -> tuple[str, dict[str, Any], list[NDArray[Any]]]:
    """Decode a snapshot.

    Parameters
    ----------
    data : bytes
        From :func:`write`.

    Returns
    -------
    name : str
        Name of the class.
    parameters : dict
        Its parameters.
    arrays : list of ndarray
        The state, writable.

    Raises
    ------
    SnapshotError
        If the bytes are not a snapshot, are truncated or damaged, or have another format.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"a snapshot must be bytes; got {type(data).__name__}")
    data = bytes(data)
    if len(data) < _HEAD.size + _TAIL.size or not data.startswith(_MAGIC):
        raise SnapshotError("the bytes are not a snapshot of rollstat")
    _, version, length = _HEAD.unpack_from(data)
    if version != VERSION:
        raise SnapshotError(f"the snapshot is of format {version}; this release reads format {VERSION}")
    if _TAIL.unpack_from(data, len(data) - _TAIL.size)[0] != zlib.crc32(data[: -_TAIL.size]):
        raise SnapshotError("the snapshot is truncated or damaged: its checksum does not match")
    try:
        name, parameters, arrays, at = _parse(data, _HEAD.size + length)
    except (ArithmeticError, LookupError, RecursionError, SyntaxError, TypeError, ValueError) as error:
        raise SnapshotError(f"the header of the snapshot is damaged: {error}") from error
    if at != len(data) - _TAIL.size:
        raise SnapshotError("the snapshot is longer or shorter than its header says")
    return name, parameters, arrays


def _parse(data: bytes, at: int) -> tuple[str, dict[str, Any], list[NDArray[Any]], int]:
    """Return class, parameters and arrays, which start at byte `at`, and the byte after the last array."""
    header = json.loads(data[_HEAD.size : at])
    if set(header) != {"class", "parameters", "arrays", "fields"} or not isinstance(header["class"], str):
        raise ValueError("its entries must be class, parameters, arrays and fields")
    arrays = []
    for (short, shape), fields in zip(header["arrays"], header["fields"], strict=True):
        dtype = _dtype(short, fields)
        if dtype.hasobject or not all(isinstance(length, int) and 0 <= length < 2**48 for length in shape):
            raise ValueError(f"its arrays must hold numbers; got {dtype} of shape {shape}")
        count = math.prod(shape)
        array = np.frombuffer(data, dtype, count, at).reshape(shape)
        arrays.append(array.astype(dtype.newbyteorder("="), copy=True))
        at += count * dtype.itemsize
    return header["class"], header["parameters"], arrays, at
