"""Write the table of statistics, the lists of functions and streams, and a page for each kernel."""

from pathlib import Path

import rollstat
from rollstat.registry import REGISTRY
from rollstat.streaming import STREAMS
from rollstat.streaming.base import CLASSES


def _summary(function) -> str:
    return function.__doc__.strip().splitlines()[0]


def _table() -> str:
    """Return the table of statistics: name, summary, algorithms and cost."""
    lines = [
        ".. list-table::",
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


def _streams() -> str:
    """One row a class of streams: the class, what it is, the function over arrays; then the general ones."""
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: 28 44 28", ""]
    lines += ["   * - Class", "     - What it is", "     - Over arrays"]
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
    kernels = Path(rollstat.__file__).parent / "kernels"
    for module in sorted(kernels.rglob("*.py")):
        name = module.relative_to(kernels).with_suffix("").as_posix()
        if module.stem != "__init__":
            dotted = name.replace("/", ".")
            pages[name] = (
                f"{dotted}\n{'=' * len(dotted)}\n\n"
                f".. automodule:: rollstat.kernels.{dotted}\n   :no-members:\n"
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
        (docs / "reference" / "streams.rst", f"Streams\n=======\n\n{_streams()}"),
        (docs / "reference" / "functions.rst", f"Functions\n=========\n\n{_functions()}"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
