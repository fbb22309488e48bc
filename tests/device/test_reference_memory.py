"""Loads, stores and copies of every type; shared, local and constant memory; and every fault that memory can raise."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from kernelwright.codegen.memory_layout import shared_layout
from kernelwright.device.arena import SHARED_BASE, Arena
from kernelwright.device.reference import run_reference
from kernelwright.device.reference.program import Translation
from kernelwright.device.variables import load_variables
from kernelwright.errors import DeviceError, Misuse
from kernelwright.ir import Module, parse_module
from tests.device.conftest import Launcher, kernel_named, packed
from tests.device.ir_kernels import HEADER, evaluate, item

Compile = Callable[[str], Module]


# -- types in memory ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "type",
    ["i8", "i16", "i32", "i64", "i128", "half", "bfloat", "float", "double", "ptr", "<2 x i32>", "<4 x float>", "<2 x double>",
     "<4 x i8>", "<8 x half>", "<2 x bfloat>", "<3 x i32>"],
)  # fmt: skip
def test_loads_and_stores_move_every_bit(type: str) -> None:
    kind = item(type)
    size = 16 if type == "<3 x i32>" else kind.itemsize
    raw = np.random.default_rng(4).integers(0, 256, (256, size), dtype=np.uint8)
    if type == "<3 x i32>":  # in memory it takes the room of four
        a = raw.reshape(-1).view(np.uint32).reshape(256, 4)
        body = "  %v = insertelement <4 x i32> %a, i32 0, i32 3\n  %s = shufflevector <4 x i32> %v, <4 x i32> %v, " \
               "<3 x i32> <i32 0, i32 1, i32 2>\n  %p = alloca <3 x i32>, align 16\n  store <3 x i32> %s, ptr %p\n" \
               "  %w = load <3 x i32>, ptr %p\n  %r = shufflevector <3 x i32> %w, <3 x i32> %w, " \
               "<4 x i32> <i32 0, i32 1, i32 2, i32 2>"  # fmt: skip
        found = evaluate(body, ["<4 x i32>"], "<4 x i32>", a)
        assert np.array_equal(found, a[:, [0, 1, 2, 2]])
        return
    base, shape = kind.subdtype if kind.subdtype else (kind, ())
    a = raw.reshape(-1).view(base).reshape(256, *shape)
    body = f"  %p = alloca {type}, align 16\n  store {type} %a, ptr %p, align 16\n  %r = load {type}, ptr %p, align 16"
    found = evaluate(body, [type], type, a)
    assert np.array_equal(np.ascontiguousarray(found).reshape(-1).view(np.uint8), raw.reshape(-1))


def test_underaligned_accesses_are_allowed_when_the_program_says_so() -> None:
    a = np.random.default_rng(5).integers(0, 2**63, 100, dtype=np.uint64)
    body = """
  %p = alloca [24 x i8], align 8
  %q = getelementptr i8, ptr %p, i64 3
  store i64 %a, ptr %q, align 1
  %d = load double, ptr %q, align 1
  store double %d, ptr %p, align 8
  %v = load <2 x i32>, ptr %p, align 4
  %r = bitcast <2 x i32> %v to i64"""
    assert np.array_equal(evaluate(body, ["i64"], "i64", a), a)


def test_structs_in_memory() -> None:
    a = np.arange(50, dtype=np.uint32)
    body = """
  %p = alloca { i8, i32, [2 x i16] }, align 4
  %s0 = insertvalue { i8, i32, [2 x i16] } zeroinitializer, i32 %a, 1
  %s1 = insertvalue { i8, i32, [2 x i16] } %s0, i16 9, 2, 1
  store { i8, i32, [2 x i16] } %s1, ptr %p
  %q = getelementptr i8, ptr %p, i64 4
  %x = load i32, ptr %q
  %s = load { i8, i32, [2 x i16] }, ptr %p
  %y = extractvalue { i8, i32, [2 x i16] } %s, 2, 1
  %yz = zext i16 %y to i32
  %r = add i32 %x, %yz"""
    assert np.array_equal(evaluate(body, ["i32"], "i32", a), a + 9)


def test_copies_and_fills(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
struct Big { int v[40]; };
__global__ void copy(const Big* in, Big* out, int n) {
    Big b = in[threadIdx.x];
    __shared__ Big s[4];
    s[threadIdx.x] = b;
    __syncthreads();
    out[threadIdx.x] = s[(threadIdx.x + 1) % 4];
    memset(&out[4 + threadIdx.x], threadIdx.x + 1, sizeof(Big));
    memcpy(&out[8], in, n);
    memmove(&out[8].v[1], &out[8].v[0], 40);
}""")
    data = np.random.default_rng(6).integers(0, 100, (4, 40), dtype=np.int32)
    out = np.zeros((9, 40), np.int32)
    assert launch(module, "copy", 1, 4, data, out, 100).fault is None
    assert np.array_equal(out[:4], np.roll(data, -1, axis=0))
    assert [hex(v) for v in out[4:8, 0]] == ["0x1010101", "0x2020202", "0x3030303", "0x4040404"]
    assert out[8, 0] == data[0, 0]


def test_local_arrays_are_private(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
__global__ void local(int* out, const int* order) {
    int a[16];
    for (int i = 0; i < 16; i++) a[i] = threadIdx.x * 100 + i;
    for (int i = 0; i < 16; i++) a[order[i]] += a[order[15 - i]] & 3;
    int sum = 0;
    for (int i = 0; i < 16; i++) sum += a[(order[i] + threadIdx.x) % 16] * (i + 1);
    out[threadIdx.x] = sum;
}""")
    order = np.random.default_rng(7).permutation(16).astype(np.int32)
    out = np.zeros(40, np.int32)
    assert launch(module, "local", 1, 40, out, order).fault is None
    for t in range(40):
        a = [t * 100 + i for i in range(16)]
        for i in range(16):
            a[order[i]] += a[order[15 - i]] & 3
        assert out[t] == sum(a[(order[i] + t) % 16] * (i + 1) for i in range(16))


def test_generic_pointers_choose_their_space_at_run_time(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
__device__ __noinline__ int sum(const int* p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
__constant__ int c[4] = {1, 2, 3, 4};
__device__ int g[4] = {10, 20, 30, 40};
__global__ void pick(int* out, const int* in, int which) {
    __shared__ int s[4];
    int l[4];
    for (int i = 0; i < 4; i++) { l[i] = 1000 * (i + which); s[i] = 100 * (i + 1); }
    __syncthreads();
    const int* all[] = {c, g, s, l, in};
    out[threadIdx.x] = sum(all[threadIdx.x], 4);
    out[5 + threadIdx.x] = __isShared(all[threadIdx.x]) + 2 * __isLocal(all[threadIdx.x]) + 4 * __isGlobal(all[threadIdx.x]);
}""")
    out = np.zeros(10, np.int32)
    result = launch(module, "pick", 1, 5, out, np.array([5, 6, 7, 8], np.int32), 0)
    assert result.fault is None, result.fault
    assert out[:5].tolist() == [10, 100, 1000, 6000, 26]
    assert out[6:].tolist() == [4, 1, 2, 4]


def test_shared_memory_is_laid_out_in_order() -> None:
    module = parse_module(
        HEADER
        + """
@a = internal addrspace(3) global [3 x i8] undef, align 1
@unused = internal addrspace(3) global [100 x i8] undef, align 1
@b = internal addrspace(3) global double undef, align 8
@dynamic = external addrspace(3) global [0 x i32], align 16
define ptx_kernel void @k(ptr %out) {
  %x = ptrtoint ptr addrspace(3) @a to i64
  %y = ptrtoint ptr addrspacecast (ptr addrspace(3) @b to ptr) to i64
  %z = ptrtoint ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @dynamic, i64 4) to i64
  store i64 %x, ptr %out
  %o1 = getelementptr i64, ptr %out, i64 1
  store i64 %y, ptr %o1
  %o2 = getelementptr i64, ptr %out, i64 2
  store i64 %z, ptr %o2
  ret void
}
"""
    )
    layout = shared_layout(module.function("k"))
    assert layout.offsets == {"a": 0, "b": 8, "dynamic": 16} and layout.static_bytes == 16
    assert layout.total(0) == 16 and layout.total(40) == 56
    with Arena() as arena:
        out = arena.allocate(24, "out")
        assert run_reference(module, "k", (1, 1, 1), (1, 1, 1), packed(np.uint64(out.address)), arena).fault is None
        assert arena.view(out, np.uint64).tolist() == [0, SHARED_BASE + 8, 20]


def test_memory_nobody_wrote_holds_the_poison_byte(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
__global__ void fresh(unsigned* out, int n) {
    __shared__ unsigned s[2];
    unsigned l[4];
    if (n == 1) { s[0] = 1; l[n] = 5; }
    out[blockIdx.x * 2] = s[n];
    out[blockIdx.x * 2 + 1] = l[n];
    s[n] = 7;
}""")
    out = np.zeros(4, np.uint32)
    assert launch(module, "fresh", 2, 1, out, 0).fault is None
    assert (out[::2] == 0xCDCDCDCD).all()


def test_variables_keep_their_values_between_launches(compiled: Compile, arena: Arena) -> None:
    module = compiled("""
struct Pair { char c; double d; const char* s; };
__device__ int counter = 5;
__device__ Pair pair = {'x', 2.5, "text"};
__constant__ float table[3] = {1.5f, 2.5f, 3.5f};
__global__ void step(double* out, int* length) {
    counter += 1;
    out[0] = counter;
    out[1] = pair.d + pair.c;
    out[2] = table[counter % 3];
    int n = 0;
    while (pair.s[n]) n++;
    *length = n;
}""")
    variables = load_variables(module, arena)
    out, length = arena.allocate(24, "out"), arena.allocate(4, "length")
    arguments = packed(np.uint64(out.address), np.uint64(length.address))
    name = kernel_named(module, "step")
    translation = Translation(module, name, variables)
    for counter in (6, 7, 8):
        assert run_reference(translation, name, (1, 1, 1), (1, 1, 1), arguments, arena).fault is None
        values = arena.view(out, np.float64).tolist()
        assert values == [counter, 2.5 + ord("x"), [1.5, 2.5, 3.5][counter % 3]]
    assert arena.view(length, np.int32)[0] == 4
    assert arena.view(variables.buffers["counter"], np.int32)[0] == 8
    assert not variables.buffers["table"].writable


# -- functions and parameters ------------------------------------------------------------------------------------------


def test_structs_by_value(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
struct Config { char tag; double scale; int offset[3]; };
__device__ __noinline__ double apply(Config c, int i) { c.offset[i % 3] += 1; return c.offset[i % 3] * c.scale; }
__global__ void scaled(double* out, Config c, short extra) {
    out[threadIdx.x] = apply(c, threadIdx.x) + c.tag + extra;
}""")
    out = np.zeros(6)
    config = np.zeros(1, np.dtype({"names": ["tag", "scale", "offset"], "formats": ["i1", "f8", "3i4"], "offsets": [0, 8, 16],
                                   "itemsize": 32}))  # fmt: skip
    config[0] = (3, 0.5, (10, 20, 30))
    assert launch(module, "scaled", 1, 6, out, config.tobytes(), np.int16(100)).fault is None
    assert out.tolist() == [(v + 1) * 0.5 + 103 for v in (10, 20, 30)] * 2


def test_functions_that_wait_are_called_like_others(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
__device__ __noinline__ int total(int* s, int v) {
    int local[2] = {v, v};
    s[threadIdx.x] = local[threadIdx.x & 1];
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < blockDim.x; i++) sum += s[i];
    __syncthreads();
    return sum;
}
__device__ __noinline__ int twice(int* s, int v) { int keep[4]; keep[v & 3] = v; return total(s, v) + total(s, keep[v & 3]); }
__global__ void sums(int* out) { __shared__ int s[64]; out[threadIdx.x] = twice(s, threadIdx.x); }
""")
    out = np.zeros(64, np.int32)
    assert launch(module, "sums", 1, 64, out).fault is None
    assert (out == 2 * sum(range(64))).all()


def test_functions_call_themselves(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
__device__ __noinline__ int odd(int n);
__device__ __noinline__ int even(int n) { return n == 0 ? 1 : odd(n - 1) * 3; }
__device__ __noinline__ int odd(int n) { return n == 0 ? 0 : even(n - 1) * 5; }
__global__ void k(int* out) { *out = even(*out); }
""")
    out = np.array([6], np.int32)
    assert launch(module, "k", 1, 1, out).fault is None
    assert out[0] == 15**3
    out = np.array([1 << 20], np.int32)
    fault = launch(module, "k", 1, 1, out).fault
    assert fault is not None and fault.kind == "stack" and "the stack of the thread is used up" in fault.message


def test_calls_through_pointers(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
__device__ __noinline__ int f(int x) { return x + 1; }
__device__ __noinline__ int g(int x) { return x * 2; }
__device__ int (*table[2])(int) = {f, g};
__global__ void k(int* out) { *out = table[*out & 1](7); }
""")
    for n, want in ((0, 8), (1, 14)):
        found = np.array([n], np.int32)
        launch(module, "k", 1, 1, found)
        assert found[0] == want


# -- faults ------------------------------------------------------------------------------------------------------------

ACCESS = """
__global__ void access(int* p, long long i, int mode) {
    __shared__ int s[8];
    int l[4] = {1, 2, 3, mode};
    if (mode == 0) p[i] = 1;
    if (mode == 1) p[0] = p[i];
    if (mode == 2) s[i] = mode;
    if (mode == 3) p[0] = l[i];
    if (mode == 4) *(int*)((char*)p + i) = 1;
    if (mode == 5) atomicAdd(&p[i], 1);
    if (mode == 6) ((int4*)p)[i] = make_int4(1, 2, 3, 4);
    if (mode == 2) p[0] = s[0];
}
"""


@pytest.mark.parametrize(
    ("mode", "index", "kind", "line", "words"),
    [
        (0, 100, "out-of-bounds", 5, "writes 4 bytes at .*, 0 bytes after the end of buffer 'data' \\(400 bytes\\)"),
        (0, -1, "out-of-bounds", 5, "4 bytes before the start of buffer 'data'"),
        (1, 103, "out-of-bounds", 6, "reads 4 bytes at .*, 12 bytes after the end of buffer 'data'"),
        (1, 1 << 40, "out-of-bounds", 6, "where no memory is"),
        (2, 8, "out-of-bounds", 7, "writes 4 bytes of shared memory at offset 32, 0 bytes after its end"),
        (2, -1, "out-of-bounds", 7, "memory"),
        (3, 4, "out-of-bounds", 8, "reads 4 bytes of local memory"),
        (4, 6, "misaligned", 9, "writes 4 bytes at .*, which is no multiple of 4"),
        (4, 398, "misaligned", 9, "no multiple of 4"),
        (5, 100, "out-of-bounds", 10, "writes 4 bytes"),
        (6, 25, "out-of-bounds", 11, "bytes at .*, 0 bytes after the end"),
    ],
)
def test_bad_accesses_are_named(
    compiled: Compile, arena: Arena, mode: int, index: int, kind: str, line: int, words: str
) -> None:
    module = compiled(ACCESS)
    data = arena.allocate(400, "data")
    arguments = packed(np.uint64(data.address), np.int64(index), np.int32(mode))
    fault = run_reference(module, kernel_named(module, "access"), (2, 1, 1), (3, 1, 1), arguments, arena).fault
    assert fault is not None and fault.kind == kind and fault.where is not None
    assert fault.where.line == line and fault.where.file.endswith(".cu")
    assert fault.thread == (0, 0, 0) and fault.block == (0, 0, 0) and "access" in fault.kernel
    assert re.search(words, fault.message), fault.message
    assert fault.buffer in ("data", "shared memory", "local memory", "")


def test_an_access_across_the_end_is_out_of_bounds(compiled: Compile, arena: Arena) -> None:
    module = compiled(ACCESS)
    data = arena.allocate(402, "data")
    arguments = packed(np.uint64(data.address), np.int64(100), np.int32(0))
    fault = run_reference(module, kernel_named(module, "access"), (1, 1, 1), (1, 1, 1), arguments, arena).fault
    assert fault is not None and "2 bytes across the end" in fault.message and fault.size == 4 and fault.write


@pytest.mark.parametrize("pointer", ["ptr addrspace(3)", "ptr"])
def test_misaligned_shared_memory_is_told_by_its_generic_address(pointer: str) -> None:
    address = "@s" if "3" in pointer else "addrspacecast (ptr addrspace(3) @s to ptr)"
    module = parse_module(f"""{HEADER}
@s = internal addrspace(3) global [16 x i8] undef, align 4
define ptx_kernel void @k() {{
  %p = getelementptr i8, {pointer} {address}, i64 6
  store i32 1, {pointer} %p, align 4
  ret void
}}
""")
    with Arena() as arena:
        fault = run_reference(module, "k", (1, 1, 1), (1, 1, 1), b"", arena).fault
    assert fault is not None and fault.kind == "misaligned" and fault.address == SHARED_BASE + 6 and fault.write


def test_null_freed_and_constant_memory(compiled: Compile, arena: Arena) -> None:
    module = compiled("""
__constant__ int table[4] = {1, 2, 3, 4};
__global__ void store(int* p) { *p = 1; }
__global__ void use(int* p, int i) { *p = table[i]; }
""")
    store = kernel_named(module, "store")
    variables = load_variables(module, arena)

    def run(kernel: str, *arguments: object) -> tuple[str, str]:
        result = run_reference(module, kernel, (1, 1, 1), (1, 1, 1), packed(*arguments), arena, variables=variables)
        assert result.fault is not None
        return result.fault.kind, result.fault.message

    kind, message = run(store, np.uint64(0))
    assert kind == "out-of-bounds" and "null" in message
    buffer = arena.allocate(64, "rows")
    arena.free(buffer)
    kind, message = run(store, np.uint64(buffer.address + 8))
    assert kind == "use-after-free" and "offset 8 of buffer 'rows', which is freed" in message
    kind, message = run(store, np.uint64(variables.addresses["table"] + 4))
    assert kind == "out-of-bounds" and "buffer 'table', which is constant" in message


def test_the_fault_names_the_thread_and_block_that_did_it(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
__global__ void k(int* p, int n) {
    int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
    p[i < n ? i : i + 1000] = i;
}""")
    out = np.zeros(96, np.int32)
    fault = launch(module, "k", (2, 2), (8, 4), out, 75).fault
    assert fault is not None and fault.thread == (3, 1, 0) and fault.block == (0, 1, 0)
    assert np.array_equal(out[:75], np.arange(75)) and (out[75:] == 0).all()


def test_traps_and_assertions(compiled: Compile, launch: Launcher) -> None:
    module = compiled("""
#include <cassert>
__global__ void k(int n) {
    assert(threadIdx.x < n && "too many threads");
    if (threadIdx.x == 3) __trap();
}""")
    fault = launch(module, "k", 1, 8, 2).fault
    assert (
        fault is not None
        and fault.kind == "assert"
        and "too many threads" in fault.message
        and fault.thread == (2, 0, 0)
    )
    fault = launch(module, "k", 1, 8, 20).fault
    assert fault is not None and fault.kind == "trap" and fault.thread == (3, 0, 0)


def test_impossible_launches_are_refused(compiled: Compile, launch: Launcher, arena: Arena) -> None:
    module = compiled("__global__ void k(int* p) { *p = 1; }")
    out = np.zeros(1, np.int32)
    for grid, block in (((0,), (1,)), ((1, 70000), (1,)), ((2**31,), (1,)), ((1,), (0,)), ((1,), (1, 1, 65))):
        with pytest.raises(DeviceError, match="cannot be launched"):
            launch(module, "k", grid, block, out)
    with pytest.raises(DeviceError, match="2048 threads per block"):
        launch(module, "k", 1, (64, 32), out)
    with pytest.raises(Misuse, match="takes 8 bytes of arguments, 4 were given"):
        launch(module, "k", 1, 1, 5)
    with pytest.raises(Misuse, match="no kernel 'other'; it has: "):
        run_reference(module, "other", (1, 1, 1), (1, 1, 1), b"", arena)


def test_reaching_the_unreachable_is_a_trap() -> None:
    module = parse_module(HEADER + "define ptx_kernel void @k() {\n  unreachable\n}\n")
    with Arena() as arena:
        fault = run_reference(module, "k", (1, 1, 1), (1, 1, 1), b"", arena).fault
    assert fault is not None and fault.kind == "trap"


def test_local_memory_ends_where_its_arrays_end() -> None:
    module = parse_module(
        HEADER
        + """
define ptx_kernel void @k(i64 %i) {
  %a = alloca [5 x i32], align 4
  %p = getelementptr i32, ptr %a, i64 %i
  store i32 1, ptr %p
  ret void
}
"""
    )
    with Arena() as arena:
        for index, faulty in ((4, False), (5, True)):
            result = run_reference(module, "k", (1, 1, 1), (1, 1, 1), packed(np.int64(index)), arena)
            assert (result.fault is not None) == faulty
