"""libdevice: found, pruned, cached, linked; and what a person is told when it is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.cache import cache_folder
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.errors import CompileError, Misuse, ToolError
from kernelwright.passes import libdevice
from kernelwright.passes.llvm import check
from kernelwright.passes.optimise import optimise
from tests.passes.listing import example

pytestmark = pytest.mark.skipif(libdevice.find_libdevice() is None, reason="no libdevice is installed")


def test_the_functions_a_module_calls() -> None:
    assert libdevice.called_functions(example("math")) == ("__nv_exp", "__nv_powf", "__nv_sin")
    assert libdevice.called_functions(example("figure7")) == ()


def test_linking_defines_what_is_called_and_keeps_it_internal() -> None:
    linked = libdevice.linked_text(example("math"))
    check(linked)
    assert libdevice.called_functions(linked) == ()
    assert "define internal double @__nv_sin(" in linked
    # 350 functions are in the library; the three and their helpers are a handful.
    assert linked.count("\ndefine ") < 15
    assert "define internal double @__nv_cos(" not in linked


def test_a_module_that_needs_nothing_is_left_alone() -> None:
    assert libdevice.linked_text(example("figure7")) == example("figure7")


def test_optimising_links_and_leaves_no_call_behind() -> None:
    best = optimise(example("math"))
    assert "@__nv_exp(" not in best and "@__nv_powf(" not in best


def test_the_users_own_definition_wins() -> None:
    own = 'target triple = "nvptx64-nvidia-cuda"\ndefine float @__nv_sinf(float %x) {\n  ret float 2.0\n}\n'
    calls = own + (
        "declare float @__nv_cosf(float)\ndefine ptx_kernel void @k(ptr %p) {\n  %s = call float @__nv_sinf(float 1.0)\n"
        "  %c = call float @__nv_cosf(float %s)\n  store float %c, ptr %p\n  ret void\n}\n"
    )
    linked = libdevice.linked_text(calls)
    assert linked.count("@__nv_sinf(float %x)") == 1
    assert "define float @__nv_sinf" in linked


def test_without_libdevice_the_functions_and_the_command_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libdevice, "find_libdevice", lambda cuda_path=None: None)
    with pytest.raises(ToolError) as error:
        optimise(example("math"))
    assert "__nv_exp, __nv_powf, __nv_sin," in str(error.value)
    assert "pip install nvidia-cuda-nvcc-cu12" in str(error.value)
    optimise(example("figure7"))


def test_a_function_that_nobody_defines() -> None:
    text = (
        "declare float @__nv_sinnf(float)\n"
        "define float @f(float %x) {\n  %y = call float @__nv_sinnf(float %x)\n  ret float %y\n}"
    )
    with pytest.raises(CompileError, match="no such device function: __nv_sinnf"):
        optimise(text)


def test_a_toolkit_without_libdevice_is_misuse(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"holds no nvvm/libdevice/libdevice\.10\.bc"):
        optimise(example("math"), cuda_path=tmp_path)


def test_a_damaged_libdevice_is_told(tmp_path: Path) -> None:
    path = tmp_path / "nvvm" / "libdevice" / libdevice.NAME
    path.parent.mkdir(parents=True)
    path.write_bytes(b"BC\xc0\xde, but not really")
    with pytest.raises(ToolError, match="is not readable bitcode"):
        optimise(example("math"), cuda_path=tmp_path)


def test_a_toolkit_is_used_when_it_is_named(tmp_path: Path) -> None:
    found = libdevice.find_libdevice()
    assert found is not None
    path = tmp_path / "nvvm" / "libdevice" / libdevice.NAME
    path.parent.mkdir(parents=True)
    path.symlink_to(found)
    assert libdevice.find_libdevice(tmp_path) == path
    assert optimise(example("math"), cuda_path=tmp_path) == optimise(example("math"))


def test_pruning_is_cached_and_a_corrupt_entry_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    libdevice._prune.cache_clear()
    first = libdevice.linked_text(example("math"))
    (entry,) = [p for p in cache_folder().rglob("*") if p.is_file()]
    whole = entry.read_bytes()
    entry.write_bytes(whole[:200] + b"\0" + whole[201:])
    libdevice._prune.cache_clear()
    assert libdevice.linked_text(example("math")) == first
    assert entry.read_bytes() == whole


def test_a_read_only_cache_only_costs_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(blocked))
    libdevice._prune.cache_clear()
    assert "define internal double @__nv_sin(" in libdevice.linked_text(example("math"))


def calls_of(intrinsic: str, kind: str, flags: str = "") -> str:
    arguments = ", ".join([f"{kind} %x"] * (2 if "pow" in intrinsic else 1))
    types = ", ".join([kind] * (2 if "pow" in intrinsic else 1))
    return (
        f"declare {kind} @{intrinsic}({types}) #0\ndeclare float @__nv_sinf(float)\n"
        f"define ptx_kernel void @k(ptr %p, {kind} %x) {{\n  %y = call {flags} {kind} @{intrinsic}({arguments})\n"
        f"  store {kind} %y, ptr %p\n  ret void\n}}\nattributes #0 = {{ nounwind }}\n"
    )


@pytest.mark.parametrize(
    "name", ["sin", "cos", "tan", "atan", "sinh", "tanh", "exp", "exp10", "log", "log2", "log10", "pow"]
)
@pytest.mark.parametrize(("kind", "suffix"), [("float", "f32"), ("double", "f64")])
def test_intrinsics_without_an_instruction_become_library_calls(name: str, kind: str, suffix: str) -> None:
    text = calls_of(f"llvm.{name}.{suffix}", kind)
    wanted = f"@__nv_{name}{'f' if kind == 'float' else ''}("
    changed = libdevice.library_calls(text)
    check(changed)
    assert f"call  {kind} {wanted}" in changed and changed.count("declare float @__nv_sinf") == 1
    emit_ptx(optimise(text), isolate=True)


@pytest.mark.parametrize("name", ["sin", "cos", "tanh"])
def test_an_approximation_keeps_its_instruction(name: str) -> None:
    text = calls_of(f"llvm.{name}.f32", "float", "afn")
    assert f"call afn float @llvm.{name}.f32" in libdevice.library_calls(text)
    assert f"{name}.approx.f32" in emit_ptx(optimise(text), isolate=True)


def test_other_intrinsics_are_left_alone() -> None:
    for intrinsic, kind in (("llvm.sqrt.f64", "double"), ("llvm.exp2.f32", "float"), ("llvm.fabs.f32", "float")):
        assert libdevice.library_calls(calls_of(intrinsic, kind)) == calls_of(intrinsic, kind)
    assert "@__nv_exp2(" in libdevice.library_calls(calls_of("llvm.exp2.f64", "double"))
