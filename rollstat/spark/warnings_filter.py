"""Warnings of pyspark that say nothing about the caller's program."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["known_warnings"]


@contextmanager
def known_warnings() -> Iterator[None]:
    """Leave out two known warnings of pyspark, and only those, while its functions are called.

    The first says that pandas 3 is not fully supported; the calls made here hand over Arrow data, so
    that pandas is not involved. The second says that Spark Connect cannot change settings of a server
    that was started with exactly these settings.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message="PySpark does not yet fully support pandas >= 3", category=FutureWarning
        )
        warnings.filterwarnings(
            "ignore", message=r"Failed to set spark\.[\s\S]*CANNOT_MODIFY_CONFIG", category=UserWarning
        )
        yield
