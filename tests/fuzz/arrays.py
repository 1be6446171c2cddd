"""The functions over arrays: windows, dtypes, layouts, masks, threads, algorithms, `out` that overlaps."""

from typing import Any

import numpy as np

import rollstat
from rollstat.registry import REGISTRY, Statistic
from tests.fuzz.compare import Rule, answers, check
from tests.fuzz.draws import Drawn, draw_values, draw_window, lay_out
from tests.test_contract import DTYPES, as_out, call, is_missing, outputs, taken

COPIES = {"kth", "min", "max", "minmax", "first", "last", "mode", "argkth", "argmin", "argmax", "argminmax"}
"""Statistics that do not compute with values, so that these may be anything."""


def fuzz(rng: np.random.Generator, note: dict[str, Any]) -> int:
    """Compare one random call; return the rows compared."""
    statistic = REGISTRY[str(rng.choice(sorted(REGISTRY)))]
    sample = dict(statistic.samples[rng.integers(len(statistic.samples))])
    types = taken(statistic, [*DTYPES, "M8[3s]"])
    dtype = types[0] if rng.random() < 0.4 else types[rng.integers(len(types))]
    n = int(rng.choice([0, 1, 2, 7, 30, 60, 200]))
    lines = 1 if rng.random() < 0.7 else int(rng.integers(0, 4))
    drawn = draw_window(rng, n)
    if (
        isinstance(drawn.window, int)
        and "times" not in drawn.options
        and abs(sample.get("k", 1)) > drawn.window
    ):
        return 0
    ahead = drawn.options.get("center") or isinstance(drawn.window, (rollstat.Around, rollstat.Forward))
    if statistic.name == "convolve" and ahead:
        return 0  # at the end of the data, the weights depend on the rows of a whole window
    wide = statistic.name in COPIES and dtype.kind in "iu"
    columns = [
        np.array([draw_values(rng, n, dtype, statistic.exact, wide) for _ in range(lines)], dtype).reshape(
            lines, n
        )
        for _ in range(statistic.series)
    ]
    if statistic.name == "prod" and dtype.kind in "iu":  # products fit in 64 bits
        columns = [(column % 2).astype(dtype) for column in columns]
    options, rule, masks = _options(rng, statistic, drawn, columns, sample)
    note.update(
        statistic=statistic.name, sample=sample, window=drawn.window, options=options, columns=columns
    )
    if n == 0 and statistic.name == "hampel":
        return 0
    axis = int(rng.integers(0, 2)) if lines != 1 else -1
    arrays = []
    for column, mask in zip(columns, masks):
        whole = column if lines != 1 else column[0]
        whole = whole.T if axis == 0 else whole
        array = lay_out(rng, whole)
        if mask is not None:
            whole_mask = mask if lines != 1 else mask[0]
            array = np.ma.MaskedArray(array, whole_mask.T if axis == 0 else whole_mask)
        arrays.append(array)
    if axis >= 0:
        options["axis"] = axis
    result = _call(rng, statistic, arrays, drawn, sample, options)
    if result is None:
        return 0
    for line in range(lines):
        of_line = rule._replace(missing=rule.missing[line])
        given = [
            column[line] if mask is None else np.ma.MaskedArray(column[line], mask[line])
            for column, mask in zip(columns, masks)
        ]
        wanted = answers(statistic, given, drawn.rows, sample, of_line)
        parts = [part if lines == 1 else (part.T if axis == 0 else part)[line] for part in result]
        check(statistic, parts, wanted, options.get("fill_value"))
    return lines * len(drawn.rows)


def _options(
    rng: np.random.Generator,
    statistic: Statistic,
    drawn: Drawn,
    columns: list[np.ndarray],
    sample: dict[str, Any],
) -> tuple[dict[str, Any], Rule, list[np.ndarray | None]]:
    """Return random options, what is missing by them, and a mask for each series or None."""
    options = dict(drawn.options)
    least = drawn.default if statistic.min_periods is None else statistic.min_periods
    if rng.random() < 0.6:
        least = options["min_periods"] = int(rng.integers(0, rng.choice([1, drawn.most + 1])))
    propagate = bool(rng.random() < 0.2)
    if propagate:
        options["nan_policy"] = "propagate"
    if rng.random() < 0.3:
        options["threads"] = int(rng.integers(1, 3))
    if rng.random() < 0.3 and statistic.algorithms:
        options["algorithm"] = str(rng.choice(sorted(statistic.algorithms)))
    kind = columns[0].dtype.kind
    if rng.random() < 0.2 and kind not in "mM" and statistic.name != "hampel":
        options["fill_value"] = (
            int(rng.integers(0, 2)) if kind == "b" or statistic.name in ("any", "all") else 7
        )
    missing = np.logical_or.reduce([is_missing(column) for column in columns])
    masks: list[np.ndarray | None] = [None] * len(columns)
    if rng.random() < 0.2:
        masks = [rng.random(column.shape) < 0.3 for column in columns]
        missing = np.logical_or.reduce([missing, *masks])
    return options, Rule(least, propagate, missing), masks


def _call(
    rng: np.random.Generator,
    statistic: Statistic,
    arrays: list[Any],
    drawn: Drawn,
    sample: dict[str, Any],
    options: dict[str, Any],
) -> list[Any] | None:
    """Return the results, perhaps through `out`; None if the call is rejected with good reason."""
    before = [array.copy() for array in arrays]
    try:
        results = outputs(call(statistic, arrays, drawn.window, sample, **options))
    except ValueError as error:
        reasons = (
            "algorithm ",
            "k must",
            "window must hold one pair",
            "mode='valid' needs",
            "at does not apply",
        )
        if str(error).startswith(reasons) or "does not serve" in str(error):
            return None
        raise
    for array, kept in zip(arrays, before):
        np.testing.assert_array_equal(np.ma.getdata(array), np.ma.getdata(kept), "the input was modified")
    if rng.random() < 0.3:
        _check_out(rng, statistic, arrays, drawn, sample, options, results)
    return results


def _check_out(
    rng: np.random.Generator,
    statistic: Statistic,
    arrays: list[Any],
    drawn: Drawn,
    sample: dict[str, Any],
    options: dict[str, Any],
    results: list[Any],
) -> None:
    """Compare with the results in `out`, which may be the input, its mask or the times."""
    plain = [np.ma.getdata(result) for result in results]
    targets: list[Any] = [lay_out(rng, np.zeros_like(result)) for result in plain]
    targets = [target if target.flags.writeable else target.copy() for target in targets]
    targets = [t if t.dtype == p.dtype else np.zeros_like(p) for t, p in zip(targets, plain)]
    arrays, options, window = (
        [np.array(array, subok=True, copy=True) for array in arrays],
        dict(options),
        drawn.window,
    )
    sources = [np.ma.getdata(array) for array in arrays]
    if "times" in options:
        options["times"] = options["times"].copy()
        sources.append(options["times"])
    if isinstance(window, tuple):
        window = tuple(bound.copy() for bound in window)
        sources += window
    if rng.random() < 0.7:
        fitting = [s for s in sources if s.shape == plain[0].shape and s.dtype == plain[0].dtype]
        if fitting:
            targets[0] = fitting[rng.integers(len(fitting))]
    out, targets = as_out(statistic, targets)
    given = call(statistic, arrays, window, sample, **options, out=out)
    for target, result, one in zip(targets, plain, outputs(given)):
        np.testing.assert_array_equal(target, result, "out differs from the result")
        assert np.shares_memory(np.ma.getdata(one), target) or one.size == 0
