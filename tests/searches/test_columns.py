"""The search over columns: it passes, and finds codes that depend on other windows."""

import numpy as np
import pandas as pd

from rollstat.pandas import calls
from tests.fuzz import columns
from tests.fuzz.__main__ import Area


def test_windows_of_columns_stand_alone():
    area = Area("columns", columns)
    for number in range(60):
        area.run(0, number)
    assert area.failures == []
    assert area.rows > 100


def test_codes_in_order_of_appearance_are_found(monkeypatch):
    def as_codes(column, name):
        if column.dtype != object:
            return None
        codes, values = pd.factorize(column.to_numpy())
        return np.where(codes < 0, np.nan, codes), values

    monkeypatch.setattr(calls, "as_codes", as_codes)
    monkeypatch.setattr(columns, "NAMES", ["mode"])
    monkeypatch.setattr(columns, "TEXT", ("object",))
    area = Area("columns", columns)
    for number in range(150):
        area.run(0, number)
    assert any("'mode'" in failure for failure in area.failures)
