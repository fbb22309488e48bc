"""Calls to the driver, through NVIDIA's own binding, against a stand-in for the driver's library."""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Callable

import pytest

from kernelwright.device.real_gpu import driver as cuda_driver
from kernelwright.device.real_gpu.driver import Driver, DriverError
from kernelwright.errors import ToolError

from .conftest import Fake

Python = Callable[[str], str]

START = """
import ctypes, json, struct
from kernelwright.device.real_gpu.gpu import *
from kernelwright.device.real_gpu.driver import *
from kernelwright.errors import *
from kernelwright.launch import Launch
gpu = CudaGpu(0)
module = gpu.load("MODULE", "a.cu")
"""


def test_a_launch_makes_these_calls_in_this_order(python: Python, fake: Fake) -> None:
    code = """
data = gpu.allocate(400)
gpu.write(data, bytes(400))
done = gpu.launch(module, Launch("add_one", (2, 3, 1), (32, 2, 1), struct.pack("<Qi", data, 100), 64))
print(done.fault, done.time_us, struct.unpack("<100f", gpu.read(data, 400))[::99], data)
gpu.free(data)
gpu.unload(module)
gpu.close()
"""
    said = python(START + code).split()
    assert said[:4] == ["None", "10.0", "(1.0,", "1.0)"]
    address = int(said[4])
    calls = [c for c in fake.calls if not c.startswith("attribute")]
    packed = struct.pack("<Qi", address, 100).hex()
    # CU_LAUNCH_PARAM_BUFFER_POINTER is 1, _SIZE 2, _END 0.
    launch = f"launch add_one 2,3,1 32,2,1 shared 64 stream (nil) arguments {packed} 1 2 0"
    order = ["init", "context 0", "load MODULE", "allocate 400", "write 400", "function add_one", "record", launch]
    assert calls == [*order, "record", "synchronize", "read 400", "free", "unload", "release 0"]


def test_a_kernel_without_parameters(python: Python, fake: Fake) -> None:
    python(START + "gpu.launch(module, Launch('nothing', (1, 1, 1), (1, 1, 1), b''))")
    assert fake.named("launch")[0].split("arguments")[1].split() == ["1", "2", "0"]


def test_more_shared_memory_than_a_block_gets_unasked_is_asked_for(python: Python, fake: Fake) -> None:
    python(START + "gpu.launch(module, Launch('nothing', (1, 1, 1), (1, 1, 1), b'', 48 << 10))")
    assert fake.named("attribute") == []
    python(START + "gpu.launch(module, Launch('nothing', (1, 1, 1), (1, 1, 1), b'', 100_000))")
    assert fake.named("attribute") == ["attribute nothing 8 100000"]


@pytest.mark.parametrize(
    ("kernel", "kind"),
    [("bounds", "out-of-bounds"), ("misaligned", "misaligned"), ("failed", "trap"), ("asserted", "assert")],
)
def test_errors_that_a_context_does_not_survive_are_faults(python: Python, kernel: str, kind: str) -> None:
    code = f"""
done = gpu.launch(module, Launch("{kernel}", (1, 1, 1), (1, 1, 1), b""))
print(done.fault.kind, done.fault.kernel, gpu.poisoned is not None)
try:
    gpu.launch(module, Launch("add_one", (1, 1, 1), (1, 1, 1), b""))
except DeviceError as error:
    print(error)
"""
    lines = python(START + code).splitlines()
    assert lines[0] == f"{kind} {kernel} True"
    assert "the GPU's context is lost" in lines[1]


def test_refused_launches_and_modules_are_errors_in_sentences(python: Python) -> None:
    code = """
for attempt in (
    lambda: gpu.launch(module, Launch("add_one", (1, 1, 1), (2048, 1, 1), bytes(12))),
    lambda: gpu.launch(module, Launch("absent", (1, 1, 1), (1, 1, 1), b"")),
    lambda: gpu.load("BAD"),
    lambda: gpu.allocate(9 << 30),
    lambda: CudaGpu(3),
):
    try:
        attempt()
    except KernelwrightError as error:
        print(json.dumps([type(error).__name__, error.message, error.hint]))
print(gpu.poisoned)
"""
    *raw, last = python(START + code).splitlines()
    refused, absent, bad, full, third = map(json.loads, raw)
    assert refused[1].startswith("kernel 'add_one' was not launched with grid (1, 1, 1), block (2048, 1, 1)")
    assert absent == ["Misuse", "a.cu has no kernel 'absent'", "give its mangled name"]
    assert bad[1].endswith("ptxas error: line 3; unknown opcode") and "(218)" in bad[1]
    assert full[1].endswith("out of memory") and "nvidia-smi" in full[2]
    assert third == ["DeviceError", "there is no GPU number 3: this machine has 1", "kw doctor lists them"]
    assert last == "None"


def test_times_are_taken_in_turns_with_the_input_restored_and_the_gpu_kept_busy(python: Python, fake: Fake) -> None:
    code = """
data, aside = gpu.allocate(400), gpu.allocate(400)
gpu.write(aside, bytes(400))
packed = struct.pack("<Qi", data, 100)
works = [Work(module, Launch(k, (1, 1, 1), (1, 1, 1), packed), ((data, aside, 400),)) for k in ("add_one", "add_slow")]
fast, slow = gpu.time(works, rounds=4, warmup=1)
print(fast.samples, slow.median_us, fast.spread, struct.unpack_from("<f", gpu.read(data, 4)))
gpu.time(works[:1], rounds=1, warmup=0, cold=True)
"""
    said = python(START + code).splitlines()
    assert said == ["(10.0, 10.0, 10.0, 10.0) 30.0 0.0 (1.0,)"]
    calls = fake.calls
    launches = [c.split()[1] for c in calls if c.startswith("launch") and "kw_wait" not in c]
    pair = ["add_one", "add_slow"]
    assert launches == [*pair[::-1], *pair, *pair[::-1], *pair, *pair[::-1], "add_one"]
    waits = [i for i, c in enumerate(calls) if c.startswith("launch kw_wait")]
    first = waits[1]
    assert [c.split()[0] for c in calls[first - 1 : first + 5]] == [
        "copy",
        "launch",
        "record",
        "launch",
        "record",
        "synchronize",
    ]
    # Cold: twice the L2 cache is written in between.
    fill = calls.index(f"fill {8 << 20}")
    assert calls[fill - 2].startswith("copy") or calls[fill - 1].startswith(("copy", "allocate"))
    assert calls[fill + 1].startswith("launch kw_wait")


def test_memory_lies_at_the_addresses_asked_for(python: Python, fake: Fake) -> None:
    code = """
with gpu.memory() as memory:
    memory.place([(0x4000_0001_0000, b"abcd"), (0x4000_0100_0000, b"ef")])
    print(memory.is_moved, memory.where(0x4000_0001_0002) == 0x4000_0001_0002, memory.contents()[0x4000_0100_0000])
    print(ctypes.string_at(0x4000_0001_0000, 4), memory.moved(bytes(8)) == bytes(8))
"""
    assert python(START + code).splitlines() == ["False True b'ef'", "b'abcd' True"]
    # The second begins a piece: what is read just before it is mapped too.
    assert fake.named("reserve") == [f"reserve {2 << 20}", f"reserve {4 << 20}"]


def test_arguments_follow_memory_that_lies_elsewhere(python: Python, fake: Fake) -> None:
    fake.set("FAKE_CUDA_ELSEWHERE", "1")
    code = """
with gpu.memory() as memory:
    memory.place([(0x4000_0001_0000, bytes(8)), (0x4000_0002_0000, bytes(4))])
    packed = memory.moved(struct.pack("<QiiQ", 0x4000_0001_0004, 7, 8, 0x4000_0003_0000))
    at, seven, eight, other = struct.unpack("<QiiQ", packed)
    print(memory.is_moved, at == memory.where(0x4000_0001_0000) + 4, seven, eight, hex(other))
    gpu.launch(module, Launch("add_one", (1, 1, 1), (1, 1, 1), struct.pack("<Qi", at, 1)))
    print(struct.unpack("<2f", memory.contents()[0x4000_0001_0000]))
"""
    assert python(START + code).splitlines() == ["True True 7 8 0x400000030000", "(0.0, 1.0)"]


def test_without_the_binding_the_sentence_has_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    cuda_driver.binding.cache_clear()
    with pytest.raises(ToolError, match="binding of the CUDA driver is missing") as caught:
        Driver()
    assert "pip install 'cuda-bindings==12.9.*'" in str(caught.value)
    cuda_driver.binding.cache_clear()


def test_without_a_driver_the_sentence_says_so(python: Python, fake: Fake) -> None:
    fake.set("LD_LIBRARY_PATH", "/nowhere")
    said = python(
        "from kernelwright.device.real_gpu.driver import *\ntry:\n  Driver()\nexcept ToolError as e: print(e)"
    )
    if said:
        assert said.startswith("there is no NVIDIA driver on this machine")


def test_an_error_survives_the_way_between_processes() -> None:
    import pickle

    error = DriverError(700, "ILLEGAL_ADDRESS", "an illegal memory access was encountered", "cuCtxSynchronize")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.is_sticky) == (str(error), True)


def test_gpus_are_found_by_a_process_that_has_used_the_drivers_libraries(python: Python) -> None:
    """CUDA does not begin in a copy of one; found on an H200, where LLVM was loaded and NVIDIA's binding had been."""
    said = python(
        "import ctypes\n"
        "number = ctypes.c_int()\n"
        "ctypes.CDLL('libcuda.so.1').cuDriverGetVersion(ctypes.byref(number))\n"
        "from kernelwright.passes.llvm import binding\n"
        "binding()\n"
        "from kernelwright.codegen.toolchain import find_driver\n"
        "print(number.value, [gpu.name for gpu in find_driver().gpus])\n"
    )
    assert said == "12080 ['Stand-in 0']\n"
