"""Write tables of the documentation."""

from collections.abc import Iterable, Sequence
from pathlib import Path

__all__ = ["list_table", "write"]


def list_table(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table; the first row is its header."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in rows:
        lines += [f"   {'* -' if i == 0 else '  -'} {cell}".rstrip() for i, cell in enumerate(row)]
    return [*lines, ""]


def write(output: Path | None, lines: Iterable[str]) -> None:
    """Write lines to a file, and make its folder; do nothing without a file."""
    if output:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text("\n".join(lines))
