"""Calls of libraries on the wire: a part of ``protocol.py``, defined by ``runtime/protocol.h`` as the rest is."""

from __future__ import annotations

from enum import IntEnum

from kernelwright.cuda.wire.structures import Body, u8, u32, u64
from kernelwright.lazy_dataclasses import dataclass


class ArgumentKind(IntEnum):
    """enum kw_argument_kind."""

    WORD = 0
    VALUE = 1
    DEVICE = 2
    ANSWER = 3


@dataclass(frozen=True)
class LibraryCall(Body):
    """struct kw_library_call. The tail: the routine's name and its arguments."""

    c_name = "kw_library_call"
    stream: int = u64()
    name_size: int = u32()
    count: int = u32()


@dataclass(frozen=True)
class Argument(Body):
    """struct kw_argument."""

    c_name = "kw_argument"
    word: int = u64()
    kind: int = u32()
    size: int = u32()
    value: bytes = u8(40)


@dataclass(frozen=True)
class LibraryAnswer(Body):
    """struct kw_library_answer."""

    c_name = "kw_library_answer"
    value: bytes = u8(160)
