"""Count the kernels that the calls of README and guide compile, page by page.

    python asv_bench/compile_events.py              # all pages but those on Spark
    python asv_bench/compile_events.py --spark      # those too: needs pyspark and Java

Each page runs in a process of its own without a folder to store kernels in; pages on Spark get an empty one.
"Stored" is the number of kernels that a page has stored there, in its process or in workers of Spark. With a
wheel that has compiled kernels, only operators of the reader compile, and products of matrices of the
reader's shape. Run it with the Python in which the wheel is installed.
The exit status is 1 if anything else was compiled.
"""

import argparse
import doctest
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Operators that the guide defines, classes and a function without a name; and the operator whose kernels
# depend on the shape of the reader's matrices.
OPERATORS = ("Fall", "Above", "Highest", "Distinct", "lambda", "MatrixProduct")


def examples(page: Path) -> list[doctest.Example]:
    """Return the examples of a page: prompts, or code blocks of Markdown."""
    text = page.read_text()
    if page.suffix == ".md":
        blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        text = "\n".join(f">>> exec({block!r}, globals())" for block in blocks)
    return doctest.DocTestParser().get_examples(text)


def is_users(types: str) -> bool:
    """Return whether the types of the arguments of a kernel name an operator that is defined on the page."""
    return any(name in types for name in OPERATORS)


def run_page(page: Path) -> dict[str, object]:
    """Run the examples of a page in this process; return how many kernels came from where."""
    from rollstat.compile import cache

    if not page.name.startswith("spark"):
        cache.folders, cache.cache_folder = tuple, lambda: None
    test = doctest.DocTest(examples(page), {"__name__": "__main__"}, page.name, str(page), 0, None)
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    results = runner.run(test, out=lambda text: sys.stderr.write(text))
    kernels = cache.compiled_kernels
    compiled = [kernel for kernel in kernels if kernel.origin == "compiled"]
    return {
        "examples": results.attempted,
        "failed": results.failed,
        "loaded": sum(kernel.origin == "wheel" for kernel in kernels),
        "of operators": sum(is_users(kernel.types) for kernel in compiled),
        "compiled": [f"{kernel.name} {kernel.types}" for kernel in compiled if not is_users(kernel.types)],
        "seconds": round(sum(kernel.seconds for kernel in kernels), 2),
    }


def main() -> int:
    """Run each page in a new process, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--page", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.page:
        warnings.simplefilter("ignore")
        print(json.dumps(run_page(given.page)))
        return 0
    pages = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.rst"))]
    pages = [page for page in pages if examples(page) and (given.spark or not page.name.startswith("spark"))]
    bad = 0
    names = ("examples", "loaded", "of operators", "compiled", "stored", "seconds")
    print(f"{'page':<22}", *(f"{name:>12}" for name in names))
    for page in pages:
        # Not in the source tree: workers of Spark would import rollstat from there.
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as current:
            done = subprocess.run(
                [sys.executable, str(Path(__file__).resolve()), "--page", str(page)],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
                cwd=current,
                env=os.environ | {"NUMBA_CACHE_DIR": folder},
            )
            stored = sum(path.is_file() for path in Path(folder).rglob("*"))
        found = json.loads(done.stdout.splitlines()[-1])
        compiled = found["compiled"]
        cells = found | {"compiled": len(compiled), "stored": stored}
        print(f"{page.name:<22}", *(f"{cells[name]:>12}" for name in names))
        for kernel in compiled:
            print(f"    {kernel}")
        bad += len(compiled) + stored + found["failed"]
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
