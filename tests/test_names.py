"""Errors about unknown names of parameters and attributes, on every face."""

import pandas as pd
import pytest

import rollstat
import rollstat.pandas
import rollstat.spark
from rollstat import operators
from rollstat.features import hampel
from rollstat.names import nearest

X = [4.0, 1.0, 3.0, 2.0]


def test_own_parameters_come_before_common_ones():
    assert nearest("thre", ["threshold", "scale"], ["threads", "times"]) == "threshold"
    assert nearest("tread", ["threshold", "scale"], ["threads", "times"]) == "threads"
    assert nearest("min_count", ["q"], ["min_periods"]) == "min_periods"
    assert nearest("zzz", ["q"], ["min_periods"]) is None


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda: rollstat.rolling_hampel(X, 3, treshold=2), "threshold"),
        (lambda: rollstat.explain(rollstat.rolling_hampel, X, 3, treshold=2), "threshold"),
        (lambda: rollstat.rolling_aggregate(X, op=operators.Sum(), window=3), "operator"),
        (lambda: rollstat.rolling_median(X, size=3), "window"),
        (lambda: rollstat.rolling_median(X, 3, min_count=1), "min_periods"),
        (lambda: rollstat.RollingHampel(3, treshold=2), "threshold"),
        (lambda: rollstat.TimeAggregate(operators.Sum(), span=3.0), "window"),
        (lambda: pd.Series(X).rollstat.rolling(3).hampel(treshold=2), "threshold"),
        (lambda: pd.Series(X).rollstat.rolling(3, nan_polcy="omit"), "nan_policy"),
        (lambda: hampel("x", treshold=2), "threshold"),
        (lambda: hampel("x").over(3, centre=True), "center"),
    ],
)
def test_an_unknown_keyword_suggests_the_nearest_parameter(call, meant):
    with pytest.raises(TypeError, match=rf"got an unexpected keyword argument .*; did you mean {meant}\?"):
        call()
    with pytest.raises(TypeError, match=r"'zzz'; the parameters are arr, window, min_periods"):
        rollstat.rolling_median(X, 3, zzz=1)


def test_other_errors_stay_as_they_are():
    with pytest.raises(TypeError, match="window must be a number of rows"):
        rollstat.rolling_median(X, None)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'window'"):
        rollstat.rolling_median(X)


def test_order_statistics_take_window_by_both_names():
    wanted = rollstat.rolling_kth(X, 2, 3).tolist()[2:]
    for name in ("m", "window"):
        assert rollstat.rolling_kth(X, k=2, **{name: 3}).tolist()[2:] == wanted
        assert rollstat.explain(rollstat.rolling_kth, X, k=2, **{name: 3}).width == 3
    with pytest.raises(TypeError, match=r"'m'; did you mean window\?"):
        rollstat.rolling_median(X, m=3)


def test_an_unknown_attribute_suggests_the_nearest_one():
    assert rollstat.hampel_filter is rollstat.rolling_hampel
    for name, meant in (("Hampel", "RollingHampel"), ("rolling_medain", "rolling_median")):
        with pytest.raises(AttributeError, match=rf"attribute {name}; did you mean {meant}\?"):
            getattr(rollstat, name)
    assert not hasattr(rollstat, "_repr_mimebundle_")
    with pytest.raises(AttributeError, match=r"no columns: write frame\['x'\]\.rollstat"):
        _ = pd.DataFrame({"x": X}).rollstat.x
    for name, meant in (("percentile", "quantile"), ("medain", "median"), ("distinct", "nunique")):
        for module in (rollstat.features, rollstat.spark):
            with pytest.raises(AttributeError, match=rf"attribute '{name}'; did you mean {meant}\?"):
                getattr(module, name)
