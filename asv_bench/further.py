"""Compare exponential weights, regressions, weights by position and others with the best peer of each.

    python asv_bench/further.py --output docs/performance/tables/further.rst
    python asv_bench/further.py --n 20000 --rounds 1 --only ewm   # a quick look

Each pair of calls is text that is evaluated, so the table shows what was run. The results are compared before
anything is timed. All libraries have one thread and take turns. Times are processor times, of which other
processes take less than of wall-clock times. A ratio is the median over the rounds, and is in bold if
rollstat is slower.
"""

import argparse
import os
import statistics
import sys
import time
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # read when polars is imported
os.environ.setdefault("NUMBA_NUM_THREADS", "1")  # read when Numba is imported
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pandas as pd
from benchmarks.peers import INSTALLED, duckdb, machine, pds
from benchmarks.tables import list_table, write
from benchmarks.timing import milliseconds, ratio

import rollstat
import rollstat.pandas  # registers the accessor


class Peer(NamedTuple):
    """A call of another library, and which part of its result is compared."""

    library: str
    call: str
    compared: str = "result"


class Job(NamedTuple):
    """What is computed, rollstat's call, the calls of other libraries, and which part is compared."""

    name: str
    ours: str
    peers: list[Peer]
    compared: str = "result"


def _exponential(name: str) -> Job:
    """Return the calls of an exponentially weighted statistic over a span of 100 rows."""
    peers = [
        Peer("pandas", f"s.ewm(span=100).{name}()"),
        Peer("numbagg", f"numbagg.move_exp_nan{name}(x, alpha=2 / 101)"),
    ]
    if name != "sum":
        peers += [
            Peer("polars", f"p.ewm_{name}(span=100)"),
            Peer("screamer", f"screamer.Ew{name.title()}(span=100)(x)"),
        ]
    if name == "mean":
        peers.append(Peer("TA-Lib", "talib.EMA(x, 100)"))
    return Job(f"ewm, {name}", f"rollstat.ewm_{name}(x, span=100)", peers)


_FRAME = "ROWS BETWEEN size - 1 PRECEDING AND CURRENT ROW"


def _any_window(name: str) -> Job:
    """Return the calls of a statistic over windows whose width differs from row to row."""
    sql = f"SELECT {name}(x) OVER (ORDER BY i {_FRAME}) FROM t ORDER BY i"
    peer = Peer("DuckDB", f'db.sql("{sql}").fetchnumpy()', "next(iter(result.values()))")
    return Job(f"{name}, 10 to 2,000 rows", f"rollstat.rolling_{name}(x, sizes)", [peer])


def _convolution(m: int) -> Job:
    """Return the calls of a sum with m weights by position."""
    peers = [
        Peer("NumPy", f"np.convolve(x, rising[:{m}][::-1], 'valid')"),
        Peer("scipy", f"signal.convolve(x, rising[:{m}][::-1], 'valid')"),
        Peer("scipy", f"signal.oaconvolve(x, rising[:{m}][::-1], 'valid')"),
    ]
    return Job(f"{m:,} weights", f"rollstat.rolling_convolve(x, rising[:{m}], mode='valid')", peers)


JOBS = [
    *map(_exponential, ("mean", "std", "sum")),
    Job(
        "ewm, mean, irregular times",
        "rollstat.ewm_mean(x, halflife='100s', times=stamps)",
        [Peer("pandas", "s.ewm(halflife='100s', times=stamps).mean()")],
    ),
    Job(
        "regression on three series",
        "rollstat.rolling_regression(y, factors, 250)",
        [
            Peer("statsmodels", "ols.RollingOLS(y, design, 250).fit()", "result.params[:, 1]"),
            Peer(
                "polars-ds",
                "table.select(pds.rolling_lin_reg(*'abc', target='y', window_size=250, add_bias=True))",
                "result['y'].struct.field('coeffs').list.get(0)",
            ),
        ],
        "result.coefficients[1]",
    ),
    *map(_convolution, (25, 1_000)),
    Job(
        "win_type, mean",
        "s.rollstat.rolling(100, win_type='hamming').mean()",
        [Peer("pandas", "s.rolling(100, win_type='hamming').mean()")],
    ),
    Job(
        "weighted median",
        "rollstat.rolling_weighted_median(x, volume, 100, mode='valid')",
        [
            Peer(
                "NumPy",
                "np.quantile(view(x, 100), 0.5, axis=1, weights=view(volume, 100), method='inverted_cdf')",
            )
        ],
    ),
    Job(
        "z-score",
        "rollstat.rolling_zscore(x, 100)",
        [
            Peer("pandas", "(s - s.rolling(100).mean()) / s.rolling(100).std()"),
            Peer("polars", "(p - p.rolling_mean(100)) / p.rolling_std(100)"),
        ],
    ),
    Job(
        "drawdown",
        "rollstat.rolling_drawdown(volume, 100)",
        [Peer("pandas", "pd.Series(volume).rolling(100).apply(largest_loss, raw=True, engine='numba')")],
    ),
    Job(
        "autocorrelation",
        "rollstat.rolling_autocorr(x, 100)",
        [
            Peer("pandas", "s.rolling(99).corr(s.shift())"),
            Peer("polars", "table.select(pl.rolling_corr('x', pl.col('x').shift(), window_size=99))"),
        ],
    ),
    Job(
        "function of a window",
        "rollstat.rolling_apply(x, half_range, 100)",
        [
            Peer("pandas", "s.rolling(100).apply(half_range, raw=True, engine='numba')"),
            Peer("pandas", "s.rolling(100).apply(half_range, raw=True)"),
        ],
    ),
    *map(_any_window, ("median", "max", "sum")),
]


def half_range(window: Any) -> float:
    """Return half of the distance between the extrema."""
    return (window.max() - window.min()) / 2


def largest_loss(window: Any) -> float:
    """Return the largest loss from a running peak, as a fraction."""
    peak, loss = window[0], 0.0
    for value in window:
        peak = max(peak, value)
        loss = max(loss, (peak - value) / peak)
    return loss


def names(n: int) -> dict[str, Any]:
    """Return the data and the modules that the calls use."""
    random = np.random.default_rng(0)
    x, y = random.normal(size=(2, n))
    factors, sizes = random.normal(size=(3, n)), random.integers(10, 2_001, n)
    stamps = pd.Timestamp("2026") + pd.to_timedelta(np.cumsum(random.integers(1, 60, n)), unit="s")
    found = {"np": np, "pd": pd, "rollstat": rollstat, "view": np.lib.stride_tricks.sliding_window_view}
    found |= {"x": x, "y": y, "s": pd.Series(x), "stamps": stamps, "sizes": sizes, "factors": factors}
    found |= {"volume": random.gamma(2.0, size=n), "rising": np.linspace(0.5, 1.0, 1_000)}
    found |= {"half_range": half_range, "largest_loss": largest_loss}
    found |= {"design": np.column_stack([np.ones(n), *factors])}
    modules = {"scipy": ("signal", "scipy.signal"), "statsmodels": ("ols", "statsmodels.regression.rolling")}
    modules |= {"numbagg": ("numbagg", "numbagg"), "screamer": ("screamer", "screamer")}
    modules |= {"TA-Lib": ("talib", "talib"), "polars": ("pl", "polars")}
    found |= {name: import_module(path) for library, (name, path) in modules.items() if library in INSTALLED}
    if "pl" in found:
        columns = {"x": x, "y": y, **dict(zip("abc", factors))}
        found |= {"pds": pds, "p": found["pl"].Series("x", x), "table": found["pl"].DataFrame(columns)}
    if duckdb:
        found["db"] = duckdb.connect(config={"threads": 1})
        rows = pd.DataFrame({"i": np.arange(n), "x": x, "size": sizes})
        found["db"].register("rows", rows)
        found["db"].execute("CREATE TABLE t AS SELECT * FROM rows")
    return found


def installed(peer: Peer) -> bool:
    """Return whether the library of a call is there."""
    return peer.library in {"NumPy", *INSTALLED}


def _compared(call: str, part: str, data: dict[str, Any]) -> np.ndarray:
    """Return what is compared of the result of a call, as floats; null is NaN."""
    part = eval(part, data | {"result": eval(call, data)})
    if hasattr(part, "to_numpy"):
        part = part.to_numpy()
    return np.ma.filled(np.ma.asarray(part, dtype=np.float64), np.nan).squeeze()


def check(job: Job, peer: Peer, data: dict[str, Any]) -> None:
    """Compare results over the last third of the rows: TA-Lib begins in another way, others with NaN."""
    ours = _compared(job.ours, job.compared, data)
    theirs = _compared(peer.call, peer.compared, data)
    rows = len(ours) // 3
    np.testing.assert_allclose(ours[-rows:], theirs[-rows:], rtol=1e-7, atol=1e-9, err_msg=peer.call)


def measure(job: Job, data: dict[str, Any], rounds: int) -> list[tuple[str, ...]]:
    """Return a row for each peer: the calls, their milliseconds, and how many times faster rollstat is."""
    peers = [peer for peer in job.peers if installed(peer)]
    for peer in peers:
        check(job, peer, data)
    runs = {
        text: partial(eval, compile(text, "call", "eval"), data)
        for text in (job.ours, *(p.call for p in peers))
    }
    times = milliseconds(runs, rounds, time.process_time)
    mine = f"{statistics.median(times[job.ours]):.2f}"
    rows = []
    for peer in peers:
        found = ratio(times, peer.call, job.ours)
        text = f"{found:.2f}" if found < 2 else f"{found:.1f}" if found < 20 else f"{found:,.0f}"
        theirs = f"{statistics.median(times[peer.call]):.2f}"
        first = (job.name, f"``{job.ours}``", mine) if peer is peers[0] else ("", "", "")
        rows.append((*first, f"``{peer.call}``", theirs, text if found >= 1 else f"**{text}**"))
    return rows


def main() -> None:
    """Compare, measure, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="", help="jobs whose name contains this text")
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    data = names(arguments.n)
    rows = [("statistic", "rollstat", "ms", "other library", "ms", "times faster")]
    for job in JOBS:
        if arguments.only in job.name:
            for row in measure(job, data, arguments.rounds):
                rows.append(row)
                print("  ".join(row), flush=True)
    source = f"{arguments.n:,} normal float64 values, one thread, medians of {arguments.rounds} rounds."
    write(arguments.output, [*list_table(rows), f"{source} {machine()}.", ""])


if __name__ == "__main__":
    main()
