"""Statistics of several windows at one time, against NumPy."""

import numpy as np
import pytest

from rollstat.kernels import at_once
from rollstat.kernels.selection.quantiles import LINEAR

STATISTICS = {
    at_once.COUNT: (len, ()),
    at_once.FIRST: (lambda x: x[0], ()),
    at_once.LAST: (lambda x: x[-1], ()),
    at_once.SUM: (np.sum, ()),
    at_once.MEAN: (np.mean, ()),
    at_once.VARIANCE: (np.var, (0,)),
    at_once.DEVIATION: (np.std, (0,)),
    at_once.ERROR: (lambda x: np.std(x) / np.sqrt(len(x)), (0,)),
    at_once.KTH: (max, (-1,)),
    at_once.QUANTILE: (lambda x: np.quantile(x, 0.3), (0.3, LINEAR)),
    at_once.SPREAD: (lambda x: np.subtract(*np.quantile(x, [0.75, 0.25])), (0.25, 0.75, LINEAR)),
    at_once.DISTINCT: (lambda x: len(set(x)), ()),
    at_once.MODE: (lambda x: min(set(x), key=lambda v: (-list(x).count(v), v)), ()),
    at_once.MEDIAN_DEVIATION: (lambda x: np.median(abs(x - np.median(x))), (1,)),
}


def answer(times, series, tasks, parameters, now=100):
    """The results of tasks over the last 30 units of time, all rows, and the last 4 rows but one."""
    n, out = len(times), np.zeros(len(tasks))
    edges = np.array([-30, 0] * 3), np.array([False, True] * 3), np.array([0, 0, -(2**62), 0, -5, -1])
    tasks = np.array([(*task, i) for i, task in enumerate(tasks)]).reshape(-1, 6)
    scratch = np.empty(6, np.int64), np.empty((4, n + 1)), np.empty((3, n + 1), np.int64)
    edges[0][4:] = 0
    served = at_once.answer(times, now, *edges, series, tasks, np.array(parameters), *scratch, out)
    return served, out


@pytest.mark.parametrize("n", [0, 1, 12, 13, 130])
def test_statistics(n):
    rng = np.random.default_rng(n)
    times = np.sort(rng.integers(0, 101, n))
    series = rng.integers(0, 50, (2, n)) / 4
    series[rng.random((2, n)) < 0.2] = np.nan
    windows = times >= 70, times >= 0, np.arange(n) >= n - 5
    windows[2][-1:] = False
    which = [(0, 0, w, s, 1) for w in range(3) for s in STATISTICS]
    which += [(1, 0, w, s, 1) for w in range(3) for s in STATISTICS]
    served, found = answer(times, series, which, [(*STATISTICS[s][1], 0, 0, 0)[:3] for *_, s, _ in which])
    assert served
    for (place, where, window, statistic, _), result in zip(which, found):
        x = series[place][windows[window] & ~np.isnan(series[place]) & ~np.isnan(series[where])]
        expected = STATISTICS[statistic][0](x) if len(x) else np.nan
        assert result == pytest.approx(expected, rel=1e-14, abs=1e-14, nan_ok=True), (statistic, window)


@pytest.mark.parametrize(
    ("values", "statistic"), [([1e308, 1e308, -1e308], "SUM"), ([1e200, 0.0], "VARIANCE")]
)
def test_sums_that_leave_the_range_of_floats_are_not_served(values, statistic):
    series, task = np.array([values]), (0, 0, 1, getattr(at_once, statistic), 1)
    assert not answer(np.arange(len(values)), series, [task], [(1.0, 0.0, 0.0)])[0]
