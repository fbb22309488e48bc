"""What launches on the virtual GPU would have taken: the timing model, fed with what each launch did.

Original and variants are weighed by the same source, machine code where an assembler is installed. What has been weighed
is kept under its PTX: most variants that are right have a PTX that was seen before.
"""

from __future__ import annotations

from dataclasses import replace

from kernelwright.cache import content_key
from kernelwright.codegen.cost.block_weights import Source, Weights, weigh
from kernelwright.device.timing_model.counters import Observed
from kernelwright.device.timing_model.estimate import Estimate, estimate
from kernelwright.device.timing_model.launch_observation import block_labels, observe
from kernelwright.evaluate.judging.variant import Built
from kernelwright.evaluate.judging.variant_launches import Done
from kernelwright.lru import LruCache
from kernelwright.target import Gpu

KEPT = 256


class Clock:
    """Estimates launches for one GPU. ``source`` is settled by what is weighed first, unless it is given."""

    def __init__(self, gpu: Gpu, source: Source | None = None) -> None:
        self.gpu = gpu
        self.source = source
        self._weights: LruCache[str, Weights] = LruCache(KEPT)

    def time(self, done: Done, *, is_first: bool, by_line: bool = True) -> tuple[Observed, Estimate]:
        """What was seen of a launch that ended well, and its estimate. ``is_first``: the caches hold nothing of use. ``by_line``:
        the time of each line of the source is wanted, too.

        Raises ``CompileError`` for code that the assembler refuses, ``DeviceError`` for a block that does not fit.
        """
        launched = done.launched
        buffers = list(zip(done.bounds["start"].tolist(), done.bounds["end"].tolist(), strict=True))
        observed = observe(launched.result, launched.launch, buffers)
        if not is_first:
            # Launches of one program use the same memory again and again: L2 has what fits in it.
            observed = replace(observed, warm=min(1.0, self.gpu.l2_bytes / max(observed.touched_bytes, 1)))
        return observed, estimate(observed, self.weights(done.built), self.gpu, by_line=by_line)

    def weights(self, built: Built) -> Weights:
        """What the blocks of a kernel cost. Raises ``CompileError`` and ``ToolError``."""
        ptx = built.ptx(self.gpu.arch)

        def make() -> Weights:
            made = weigh(ptx, built.kernel, self.gpu.arch, block_labels(built.module), source=self.source)
            self.source = self.source or made.source
            return made

        return self._weights.get_or_make(content_key([ptx]), make)
