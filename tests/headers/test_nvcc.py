"""NVIDIA's own compilers as judges: what we say is CUDA, nvcc compiles too, and what it comes to, ptxas accepts."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from .conftest import CudaCompiler
from .promises import GROUPS, source
from .test_libdevice import find_libdevice

pytestmark = pytest.mark.slow


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc on this machine")
@pytest.mark.parametrize("group", GROUPS)
def test_nvcc_knows_what_we_promise(group: str, tmp_path: Path) -> None:
    path = tmp_path / "calls.cu"
    path.write_text(source(group, nvcc=True))
    flags = ["-ptx", "-arch=sm_80", "-std=c++17", "-w", "--expt-relaxed-constexpr"]
    done = subprocess.run(
        ["nvcc", *flags, str(path), "-o", str(tmp_path / "calls.ptx")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[:3000]


def _ptx(ir: str, arch: str, libdevice: Path) -> str:
    """Optimised PTX with libdevice linked in."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    # Texture references are plain memory: see kernelwright/texture_reference.h.
    module = llvm.parse_assembly(re.sub(r"^!nvvm\.annotations = .*$", "", ir, flags=re.M))
    machine = llvm.Target.from_triple(module.triple).create_target_machine(cpu=arch, features="+ptx78", opt=3)
    library = llvm.parse_bitcode(libdevice.read_bytes())
    library.triple, library.data_layout = module.triple, module.data_layout
    names = {f.name for f in library.functions if not f.is_declaration}
    module.link_in(library)
    for function in module.functions:
        if function.name in names:
            function.linkage = "internal"
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(module, builder)
    return str(machine.emit_assembly(module))


@pytest.mark.skipif(shutil.which("ptxas") is None or find_libdevice() is None, reason="no ptxas or no libdevice")
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90"])
def test_ptxas_accepts_what_it_comes_to(arch: str, compile_cuda: CudaCompiler, tmp_path: Path) -> None:
    libdevice = find_libdevice()
    assert libdevice
    kept = 'extern "C" __device__ void keep(const void *p) { asm volatile("" ::"l"(p) : "memory"); }'
    text = source(*GROUPS).replace('extern "C" __device__ void keep(const void *);', kept)
    compiled = compile_cuda(text, arch=arch)
    assert compiled.ok, compiled.errors
    path = tmp_path / "calls.ptx"
    path.write_text(_ptx(compiled.ir, arch, libdevice))
    command = ["ptxas", f"-arch={arch}", "-c", str(path), "-o", str(tmp_path / "calls.cubin")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
