"""Definitions of features: columns, names, and JSON."""

from datetime import timedelta

import numpy as np
import pytest

from rollstat import Expanding, Forward, operators
from rollstat import features as f
from rollstat.registry import REGISTRY
from tests.features.frames import transactions


def definition():
    return f.Features(
        [
            f.quantile("amount", np.array([0.5, 0.95])).over(timedelta(days=30), 1.5, min_periods=5),
            f.kth("price", k=np.int64(2)).over(Forward(3), Expanding(), min_periods=1),
            f.cov("amount", "price", ddof=0).over("36h").by("shop").where("amount > 2"),
            f.aggregate("amount", operators.DecayedSum(0.5)).over(3).alias("decayed"),
        ],
        by="customer",
        on="time",
        order_by=["number"],
        closed="left",
    )


def test_columns_say_names_windows_and_dtypes():
    columns = definition().columns
    assert [(column.name, column.window) for column in columns] == [
        ("amount_quantile_0_5_30D", "30D"),
        ("amount_quantile_0_95_30D", "30D"),
        ("amount_quantile_0_5_1_5", 1.5),
        ("amount_quantile_0_95_1_5", 1.5),
        ("price_kth_2_forward_3", Forward(3)),
        ("price_kth_2_expanding", Expanding()),
        ("shop_amount_price_cov_0_36h", "36h"),
        ("decayed", 3),
    ]
    quantiles = f.quantile("amount", [0.1, 0.9]).over("1D", Forward(3)).alias("low", "high")
    names = [column.name for column in f.Features([quantiles], on="time").columns]
    assert names == ["low_1D", "high_1D", "low_forward_3", "high_forward_3"]
    with pytest.raises(ValueError, match=r"must give 2 or 4 name\(s\); got 3"):
        f.Features([quantiles.alias("a", "b", "c")], on="time")
    assert {column.dtype for column in columns} == {np.dtype(np.float64)}
    assert [column.by for column in columns[5:]] == [("customer",), ("shop",), ("customer",)]
    assert f.Features([f.argmax("x").over(3)]).columns[0].dtype == np.int64


def test_json_restores_the_definition():
    features = definition()
    restored = f.Features.from_json(features.to_json())
    assert restored == features
    assert repr(restored) == repr(features)
    assert restored.to_json() == features.to_json()
    assert restored != f.Features(features.features, by="shop", on="time")


def test_every_statistic_is_a_function_with_json():
    assert set(REGISTRY) <= set(dir(f))
    for name, statistic in REGISTRY.items():
        if name == "apply":  # whose functions JSON cannot hold
            continue
        columns = ["amount", "price"][: statistic.series]
        for parameters in statistic.samples:
            given = parameters | ({"operator": operators.Sum()} if name == "aggregate" else {})
            features = f.Features([getattr(f, name)(*columns, **given).over(4)])
            assert f.Features.from_json(features.to_json()).compute(transactions()).shape[1] > 7


def test_what_json_cannot_hold_and_does_not_know():
    mine = f.Features([f.aggregate("x", operators.function_operator(max)).over(2)])
    with pytest.raises(TypeError, match=r"feature aggregate.*JSON cannot hold <operator of max>"):
        mine.to_json()
    text = definition().to_json()
    with pytest.raises(ValueError, match="version 1 of features; got 7"):
        f.Features.from_json(text.replace('"version": 1', '"version": 7'))
    with pytest.raises(ValueError, match="class must be a window or an operator of rollstat; got 'open'"):
        f.Features.from_json(text.replace('"DecayedSum"', '"open"'))
    with pytest.raises(ValueError, match="statistic must be one of"):
        f.Features.from_json(text.replace('"quantile"', '"medain"'))
