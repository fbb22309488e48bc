"""Reductions whose terms are shared between the threads along the innermost axis: how their parts become the whole, in every thread.

Within a warp by shuffles:

    v_total = v_total + __shfl_xor_sync(0xffffffffu, v_total, 16);      16 lanes apart, then 8, 4, 2, 1

Of more threads than a warp has, the parts of warps through shared memory, one element for each value and warp:

    if (thread_x % 32 == 0) total_parts[thread_y * 4 + thread_x / 32] = v_total;
    __syncthreads();
    v_total = total_parts[thread_y * 4];
    v_total = v_total + total_parts[thread_y * 4 + 1];                  and so on
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation.objects import Reduction
from kernelwright.space.cuda_source.fused_loops import FusedLoop, FusedLoops
from kernelwright.space.cuda_source.registers import RegisterFile
from kernelwright.target import WARP

JOINED: dict[str, Callable[[str, str], str]] = {
    "add": lambda a, b: f"{a} + {b}",
    "max": lambda a, b: f"fmaxf({a}, {b})",
}
"""How two parts become one, by the reduction's operation."""


@dataclass(frozen=True)
class JoinedThreads:
    """Of one reduction of a leaf. ``inner``: unrolled loops within the outermost one of the reduction, along which it has several
    values; ``text`` is that of the value."""

    reduction: Reduction
    threads: int
    rows: tuple[int, int]
    """Threads along the two other axes."""
    inner: tuple[FusedLoop, ...]
    text: str

    @property
    def warps(self) -> int:
        """That share one value."""
        return max(1, self.threads // WARP)

    @property
    def array(self) -> str:
        """The C name of the array in shared memory that the parts of warps pass through."""
        return f"{self.reduction.instruction}_parts"

    @property
    def elements(self) -> int:
        """Of shared memory."""
        return self.warps * prod(self.rows) * self._values if self.warps > 1 else 0

    @property
    def _values(self) -> int:
        return prod(f.size for f in self.inner)

    def lines(self, *, repeats: bool) -> list[str]:
        """``repeats``: whether it is in a loop, where the next iteration's parts must not come before the last ones are read."""
        expression = self.reduction.instruction.expression
        assert expression is not None
        join = JOINED[expression.kind]
        first = [
            "#pragma unroll",
            f"for (int step = {min(self.threads, WARP) // 2}; step > 0; step /= 2) {{",
            f"    {self.text} = {join(self.text, f'__shfl_xor_sync(0xffffffffu, {self.text}, step)')};",
            "}",
        ]
        if self.warps == 1:
            return self._for_each_value(first)
        first += [
            f"if (thread_x % {WARP} == 0) {{",
            f"    {self.array}[{self._place(f'thread_x / {WARP}')}] = {self.text};",
            "}",
        ]
        second = [f"{self.text} = {self.array}[{self._place('0')}];"]
        second += [
            f"{self.text} = {join(self.text, f'{self.array}[{self._place(str(warp))}]')};"
            for warp in range(1, self.warps)
        ]
        barrier = ["__syncthreads();"]
        return [
            *self._for_each_value(first), *barrier, *self._for_each_value(second), *(barrier if repeats else ()),
        ]  # fmt: skip

    def _for_each_value(self, body: list[str]) -> list[str]:
        for loop in reversed(self.inner):
            head = f"for (int {loop.variable} = 0; {loop.variable} < {loop.size}; {loop.variable}++) {{"
            body = ["#pragma unroll", head, *(f"    {line}" for line in body), "}"]
        return body

    def _place(self, warp: str) -> str:
        """Where a warp's part of a value lies: value by value, row by row of the block."""
        digits = [(loop.variable, loop.size) for loop in self.inner]
        digits += [
            (name, size) for name, size in zip(("thread_z", "thread_y"), self.rows[::-1], strict=True) if size > 1
        ]
        index = ""
        for name, size in [*digits, (warp, self.warps)]:
            index = f"{f'({index})' if ' ' in index else index} * {size} + {name}" if index else name
        return index


def shared_reductions(loops: FusedLoops) -> dict[FusedLoop, list[Reduction]]:
    """Reductions that threads share, by their outermost loops: behind these their parts are joined."""
    found: dict[FusedLoop, list[Reduction]] = {}
    for reduction in loops.backbone.reductions:
        own = list(dict.fromkeys(loops.of[d] for d in reduction.dims))
        if any(f.axis is not None and f.size > 1 for f in own):
            outermost = next(f for f in own if not any(loops.is_inside(f, g) for g in own if g is not f))
            found.setdefault(outermost, []).append(reduction)
    return found


def joined_threads(loops: FusedLoops, registers: RegisterFile, reduction: Reduction) -> JoinedThreads:
    """How the threads that share a reduction's terms join them."""
    own = [loops.of[d] for d in reduction.dims]
    outermost = next(f for f in own if not any(loops.is_inside(f, g) for g in own if g is not f))
    threads = prod(f.size for f in own if f.axis is not None)
    held = registers.of[reduction.instruction.name]
    inner = tuple(f for f in (loops.of[d] for d in held.dims) if loops.is_inside(f, outermost))
    _, y, z = loops.block
    return JoinedThreads(reduction, threads, (y, z), inner, registers.written(reduction.instruction))
