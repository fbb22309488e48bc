"""Kernels on NumPy arrays: ``kw.Device``."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import kernelwright as kw
from kernelwright.device.schedule import Schedule
from kernelwright.device.virtual_gpu.gpu import Launched
from kernelwright.errors import CompileError, DeviceError, Misuse
from kernelwright.pipeline import Program

SOURCE = r"""
#include <cstdio>
struct Pair { double a; int b; };
__constant__ float weights[4] = {1, 2, 3, 4};
__device__ int calls;
namespace net { template <class T> __global__ void scale(T *x, T by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
} }
template __global__ void net::scale<float>(float *, float, int);
template __global__ void net::scale<double>(double *, double, int);
extern "C" {
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
__global__ void weigh(float *x) { x[threadIdx.x] *= weights[threadIdx.x % 4]; atomicAdd(&calls, 1); }
__global__ void shift(int *from, int *to, int n) { if (threadIdx.x < n) to[threadIdx.x] = from[threadIdx.x]; }
__global__ void mixed(char c, Pair pair, bool yes, unsigned long long big, double *out)
{
    out[0] = c; out[1] = pair.a; out[2] = pair.b; out[3] = yes; out[4] = big;
}
__global__ void spin(volatile int *flag) { while (*flag == 0) clock64(); }
__global__ void hello() { printf("thread %d\n", (int)threadIdx.x); }
__global__ void last(int *who) { *who = blockIdx.x; }
__global__ void strange() { asm volatile("brkpt;"); }
__global__ void at(int *box) { extern __shared__ int room[]; room[threadIdx.x] = 1; box[0] = room[threadIdx.x]; }
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    path = tmp_path_factory.mktemp("api") / "kernels.cu"
    path.write_text(SOURCE)
    return kw.compile(path)


@pytest.fixture
def device() -> Iterator[kw.Device]:
    with kw.Device("a100") as device:
        yield device


def test_arrays_are_changed_in_place(program: Program, device: kw.Device) -> None:
    a = np.arange(1000, dtype=np.float32)
    b, c = 2 * a, np.zeros_like(a)
    done = device.launch(program.kernel("add"), 4, 256, (a, b, c, 1000))
    assert done.fault is None and (c == 3 * a).all()
    assert done.result.executions.sum() > 0 and (done.grid, done.block) == ((4, 1, 1), (256, 1, 1))
    assert device.name == "a100"


def test_kernels_by_the_names_people_use(program: Program) -> None:
    assert program.kernel("net::scale<float>").name == "_ZN3net5scaleIfEEvPT_S1_i"
    assert program.kernel("_ZN3net5scaleIdEEvPT_S1_i").name == "_ZN3net5scaleIdEEvPT_S1_i"
    assert program.kernel("add").name == "add"
    with pytest.raises(Misuse, match="2 kernels are called 'scale'"):
        program.kernel("scale")
    with pytest.raises(Misuse, match="there is no kernel 'ad'"):
        program.kernel("ad")


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_any_shape_and_order(program: Program, device: kw.Device, order: str) -> None:
    x = np.arange(24, dtype=np.float64).reshape(2, 3, 4).copy(order=order)  # type: ignore[call-overload]
    want = 3 * x
    device.launch(program.kernel("net::scale<double>"), (1,), (32, 1), (x, 3, 24))
    assert (x == want).all()


def test_arrays_that_share_memory_share_it_on_the_device(program: Program, device: kw.Device) -> None:
    whole = np.arange(8, dtype=np.int32)
    # One block of eight threads reads all before it writes: as memmove would.
    device.launch(program.kernel("shift"), 1, 8, (whole[:6], whole[2:], 6))
    assert whole.tolist() == [0, 1, 0, 1, 2, 3, 4, 5]
    same = np.full(4, 2, np.float32)
    device.launch(program.kernel("add"), 1, 4, (same, same, same, 4))
    assert same.tolist() == [4] * 4


def test_arguments_of_every_kind(program: Program, device: kw.Device) -> None:
    pair = np.zeros((), np.dtype([("a", "f8"), ("b", "i4")], align=True))
    pair["a"], pair["b"] = 1.5, -2
    out = np.zeros(5)
    device.launch(program.kernel("mixed"), 1, 1, (np.int8(-7), pair[()], True, 2**63, out))
    assert out.tolist() == [-7, 1.5, -2, 1, 2.0**63]


WRONG = {
    "too few": (lambda a: (a, a), "takes 4 arguments, 2 were given"),
    "a float for an int": (
        lambda a: (a, a, a, 2.5),
        "argument 'n' .number 3. of kernel 'add' is 2.5, a real number; the parameter is int",
    ),
    "too large": (lambda a: (a, a, a, 2**32), "argument 'n' .number 3. of kernel 'add' is 4294967296"),
    "an array for a number": (
        lambda a: (a, a, a, a),
        "argument 'n' .*an array of float32, shape .4,.; the parameter is int",
    ),
    "a number for an array": (
        lambda a: (1.5, a, a, 4),
        "argument 'a' .number 0. of kernel 'add' is the number 1.5; the parameter is const float.",
    ),
    "a list": (lambda a: (a.tolist(), a, a, 4), "argument 'a' .*is a list; the parameter is const float."),
    "a text": (lambda a: (a, "b", a, 4), "argument 'b' .*is a str"),
    "double precision": (
        lambda a: (a.astype(float), a, a, 4),
        "is an array of float64, shape .4,.; the parameter is const",
    ),
    "whole numbers": (lambda a: (a, a, a.astype(np.int32), 4), "argument 'c' .*int32.*; the parameter is float."),
    "a complex number": (lambda a: (a, a, a, 1j), "argument 'n' .*1j"),
    "an object": (lambda a: (object(), a, a, 4), "argument 'a' .*is a object"),
    "nothing for a number": (lambda a: (a, a, a, None), "argument 'n' .*is None"),
    "strided": (lambda a: (a[::2], a, a, 2), "not contiguous"),
    "objects": (lambda a: (a.astype(object), a, a, 2), "cannot go to a device"),
    "foreign byte order": (lambda a: (a.astype(">f4"), a, a, 2), "cannot go to a device"),
}


@pytest.mark.parametrize("name", WRONG)
def test_arguments_that_do_not_fit(program: Program, device: kw.Device, name: str) -> None:
    arguments, text = WRONG[name]
    with pytest.raises(Misuse, match=text):
        device.launch(program.kernel("add"), 1, 4, arguments(np.zeros(4, np.float32)))


def test_geometry_that_does_not_fit(program: Program, device: kw.Device) -> None:
    with pytest.raises(DeviceError, match="2000 threads"):
        device.launch(program.kernel("hello"), 1, (1000, 2))
    with pytest.raises(DeviceError, match="at most"):
        device.launch(program.kernel("hello"), (1, 70000), 1)
    with pytest.raises(Misuse, match=r"grid .* is not one to three numbers"):
        device.launch(program.kernel("hello"), (1, 1, 1, 1), 1)
    for wrong in ((4.5,), "4", (1, "a"), None, (True,), (), [4.0]):
        with pytest.raises(Misuse, match=r"the grid .* (no whole number|not one to three numbers)"):
            device.launch(program.kernel("hello"), wrong, 1)  # type: ignore[arg-type]
    with pytest.raises(Misuse, match="the block"):
        device.launch(program.kernel("hello"), 1, 1.5)  # type: ignore[arg-type]
    with pytest.raises(CompileError, match="brkpt"):
        device.launch(program.kernel("strange"), 1, 1)


def test_a_fault_is_a_result(program: Program, device: kw.Device) -> None:
    a, b, c = (np.ones(100, np.float32) for _ in range(3))
    done = device.launch(program.kernel("add"), 1, 128, (a, b, c, 128))
    assert (
        done.fault is not None and done.fault.kind == "out-of-bounds" and done.fault.buffer == "c" and done.fault.write
    )
    assert done.fault.thread == (100, 0, 0) and done.fault.where is not None
    # The device is as good as before.
    assert device.launch(program.kernel("add"), 1, 128, (a, b, c, 100)).fault is None


def test_reads_past_an_array_are_told_or_stop_a_strict_device(program: Program, device: kw.Device) -> None:
    a, b, c = np.ones(100, np.float32), np.ones(100, np.float32), np.zeros(128, np.float32)
    done = device.launch(program.kernel("add"), 1, 128, (a, b, c, 128))
    assert done.fault is None and isinstance(done, Launched)
    assert c.tolist() == [2.0] * 100 + [0.0] * 28
    assert {(one.buffer.name, one.count, one.farthest) for one in done.overreads} == {("a", 28, 112), ("b", 28, 112)}
    with kw.Device("a100", strict=True) as strict:
        done = strict.launch(program.kernel("add"), 1, 128, (a, b, c, 128))
    assert done.fault is not None and done.fault.kind == "out-of-bounds" and done.fault.buffer == "a"
    with pytest.raises(Misuse, match="--strict works on a virtual GPU"):
        kw.Device("cuda:0", strict=True)


def test_a_read_only_array_is_read_only(program: Program, device: kw.Device) -> None:
    x = np.ones(4, np.float32)
    x.flags.writeable = False
    done = device.launch(program.kernel("net::scale<float>"), 1, 4, (x, 2.0, 4))
    assert done.fault is not None and "constant" in done.fault.message and x.tolist() == [1] * 4


def test_a_launch_reads_as_a_person_would_say_it(program: Program, device: kw.Device) -> None:
    x = np.ones(4, np.float32)
    scale = program.kernel("net::scale<float>")
    done = device.launch(scale, 2, 32, (x, np.float32(3), 4))
    assert repr(done) == f"<launched net::scale<float>, grid (2, 1, 1), block (32, 1, 1): {done.time_us:.4g} us>"
    wrong = device.launch(scale, 1, 32, (x, np.float32(3), 5))
    assert (
        repr(wrong).startswith("<launched net::scale<float>") and "fault: " in repr(wrong) and "_Z" not in repr(wrong)
    )


def test_the_package_lists_its_names_before_they_are_loaded() -> None:
    assert {"compile", "Device", "Run", "evolve", "breed", "Misuse"} <= set(dir(kw))


def test_none_is_the_null_pointer_and_empty_arrays_have_no_memory(program: Program, device: kw.Device) -> None:
    done = device.launch(program.kernel("last"), 1, 1, (None,))
    assert done.fault is not None and "null" in done.fault.message
    assert device.launch(program.kernel("add"), 1, 4, (np.zeros(0, np.float32),) * 3 + (0,)).fault is None


def test_variables_stay_and_can_be_written(program: Program, device: kw.Device) -> None:
    weigh = program.kernel("weigh")
    x = np.ones(4, np.float32)
    device.launch(weigh, 1, 4, (x,))
    assert x.tolist() == [1, 2, 3, 4]
    device.variable(weigh, "weights", np.float32)[:] = 10
    device.launch(weigh, 1, 4, (x,))
    assert x.tolist() == [10, 20, 30, 40]
    assert device.variable(weigh, "calls", np.int32)[0] == 8
    with pytest.raises(Misuse, match="no device variable 'nope'"):
        device.variable(weigh, "nope")


def test_printed_text_and_shared_memory(program: Program, device: kw.Device) -> None:
    assert device.launch(program.kernel("hello"), 1, 2).text == "thread 0\nthread 1\n"
    box = np.zeros(1, np.int32)
    assert device.launch(program.kernel("at"), 1, 32, (box,), shared_bytes=128).fault is None and box[0] == 1
    done = device.launch(program.kernel("at"), 1, 32, (box,), shared_bytes=124)
    assert done.fault is not None and done.fault.buffer == "shared memory"


def test_schedules(program: Program, device: kw.Device) -> None:
    who = np.zeros(1, np.int32)
    device.launch(program.kernel("last"), 5, 1, (who,))
    assert who[0] == 4
    device.launch(program.kernel("last"), 5, 1, (who,), schedule=Schedule.reverse())
    assert who[0] == 0


def test_the_same_launch_twice_gives_the_same_figures(program: Program, device: kw.Device) -> None:
    a = np.ones(5000, np.float32)
    first, second = (device.launch(program.kernel("add"), 20, 256, (a, a, np.zeros_like(a), 5000)) for _ in range(2))
    assert (first.result.sectors == second.result.sectors).all() and first.time_us == second.time_us


@pytest.mark.parametrize("limit", ["budget", "time", "interrupt"])
def test_a_kernel_that_does_not_end(program: Program, limit: str) -> None:
    more = {"budget": {"budget": 1000}, "time": {"timeout_s": 0.2}, "interrupt": {}}[limit]
    with kw.Device("h200", **more) as device:  # type: ignore[arg-type]
        flag = np.zeros(1, np.int32)
        began = time.monotonic()
        if limit == "interrupt":
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            with pytest.raises(KeyboardInterrupt):
                device.launch(program.kernel("spin"), 1, 1, (flag,))
        else:
            done = device.launch(program.kernel("spin"), 1, 1, (flag,))
            assert done.fault is not None and done.fault.kind == "endless"
        assert time.monotonic() - began < 10
        assert device.launch(program.kernel("hello"), 1, 1).fault is None


def test_devices_by_name() -> None:
    with kw.Device("v100") as device:
        assert device.name == "v100"
    with pytest.raises(Misuse, match="unknown GPU 'b300'"):
        kw.Device("b300")


def test_two_devices_do_not_meet(program: Program) -> None:
    with kw.Device("h200") as one, kw.Device("h200") as two:
        weigh = program.kernel("weigh")
        one.variable(weigh, "weights", np.float32)[:] = 0
        x = np.ones(4, np.float32)
        two.launch(weigh, 1, 4, (x,))
        assert x.tolist() == [1, 2, 3, 4]


def test_several_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        text = f'__global__ void same(int *p) {{ *p = {ord(name)}; }}\nextern "C" __global__ void only_{name}() {{}}\n'
        (tmp_path / f"{name}.cu").write_text(text)
    program = kw.compile([tmp_path / "a.cu", tmp_path / "b.cu"])
    assert program.kernel("only_b").unit.path.name == "b.cu"
    with pytest.raises(Misuse, match="2 kernels are called 'same'"):
        program.kernel("same")
