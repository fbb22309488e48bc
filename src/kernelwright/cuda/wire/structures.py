"""C structures as frozen dataclasses: each field says its width, and the value packs into the bytes that C sees.

    @dataclass(frozen=True)
    class Memory(Body):                 struct kw_memory { uint64_t address; uint64_t size; };
        c_name = "kw_memory"
        address: int = u64()
        size: int = u64()

    Memory(address=4096, size=16).pack()

Only structures without holes: the standard sizes of their fields in a row are the C layout.
"""

from __future__ import annotations

import struct
from dataclasses import field, fields
from typing import Any, ClassVar, Self

from kernelwright.lazy_dataclasses import dataclass


def _field(code: str, count: int = 1, **more: Any) -> Any:
    """A field of ``count`` values of struct's format ``code``; several are a tuple."""
    return field(metadata={"code": code, "count": count}, **more)


def u8(count: int) -> Any:
    """``count`` bytes."""
    return _field(f"{count}s", default=b"")


def u16() -> Any:
    """An unsigned number of 16 bits."""
    return _field("H", default=0)


def u32(count: int = 1) -> Any:
    """``count`` unsigned numbers of 32 bits; a single one is no tuple."""
    return _field("I", count, default=0 if count == 1 else (0,) * count)


def i32() -> Any:
    """A signed number of 32 bits."""
    return _field("i", default=0)


def u64() -> Any:
    """An unsigned number of 64 bits."""
    return _field("Q", default=0)


def f64() -> Any:
    """A floating-point number of 64 bits."""
    return _field("d", default=0.0)


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
        layout, names, is_plain = _layout(type(self))
        if is_plain:
            return layout.pack(*[getattr(self, name) for name, _ in names])
        values: list[Any] = []
        for name, count in names:
            value = getattr(self, name)
            values.extend(value) if count > 1 else values.append(value)
        return layout.pack(*values)

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """From the first ``sizeof()`` bytes. Raises ``struct.error`` when there are fewer."""
        layout, names, is_plain = _layout(cls)
        if is_plain:
            return cls(*layout.unpack_from(data))
        values = iter(layout.unpack_from(data))
        return cls(
            **{n: next(values) if count == 1 else tuple(next(values) for _ in range(count)) for n, count in names}
        )


Layout = tuple[struct.Struct, tuple[tuple[str, int], ...], bool]
_LAYOUTS: dict[type[Body], Layout] = {}


def _layout(body: type[Body]) -> Layout:
    """struct's format, how many values each field takes of it, and whether that is one for each."""
    known = _LAYOUTS.get(body)
    if known is None:
        members = fields(body)
        codes = "".join(f.metadata["code"] * f.metadata["count"] for f in members)
        names = tuple((f.name, f.metadata["count"]) for f in members)
        known = _LAYOUTS[body] = struct.Struct("<" + codes), names, all(count == 1 for _, count in names)
    return known
