"""The directive ``algorithm-drawing``: what an algorithm holds after each row, as an animated inline SVG.

    .. algorithm-drawing:: wedge

The steps run over a short series. A reader who prefers no motion sees the last step.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive

VALUES, WINDOW, KTH = (3, 1, 4, 1, 5, 9, 2, 6, 5, 3), 4, 2
CELL, LABEL, SECONDS = 34, 120, 1.5
Line = tuple[str, list[str]]  # a label, and a cell for each row of the series; empty cells are not drawn


def _window(row: int) -> range:
    return range(max(0, row - WINDOW + 1), row + 1)


def _cells(held: dict[int, Any]) -> list[str]:
    return [str(held.get(i, "")) for i in range(len(VALUES))]


def wedge() -> Iterator[list[Line]]:
    """Yield the wedges of the maximum and of the minimum after each row."""
    upper: list[int] = []
    lower: list[int] = []
    for row, value in enumerate(VALUES):
        while upper and VALUES[upper[-1]] < value:
            upper.pop()
        while lower and VALUES[lower[-1]] > value:
            lower.pop()
        upper, lower = ([i for i in (*held, row) if i in _window(row)] for held in (upper, lower))
        yield [
            (name, _cells({i: VALUES[i] for i in held}))
            for name, held in (("upper", upper), ("lower", lower))
        ]


def two_stacks() -> Iterator[list[Line]]:
    """Yield the suffixes of the older rows and the newer rows, with sums as the operator."""
    older: dict[int, int] = {}
    newer: dict[int, int] = {}
    for row, value in enumerate(VALUES):
        newer[row] = value
        gone = row - WINDOW
        if gone >= 0 and gone not in older:  # the flip: newer rows become suffixes
            older = {i: sum(VALUES[i:row]) for i in range(gone, row)}
            newer = {row: value}
        older.pop(gone, None)
        total = {row: sum(newer.values())}
        yield [("suffixes", _cells(older)), ("newer rows", _cells(newer)), ("their total", _cells(total))]


def two_heaps() -> Iterator[list[Line]]:
    """Yield which rows are in the low and in the high heap."""
    for row in range(len(VALUES)):
        order = sorted(_window(row), key=lambda i: (VALUES[i], i))
        low = order[: (len(order) + 1) // 2]
        held = (("low heap", low), ("high heap", order[len(low) :]), ("lower median", low[-1:]))
        yield [(name, _cells({i: VALUES[i] for i in rows})) for name, rows in held]


def three_trees() -> Iterator[list[Line]]:
    """Yield the k smallest values of each part of the window."""
    half = WINDOW // 2
    for row in range(len(VALUES)):
        middle = range(max(0, (row + 1) // half - 1) * half, (row + 1) // half * half)
        rows = set(_window(row))
        parts = (("left", range(middle.start)), ("middle", middle), ("right", range(middle.stop, row + 1)))
        kept = [(name, sorted(rows & set(part), key=lambda i: (VALUES[i], i))[:KTH]) for name, part in parts]
        smallest = sorted((i for _, part in kept for i in part), key=lambda i: (VALUES[i], i))
        kept.append((f"{KTH}nd smallest", smallest[KTH - 1 : KTH]))
        yield [(name, _cells({i: VALUES[i] for i in part})) for name, part in kept]


Tree = tuple[int, int, Any, Any]  # the rows [start, end), and the two subtrees that are combined


def _reused(tree: Tree | None, first: int) -> list[Tree]:
    """Return the largest subtrees that lie behind a row, from the oldest."""
    found: list[Tree] = []
    while tree and tree[0] < first:
        _, _, older, newer = tree
        if newer and newer[0] > first:
            found.insert(0, newer)
            tree = older
        else:
            tree = newer
    return [tree, *found] if tree else found


def _highest(tree: Tree | None) -> Iterator[Tree]:
    """Yield the tree and every newer subtree: the ones whose states are stored."""
    if tree:
        yield tree
        older, newer = tree[2:]
        yield from _highest(newer)
        while older:
            yield from _highest(older[3])
            older = older[2]


def greedy() -> Iterator[list[Line]]:
    """Yield the stored states, and the number of new combinations, with sums as the operator."""
    tree: Tree | None = None
    for row in range(len(VALUES)):
        first = _window(row).start
        parts = _reused(tree, first)
        tree = (row, row + 1, None, None)
        for part in reversed(parts):
            tree = (part[0], row + 1, part, tree)
        states = {start: sum(VALUES[start:end]) for start, end, *_ in _highest(tree)}
        yield [("stored sums", _cells(states)), ("combinations", _cells({row: len(parts)}))]


DRAWINGS = {each.__name__: each for each in (wedge, two_stacks, two_heaps, three_trees, greedy)}


def svg(name: str) -> str:
    """Return the animation of an algorithm."""
    steps = [[("values", [str(value) for value in VALUES]), *lines] for lines in DRAWINGS[name]()]
    height, width = CELL * len(steps[0]) + 4, LABEL + CELL * len(VALUES) + 4
    frames = []
    for row, lines in enumerate(steps):
        drawn = []
        for y, (label, cells) in enumerate(lines):
            drawn.append(f'<text x="0" y="{y * CELL + 22}" class="label">{label}</text>')
            for x, text in enumerate(cells):
                if text:
                    kind = f'class="{"inside" if x in _window(row) else "outside"}"'
                    left, top, side = LABEL + x * CELL, y * CELL, CELL - 4
                    box = f'x="{left + 2}" y="{top + 2}" width="{side}" height="{side}"'
                    drawn.append(f'<rect {box} rx="4" {kind}/>')
                    drawn.append(f'<text x="{left + CELL // 2}" y="{top + 22}" {kind}>{text}</text>')
        last = " last" if row == len(steps) - 1 else ""
        delay = f"animation-delay:{row * SECONDS}s;animation-duration:{len(steps) * SECONDS}s"
        frames.append(f'<g class="frame{last}" style="{delay}">{"".join(drawn)}</g>')
    label = f"{name.replace('_', ' ')} over windows of {WINDOW} rows, step by step"
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return f'<svg class="algorithm-drawing" {size} role="img" aria-label="{label}">{"".join(frames)}</svg>'


class AlgorithmDrawing(Directive):
    """Insert the animation of an algorithm."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        """Return the node of the animation."""
        return [nodes.raw("", svg(self.arguments[0]), format="html")]


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("algorithm-drawing", AlgorithmDrawing)
    return {"parallel_read_safe": True}
