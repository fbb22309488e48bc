"""How a value looks while code for it is written: numbers for what lanes share, a vector for what they do not.

A ``Rep`` holds the numbers of the first lane of each segment (``parts``, one when the whole warp agrees) and what has to
be added from lane to lane; or the vector itself. A vector is made from numbers when it is needed, once per block.
"""

from __future__ import annotations

from kernelwright.codegen.simt.analyses.uniformity import Shape, U, V
from kernelwright.codegen.simt.program.program import Const, Var


class Rep:
    """``parts``: scalars in LLVM's words; ``shape`` says what they mean. For ``V`` the only part is the vector."""

    __slots__ = ("parts", "shape", "type", "vector")

    def __init__(self, type: str, shape: Shape, parts: list[str], vector: str | None = None) -> None:
        self.type = type
        self.shape = shape
        self.parts = parts
        self.vector = parts[0] if shape is V else vector

    @property
    def stride(self) -> int:
        """From lane to lane within a segment, of the numbers in ``parts``."""
        shape = self.shape[4] if self.shape[0] == "x" else self.shape
        stride: int = shape[1] if shape[0] == "s" else 0
        return stride

    @property
    def root(self) -> Var:
        """The 32-bit value an extended one is made from."""
        found: Var = self.shape[1]
        return found

    def part(self, i: int) -> str:
        """The number of segment ``i``."""
        return self.parts[i] if len(self.parts) > 1 else self.parts[0]


def stored(type: str) -> str:
    """The LLVM type that holds a lane value: ``bfloat`` is kept as its bits."""
    return "i16" if type == "bfloat" else type


def text_of(const: Const) -> str:
    """How the constant is written where a value of its stored type is expected."""
    if const.type != "bfloat":
        return const.text
    bits = int(const.text[3:], 16)
    return str(bits - (1 << 16) if bits >> 15 else bits)


def of_const(const: Const) -> Rep:
    """A constant, which all lanes share."""
    return Rep(const.type, U, [text_of(const)])


def splat(type: str, text: str) -> str:
    """A vector constant with the same number in every lane."""
    return "zeroinitializer" if text in ("0", "false", "0.0") else f"splat ({stored(type)} {text})"


def signed(value: int) -> int:
    """32 bits as LLVM writes an ``i32``."""
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def is_literal(text: str) -> bool:
    """Whether the text is a constant, not the name of a value."""
    return text[0] != "%"


def lane_constants(type: str, lanes: int, step: int, per_segment: int) -> str:
    """``<type 0, type step, ...>``, starting again with every segment."""
    numbers = [(lane % per_segment) * step for lane in range(lanes)]
    bits = int(type[1:])
    signed = [((n + (1 << (bits - 1))) & ((1 << bits) - 1)) - (1 << (bits - 1)) for n in numbers]
    return "<" + ", ".join(f"{type} {n}" for n in signed) + ">"
