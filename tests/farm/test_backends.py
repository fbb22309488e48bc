"""Individuals through every back end: places that exist, results that are right where this machine can run them, culprits
named."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelwright.codegen.machine.cubin_elf import read_elf
from kernelwright.device.arena import Arena
from kernelwright.errors import KernelwrightError, Misuse, ToolError
from kernelwright.farm import Built, Raised
from kernelwright.farm.backends.backend import Image, Refused
from kernelwright.farm.backends.bundle import Frame, bundle
from kernelwright.farm.backends.host import Host, Loaded
from kernelwright.farm.backends.llvm_ir import LlvmIr
from kernelwright.farm.backends.nvrtc import Nvrtc
from kernelwright.farm.backends.optimised_ir import OptimisedIr
from kernelwright.farm.backends.outlined_operations import with_calls
from kernelwright.farm.backends.own_compiler import OwnCompiler
from kernelwright.farm.backends.prune_ptx import needed
from kernelwright.farm.backends.ptx import Ptx
from kernelwright.farm.backends.tree import Tree, texts
from kernelwright.farm.compile_population import build
from kernelwright.ir import parse_module
from tests.farm import problems
from tests.simt.harness import Case, cuda

GPU = [
    pytest.param(Ptx("sm_90"), problems.PTX, problems.ptx, id="ptx"),
    pytest.param(LlvmIr("sm_90"), problems.GPU_IR, problems.ir, id="llvm"),
    pytest.param(
        Nvrtc("sm_90"),
        problems.CUDA,
        problems.cuda,
        id="nvrtc",
        marks=pytest.mark.skipif(bool(Nvrtc().missing()), reason="NVRTC is not installed"),
    ),
]


@pytest.mark.parametrize(("backend", "frame", "individual"), GPU)
@pytest.mark.parametrize("level", ["quick", "full"])
def test_a_population_becomes_a_cubin_with_its_kernels(backend: Any, frame: Frame, individual: Any, level: Any) -> None:
    image = backend.compile([individual(n) for n in range(180)], frame, level)
    assert image.format == "cubin" and image.arch == "sm_90"
    kernels = {kernel for kernel, _ in image.places}
    symbols = {symbol.name for symbol in read_elf(image.data).symbols}
    assert kernels <= symbols
    assert len(set(image.places)) == 180
    for kernel in kernels:
        slots = [slot for k, slot in image.places if k == kernel]
        assert slots == list(range(len(slots)))


@pytest.mark.parametrize("level", ["quick", "full"])
def test_the_host_computes_what_it_should(level: Any) -> None:
    population = [problems.ir(n) for n in range(40)]
    image = Host().compile(population, problems.HOST_IR, level)
    out = (ctypes.c_int * problems.CASES)()
    with Loaded(image) as code:
        for n in range(40):
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address(n))(ctypes.addressof(out))
            assert list(out) == problems.expected(n)


@pytest.mark.parametrize("language", ["gpu-ir", "cuda"])
def test_bundles_compute_what_they_should_on_the_virtual_gpu(language: str, tmp_path: Path) -> None:
    count = 90
    if language == "cuda":
        made = bundle(problems.CUDA, [problems.cuda(n) for n in range(count)])
        module = cuda(made.text, str(tmp_path))
    else:
        header = 'target triple = "nvptx64-nvidia-cuda"'
        made = bundle(problems.GPU_IR, [problems.ir(n) for n in range(count)], header=header)
        module = parse_module(made.text)
    kernels = {name for name, _ in made.places}
    assert len(kernels) > 1
    for kernel in kernels:
        mine = [n for n, (name, _) in enumerate(made.places) if name == kernel]
        out = np.zeros((count, problems.CASES), np.int32)
        with Arena() as arena:
            run = Case(module, kernel, (1, len(mine), 1), problems.CASES, out, mine[0]).fast(arena)
        assert run.fault is None
        got = run.arrays[0].reshape(count, problems.CASES)
        assert got[mine].tolist() == [problems.expected(n) for n in mine]


def test_ptx_branches_to_each_individual_in_turn() -> None:
    made = bundle(problems.PTX, [problems.ptx(n) for n in range(8)])
    lines = made.text.splitlines()
    assert ".branchtargets I0, I1, I2, I3, I4, I5, I6, I7;" in made.text
    for (_, slot), start in zip(made.places, made.starts, strict=True):
        assert lines[start - 3 : start - 1] == [f"I{slot}:", "{"]


def test_a_line_knows_its_individual() -> None:
    population = ["one", "two\ntwo", "three\n", "four"]
    for frame in (problems.CUDA, problems.PTX, problems.GPU_IR, problems.HOST_IR):
        made = bundle(frame, population, header="first\nsecond")
        for number, line in enumerate(made.text.splitlines(), 1):
            found = made.owner(number)
            named = re.fullmatch("one|two|three|four", line)
            assert found == (["one", "two", "three", "four"].index(line) if named else None)


def test_kernels_are_of_a_good_size() -> None:
    def sizes(lines: int, count: int) -> list[int]:
        names = [kernel for kernel, _ in bundle(problems.CUDA, ["x;\n" * lines] * count).places]
        return [names.count(each) for each in dict.fromkeys(names)]

    assert sizes(1, 300) == [75] * 4
    assert sizes(1, 10) == [10]
    assert sizes(31, 300) == [20] * 15 or 14 <= len(sizes(31, 300)) <= 16
    assert sizes(5000, 3) == [1, 1, 1]
    assert sizes(1, 0) == []


BROKEN = [
    pytest.param(Ptx("sm_90"), problems.PTX, problems.ptx, "mov.u32 %nobody, 1;", "nobody", id="ptx"),
    pytest.param(LlvmIr("sm_90"), problems.GPU_IR, problems.ir, "  %r = add i32 %nobody, 1", "nobody", id="llvm"),
    pytest.param(Host(), problems.HOST_IR, problems.ir, "  %r = add i32 %nobody, 1", "nobody", id="host"),
    pytest.param(Nvrtc("sm_90"), problems.CUDA, problems.cuda, "r = nobody;", "nobody", id="nvrtc", marks=GPU[2].marks),
]


BROKEN += [
    pytest.param(OwnCompiler(), problems.CUDA, problems.cuda, "r = nobody;", "nobody", id="own"),
    pytest.param(OptimisedIr(), problems.GPU_IR, problems.ir, "  %r = add i32 %nobody, 1", "nobody", id="ir"),
]


@pytest.mark.parametrize(("backend", "frame", "individual", "wrong", "word"), BROKEN)
def test_individuals_that_do_not_compile_are_named_and_the_others_compile(
    backend: Any, frame: Frame, individual: Any, wrong: str, word: str
) -> None:
    population = [individual(n) for n in range(60)]
    population[7] = population[31] = wrong
    found = build(backend, frame, population, "quick")
    for n, each in enumerate(found):
        if n in (7, 31):
            assert isinstance(each, Raised)
            assert word in str(each.error)
            assert isinstance(each.error, KernelwrightError) and each.error.place is not None
            assert each.error.place.line == 1 and word in each.error.place.text
        else:
            assert isinstance(each, Built)
    places = [(each.kernel, each.slot) for each in found if isinstance(each, Built)]
    assert len(set(places)) == 58


@pytest.mark.skipif(bool(Nvrtc().missing()), reason="NVRTC is not installed")
@pytest.mark.parametrize("wrong", ["r = 1; }", "{ r = 1;", "r = (1;", "/* r = 1;", "r = 1; break;"])
def test_a_brace_too_many_is_blamed_on_nobody_else(wrong: str) -> None:
    population = [problems.cuda(n) for n in range(12)]
    population[5] = wrong
    found = build(Nvrtc("sm_90"), problems.CUDA, population, "quick")
    assert [n for n, each in enumerate(found) if isinstance(each, Raised)] in ([5], [])


def test_a_mistake_in_the_frame_is_nobodys() -> None:
    frame = Frame("ptx", problems.PTX.parameters, before="no.such.instruction;")
    with pytest.raises(Refused, match="refuses this PTX") as raised:
        Ptx("sm_90").compile([problems.ptx(1), problems.ptx(2)], frame)
    assert raised.value.individuals == {}


def test_an_individual_alone_takes_the_blame() -> None:
    frame = Frame("ptx", problems.PTX.parameters, before="no.such.instruction;")
    (found,) = build(Ptx("sm_90"), frame, [problems.ptx(1)], "quick")
    assert isinstance(found, Raised)


def test_math_functions_of_the_gpu_are_linked() -> None:
    body = "  %f = sitofp i32 %x to float\n  %s = call float @__nv_sinf(float %f)\n  %r = fptosi float %s to i32"
    assert LlvmIr("sm_90").compile([body], problems.GPU_IR).data[:4] == b"\x7fELF"


def test_expanded_operations_become_calls_where_there_are_many() -> None:
    one = "rem.s32 %v1, %x, 7;\n@%p div.rn.f64 %d, %e, 0d4000000000000000;\nsqrt.rn.f32 %f1,%f2;\nadd.s32 %v2, %v1, 1;"
    same, functions = with_calls([one])
    assert (same, functions) == ([one], "")
    changed, functions = with_calls([one] * 6)
    assert changed[0].splitlines() == [
        "call (%v1), kw_rem_s32, (%x, 7);",
        "@%p call (%d), kw_div_rn_f64, (%e, 0d4000000000000000);",
        "sqrt.rn.f32 %f1,%f2;",
        "add.s32 %v2, %v1, 1;",
    ]
    assert functions.count(".func") == 2
    body = ".reg .b32 %q;\nrem.s32 %q, %x, 7;\nadd.s32 %r, %q, 1;"
    assert Ptx("sm_90").compile([body] * 20, problems.PTX).data[:4] == b"\x7fELF"


HEAD = """
.func (.param .b32 r) slow
(
\t.param .b32 slow_param_0
)
;
.global .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
.const .f32 half = 0f3F000000;
.func  (.param .b32 r) f(
\t.param .b32 a
)
{
{ mov.u64 %rd, table; }
}
.func  (.param .b32 r) g(.param .b32 a)
{
call slow, (a);
}
.func  (.param .b32 r) slow(
\t.param .b32 slow_param_0
)
{
ret;
}
.extern .shared .b8 memory[];
"""


@pytest.mark.parametrize(
    ("user", "kept"),
    [
        ("call (r), f, (a0);", ["table", "f", "memory"]),
        ("call (r), g, (a0);", ["slow_param_0", "g", "memory"]),
        ("mov.f32 %a, half;", ["half", "memory"]),
        ("mov.f32 %f, %g;call (r), ff, (a);", ["memory"]),
    ],
)
def test_functions_and_tables_that_nobody_uses_are_left_out(user: str, kept: list[str]) -> None:
    left = needed(HEAD, [user])
    names = {"table[8] =": "table", "half =": "half", " f(": "f", " g(": "g", "slow_param_0": "slow_param_0"}
    assert sorted([*(name for word, name in names.items() if word in left), "memory"]) == sorted(kept)
    assert "memory[]" in left and left.count(") slow") == 2 * ("slow_param_0" in kept)
    assert needed(HEAD, ["f g half"]) == HEAD.rstrip("\n") and needed("", [user]) == ""


def test_interpreted_individuals_stay_text() -> None:
    image = Tree().compile(["x + 1", "x"], Frame("tree"))
    assert texts(image) == ["x + 1", "x"] and [slot for _, slot in image.places] == [0, 1]
    with pytest.raises(ToolError, match="not interpreted"):
        texts(Image("cubin", b"", ()))
    with pytest.raises(Misuse, match="not compiled"):
        bundle(Frame("tree"), ["x"])


def test_only_an_object_file_is_loaded() -> None:
    with pytest.raises(ToolError, match="cubin"):
        Loaded(Image("cubin", b"", ()))
