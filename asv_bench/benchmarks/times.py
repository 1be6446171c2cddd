"""Times of the benchmarks of time windows: one row a second on average."""

import numpy as np

KINDS = ("regular", "irregular", "bursty")


def times_of(kind: str, n: int) -> np.ndarray:
    """Return `n` increasing times of one kind, datetime64[ns], the same in every run."""
    rng = np.random.default_rng(20261124)
    if kind == "regular":
        gaps = np.full(n, 10**9)
    elif kind == "irregular":
        gaps = (rng.exponential(1e9, n)).astype(np.int64) + 1
    elif kind == "bursty":  # bursts of 50 rows on average, a hundredth of a second apart
        pause = rng.random(n) < 1 / 50
        gaps = rng.exponential(np.where(pause, 49.51e9, 1e7)).astype(np.int64) + 1
    else:
        raise ValueError(f"kind of times must be one of {', '.join(KINDS)}; got {kind!r}")
    return np.datetime64("2024-01-01", "ns") + gaps.cumsum().astype("m8[ns]")
