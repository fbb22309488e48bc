"""The wire between a CUDA program and its device worker, for Python; ``runtime/protocol.h`` defines it.

Every structure of that header is a frozen dataclass here, under the same name without ``kw_``, with the same fields in the
same order. ``MESSAGES`` says for each message which body it carries, and whether and with what it is answered.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag

from kernelwright.cuda.wire.device_messages import DeviceProperties as DeviceProperties
from kernelwright.cuda.wire.device_messages import PeerAccess as PeerAccess
from kernelwright.cuda.wire.library_messages import Argument as Argument
from kernelwright.cuda.wire.library_messages import ArgumentKind as ArgumentKind
from kernelwright.cuda.wire.library_messages import LibraryAnswer as LibraryAnswer
from kernelwright.cuda.wire.library_messages import LibraryCall as LibraryCall
from kernelwright.cuda.wire.runtime_compilation import Compile as Compile
from kernelwright.cuda.wire.runtime_compilation import Compiled as Compiled
from kernelwright.cuda.wire.structures import Body as Body  # for those who carry any of these
from kernelwright.cuda.wire.structures import f64, i32, u16, u32, u64
from kernelwright.lazy_dataclasses import dataclass

VERSION = 5
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
    READ_IMAGE = 15
    COMPILE = 16
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
    LIBRARY_CALL = 45
    LIBRARY_QUESTION = 46
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
    PEER_ACCESS = 64
    STACK_LIMIT = 65
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


@dataclass(frozen=True)
class Nothing(Body):
    """No fixed body."""


@dataclass(frozen=True)
class Header(Body):
    """struct kw_header. Before every message."""

    c_name = "kw_header"
    size: int = u32()
    type: int = u16()
    device: int = u16()
    sequence: int = u32()
    result: int = i32()


@dataclass(frozen=True)
class Handle(Body):
    """struct kw_handle. A number, or an address."""

    c_name = "kw_handle"
    handle: int = u64()


@dataclass(frozen=True)
class Hello(Body):
    """struct kw_hello."""

    c_name = "kw_hello"
    version: int = u32()
    process: int = u32()


@dataclass(frozen=True)
class Welcome(Body):
    """struct kw_welcome. ``flags``: WelcomeFlags."""

    c_name = "kw_welcome"
    version: int = u32()
    device_count: int = u32()
    flags: int = u32()
    reserved: int = u32()
    arena_address: int = u64()
    arena_size: int = u64()
    staging_address: int = u64()
    staging_size: int = u64()


@dataclass(frozen=True)
class MoveArena(Body):
    """struct kw_move_arena."""

    c_name = "kw_move_arena"
    address: int = u64()


@dataclass(frozen=True)
class Output(Body):
    """struct kw_output."""

    c_name = "kw_output"
    stream: int = u32()
    reserved: int = u32()


@dataclass(frozen=True)
class RegisterModule(Body):
    """struct kw_register_module. ``format``: ModuleFormat."""

    c_name = "kw_register_module"
    module: int = u32()
    format: int = u32()


@dataclass(frozen=True)
class RegisterSymbol(Body):
    """struct kw_register_symbol. ``flags``: SymbolFlags."""

    c_name = "kw_register_symbol"
    module: int = u32()
    symbol: int = u32()
    flags: int = u32()
    reserved: int = u32()
    size: int = u64()
    address: int = u64()


@dataclass(frozen=True)
class Allocate(Body):
    """struct kw_allocate. ``kind``: MemoryKind."""

    c_name = "kw_allocate"
    size: int = u64()
    kind: int = u32()
    reserved: int = u32()


@dataclass(frozen=True)
class Memory(Body):
    """struct kw_memory."""

    c_name = "kw_memory"
    address: int = u64()
    size: int = u64()


@dataclass(frozen=True)
class MemoryInfo(Body):
    """struct kw_memory_info."""

    c_name = "kw_memory_info"
    free: int = u64()
    total: int = u64()


@dataclass(frozen=True)
class Fill(Body):
    """struct kw_fill."""

    c_name = "kw_fill"
    address: int = u64()
    pitch: int = u64()
    width: int = u64()
    height: int = u64()
    stream: int = u64()
    value: int = u32()
    reserved: int = u32()


@dataclass(frozen=True)
class Copy(Body):
    """struct kw_copy."""

    c_name = "kw_copy"
    to: int = u64()
    from_: int = u64()
    to_pitch: int = u64()
    from_pitch: int = u64()
    to_slice: int = u64()
    from_slice: int = u64()
    width: int = u64()
    height: int = u64()
    depth: int = u64()
    stream: int = u64()


@dataclass(frozen=True)
class HostAccess(Body):
    """struct kw_host_access."""

    c_name = "kw_host_access"
    address: int = u64()
    size: int = u64()
    stream: int = u64()
    written: int = u32()
    reserved: int = u32()


@dataclass(frozen=True)
class Launch(Body):
    """struct kw_launch. The tail: packed arguments."""

    c_name = "kw_launch"
    stream: int = u64()
    kernel: int = u32()
    cooperative: int = u32()
    grid: tuple[int, ...] = u32(3)
    block: tuple[int, ...] = u32(3)
    shared_bytes: int = u32()
    arguments_size: int = u32()


@dataclass(frozen=True)
class Parameter(Body):
    """struct kw_parameter."""

    c_name = "kw_parameter"
    offset: int = u32()
    size: int = u32()


@dataclass(frozen=True)
class KernelLayout(Body):
    """struct kw_kernel_layout."""

    c_name = "kw_kernel_layout"
    parameter_count: int = u32()
    arguments_size: int = u32()


@dataclass(frozen=True)
class FunctionAttributes(Body):
    """struct kw_function_attributes."""

    c_name = "kw_function_attributes"
    static_shared_bytes: int = u64()
    constant_bytes: int = u64()
    local_bytes: int = u64()
    max_threads: int = u32()
    registers: int = u32()
    ptx_version: int = u32()
    binary_version: int = u32()
    max_dynamic_shared_bytes: int = u32()
    preferred_carveout: int = i32()


@dataclass(frozen=True)
class FunctionAttribute(Body):
    """struct kw_function_attribute."""

    c_name = "kw_function_attribute"
    kernel: int = u32()
    attribute: int = u32()
    value: int = i32()
    reserved: int = u32()


@dataclass(frozen=True)
class Occupancy(Body):
    """struct kw_occupancy."""

    c_name = "kw_occupancy"
    shared_bytes: int = u64()
    kernel: int = u32()
    block_threads: int = u32()


@dataclass(frozen=True)
class Stream(Body):
    """struct kw_stream."""

    c_name = "kw_stream"
    stream: int = u64()
    flags: int = u32()
    priority: int = i32()


@dataclass(frozen=True)
class Event(Body):
    """struct kw_event."""

    c_name = "kw_event"
    event: int = u64()
    stream: int = u64()
    flags: int = u32()
    reserved: int = u32()


@dataclass(frozen=True)
class Elapsed(Body):
    """struct kw_elapsed."""

    c_name = "kw_elapsed"
    start: int = u64()
    end: int = u64()


@dataclass(frozen=True)
class Milliseconds(Body):
    """struct kw_milliseconds."""

    c_name = "kw_milliseconds"
    milliseconds: float = f64()


@dataclass(frozen=True)
class Swap(Body):
    """struct kw_swap."""

    c_name = "kw_swap"
    name_size: int = u32()
    reserved: int = u32()
    blob_size: int = u64()


@dataclass(frozen=True)
class NoteError(Body):
    """struct kw_note_error."""

    c_name = "kw_note_error"
    error: int = i32()
    reserved: int = u32()


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
    Message.READ_IMAGE: Kind(Nothing, Handle),
    Message.COMPILE: Kind(Compile, Compiled),
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
    Message.LIBRARY_CALL: Kind(LibraryCall),
    Message.LIBRARY_QUESTION: Kind(LibraryCall, LibraryAnswer),
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
    Message.PEER_ACCESS: Kind(PeerAccess),
    Message.STACK_LIMIT: Kind(Handle, Nothing),
    Message.LAST_ERROR: Kind(Nothing, Nothing),
    Message.SWAP_KERNEL: Kind(Swap, Nothing),
    Message.COUNTERS: Kind(Handle, Nothing),
    Message.NOTE_ERROR: Kind(NoteError),
}
