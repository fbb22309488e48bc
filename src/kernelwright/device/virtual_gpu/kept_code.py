"""What sessions of one process, one after the other, need not make again: modules read, kernels compiled and weighed, by content.

    kept = KeptCode()
    serve(connection, settings_of, kept=kept)       # and the next program: the same executable, say, with other arguments

For one GPU. Nothing of it depends on memory, arguments or the launches of a session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelwright.cache import content_key

if TYPE_CHECKING:
    from kernelwright.codegen.cost.block_weights import Weights
    from kernelwright.device.virtual_gpu.gpu import VirtualGpu
    from kernelwright.ir.module import Module


class KeptCode:
    """Empty at first; sessions fill it. Not for two at once."""

    def __init__(self) -> None:
        self.gpu: VirtualGpu | None = None
        """The compiled kernels."""
        self.weights: dict[int, tuple[Module, dict[str, Weights]]] = {}
        """What kernels cost, by the number of their module, which is kept with it."""
        self._modules: dict[str, Module] = {}

    def module(self, text: str) -> Module:
        """The module that is written in ``text``. Raises as ``parse_module``."""
        from kernelwright.ir import parse_module

        key = content_key((text,))
        found = self._modules.get(key)
        if found is None:
            found = self._modules[key] = parse_module(text)
        return found
