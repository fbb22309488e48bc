"""What we embed in a program where nvcc puts its fat binary: everything about the device code of one source file.

    bytes = write(Blob(source="app.cu", ir=text, kernels=..., variables=..., ptx={"sm_80": text}))
    blob = read(bytes)

The layout is fixed by ``runtime/blob.h``, which the C runtime reads: a header with version, size and hash, a table of
sections, and the sections. IR, PTX and cubin are compressed; the source's name and the tables of kernels and variables are
not, so that the runtime can register and pack arguments without unpacking anything.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from enum import IntEnum
from typing import NoReturn

from kernelwright.architectures import number_of, runs_on
from kernelwright.errors import ToolError
from kernelwright.lazy_dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kernelwright.kernel_version import Version

MAGIC = b"\x89KWBLOB\n"
VERSION = 1

_HEADER = struct.Struct("<8sIIQ32s16s")
_COUNTED = struct.Struct("<IIQ")
_SECTION = struct.Struct("<32sIIQQQ")
_COUNTS = struct.Struct("<II")
_KERNEL = struct.Struct("<IIIIIIII")
_PARAMETER = struct.Struct("<IIII")
_VARIABLE = struct.Struct("<IIQII")
_DIGEST_AT = len(MAGIC) + _COUNTED.size
_DIGEST_END = _DIGEST_AT + 32
_PLAIN, _ZLIB = 0, 1
_CONSTANT, _EXTERNAL, _MANAGED = 1, 2, 4


class ParameterKind(IntEnum):
    """What a kernel's parameter is."""

    VALUE = 0
    """A number or a vector."""
    POINTER = 1
    STRUCTURE = 2
    """Passed by value."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel; sizes and offsets in bytes."""

    offset: int
    size: int
    alignment: int
    kind: ParameterKind = ParameterKind.VALUE


@dataclass(frozen=True)
class Kernel:
    """One kernel, by its mangled name."""

    name: str
    parameters: tuple[Parameter, ...] = ()
    max_threads: int = 0
    """Of a block, from ``__launch_bounds__``; 0: as many as the device allows."""
    min_blocks: int = 0
    """Resident on a multiprocessor, from ``__launch_bounds__``; 0: not asked for."""
    static_shared_bytes: int = 0

    @property
    def arguments_size(self) -> int:
        """Bytes of all arguments, packed at their offsets."""
        return max((p.offset + p.size for p in self.parameters), default=0)


@dataclass(frozen=True)
class Variable:
    """One ``__device__``, ``__constant__`` or ``__managed__`` variable, by its mangled name."""

    name: str
    size: int
    alignment: int
    is_constant: bool = False
    is_external: bool = False
    """Declared here, defined in another file."""
    is_managed: bool = False
    initial: bytes = b""
    """A managed variable's initial bytes, which the host sees too; empty: all zero."""


@dataclass(frozen=True)
class Blob:
    """The device code of one source file."""

    source: str
    """The file's name, for messages."""
    ir: str = field(repr=False)
    """LLVM-IR text."""
    kernels: tuple[Kernel, ...] = ()
    variables: tuple[Variable, ...] = ()
    ptx: Mapping[str, str] = field(default_factory=dict, repr=False)
    """By architecture: ``sm_80``; the first is what ``ir`` was compiled for."""
    irs: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Where it was compiled for several architectures: LLVM-IR of the others."""
    cubin: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    versions_text: str = field(default="", repr=False)
    """JSON: other versions of the kernels; none where it is empty."""

    @property
    def versions(self) -> tuple[Version, ...]:
        """What may run in the kernels' place. Raises ``ToolError`` for what cannot be read."""
        if not self.versions_text:
            return ()
        from kernelwright.kernel_version import version_from_json

        return tuple(version_from_json(each) for each in json.loads(self.versions_text))

    def for_arch(self, arch: str) -> Blob:
        """What runs on a GPU of ``arch``: the code of the newest architecture that is not newer. Itself, where there is only one."""
        fitting = [each for each in self.irs if runs_on(each, arch)]
        own = next(iter(self.ptx), "")
        best = max(fitting, key=lambda each: (number_of(each), each), default=own)
        if best not in self.irs or (runs_on(own, arch) and number_of(own) > number_of(best)):
            return self
        return replace(self, ir=self.irs[best], irs={}, ptx={best: self.ptx[best]})

    @property
    def module_id(self) -> bytes:
        """16 bytes that name the module: equal sources and IR have equal ids."""
        name = self.source.encode("utf-8", "surrogateescape")
        return hashlib.sha256(name + b"\0" + _encode(self.ir)).digest()[:16]


def write(blob: Blob) -> bytes:
    """The bytes to embed. The same blob always gives the same bytes."""
    sections: list[tuple[str, bytes, bool]] = [
        ("source", blob.source.encode("utf-8", "surrogateescape"), False),
        ("ir", _encode(blob.ir), True),
        *((f"ptx {arch}", _encode(text), True) for arch, text in blob.ptx.items()),
        *((f"ir {arch}", _encode(text), True) for arch, text in blob.irs.items()),
        *((f"cubin {arch}", data, True) for arch, data in sorted(blob.cubin.items())),
        *((("versions", _encode(blob.versions_text), True),) if blob.versions_text else ()),
        ("kernels", _kernel_table(blob.kernels), False),
        ("variables", _variable_table(blob.variables), False),
    ]
    at = _aligned(_HEADER.size + len(sections) * _SECTION.size)
    table, body = b"", b""
    for name, raw, is_packed in sections:
        stored = zlib.compress(raw, 6) if is_packed else raw
        start = _aligned(at + len(body))
        body = body.ljust(start - at, b"\0") + stored
        table += _SECTION.pack(name.encode(), _ZLIB if is_packed else _PLAIN, 0, start, len(stored), len(raw))
    head = _HEADER.size + len(table)
    size = at + len(body)
    counted = _COUNTED.pack(VERSION, len(sections), size)
    rest = blob.module_id + table + b"\0" * (at - head) + body
    return MAGIC + counted + hashlib.sha256(counted + rest).digest() + rest


def read(data: bytes, name: str = "the embedded device code") -> Blob:
    """The blob in ``data``; bytes after its end are ignored. Raises ``ToolError`` when it is damaged or of another version."""
    if len(data) < _HEADER.size or data[: len(MAGIC)] != MAGIC:
        raise ToolError(f"{name} was not made by kernelwright", hint="compile the program with kw compile")
    _, version, count, size, digest, _ = _HEADER.unpack_from(data)
    if version != VERSION:
        raise ToolError(
            f"{name} has version {version}, and this kernelwright reads version {VERSION}",
            hint="compile the program again",
        )
    hashed = data[len(MAGIC) : _DIGEST_AT] + data[_DIGEST_END:size]
    if size > len(data) or hashlib.sha256(hashed).digest() != digest:
        _damaged(name)
    try:
        sections = dict(_sections(data[:size], count))
        return Blob(
            source=sections["source"].decode("utf-8", "surrogateescape"),
            ir=_decode(sections["ir"]),
            kernels=_read_kernels(sections["kernels"]),
            variables=_read_variables(sections["variables"]),
            ptx={n.removeprefix("ptx "): _decode(s) for n, s in sections.items() if n.startswith("ptx ")},
            irs={n.removeprefix("ir "): _decode(s) for n, s in sections.items() if n.startswith("ir ")},
            cubin={n.removeprefix("cubin "): s for n, s in sections.items() if n.startswith("cubin ")},
            versions_text=_decode(sections.get("versions", b"")),
        )
    except (KeyError, ValueError, IndexError, struct.error, zlib.error):
        # The hash is right, so it was written like this: by something that is not `write`.
        _damaged(name)


def _damaged(name: str) -> NoReturn:
    raise ToolError(f"{name} is damaged: its contents do not match its hash", hint="compile the program again")


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _aligned(at: int) -> int:
    return -(-at // 8) * 8


def _sections(data: bytes, count: int) -> list[tuple[str, bytes]]:
    found = []
    for i in range(count):
        name, codec, _, offset, stored, raw = _SECTION.unpack_from(data, _HEADER.size + i * _SECTION.size)
        content = data[offset : offset + stored]
        if codec == _ZLIB:
            content = zlib.decompress(content)
        if len(content) != raw:
            raise ValueError(name)
        found.append((name.rstrip(b"\0").decode(), content))
    return found


class _Tail:
    """What comes after the fixed entries of a table, with the offset of each piece."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.data = b""

    def add(self, piece: bytes) -> int:
        at = self.start + len(self.data)
        self.data += piece
        return at


def _kernel_table(kernels: Sequence[Kernel]) -> bytes:
    parameters = [p for k in kernels for p in k.parameters]
    tail = _Tail(_COUNTS.size + len(kernels) * _KERNEL.size + len(parameters) * _PARAMETER.size)
    entries, first = b"", 0
    for k in kernels:
        name = tail.add(k.name.encode() + b"\0")
        count = len(k.parameters)
        numbers = (k.arguments_size, k.max_threads, k.min_blocks, k.static_shared_bytes)
        entries += _KERNEL.pack(name, first, count, *numbers, 0)
        first += count
    packed = b"".join(_PARAMETER.pack(p.offset, p.size, p.alignment, p.kind) for p in parameters)
    return _COUNTS.pack(len(kernels), len(parameters)) + entries + packed + tail.data


def _variable_table(variables: Sequence[Variable]) -> bytes:
    tail = _Tail(_COUNTS.size + len(variables) * _VARIABLE.size)
    entries = b""
    for v in variables:
        flags = _CONSTANT * v.is_constant | _EXTERNAL * v.is_external | _MANAGED * v.is_managed
        name = tail.add(v.name.encode() + b"\0")
        initial = tail.add(v.initial) if v.initial else 0
        entries += _VARIABLE.pack(name, flags, v.size, v.alignment, initial)
    return _COUNTS.pack(len(variables), 0) + entries + tail.data


def _name_at(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


def _read_kernels(data: bytes) -> tuple[Kernel, ...]:
    count, parameters = _COUNTS.unpack_from(data)
    at = _COUNTS.size + count * _KERNEL.size
    all_parameters = []
    for p in range(parameters):
        offset, size, alignment, kind = _PARAMETER.unpack_from(data, at + p * _PARAMETER.size)
        all_parameters.append(Parameter(offset, size, alignment, ParameterKind(kind)))
    kernels = []
    for k in range(count):
        name, first, n, _, threads, blocks, shared, _ = _KERNEL.unpack_from(data, _COUNTS.size + k * _KERNEL.size)
        own = tuple(all_parameters[first : first + n])
        kernels.append(Kernel(_name_at(data, name), own, threads, blocks, shared))
    return tuple(kernels)


def _read_variables(data: bytes) -> tuple[Variable, ...]:
    count, _ = _COUNTS.unpack_from(data)
    variables = []
    for v in range(count):
        name, flags, size, alignment, initial = _VARIABLE.unpack_from(data, _COUNTS.size + v * _VARIABLE.size)
        variables.append(
            Variable(
                name=_name_at(data, name),
                size=size,
                alignment=alignment,
                is_constant=bool(flags & _CONSTANT),
                is_external=bool(flags & _EXTERNAL),
                is_managed=bool(flags & _MANAGED),
                initial=data[initial : initial + size] if initial else b"",
            )
        )
    return tuple(variables)
