"""Features of frames against the functions over arrays, called for each key."""

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rollstat import Expanding, Forward, operators, thresholds
from rollstat import features as f
from rollstat.registry import REGISTRY
from tests.features.frames import KINDS, by_brute_force, column, transactions

WINDOWS = ("2D", 4)


def check(frame, features, expected, **options):
    """Compare the features of a frame of each kind with arrays."""
    for convert in KINDS.values():
        found = features.compute(convert(frame), **options)
        for new, values in zip(features.columns, expected, strict=True):
            result = column(found, new.name)
            if new.feature.statistic.startswith("arg"):  # -1 is missing in pandas, as in the functions
                result[result < 0] = np.nan
            if new.dtype.kind == "b":  # which are never missing in pandas
                result = np.nan_to_num(result)
            np.testing.assert_array_equal(result, values, err_msg=f"{type(found)} {new.name}")


@pytest.mark.parametrize("name", [name for name in REGISTRY if name != "aggregate"])
def test_every_statistic(name):
    frame, statistic = transactions(), REGISTRY[name]
    columns = ["amount", "price"][: statistic.series]
    for parameters in statistic.samples:
        feature = getattr(f, name)(*columns, **parameters).over(*WINDOWS, min_periods=1)
        features, expected = f.Features([feature], by="customer", on="time", closed="left"), []
        for window in WINDOWS:
            options = {"min_periods": 1, "closed": "left"}
            expected += by_brute_force(frame, ["customer"], name, columns, window, parameters, **options)
        if statistic.exact:
            check(frame, features, expected)
        else:  # the blocks of sums lie elsewhere
            found = features.compute(frame)
            for new, values in zip(features.columns, expected, strict=True):
                np.testing.assert_allclose(found[new.name], values, rtol=1e-9, atol=1e-9)


def test_sets_of_keys_and_windows():
    frame = transactions()
    number = f.nunique("shop").over("3D")
    features = f.Features(
        [
            f.max("amount").over("2D", 3, Expanding(), Forward(2), min_periods=1),
            number.by("customer", "shop").alias("with_shop"),
            number.by().alias("all"),
            f.count("category").over("2D"),
            f.median("amount").over("2D").by("shop"),
        ],
        by=["customer"],
        on="time",
    )
    expected = []
    for window in ("2D", 3, Expanding(), Forward(2)):
        expected += by_brute_force(frame, ["customer"], "max", ["amount"], window, min_periods=1)
    for keys in (["customer", "shop"], []):
        expected += by_brute_force(frame, keys, "nunique", ["shop"], "3D")
    observed = np.where(frame["category"].isna(), np.nan, 1.0)
    expected += by_brute_force(frame, ["customer"], "count", [], "2D", values=observed)
    expected += by_brute_force(frame, ["shop"], "median", ["amount"], "2D")
    names = "amount_max_2D amount_max_3 amount_max_expanding amount_max_forward_2 with_shop all"
    assert [new.name for new in features.columns] == [
        *names.split(),
        "category_count_2D",
        "shop_amount_median_2D",
    ]
    check(frame, features, expected)
    check(frame, features, expected, threads=2)
    by_order = frame.sort_values("time", kind="stable")  # found in order
    again = features.compute(by_order).loc[frame.index]
    pd.testing.assert_frame_equal(again, features.compute(frame))


@pytest.mark.parametrize("closed", ["left", "both"])
def test_all_rows_before_the_row_itself(closed):
    frame = transactions()
    built = [f.max("amount"), f.sum("amount"), f.count("amount")]
    features = f.Features([each.over(Expanding()) for each in built], by="customer", on="time", closed=closed)
    expected = []
    for each in built:
        windows = {"min_periods": 0 if each.statistic == "count" else 1, "closed": closed}
        expected += by_brute_force(frame, ["customer"], each.statistic, ["amount"], len(frame), **windows)
    check(frame, features, expected)
    own = frame[frame["customer"] == "a"]
    time = own["time"].sort_values().iloc[5]
    rows = own[own["time"] < time if closed == "left" else own["time"] <= time]
    at = features.compute(frame, at=pd.DataFrame({"customer": ["a"], "time": [time]}))
    assert at["amount_max_expanding"].item() == rows["amount"].max()
    assert at["amount_count_expanding"].item() == rows["amount"].count()


def test_order_statistics_of_one_window_are_those_of_separate_calls():
    frame = transactions()
    built = [f.median("amount"), f.quantile("amount", [0.1, 0.95]), f.kth("amount", [2, -1]), f.iqr("amount")]
    features = f.Features([each.over(5, "1D", min_periods=1) for each in built], by="shop", on="time")
    expected = []
    for each in built:
        for window in (5, "1D"):
            options = {"min_periods": 1, "parameters": each.parameters}
            expected += by_brute_force(frame, ["shop"], each.statistic, ["amount"], window, **options)
    assert "amount_quantile_0_95_1D" in [new.name for new in features.columns]
    check(frame, features, expected)


@pytest.mark.parametrize("largest", [9.0, 1.5e308])  # whose sums are infinite
def test_means_with_sums_are_those_of_separate_calls(largest):
    frame = transactions()
    frame["amount"] *= largest / 9
    means = f.mean("amount").over("2D", 4, min_periods=0)
    columns = [f.mean("amount").over(4).alias("full"), means, f.sum("amount").over("2D", 4, min_periods=0)]
    columns += [f.sum("amount").over(4, min_periods=0).alias("again")]
    found = f.Features(columns, by="customer", on="time", closed="left").compute(frame)
    expected = f.Features([means], by="customer", on="time", closed="left").compute(frame)
    assert np.isinf(found["amount_sum_4"]).any() == (largest > 9)
    np.testing.assert_array_equal(found["again"], found["amount_sum_4"])
    for name in ("amount_mean_2D", "amount_mean_4"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-15)
    assert np.isnan(expected["amount_mean_2D"]).any()


@pytest.mark.parametrize(
    "condition", ["category == 'food' and not amount <= 2", "food", "category in ('food',) and 2 < amount"]
)
def test_filters_leave_rows_in_their_places(condition):
    frame = transactions()
    frame["food"] = (frame["category"] == "food") & (frame["amount"] > 2)
    feature = f.sum("amount").where(condition).over(3, "2D", min_periods=1)
    features, expected = f.Features([feature], by="customer", on="time"), []
    values = np.where(frame["food"], frame["amount"], np.nan)
    for window in (3, "2D"):
        expected += by_brute_force(frame, ["customer"], "sum", [], window, values=values, min_periods=1)
    check(frame, features, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_infinite_values_are_missing_where_asked_for(kind):
    frame = transactions().reset_index(drop=True)
    frame["price"] = frame["price"].mask(frame["price"].abs() > 1, np.sign(frame["price"]) * np.inf)
    finite = frame.assign(price=frame["price"].mask(np.isinf(frame["price"])))
    several = [f.max("price"), f.sum("price").where("amount > 2"), f.corr("price", "number")]
    columns = [each.over(4, "2D", min_periods=1) for each in (*several, f.nunique("category"))]
    own = [each.over(*each.windows, **each.options, inf="missing") for each in columns]
    plain, kept = f.Features(columns, by="shop", on="time"), f.median("price").over(3, inf="value")
    expected = KINDS[kind](plain.compute(finite))
    for features in (
        f.Features(columns, by="shop", on="time", inf="missing"),
        f.Features(own, by="shop", on="time"),
    ):
        found = features.compute(KINDS[kind](frame))
        for name in (new.name for new in features.columns):
            np.testing.assert_allclose(column(found, name), column(expected, name), rtol=1e-12)
        assert f.Features.from_json(features.to_json()) == features
    mixed = f.Features([*columns, kept], by="shop", on="time", inf="missing")
    found = column(mixed.compute(KINDS[kind](frame)), "price_median_3")
    expected = f.Features([kept], by="shop", on="time").compute(frame)["price_median_3"]
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="inf must be one of"):
        f.Features([], inf="none")


def test_strings_and_times():
    frame = transactions().sort_values("time", kind="stable").reset_index(drop=True)
    names = ["first", "last", "mode", "nunique"]
    features = f.Features(
        [
            *(getattr(f, name)("category").over(4, min_periods=1) for name in names),
            f.last("time").over(2, min_periods=1),
        ],
        by="shop",
    )
    expected = {new.name: [] for new in features.columns}
    for row, shop in enumerate(frame["shop"]):
        window = frame.loc[:row][frame["shop"][: row + 1] == shop].tail(4)
        seen = window["category"].dropna()
        values = [seen.iloc[0], seen.iloc[-1], seen.mode()[0]] if len(seen) else [None] * 3
        for name, value in zip(expected, [*values, seen.nunique() or None, frame["time"][row]]):
            expected[name].append(value)
    for convert in KINDS.values():
        found = pd.DataFrame(nw.from_native(features.compute(convert(frame))).to_dict(as_series=False))
        for name, values in expected.items():
            assert [None if pd.isna(each) else each for each in found[name]] == values, name


def test_further_columns_order_rows_of_equal_time():
    frame = transactions()
    features = f.Features([f.last("number").over(2, min_periods=1)], by="shop", on="time", order_by="number")
    mixed = frame.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(features.compute(mixed).loc[frame.index], features.compute(frame))


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_put_into_the_order_of_the_rows_together_as_one_by_one(kind, monkeypatch):
    frame = KINDS[kind](transactions())
    columns = [f.max("amount").over("2D", 3), f.nunique("shop").over("3D"), f.first("category").over("2D")]
    columns += [f.median("amount").over("2D", 4), f.count("price").over(*range(1, 9))]
    features = f.Features(columns, by="customer", on="time")
    expected = features.compute(frame)
    monkeypatch.setattr(thresholds, "PLACED_AT_ONCE", 0)
    found = features.compute(frame)
    for name in [each.name for each in features.columns]:
        one, two = (frame[name].to_numpy().tolist() for frame in (found, expected))
        assert list(map(repr, one)) == list(map(repr, two))


def test_kinds_keep_their_dtypes_and_index():
    frame = transactions()
    features = f.Features(
        [f.max("number").over(2), f.aggregate("number", operators.Sum()).over(2)], on="time"
    )
    plain = features.compute(frame)
    assert plain.index is frame.index or plain.index.equals(frame.index)
    assert list(plain.dtypes[-2:]) == [np.float64, np.float64]
    nullable = features.compute(frame.astype({"number": "Int64"}))
    assert nullable.dtypes.iloc[-2:].tolist() == [pd.Int64Dtype(), pd.Int64Dtype()]
    assert features.compute(pl.from_pandas(frame)).dtypes[-2:] == [pl.Int64, pl.Int64]
    assert [str(t) for t in features.compute(pa.Table.from_pandas(frame)).schema.types[-2:]] == ["int64"] * 2


def at_brute_force(frame, labels, keys, values, rows=None, width=None):
    """The values that the window of each label holds, which ends before its time."""
    windows = []
    for _, label in labels.iterrows():
        same = frame["time"] < label["time"]
        for key in keys:
            same &= frame[key].isna() if pd.isna(label[key]) else frame[key] == label[key]
        if width is not None:
            same &= frame["time"] >= label["time"] - width
        window = frame[same].sort_values("time", kind="stable")[values]
        windows.append((window if rows is None else window.tail(rows)).dropna())
    return windows


@pytest.mark.parametrize("keys", [["customer"], ["customer", "shop"], []])
@pytest.mark.parametrize("times", ["datetimes", "floats"])
def test_labels_get_the_features_of_their_keys_and_times(keys, times):
    frame, labels = transactions(), transactions(30, seed=8)[["shop", "time", "customer"]]
    labels["customer"] = labels["customer"].where(labels["customer"] != "b", "nobody")
    width, window = np.timedelta64(2, "D"), "2D"
    if times == "floats":
        for each in (frame, labels):
            each["time"] = (each["time"] - np.datetime64("2026-01-01")) / np.timedelta64(1, "D")
        width, window = 2.0, 2.0
    features = f.Features(
        [
            f.max("amount").over(window, 3, min_periods=1),
            f.median("price").over(3, window, min_periods=1),
            f.nunique("category").over(window, min_periods=1),
            f.argmax("amount").over(Expanding(), min_periods=1).alias("largest"),
        ],
        by=keys,
        on="time",
        closed="left",
    )
    amounts = [at_brute_force(frame, labels, keys, "amount", *given) for given in [(None, width), (3, None)]]
    prices = [at_brute_force(frame, labels, keys, "price", *given) for given in [(3, None), (None, width)]]
    kinds = at_brute_force(frame, labels, keys, "category", None, width)
    expected = [[window.max() for window in windows] for windows in amounts]
    expected += [[window.median() for window in windows] for windows in prices]
    expected += [[window.nunique() or np.nan for window in kinds]]
    for convert in KINDS.values():
        found = features.compute(convert(frame), at=convert(labels))
        assert found.shape == (30, 9)
        for new, values in zip(features.columns, expected):
            np.testing.assert_array_equal(column(found, new.name), values, err_msg=new.name)
    positions = features.compute(frame, at=labels)["largest"].to_numpy()
    for (_, label), position in zip(labels.iterrows(), positions):
        same = frame["time"] < label["time"]
        for key in keys:
            same &= frame[key].isna() if pd.isna(label[key]) else frame[key] == label[key]
        window = frame[same].sort_values("time", kind="stable")["amount"]
        seen = window.dropna()
        assert position == (np.flatnonzero(window == seen.max())[0] if len(seen) else -1)


def test_labels_that_do_not_fit():
    frame = transactions()
    features = f.Features([f.sum("amount").over(2)], by="shop", on="time")
    with pytest.raises(ValueError, match=r"feature sum.*: at has no column 'shop'"):
        features.compute(frame, at=frame[["time"]])
    with pytest.raises(TypeError, match="'shop' must be of one dtype in frame and at; got Int64 and Float64"):
        features.compute(frame, at=frame.astype({"shop": float})[["shop", "time"]])
    with pytest.raises(TypeError, match="at must be a frame of the same kind as the rows"):
        features.compute(frame, at=pl.from_pandas(frame[["shop", "time"]]))
    with pytest.raises(ValueError, match="at needs on="):
        f.Features([f.sum("amount").over(2)]).compute(frame, at=frame[["shop"]])
    empty = features.compute(frame, at=frame[["shop", "time"]].iloc[:0])
    assert empty.shape == (0, 3)
    nothing = features.compute(frame.iloc[:0], at=frame[["shop", "time"]])
    assert nothing["amount_sum_2"].isna().all()
    assert features.compute(frame.iloc[:0], at=frame[["shop", "time"]].iloc[:0]).shape == (0, 3)


def test_empty_frames():
    frame = transactions().iloc[:0]
    features = f.Features([f.sum("amount").over("1D"), f.mode("category").over(2)], by="customer", on="time")
    for convert in KINDS.values():
        assert features.compute(convert(frame)).shape[0] == 0


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"columns": ["amount"]}, TypeError, "columns must hold features"),
        ({"columns": [f.sum("amount")]}, TypeError, r"columns must hold features .* got sum\('amount'\)"),
        ({"columns": [f.sum("amount").over("1D")], "on": None}, ValueError, "over 1D: a duration needs on="),
        ({"columns": [f.sum("amount").over(2, 2)]}, ValueError, "two are 'amount_sum_2'"),
        ({"columns": [f.sum("amount").over(2).alias("a", "b")]}, ValueError, r"must give 1 name\(s\)"),
        (
            {"columns": [f.quantile("amount", 2).over(5)]},
            ValueError,
            r"q=2\) over 5: q must be a number",
        ),
        ({"columns": [f.sum("amount").over(2, min_periods=3)]}, ValueError, "min_periods must be at most"),
        ({"by": "nobody"}, ValueError, "frame has no column 'nobody'"),
        (
            {"columns": [f.sum("other").over(2)]},
            ValueError,
            r"feature sum\('other'\): frame has no column 'other'",
        ),
        ({"columns": [f.sum("category").over(2)]}, TypeError, "feature sum.*column 'category' has dtype"),
        ({"columns": [f.sum("amount").over(2).alias("shop")]}, ValueError, "already has a column 'shop'"),
        ({"columns": [f.sum("amount").where("amount +").over(2)]}, ValueError, "where must be a column or"),
        ({"columns": [f.sum("amount").where("amount").over(2)]}, TypeError, "where must be true or false"),
        (
            {"columns": [f.sum("amount").where("print(amount)").over(2)]},
            ValueError,
            "where takes comparisons",
        ),
        ({"on": "amount"}, ValueError, "amount must not be missing; row"),
    ],
)
def test_errors_name_the_column_and_its_feature(change, error, message):
    given = {"columns": [f.sum("amount").over(2)], "by": "shop", "on": "time"}
    with pytest.raises(error, match=message):
        f.Features(**given | change).compute(transactions())


def test_errors_of_frames_and_windows():
    features = f.Features([f.sum("amount").over(2)], by="shop", on="time")
    with pytest.raises(TypeError, match="frame must be a pandas, polars or Spark DataFrame or an Arrow"):
        features.compute(pl.from_pandas(transactions()).lazy())
    assert f.Features(features.features[0], by="shop", on="time") == features
    with pytest.raises(TypeError, match=r"columns must be names of columns; got \(\['amount', 'number'\],\)"):
        f.sum(["amount", "number"])
    with pytest.raises(TypeError, match="window must be a number of rows, a duration"):
        f.sum("amount").over(True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'times'"):
        f.sum("amount").over(2, times=1)
    with pytest.raises(TypeError, match=r"sum\(column\): missing a required argument"):
        f.sum()
    with pytest.raises(AttributeError, match="no attribute 'medain'"):
        _ = f.medain
