"""Features of several columns: regressions, and functions of windows."""

import numpy as np
import pandas as pd
import pytest

import rollstat
from rollstat import features


def test_regressions_and_functions_of_columns(rng):
    rows = pd.DataFrame(rng.normal(size=(40, 3)), columns=["r", "a", "b"])
    rows["key"], rows["time"] = [1, 2] * 20, pd.date_range("2026", periods=40)
    wanted = [
        features.regression("r", ["a", "b"]).over(12),
        features.apply(["a", "b"], lambda a, b: (a * b).sum()).over(3),
    ]
    defined = features.Features(wanted, by="key", on="time")
    found = defined.compute(rows)[lambda frame: frame["key"] == 2]
    r, a, b = rows.loc[rows["key"] == 2, ["r", "a", "b"]].to_numpy().T
    fit = rollstat.rolling_regression(r, (a, b), 12)
    np.testing.assert_allclose(found["r_a_b_regression_b_12"], fit.coefficients[2], rtol=1e-9)
    np.testing.assert_allclose(found["r_a_b_regression_prediction_12"], fit.prediction, rtol=1e-9)
    np.testing.assert_allclose(found.iloc[:, -1], rollstat.rolling_sum(a * b, 3), rtol=1e-12)
    with pytest.raises(TypeError, match="JSON cannot hold <function"):
        defined.to_json()
