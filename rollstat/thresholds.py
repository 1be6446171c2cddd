"""Where one algorithm becomes faster than another: all the numbers by which ``algorithm="auto"`` chooses.

They are measured; ``python asv_bench/crossovers.py`` measures them again and prints each beside what it
finds. None of them changes a result of selection, since all algorithms agree exactly. Kernels that examine
their data to choose between two loops import their numbers from here; to measure those, edit them. A constant
of one algorithm, such as the length of its blocks, is defined beside that algorithm.
"""

NETWORK = 64
"""Widest window for which a selection network is used, however short the series is."""

NETWORK_OF_LONG_SERIES = 320
"""Widest window for which a selection network is used in a long series of float64."""

NETWORK_OF_OTHER_DTYPES = 512
"""The same for all other dtypes: more of them fit into a vector, or ranking converts them first."""

NETWORK_OF_FEW_LANES = 192
"""The same for values of 8 bytes on CPUs without AVX-512, whose vectors hold half as many."""

NETWORK_ROWS_A_ROW = 1000
"""A series is long if it has so many windows per row of a window: building a network then pays.

It pays within a few calls over windows of the same width: networks are kept, and halve the time of a call."""

COMPILED_NETWORK = 256
"""Widest window whose selection network is compiled into a loop of its own: to compile wider ones takes much
more than three seconds."""

COMPILED_NETWORK_ROWS = 1 << 15
"""Fewest windows for which it is: a network takes 0.3 to 3 s to compile, the first time for this width."""

RANKED_ROWS = 1 << 14
"""Rows that are ranked at a time: as many as the first two caches hold, within the next two limits."""

RANKED_WINDOWS = 16
"""Most widths of a window that are ranked at a time: with more, the ranks of a window lie far apart."""

RANKED_WINDOWS_AT_LEAST = 3.3
"""Fewest widths of a window that are ranked at a time: with fewer, most values are ranked twice."""

RANKED_VALUES = 1 << 12
"""Fewest values that are ranked at a time where windows vary in size."""

SAMPLED = 4096
"""Narrowest window for which a sample estimates between which values the order statistics lie."""

ACTIVE_SHARE = 0.6
"""Share of active rows below which they are gathered before a bit set slides over them."""

ACTIVE_PROBED_ROWS = 4096
"""Rows at the start of a block in which active rows are counted."""

PREDICTABLE_SHARE = 0.25
"""Share of rows that change which way the order statistic can move, below which slides are predictable."""

PREDICTABLE_PROBED_ROWS = 256
"""Rows at the start of a block in which such changes are counted."""

SORTED_BY_NETWORK = 24
"""Widest window that a network sorts completely, for deviations and trimmed means."""

SORTED_WINDOW_OF_POINTS = 36
"""Most rows of an average window, for each order statistic, that a sorted array holds if windows vary."""

LONGEST_SORTED_WINDOW_OF_POINTS = 1024
"""Most rows of the longest of these windows: each of its rows may move all others."""

SORTED_WINDOW_OF_DEVIATIONS = 20
"""Widest window that is kept as a sorted array for the median absolute deviation."""

SORTED_WINDOW_OF_MEAN_DIFFERENCES = 128
"""Widest window that is kept as a sorted array for the Gini mean difference."""

SORTED_WINDOW_OF_TRIMMED_MEANS = 80
"""Widest window that is kept as a sorted array for trimmed and winsorized means."""

COMPARED_RANK = 128
"""Widest window whose newest value is compared with all others to find its rank."""

BOX_NETWORK = {1: 512, 2: 441, 4: 289, 8: 144}
"""Most elements of a box of rows and columns for which a selection network is used, by bytes of a value."""

BOX_AS_ROWS = 128
"""Most cells of a box whose order statistics are found in all windows of rows, of which few are boxes."""

FILLED_STEP_OF_SUMS = 256
"""Largest step with which the sums of all full windows take less time than those of every step-th window."""

FILLED_STEP_OF_ENDS = 32
"""The same for extrema, and for the ends of windows."""

SHORT_LINE = 4096
"""Lines of fewer rows are laid end to end: to set up a block for each would cost more than its work."""

FEW_LINES = 8
"""Most lines of an array whose short lines are written by one kernel call each, and not laid end to end."""

STREAM_STEPS = 1_000
"""Longest array that a stream takes by compiled steps in one call, whatever the window."""

STREAM_STEP_WINDOWS = 0.25
"""Windows of rows by which such an array may be longer."""

STREAM_PUSHES = 20
"""Pushes from Python that take as long as a call of a function over arrays with few rows."""

STREAM_ROWS_PER_PUSH = 256
"""Rows of the window for which that call takes as long as one more push."""

STREAM_PUSHED_SHARE = 8
"""A window must be this many times as long as an array whose elements are pushed one by one."""

STREAM_SEPARATE_WINDOWS = 2
"""Shortest array, in windows, that is not copied behind the rows of the window."""

STREAM_SEPARATE_ROWS = 1 << 17
"""Rows from which the copy takes longer than one more call of the function for the first rows."""

STREAM_OPERATOR_STEPS = 128
"""Longest array of floats whose elements go through the compiled step of an operator one by one."""

STREAM_FUNCTION_WINDOWS = {"f": 1, "i": 4, "u": 4, "b": 4}
"""Shortest array, in windows, that a named operator leaves to the function over arrays, by kind of dtype."""

FEW_EXTREMA_ROWS = 64
"""Below this number of rows, extrema are found by one scan, which is done before vectors are set up."""

BLOCKWISE = 256
"""Rows of a window above which extrema and their positions are found block by block."""

BLOCKWISE_OF_FEW_LANES = 64
"""The same for positions of 8 bytes on CPUs without AVX-512, which has registers for what doubling keeps."""

ONE_CALL_ROWS = 8192
"""Most windows of a series whose results are written in one kernel call."""

ONE_CALL_SECONDS = 1e-4
"""Longest time of a kernel call that is faster than blocks: about what these take beside their kernels."""

SKIPPED_ROW_SECONDS = 4e-9
"""Time that blocks take for a row that is in no window, at least; a kernel call does not read it."""

KEPT_TIMES = 1 << 15
"""Most irregular times over which the plan of a call is kept, with a copy of them: planning takes 0.2 ms."""

EXPANDING_AS_FIXED = 64
"""Fewest expanding windows whose sums are computed as fixed windows behind missing rows."""

QUICK_CALL_SECONDS = 2.0
"""Longest line, in seconds of a kernel that compiles quickly, that such a kernel serves.

The fast kernels take 1 to 5 s to compile and little time to run."""

QUICK_SECONDS = 0.2
"""Work of quick kernels, in seconds a process, after which the fast kernel is compiled.

Within one process compiling pays only after the seconds that it takes. But the code stays on disk, and a
process that repeats a call most likely has successors that do so too."""

CONVOLVE_DIRECTLY = 200
"""Weights by position up to which products are summed directly; more take a Fourier transform."""

COMPILED_APPLY_ROWS = 20_000
"""Windows from which on the accessor compiles functions of windows: to compile one takes up to seconds."""

ANY_ORDER_SHARE = 1 / 64
"""Share of windows with a lower bound than the one before, above which windows are not sorted into chains."""

ANY_ORDER_ROWS = 1 << 16
"""Rows that blocks of windows in any order cover: what is built over them stays in the second cache."""

PLACED_AT_ONCE = 1 << 16
"""Fewest rows in another order into which several features are put at once: few rows stay in the cache."""
