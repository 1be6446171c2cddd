"""The directive ``window-drawing``: the windows of a call, computed by the library, as an inline SVG.

    .. window-drawing:: 3, center=True
    .. window-drawing:: 2, closed="left"
       :times: 0 1 1 4 5 6 9 10

Each line is one output row. Filled cells are in its window; the cell with a border is the row itself.
"""

from typing import Any, ClassVar

import numpy as np
from docutils import nodes
from docutils.parsers.rst import Directive, directives

import rollstat

ROWS, CELL, GAP = 8, 12, 2
IN_WINDOW = "fill:var(--pst-color-primary)"
OUTSIDE = "fill:var(--pst-color-on-surface);fill-opacity:.35"
OWN_ROW = ";stroke:var(--pst-color-text-base);stroke-width:1.5"


def _bounds(call: str, times: list[float] | None) -> list[tuple[int, range]]:
    """Return each output row and the rows of its window, as the public functions see them."""
    rows = np.arange(ROWS)
    options: dict[str, Any] = {} if times is None else {"times": times}
    window, found = eval(f"arguments({call})", _NAMES)
    options |= found | {"min_periods": 1, "fill_value": -1}
    first, last = (f(rows, window, **options) for f in (rollstat.rolling_first, rollstat.rolling_last))
    own = rows[:: found.get("step", 1)]
    return [(int(i), range(int(a), int(b) + 1) if a >= 0 else range(0)) for i, a, b in zip(own, first, last)]


def _arguments(window: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    return window, options


_NAMES = {name: getattr(rollstat, name) for name in ("Around", "Expanding", "Forward")}
_NAMES |= {"arguments": _arguments, "np": np}


def svg(call: str, times: list[float] | None = None) -> str:
    """Return the drawing of a call."""
    windows = _bounds(call, times)
    scale = CELL + GAP
    # Cells of equal times stand side by side, half as wide.
    place = [i * scale for i in range(ROWS)] if times is None else [t * scale for t in times]
    width = [CELL] * ROWS
    for i in range(1, ROWS):
        if place[i] <= place[i - 1]:
            place[i] = place[i - 1] + CELL / 2
            width[i - 1] = width[i] = CELL / 2 - 1
    cells = []
    for line, (own, rows) in enumerate(windows):
        for i in range(ROWS):
            shape = f'x="{place[i] + 1:g}" y="{line * scale + 1}" width="{width[i]:g}" height="{CELL}"'
            fill = IN_WINDOW if i in rows else OUTSIDE
            cells.append(f'<rect {shape} rx="2" style="{fill}{OWN_ROW if i == own else ""}"/>')
    size = f"{max(place) + CELL + 2:g} {len(windows) * scale + 2}".split()
    return (
        f'<svg class="window-drawing" width="{size[0]}" height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}"'
        f' role="img" aria-label="windows of {call.replace(chr(34), "&quot;")}">{"".join(cells)}</svg>'
    )


class WindowDrawing(Directive):
    """Insert the drawing of a call."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {"times": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Return the node of the drawing."""
        times = [float(t) for t in self.options["times"].split()] if "times" in self.options else None
        return [nodes.raw("", svg(self.arguments[0], times), format="html")]


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("window-drawing", WindowDrawing)
    return {"parallel_read_safe": True}
