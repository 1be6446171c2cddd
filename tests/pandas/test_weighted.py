"""Windows with ``win_type``, compared with pandas."""

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal, assert_series_equal

import rollstat.pandas  # noqa: F401  # registers the accessor

FRAME = pd.DataFrame({"a": np.random.default_rng(1).standard_normal(60), "b": np.arange(60) % 7})
FRAME.loc[[4, 5, 6, 20], "a"] = np.nan
FRAME.loc[30:36, "a"] = np.nan


@pytest.mark.parametrize("statistic", ["sum", "mean", "var", "std"])
@pytest.mark.parametrize("options", [{}, {"center": True}, {"min_periods": 2, "step": 3}, {"min_periods": 0}])
@pytest.mark.parametrize("win_type", ["triang", "hamming", "boxcar"])
def test_as_pandas(win_type, options, statistic):
    given = {"window": 5, "win_type": win_type, **options}
    ours, theirs = FRAME.rollstat.rolling(**given), FRAME.rolling(**given)
    found, wanted = getattr(ours, statistic)(), getattr(theirs, statistic)()
    if statistic in ("var", "std"):  # pandas rotates the weights, and has the right ones in every fifth row
        shift = 2 if "center" in options else 0
        rows = [i for i in found.index if (i + shift) % 5 == 4 and i + shift < len(FRAME)]
        found, wanted = found.loc[rows], wanted.loc[rows]
        assert found.notna().any(axis=None)
    assert_frame_equal(found, wanted, rtol=1e-9, atol=1e-12)


def test_parameters_of_a_window():
    ours, theirs = (s.rolling(6, win_type="gaussian") for s in (FRAME["a"].rollstat, FRAME["a"]))
    assert_series_equal(ours.mean(std=2), theirs.mean(std=2))
    assert_series_equal(ours.var(ddof=0, std=2)[5::6], theirs.var(ddof=0, std=2)[5::6])
    assert_frame_equal(
        FRAME.rollstat.rolling(0, win_type="triang", min_periods=0).sum(),
        FRAME.rolling(0, win_type="triang", min_periods=0).sum(),
    )


@pytest.mark.parametrize("options", [{}, {"center": True}, {"min_periods": 2}, {"min_periods": 0}])
@pytest.mark.parametrize(("win_type", "given"), [("triang", {}), ("gaussian", {"std": 2})])
def test_within_groups(win_type, given, options):
    """Each group is compared with itself alone, because within groups pandas leaves the weights out."""
    frame, keys = FRAME.drop(index=[3]), np.arange(59) % 3
    options = {"window": 5, "win_type": win_type, **options}
    groups = frame.rollstat.groupby(keys)
    mean, aligned = groups.rolling(**options).mean(**given), groups.rolling(transform=True, **options)
    total, spread = aligned["a"].sum(**given), groups["a"].rolling(**options).std(ddof=0, **given)
    for key, group in frame.groupby(keys):
        assert_frame_equal(mean.loc[key], group.rolling(**options).mean(**given))
        assert_series_equal(total[group.index], group["a"].rolling(**options).sum(**given))
        assert_series_equal(spread[key], group["a"].rollstat.rolling(**options).std(ddof=0, **given))


def test_errors_within_groups():
    groups = FRAME.rollstat.groupby("b")
    with pytest.raises(ValueError, match="Invalid win_type nothing"):
        groups.rolling(3, win_type="nothing")
    with pytest.raises(ValueError, match="window must be an integer"):
        groups.rolling(1.5, win_type="hann")
