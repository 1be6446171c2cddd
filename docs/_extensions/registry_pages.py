"""Write the tables of statistics, the lists of functions, streams and operators, and a page per kernel."""

import contextlib
from pathlib import Path

import numpy as np

import rollstat
import rollstat.operators as operators
from rollstat.registry import REGISTRY
from rollstat.streaming import STREAMS
from rollstat.streaming.base import CLASSES


def _summary(function) -> str:
    return function.__doc__.strip().splitlines()[0]


def _table() -> str:
    """Return the table of statistics: name, summary, algorithms and cost."""
    lines = [
        ".. list-table::",
        "   :class: wide-table",
        "   :header-rows: 1",
        "   :widths: 24 36 20 20",
        "",
        "   * - Function",
        "     - Description",
        "     - Algorithms",
        "     - Cost per row",
    ]
    for statistic in REGISTRY.values():
        name = statistic.function.__name__
        lines += [
            f"   * - :func:`~rollstat.{name}`",
            f"     - {_summary(statistic.function)}",
            f"     - {', '.join(f'``{a}``' for a in statistic.algorithms) or 'one'}",
            f"     - {statistic.cost}",
        ]
    return "\n".join(lines) + "\n"


def _takes_boxes(statistic) -> bool:
    """Return whether a statistic takes windows over several axes."""
    images, box = [np.zeros((3, 3))] * statistic.series, {"window": (2, 2), "axis": (0, 1)}
    try:
        rollstat.explain(statistic.function, *images, **box, **statistic.samples[0])
    except (TypeError, ValueError):
        return False
    return True


def _matrix() -> str:
    """Return the table of what serves each statistic: pandas' method, the stream, boxes."""
    lines = [
        ".. list-table::",
        "   :class: wide-table",
        "   :header-rows: 1",
        "   :widths: 30 18 18 24 10",
        "",
    ]
    lines += [
        "   * - Function",
        "     - Accessor, Spark",
        "     - Method of pandas",
        "     - Stream",
        "     - Boxes",
    ]
    for name, statistic in REGISTRY.items():
        stream = f":class:`~rollstat.{STREAMS[name].__name__}`" if name in STREAMS else "–"
        lines += [
            f"   * - :func:`~rollstat.{statistic.function.__name__}`",
            f"     - ``{name}``",
            f"     - {f'``{statistic.pandas}``' if statistic.pandas else '–'}",
            f"     - {stream}",
            f"     - {'✓' if _takes_boxes(statistic) else '–'}",
        ]
    return "\n".join(lines) + "\n"


def _of_families(*families: str) -> str:
    """Return a list of the functions of some families, with their summaries."""
    functions = (each.function for each in REGISTRY.values() if each.family in families)
    return "\n".join(f"- :func:`rollstat.{each.__name__}`: {_summary(each)}" for each in functions) + "\n"


def _error_bounds() -> str:
    """Return the table of the error bounds: the function, and the bound of each output."""
    lines = [".. list-table::", "   :class: wide-table", "   :header-rows: 1", ""]
    lines += ["   * - Function", "     - Largest absolute error"]
    for statistic in REGISTRY.values():
        bounds = zip(statistic.outputs, statistic.error_bound)  # operators of the user have none
        several = len(statistic.error_bound) > 1
        cells = [f"{output}: ``{bound}``" if several else f"``{bound}``" for output, bound in bounds]
        if cells:
            lines += [f"   * - :func:`~rollstat.{statistic.function.__name__}`", f"     - | {cells[0]}"]
            lines += [f"       | {cell}" for cell in cells[1:]]
    return "\n".join(lines) + "\n"


def _same_bits() -> str:
    """Return the table of the results that are equal to the last bit."""
    functions: dict[bool, list[str]] = {True: [], False: []}
    for statistic in REGISTRY.values():
        functions[statistic.exact].append(f":func:`~rollstat.{statistic.function.__name__}`")
    may_differ = "may differ in the last bits; each result is within its error bound"
    rows = [
        ("Statistics", "Different number of threads", "Different way of computing"),
        (", ".join(functions[True]), "same bits", "same bits"),
        ("sums of integers, and operators that do not round", "same bits", "same bits"),
        (f"{', '.join(functions[False])}, if they or their operators round", "same bits", may_differ),
    ]
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: 60 15 25", ""]
    return "\n".join(lines + [f"   * - {a}\n     - {b}\n     - {c}" for a, b, c in rows]) + "\n"


def _streams() -> str:
    """One row a class of streams: the class, what it is, the function over arrays; then the general ones."""
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: 28 44 28", ""]
    lines += ["   * - Class", "     - Description", "     - Array function"]
    functions = {cls: REGISTRY[name].function.__name__ for name, cls in STREAMS.items()}
    for cls in sorted(CLASSES.values(), key=lambda cls: (cls in functions, cls.__name__)):
        over = (
            f":func:`~rollstat.{functions[cls]}`"
            if cls in functions
            else ":func:`~rollstat.rolling_aggregate`"
        )
        lines += [f"   * - :class:`~rollstat.{cls.__name__}`", f"     - {_summary(cls)}", f"     - {over}"]
    lines += ["", ".. autosummary::", "   :toctree: generated", ""]
    lines += [f"   rollstat.{name}" for name in [*sorted(CLASSES), "restore", "SnapshotError"]]
    lines += ["", ".. _stream-methods:", "", "Methods of every stream", "-----------------------", ""]
    lines += [
        ".. currentmodule:: rollstat.streaming.base",
        "",
        ".. autoclass:: RollingStream",
        "   :members:",
    ]
    lines += ["   :inherited-members:"]
    return "\n".join(lines) + "\n"


ELEMENTS = [4, 6, 9, 12]


def _combined(operator) -> str:
    """Return the results of an operator over windows of two elements, or what it needs instead."""
    parameters = [0.5] if "decay" in getattr(operator, "_fields", ()) else []
    for elements in (np.array(ELEMENTS), np.array(ELEMENTS, dtype=float)):
        with contextlib.suppress(TypeError, ValueError):
            results = rollstat.rolling_aggregate(elements, operator(*parameters), 2, mode="valid")
            columns = results if isinstance(results, tuple) else (results,)
            shown = (np.round(c, 3) if c.dtype.kind == "f" else c for c in columns)
            return "; ".join(f"``{column.tolist()}``" for column in shown)
    return "needs several columns or matrices"


def _operators() -> str:
    """Return the table of the operators, with an example of each, and the pages of the protocol."""
    protocol = ["Operator", "Layout", "as_operator", "describe", "function_operator"]
    built_in = sorted(set(operators.__all__) - {*protocol, "check_operator"})
    lines = [
        ".. currentmodule:: rollstat.operators",
        "",
        f"The examples use {ELEMENTS} and windows",
        "",
    ]
    lines[-2] += " of two rows. :doc:`/guide/operators` shows how to write your own."
    lines += [".. list-table::", "   :header-rows: 1", "   :widths: 26 44 30", ""]
    lines += ["   * - Operator", "     - What it computes", "     - Example"]
    for name in built_in:
        operator = getattr(operators, name)
        lines += [f"   * - :class:`{name}`", f"     - {_summary(operator)}", f"     - {_combined(operator)}"]
    lines += ["", ".. autosummary::", "   :toctree: generated", ""]
    lines += [f"   {name}" for name in [*protocol, *built_in]]
    lines += ["", ":func:`rollstat.check_operator` tests whether an operator is associative."]
    return "\n".join(lines) + "\n"


def _functions() -> str:
    """Return the autosummary of everything public that is not a stream."""
    streams = {*CLASSES, "restore", "SnapshotError"}
    names = [name for name in rollstat.__all__ if not name.startswith("__") and name not in streams]
    lines = [".. autosummary::", "   :toctree: generated", ""]
    lines += [f"   rollstat.{name}" for name in names]
    return "\n".join(lines) + "\n"


def _kernels() -> dict[str, str]:
    """Return the page of each kernel module: its docstring, which is kept beside the code."""
    pages = {}
    package = Path(rollstat.__file__).parent
    for module in (*(package / "kernels").rglob("*.py"), *(package / "compile" / "simd").glob("*.py")):
        if module.stem != "__init__":
            folder, *parts = module.relative_to(package).with_suffix("").parts
            title, dotted = ".".join(parts), ".".join((folder, *parts))
            pages["/".join(parts)] = (
                f"{title}\n{'=' * len(title)}\n\n.. automodule:: rollstat.{dotted}\n   :no-members:\n"
            )
    return pages


def write(docs: Path) -> None:
    """Write all pages; this must run before Sphinx collects its sources for autosummary."""
    kernels = docs / "internals" / "kernels"
    kernels.mkdir(parents=True, exist_ok=True)
    pages = _kernels()
    for old in kernels.rglob("*.rst"):
        if old.relative_to(kernels).with_suffix("").as_posix() not in pages:
            old.unlink()
    for path, text in (
        *((kernels / f"{name}.rst", page) for name, page in pages.items()),
        (docs / "reference" / "statistics.inc", _table()),
        (docs / "reference" / "matrix.inc", _matrix()),
        (docs / "reference" / "order_statistics.inc", _of_families("selection", "ranks", "robust")),
        (docs / "reference" / "error_bounds.inc", _error_bounds()),
        (docs / "reference" / "same_bits.inc", _same_bits()),
        (docs / "reference" / "streams.rst", f"Streams\n=======\n\n{_streams()}"),
        (docs / "reference" / "operators.rst", f"Operators\n=========\n\n{_operators()}"),
        (docs / "reference" / "functions.rst", f"Functions\n=========\n\n{_functions()}"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
