"""The tables of a blob against what LLVM's own code generator declares in PTX for the same module."""

from __future__ import annotations

import re
import struct

import llvmlite.binding as llvm
import pytest

from kernelwright.cuda.blob import Kernel, ParameterKind, Variable
from kernelwright.cuda.frontend import SourceOptions, device_pass
from kernelwright.cuda.kernel_table import tables
from kernelwright.errors import CompileError, IRError

from .conftest import Builder

SOURCE = """
struct Pair { char tag; double value; };
struct Small { char c[5]; };
struct Nested { Pair pair; short s; };
struct Empty {};
template <class T> struct Box { T inner; };
typedef float two __attribute__((ext_vector_type(2)));
__device__ int counter; __constant__ double table[3]; __managed__ int level = 7;
struct Mixed { int a; float b[3]; const char *s; };
__managed__ Mixed mixed_initial = {1, {2, 3, 4}, nullptr};
__managed__ long zero[2];
static __device__ char used;
__global__ void scalars(char a, short b, bool c, int d, long long e, float f, double g, unsigned char h) { counter = used; }
__global__ void aggregates(Pair p, Small s, char c, Nested n, Empty e, float4 v, double2 w, dim3 d, Box<Pair> b) {}
__global__ void pointers(int *a, const Pair *b, void **c, char d, double *e) {}
__global__ void odd(__int128 a, char b, two c, char3 d, uchar4 e, short4 f) {}
__global__ void __launch_bounds__(128, 3) bounded() {}
__global__ void nothing() {}
template <class T> __global__ void generic(T a, Box<T> b) {}
template __global__ void generic<Nested>(Nested, Box<Nested>);
"""


@pytest.fixture(scope="module")
def ir(builder: Builder) -> str:
    source = builder.write("table.cu", SOURCE + "int use() { int h; return cudaMemcpyToSymbol(used, &h, 1); }\n")
    return device_pass(source, SourceOptions(), builder.clang).text


@pytest.fixture(scope="module")
def ptx(ir: str) -> str:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple("nvptx64-nvidia-cuda").create_target_machine(cpu="sm_80")
    return str(target.emit_assembly(llvm.parse_assembly(ir, llvm.create_context())))


def declared_in_ptx(ptx: str) -> dict[str, list[tuple[int, int]]]:
    """Kernel -> (offset, size) of its parameters, by PTX's rule: each at the next multiple of its alignment."""
    found = {}
    for name, text in re.findall(r"\.entry (\w+)\(([^)]*)\)", ptx):
        at, places = 0, []
        for line in text.split(","):
            array = re.search(r"\.align (\d+) \.b8 \w+\[(\d+)\]", line)
            scalar = re.search(r"\.param \.[a-z](\d+)", line)
            if array is None and scalar is None:
                continue
            alignment, size = (int(array[1]), int(array[2])) if array else (int(scalar[1]) // 8,) * 2  # type: ignore[index]
            at = -(-at // alignment) * alignment
            places.append((at, size))
            at += size
        found[name] = places
    return found


def test_parameters_lie_where_ptx_has_them(ir: str, ptx: str) -> None:
    kernels, _ = tables(ir)
    ours = {k.name: [(p.offset, p.size) for p in k.parameters] for k in kernels}
    theirs = declared_in_ptx(ptx)
    assert len(ours) == 7 and set(ours) == set(theirs)
    for name, places in theirs.items():
        # PTX has no 8-bit parameters: LLVM declares chars and bools as .b8 arrays or wider; offsets must agree all the same.
        assert [p[0] for p in ours[name]] == [p[0] for p in places], name
        assert all(mine[1] <= their[1] for mine, their in zip(ours[name], places, strict=True)), name


def test_sizes_kinds_and_bounds(ir: str) -> None:
    kernels = {k.name: k for k in tables(ir)[0]}
    aggregates = kernels["_Z10aggregates4Pair5Smallc6Nested5Empty6float47double24dim33BoxIS_E"]
    assert [p.size for p in aggregates.parameters] == [16, 5, 1, 24, 1, 16, 16, 12, 16]
    value, pointer, structure = ParameterKind.VALUE, ParameterKind.POINTER, ParameterKind.STRUCTURE
    assert [p.kind for p in aggregates.parameters] == [structure, structure, value, *[structure] * 6]
    pointers = kernels["_Z8pointersPiPK4PairPPvcPd"]
    assert [p.kind for p in pointers.parameters] == [pointer, pointer, pointer, value, pointer]
    assert kernels["_Z7boundedv"] == Kernel("_Z7boundedv", max_threads=128, min_blocks=3)
    assert kernels["_Z7nothingv"] == Kernel("_Z7nothingv")
    scalars = next(k for n, k in kernels.items() if "scalars" in n)
    assert [p.size for p in scalars.parameters] == [1, 2, 1, 4, 8, 4, 8, 1]


def test_variables(ir: str) -> None:
    variables = {v.name: v for v in tables(ir)[1]}
    assert variables["counter"] == Variable("counter", 4, 4)
    assert variables["table"] == Variable("table", 24, 8, is_constant=True)
    assert variables["_ZL4used"] == Variable("_ZL4used", 1, 1)
    assert variables["level"] == Variable("level", 4, 4, is_managed=True, initial=struct.pack("<i", 7))
    assert variables["zero"] == Variable("zero", 16, 8, is_managed=True)
    assert variables["mixed_initial"].initial == struct.pack("<i3fQ", 1, 2, 3, 4, 0)
    assert set(variables) == {"counter", "table", "_ZL4used", "level", "zero", "mixed_initial"}


def test_the_same_module_twice_gives_the_same_tables(ir: str) -> None:
    # LLVM renames structures that a context has already; nothing of one call may be seen by the next.
    assert tables(ir) == tables(ir)


def test_an_address_as_initial_value_is_refused() -> None:
    text = (
        'target datalayout = "e-i64:64"\n@other = addrspace(1) global i32 0\n'
        '@m = addrspace(1) externally_initialized global ptr addrspace(1) @other, section "kw_managed", align 8\n'
    )
    with pytest.raises(CompileError, match="the managed variable m is initialised with the address of something else"):
        tables(text)


def test_text_that_is_no_ir() -> None:
    with pytest.raises(IRError, match=r"the device code is not LLVM-IR"):
        tables("define nonsense")
