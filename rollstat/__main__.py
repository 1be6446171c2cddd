"""``python -m rollstat``: compile kernels in advance, show where they come from, or remove them."""

import argparse
import sys
from collections.abc import Sequence

from rollstat.compile.folders import folders, remove_files
from rollstat.precompile.usual_calls import DTYPES
from rollstat.precompile.versions import show_versions
from rollstat.precompile.warmup import warmup


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m rollstat", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    compiling = commands.add_parser(
        "warmup", help="compile the kernels of common calls, and store them in the cache folder"
    )
    compiling.add_argument(
        "statistics", nargs="*", metavar="STATISTIC", help="names such as median; all by default"
    )
    compiling.add_argument(
        "--dtype",
        action="append",
        dest="dtypes",
        metavar="DTYPE",
        help=f"dtype of the series, may be repeated; {', '.join(DTYPES)} by default",
    )
    compiling.add_argument("--quiet", action="store_true", help="show no progress")
    commands.add_parser("info", help="show versions, the CPU and where compiled kernels come from")
    commands.add_parser("clean", help="remove all compiled kernels from the folders this user can write to")
    return parser


def _clean() -> None:
    """Empty all folders of kernels that can be written to, and say so."""
    for folder in folders():
        if folder.written:
            print(f"{folder.path}: {remove_files(folder.path)} files removed")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.command == "info":
        show_versions()
        return 0
    if given.command == "clean":
        _clean()
        return 0
    try:
        done = warmup(given.statistics or None, given.dtypes, progress=not given.quiet)
    except (TypeError, ValueError) as error:
        parser.error(str(error))
    print(done)
    return 0


if __name__ == "__main__":
    sys.exit(main())
