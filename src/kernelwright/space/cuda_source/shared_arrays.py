"""Temporaries in shared memory: which axes they have, in which order, and how many elements are left between rows.

An axis whose ``put`` and ``get`` dims are merged needs no room. Of several paddings that one is taken which gives the fewest
bank conflicts to the first warp that writes and the first that reads, the smallest of equals.

    __shared__ float a_to_mad[32 * 32];   →   __shared__ float a_to_mad[32 * 33];    where a warp reads a column
"""

from __future__ import annotations

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation.objects import Dim, Temporary
from kernelwright.space.cuda_source.addresses import Address
from kernelwright.space.cuda_source.fused_loops import IN_REGISTERS, FusedLoop, FusedLoops
from kernelwright.space.cuda_source.temporary_axes import Axes, address_of, tile_axes

BANKS = 32
WARP = 32
PADDINGS = (1, 2, 4, 8)
"""Elements behind each row; only multiples of the width that both sides can move at a time."""
WIDEST = 4


@dataclass(frozen=True)
class SharedArray:
    temporary: Temporary
    axes: Axes
    strides: tuple[int, ...]
    elements: int
    padding: int

    def address(self, loops: FusedLoops, *, writes: bool) -> Address:
        """The address of the thread's element; ``writes``: as the temporary is written, else as it is read."""
        return address_of(loops, self.axes, self.strides, writes=writes)

    @property
    def bytes(self) -> int:
        """Bytes of shared memory, padding included: 4 for each element."""
        return 4 * self.elements


def shared_arrays(loops: FusedLoops, limit_bytes: int) -> dict[str, SharedArray]:
    """By temporary. Padding is left out where all arrays would not fit ``limit_bytes`` with it.
    Raises ``Misuse`` where they do not fit."""
    leaf = loops.leaf
    there = [t for t in loops.backbone.temporaries if leaf.exists(t) and leaf.value("mem_space", t) == "SHARED"]
    plain = {t.name: _arrange(loops, t) for t in there}
    if sum(a.bytes for a in plain.values()) > limit_bytes:
        total = sum(a.bytes for a in plain.values())
        raise Misuse(f"the temporaries of a block take {total} bytes of shared memory, of {limit_bytes}")
    padded = {t.name: _least_conflicts(loops, t) for t in there}
    return padded if sum(a.bytes for a in padded.values()) <= limit_bytes else plain


def _arrange(loops: FusedLoops, temporary: Temporary, row_axes: int = 0, padding: int = 0) -> SharedArray:
    """``padding`` elements follow each row; a row is the innermost ``row_axes`` axes."""
    axes = tile_axes(loops, temporary)
    strides: list[int] = []
    stride = 1
    for position, (a, _) in enumerate(reversed(axes), 1):
        strides.insert(0, stride)
        stride *= loops.of[a].size
        if position == row_axes:
            stride += padding
    return SharedArray(temporary, axes, tuple(strides), stride, padding)


def _least_conflicts(loops: FusedLoops, temporary: Temporary) -> SharedArray:
    plain = _arrange(loops, temporary)
    if not plain.axes:
        return plain
    widths = [_width(loops.of[dim]) for dim in plain.axes[-1]]  # of the put, and of the get
    choices = [plain]
    for row_axes in range(1, len(plain.axes)):
        choices += [_arrange(loops, temporary, row_axes, p) for p in PADDINGS if p % max(widths) == 0]

    def cost(array: SharedArray) -> int:
        put = wavefronts(array.address(loops, writes=True), loops.block, widths[0])
        return put + wavefronts(array.address(loops, writes=False), loops.block, widths[1])

    return min(choices, key=lambda array: (cost(array), array.elements))


def _width(innermost: FusedLoop) -> int:
    """Elements that one access moves: those of a vector, or neighbours whose accesses the compiler can join."""
    if innermost.kind not in IN_REGISTERS:
        return 1
    return next(w for w in (WIDEST, 2, 1) if innermost.size % w == 0)


def wavefronts(address: Address, block: tuple[int, int, int], width: int) -> int:
    """Turns that the first warp's access takes: lanes that ask one bank for different words wait for each other.

    Lanes of vectors take turns in groups that fill the banks once: 16 lanes of two words, 8 of four.
    """
    steps = {0: 0, 1: 0, 2: 0}
    for fused, factor in address.terms:
        if fused.axis is not None:
            steps[fused.axis] += factor
    x, y, z = block
    words = []
    for lane in range(min(WARP, x * y * z)):
        words.append(steps[0] * (lane % x) + steps[1] * (lane // x % y) + steps[2] * (lane // (x * y)))
    turns = 0
    for first in range(0, len(words), WARP // width):
        banks: dict[int, set[int]] = {}
        for start in words[first : first + WARP // width]:
            for word in range(start, start + width):
                banks.setdefault(word % BANKS, set()).add(word)
        turns += max(len(found) for found in banks.values())
    return turns


def vector_loop(loops: FusedLoops, dims: tuple[Dim, ...]) -> FusedLoop | None:
    """The loop among these dims that is a vector of more than one element; None without one."""
    return next((loops.of[d] for d in dims if loops.of[d].kind == "VECTOR" and loops.of[d].size > 1), None)
