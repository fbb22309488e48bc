"""A session as a program sees it: every message, the errors of commands, and which of them a device does not survive."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from kernelwright.cuda import blob as blobs
from kernelwright.cuda.wire import protocol as wire
from kernelwright.cuda.wire.protocol import MESSAGES, Message
from kernelwright.device.arena import ARENA_BASE
from kernelwright.device.serving.errors import CudaError
from kernelwright.device.serving.observer import Observer
from kernelwright.device.serving.session import TABLE
from kernelwright.device.serving.virtual_device import TABLE as DEVICE_TABLE
from kernelwright.device.settings import Settings
from kernelwright.errors import ToolError
from kernelwright.executable import device_blob
from kernelwright.pipeline import compile as compile_program

from .wire_client import Client, Failed, settings

SOURCE = Path(__file__).parent / "session_kernels.cu"
KERNELS = (
    "nothing", "add", "count", "raise", "store", "load", "spin", "trap", "check", "diverge", "hello", "reverse",
    "bounded", "strange",
)  # fmt: skip
NUMBER = {name: number for number, name in enumerate(KERNELS)}


@cache
def blob() -> bytes:
    (unit,) = compile_program(SOURCE).units
    return device_blob(unit)


@pytest.fixture
def client() -> Iterator[Client]:
    with Client() as client:
        client.register(blob(), KERNELS)
        yield client


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line)


# ---- the table ----


def test_every_message_of_the_protocol_has_its_place() -> None:
    elsewhere = {Message.LAUNCH, Message.GOODBYE, Message.OUTPUT}
    assert set(TABLE) | set(DEVICE_TABLE) == set(MESSAGES) - elsewhere and not set(TABLE) & set(DEVICE_TABLE)


def test_welcome(client: Client) -> None:
    w = client.welcome
    assert (w.version, w.device_count, w.arena_address) == (wire.VERSION, 1, ARENA_BASE)
    assert w.flags & wire.WelcomeFlags.ARENA_IS_DEVICE


# ---- kernels and memory ----


def test_a_kernel_computes(client: Client) -> None:
    a, b, c = (client.allocate(4000) for _ in range(3))
    client.write(a, "1000f", *range(1000))
    client.write(b, "1000f", *range(0, 2000, 2))
    client.launch(NUMBER["add"], (4, 1, 1), (256, 1, 1), struct.pack("<QQQi", a, b, c, 1000))
    client.synchronize()
    assert client.read(c, "1000f") == tuple(float(3 * i) for i in range(1000))


class Looking(Observer):
    marks_new_memory = True


@pytest.mark.parametrize(
    ("given", "observers", "held"),
    [
        (settings(), (), 0),
        (settings(strict=True), (), 0xCD),
        (settings(), (Looking(),), 0xCD),
        (settings(), (Observer(),), 0),
    ],
)
def test_new_memory_is_apart_and_zero_unless_somebody_looks(
    given: Settings, observers: tuple[Observer, ...], held: int
) -> None:
    """As a GPU has cleared it; who wants to see what is not written gets other bytes."""
    with Client(given, observers) as client:
        a, b = client.allocate(100), client.allocate(100)
        assert b - a > 60_000 and set(client.memory(a, 100)) == {held}
        pinned = client.allocate(100, wire.MemoryKind.PINNED)
        assert set(client.memory(pinned, 100)) == {0}


def test_variables_keep_their_values_from_launch_to_launch(client: Client) -> None:
    counter = client.symbol(client.variable(0, "counter"))
    limit = client.symbol(client.variable(0, "limit"))
    assert client.read(counter, "i") == (41,)
    client.write(limit, "i", 2)
    for _ in range(2):
        client.launch(NUMBER["count"])
    client.synchronize()
    assert client.read(counter, "i") == (41 + 2 * 32 * 2,)


def test_a_variable_that_no_kernel_uses_is_there_all_the_same(client: Client) -> None:
    number = client.variable(0, "dropped", size=12)
    body, _ = client.request(Message.SYMBOL_ADDRESS, wire.Handle(handle=number))
    assert isinstance(body, wire.Memory) and body.size == 12
    client.write(body.address, "3i", 1, 2, 3)
    assert client.symbol(number) == body.address


def test_a_managed_variable_is_where_the_host_has_put_it(client: Client) -> None:
    place = client.allocate(4096, wire.MemoryKind.MANAGED) + 64
    client.write(place, "i", 10)
    number = client.variable(0, "level", flags=wire.SymbolFlags.MANAGED, address=place)
    client.launch(NUMBER["raise"], block=(1, 1, 1))
    client.synchronize()
    assert client.read(place, "i") == (11,) and client.symbol(number) == place


def test_dynamic_shared_memory(client: Client) -> None:
    data = client.allocate(64 * 4)
    client.write(data, "64i", *range(64))
    client.launch(NUMBER["reverse"], block=(64, 1, 1), arguments=struct.pack("<Qi", data, 64), shared=256)
    client.synchronize()
    assert client.read(data, "64i") == tuple(reversed(range(64)))


def test_fills_and_copies_by_rows(client: Client) -> None:
    a, b = client.allocate(64), client.allocate(64)
    client.command(Message.FILL, wire.Fill(address=a, pitch=64, width=64, height=1, value=0))
    client.command(Message.FILL, wire.Fill(address=b, pitch=64, width=64, height=1, value=9))
    client.command(Message.FILL, wire.Fill(address=a + 1, pitch=16, width=3, height=4, value=7))
    box = wire.Copy(
        to=b, from_=a, to_pitch=8, from_pitch=16, to_slice=16, from_slice=32, width=4, height=2, depth=2, stream=0
    )
    client.command(Message.COPY, box)
    client.synchronize()
    assert bytes(client.memory(a, 20)) == bytes([0, 7, 7, 7] + 12 * [0] + [0, 7, 7, 7])
    assert bytes(client.memory(b, 32)) == (bytes([0, 7, 7, 7]) + 4 * bytes([9])) * 4


@pytest.mark.parametrize("size", [65, 1 << 40])
def test_a_copy_that_leaves_its_allocation_is_refused(client: Client, size: int) -> None:
    a, b = client.allocate(64), client.allocate(64)
    client.command(Message.COPY, wire.Copy(to=b, from_=a, width=size, height=1, depth=1))
    assert client.failure().result == CudaError.INVALID_VALUE
    client.command(Message.FILL, wire.Fill(address=a - 1, width=4, height=1))
    assert client.failure().result == CudaError.INVALID_VALUE
    client.synchronize()


def test_memory_runs_out_and_comes_back() -> None:
    with Client(settings(memory_bytes=1 << 20)) as client:
        a = client.allocate(600_000)
        with pytest.raises(Failed, match="this machine has 448576 bytes left") as failed:
            client.allocate(600_000)
        assert failed.value.result == CudaError.MEMORY_ALLOCATION
        info, _ = client.request(Message.MEMORY_INFO)
        assert info == wire.MemoryInfo(free=448_576, total=141 << 30)
        client.free(a)
        client.allocate(1 << 20)


def test_what_no_gpu_has_cannot_be_allocated() -> None:
    with Client(settings("p100", memory_bytes=1 << 50)) as client, pytest.raises(Failed, match="the NVIDIA Tesla P100"):
        client.allocate((16 << 30) + 1)


def test_freeing_what_is_not_an_allocation(client: Client) -> None:
    a = client.allocate(100)
    with pytest.raises(Failed, match="4 bytes inside buffer 'device allocation 1'"):
        client.free(a + 4)
    client.free(a)
    with pytest.raises(Failed, match="freed twice"):
        client.free(a)
    counter = client.symbol(client.variable(0, "counter"))
    with pytest.raises(Failed, match="'counter' is a variable") as failed:
        client.free(counter)
    assert failed.value.result == CudaError.INVALID_VALUE


# ---- printing ----


def test_what_kernels_print_comes_before_the_answer(client: Client) -> None:
    client.launch(NUMBER["hello"], (2, 1, 1), (2, 1, 1), struct.pack("<i", 9))
    client.launch(NUMBER["hello"], arguments=struct.pack("<i", 8), block=(1, 1, 1))
    assert client.printed == []
    client.synchronize()
    assert b"".join(client.printed).decode() == "hello 0 of 9\nhello 1 of 9\n" * 2 + "hello 0 of 8\n"


# ---- what goes wrong in a kernel ----


def pointer(client: Client) -> int:
    return client.allocate(400)


def test_a_fault_names_place_kernel_thread_and_buffer(client: Client) -> None:
    a = pointer(client)
    client.launch(NUMBER["store"], (1, 1, 1), (1, 1, 1), struct.pack("<Qqi", a, 100, 1))
    failed = client.failure()
    assert failed.result == CudaError.ILLEGAL_ADDRESS
    assert failed.sentence == (
        f"{SOURCE}:{line_of('void store(')}: kernel store, block (0, 0, 0), thread (0, 0, 0): writes 4 bytes at "
        f"{a + 400:#x}, 0 bytes after the end of buffer 'device allocation 1' (400 bytes); "
        "it is the kernel's argument 'where'\n"
        "    __global__ void store(int *where, long long offset, int value) { where[offset] = value; }"
    )


FAULTS = {
    "null": ("store", lambda a: struct.pack("<Qqi", 0, 0, 1), CudaError.ILLEGAL_ADDRESS, "the pointer is null"),
    "misaligned": ("load", lambda a: struct.pack("<QQ", a + 1, a), CudaError.MISALIGNED_ADDRESS, "no multiple of 4"),
    "trap": ("trap", lambda a: b"", CudaError.LAUNCH_FAILURE, "executed a trap"),
    "assert": ("check", lambda a: struct.pack("<i", 3), CudaError.ASSERT, "threadIdx.x < limit"),
    "barrier": ("diverge", lambda a: struct.pack("<Q", a), CudaError.LAUNCH_FAILURE, "barrier"),
    "endless": ("spin", lambda a: struct.pack("<Q", a), CudaError.LAUNCH_TIMEOUT, "stopped after 1000 loop iterations"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_become_the_errors_of_cuda(name: str) -> None:
    kernel, arguments, error, text = FAULTS[name]
    with Client(settings(budget=1000)) as client:
        client.register(blob(), KERNELS)
        a = pointer(client)
        client.command(Message.FILL, wire.Fill(address=a, width=400, height=1, value=0))
        client.launch(NUMBER[kernel], block=(64, 1, 1), arguments=arguments(a))
        failed = client.failure()
        assert failed.result == error and text in failed.sentence
        assert f"{SOURCE}:" in failed.sentence


def test_a_freed_buffer_is_named(client: Client) -> None:
    a = pointer(client)
    client.free(a)
    client.launch(NUMBER["store"], block=(1, 1, 1), arguments=struct.pack("<Qqi", a, 5, 1))
    assert "offset 20 of buffer 'device allocation 1', which is freed" in client.failure().sentence


def test_after_a_fault_nothing_works_until_the_reset(client: Client) -> None:
    a = pointer(client)
    client.launch(NUMBER["trap"])
    client.launch(NUMBER["store"], block=(1, 1, 1), arguments=struct.pack("<Qqi", a, 0, 77))
    first = client.failure()
    for request in (
        lambda: client.allocate(4),
        lambda: client.free(a),
        lambda: client.request(Message.MEMORY_INFO),
        lambda: client.request(Message.STREAM_QUERY, wire.Handle()),
    ):
        with pytest.raises(Failed) as failed:
            request()
        assert (failed.value.result, failed.value.sentence) == (first.result, first.sentence)
    assert client.read(a, "i") != (77,), "a launch after a fault does not happen"
    client.request(Message.DEVICE_PROPERTIES)
    client.request(Message.DEVICE_RESET)
    client.synchronize()
    # All is forgotten: the client registers again, from number 0, and variables have their first values.
    client._modules = client._kernels = client._variables = 0
    client.register(blob(), KERNELS)
    assert client.allocate(400) == a
    client.launch(NUMBER["count"])
    assert client.read(client.symbol(client.variable(0, "counter")), "i") == (41 + 32 * 5,)


SURVIVED = {
    "unknown kernel": (99, (1, 1, 1), (32, 1, 1), CudaError.INVALID_DEVICE_FUNCTION, ""),
    "too many threads": (0, (1, 1, 1), (2000, 1, 1), CudaError.INVALID_CONFIGURATION, "at most"),
    "no threads": (0, (1, 1, 1), (0, 1, 1), CudaError.INVALID_CONFIGURATION, "at least 1"),
    "too many blocks": (0, (1, 65536, 1), (32, 1, 1), CudaError.INVALID_CONFIGURATION, "65535"),
    "refused code": (NUMBER["strange"], (1, 1, 1), (32, 1, 1), CudaError.INVALID_PTX, "brkpt"),
}


@pytest.mark.parametrize("name", SURVIVED)
def test_errors_that_a_device_survives_are_told_once(client: Client, name: str) -> None:
    number, grid, block, error, text = SURVIVED[name]
    a = pointer(client)
    client.launch(number, grid, block, struct.pack("<Q", a))
    client.launch(NUMBER["store"], block=(1, 1, 1), arguments=struct.pack("<Qqi", a, 0, 77))
    failed = client.failure()
    assert failed.result == error and text in failed.sentence
    client.synchronize()
    assert client.read(a, "i") == (77,), "later launches happen"


def test_too_few_arguments(client: Client) -> None:
    client.launch(NUMBER["store"], arguments=b"1234")
    assert "takes 20 bytes of arguments, 4 were given" in client.failure().sentence


def test_the_oldest_error_is_told_and_a_grave_one_before_it(client: Client) -> None:
    client.launch(99)
    client.launch(0, block=(2000, 1, 1))
    assert client.failure().result == CudaError.INVALID_DEVICE_FUNCTION
    client.launch(99)
    client.launch(NUMBER["trap"])
    assert client.failure().result == CudaError.LAUNCH_FAILURE


def test_an_error_nobody_asked_about_is_left_behind() -> None:
    with Client() as client:
        client.register(blob(), KERNELS)
        client.launch(NUMBER["trap"])
        client.command(Message.GOODBYE)
        client.thread.join(timeout=20)
        assert client.session.untold is not None and "executed a trap" in client.session.untold.sentence


def test_an_error_that_was_told_is_not_left_behind(client: Client) -> None:
    client.launch(NUMBER["trap"])
    client.failure()
    client.leave()
    assert client.session.untold is None


def test_last_error_tells_without_anything_else(client: Client) -> None:
    client.request(Message.LAST_ERROR)
    client.launch(99)
    with pytest.raises(Failed):
        client.request(Message.LAST_ERROR)
    client.request(Message.LAST_ERROR)


# ---- time limits ----


def test_a_kernel_without_an_end_is_stopped_by_the_clock() -> None:
    with Client(settings(timeout_s=0.3)) as client:
        client.register(blob(), KERNELS)
        a = client.allocate(4)
        client.command(Message.FILL, wire.Fill(address=a, width=4, height=1, value=0))
        client.launch(NUMBER["spin"], arguments=struct.pack("<Q", a))
        failed = client.failure()
        assert failed.result == CudaError.LAUNCH_TIMEOUT
        assert "it did not end, and was stopped after 0.3 seconds" in failed.sentence


def test_a_billion_blocks_are_stopped_by_the_clock() -> None:
    with Client(settings(timeout_s=0.3)) as client:
        client.register(blob(), KERNELS)
        client.launch(NUMBER["nothing"], (2**31 - 1, 1, 1))
        assert client.failure().result == CudaError.LAUNCH_TIMEOUT


def test_a_kernel_ends_with_its_program() -> None:
    with Client() as client:
        client.register(blob(), KERNELS)
        a = client.allocate(4)
        client.command(Message.FILL, wire.Fill(address=a, width=4, height=1, value=0))
        client.launch(NUMBER["spin"], arguments=struct.pack("<Q", a))
        end = time.monotonic() + 10
        while not client.runs():
            assert time.monotonic() < end
        client.leave()  # asserts that the session ends
        assert client.session.untold is None, "nobody's fault"


# ---- modules ----


def test_device_code_that_is_damaged(client: Client) -> None:
    damaged = bytearray(blob())
    damaged[-20] ^= 1
    client.register(bytes(damaged), ["add"])
    client.launch(len(KERNELS))
    failed = client.failure()
    assert failed.result == CudaError.INVALID_KERNEL_IMAGE and "damaged" in failed.sentence


def test_device_code_of_nvcc(client: Client) -> None:
    client.register(b"\x50\xed\x55\xba" + bytes(60), ["add"], form=wire.ModuleFormat.NVIDIA)
    client.launch(len(KERNELS))
    failed = client.failure()
    assert failed.result == CudaError.NO_KERNEL_IMAGE_FOR_DEVICE and "kw compile" in failed.sentence
    with pytest.raises(Failed, match="kw compile"):
        client.request(Message.KERNEL_LAYOUT, wire.Handle(handle=len(KERNELS)))


def test_a_module_that_is_gone_takes_its_kernels_and_memory_with_it(client: Client) -> None:
    counter = client.symbol(client.variable(0, "counter"))
    client.command(Message.UNREGISTER_MODULE, wire.Handle(handle=0))
    client.launch(NUMBER["nothing"])
    assert client.failure().result == CudaError.INVALID_DEVICE_FUNCTION
    assert client.session.arena.find(counter) is None
    with pytest.raises(Failed):
        client.symbol(0)


DEFINES = "__device__ int shared_value = 30; extern __device__ int other; __device__ int *where = &other;\n"
USES = """extern __device__ int shared_value;
__device__ int other = 4;
extern "C" __global__ void bump() { shared_value += other; }
"""


def test_files_share_their_device_variables(tmp_path: Path) -> None:
    """Each file uses a variable of the other, and one has the other's address in its initial value."""
    blobs_of = []
    for name, text in (("a.cu", DEFINES), ("b.cu", USES)):
        (tmp_path / name).write_text(text)
        (unit,) = compile_program(tmp_path / name).units
        blobs_of.append(device_blob(unit))
    with Client() as client:
        client.register(blobs_of[0])
        client.register(blobs_of[1], ["bump"])
        value = client.variable(0, "shared_value")
        client.launch(0, block=(1, 1, 1))
        client.synchronize()
        assert client.read(client.symbol(value), "i") == (34,)
        pointer_to = client.variable(0, "where", size=8)
        other = client.variable(1, "other")
        assert client.read(client.symbol(pointer_to), "Q") == (client.symbol(other),)


def test_variables_of_one_name_in_several_files() -> None:
    """A declaration means the definition that others see, wherever a static variable of that name lies."""
    attributes = 'attributes #0 = { "target-cpu"="sm_80" }\n'
    look = (
        "@v = external addrspace(1) global i32\n"
        "define ptx_kernel void @look(ptr %p) #0 {\n  %x = load i32, ptr addrspace(1) @v\n  store i32 %x, ptr %p\n  ret void\n}\n"
    )
    files = (look, "@v = addrspace(1) global i32 2\n", "@v = internal addrspace(1) global i32 1\n")
    with Client() as client:
        for number, ir in enumerate(files):
            text = f'target triple = "nvptx64-nvidia-cuda"\n{ir}{attributes if number == 0 else ""}'
            kernels = (
                (blobs.Kernel("look", (blobs.Parameter(0, 8, 8, blobs.ParameterKind.POINTER),)),) if number == 0 else ()
            )
            variables = (blobs.Variable("v", 4, 4, is_external=number == 0),)
            made = blobs.write(blobs.Blob(f"{number}.cu", text, kernels, variables))
            client.register(made, ["look"] if number == 0 else [])
        out = client.allocate(4)
        client.launch(0, block=(1, 1, 1), arguments=struct.pack("<Q", out))
        client.synchronize()
        assert client.read(out, "i") == (2,)


def test_a_declaration_that_nobody_defines_is_told(tmp_path: Path) -> None:
    (tmp_path / "b.cu").write_text(USES)
    (unit,) = compile_program(tmp_path / "b.cu").units
    with Client() as client:
        client.register(device_blob(unit), ["bump"])
        client.launch(0)
        assert "'shared_value' is declared but defined nowhere" in client.failure().sentence


def test_a_kernel_is_swapped_for_another_and_back(client: Client, tmp_path: Path) -> None:
    counter = client.symbol(client.variable(0, "counter"))
    variant = 'extern __device__ int counter;\nextern "C" __global__ void count() { atomicAdd(&counter, 1000); }\n'
    (tmp_path / "variant.cu").write_text(variant)
    (unit,) = compile_program(tmp_path / "variant.cu").units
    swapped = device_blob(unit)

    def swap(name: bytes, data: bytes) -> None:
        body = wire.Swap(name_size=len(name) + 1, blob_size=len(data))
        client.request(Message.SWAP_KERNEL, body, name + b"\0" + data)

    seen = []
    for data in (b"", swapped, b""):
        swap(b"count", data)
        client.write(counter, "i", 0)
        client.launch(NUMBER["count"], block=(1, 1, 1))
        client.synchronize()
        seen.append(client.read(counter, "i")[0])
    assert seen == [5, 1000, 5]
    for name, data, text in (
        (b"nobody", swapped, "no kernel nobody"),
        (b"count", swapped[:-4], "damaged"),
        (b"add", swapped, "the new code has no kernel add"),
    ):
        with pytest.raises(Failed, match=text):
            swap(name, data)


# ---- what is known about a kernel ----


def test_layout_of_a_kernel(client: Client) -> None:
    body, tail = client.request(Message.KERNEL_LAYOUT, wire.Handle(handle=NUMBER["store"]))
    assert body == wire.KernelLayout(parameter_count=3, arguments_size=20)
    assert struct.unpack("<6I", tail) == (0, 8, 8, 8, 16, 4)


def test_attributes_of_a_kernel(client: Client) -> None:
    found = {}
    for name in ("add", "reverse", "bounded"):
        body, _ = client.request(Message.FUNCTION_ATTRIBUTES, wire.Handle(handle=NUMBER[name]))
        assert isinstance(body, wire.FunctionAttributes)
        found[name] = body
    assert [f.max_threads for f in found.values()] == [1024, 1024, 128]
    assert [f.static_shared_bytes for f in found.values()] == [0, 16, 0]
    assert found["reverse"].max_dynamic_shared_bytes == (48 << 10) - 16
    assert 4 < found["add"].registers < 64 and found["add"].constant_bytes == 4
    body = wire.FunctionAttribute(kernel=NUMBER["add"], attribute=8, value=100_000)
    client.request(Message.SET_FUNCTION_ATTRIBUTE, body)
    again, _ = client.request(Message.FUNCTION_ATTRIBUTES, wire.Handle(handle=NUMBER["add"]))
    assert isinstance(again, wire.FunctionAttributes) and again.max_dynamic_shared_bytes == 100_000
    with pytest.raises(Failed):
        client.request(Message.SET_FUNCTION_ATTRIBUTE, wire.FunctionAttribute(kernel=99, attribute=8))


def test_occupancy(client: Client) -> None:
    def blocks(name: str, threads: int, shared: int = 0) -> int:
        asked = wire.Occupancy(kernel=NUMBER[name], block_threads=threads, shared_bytes=shared)
        body, _ = client.request(Message.OCCUPANCY, asked)
        assert isinstance(body, wire.Handle)
        return body.handle

    assert blocks("nothing", 32) == 32  # as many blocks as a multiprocessor takes
    assert blocks("nothing", 1024) == 2  # 64 warps
    assert blocks("nothing", 32, 100_000) == 2  # 228 KiB, with 1 KiB for the system in each
    assert blocks("nothing", 32, 300_000) == 0


def test_counters(client: Client) -> None:
    for _ in range(3):
        client.launch(NUMBER["nothing"])
    _, text = client.request(Message.COUNTERS, wire.Handle(handle=1))
    (row,) = json.loads(text)["kernels"]
    assert (row["kernel"], row["launches"], row["faults"]) == ("nothing", 3, 0)
    _, text = client.request(Message.COUNTERS, wire.Handle(handle=0))
    assert json.loads(text)["kernels"] == []


# ---- the connection ----


def test_bytes_that_are_no_message_end_the_session() -> None:
    with pytest.raises(ToolError, match="something that is no message"), Client() as client:
        client.connection.sendall(wire.Header(size=16, type=999, sequence=2).pack())
        client.thread.join(timeout=20)


def test_another_place_for_the_arena() -> None:
    with Client() as client:
        body, _ = client.request(Message.MOVE_ARENA, wire.MoveArena(address=0x3000_0000_0000))
        assert isinstance(body, wire.Welcome) and body.arena_address == 0x3000_0000_0000
        client.register(blob(), KERNELS)
        a = client.allocate(400)
        assert a > 0x3000_0000_0000
        client.launch(NUMBER["store"], block=(1, 1, 1), arguments=struct.pack("<Qqi", a, 1, 5))
        client.synchronize()
        assert client.read(a + 4, "i") == (5,)


def test_properties_of_the_gpu() -> None:
    with Client(settings("v100")) as client:
        body, _ = client.request(Message.DEVICE_PROPERTIES)
        assert isinstance(body, wire.DeviceProperties)
        assert body.name.rstrip(b"\0") == b"NVIDIA Tesla V100 SXM2 16 GB (virtual)"
        assert (body.major, body.minor, body.multiprocessors) == (7, 0, 80)
        assert body.global_bytes == 16 << 30 and body.virtual_device == 1
        # What programs compute their peak bandwidth from: two transfers per clock, in bytes.
        assert 2 * body.memory_clock_khz * 1e3 * body.memory_bus_bits / 8 == pytest.approx(900e9, rel=1e-5)


def test_a_blob_remembers_shared_memory() -> None:
    table = {k.name: k.static_shared_bytes for k in blobs.read(blob()).kernels}
    assert table["reverse"] == 16 and table["add"] == 0
