"""Packing arguments, and what a runner makes of kernels that fail."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from kernelwright.device.arena import Arena
from kernelwright.device.arguments import pack
from kernelwright.device.reference import execute_reference
from kernelwright.errors import CompileError, DeviceError, Misuse
from kernelwright.evaluate.judging.case_runner import Runner, Stopped, by_kernel, kernel_called, triple
from kernelwright.evaluate.outcome import Rejected
from kernelwright.ir import Function, parse_module
from kernelwright.launch import Launch
from tests.evaluate import kernels

MIXED = """
define ptx_kernel void @mixed(ptr %p, i8 %b, double %d, i16 %s, half %h, i64 %l, ptr byval({ i32, float, i8 }) align 4 %r) {
  ret void
}
"""


def mixed() -> Function:
    return parse_module(MIXED).functions["mixed"]


def test_arguments_lie_where_the_layout_says() -> None:
    struct_bytes = struct.pack("<ifb3x", -7, 2.5, 3)
    found = pack(mixed(), [0x4000_0000_1000, -1, 0.1, np.uint16(65535), np.float16(1.5), -2, struct_bytes])
    assert struct.unpack_from("<Qb7xdHe4xqifb", found) == (0x4000_0000_1000, -1, 0.1, 65535, 1.5, -2, -7, 2.5, 3)


@pytest.mark.parametrize(
    ("number", "argument"),
    [(0, 1.5), (1, 256), (1, -129), (2, b"1234"), (3, 1 << 16), (4, 1e6), (5, 1 << 64), (5, 2.0), (6, b"short"),
     (2, np.complex64(1)), (6, 3)],
)  # fmt: skip
def test_an_argument_that_does_not_fit_is_named(number: int, argument: object) -> None:
    arguments: list[object] = [0, 0, 0, 0, 0, 0, bytes(12)]
    arguments[number] = argument
    with pytest.raises(Misuse, match=rf"argument '\w+' \(number {number}\) of kernel 'mixed'"):
        pack(mixed(), arguments)  # type: ignore[arg-type]


def test_too_few_arguments() -> None:
    with pytest.raises(Misuse, match="takes 7 arguments, 2 were given"):
        pack(mixed(), [0, 0])


def test_kernels_by_the_name_in_the_source() -> None:
    modules = by_kernel(kernels.module())
    assert kernel_called(modules, "scale") == "_Z5scalePKfPffi"
    assert kernel_called(modules, "add") == "add"
    with pytest.raises(Misuse, match="no kernel is called 'scal'") as wrong:
        kernel_called(modules, "scal")
    assert "_Z5scale" in str(wrong.value)
    two = {"_Z1kIfEvT_": modules["add"], "_Z1kIdEvT_": modules["add"]}
    with pytest.raises(Misuse, match="several"):
        kernel_called(two, "k")


def test_triples() -> None:
    assert triple((3,)) == (3, 1, 1) and triple((1, 2, 3)) == (1, 2, 3)
    for wrong in ((), (1, 2, 3, 4)):
        with pytest.raises(Misuse):
            triple(wrong)


def stop_of(
    kernel: str, grid: int = 1, block: int = 8, budget: int = 1000, executor: object = execute_reference
) -> Rejected:
    with Arena() as arena:
        out = arena.allocate(16, "out", fill=0)
        runner = Runner(by_kernel(kernels.module()), executor, arena, budget=budget)  # type: ignore[arg-type]
        arguments = struct.pack("<Q", out.address).ljust(16, b"\0")
        with pytest.raises(Stopped) as stopped:
            runner.launch(Launch(kernel, (grid, 1, 1), (block, 1, 1), arguments))
        return stopped.value.rejected


def test_failures_become_rejections() -> None:
    assert stop_of("add").stage == "fault"  # eight threads, four elements
    assert "out" in stop_of("add").reason
    assert stop_of("spin").stage == "timeout"
    assert stop_of("last", block=2000).stage == "launch"


@pytest.mark.parametrize(("error", "stage"), [(CompileError("no"), "compile"), (DeviceError("no"), "launch")])
def test_what_an_executor_raises(error: Exception, stage: str) -> None:
    def executor(*arguments: object, **options: object) -> None:
        raise error

    assert stop_of("add", executor=executor) == Rejected(stage, "no")


def test_a_host_that_launches_for_ever() -> None:
    with Arena() as arena:
        out = arena.allocate(64, "out", fill=0)
        runner = Runner(by_kernel(kernels.module()), execute_reference, arena, launches=5)
        arguments = struct.pack("<Qi", out.address, 1)
        with pytest.raises(Stopped, match="more than 5 kernels"):
            while True:
                runner.launch(Launch("add", (1, 1, 1), (4, 1, 1), arguments))
        assert arena.view(out, np.int32)[0] == 5


def test_device_variables_keep_their_values_between_launches() -> None:
    with Arena() as arena:
        out = arena.allocate(16, "out", fill=0)
        runner = Runner(by_kernel(kernels.module("count")), execute_reference, arena)
        for times in range(3):
            runner.launch(Launch("count", (1, 1, 1), (1, 1, 1), struct.pack("<Q", out.address)))
            assert arena.view(out, np.float32)[0] == 1 + times
