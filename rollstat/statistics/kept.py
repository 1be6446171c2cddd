"""Memory that a thread keeps from one call to the next: new memory would cost as much as a small call."""

import threading
from collections.abc import Callable
from typing import Any

__all__ = ["Kept"]


class Kept(threading.local):
    """The memory of the last call of each thread; a call has the memory for itself until the next one."""

    key: Any = None
    memory: Any = None

    def get(self, key: Any, make: Callable[[], Any], keep: bool = True) -> Any:
        """Return the memory of the last call if its key was the same, else new memory; `keep` it or not."""
        if key == self.key:
            return self.memory
        memory = make()
        if keep:
            self.key, self.memory = key, memory
        return memory
