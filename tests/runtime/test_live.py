"""The client against a worker: which messages a program's calls become, in which order, with which bytes."""

from __future__ import annotations

import re
import resource
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kernelwright.cuda.wire.channel import Received
from kernelwright.cuda.wire.protocol import (
    VERSION,
    Allocate,
    Copy,
    Event,
    Fill,
    Handle,
    Hello,
    HostAccess,
    Launch,
    MemoryKind,
    Message,
    ModuleFormat,
    RegisterModule,
    RegisterSymbol,
    Stream,
    SymbolFlags,
    Welcome,
)

from .conftest import Builder, Ran, run
from .fake_worker import ARENA_ADDRESS, ARENA_SIZE, FAR_ADDRESS, Answer, FakeWorker

M = Message


@pytest.fixture(scope="module")
def program(builder: Builder) -> Path:
    return builder.program({"live.cu": (Path(__file__).parent / "live.cu").read_text()})


@pytest.fixture(scope="module")
def blob_bytes(builder: Builder, program: Path) -> bytes:
    return (builder.folder / "live.cu.blob").read_bytes()


Live = Callable[..., tuple[Ran, FakeWorker]]


@pytest.fixture
def live(program: Path, tmp_path: Path) -> Live:
    """Runs one part of the program against a fake worker made with the given settings."""

    def go(part: str, **settings: object) -> tuple[Ran, FakeWorker]:
        with FakeWorker(tmp_path / "socket", **settings) as worker:  # type: ignore[arg-type]
            ran = run(program, [part], KERNELWRIGHT_SOCKET=str(worker.path))
        return ran, worker

    return go


def kinds(worker: FakeWorker) -> list[Message]:
    registering = (M.REGISTER_MODULE, M.REGISTER_KERNEL, M.REGISTER_VARIABLE, M.UNREGISTER_MODULE)
    return [m.type for m in worker.messages if m.type not in registering]


# ---- the whole way of a vector addition ----


def add_floats(worker: FakeWorker, launch: Launch, arguments: bytes) -> None:
    a, b, out, n = struct.unpack("<QQQi", arguments)
    left, right = (struct.unpack(f"<{n}f", worker.read(p, 4 * n)) for p in (a, b))
    worker.write(out, struct.pack(f"<{n}f", *(x + y for x, y in zip(left, right, strict=True))))


def test_a_kernel_runs(live: Live) -> None:
    ran, worker = live("add", on_launch=add_floats)
    assert (ran.status, ran.lines, ran.err) == (0, ["3 2997"], "")
    assert kinds(worker) == [
        M.HELLO,
        M.ALLOCATE,  # the managed variables
        *[M.ALLOCATE] * 3,
        M.DEVICE_PROPERTIES,
        M.LAUNCH,
        M.DEVICE_SYNCHRONIZE,
        *[M.FREE] * 3,
        M.GOODBYE,
    ]
    a, b, out = (m.body.handle for m in worker.of(M.FREE) if isinstance(m.body, Handle))
    (launch,) = worker.of(M.LAUNCH)
    assert launch.body == Launch(grid=(4, 1, 1), block=(256, 1, 1), shared_bytes=32, arguments_size=28, kernel=0)
    assert launch.tail == struct.pack("<QQQi", a, b, out, 1000)


def test_what_is_registered(live: Live, blob_bytes: bytes, program: Path) -> None:
    _, worker = live("add")
    hello = worker.messages[0]
    assert isinstance(hello.body, Hello) and hello.body.version == VERSION
    assert hello.tail.split(b"\0")[:2] == [b"none", str(program.resolve()).encode()]
    (module,) = worker.of(M.REGISTER_MODULE)
    assert module.body == RegisterModule(module=0, format=ModuleFormat.BLOB)
    assert module.tail == blob_bytes
    kernels = {m.tail: m.body for m in worker.of(M.REGISTER_KERNEL)}
    assert list(kernels) == [b"_Z3addPKfS0_Pfi", b"_Z5mixedc4Pairbs5Empty6float4xPi", b"_Z5smallPi"]
    assert kernels[b"_Z5smallPi"] == RegisterSymbol(module=0, symbol=2)
    variables = {m.tail: m.body for m in worker.of(M.REGISTER_VARIABLE)}
    assert {n: (b.size, b.flags) for n, b in variables.items() if isinstance(b, RegisterSymbol)} == {
        b"table": (64, SymbolFlags.CONSTANT),
        b"counter": (4, 0),
        b"level": (4, SymbolFlags.MANAGED),
        b"pad": (24, SymbolFlags.MANAGED),
        b"reference": (8, 0),
    }
    order = [m.type for m in worker.messages]
    assert order.index(M.REGISTER_MODULE) < order.index(M.REGISTER_KERNEL) < order.index(M.LAUNCH)
    assert [m.sequence for m in worker.messages] == list(range(1, len(worker.messages) + 1))


def test_arguments_are_packed_where_the_kernel_has_them(live: Live) -> None:
    ran, worker = live("arguments")
    assert ran.lines == ["cudaSuccess", "cudaSuccess"]
    (launch,) = worker.of(M.LAUNCH)
    assert isinstance(launch.body, Launch)
    assert (launch.body.grid, launch.body.block) == ((7, 2, 3), (4, 5, 6))
    # char, Pair at 8, bool at 24, short at 26, Empty at 28, float4 at 32, long long at 48, pointer at 56.
    assert len(launch.tail) == launch.body.arguments_size == 64
    assert struct.unpack_from("<c7xc7xd?xh", launch.tail) == (b"a", b"b", 1.5, True, -2)
    assert struct.unpack_from("<4fqQ", launch.tail, 32) == (1, 2, 3, 4, 1 << 40, 0)


def test_impossible_launches_are_refused_at_once(live: Live) -> None:
    ran, worker = live("configurations")
    assert ran.lines == [
        *["cudaErrorInvalidConfiguration"] * 4,
        "cudaErrorLaunchOutOfResources",
        "cudaErrorInvalidValue",
        "cudaSuccess",
        "cudaSuccess",
        "cudaErrorInvalidValue",
        "cudaErrorInvalidDeviceFunction",
        "cudaSuccess",
        "cudaSuccess",
        "17 1024 6",
    ]
    assert len(worker.of(M.LAUNCH)) == 1


def test_copies_wait_only_when_something_is_under_way(live: Live) -> None:
    _, worker = live("order")
    assert kinds(worker)[2:] == [
        M.DEVICE_PROPERTIES,
        *[M.LAUNCH] * 3,
        M.ALLOCATE,
        M.DEVICE_SYNCHRONIZE,
        M.GOODBYE,
    ]
    assert [m.tail for m in worker.of(M.LAUNCH)] == [struct.pack("<Q", i) for i in range(3)]


# ---- memory ----

MEMORY = [
    "1 2 3 9 1",
    "3 9 2 9",
    *["cudaErrorInvalidValue"] * 3,
    "2 1 3 0",
    "1",
    "3 8",
    *["cudaErrorInvalidValue"] * 3,
    "cudaErrorInvalidMemcpyDirection",
    "cudaErrorInvalidValue",
    *["cudaErrorInvalidValue"] * 3,
    "cudaSuccess",
    "cudaSuccess",
    "cudaErrorInvalidValue",
    "cudaSuccess",
    "cudaSuccess",
    "512",
    "0 77 77 59",
    "cudaErrorInvalidPitchValue",
    "cudaErrorHostMemoryAlreadyRegistered",
    "cudaErrorNotSupported",
    "cudaErrorHostMemoryNotRegistered",
]


TOLD = re.compile(
    r"kw: 65 bytes were to be copied or filled at 0x\w+, where 64 bytes are left of the 64 that were .*\n"
    r"kw: kernels cannot use memory on the stack: register memory that was allocated\n"
)


def test_memory_in_the_arena(live: Live) -> None:
    ran, worker = live("memory")
    assert (ran.status, ran.lines) == (0, MEMORY)
    assert TOLD.fullmatch(ran.err), ran.err
    allocated = [m.body for m in worker.of(M.ALLOCATE)][1:]
    assert allocated[:3] == [
        Allocate(size=64, kind=MemoryKind.DEVICE),
        Allocate(size=64, kind=MemoryKind.PINNED),
        Allocate(size=64, kind=MemoryKind.MANAGED),
    ]
    # Only copies between memory that the device sees are messages; bytes of the host's own are copied by the client.
    assert len(worker.of(M.COPY)) == 6
    fill = worker.of(M.FILL)[0].body
    assert isinstance(fill, Fill) and (fill.value, fill.width, fill.height) == (9, 8, 1)


def test_memory_that_is_not_in_the_arena(live: Live) -> None:
    ran, worker = live("memory", far=True)
    assert (ran.status, ran.lines) == (0, MEMORY)
    assert TOLD.fullmatch(ran.err), ran.err
    touched = [m.body for m in worker.of(M.COPY)]
    assert len(touched) > 4
    for copy in touched:
        assert isinstance(copy, Copy)
        assert all(a >= FAR_ADDRESS or ARENA_ADDRESS <= a < ARENA_ADDRESS + ARENA_SIZE for a in (copy.to, copy.from_))


@pytest.mark.parametrize("far", [False, True], ids=["arena", "far"])
def test_large_copies(live: Live, far: bool) -> None:
    ran, worker = live("large", far=far)
    # The second copy takes 10 of every 20 numbers: row 1 begins with number 20, row 99 ends with number 1989.
    assert ran.lines == ["0", f"{7 * 20} {7 * 1989}"]
    assert (len(worker.of(M.COPY)) > 10) == far


@pytest.mark.parametrize("far", [False, True], ids=["arena", "far"])
def test_symbols(live: Live, far: bool) -> None:
    ran, worker = live("symbols", far=far)
    assert ran.lines == [
        "5 64 7070707",
        "cudaErrorInvalidValue",
        "cudaErrorInvalidMemcpyDirection",
        "cudaErrorInvalidSymbol",
        "cudaErrorInvalidValue",
    ]
    # Each variable's address is asked once.
    assert [m.body for m in worker.of(M.SYMBOL_ADDRESS)] == [
        Handle(handle=m.body.symbol)
        for name in (b"table", b"counter")
        for m in worker.of(M.REGISTER_VARIABLE)
        if m.tail == name and isinstance(m.body, RegisterSymbol)
    ]


def test_host_access_is_told_where_it_is_wanted(live: Live) -> None:
    _, worker = live("add", note_host_access=True)
    notes = [m.body for m in worker.of(M.HOST_ACCESS)]
    a, b, out = (m.body.handle for m in worker.of(M.FREE) if isinstance(m.body, Handle))
    assert notes == [
        HostAccess(address=a, size=4000, written=1),
        HostAccess(address=b, size=4000, written=1),
        HostAccess(address=out, size=4000, written=0),
    ]
    # A note is nothing to wait for.
    assert len(worker.of(M.DEVICE_SYNCHRONIZE)) == 1


def bump(worker: FakeWorker, launch: Launch, arguments: bytes) -> None:
    (address,) = struct.unpack("<Q", arguments)
    (value,) = struct.unpack("<i", worker.read(address, 4))
    worker.write(address, struct.pack("<i", value + 1))


def test_managed_variables_are_the_same_memory(live: Live) -> None:
    ran, worker = live("managed", on_launch=bump)
    # Before a device is there, after it came, after a kernel added one to what the host had set.
    assert ran.lines == ["42 3", "42 3", "51 3 1 51"]
    level = next(m.body for m in worker.of(M.REGISTER_VARIABLE) if m.tail == b"level")
    (launch,) = worker.of(M.LAUNCH)
    assert isinstance(level, RegisterSymbol)
    # The kernel gets the device's address of the variable, though the program passed its own.
    assert launch.tail == struct.pack("<Q", level.address)
    assert ARENA_ADDRESS <= level.address < ARENA_ADDRESS + ARENA_SIZE


DESCRIPTOR = struct.Struct("<QQQIII9i4f")


def test_textures_are_descriptors_in_memory(live: Live) -> None:
    """What device code reads: texture_types.h."""
    freed: dict[int, bytes] = {}

    def keep(worker: FakeWorker, message: Received) -> None:
        assert isinstance(message.body, Handle)
        freed[message.body.handle] = worker.read(message.body.handle, DESCRIPTOR.size)

    ran, _ = live("textures", answers={M.FREE: keep})
    assert ran.status == 0
    assert ran.lines[:4] == ["0", "108 119", "cudaErrorInvalidValue", "cudaErrorInvalidPitchValue"]
    assert ran.lines[5:] == [
        "cudaErrorInvalidFilterSetting",
        "cudaErrorInvalidChannelDescriptor",
        "cudaErrorInvalidValue",
        "cudaErrorInvalidTextureBinding",
        "cudaErrorInvalidResourceHandle",
    ]
    data, *described = DESCRIPTOR.unpack(freed[int(ran.lines[4])])
    assert data in freed, "the array's memory is freed as well"
    # 10 x 3 texels in rows of 512 bytes; four channels of 8 unsigned bits; wrap, border, wrap; linear, normalised float,
    # normalised coordinates; border colour.
    assert described == [512, 1536, 10, 3, 0, 4, 8, 1, 0, 3, 0, 1, 1, 1, 0.0, 0.0, 0.5, 0.0]


def test_a_texture_reference_is_a_variable_with_a_descriptors_address(live: Live) -> None:
    seen: list[tuple[object, ...]] = []

    def look(worker: FakeWorker, message: Received) -> None:
        # The first array comes after the binding.
        if worker.addresses and not seen:
            (descriptor,) = struct.unpack("<Q", worker.read(worker.addresses[b"reference"], 8))
            seen.append(DESCRIPTOR.unpack(worker.read(descriptor, DESCRIPTOR.size)))

    _, worker = live("textures", answers={M.ALLOCATE: look})
    device = next(m for m in worker.of(M.ALLOCATE) if m.body == Allocate(size=64))
    assert device is not None
    data, row, _, width, height, depth, channels, bits, kind, *_ = seen[0]
    assert (row, width, height, depth, channels, bits, kind) == (64, 16, 0, 0, 1, 32, 2)
    assert data == ARENA_ADDRESS + (1 << 16) + 8192, "the first allocation after the managed variables"


# ---- streams and events ----


def test_streams_and_events(live: Live) -> None:
    ran, worker = live("streams")
    assert ran.lines == [
        "cudaErrorInvalidResourceHandle",
        "cudaSuccess",
        "cudaSuccess",
        "cudaSuccess",
        "1.25",
        "cudaErrorInvalidResourceHandle",
        "1 -5",
        "called",
        "cudaErrorInvalidResourceHandle",
        "cudaErrorInvalidResourceHandle",
    ]
    s, t, own = (m.body for m in worker.of(M.STREAM_CREATE))
    assert isinstance(s, Stream) and isinstance(t, Stream) and isinstance(own, Stream)
    assert (s.flags, t.flags, t.priority) == (0, 1, -5)
    assert len({0, s.stream, t.stream, own.stream}) == 4
    assert [m.body.stream for m in worker.of(M.LAUNCH) if isinstance(m.body, Launch)] == [s.stream, own.stream]
    a, b, plain = (m.body.event for m in worker.of(M.EVENT_CREATE) if isinstance(m.body, Event))
    assert [m.body for m in worker.of(M.EVENT_RECORD)] == [
        Event(event=a, stream=s.stream),
        Event(event=b, stream=s.stream),
        Event(event=plain, stream=0, flags=2),
    ]
    assert [m.body for m in worker.of(M.STREAM_WAIT)] == [Event(event=b, stream=t.stream)]
    # An event nobody recorded has happened: only the second query is a message.
    assert [m.body for m in worker.of(M.EVENT_QUERY)] == [Handle(handle=b)]
    # A stream that does not wait for stream 0 exists: waiting for stream 0 is no longer waiting for the device.
    assert [m.body for m in worker.of(M.STREAM_SYNCHRONIZE)][-1] == Handle(handle=0)


def test_not_ready(live: Live) -> None:
    ran, _ = live("streams", answers={M.STREAM_QUERY: lambda *_: Answer(result=600)})
    assert ran.lines[3] == "cudaErrorNotReady"


# ---- device ----


def test_device_properties(live: Live) -> None:
    ran, worker = live("describe")
    assert ran.lines == [
        "1 Paper GPU 8.6 8 28 65535",
        "101376 64 1",
        "0000:03:00.0 0",
        "cudaErrorInvalidDevice",
        "cudaErrorInvalidDevice",
        "cudaSuccess",
        "cudaErrorInvalidDevice",
        "12080",
        "cudaSuccess",
        str(102400 // 2 - 1024),
    ]
    assert len(worker.of(M.DEVICE_PROPERTIES)) == 1


def test_a_program_sleeps_while_it_waits(live: Live) -> None:
    """It looks for an answer at first, but not until it comes."""

    def slowly(*_: object) -> None:
        time.sleep(0.5)

    def processor_s() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = processor_s()
    ran, worker = live("forks", answers={M.DEVICE_SYNCHRONIZE: slowly})
    assert M.DEVICE_SYNCHRONIZE in kinds(worker) and "cudaSuccess" in ran.lines
    assert processor_s() - before < 0.25


# ---- failures ----


def test_a_failing_kernel(live: Live) -> None:
    sentence = "kernel small read 4 bytes outside every buffer (live.cu:28, thread 0)"
    failed = iter([Answer(result=700, sentence=sentence)])
    ran, worker = live("failing", answers={M.DEVICE_SYNCHRONIZE: lambda *_: next(failed, None)})
    assert ran.lines == [
        "cudaSuccess",  # the launch itself
        "cudaErrorIllegalAddress",
        "cudaErrorIllegalAddress",  # everything afterwards
        "cudaErrorIllegalAddress",
        "cudaErrorIllegalAddress",
        "cudaSuccess",  # the reset
        "cudaSuccess",
        "cudaSuccess",
    ]
    assert ran.err == f"kw: {sentence}\n"
    # The allocation that failed never reached the worker: two for managed variables, one after the reset.
    assert len(worker.of(M.ALLOCATE)) == 3
    # After the reset the worker is told everything again.
    (reset,) = (i for i, m in enumerate(worker.messages) if m.type is M.DEVICE_RESET)
    for kind in (M.REGISTER_MODULE, M.REGISTER_KERNEL, M.REGISTER_VARIABLE):
        before, after = (
            [m.tail for m in part if m.type is kind] for part in (worker.messages[:reset], worker.messages[reset:])
        )
        assert before == after and before


def test_what_kernels_print_comes_out_in_order(live: Live) -> None:
    ran, _ = live("arguments", answers={M.DEVICE_SYNCHRONIZE: lambda *_: Answer(printed="from a kernel\n")})
    assert ran.lines == ["cudaSuccess", "from a kernel", "cudaSuccess"]


def test_a_worker_that_dies(live: Live) -> None:
    ran, _ = live("add", leave_at=M.DEVICE_SYNCHRONIZE)
    assert ran.status == 9
    assert ran.lines[0].endswith("cudaErrorDevicesUnavailable")
    assert ran.err == (
        "kw: the device worker ended while the program was waiting for an answer; every CUDA call fails from here on\n"
    )


def test_a_worker_that_dies_at_the_handshake(live: Live) -> None:
    ran, _ = live("add", leave_at=M.HELLO)
    assert (ran.status, ran.lines) == (9, ["cudaMalloc(&da, 4 * n): cudaErrorDevicesUnavailable"])


def test_a_worker_that_refuses(live: Live) -> None:
    ran, _ = live("add", answers={M.HELLO: lambda *_: Answer(result=100, sentence="there is no GPU called h300")})
    assert ran.lines == ["cudaMalloc(&da, 4 * n): cudaErrorNoDevice"]
    assert ran.err == "kw: there is no GPU called h300\n"


def test_a_worker_of_another_version(live: Live) -> None:
    ran, _ = live("add", welcome=Welcome(version=VERSION + 1, device_count=1))
    assert ran.lines == ["cudaMalloc(&da, 4 * n): cudaErrorInsufficientDriver"]
    assert f"speaks version {VERSION + 1} of the protocol, this program version {VERSION}" in ran.err


def test_a_worker_with_no_device(live: Live) -> None:
    ran, _ = live("add", answers={M.HELLO: lambda *_: Answer(Welcome(version=VERSION))})
    assert ran.lines == ["cudaMalloc(&da, 4 * n): cudaErrorNoDevice"]


@pytest.mark.parametrize("size", [0, 15, 1 << 20])
def test_a_worker_that_talks_nonsense(live: Live, size: int) -> None:
    ran, _ = live("add", answers={M.ALLOCATE: lambda *_: Answer(tail=bytes(size), body=Handle())})
    assert ran.status == 9 and "malformed answer" in ran.err


def test_an_arena_that_is_in_the_way(live: Live) -> None:
    # No program can have memory there, so the client has to ask for another place.
    taken = 1 << 62
    welcome = Welcome(
        version=VERSION,
        device_count=1,
        flags=1,
        arena_address=taken,
        arena_size=ARENA_SIZE,
        staging_address=taken + 4096,
        staging_size=4096,
    )
    ran, worker = live("add", welcome=welcome, on_launch=add_floats)
    assert (ran.status, ran.lines) == (0, ["3 2997"])
    assert len(worker.of(M.MOVE_ARENA)) == 1
    assert worker.welcome == replace(
        welcome, arena_address=worker.welcome.arena_address, staging_address=worker.welcome.arena_address + 4096
    )


# ---- processes and threads ----


def test_threads_share_one_connection(live: Live) -> None:
    ran, worker = live("threads")
    assert ran.lines == ["cudaSuccess"]
    assert len(worker.of(M.LAUNCH)) == 800
    assert [m.sequence for m in worker.messages] == list(range(1, len(worker.messages) + 1))


def test_a_forked_child_has_no_device_and_leaves_its_parents_alone(program: Path, tmp_path: Path) -> None:
    with FakeWorker(tmp_path / "socket") as worker:
        ran = run(program, ["forks"], KERNELWRIGHT_SOCKET=str(worker.path), KERNELWRIGHT_REPORT="1")
    assert ran.lines == ["cudaErrorInitializationError", "cudaSuccess"]
    assert len(worker.of(M.GOODBYE)) == 1
    assert ran.err.count('"program"') == 1, "the report is the parent's alone"


ROOT = Path(__file__).parents[2]
WORKER = f"PYTHONPATH={ROOT / 'src'}:{ROOT} {sys.executable} -m tests.runtime.fake_worker"


def test_a_program_starts_its_own_worker(program: Path) -> None:
    ran = run(program, ["children"], KERNELWRIGHT_DEVICE="h200", KERNELWRIGHT_WORKER=WORKER)
    # The worker is not the program's child: wait() finds none. What the worker prints is not the program's output.
    assert ran.out == "-1\n"
    assert (
        "worker for h200: HELLO ALLOCATE REGISTER_MODULE" in ran.err and "\nprinted by the worker\n" in f"\n{ran.err}"
    )
    assert ran.err.rstrip().endswith("GOODBYE")


def test_a_worker_that_does_not_start(program: Path) -> None:
    ran = run(program, ["add"], KERNELWRIGHT_DEVICE="h200", KERNELWRIGHT_WORKER="exit 7")
    assert ran.status == 9 and "the device worker ended" in ran.err


def test_device_none_beats_a_worker(program: Path) -> None:
    ran = run(
        program, ["add"], KERNELWRIGHT_DEVICE="none", KERNELWRIGHT_WORKER="echo started >&2", KERNELWRIGHT_SOCKET="/x"
    )
    assert ran.lines == ["cudaMalloc(&da, 4 * n): cudaErrorNoDevice"]
    assert ran.err == ""
