"""How the fields of edits are read from JSON. Every reader raises ``ValueError`` or ``TypeError`` for what is no such thing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernelwright.edits.original import CLONE

Reader = Callable[[Any], Any]


def read_id(value: Any) -> int | str:
    """An instruction: its number, or the name of a copy. Raises ``ValueError``."""
    if (type(value) is int and value >= 0) or (isinstance(value, str) and CLONE.fullmatch(value)):
        return value
    raise ValueError(f"{value!r} names no instruction")


def read_copy_name(value: Any) -> str:
    """The name of a copy that an edit made. Raises ``ValueError``."""
    if isinstance(value, str) and CLONE.fullmatch(value):
        return value
    raise ValueError(f"{value!r} is no name of a copy")


def read_index(value: Any) -> int:
    """Which operand, or which argument. Raises ``ValueError``."""
    if type(value) is int and value >= 0:
        return value
    raise ValueError(f"{value!r} is no operand")


def read_value(value: Any) -> str:
    """A value with its type: ``float %a``. Raises ``ValueError``."""
    if isinstance(value, str) and " " in value and "\n" not in value:
        return value
    raise ValueError(f"{value!r} is no value with its type")


def read_number(value: Any) -> int:
    """A whole number. Raises ``ValueError``."""
    if type(value) is int:
        return value
    raise ValueError(f"{value!r} is no whole number")


def read_truth(value: Any) -> bool:
    """True or false. Raises ``ValueError``."""
    if isinstance(value, bool):
        return value
    raise ValueError(f"{value!r} is neither true nor false")


def read_word(value: Any) -> str:
    """A text. Raises ``ValueError``."""
    if isinstance(value, str):
        return value
    raise ValueError(f"{value!r} is no name")


def read_words(value: Any) -> tuple[str, ...]:
    """A list of texts, as a tuple. Raises ``ValueError``."""
    if isinstance(value, list):
        return tuple(read_word(w) for w in value)
    raise ValueError(f"{value!r} is no list of names")


def read_shape(value: Any) -> tuple[int, int, int]:
    """The extents of a block or a grid."""
    x, y, z = value
    return read_number(x), read_number(y), read_number(z)


def read_use(value: Any) -> tuple[int | str, int]:
    """An instruction and one of its operands."""
    id, index = value
    return read_id(id), read_index(index)


def read_choices(value: Any) -> tuple[tuple[int | str, int, str], ...]:
    """Values recorded for operands."""
    return tuple((read_id(id), read_index(index), read_value(text)) for id, index, text in value)


def optional(read: Reader) -> Reader:
    """The same, where nothing may be given."""
    return lambda value: None if value is None else read(value)
