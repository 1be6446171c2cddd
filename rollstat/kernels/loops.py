"""Loops over whole arrays and rows of lanes, as vector instructions.

::

    fill(7, out)        7  7  7  7        copy(values, out)        the first values

    work    [ . . a a a a . . b b b b . . l l l l . . u u u u . . ]
                  |first      |second     |lower      |upper           lower = min(a, b), upper = max(a, b)

Callers pass slices to the loops that write: the index of a loop that starts at 0 is known not to be negative,
so it needs no test for counting from the end. The other loops have their rows of lanes in one array and
overwrite them in place. LLVM cannot prove that this is safe and would vectorise loops over slices behind
run-time tests of overlap. These tests fail here; explicit vectors avoid them.

State: one scratch array. Invariant: vectors are read before they are written, in ascending order, so a
target may be an operand, or the same row at smaller lanes. Cost: one store, or one comparison, per vector,
without branches on data; counts of lanes must be multiples of the vector length.
Values that compare equal are interchangeable (also -0.0 and 0.0), and both are kept; there must be no NaN.
"""

from rollstat.compile.jit import kernel
from rollstat.compile.simd.vectors import lanes_of, load, store
from rollstat.kernels.comparator import Greatest, Least, prefer


@kernel
def fill(value, out):
    """Write `value` to every element."""
    for i in range(len(out)):
        out[i] = value


@kernel
def copy(values, out):
    """Write the first values to all of `out`."""
    for i in range(len(out)):
        out[i] = values[i]


@kernel(forceinline=True)
def exchange(work, count, lower, upper, first, second):
    """Write the smaller and the larger values of the rows that start at `first` and `second`."""
    for lane in range(0, count, lanes_of(work)):
        one, two = load(work, first + lane), load(work, second + lane)
        store(prefer(Least(), one, two), work, lower + lane)
        store(prefer(Greatest(), two, one), work, upper + lane)


@kernel(forceinline=True)
def lower_of(work, count, lower, first, second):
    """Write the smaller values of two rows."""
    for lane in range(0, count, lanes_of(work)):
        store(prefer(Least(), load(work, first + lane), load(work, second + lane)), work, lower + lane)


@kernel(forceinline=True)
def upper_of(work, count, upper, first, second):
    """Write the larger values of two rows."""
    for lane in range(0, count, lanes_of(work)):
        store(prefer(Greatest(), load(work, second + lane), load(work, first + lane)), work, upper + lane)
