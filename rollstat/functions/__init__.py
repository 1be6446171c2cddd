"""``rolling_*`` on arrays, one module per family, loaded when one of its functions is first used.

Each public function is named in ``__init__.pyi`` with its module, and in ``rollstat/__init__.pyi``. Loading a
module registers its functions.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
