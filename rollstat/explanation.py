"""What a call would do, without running it: windows, algorithms and reasons, blocks, threads, dtypes.

::

    function(arr, window)           -->  call  -->  plan  -->  results
    explain(function, arr, window)  -->  call  -->  plan  -->  Explanation

Both make the same plan, so an explanation cannot differ from what a call does, and raises the same errors.
Blocks find their algorithm, and explanations find the reason, in the same :class:`rollstat.plan.Choice`.
"""

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from rollstat.foreign import adapted, is_frame
from rollstat.plan import BlockRows, Choice, Plan
from rollstat.registry import REGISTRY
from rollstat.tiers import call_of

OF_A_WIDTH = ("rows", "forward", "around", "time", "at")
"""Kinds of windows whose explanations show the window."""


@dataclass(frozen=True)
class Step:
    """One algorithm of a call.

    Attributes
    ----------
    algorithm : str
        Its name, as passed to ``algorithm=`` if that is possible.
    windows : str
        ``"full"`` windows of one width, ``"boundary"`` windows, which the first or last row of the data
        cuts short, or ``"all"``.
    reason : str
        Why it was chosen.
    at_run_time : tuple of (str, str)
        Algorithms that may run instead, depending on the values, and the condition for each.
    blocks : int
        Number of blocks that it computes.
    rows : int
        Number of results that it computes.
    """

    algorithm: str
    windows: str
    reason: str
    at_run_time: tuple[tuple[str, str], ...] = ()
    blocks: int = 1
    rows: int = 0


@dataclass(frozen=True, repr=False)
class Explanation:
    """The plan of a call, in readable form.

    Attributes
    ----------
    statistic : str
        Name of the function.
    windows : str
        Kind of windows: rows, forward, around, expanding, time, at, bounds, pandas indexer, box.
    width : object
        Rows of a window, or its duration, as given; None if windows have different sizes.
    min_periods : int
        Minimum number of observations for a result.
    rows : int
        Number of windows of each line.
    too_short : int
        Number of windows that certainly have too few rows, for which no algorithm runs.
    lines : int
        Number of series in the input.
    steps : tuple of Step
        The algorithms.
    one_call : bool
        Whether one kernel call computes the full windows and the growing windows before them.
    library : str
        The library that computes the call: rollstat or pandas.
    threads : int
        Number of threads that share the blocks.
    dtype : numpy.dtype
        Of the input.
    computed, results : tuple of numpy.dtype
        The dtype in which each output is computed, and the dtype of each result; empty for a stream and on
        Spark.
    """

    statistic: str
    windows: str
    width: Any
    min_periods: int
    rows: int
    lines: int
    steps: tuple[Step, ...]
    threads: int
    dtype: np.dtype[Any]
    computed: tuple[np.dtype[Any], ...]
    results: tuple[np.dtype[Any], ...]
    too_short: int = 0
    one_call: bool = False
    library: str = "rollstat"

    @property
    def algorithm(self) -> str:
        """The algorithm that computes most of the results; empty if every window is too short."""
        return max(self.steps, key=lambda step: step.rows).algorithm if self.steps else ""

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return sum(step.blocks for step in self.steps)

    def __repr__(self) -> str:
        if self.library != "rollstat":
            return f"{self.statistic}\n  {self.library} computes {self.rows} rows: {self.steps[0].reason}"
        width = "" if self.width is None else f" of {self.width}"
        short = f", {self.too_short} too short for a result" if self.too_short else ""
        text = [
            self.statistic,
            f"  input    {self.dtype}, {self.lines} x {self.rows} windows",
            f"  windows  {self.windows}{width}, min_periods={self.min_periods}{short}",
        ]
        if not self.results:  # of streams, and of Spark, where no rows are known
            text[1:2] = [f"  input    {self.dtype}, one row at a time"] * self.lines
            return "\n".join([*text, *(f"  {step.algorithm}: {step.reason}" for step in self.steps)])
        for step in self.steps:
            text.append(f"  {step.algorithm}: {step.rows} {step.windows} windows, blocks: {step.blocks}")
            text.append(f"    why: {step.reason}")
            text.extend(f"    at run time: {name} if {when}" for name, when in step.at_run_time)
        text.append(f"  blocks   {self.blocks}{', in one call' * self.one_call}")
        text.append(f"  threads  {self.threads}")
        text.append(f"  result   {', '.join(map(str, self.results))}")
        if self.computed != self.results:
            text[-1] += f", computed as {', '.join(map(str, self.computed))}"
        return "\n".join(text)


def explain(function: Any, /, *args: Any, **options: Any) -> Explanation:
    """Return the plan of a call: what the call would do and why, without computing anything.

    Parameters
    ----------
    function : callable, str or stream
        A function of rollstat that computes a statistic, such as ``rollstat.rolling_median``, or its name,
        ``"median"``; a method of an accessor's window object, such as
        ``series.rollstat.rolling(20).median``; a stream; or :func:`rollstat.spark.rolling`. For a frame, the
        result is the plan of the first column.
    *args, **options
        As for the function; none for a stream.

    Returns
    -------
    Explanation
        Windows, algorithms with reasons, blocks, threads and dtypes as attributes; printing it shows them.

    Raises
    ------
    TypeError
        If `function` is none of these.
    ValueError, TypeError
        The errors that the function raises for these arguments before it computes anything.

    Examples
    --------
    >>> import numpy as np
    >>> import rollstat
    >>> rollstat.explain(rollstat.rolling_mad, np.zeros(1000), 100)
    rolling_mad
      input    float64, 1 x 1000 windows
      windows  rows of 100, min_periods=100, 99 too short for a result
      sorted_window: 901 all windows, blocks: 1
        why: the windows are so few that one kernel call takes the least time
      blocks   1, in one call
      threads  1
      result   float64
    """
    windows: Any = getattr(function, "__self__", None)
    if hasattr(windows, "explanation"):
        return windows.explanation(function, *args, **options)  # type: ignore[no-any-return]  # of any class
    if hasattr(function, "_explanation"):
        return function._explanation(*args, **options)  # type: ignore[no-any-return]  # as above
    if isinstance(function, str):
        named = REGISTRY.get(function.removeprefix("rolling_"))
        function = getattr(named, "function", function)
    statistic = REGISTRY.of_function(function)
    if statistic is None:
        raise TypeError(
            "function must be a function over arrays or its name, a method of windows of the accessor, "
            f"a stream or rollstat.spark.rolling; got {function!r}"
        )
    resolve, first = statistic.resolve, next(iter(inspect.signature(function).parameters))
    if not args and first in options:
        args = (options.pop(first),)
    if args and is_frame(args[0]):
        args = (args[0].iloc[:, 0], *args[1:])
    args, options, _ = adapted(function, args, options)
    explanation: Explanation = resolve(*args, **options).explain(function.__name__)
    return explanation


def explain_other(statistic: str, library: str, reason: str, rows: int) -> Explanation:
    """Return the explanation of a call that another library computes."""
    step = Step(library, "all", reason, rows=rows)
    floats = (np.dtype(np.float64),)
    return Explanation(statistic, "", None, 0, rows, 1, (step,), 1, *floats, floats, floats, library=library)


def explain_plan(plan: Plan, statistic: str) -> Explanation:
    """Return the explanation of a plan of this statistic."""
    counts: dict[tuple[str, Choice], list[int]] = {}
    split = plan.split
    too_short = (
        sum(rows.stop - rows.start for rows in plan.insufficient) if split is None else len(split.short)
    )
    for part in (plan,) if split is None else (split.across, split.cut):
        for rows in part.blocks:
            block = part.empty_block(rows)
            if block.longest < plan.min_periods.lowest:
                too_short += rows.last - rows.first if split is None else 0
                continue
            choice = part.computation.choose(block)
            key = (_windows_of(part, rows), choice)
            blocks_and_rows = counts.setdefault(key, [0, 0])
            blocks_and_rows[0] += 1
            blocks_and_rows[1] += rows.last - rows.first
    lines = 1 if plan.joined else plan.lines
    steps = [
        Step(choice.name, windows, choice.reason, choice.at_run_time, lines * blocks, lines * rows)
        for (windows, choice), (blocks, rows) in counts.items()
    ]
    call = call_of(plan)
    if call is not None:
        choice, computed = call.choice, sum(step.rows for step in steps)
        if plan.one_call is None:
            choice = Choice(choice.name, "the kernels of blocks are not compiled yet")
        steps = [Step(choice.name, "all", choice.reason, rows=computed)] if computed else []
    windows = plan.windows
    return Explanation(
        statistic,
        windows.kind,
        plan.window if windows.kind in OF_A_WIDTH else None,
        plan.min_periods.lowest,
        plan.rows,
        plan.lines,
        tuple(steps),
        plan.options.threads,
        plan.dtype,
        tuple(plan.computed),
        tuple(plan.dtypes),
        lines * too_short,
        call is not None,
    )


def _windows_of(plan: Plan, rows: BlockRows) -> str:
    if rows.width:
        return "full"
    return "boundary" if plan.windows.regular[2] else "all"
