"""Map every window call of pandas, bottleneck, SciPy and polars to rollstat's, and time both.

    python asv_bench/migration.py --output docs/performance/tables
    python asv_bench/migration.py --n 20000 --rounds 1 --libraries scipy   # a quick look

Each pair of calls is text that is evaluated, so the tables show what was run. The results are compared
before anything is timed. Both libraries have one thread and take turns. Times are processor times: on a
busy machine, other processes add more to the wall-clock time of a long call than to that of a short one. A
ratio is the median over the rounds, and is in bold if rollstat is slower.
"""

import argparse
import os
import platform
import sys
import time
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # read when polars is imported
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pandas as pd
from benchmarks.peers import INSTALLED, versions
from benchmarks.tables import list_table, write
from benchmarks.timing import milliseconds, ratio

import rollstat
import rollstat.pandas  # registers the accessor


class Call(NamedTuple):
    """A call of another library, rollstat's call, and what differs."""

    theirs: str
    ours: str
    difference: str = ""


def _pandas() -> list[Call]:
    """Return the calls of pandas: row windows, time windows, expanding windows, groups."""
    methods = ["sum()", "mean()", "median()", "var()", "std()", "sem()", "min()", "max()", "count()"]
    methods += ["skew()", "kurt()", "quantile(0.05)", "rank()", "cov(t)", "corr(t)", "first()", "last()"]
    methods += ["nunique()", 'agg(["min", "max"])']
    calls = [Call(f"s.rolling(100).{m}", f"s.rollstat.rolling(100).{m}") for m in methods]
    more = {
        'timed.rolling("100s")': ["sum()", "median()", "max()"],
        "s.rolling(101, center=True)": ["median()"],
        "s.rolling(100, step=10)": ["median()"],
        "s.expanding()": ["sum()", "median()", "max()"],
        "s.groupby(keys).rolling(100)": ["mean()", "median()"],
        "frame.rolling(100)": ["median()", "corr(pairwise=True)"],
    }
    for windows, methods in more.items():
        target, rest = windows.split(".", 1)
        calls += [Call(f"{windows}.{m}", f"{target}.rollstat.{rest}.{m}") for m in methods]
    own = "your own function is an associative operator (:doc:`operators`)"
    each = "s.groupby(keys).transform(lambda group: group.rolling(100).max())"
    return [
        Call(each, "s.rollstat.groupby(keys).rolling(100, transform=True).max()"),
        *calls,
        Call(
            "s.rolling(100).apply(np.max, raw=True)",
            "s.rollstat.combine(rollstat.operators.Maximum(), 100)",
            own,
        ),
        Call(
            's.rolling(100, win_type="hamming").mean()',
            's.rollstat.rolling(100, win_type="hamming").mean()',
        ),
        *(Call(f"s.ewm(span=100).{m}()", f"s.rollstat.ewm(span=100).{m}()") for m in ("mean", "std")),
        Call("s.ewm(span=100).corr(t)", "s.rollstat.ewm(span=100).corr(t)"),
        Call(
            'timed.ewm(halflife="100s", times=timed.index).mean()',
            'timed.rollstat.ewm(halflife="100s", times=timed.index).mean()',
        ),
        Call("s.groupby(keys).ewm(span=100).mean()", "s.rollstat.groupby(keys).ewm(span=100).mean()"),
    ]


def _bottleneck() -> list[Call]:
    """Return all moving-window functions of bottleneck."""
    trailing = {name: f"rollstat.rolling_{name}(x, 100)" for name in ("sum", "mean", "median", "min", "max")}
    calls = [Call(f"bn.move_{name}(x, 100)", ours) for name, ours in trailing.items()]
    divisor = "bottleneck divides by the number of values unless ``ddof`` is given"
    counted = "bottleneck counts back from the newest row; rollstat returns the row in the data"
    rows = "np.arange(99, len(x)) - rollstat.rolling_{}(x, 100, ties='last', mode='valid')"
    return [
        *calls,
        Call("bn.move_std(x, 100)", "rollstat.rolling_std(x, 100, ddof=0)", divisor),
        Call("bn.move_var(x, 100)", "rollstat.rolling_var(x, 100, ddof=0)", divisor),
        Call("bn.move_argmin(x, 100)[99:]", rows.format("argmin"), counted),
        Call("bn.move_argmax(x, 100)[99:]", rows.format("argmax"), counted),
        Call(
            "bn.move_rank(x, 100)",
            "(rollstat.rolling_rank(x, 100) - 1) / 99 * 2 - 1",
            "bottleneck scales ranks to -1…1; rollstat returns 1…100",
        ),
    ]


def _scipy() -> list[Call]:
    """Return the filters of SciPy that are window statistics."""
    centred = "x, 101, center=True, mode='reflect'"
    padded = "x, 101, center=True, mode='constant'"
    kth = "rollstat.rolling_kth(x, 10, 101, center=True, mode='{}')"
    low = f"rollstat.rolling_min({centred})"
    median, high = f"rollstat.rolling_median({centred})", f"rollstat.rolling_max({centred})"
    mean = f"rollstat.rolling_mean({centred})"
    square = "{}(image, (5, 5), axis=(0, 1), center=True, mode='{}')"
    weights = "rollstat.rolling_convolve(x, {}, center=True, mode='{}'{})"
    from_zero = "SciPy counts from 0"
    own = "your own function is an associative operator (:doc:`operators`)"
    aggregate = f"rollstat.rolling_aggregate(x, rollstat.operators.Maximum(), {centred[3:]})"
    return [
        Call("ndimage.median_filter(x, 101)", median),
        Call("signal.medfilt(x, 101)", f"rollstat.rolling_median({padded})"),
        Call("ndimage.rank_filter(x, 9, 101)", kth.format("reflect"), from_zero),
        Call("signal.order_filter(x, np.ones(101), 9)", kth.format("constant"), from_zero),
        Call(
            "ndimage.percentile_filter(x, 5, 101)",
            "rollstat.rolling_quantile(x, 101, 0.05, 'lower', center=True, mode='reflect')",
            "SciPy never interpolates",
        ),
        Call("ndimage.minimum_filter(x, 101)", low),
        Call("ndimage.maximum_filter(x, 101)", high),
        Call("ndimage.minimum_filter1d(x, 101)", low),
        Call("ndimage.maximum_filter1d(x, 101)", high),
        Call("ndimage.grey_erosion(x, 101)", low),
        Call("ndimage.grey_dilation(x, 101)", high),
        Call("ndimage.uniform_filter(x, 101)", mean),
        Call("ndimage.uniform_filter1d(x, 101)", mean),
        Call(
            "ndimage.gaussian_filter1d(x, 12)",
            weights.format("('gaussian', 12), 97", "reflect", ", result='mean'"),
        ),
        Call("ndimage.correlate1d(x, w)", weights.format("w", "reflect", "")),
        Call("ndimage.convolve1d(x, w)", weights.format("w[::-1]", "reflect", "")),
        Call(
            "signal.savgol_filter(x, 25, 3, mode='mirror')",
            weights.format("signal.savgol_coeffs(25, 3, use='dot')", "mirror", ""),
        ),
        Call("ndimage.generic_filter(x, np.max, 101)", aggregate, own),
        Call("ndimage.vectorized_filter(x, np.max, size=101)", aggregate, own),
        Call("ndimage.median_filter(image, 5)", square.format("rollstat.rolling_median", "reflect")),
        Call("signal.medfilt2d(image, 5)", square.format("rollstat.rolling_median", "constant")),
        Call("ndimage.maximum_filter(image, 5)", square.format("rollstat.rolling_max", "reflect")),
        Call("ndimage.uniform_filter(image, 5)", square.format("rollstat.rolling_mean", "reflect")),
    ]


def _polars() -> list[Call]:
    """Return the rolling functions of Series and expressions of polars, by rows and by another column."""
    names = ["sum", "mean", "median", "var", "std", "min", "max"]
    calls = [Call(f"p.rolling_{name}(100)", f"p.rollstat.{name}(100)") for name in names]
    bias = "polars divides by the number of values unless ``bias=False``"
    calls += [
        Call("p.rolling_skew(100, bias=False)", "p.rollstat.skew(100)", bias),
        Call("p.rolling_kurtosis(100, bias=False)", "p.rollstat.kurt(100)", bias),
        Call("p.rolling_quantile(0.05, 'linear', 100)", "p.rollstat.quantile(100, 0.05)", "polars: nearest"),
        Call("p.rolling_rank(100)", "p.rollstat.rank(100)"),
        Call(
            "p.rolling_map(lambda w: w.max(), 100)",
            "p.rollstat.combine(rollstat.operators.Maximum(), 100)",
            "your own function is an associative operator (:doc:`operators`)",
        ),
        Call(
            "table.select(pl.rolling_cov('x', 'y', window_size=100))",
            "table.select(pl.col('x').rollstat.cov(pl.col('y'), 100))",
        ),
        Call(
            "table.select(pl.rolling_corr('x', 'y', window_size=100))",
            "table.select(pl.col('x').rollstat.corr(pl.col('y'), 100))",
        ),
    ]
    by = "p.rollstat.{}(100, times=second)"
    calls += [Call(f"p.rolling_{name}_by(second, '100i')", by.format(name)) for name in names]
    return [
        *calls,
        Call(
            "p.rolling_quantile_by(second, '100i', quantile=0.05, interpolation='linear')",
            "p.rollstat.quantile(100, 0.05, times=second)",
            "polars: nearest",
        ),
        Call("p.rolling_rank_by(second, '100i')", "p.rollstat.rank(100, times=second)"),
        Call(
            "table.select(pl.col('x').sum().rolling('second', period='100i'))",
            "table.select(pl.col('x').rollstat.sum(100, times=pl.col('second')))",
            "``rolling`` takes any expression; rollstat takes its statistics",
        ),
    ]


CALLS = {"pandas": _pandas, "bottleneck": _bottleneck, "scipy": _scipy, "polars": _polars}


def names(n: int) -> dict[str, Any]:
    """Return the data and the modules that the calls use."""
    random = np.random.default_rng(0)
    x, y = random.normal(size=(2, n))
    side = max(16, int(n**0.5))
    found = {"np": np, "rollstat": rollstat, "x": x, "s": pd.Series(x), "t": pd.Series(y)}
    found["timed"] = pd.Series(x, pd.date_range("2024", periods=n, freq="s"))
    found["frame"] = pd.DataFrame({"x": x, "y": y})
    found["keys"] = random.integers(0, 100, n)
    found["w"] = np.linspace(0.5, 1, 25)
    found["image"] = random.normal(size=(side, side))
    if "bottleneck" in INSTALLED:
        found["bn"] = import_module("bottleneck")
    if "scipy" in INSTALLED:
        found |= {"ndimage": import_module("scipy.ndimage"), "signal": import_module("scipy.signal")}
    if "polars" in INSTALLED:
        import_module("rollstat.polars")
        pl = found["pl"] = import_module("polars")
        found["p"], found["second"] = pl.Series("x", x), pl.Series(np.arange(n))
        found["table"] = pl.DataFrame({"x": x, "y": y, "second": np.arange(n)})
    return found


def _array(result: Any) -> np.ndarray:
    """Return a result as floats; null is NaN."""
    if hasattr(result, "to_numpy"):
        result = result.to_numpy()
    return np.asarray(result, dtype=np.float64)


def check(call: Call, library: str, data: dict[str, Any]) -> None:
    """Compare the results of both calls; SciPy's are compared where the windows lie inside the data."""
    theirs, ours = (_array(eval(text, data)) for text in call[:2])
    theirs, ours = theirs.squeeze(), ours.squeeze()
    if library == "scipy":
        theirs = np.where(np.isnan(ours), np.nan, theirs)
    np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9, err_msg=str(call))


def measure(call: Call, library: str, data: dict[str, Any], rounds: int) -> str:
    """Return how many times faster rollstat's call is."""
    check(call, library, data)
    runs = {
        name: partial(eval, compile(text, name, "eval"), data) for name, text in zip(("theirs", "ours"), call)
    }
    found = ratio(milliseconds(runs, rounds, time.process_time), "theirs", "ours")
    text = f"{found:.2f}" if found < 2 else f"{found:.1f}" if found < 20 else f"{found:.0f}"
    return text if found >= 1 else f"**{text}**"


def main() -> None:
    """Compare, measure, print and write one table for each library."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--libraries", nargs="+", choices=CALLS, default=[x for x in CALLS if x in INSTALLED])
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    data = names(arguments.n)
    for library in arguments.libraries:
        rows = [(library, "rollstat", "difference", "times faster")]
        for call in CALLS[library]():
            faster = measure(call, library, data, arguments.rounds)
            rows.append((f"``{call.theirs}``", f"``{call.ours}``", call.difference, faster))
            print(f"{faster:>8}  {call.theirs}", flush=True)
        source = (
            f"{arguments.n:,} normal float64 values, one thread, {arguments.rounds} rounds. {versions()}, "
        )
        source += f"Python {platform.python_version()}."
        output = arguments.output and arguments.output / f"migration-{library}.rst"
        write(output, [*list_table(rows), source, ""])


if __name__ == "__main__":
    main()
