"""``rolling_*`` on arrays, one module per family, loaded when one of its functions is first used.

``__init__.pyi`` names each public function with its module; ``python -m tests.surface`` writes it. Loading a
module registers its functions. ``common`` has the decorator of all functions and what they share,
``sorted_windows`` the kernel calls of short series for order statistics, ``joint_calls`` what calls share.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
