"""What the workers of a pool shall do, as it travels to them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass

Work = Callable[[Any], Any]


@dataclass(frozen=True)
class Task:
    """``setup`` by name, its arguments, and whether one call of it serves all workers."""

    module: str
    name: str
    arguments: tuple[Any, ...]
    shared: bool
    memory_bytes: int

    def function(self) -> Callable[..., Work]:
        """Imports ``setup``."""
        found: Any = importlib.import_module(self.module)
        for part in self.name.split("."):
            found = getattr(found, part)
        function: Callable[..., Work] = found
        return function


def task(
    setup: Callable[..., Work], arguments: tuple[Any, ...], *, shared: bool = False, memory_bytes: int = 0
) -> Task:
    """Raises ``Misuse`` when a fresh process could not find ``setup`` by its name."""
    module, name = getattr(setup, "__module__", None), getattr(setup, "__qualname__", None)
    if not module or not name or module == "__main__" or "<" in name:
        raise Misuse(
            f"workers cannot import {name or setup!r}",
            hint="define it at the top level of a module, not in a script, in a function or as a lambda",
        )
    return Task(module, name, arguments, shared, memory_bytes)
