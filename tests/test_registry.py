"""One row per statistic, loaded when the statistic is first looked up."""

import pytest

import rollstat
from rollstat.registry import REGISTRY, Registry, Statistic, check_algorithm


def test_a_name_is_registered_once():
    def first():
        pass

    def second():
        pass

    registry = Registry()
    registry.register(Statistic("median", first, first, "selection"))
    registry.register(
        Statistic("median", first, first, "selection")
    )  # as when an import is interrupted and repeated
    assert registry.of_function(first).name == "median"
    assert registry.of_function(second) is None
    with pytest.raises(ValueError, match="already registered"):
        registry.register(Statistic("median", second, second, "selection"))


def test_the_registry_knows_names_before_it_loads_them():
    assert all(REGISTRY[name].name == name for name in REGISTRY)
    functions = {each.function.__name__ for each in REGISTRY.values()}
    assert functions <= set(rollstat.statistics.__all__)
    assert REGISTRY.get("nothing") is None
    assert "nothing" not in REGISTRY
    with pytest.raises(KeyError):
        REGISTRY["nothing"]


def test_an_algorithm_is_one_that_serves_the_statistic():
    serves = {"wedge": "any window"}
    check_algorithm("auto", {}, "iqr")
    check_algorithm("wedge", serves, "min")
    with pytest.raises(ValueError, match=r"iqr has only one algorithm; got 'wedge'"):
        check_algorithm("wedge", {}, "iqr")
    with pytest.raises(ValueError, match=r"supports min: 'wedge' \(any window\); got 'edge'"):
        check_algorithm("edge", serves, "min")
