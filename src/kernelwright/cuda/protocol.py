"""The wire between a CUDA program and its device worker, for Python; ``runtime/protocol.h`` defines it.

Every structure of that header is a frozen dataclass here, under the same name without ``kw_``, with the same fields in the
same order. ``MESSAGES`` says for each message which body it carries, and whether and with what it is answered.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, fields
from enum import IntEnum, IntFlag
from typing import Any, ClassVar, Self

VERSION = 2
REPLY = 0x8000
MESSAGE_LIMIT = 0xFFFF0000


class Message(IntEnum):
    """enum kw_message."""

    HELLO = 1
    MOVE_ARENA = 2
    GOODBYE = 3
    OUTPUT = 4
    REGISTER_MODULE = 10
    REGISTER_KERNEL = 11
    REGISTER_VARIABLE = 12
    UNREGISTER_MODULE = 14
    ALLOCATE = 20
    FREE = 21
    FILL = 22
    COPY = 23
    HOST_ACCESS = 24
    MEMORY_INFO = 25
    SYMBOL_ADDRESS = 26
    LAUNCH = 40
    KERNEL_LAYOUT = 41
    FUNCTION_ATTRIBUTES = 42
    SET_FUNCTION_ATTRIBUTE = 43
    OCCUPANCY = 44
    STREAM_CREATE = 50
    STREAM_DESTROY = 51
    STREAM_SYNCHRONIZE = 52
    STREAM_QUERY = 53
    STREAM_WAIT = 54
    EVENT_CREATE = 55
    EVENT_DESTROY = 56
    EVENT_RECORD = 57
    EVENT_SYNCHRONIZE = 58
    EVENT_QUERY = 59
    EVENT_ELAPSED = 60
    DEVICE_SYNCHRONIZE = 61
    DEVICE_RESET = 62
    DEVICE_PROPERTIES = 63
    LAST_ERROR = 79
    SWAP_KERNEL = 80
    COUNTERS = 81
    NOTE_ERROR = 82


class WelcomeFlags(IntFlag):
    """enum kw_welcome_flags."""

    ARENA_IS_DEVICE = 1
    NOTE_HOST_ACCESS = 2
    NOTE_ERRORS = 4
    NOTE_DIRECT_ACCESS = 8


class ModuleFormat(IntEnum):
    """enum kw_module_format."""

    BLOB = 1
    NVIDIA = 2


class SymbolFlags(IntFlag):
    """enum kw_symbol_flags."""

    CONSTANT = 1
    EXTERNAL = 2
    MANAGED = 4


class MemoryKind(IntEnum):
    """enum kw_memory_kind."""

    DEVICE = 0
    PINNED = 1
    MANAGED = 2


def _wire(code: str, count: int = 1, **more: Any) -> Any:
    """A field of ``count`` values of struct's format ``code``; several are a tuple."""
    return field(metadata={"code": code, "count": count}, **more)


def _u8(count: int) -> Any:
    return _wire(f"{count}s", default=b"")


def _u16() -> Any:
    return _wire("H", default=0)


def _u32(count: int = 1) -> Any:
    return _wire("I", count, default=0 if count == 1 else (0,) * count)


def _i32() -> Any:
    return _wire("i", default=0)


def _u64() -> Any:
    return _wire("Q", default=0)


def _f64() -> Any:
    return _wire("d", default=0.0)


@dataclass(frozen=True)
class Body:
    """A fixed structure of the protocol. Fields not given are zero."""

    c_name: ClassVar[str] = ""

    @classmethod
    def sizeof(cls) -> int:
        """In bytes."""
        return _layout(cls)[0].size

    def pack(self) -> bytes:
        """As on the wire. Raises ``struct.error`` for a value that does not fit."""
        layout, names = _layout(type(self))
        values: list[Any] = []
        for name, count in names:
            value = getattr(self, name)
            values.extend(value) if count > 1 else values.append(value)
        return layout.pack(*values)

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """From the first ``sizeof()`` bytes. Raises ``struct.error`` when there are fewer."""
        layout, names = _layout(cls)
        values = iter(layout.unpack_from(data))
        return cls(
            **{n: next(values) if count == 1 else tuple(next(values) for _ in range(count)) for n, count in names}
        )


_LAYOUTS: dict[type[Body], tuple[struct.Struct, tuple[tuple[str, int], ...]]] = {}


def _layout(body: type[Body]) -> tuple[struct.Struct, tuple[tuple[str, int], ...]]:
    """struct's format, and how many values each field takes of it. Natural alignment never leaves a hole in these
    structures, so the standard sizes in a row are the C layout."""
    if body not in _LAYOUTS:
        members = fields(body)
        codes = "".join(f.metadata["code"] * f.metadata["count"] for f in members)
        _LAYOUTS[body] = struct.Struct("<" + codes), tuple((f.name, f.metadata["count"]) for f in members)
    return _LAYOUTS[body]


@dataclass(frozen=True)
class Nothing(Body):
    """No fixed body."""


@dataclass(frozen=True)
class Header(Body):
    """struct kw_header. Before every message."""

    c_name = "kw_header"
    size: int = _u32()
    type: int = _u16()
    device: int = _u16()
    sequence: int = _u32()
    result: int = _i32()


@dataclass(frozen=True)
class Handle(Body):
    """struct kw_handle. A number, or an address."""

    c_name = "kw_handle"
    handle: int = _u64()


@dataclass(frozen=True)
class Hello(Body):
    """struct kw_hello."""

    c_name = "kw_hello"
    version: int = _u32()
    process: int = _u32()


@dataclass(frozen=True)
class Welcome(Body):
    """struct kw_welcome. ``flags``: WelcomeFlags."""

    c_name = "kw_welcome"
    version: int = _u32()
    device_count: int = _u32()
    flags: int = _u32()
    reserved: int = _u32()
    arena_address: int = _u64()
    arena_size: int = _u64()
    staging_address: int = _u64()
    staging_size: int = _u64()


@dataclass(frozen=True)
class MoveArena(Body):
    """struct kw_move_arena."""

    c_name = "kw_move_arena"
    address: int = _u64()


@dataclass(frozen=True)
class Output(Body):
    """struct kw_output."""

    c_name = "kw_output"
    stream: int = _u32()
    reserved: int = _u32()


@dataclass(frozen=True)
class RegisterModule(Body):
    """struct kw_register_module. ``format``: ModuleFormat."""

    c_name = "kw_register_module"
    module: int = _u32()
    format: int = _u32()


@dataclass(frozen=True)
class RegisterSymbol(Body):
    """struct kw_register_symbol. ``flags``: SymbolFlags."""

    c_name = "kw_register_symbol"
    module: int = _u32()
    symbol: int = _u32()
    flags: int = _u32()
    reserved: int = _u32()
    size: int = _u64()
    address: int = _u64()


@dataclass(frozen=True)
class Allocate(Body):
    """struct kw_allocate. ``kind``: MemoryKind."""

    c_name = "kw_allocate"
    size: int = _u64()
    kind: int = _u32()
    reserved: int = _u32()


@dataclass(frozen=True)
class Memory(Body):
    """struct kw_memory."""

    c_name = "kw_memory"
    address: int = _u64()
    size: int = _u64()


@dataclass(frozen=True)
class MemoryInfo(Body):
    """struct kw_memory_info."""

    c_name = "kw_memory_info"
    free: int = _u64()
    total: int = _u64()


@dataclass(frozen=True)
class Fill(Body):
    """struct kw_fill."""

    c_name = "kw_fill"
    address: int = _u64()
    pitch: int = _u64()
    width: int = _u64()
    height: int = _u64()
    stream: int = _u64()
    value: int = _u32()
    reserved: int = _u32()


@dataclass(frozen=True)
class Copy(Body):
    """struct kw_copy."""

    c_name = "kw_copy"
    to: int = _u64()
    from_: int = _u64()
    to_pitch: int = _u64()
    from_pitch: int = _u64()
    to_slice: int = _u64()
    from_slice: int = _u64()
    width: int = _u64()
    height: int = _u64()
    depth: int = _u64()
    stream: int = _u64()


@dataclass(frozen=True)
class HostAccess(Body):
    """struct kw_host_access."""

    c_name = "kw_host_access"
    address: int = _u64()
    size: int = _u64()
    stream: int = _u64()
    written: int = _u32()
    reserved: int = _u32()


@dataclass(frozen=True)
class Launch(Body):
    """struct kw_launch. The tail: packed arguments."""

    c_name = "kw_launch"
    stream: int = _u64()
    kernel: int = _u32()
    reserved: int = _u32()
    grid: tuple[int, ...] = _u32(3)
    block: tuple[int, ...] = _u32(3)
    shared_bytes: int = _u32()
    arguments_size: int = _u32()


@dataclass(frozen=True)
class Parameter(Body):
    """struct kw_parameter."""

    c_name = "kw_parameter"
    offset: int = _u32()
    size: int = _u32()


@dataclass(frozen=True)
class KernelLayout(Body):
    """struct kw_kernel_layout."""

    c_name = "kw_kernel_layout"
    parameter_count: int = _u32()
    arguments_size: int = _u32()


@dataclass(frozen=True)
class FunctionAttributes(Body):
    """struct kw_function_attributes."""

    c_name = "kw_function_attributes"
    static_shared_bytes: int = _u64()
    constant_bytes: int = _u64()
    local_bytes: int = _u64()
    max_threads: int = _u32()
    registers: int = _u32()
    ptx_version: int = _u32()
    binary_version: int = _u32()
    max_dynamic_shared_bytes: int = _u32()
    preferred_carveout: int = _i32()


@dataclass(frozen=True)
class FunctionAttribute(Body):
    """struct kw_function_attribute."""

    c_name = "kw_function_attribute"
    kernel: int = _u32()
    attribute: int = _u32()
    value: int = _i32()
    reserved: int = _u32()


@dataclass(frozen=True)
class Occupancy(Body):
    """struct kw_occupancy."""

    c_name = "kw_occupancy"
    shared_bytes: int = _u64()
    kernel: int = _u32()
    block_threads: int = _u32()


@dataclass(frozen=True)
class Stream(Body):
    """struct kw_stream."""

    c_name = "kw_stream"
    stream: int = _u64()
    flags: int = _u32()
    priority: int = _i32()


@dataclass(frozen=True)
class Event(Body):
    """struct kw_event."""

    c_name = "kw_event"
    event: int = _u64()
    stream: int = _u64()
    flags: int = _u32()
    reserved: int = _u32()


@dataclass(frozen=True)
class Elapsed(Body):
    """struct kw_elapsed."""

    c_name = "kw_elapsed"
    start: int = _u64()
    end: int = _u64()


@dataclass(frozen=True)
class Milliseconds(Body):
    """struct kw_milliseconds."""

    c_name = "kw_milliseconds"
    milliseconds: float = _f64()


@dataclass(frozen=True)
class DeviceProperties(Body):
    """struct kw_device_properties. ``name``: UTF-8, NUL-padded."""

    c_name = "kw_device_properties"
    name: bytes = _u8(256)
    uuid: bytes = _u8(16)
    global_bytes: int = _u64()
    shared_bytes_per_block: int = _u64()
    shared_bytes_per_block_optin: int = _u64()
    shared_bytes_per_multiprocessor: int = _u64()
    reserved_shared_bytes_per_block: int = _u64()
    constant_bytes: int = _u64()
    max_pitch: int = _u64()
    texture_alignment: int = _u64()
    texture_pitch_alignment: int = _u64()
    surface_alignment: int = _u64()
    major: int = _u32()
    minor: int = _u32()
    multiprocessors: int = _u32()
    warp_size: int = _u32()
    max_threads_per_block: int = _u32()
    max_threads_per_multiprocessor: int = _u32()
    max_blocks_per_multiprocessor: int = _u32()
    max_block: tuple[int, ...] = _u32(3)
    max_grid: tuple[int, ...] = _u32(3)
    registers_per_block: int = _u32()
    registers_per_multiprocessor: int = _u32()
    clock_khz: int = _u32()
    memory_clock_khz: int = _u32()
    memory_bus_bits: int = _u32()
    l2_bytes: int = _u32()
    persisting_l2_bytes: int = _u32()
    async_engines: int = _u32()
    ecc: int = _u32()
    integrated: int = _u32()
    concurrent_kernels: int = _u32()
    concurrent_managed_access: int = _u32()
    pageable_memory_access: int = _u32()
    cooperative_launch: int = _u32()
    compute_preemption: int = _u32()
    single_to_double_ratio: int = _u32()
    max_texture_1d: int = _u32()
    max_texture_1d_linear: int = _u32()
    max_texture_2d: tuple[int, ...] = _u32(2)
    max_texture_2d_linear: tuple[int, ...] = _u32(3)
    max_texture_3d: tuple[int, ...] = _u32(3)
    pci_bus: int = _u32()
    pci_device: int = _u32()
    pci_domain: int = _u32()
    kernel_timeout: int = _u32()
    virtual_device: int = _u32()
    driver_version: int = _u32()
    reserved: int = _u32()


@dataclass(frozen=True)
class Swap(Body):
    """struct kw_swap."""

    c_name = "kw_swap"
    name_size: int = _u32()
    reserved: int = _u32()
    blob_size: int = _u64()


@dataclass(frozen=True)
class NoteError(Body):
    """struct kw_note_error."""

    c_name = "kw_note_error"
    error: int = _i32()
    reserved: int = _u32()


@dataclass(frozen=True)
class Kind:
    """How one message looks."""

    body: type[Body] = Nothing
    answer: type[Body] | None = None
    """The body of its reply; None for a command, which has none."""


MESSAGES: dict[Message, Kind] = {
    Message.HELLO: Kind(Hello, Welcome),
    Message.MOVE_ARENA: Kind(MoveArena, Welcome),
    Message.GOODBYE: Kind(),
    Message.OUTPUT: Kind(Output),
    Message.REGISTER_MODULE: Kind(RegisterModule),
    Message.REGISTER_KERNEL: Kind(RegisterSymbol),
    Message.REGISTER_VARIABLE: Kind(RegisterSymbol),
    Message.UNREGISTER_MODULE: Kind(Handle),
    Message.ALLOCATE: Kind(Allocate, Memory),
    Message.FREE: Kind(Handle, Nothing),
    Message.FILL: Kind(Fill),
    Message.COPY: Kind(Copy),
    Message.HOST_ACCESS: Kind(HostAccess),
    Message.MEMORY_INFO: Kind(Nothing, MemoryInfo),
    Message.SYMBOL_ADDRESS: Kind(Handle, Memory),
    Message.LAUNCH: Kind(Launch),
    Message.KERNEL_LAYOUT: Kind(Handle, KernelLayout),
    Message.FUNCTION_ATTRIBUTES: Kind(Handle, FunctionAttributes),
    Message.SET_FUNCTION_ATTRIBUTE: Kind(FunctionAttribute, Nothing),
    Message.OCCUPANCY: Kind(Occupancy, Handle),
    Message.STREAM_CREATE: Kind(Stream),
    Message.STREAM_DESTROY: Kind(Handle),
    Message.STREAM_SYNCHRONIZE: Kind(Handle, Nothing),
    Message.STREAM_QUERY: Kind(Handle, Nothing),
    Message.STREAM_WAIT: Kind(Event),
    Message.EVENT_CREATE: Kind(Event),
    Message.EVENT_DESTROY: Kind(Handle),
    Message.EVENT_RECORD: Kind(Event),
    Message.EVENT_SYNCHRONIZE: Kind(Handle, Nothing),
    Message.EVENT_QUERY: Kind(Handle, Nothing),
    Message.EVENT_ELAPSED: Kind(Elapsed, Milliseconds),
    Message.DEVICE_SYNCHRONIZE: Kind(Nothing, Nothing),
    Message.DEVICE_RESET: Kind(Nothing, Nothing),
    Message.DEVICE_PROPERTIES: Kind(Nothing, DeviceProperties),
    Message.LAST_ERROR: Kind(Nothing, Nothing),
    Message.SWAP_KERNEL: Kind(Swap, Nothing),
    Message.COUNTERS: Kind(Handle, Nothing),
    Message.NOTE_ERROR: Kind(NoteError),
}
