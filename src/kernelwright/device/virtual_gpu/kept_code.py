"""What sessions of one process, one after the other, need not make again: modules read, kernels compiled and weighed, by content,
and estimates of launches that count and log the same again.

    kept = KeptCode()
    serve(connection, settings_of, kept=kept)       # and the next program: the same executable, say, with other arguments

For one GPU, with its calibration of the timing model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelwright.cache import content_key
from kernelwright.lru import LruCache

if TYPE_CHECKING:
    from kernelwright.codegen.cost.block_weights import Weights
    from kernelwright.device.timing_model.counters import Observed
    from kernelwright.device.timing_model.estimate import Estimate
    from kernelwright.device.virtual_gpu.gpu import VirtualGpu
    from kernelwright.ir.module import Module

KEPT_ESTIMATES = 2048


class KeptCode:
    """Empty at first; sessions fill it. Not for two at once."""

    def __init__(self) -> None:
        self.gpu: VirtualGpu | None = None
        """The compiled kernels."""
        self.weights: dict[int, tuple[Module, dict[str, Weights]]] = {}
        """What kernels cost, by the number of their module, which is kept with it."""
        self.estimates: LruCache[tuple[object, ...], tuple[Observed, Estimate]] = LruCache(KEPT_ESTIMATES)
        """Of launches, by everything that the timing model looks at."""
        self._modules: dict[str, Module] = {}

    def module(self, text: str) -> Module:
        """The module that is written in ``text``. Raises as ``parse_module``."""
        from kernelwright.ir import parse_module

        key = content_key((text,))
        found = self._modules.get(key)
        if found is None:
            found = self._modules[key] = parse_module(text)
        return found
