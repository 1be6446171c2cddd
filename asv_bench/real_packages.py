"""Run packages that call windows of pandas, and compare these calls with the accessor's.

    python asv_bench/real_packages.py --output docs/performance/tables/real_packages.rst
    python asv_bench/real_packages.py --packages ta stockstats --rows 1000 --rounds 3

The packages work as they are. Each call of a window of pandas that they make is recorded and then made
again, once by pandas and once by the accessor, in turns. The results are compared first. Times are
milliseconds of processor time of all calls of a method, with the window objects, medians over the rounds.
Columns "fresh" show all calls of a package in a new process, after pandas has made them once and before
rollstat has computed anything, without the compilation of modules. Rows in which rollstat takes longer are
in bold. Packages that are not installed are left out with a message.
"""

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections import defaultdict
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pandas as pd
from benchmarks.tables import list_table, write

import rollstat.pandas  # registers the accessor

STOCKSTATS = ["rsi_14", "stochrsi", "macd", "boll", "kdjk", "cci", "atr", "wr_14", "vr", "supertrend"]
STOCKSTATS += ["aroon", "ao", "bop", "cmo_5", "coppock", "ftr", "vwma", "mfi", "trix", "tema"]
STATISTICS = ["mean", "std", "min", "max", "sum", "median"]


def prices(rows: int) -> pd.DataFrame:
    """Return daily prices and volumes, a random walk."""
    random = np.random.default_rng(1)
    close = 100 * np.exp(np.cumsum(random.normal(0, 0.01, rows)))
    low, high = close * (1 - random.uniform(0, 0.01, rows)), close * (1 + random.uniform(0, 0.01, rows))
    frame = pd.DataFrame({"open": (low + high) / 2, "high": high, "low": low, "close": close})
    frame["volume"] = random.integers(1_000, 100_000, rows).astype(float)
    return frame.set_index(pd.date_range("2015-01-01", periods=rows, freq="D", name="date"))


def ta(frame):
    """Compute all features of ta."""
    import ta

    ta.add_all_ta_features(frame, "open", "high", "low", "close", "volume")


def finta(frame):
    """Compute all indicators of finta that need nothing but prices."""
    from finta import TA

    for name in [name for name in dir(TA) if name.isupper()]:
        try:
            getattr(TA, name)(frame)
        except Exception as error:  # some fail with this version of pandas, before or after their windows
            print(f"finta {name}: {type(error).__name__}", file=sys.stderr)


def stockstats(frame):
    """Compute the usual indicators of stockstats."""
    from stockstats import wrap

    wrapped = wrap(frame)
    for name in STOCKSTATS:
        _ = wrapped[name]


def feature_engine(frame):
    """Compute window and expanding features."""
    from feature_engine.timeseries.forecasting import ExpandingWindowFeatures, WindowFeatures

    WindowFeatures(window=[3, 7, 30], functions=STATISTICS, missing_values="ignore").fit_transform(frame)
    ExpandingWindowFeatures(functions=STATISTICS, missing_values="ignore").fit_transform(frame)


def skforecast(frame):
    """Compute rolling features of a series."""
    from skforecast.preprocessing import RollingFeatures

    features = RollingFeatures(stats=[*STATISTICS, "min", "ewm"], window_sizes=[7] * 6 + [30, 14])
    features.transform_batch(frame["close"])


def sktime(frame):
    """Summarise windows of three lengths."""
    from sktime.transformations.summarize import WindowSummarizer

    for function in STATISTICS:
        lags = {function: [[1, 3], [1, 7], [1, 30]]}
        WindowSummarizer(lag_feature=lags, target_cols=["close"], n_jobs=1).fit_transform(frame)


PACKAGES = {
    function.__name__.replace("_", "-"): function
    for function in (ta, finta, stockstats, feature_engine, skforecast, sktime)
}


class Call(NamedTuple):
    """A call of a method of a window of a series, a frame or groups."""

    data: Any
    kind: str
    window: tuple[Any, Any]
    columns: Any
    method: str
    arguments: tuple[Any, Any]

    def run(self, accessor: bool):
        """Make the call with pandas or with the accessor."""
        made = getattr(self.data.rollstat if accessor else self.data, self.kind)
        window = made(*self.window[0], **self.window[1])
        if self.columns is not None:
            window = window[self.columns]
        return getattr(window, self.method)(*self.arguments[0], **self.arguments[1])


class Recorded:
    """A window of pandas whose calls are recorded."""

    def __init__(self, real, call: Call, calls: list[Call]) -> None:
        self._real, self._call, self._calls = real, call, calls

    def __getitem__(self, columns):
        return Recorded(self._real[columns], self._call._replace(columns=columns), self._calls)

    def __getattr__(self, name):
        found = getattr(self._real, name)
        if not callable(found) or name.startswith("_"):
            return found

        def method(*arguments, **options):
            self._calls.append(self._call._replace(method=name, arguments=(arguments, options)))
            return found(*arguments, **options)

        return method


@contextmanager
def recorded():
    """Record all calls of windows of series and frames."""
    calls: list[Call] = []
    real = {(kind, name): getattr(kind, name) for kind in (pd.Series, pd.DataFrame) for name in KINDS}

    def replacement(function, name):
        def window(data, *arguments, **options):
            call = Call(data.copy(), name, (arguments, options), None, "", ((), {}))
            return Recorded(function(data, *arguments, **options), call, calls)

        return window

    try:
        for (kind, name), function in real.items():
            setattr(kind, name, replacement(function, name))
        yield calls
    finally:
        for (kind, name), function in real.items():
            setattr(kind, name, function)


KINDS = ("rolling", "expanding", "ewm")


def calls_of(package: str, rows: int) -> list[Call]:
    """Return the calls that a package makes."""
    with recorded() as calls, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        PACKAGES[package](prices(rows))
    return calls


def differences(calls: list[Call]) -> int:
    """Return how many calls have another result with the accessor."""
    differ = 0
    for call in calls:
        results = []
        for accessor in (False, True):
            try:
                results.append(call.run(accessor))
            except Exception as error:  # both must raise the same
                results.append(type(error))
        try:
            if isinstance(results[0], (pd.Series, pd.DataFrame)):
                scale = float(np.nanmax(np.abs(np.asarray(results[0], float)), initial=0))
                equal = (
                    pd.testing.assert_series_equal
                    if isinstance(results[0], pd.Series)
                    else pd.testing.assert_frame_equal
                )
                equal(*results, rtol=1e-9, atol=1e-9 * scale)
            elif isinstance(results[0], type):
                assert results[0] is results[1]
        except AssertionError as error:
            differ += 1
            print(f"{call.kind}{call.window}.{call.method}{call.arguments}: {error}"[:400], file=sys.stderr)
    return differ


def milliseconds(calls: list[Call], accessor: bool) -> dict[str, float]:
    """Return the processor time of all calls, by method."""
    times: dict[str, float] = defaultdict(float)
    for call in calls:
        start = time.process_time()
        try:
            call.run(accessor)
        except Exception:
            continue  # compared before
        times[f"{call.kind}.{call.method}"] += 1e3 * (time.process_time() - start)
    return times


def fresh(package: str, rows: int, accessor: bool) -> float:
    """Return the milliseconds of the first run of all calls in a new process, with compiled modules."""
    command = [
        sys.executable,
        __file__,
        "--child",
        package,
        "--rows",
        str(rows),
        *(["--accessor"] * accessor),
    ]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(2):  # the first may compile modules
        found = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return float(json.loads(found.stdout.splitlines()[-1]))


def child(package: str, rows: int, accessor: bool) -> None:
    """Print the milliseconds of the first run."""
    print(json.dumps(sum(milliseconds(calls_of(package, rows), accessor).values())))


def table(package: str, rows: int, rounds: int) -> list[list[str]]:
    """Return the rows of the table of a package: all its calls, then each method."""
    calls = calls_of(package, rows)
    differ = differences(calls)
    for accessor in (False, True):
        milliseconds(calls, accessor)
    runs = [[milliseconds(calls, accessor) for accessor in (False, True)] for _ in range(rounds)]
    methods = sorted(runs[0][0], key=runs[0][0].get, reverse=True)
    first = [fresh(package, rows, accessor) for accessor in (False, True)]
    lines = []
    for method in ("", *methods):
        pairs = [[run.get(method, 0.0) if method else sum(run.values()) for run in pair] for pair in runs]
        pandas, ours = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
        ratio = statistics.median(pair[1] / pair[0] for pair in pairs)
        count = sum(not method or f"{call.kind}.{call.method}" == method for call in calls)
        shown = f"**{ratio:.2f}**" if ratio > 1 else f"{ratio:.2f}"
        ends = ["", "", ""] if method else [f"{first[0]:.0f}", f"{first[1]:.0f}", str(differ)]
        name = method or f"{package} {version(package)}"
        lines.append([name, f"{rows:,}", f"{count:,}", f"{pandas:.1f}", f"{ours:.1f}", shown, *ends])
    return lines


HEADER = ["package, method", "rows", "calls", "pandas, ms", "rollstat, ms", "ratio"]
HEADER += ["pandas fresh, ms", "rollstat fresh, ms", "other results"]


def main() -> None:
    """Print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--packages", nargs="+", default=list(PACKAGES), choices=PACKAGES)
    parser.add_argument("--rows", type=int, nargs="+", default=[250, 2_500])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--accessor", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.child:
        child(options.child, options.rows[0], options.accessor)
        return
    lines = [HEADER]
    for package in options.packages:
        try:
            importlib.import_module(package.replace("-", "_"))
        except ImportError as error:
            print(f"{package} is left out: {error}", file=sys.stderr)
            continue
        for rows in options.rows:
            lines += table(package, rows, options.rounds)
            print(*lines[-1:], flush=True)
    words = f"pandas {version('pandas')}, rollstat {rollstat.__version__}"
    rows = list_table(lines)
    print("\n".join(rows))
    write(options.output, [f".. {words}", "", *rows])


if __name__ == "__main__":
    main()
