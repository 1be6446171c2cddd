"""The private parts of pandas that the accessor uses are listed in one place, and pandas has them."""

import ast
import re
from pathlib import Path

import pandas as pd

import rollstat.pandas

FOLDER = Path(rollstat.pandas.__file__).parent
LISTED = re.findall(r"``(_\w+)``", rollstat.pandas.__doc__.partition("private parts of pandas")[2])
OF_TUPLES = {"_replace"}


def test_they_are_listed():
    read, own = set(), set()
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                own.add(node.name)
            elif isinstance(node, ast.Attribute) and re.match("_[a-z]", node.attr):
                of_self = isinstance(node.ctx, ast.Store) and getattr(node.value, "id", "") == "self"
                (own if of_self else read).add(node.attr)
    assert {"_mgr", "_on", "_grouper"} <= read - own - OF_TUPLES <= set(LISTED)


def test_pandas_has_them():
    frame = pd.DataFrame({"key": [1, 2], "x": [1.0, 2.0]}, pd.date_range("2024", periods=2))
    groups = frame.groupby("key")
    objects = [frame.rolling("2D"), groups.rolling(2), groups.expanding(), groups, frame, frame["x"]]
    objects += [frame.rolling(2, win_type="hann"), frame.ewm(com=1)]
    assert len(LISTED) > 20
    assert [name for name in LISTED if not any(hasattr(each, name) for each in objects)] == []
