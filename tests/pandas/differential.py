"""Random calls of the accessor against pandas: frames, windows, groups, methods; and planted bugs.

A cell is a method, a kind of windows and a dtype. Hypothesis draws data and options for each cell. pandas and
the accessor answer the same call. Results must have the same type, index, names, dtypes and values, and
errors the same type and message. There is no inf in the data, because pandas takes it as missing.

``python -m tests.pandas.differential`` runs `EXAMPLES` examples in each cell. With ``--plant`` it plants one
bug after the other, see `BUGS`, and every one must be found.
"""

import argparse
import functools
import itertools
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import hypothesis
import numpy as np
import pandas as pd
from hypothesis import strategies as st

from rollstat.options import Options
from rollstat.pandas.calls import ColumnCall
from rollstat.pandas.groups import GroupRows
from rollstat.plan import forget_plans
from rollstat.windows import FixedWindows, Interval, TimeWindows

EXAMPLES = 20  # of each cell
METHODS = (
    *("sum", "mean", "median", "var", "std", "sem", "min", "max", "count", "skew", "kurt", "quantile"),
    *("rank", "cov", "corr", "first", "last", "nunique"),
)
if pd.__version__.startswith("2."):  # it has no first, last and nunique, and another sem and cov
    METHODS = tuple(name for name in METHODS if name not in ("sem", "cov", "first", "last", "nunique"))
KINDS = ("rows", "times", "expanding", "indexer", "rows of groups", "times of groups", "expanding in groups")
DTYPES = (
    "float64",
    "float32",
    "int64",
    "uint8",
    "bool",
    "Int64",
    "Float32",
    "boolean",
    "double[pyarrow]",
    "str",
)
Cell = tuple[str, str, str]
CELLS: list[Cell] = list(itertools.product(METHODS, KINDS, DTYPES))


@dataclass
class Case:
    """A call: data, groups, selected columns, windows, method."""

    data: Any
    groups: dict[str, Any] | None
    columns: Any
    windows: str
    options: dict[str, Any]
    method: str
    arguments: dict[str, Any] = field(default_factory=dict)

    def answer(self, source: Any) -> Any:
        """Return the answer to the call, of pandas or of the accessor; an error as type and message."""
        try:
            if self.groups is not None:
                source = source.groupby(**self.groups)
            windows = getattr(source, self.windows)(**self.options)
            if self.columns is not None:
                windows = windows[self.columns]
            return getattr(windows, self.method)(**self.arguments)
        except Exception as error:
            return type(error).__name__, str(error)


# ---- data --------------------------------------------------------------------------------------------------


def numbers(draw: Any, largest: int, rows: int) -> Any:
    """Return small whole numbers; drawn as one seed, because a list costs more than the call."""
    return np.random.default_rng(draw(st.integers(0, 2**20))).integers(0, largest + 1, rows)


def columns(draw: Any, dtype: str, rows: int) -> pd.Series:
    """Return a column of small numbers with ties, some missing where the dtype allows it."""
    values = pd.Series(numbers(draw, 6, rows), dtype=np.float64)
    if dtype in ("int64", "uint8"):
        return values.astype(dtype)
    if dtype == "bool":
        return values > 2
    if dtype == "str":
        return values.map(str).astype(dtype)
    if dtype == "boolean":
        values = values > 2
    elif dtype != "Int64":
        values = values / 4
    lost = numbers(draw, 9, rows) < draw(st.sampled_from([0, 3]))
    return values.astype(dtype).mask(lost) if rows else values.astype(dtype)


def times(draw: Any, rows: int) -> pd.DatetimeIndex:
    """Return ordered times with ties."""
    hours = np.cumsum(numbers(draw, 3, rows))
    found = pd.DatetimeIndex(pd.Timestamp("2024-03-30 22:00") + pd.to_timedelta(hours, unit="h"))
    found = found.as_unit(draw(st.sampled_from(["ns", "us", "s"])))
    if draw(st.booleans()):
        found = found.tz_localize("UTC").tz_convert("Europe/Berlin")
    return found[::-1] if draw(st.integers(0, 4)) == 0 else found


def labels(draw: Any, rows: int) -> pd.Index:
    """Return an index of one of several kinds."""
    kind = draw(st.sampled_from(["range", "shuffled", "text", "repeated", "two levels", "times"]))
    if kind == "range":
        return pd.RangeIndex(rows, name=draw(st.sampled_from([None, "row"])))
    if kind == "shuffled":
        return pd.Index(np.random.default_rng(rows).permutation(rows), name="row")
    if kind == "text":
        return pd.Index([f"r{i % 50}" for i in range(rows)], name=None, dtype="str")
    if kind == "repeated":
        return pd.Index(np.arange(rows) // 2, name="row")
    if kind == "two levels":
        return pd.MultiIndex.from_arrays([np.arange(rows) // 3, np.arange(rows)], names=["half", None])
    return times(draw, rows)


def keys(draw: Any, rows: int, dtype: str) -> pd.Series:
    """Return the keys of groups; some may be missing."""
    names = np.array(["b", "a", "d", "c"], object)
    if draw(st.integers(0, 3)) == 0:
        names[2] = None
    return pd.Series(names[numbers(draw, 3, rows)], dtype=dtype)


def groups(draw: Any, frame: pd.DataFrame) -> dict[str, Any]:
    """Return the parameters of a groupby; add key columns to the frame."""
    rows = len(frame)
    frame["key"] = keys(draw, rows, draw(st.sampled_from(["str", "object", "category"]))).to_numpy()
    frame["part"] = 5 + numbers(draw, 2, rows)
    options: dict[str, Any] = {}
    kind = draw(st.sampled_from(["name", "list", "array", "function", "grouper", "level"]))
    if kind == "level":
        options["level"] = 0
    else:
        options["by"] = {
            "name": "key",
            "list": ["part", "key"],
            "array": frame["part"].to_numpy() % 2,
            "function": hash_of_label,
            "grouper": pd.Grouper(key="part"),
        }[kind]
    given = ("sort", "dropna", "as_index", "group_keys")
    return options | {option: False for option in given if draw(st.integers(0, 3)) == 0}


def hash_of_label(label: Any) -> int:
    """Return the group of a label of a row."""
    return zlib.crc32(repr(label).encode()) % 3


# ---- calls -------------------------------------------------------------------------------------------------


class Later(pd.api.indexers.BaseIndexer):
    """Windows from the middle of the rows so far to the present row."""

    def get_window_bounds(
        self,
        num_values: int = 0,
        min_periods: Any = None,
        center: Any = None,
        closed: Any = None,
        step: Any = None,
    ) -> Any:
        rows = np.arange(0, num_values, step or 1)
        return rows // 2, rows + 1


def window_options(draw: Any, kind: str, rows: int, frame: Any, can_name_times: bool) -> dict[str, Any]:
    """Return the parameters of `rolling` or `expanding`; set the index of the frame where they need times."""
    least = draw(st.none() | st.integers(0, 4))
    if kind.startswith("expanding"):
        return {} if least is None else {"min_periods": least}
    options: dict[str, Any] = {"min_periods": least}
    if draw(st.booleans()):
        options["closed"] = draw(st.sampled_from(["right", "left", "both", "neither"]))
    if draw(st.integers(0, 2)) == 0 and kind != "indexer":
        options["center"] = True
    if kind.startswith("times"):
        options["window"] = draw(st.sampled_from(["1h", "2h", "150min", pd.Timedelta("5h"), "3D"]))
        if can_name_times and isinstance(frame, pd.DataFrame) and draw(st.booleans()):
            frame["time"] = times(draw, rows)
            options["on"] = "time"
        else:
            frame.index = times(draw, rows).set_names(draw(st.sampled_from([None, "when"])))
    elif kind == "indexer":
        size = draw(st.integers(1, 5))
        forward = pd.api.indexers.FixedForwardWindowIndexer(window_size=size)
        options["window"] = draw(st.sampled_from([forward, Later()]))
        options.pop("closed", None)
    else:
        options["window"] = draw(st.integers(max(least or 0, 1), max(least or 0, 1) + 5))
    if "groups" not in kind and draw(st.integers(0, 2)) == 0:
        options["step"] = draw(st.integers(1, 4))
    return {name: value for name, value in options.items() if value is not None}


def arguments(draw: Any, method: str, data: Any) -> dict[str, Any]:
    """Return the parameters of a method."""
    found: dict[str, Any] = {}
    if method in ("var", "std", "sem", "cov") and draw(st.booleans()):
        found["ddof"] = draw(st.integers(0, 2))
    if method == "quantile":
        found["q"] = draw(st.sampled_from([0.0, 0.3, 0.5, 1.0]))
        found["interpolation"] = draw(st.sampled_from(["linear", "lower", "higher", "nearest", "midpoint"]))
    if method == "rank":
        found["method"] = draw(st.sampled_from(["average", "min", "max"]))
        found["ascending"] = draw(st.booleans())
        found["pct"] = draw(st.booleans())
    if method in ("cov", "corr"):
        found["pairwise"] = draw(st.sampled_from([None, False, True]))
        if draw(st.booleans()):
            other = data.select_dtypes("number") if isinstance(data, pd.DataFrame) else data
            found["other"] = other.iloc[draw(st.integers(0, 1)) :]
    if isinstance(data, pd.DataFrame) and draw(st.booleans()):
        found["numeric_only"] = True
    return found


@st.composite
def cases(draw: Any, cell: Cell) -> Case:
    """Return a call of a cell."""
    method, kind, dtype = cell
    rows = draw(st.integers(0, 25))
    first = columns(draw, dtype, rows).rename("x")
    by_group = "groups" in kind
    if by_group or draw(st.booleans()):
        second = columns(draw, draw(st.sampled_from(DTYPES[:-1])), rows)
        data: Any = pd.DataFrame({"x": first, "y": second})
    else:
        data = first.rename(draw(st.sampled_from(["x", None, ("a", 1)])))
    data.index = labels(draw, rows)
    # pandas raises a TypeError for `sem` beside a column of times.
    options = window_options(draw, kind, rows, data, can_name_times=method != "sem")
    if method == "rank":  # pandas keeps the rank of the row before where a window gains no row
        options.pop("center", None)
        options = {name: value for name, value in options.items() if value not in ("left", "neither")}
        if kind == "indexer":
            options["window"] = Later()
    found = groups(draw, data) if by_group else None
    selected = None
    if isinstance(data, pd.DataFrame):
        choices = ["x", ["x"], ["y", "x"]] if by_group else [None, "x", ["x"], ["y", "x"]]
        selected = draw(st.sampled_from(choices))
    call = "expanding" if kind.startswith("expanding") else "rolling"
    given = arguments(draw, method, data)
    if by_group and method in (
        "cov",
        "corr",
    ):  # without a number pandas returns an index that nothing can read
        given.pop("numeric_only", None)
    return Case(data, found, selected, call, options, method, given)


# ---- comparison --------------------------------------------------------------------------------------------


def compare(case: Case) -> None:
    """Raise AssertionError unless the accessor answers as pandas does."""
    theirs, ours = case.answer(case.data), case.answer(case.data.rollstat)
    if str(theirs) == "('ValueError', 'need at least one array to concatenate')":
        return  # every key is missing
    if str(theirs) == "('NotImplementedError', 'step is not supported with frequency windows')":
        return  # in rollstat it is
    if isinstance(theirs, tuple) or isinstance(ours, tuple):
        assert str(ours) == str(theirs), f"{ours}\n{theirs}"
        return
    assert type(ours) is type(theirs)
    equal = pd.testing.assert_series_equal if ours.ndim == 1 else pd.testing.assert_frame_equal
    equal(ours, theirs, rtol=1e-6, atol=1e-7)


def run_cell(cell: Cell, examples: int, hits: Counter[Cell], **settings: Any) -> None:
    """Compare `examples` calls of a cell; count them."""

    def one(case: Case) -> None:
        hits[cell] += 1
        compare(case)

    checks = list(hypothesis.HealthCheck)
    strict = {"deadline": None, "database": None, "suppress_health_check": checks, **settings}
    test = hypothesis.given(cases(cell))(one)
    test = hypothesis.settings(max_examples=examples, **strict)(test)
    hypothesis.seed(zlib.crc32(repr(cell).encode()))(test)()


def sample(step: int) -> list[Cell]:
    """Return every `step`-th cell in a fixed random order."""
    order = np.random.default_rng(0).permutation(len(CELLS))
    return [CELLS[i] for i in order[::step]]


# ---- planted bugs ------------------------------------------------------------------------------------------


def around(owner: Any, name: str, change: Callable[..., Any]) -> Any:
    """Return a patch of a method: `change` gets the true method and its arguments."""
    true = vars(owner)[name]
    function = true.__func__ if isinstance(true, classmethod) else true

    @functools.wraps(function)
    def changed(*args: Any, **kwargs: Any) -> Any:
        return change(function, *args, **kwargs)

    return mock.patch.object(owner, name, classmethod(changed) if isinstance(true, classmethod) else changed)


def wider(true: Any, self: Any, m: int, *args: Any, **kwargs: Any) -> None:
    true(self, m, *args, **kwargs)
    self.left += 1


def swapped(true: Any, self: Any, *args: Any, **kwargs: Any) -> None:
    true(self, *args, **kwargs)
    before, after, left_closed, right_closed = self.interval
    self.interval = Interval(before, after, right_closed, left_closed)


def float32(true: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    return true(self, *args, **kwargs).astype(np.float32)


def nameless(true: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    found = true(self, *args, **kwargs)
    return found.rename(None) if found.ndim == 1 else found


def reordered(true: Any, *args: Any) -> Any:
    found = true(*args)
    parts = np.split(found.order, found.offsets[1:-1])[::-1]
    offsets = np.cumsum([0, *(len(part) for part in parts)])
    return GroupRows(np.concatenate(parts), offsets)


def without(*names: str) -> Callable[..., Any]:
    """Return a change of `ColumnCall.compute` that loses parameters and options."""

    def change(true: Any, self: ColumnCall, values: Any, **options: Any) -> Any:
        parameters = {name: value for name, value in self.parameters.items() if name not in names}
        given = {name: value for name, value in self.windows.options.items() if name not in names}
        return true(
            self._replace(parameters=parameters, windows=self.windows._replace(options=given)),
            values,
            **options,
        )

    return change


def zeros(true: Any, self: ColumnCall, values: Any, **options: Any) -> Any:
    return true(self, np.nan_to_num(values), **options)


def unlabelled(true: Any, *args: Any, **kwargs: Any) -> Any:
    return true(*args, **kwargs).reset_index(drop=True)


# Each bug with a method whose cells can show it.
BUGS: dict[str, tuple[str, Callable[[], Any]]] = {
    "windows of rows begin one row too early": ("sum", lambda: around(FixedWindows, "__init__", wider)),
    "closed= of time windows has its ends swapped": ("sum", lambda: around(TimeWindows, "__init__", swapped)),
    "min_periods is ignored": ("mean", lambda: around(Options, "min_periods_for", lambda *_: 1)),
    "center is ignored": ("max", lambda: around(ColumnCall, "compute", without("center"))),
    "results are float32": ("mean", lambda: around(ColumnCall, "_labelled", float32)),
    "the name of a Series is lost": ("median", lambda: around(ColumnCall, "_labelled", nameless)),
    "the index is lost": ("min", lambda: around(ColumnCall, "_labelled", unlabelled)),
    "groups come in the reverse order": ("sum", lambda: around(GroupRows, "of", reordered)),
    "windows cross groups": ("mean", lambda: around(ColumnCall, "compute", without("segments"))),
    "ddof is ignored": ("std", lambda: around(ColumnCall, "compute", without("ddof"))),
    "interpolation is ignored": ("quantile", lambda: around(ColumnCall, "compute", without("interpolation"))),
    "ascending is ignored": ("rank", lambda: around(ColumnCall, "compute", without("ascending"))),
    "missing values count as zero": ("min", lambda: around(ColumnCall, "compute", zeros)),
}


@contextmanager
def planted(bug: str) -> Iterator[None]:
    """Plant a bug of `BUGS`; plans made before or with it are not kept."""
    forget_plans()
    with BUGS[bug][1]():
        yield
    forget_plans()


def find(bug: str, examples: int) -> int:
    """Return how many examples it takes to find a bug; 0 if `examples` in each cell do not find it."""
    hits: Counter[Cell] = Counter()
    with planted(bug):
        for cell in sample(1):
            if cell[0] != BUGS[bug][0]:
                continue
            try:
                run_cell(cell, examples, hits, phases=[hypothesis.Phase.generate])
            except (AssertionError, ValueError, IndexError, hypothesis.errors.Flaky, ExceptionGroup):
                return hits.total()
    return 0


def main() -> int:
    """Run every cell, or plant every bug; return 1 for a difference, a bug not found, or too few hits."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--examples", type=int, default=EXAMPLES, help="of each cell")
    parser.add_argument("--plant", action="store_true", help="plant bugs")
    options = parser.parse_args()
    failed = 0
    if options.plant:
        for bug in BUGS:
            number = find(bug, options.examples)
            failed += not number
            print(f"{bug}: {f'found after {number} examples' if number else 'NOT FOUND'}", flush=True)
        return int(bool(failed))
    hits: Counter[Cell] = Counter()
    for cell in CELLS:
        try:
            run_cell(cell, options.examples, hits, print_blob=False)
        except Exception as error:
            failed += 1
            print(f"{cell}: {type(error).__name__}: {error}\n{''.join(error.__notes__)}", flush=True)
    least = min(hits[cell] for cell in CELLS)
    print(f"{hits.total()} examples in {len(CELLS)} cells, at least {least} in each; {failed} cells differ")
    return int(failed > 0 or least < options.examples)


if __name__ == "__main__":
    sys.exit(main())
