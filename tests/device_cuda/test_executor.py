"""A real GPU as an executor of cases, on the memory of an arena."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from kernelwright.device.real_gpu.cuda_executor import CudaExecutor, image_of
from kernelwright.device.real_gpu.worker import CudaWorker
from kernelwright.errors import CompileError
from kernelwright.evaluate.judging.case_runner import Runner, Stopped, by_kernel
from kernelwright.ir import parse_module
from kernelwright.launch import Launch

from .conftest import Fake

IR = """
target triple = "nvptx64-nvidia-cuda"
@table = addrspace(1) global [4 x float] zeroinitializer

define ptx_kernel void @add_one(ptr %p, i32 %n) {
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %in = icmp slt i32 %i, %n
  br i1 %in, label %body, label %end
body:
  %at = getelementptr float, ptr %p, i32 %i
  %x = load float, ptr %at
  %y = fadd float %x, 1.0
  store float %y, ptr %at
  br label %end
end:
  ret void
}

define ptx_kernel void @bounds() {
  store i32 0, ptr inttoptr (i64 16 to ptr)
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
"""


@pytest.fixture
def worker(fake: Fake) -> Iterator[CudaWorker]:
    with CudaWorker(timeout_s=30, folder=fake.cache) as made:
        yield made


def add_one(runner: Runner, arena: Arena) -> list[float]:
    data = arena.allocate(12, "data")
    arena.view(data, np.float32)[:] = [1, 2, 3]
    runner.launch(Launch("add_one", (1, 1, 1), (32, 1, 1), struct.pack("<Qi", data.address, 2)))
    return [float(x) for x in arena.view(data, np.float32)]


def test_a_launch_changes_the_arena(worker: CudaWorker) -> None:
    with Arena() as arena:
        runner = Runner(by_kernel(parse_module(IR)), CudaExecutor(worker), arena)
        assert add_one(runner, arena) == [2, 3, 3]


def test_a_fault_ends_the_case_and_the_next_one_runs(worker: CudaWorker) -> None:
    executor = CudaExecutor(worker)
    with Arena() as arena:
        runner = Runner(by_kernel(parse_module(IR)), executor, arena)
        with pytest.raises(Stopped) as stopped:
            runner.launch(Launch("bounds", (1, 1, 1), (1, 1, 1)))
        assert "an illegal memory access was encountered" in str(stopped.value.rejected)
        assert add_one(runner, arena) == [2, 3, 3]


def test_a_module_is_compiled_for_the_gpu_once(worker: CudaWorker, fake: Fake) -> None:
    module, executor = parse_module(IR), CudaExecutor(worker)
    assert executor.image(module) is executor.image(module)
    assert executor.image(module).data.startswith((b"\x7fELF", b"//"))


def test_code_that_does_not_compile_is_an_error() -> None:
    with pytest.raises(CompileError):
        image_of(IR.replace("ret void", 'call void asm sideeffect "nonsense;", ""()\n  ret void'), "sm_90")


# -- on a real GPU -------------------------------------------------------------------------------------------------------


@pytest.fixture
def gpu(real_gpu: None) -> Iterator[CudaWorker]:
    pytest.importorskip("llvmlite", reason="needs llvmlite", exc_type=ImportError)
    with CudaWorker(timeout_s=30) as made:
        yield made


@pytest.mark.gpu
def test_a_real_gpu_runs_a_kernel(gpu: CudaWorker) -> None:
    with Arena() as arena:
        assert add_one(Runner(by_kernel(parse_module(IR)), CudaExecutor(gpu), arena), arena) == [2, 3, 3]


@pytest.mark.gpu
def test_what_the_driver_says_of_a_kernel_is_what_the_assembler_said(gpu: CudaWorker) -> None:
    from kernelwright.codegen.machine.assemble import assemble, find_assemblers
    from kernelwright.codegen.machine.resources import resources
    from kernelwright.codegen.ptx import emit_ptx

    if not find_assemblers():
        pytest.skip("no assembler is installed")
    arch = gpu.info().arch
    made = assemble(emit_ptx(IR, arch), arch)
    assert gpu.facts(image_of(IR, arch), "add_one").registers == resources(made.data, made.log)["add_one"].registers
