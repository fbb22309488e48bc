"""A capture: every kernel launch of one run of a program, with the memory before and after. It is a workload by itself.

    with Capture.read(path) as capture:
        for launch in capture.launches:
            print(launch.kernel, launch.launch.grid, launch.launch.block)
            for buffer, content in capture.buffers(launch, "before"):
                ...

Addresses are the arena's: buffers are restored where they were, so that pointers inside buffers stay valid. Memory is read
when it is asked for; ``CaptureWriter`` (``writer.py``) makes the file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import asdict, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from kernelwright.device.arena import Buffer, Snapshot
from kernelwright.errors import Misuse, ToolError
from kernelwright.evaluate.capture import file_format as form
from kernelwright.evaluate.capture.file_format import HASH_BYTES, LIST, PAGE, PAGE_BYTES, TEXT, RecordReader
from kernelwright.launch import STACK_BYTES, Launch, Triple
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.lru import LruCache

When = Literal["before", "after"]

KEPT_BYTES = 256 << 20
"""Memory of buffers that a reader keeps, so that launches that share content share it here too."""


@dataclass(frozen=True)
class Stored:
    """A buffer and the hash of what it held: of its page, or of the list of its pages when it has several."""

    buffer: Buffer
    content: bytes

    def as_json(self) -> list[Any]:
        """Address, size in bytes, name, whether it is writable (0 or 1), and the hash in hexadecimal; ``from_json`` reads it."""
        b = self.buffer
        return [b.address, b.size, b.name, int(b.writable), self.content.hex()]

    @classmethod
    def from_json(cls, row: list[Any]) -> Stored:
        """What ``as_json`` wrote. Raises ``ValueError`` or ``TypeError`` for anything else."""
        address, size, name, writable, content = row
        return cls(Buffer(address, size, name, bool(writable)), bytes.fromhex(content))


Memory = tuple[Stored, ...]
"""All device buffers at one moment, by rising address."""


@dataclass(frozen=True)
class Pointer:
    """Eight bytes of a launch's parameters, from ``offset``, point ``inside`` bytes into the buffer at ``buffer``."""

    offset: int
    buffer: int
    inside: int


def pointers_in(parameters: bytes, buffers: Iterable[Buffer]) -> tuple[Pointer, ...]:
    """The pointers in a parameter buffer: each aligned eight bytes that are an address of a buffer, or of its end."""
    known = list(buffers)
    found = []
    for offset in range(0, len(parameters) - 7, 8):
        (value,) = struct.unpack_from("<Q", parameters, offset)
        owner = next((b for b in known if b.address <= value < b.end), None)
        owner = owner or next((b for b in known if value in (b.address, b.end)), None)
        if owner is not None:
            found.append(Pointer(offset, owner.address, value - owner.address))
    return tuple(found)


@dataclass(frozen=True)
class Operation:
    """What the host did to the device's memory between two launches. Sizes and offsets in bytes.

    ``kind``: ``allocate`` and ``free`` a buffer; ``write`` (host to device), ``read`` (device to host), ``copy`` (device to
    device) a box of ``width`` x ``height`` x ``depth``; ``fill`` one with ``value``.
    """

    kind: Literal["allocate", "free", "write", "read", "copy", "fill"]
    address: int
    """The buffer, or where the box starts: its destination, except for ``read``."""
    width: int = 0
    height: int = 1
    depth: int = 1
    pitch: int = 0
    slice: int = 0
    source: int = 0
    source_pitch: int = 0
    source_slice: int = 0
    value: int = 0
    name: str = ""
    content: str = ""
    """The hash of what was written, where the recorder saw it."""


@dataclass(frozen=True)
class RecordedModule:
    """A module of the program. ``variables``: the addresses of its device variables."""

    name: str
    ir: bytes
    """The hash of its LLVM-IR text; see ``Capture.ir``."""
    ptx: bytes | None
    variables: Mapping[str, int]


@dataclass(frozen=True)
class RecordedLaunch:
    """One kernel launch."""

    number: int
    """From 0, in the order of the program."""
    module: str
    launch: Launch
    pointers: tuple[Pointer, ...]
    before: Memory
    after: Memory
    operations: tuple[Operation, ...] = ()
    """What the host did since the previous launch."""
    fault: str = ""
    """Why the kernel stopped in the recording; empty when it ran to its end."""
    time_us: float | None = None
    """What the device said it took."""

    @property
    def kernel(self) -> str:
        """Its mangled name."""
        return self.launch.kernel


@dataclass(frozen=True)
class ProgramIdentity:
    """Which program was recorded, by what, where."""

    argv: tuple[str, ...]
    folder: str = ""
    device: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """By field name, as the head of a recording keeps it."""
        return asdict(self)


@dataclass(frozen=True)
class Ending:
    """How the recorded program ended: its exit code, and the hashes of the files it wrote."""

    exit_code: int | None = None
    outputs: Mapping[str, str] = field(default_factory=dict)


class Capture:
    """A capture file, open for reading. Use it as a context manager, or ``close`` it."""

    def __init__(self, reader: RecordReader) -> None:
        self._reader = reader
        self._contents: LruCache[bytes, bytes] = LruCache(most_bytes=KEPT_BYTES, size=len)
        self.path = reader.path
        self.modules: dict[str, RecordedModule] = {}
        self.ending: Ending | None = None
        launches: list[RecordedLaunch] = []
        operations: list[Operation] = []
        for number, (kind, value) in enumerate(reader.story):
            try:
                if kind == form.HEAD:
                    self._read_head(value)
                elif kind == form.MODULE:
                    module = _module(value)
                    self.modules[module.name] = module
                elif kind == form.OPERATION:
                    operations.append(Operation(**value))
                elif kind == form.LAUNCH:
                    launches.append(_launch(value, len(launches), tuple(operations)))
                    operations = []
                else:
                    self.ending = Ending(value["exit_code"], value["outputs"])
            except (KeyError, TypeError, ValueError) as error:
                raise ToolError(
                    f"{self.path} holds a record that makes no sense (number {number}: {error})",
                    hint="record the program again with this version",
                ) from error
        self.launches = tuple(launches)
        self.last_operations = tuple(operations)
        """What the host did after the last launch."""

    @classmethod
    def read(cls, path: Path | str, *, partial: bool = False) -> Capture:
        """Opens a capture. One whose recording was cut short is refused unless ``partial``: then its whole launches are read.

        Raises ``Misuse`` for what is no capture, ``ToolError`` for a damaged one.
        """
        reader = RecordReader(Path(path))
        try:
            if not reader.story:
                raise ToolError(f"{path} ends before its first record", hint="record the program again")
            capture = cls(reader)
            if reader.ends_early and not partial:
                raise ToolError(
                    f"{path} ends in the middle of the recording; {len(capture.launches)} launches are whole",
                    hint="record the program again, or use those launches with --partial",
                )
        except BaseException:
            reader.close()
            raise
        return capture

    @property
    def complete(self) -> bool:
        """Whether the recording went on to the program's end."""
        return self.ending is not None

    def _read_head(self, value: dict[str, Any]) -> None:
        p = value["program"]
        self.program = ProgramIdentity(tuple(p["argv"]), p["folder"], p["device"], p["versions"])
        self.base = int(value["base"])
        """The arena's first address."""
        self.reserve = int(value["reserve"])

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels that were launched, in the order of their first launch."""
        return tuple(dict.fromkeys(launch.kernel for launch in self.launches))

    def ir(self, module: str) -> str:
        """A module's LLVM-IR."""
        return self._reader.content(TEXT, self._module(module).ir).decode()

    def ptx(self, module: str) -> str | None:
        """A module's PTX, where it was recorded."""
        found = self._module(module).ptx
        return None if found is None else self._reader.content(TEXT, found).decode()

    def _module(self, name: str) -> RecordedModule:
        found = self.modules.get(name)
        if found is None:
            raise Misuse(f"{self.path} has no module {name!r}", hint=f"it has {', '.join(self.modules) or 'none'}")
        return found

    def buffers(self, launch: RecordedLaunch | int, when: When) -> tuple[tuple[Buffer, bytes], ...]:
        """Every device buffer with its bytes, before or after a launch, by rising address."""
        return self.snapshot(launch, when).contents

    def snapshot(self, launch: RecordedLaunch | int, when: When) -> Snapshot:
        """The memory before or after a launch, as ``Arena.restore`` takes it."""
        found = self.launches[launch] if isinstance(launch, int) else launch
        memory = found.before if when == "before" else found.after
        return Snapshot(tuple((s.buffer, self.content(s)) for s in memory))

    def content(self, stored: Stored) -> bytes:
        """The bytes of one buffer. Raises ``ToolError`` when they are damaged."""
        key = stored.content + stored.buffer.size.to_bytes(8, "little")
        return self._contents.get_or_make(key, lambda: self._read_content(stored))

    def _read_content(self, stored: Stored) -> bytes:
        size, name = stored.buffer.size, stored.content
        if size <= PAGE_BYTES:
            data = self._reader.content(PAGE, name)
        else:
            names = self._reader.content(LIST, name)
            pages = range(0, len(names), HASH_BYTES)
            data = b"".join(self._reader.content(PAGE, names[i : i + HASH_BYTES]) for i in pages)
        if len(data) != size:
            raise ToolError(
                f"{self.path}: buffer '{stored.buffer.name}' has {size} bytes, {len(data)} are recorded",
                hint="record the program again",
            )
        return data

    def operation_content(self, operation: Operation) -> bytes | None:
        """What the host wrote, where it was recorded."""
        if not operation.content:
            return None
        size = operation.width * operation.height * operation.depth
        return self.content(Stored(Buffer(operation.address, size, ""), bytes.fromhex(operation.content)))

    def close(self) -> None:
        """Closes the file; content that was not read before cannot be had afterwards."""
        self._reader.close()

    def __enter__(self) -> Capture:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def is_capture(path: Path) -> bool:
    """Whether a file starts as a capture does."""
    try:
        with path.open("rb") as file:
            return file.read(len(form.MAGIC)) == form.MAGIC
    except OSError:
        return False


def _module(value: dict[str, Any]) -> RecordedModule:
    ptx = bytes.fromhex(value["ptx"]) if value["ptx"] else None
    return RecordedModule(value["name"], bytes.fromhex(value["ir"]), ptx, value["variables"])


def launch_as_json(launch: Launch) -> dict[str, Any]:
    """A launch as recordings have it."""
    return {
        "kernel": launch.kernel, "grid": launch.grid, "block": launch.block, "shared_bytes": launch.shared_bytes,
        "arguments": launch.parameters.hex(), **({"is_cooperative": True} if launch.is_cooperative else {}),
        **({"stack_bytes": launch.stack_bytes} if launch.stack_bytes != STACK_BYTES else {}),
    }  # fmt: skip


def launch_from_json(value: Mapping[str, Any]) -> Launch:
    """A launch as a capture's index has it. Raises ``KeyError`` and ``ValueError`` for anything else."""
    parameters = bytes.fromhex(value["arguments"])
    return Launch(
        value["kernel"], _triple(value["grid"]), _triple(value["block"]), parameters, int(value["shared_bytes"]),
        bool(value.get("is_cooperative")), int(value.get("stack_bytes", STACK_BYTES)),
    )  # fmt: skip


def _launch(value: dict[str, Any], number: int, operations: tuple[Operation, ...]) -> RecordedLaunch:
    return RecordedLaunch(
        number,
        value["module"],
        launch_from_json(value),
        tuple(Pointer(*row) for row in value["pointers"]),
        tuple(Stored.from_json(row) for row in value["before"]),
        tuple(Stored.from_json(row) for row in value["after"]),
        operations,
        value["fault"],
        value["time_us"],
    )


def _triple(value: list[int]) -> Triple:
    x, y, z = value
    return x, y, z
