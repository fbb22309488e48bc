"""Temporaries in global memory: each block has a part of its own of a buffer that the launch brings, one after the other.

What one thread of a block writes others read behind a barrier, as in shared memory; blocks exchange nothing through it.

    for p0: ab_to_abc[p0 * 1024 + thread_y * 32 + thread_x] = ab      all of them, then a barrier
    for n0: for p0: ... = ab_to_abc[p0 * 1024 + ...]                  read for each n0 again

Axes lie in the order of ``layout``, what the tiles leave around them. Of a size that is given at launch the number of its
iterations stands in a constant of the kernel: ``const int ab_to_abc_p0 = (p + 31) / 32;``
"""

from __future__ import annotations

from math import prod

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation.objects import Temporary
from kernelwright.space.computation.sizes import shown, size_at_launch
from kernelwright.space.cuda_source.addresses import Address
from kernelwright.space.cuda_source.fused_loops import FusedLoops
from kernelwright.space.cuda_source.generated import GRID_LIMIT, Scratch
from kernelwright.space.cuda_source.temporary_axes import Axes, address_of, apart, tile_axes


@dataclass(frozen=True)
class GlobalArray:
    """``counts``: constants of the kernel, with their C text; ``elements``: of one block, a formula of them."""

    temporary: Temporary
    axes: Axes
    strides: tuple[int, ...]
    elements: int
    counts: tuple[tuple[str, str], ...]
    scratch: Scratch

    def address(self, loops: FusedLoops, *, writes: bool) -> Address:
        """The address of the thread's element in the block's own part; ``writes``: as it is written, else as it is read."""
        return address_of(loops, self.axes, self.strides, writes=writes)

    def lines(self) -> list[str]:
        """Where the block's own part begins."""
        found = [f"const int {name} = {text};" for name, text in self.counts]
        part = shown(self.elements)
        part = f"({part})" if " + " in part else part
        return [*found, f"{self.temporary} += (long)blockIdx.x * {part};  // of this block"]


def global_arrays(loops: FusedLoops) -> dict[str, GlobalArray]:
    """By temporary. Raises ``Misuse`` for one of which a block's part has too many elements for an ``int``."""
    leaf = loops.leaf
    there = [t for t in loops.backbone.temporaries if leaf.exists(t) and leaf.value("mem_space", t) == "GLOBAL"]
    return {t.name: _arrange(loops, t) for t in there}


def _arrange(loops: FusedLoops, temporary: Temporary) -> GlobalArray:
    axes, rests = tile_axes(loops, temporary), apart(loops, temporary.rests)
    strides: list[int] = []
    counts: list[tuple[str, str]] = []
    stride = 1
    for a, _ in reversed([*rests, *axes]):
        strides.insert(0, stride)
        iterations = loops.of[a].iterations
        if iterations.is_dynamic:
            name = f"{temporary}_{a.loop}{a.level}"
            counts.append((name, iterations.text()))
            stride = stride * size_at_launch(name, iterations.tuned)
        else:
            stride = stride * iterations.tuned
    if int(stride) > GRID_LIMIT:
        raise Misuse(f"temporary {temporary} has {int(stride)} elements for each block: at most {GRID_LIMIT}")
    known = prod(loops.of[a].size for a, _ in axes)
    scratch = Scratch(temporary.name, known, tuple(loops.of[a].iterations for a, _ in rests))
    return GlobalArray(temporary, (*rests, *axes), tuple(strides), stride, tuple(counts), scratch)
