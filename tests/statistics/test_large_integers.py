"""Integers beyond 2**53 against fractions, and the warnings that rounding causes."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import rollstat
import rollstat.pandas  # registers the accessor

BASE = 2**60
U = Fraction(1, 2**53)
MOMENTS = ("var", "std", "sem", "skew", "kurt")
PAIRS = ("cov", "corr", "beta")
STREAMS = {"var": "RollingVar", "kurt": "RollingKurt", "corr": "RollingCorr"}


def central(x, y):
    """Return the central sum of products of two lists of integers."""
    n, total_x, total_y = len(x), sum(x), sum(y)
    return Fraction(n * sum(a * b for a, b in zip(x, y)) - total_x * total_y, n)


def exact(name, x, y):
    """Return a statistic of a list of integers as a fraction; None if it is undefined."""
    n, xx = len(x), central(x, x)
    if name in ("var", "std", "sem"):
        variance = xx / (n - 1)
        return {"var": variance, "std": sqrt(variance), "sem": sqrt(variance / n)}[name]
    if name in ("skew", "kurt"):
        if xx == 0:
            return None
        mean = Fraction(sum(x), n)
        third, fourth = (sum((a - mean) ** p for a in x) for p in (3, 4))
        if name == "skew":
            return sqrt(Fraction(n * n * (n - 1), (n - 2) ** 2) * third**2 / xx**3) * (
                1 if third >= 0 else -1
            )
        part = n * (n + 1) * fourth / xx**2 - 3 * (n - 1)
        return part * Fraction(n - 1, (n - 2) * (n - 3))
    yy, xy = central(y, y), central(x, y)
    if name == "cov":
        return xy / (n - 1)
    if yy == 0 or (xx == 0 and name == "corr"):
        return None
    return xy / yy if name == "beta" else sqrt(xy * xy / (xx * yy)) * (1 if xy >= 0 else -1)


def sqrt(value):
    """Return a square root, correct to 200 bits."""
    scale = 1 << 600
    return Fraction(math.isqrt(value.numerator * scale * scale // value.denominator), scale)


def check(results, name, windows, x, y, wide=False):
    """Compare with exact results; a wide range of y adds to the scale of the error of pairs."""
    for result, (start, end) in zip(results, windows):
        a, b = x[start:end].tolist(), y[start:end].tolist()
        wanted = exact(name, a, b) if len(a) > 4 else None
        if wanted is None:
            continue
        xx, yy = central(a, a), central(b, b)
        scale = {"cov": sqrt(xx * yy) / (len(a) - 1), "beta": sqrt(xx / yy) if yy else 1}.get(name, 1)
        bound = 2000 * U * max(abs(wanted), scale if name in (*PAIRS, "skew", "kurt") else 0)
        assert abs(Fraction(float(result)) - wanted) <= bound, (name, start, end)


def fixed(length, window):
    return [(max(i + 1 - window, 0), i + 1) for i in range(length)]


RANGES = {
    "near": lambda rng, n: BASE + rng.integers(0, 1000, n),
    "wide": lambda rng, n: np.where(np.arange(n) % 20 < 10, 2**62, -(2**62)) + rng.integers(0, 99, n),
    "all": lambda rng, n: rng.integers(-(2**63), 2**63 - 1, n),
    "unsigned": lambda rng, n: rng.integers(2**64 - 500, 2**64 - 1, n, np.uint64),
}


@pytest.mark.parametrize("values", RANGES)
@pytest.mark.parametrize("name", [*MOMENTS, *PAIRS])
def test_statistics_of_differences(name, values, rng):
    x, y = RANGES[values](rng, 60), RANGES[values](rng, 60)[::-1].copy()
    series, function = ((x, y) if name in PAIRS else (x,)), getattr(rollstat, f"rolling_{name}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = function(*series, 7, min_periods=5)
        found = [results, function(*series, 6.5, times=np.arange(60) * 1.0, min_periods=5)]
        if name in STREAMS and (x.dtype == np.int64 or name == "var"):
            stream = getattr(rollstat, STREAMS[name])(7, min_periods=5, dtype=x.dtype)
            pushed = [stream.push(*(int(column[i]) for column in series)) for i in range(30)]
            found.append(np.concatenate([pushed, stream.extend(*(column[30:] for column in series))]))
    for given in found:
        check(given, name, fixed(60, 7), x, y)


@pytest.mark.filterwarnings("ignore::rollstat.PrecisionWarning")
def test_examples():
    x = BASE + np.arange(3)
    for name, wanted in (("var", 1.0), ("std", 1.0), ("sem", math.sqrt(1 / 3))):
        assert getattr(rollstat, f"rolling_{name}")(x, 3)[-1] == pytest.approx(wanted, rel=1e-15)
    for name in PAIRS:
        assert getattr(rollstat, f"rolling_{name}")(x, x, 3)[-1] == 1.0
    assert rollstat.rolling_linear_fit(x[:, None], 3, axis=0)[0][-1] == 1.0
    for cls in (rollstat.RollingMedian, rollstat.RollingMean):
        stream = cls(2, dtype="i8")
        stream.push(-(2**63))
        assert stream.push(2**63 - 2) == -1.0
    ends = np.array([-(2**63), 2**63 - 2])
    assert rollstat.rolling_median(ends, 2)[-1] == -1.0
    assert rollstat.rolling_quantile(ends, 2, 0.5)[-1] == -1.0
    assert rollstat.rolling_mean(ends, 2)[-1] == -1.0
    assert rollstat.rolling_mean(np.array([-1, 0, 0]), 3, algorithm="daba")[-1] == -1 / 3


@pytest.mark.filterwarnings("ignore::rollstat.PrecisionWarning")
def test_missing_integers(rng):
    x = RANGES["wide"](rng, 200)
    masked = np.ma.array(x, mask=rng.random(200) < 0.3)
    kept = [[i for i in range(max(row - 8, 0), row + 1) if not masked.mask[i]] for row in range(200)]
    variance = rollstat.rolling_var(masked, 9, min_periods=2)
    slope, intercept, _ = rollstat.rolling_linear_fit(masked, 9, min_periods=2)
    fits = rollstat.RollingLinearFit(9, min_periods=2, dtype="i8")
    for row, rows in enumerate(kept):
        streamed = fits.push(None if masked.mask[row] else int(x[row]))
        if len(rows) < 2:
            assert variance.mask[row]
            continue
        places, seen = [i - max(row - 8, 0) for i in rows], x[rows].tolist()
        wanted = central(seen, seen) / (len(rows) - 1)
        assert abs(Fraction(float(variance[row])) - wanted) <= 500 * U * wanted
        wanted = central(seen, places) / central(places, places)
        tolerance = 500 * U * sqrt(central(seen, seen) / central(places, places))
        height = Fraction(sum(seen), len(rows)) - wanted * Fraction(sum(places), len(rows))
        for result in ((slope[row], intercept[row]), streamed):
            assert abs(Fraction(float(result[0])) - wanted) <= tolerance
            assert abs(Fraction(float(result[1])) - height) <= 9 * tolerance + U * 2**63


@pytest.mark.filterwarnings("ignore::rollstat.PrecisionWarning")
@pytest.mark.parametrize("values", RANGES)
def test_points_between_integers_are_rounded_once(values, rng):
    x = RANGES[values](rng, 40)
    for m in (4, 5, 30):
        windows = [sorted(x[i : i + m].tolist()) for i in range(40 - m + 1)]
        medians = [(w[(m - 1) // 2] + w[m // 2]) / 2 for w in windows]
        means = [sum(w) / m for w in windows]
        medians_of_stream = rollstat.RollingMedian(m, dtype=x.dtype).extend(x)
        np.testing.assert_array_equal(rollstat.rolling_median(x, m, mode="valid"), medians)
        np.testing.assert_array_equal(medians_of_stream[m - 1 :], medians)
        np.testing.assert_allclose(rollstat.rolling_mean(x, m, mode="valid"), means, rtol=2.0**-53)
        trimmed = [sum(w[m // 4 : m - m // 4]) / (m - 2 * (m // 4)) for w in windows]
        result = rollstat.rolling_trimmed_mean(x, m, 0.25, mode="valid")
        np.testing.assert_allclose(result, trimmed, rtol=1e-15, atol=2.0**12 * (values != "near"))
        filtered, _ = rollstat.rolling_hampel(x, m, mode="valid", scale=0.0)
        np.testing.assert_array_equal(filtered, medians)


ROUNDED = {
    "median": {},
    "quantile": {"q": 0.3},
    "mean": {},
    "trimmed_mean": {},
    "winsorized_mean": {},
    "decayed_sum": {"decay": 0.5},
    "decayed_mean": {"decay": 0.5},
    "logsumexp": {},
    "linear_fit": {},
    "sum": {},
    "max": {},
}
"""Statistics on the scale of the integers, whose results float64 rounds."""


@pytest.mark.parametrize("name", ROUNDED)
def test_rounding_causes_a_warning(name):
    x, own = 2**55 + np.array([1, 4, 9, 16, 3]), ROUNDED[name]
    with pytest.warns(rollstat.PrecisionWarning):
        getattr(rollstat, f"rolling_{name}")(x, 3, **own)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(rollstat, f"rolling_{name}")(x - 2**55, 3, **own)
    if name in ("sum", "max"):  # streams return integers
        return
    title = {"logsumexp": "LogSumExp"}.get(name, name.title().replace("_", ""))
    stream = getattr(rollstat, f"Rolling{title}")(3, min_periods=2, dtype="i8", **own)
    with pytest.warns(rollstat.PrecisionWarning):
        _ = [stream.push(int(x[0])), stream.push(int(x[1]))]
    with pytest.warns(rollstat.PrecisionWarning):
        stream.extend(x[2:])


def test_accessor_warns_too():
    series = pd.Series(2**55 + np.array([1, 4, 9, 16]))
    with pytest.warns(rollstat.PrecisionWarning):
        series.rollstat.median(3)


def mean_of_kept(values, proportion, winsorize):
    """Return the trimmed or winsorized mean of a list of integers as a fraction."""
    cut, values = int(proportion * len(values)), sorted(values)
    kept = values[cut : len(values) - cut]
    if winsorize:
        return Fraction(sum(kept) + cut * (kept[0] + kept[-1]), len(values))
    return Fraction(sum(kept), len(kept))


SPIKES = {
    "just beyond": lambda rng, n: np.where(rng.random(n) < 0.1, 2**53 + 2, rng.integers(0, 9, n)),
    "signed": lambda rng, n: np.where(
        rng.random(n) < 0.2, rng.integers(-(2**63), 2**63 - 1, n), rng.integers(-9, 9, n)
    ),
    "unsigned": lambda rng, n: np.where(
        rng.random(n) < 0.3,
        rng.integers(2**64 - 500, 2**64 - 1, n, np.uint64),
        np.arange(n).astype(np.uint64),
    ),
}


@pytest.mark.filterwarnings("ignore::rollstat.PrecisionWarning")
@pytest.mark.parametrize("values", [*SPIKES, *RANGES])
@pytest.mark.parametrize("winsorize", [False, True])
def test_means_of_kept_integers_are_rounded_once(values, winsorize, rng):
    x = (SPIKES | RANGES)[values](rng, 150)
    kind = "winsorized" if winsorize else "trimmed"
    function = getattr(rollstat, f"rolling_{kind}_mean")
    for m in (1, 2, 7, 70):
        for proportion in (0.0, 0.1, 0.4):
            for missing in (np.zeros(150, bool), rng.random(150) < 0.3):
                found = function(np.ma.array(x, mask=missing), m, proportion, min_periods=1)
                stream = getattr(rollstat, f"Rolling{kind.title()}Mean")(
                    m, proportion, min_periods=1, dtype=x.dtype
                )
                for row, (start, end) in enumerate(fixed(150, m)):
                    pushed = stream.push(None if missing[row] else int(x[row]))
                    seen = [int(x[i]) for i in range(start, end) if not missing[i]]
                    if seen:
                        wanted = float(mean_of_kept(seen, proportion, winsorize))
                        assert found[row] == pushed == wanted


@pytest.mark.filterwarnings("ignore::rollstat.PrecisionWarning")
@pytest.mark.parametrize("second", ["row", "float", "integer"])
def test_lines_forget_large_integers_that_have_left(second, rng):
    y = rng.integers(0, 9, 60)
    x = {"row": None, "float": rng.standard_normal(60), "integer": rng.integers(-9, 9, 60)}[second]
    small = rollstat.rolling_linear_fit(y, 5, x=x)
    y[:10] = 2**53 + 2
    if second == "integer":
        x[5] = -(2**62)
    large = rollstat.rolling_linear_fit(y, 5, x=x)
    for wanted, result in zip(small, large):
        np.testing.assert_allclose(result[14:], wanted[14:], rtol=1e-13, atol=1e-13)


def test_the_plan_of_trimmed_means_names_what_large_integers_change():
    for algorithm in ("auto", "sorted_window"):
        plan = rollstat.explain(rollstat.rolling_trimmed_mean, np.arange(9000), 80, 0.1, algorithm=algorithm)
        assert "rank_set if integers beyond 2**53" in str(plan)
    with pytest.warns(rollstat.PrecisionWarning, match=r"results beyond 2\*\*53"):
        rollstat.rolling_trimmed_mean([2**60, 2**60 + 1, 1, 2], 2, 0.1)
