"""Explanations: what they say is what runs, for every statistic, and nothing runs."""

import inspect
import re
from collections import Counter

import numpy as np
import pytest

import rollstat
from rollstat import engine, plan
from rollstat.registry import REGISTRY
from rollstat.statistics.selection.small_window import widest

WINDOWS = {
    "narrow": (5, {}),
    "wide": (70, {"min_periods": 3}),
    "centred": (9, {"center": True, "min_periods": 1}),
    "expanding": (rollstat.Expanding(), {}),
    "stepped": (9, {"step": 3}),
    "time": (20.0, {"times": np.arange(400.0)}),
}


@pytest.fixture
def ran(monkeypatch):
    """The algorithms that computations report, block by block; no series is computed in one call."""
    names = []
    monkeypatch.setattr(plan.Plan, "call", None)
    plan.forget_plans()
    work = engine.Execution.work

    def record(self, line, rows):
        computation = self.plan.computation
        compute = type(computation).compute

        def report(*arguments):
            outcome = compute(computation, *arguments)
            names.append(outcome.algorithm)
            return outcome

        monkeypatch.setattr(computation, "compute", report, raising=False)
        work(self, line, rows)

    monkeypatch.setattr(engine.Execution, "work", record)
    return names


def arguments(name, rng, missing=False, length=400):
    statistic = REGISTRY[name]
    first, *others = (rng.standard_normal(length) for _ in range(statistic.series))
    values = [first, *map(np.abs, others)]  # as weights, which plain sums take
    if missing:
        for array in values:
            array[rng.random(length) < 0.1] = np.nan
    return statistic, values


def call(run, statistic, values, window, options):
    parameters = inspect.signature(statistic.function).parameters
    return run(**dict(zip(parameters, values)), window=window, **options)


def explained(statistic, values, window, options):
    return call(
        lambda **given: rollstat.explain(statistic.function, **given), statistic, values, window, options
    )


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_what_is_explained_is_what_runs(name, missing, rng, ran):
    statistic, values = arguments(name, rng, missing)
    for sample in (statistic.samples[0], statistic.samples[-1]):
        for window, options in WINDOWS.values():
            options = {**sample, **options}
            explanation = explained(statistic, values, window, options)
            assert not ran
            call(statistic.function, statistic, values, window, options)
            steps = explanation.steps
            named = Counter({step.algorithm: 0 for step in steps})
            for step in steps:
                named[step.algorithm] += step.blocks
            if missing:
                assert len(ran) == explanation.blocks
                assert set(ran) <= set(named) | {other for step in steps for other, _ in step.at_run_time}
            else:
                assert Counter(ran) == named
            ran.clear()


@pytest.mark.parametrize("name", sorted(name for name in REGISTRY if REGISTRY[name].algorithms))
def test_an_algorithm_by_name_is_explained(name, rng):
    statistic, values = arguments(name, rng)
    for algorithm in statistic.algorithms:
        explanation = explained(statistic, values, 5, {**statistic.samples[0], "algorithm": algorithm})
        assert explanation.algorithm == algorithm


def test_nothing_is_computed(monkeypatch, rng):
    monkeypatch.setattr(engine, "Execution", None)
    for name in sorted(REGISTRY):
        statistic, values = arguments(name, rng)
        assert explained(statistic, values, 5, dict(statistic.samples[0])).blocks > 0


def test_errors_are_those_of_the_function():
    values = np.array([1.0, np.nan, 2.0])
    for window, options in (
        (0, {}),
        (2, {"min_periods": 3}),
        (2, {"nan_policy": "raise"}),
        (2, {"out": np.empty(2)}),
        (2, {"algorithm": "none"}),
        (2, {"axis": 1}),
    ):
        with pytest.raises(ValueError, match="must") as error:
            rollstat.rolling_median(values, window, **options)
        with pytest.raises(ValueError, match=re.escape(str(error.value))):
            rollstat.explain(rollstat.rolling_median, values, window, **options)
        assert len(rollstat.rolling_median(values, 2)) == 3  # and calls run again
    for other in (len, "medain", rollstat.lower_upper_envelope):
        with pytest.raises(TypeError, match="function must be a function over arrays"):
            rollstat.explain(other, values, 2)


def test_attributes_and_text(rng):
    values = rng.standard_normal(1_000_000)
    explanation = rollstat.explain(rollstat.rolling_median, values, 350, threads=1)
    assert (explanation.windows, explanation.width, explanation.min_periods) == ("rows", 350, 350)
    assert (explanation.rows, explanation.lines, explanation.too_short) == (1_000_000, 1, 349)
    assert explanation.blocks == 4
    assert explanation.threads == 1
    assert explanation.dtype == explanation.results[0] == np.float64
    (step,) = explanation.steps
    assert step.rows == 1_000_000 - 349
    assert explanation.algorithm == "rank_bits"
    assert f"more than {widest(350, 999_651, values.dtype)} rows" in step.reason
    assert step.at_run_time[0][0] == "sortedness"
    for word in ("rolling_median", "rank_bits", "at run time: sortedness if", "min_periods=350"):
        assert word in repr(explanation)
    assert rollstat.explain(rollstat.rolling_min, values[:1000], 250).one_call
    assert rollstat.explain(rollstat.rolling_max, values[:50], 100).algorithm == ""
    assert rollstat.explain(rollstat.rolling_kth, values, 1, 100).algorithm == "doubling"
    assert rollstat.explain(rollstat.rolling_min, values.reshape(1000, 1000), 5).lines == 1000
    integers = rollstat.explain(rollstat.rolling_max, np.arange(9), 3)
    assert integers.computed != integers.results
    assert "computed as int64" in repr(integers)


def test_boxes_and_objects_are_explained():
    box = rollstat.explain(rollstat.rolling_min, np.zeros((9, 9)), (3, 3), axis=(0, 1))
    assert (box.windows, box.width, box.algorithm) == ("box", (3, 3), "separable")
    objects = rollstat.explain(rollstat.rolling_aggregate, [{1}, {2}], set.union, 2)
    assert (objects.algorithm, objects.dtype, objects.min_periods) == ("greedy", np.dtype(object), 2)


def test_names_and_streams_are_explained():
    wanted = rollstat.explain(rollstat.rolling_median, np.zeros(100), 5)
    for name in ("median", "rolling_median"):
        assert rollstat.explain(name, np.zeros(100), 5) == wanted
    with pytest.raises(TypeError, match=r"function over arrays or its name.*; got 'medain'"):
        rollstat.explain("medain", np.zeros(100), 5)
    with pytest.raises(TypeError, match=r"rollstat\.spark\.rolling; got 3"):
        rollstat.explain(3)
    assert repr(rollstat.explain(rollstat.RollingMedian(5))) == (
        "RollingMedian\n"
        "  input    float64, one row at a time\n"
        "  windows  rows of 5, min_periods=5\n"
        "  two_heaps: a push takes O(log m) in the worst single push"
    )
    for stream, algorithm in (
        (rollstat.RollingMedian(5, algorithm="three_trees"), "three_trees"),
        (rollstat.RollingMean("5s"), "daba"),
        (rollstat.SlidingAggregate(frozenset.union, dtype=object), "two_stacks"),
        (rollstat.RollingMad(rollstat.Expanding()), "only algorithm"),
    ):
        found = rollstat.explain(stream)
        assert (found.algorithm, found.library, found.steps[0].reason[:12]) == (
            algorithm,
            "rollstat",
            "a push takes",
        )
