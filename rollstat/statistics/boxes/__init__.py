"""Windows over several axes; modules are loaded when a box is first computed, as they import many kernels.

- `boxes`: resolves a box, its edges and its missing values, and runs it.
- `separable`: extrema, one axis after the other.
- `selection`: order statistics of all values of a box, as windows over columns laid end to end.
- `images`: those of boxes over rows and columns in which no value is missing.
- `moments`: sums and what follows from them, of all values of a box.
"""

import lazy_loader  # type: ignore[import-untyped]  # has no types

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "boxes": ["box_extrema"],
        "selection": ["box_order_statistics"],
        "moments": ["box_moment"],
    },
)
