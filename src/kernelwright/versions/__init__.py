"""Several versions in one program, behind guards ``P >= T``, and the thresholds that make it pick the right one.

    matmul = kw.versions("matmul", [outer, block, flat], by=[("rows", ">="), ("rows * columns", ">=")])

The name of this package is also that of the function (``dispatch.versions``): the package can be called.
"""

from __future__ import annotations

import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kernelwright.versions.dispatch import Versions


class _CallablePackage(ModuleType):
    """This package, so that ``kw.versions(...)`` is a call although importing it binds ``kw.versions`` to the package."""

    def __call__(self, *args: Any, **options: Any) -> Versions:
        from kernelwright.versions.dispatch import versions

        return versions(*args, **options)


callable_package = sys.modules[__name__]
callable_package.__class__ = _CallablePackage
