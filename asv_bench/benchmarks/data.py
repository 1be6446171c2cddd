"""The series of all benchmarks: typical data, and worst cases of some libraries."""

import numpy as np
from scipy.signal import lfilter

N = 1_000_000


def series(kind: str, n: int = N) -> np.ndarray:
    """Return a series of one kind, the same in every run."""
    rng = np.random.default_rng(20261121)
    if kind == "normal":
        return rng.standard_normal(n)
    if kind == "walk":
        return rng.standard_normal(n).cumsum()
    if kind == "sine":
        return np.sin(np.arange(n) * (2 * np.pi / 10_000))
    if kind == "constant":
        return np.full(n, 1.5)
    if kind == "alternating":
        return np.where(np.arange(n) % 2, 1.0, -1.0) * np.arange(1, n + 1)
    if kind == "sorted":
        return np.sort(rng.standard_normal(n))
    if kind == "few":
        return rng.integers(0, 5, n).astype(np.float64)
    if kind == "missing":
        values = rng.standard_normal(n)
        values[rng.random(n) < 0.1] = np.nan
        return values
    if kind == "ar1":
        return lfilter([1], [1, -0.9], rng.standard_normal(n))
    if kind == "lognormal":
        return rng.lognormal(size=n)
    if kind == "rounded":
        return rng.standard_normal(n).round(2)
    if kind == "trend":
        return rng.standard_normal(n) + np.arange(n) * 1e-3
    raise ValueError(f"kind of series must be one of {', '.join((*KINDS, *TYPICAL))}; got {kind!r}")


KINDS = ("normal", "walk", "sine", "constant", "alternating", "sorted", "few", "missing")
TYPICAL = ("normal", "walk", "ar1", "lognormal", "rounded", "trend")
