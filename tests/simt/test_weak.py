"""Weak memory: what the litmus tests may show by PTX's model shows under some schedule, and nothing else does.

Lustig, Sahasrabuddhe, Giroux, "A Formal Analysis of the NVIDIA PTX Memory Consistency Model", ASPLOS 2019. Load buffering is left
out: no store here is seen before the loads in front of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from kernelwright.device.schedule import Schedule
from kernelwright.ir import Module
from tests.simt.harness import PRELUDE, Case, ir
from tests.simt.test_kernels import zeros
from tests.simt.test_watch import SOUND, source

Compile = Callable[[str], Module]
SEEDS = range(32)
WIDTHS = ("none", "block", "device")
FENCES = {"none": "", "block": "__threadfence_block();", "device": "__threadfence();"}
APART = {"grid": "blockIdx.x", "block": "threadIdx.x / 32"}
"""Who the two threads are: of two blocks, of two warps of a block."""
LITMUS = {
    # One passes a message: data, then a flag.
    "message passing": (
        "*x = 1; {first} *flag = 1;",
        "o[0] = *flag; {second} o[1] = *x;",
    ),
    # Each says that it is there, and looks for the other.
    "store buffering": (
        "*flag = 1; {first} o[0] = *other;",
        "*other = 1; {second} o[1] = *flag;",
    ),
}
WEAK = {"message passing": (1, 0), "store buffering": (0, 0)}
"""What fences forbid."""


def covers(width: str, apart: str) -> bool:
    """Whether a fence keeps an order for both threads."""
    return width == "device" or (width == "block" and apart == "block")


def kernel(litmus: str, apart: str, first: str, second: str, name: str = "k") -> str:
    one, other = LITMUS[litmus]
    return f"""
extern "C" __global__ void {name}(int* o, int* x, volatile int* flag, volatile int* other) {{
  if (threadIdx.x % 32 || ({"threadIdx.x" if apart == "grid" else "blockIdx.x"})) return;
  if ({APART[apart]} == 0) {{ {one.format(first=FENCES[first], second="")} }}
  else {{ {other.format(first="", second=FENCES[second])} }}
}}"""


def outcomes(module: Module, arena: Arena, *, kernel: str = "k") -> set[tuple[int, ...]]:
    """What the two threads saw, under every schedule."""
    found = set()
    case = Case(module, kernel, 2, 64, zeros(2), zeros(16), zeros(16), zeros(16))
    for seed in SEEDS:
        run = case.fast(arena, schedule=Schedule.weak(seed))
        assert run.fault is None and not run.launch.incomplete
        found.add(tuple(int(v) for v in run.arrays[0]))
    return found


@pytest.mark.parametrize("litmus", LITMUS)
def test_litmus(cuda: Compile, arena: Arena, litmus: str) -> None:
    made = {f"{apart}_{one}_{two}": (apart, one, two) for apart in APART for one in WIDTHS for two in WIDTHS}
    module = cuda("".join(kernel(litmus, *which, name=name) for name, which in made.items()))
    for name, (apart, first, second) in made.items():
        forbidden = covers(first, apart) and covers(second, apart)
        seen = outcomes(module, arena, kernel=name)
        assert (WEAK[litmus] in seen) == (not forbidden), (name, seen)
        assert len(seen) >= 2


def test_without_weak_memory_the_litmus_tests_show_nothing(cuda: Compile, arena: Arena) -> None:
    module = cuda("".join(kernel(litmus, "grid", "none", "none", litmus.split()[0]) for litmus in LITMUS))
    for litmus, weak in WEAK.items():
        case = Case(module, litmus.split()[0], 2, 64, zeros(2), zeros(16), zeros(16), zeros(16))
        for seed in range(8):
            assert tuple(int(v) for v in case.fast(arena, schedule=Schedule.random(seed)).arrays[0]) != weak


LAST = """
extern "C" __global__ void k(int* o, int* part, int* count, int* unused) {
  __shared__ bool last;
  if (threadIdx.x % 8 == 7) part[blockIdx.x * 8 + threadIdx.x / 8] = threadIdx.x + 1;
  __syncthreads();
  if (threadIdx.x == 0) { WRITER last = atomicAdd(count, 1) == 1; READER }
  __syncthreads();
  if (last && threadIdx.x < 2) o[threadIdx.x] = part[threadIdx.x * 8 + 7];
}"""
"""The last block reads what the threads of both have stored: thread 0's fence speaks for those it waited for."""


@pytest.mark.parametrize(
    ("writer", "reader", "safe"),
    [("device", "device", True), ("none", "device", False), ("block", "device", False), ("device", "none", False)],
)
def test_a_fence_behind_a_barrier_speaks_for_the_block(
    cuda: Compile, arena: Arena, writer: str, reader: str, safe: bool
) -> None:
    text = LAST.replace("WRITER", FENCES[writer]).replace("READER", FENCES[reader])
    seen = outcomes(cuda(text), arena)
    assert (seen == {(64, 64)}) == safe, seen


def test_ordered_accesses_are_fences_of_their_width(arena: Arena) -> None:
    def module(store: str, load: str) -> Module:
        return ir(f"""{PRELUDE}
define ptx_kernel void @k(ptr %o, ptr %x, ptr %flag, ptr %other) {{
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = icmp eq i32 %t, 0
  br i1 %first, label %one, label %end
one:
  %writes = icmp eq i32 %b, 0
  br i1 %writes, label %write, label %read
write:
  store i32 1, ptr %x, align 4
  store atomic i32 1, ptr %flag syncscope("{store.split()[0]}") {store.split()[1]}, align 4
  br label %end
read:
  %f = load atomic i32, ptr %flag syncscope("{load.split()[0]}") {load.split()[1]}, align 4
  store i32 %f, ptr %o, align 4
  %d = load i32, ptr %x, align 4
  %o1 = getelementptr i32, ptr %o, i64 1
  store i32 %d, ptr %o1, align 4
  br label %end
end:
  ret void
}}""")

    for store, load in itertools.product(
        ("device release", "device monotonic", "block release"), ("device acquire", "device monotonic")
    ):
        ordered = store == "device release" and load == "device acquire"
        assert ((1, 0) in outcomes(module(store, load), arena)) == (not ordered), (store, load)


def test_fences_in_assembly(cuda: Compile, arena: Arena) -> None:
    text = kernel("message passing", "grid", "device", "device")
    wide = text.replace("__threadfence();", 'asm volatile("fence.acq_rel.gpu;" ::: "memory");')
    narrow = text.replace("__threadfence();", 'asm volatile("membar.cta;" ::: "memory");')
    assert (1, 0) not in outcomes(cuda(wide), arena) and (1, 0) in outcomes(cuda(narrow), arena)


WHO_IS_LAST = ("the last block sums up", "every thread of the last block")
NO_FENCE_TO_ACQUIRE = (*WHO_IS_LAST, "a lock")


@pytest.mark.parametrize("name", SOUND)
def test_what_is_ordered_gives_the_same(cuda: Compile, arena: Arena, name: str) -> None:
    """Barriers, atomics and fences; shared and local memory are not weak. A block that waits for an earlier one is run last."""
    case = Case(cuda(source(SOUND[name])), "k", 1 if "flag" in name else 2, 64, zeros(512), 3)
    want = case.fast(arena).arrays
    for seed in SEEDS[:16]:
        if name in NO_FENCE_TO_ACQUIRE and seed >> 2 & 1:
            continue  # late loads may miss what the others stored
        run = case.fast(arena, schedule=Schedule.weak(seed))
        assert run.fault is None
        if name not in WHO_IS_LAST:
            np.testing.assert_array_equal(run.arrays[0], want[0], str(seed))


def test_waiting_for_a_flag_ends(cuda: Compile, arena: Arena) -> None:
    """A signal comes true though its thread goes on without a fence."""
    module = cuda("""
extern "C" __global__ void k(int* o) {
  volatile int* flag = o + 8;
  if (threadIdx.x == 0) { while (!*flag); o[0] = 7; }
  if (threadIdx.x == 32) *flag = 1;
}""")
    case = Case(module, "k", 1, 64, zeros(16))
    for seed in SEEDS[:16]:
        run = case.fast(arena, schedule=Schedule.weak(seed))
        assert run.fault is None and run.arrays[0][0] == 7


def test_what_a_thread_has_stored_it_reads_again(cuda: Compile, arena: Arena) -> None:
    """In pieces of all sizes; and what waits at the end of a launch comes true in the order of the program."""
    module = cuda("""
extern "C" __global__ void k(int* o, char* bytes, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  long long* wide = (long long*)bytes;
  wide[i] = 0x0101010101010101ll * i;
  bytes[8 * i + n] = 5;
  ((short*)bytes)[4 * i + n] = 7;
  atomicAdd(((int*)bytes) + 2 * i + 1, n);
  ((float2*)bytes)[i].x = ((int*)bytes)[2 * i + 1];
  o[i] = ((int*)bytes)[2 * i] ^ ((int*)bytes)[2 * i + 1];
  o[i] += 1;
}""")
    case = Case(module, "k", 2, 64, zeros(128), np.zeros(1024, np.uint8), 3)
    want = case.fast(arena).arrays
    for seed in SEEDS[:16]:
        got = case.fast(arena, schedule=Schedule.weak(seed)).arrays
        for one, other in zip(want, got, strict=True):
            np.testing.assert_array_equal(one, other, str(seed))
