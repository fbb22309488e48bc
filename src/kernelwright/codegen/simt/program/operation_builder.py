"""Writes small sums of operations into a program: what an intrinsic stands for, spelled out.

m = Make(flat)
high = m.trunc(m.lshr(m.mul(m.sext(a, "i64"), m.sext(b, "i64")), 32), "i32")
"""

from __future__ import annotations

from kernelwright.codegen.simt.program.flattening_context import FlatteningContext
from kernelwright.codegen.simt.program.program import Const, Operand, bits_of, integer

_FLOAT_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}
SMALLEST_NORMAL = {"half": 0x0400, "bfloat": 0x0080, "float": 0x00800000, "double": 0x0010000000000000}
_LITERALS = {
    "half": {0.0: "0xH0000", 1.0: "0xH3C00"},
    "bfloat": {0.0: "0xR0000", 1.0: "0xR3F80"},
}


class Make:
    def __init__(self, flat: FlatteningContext) -> None:
        self.flat = flat

    # -- constants

    def i(self, type: str, value: int) -> Const:
        """The integer constant, wrapped to the type."""
        return integer(type, value)

    def f(self, type: str, value: float) -> Const:
        """A constant that every format holds: 0, 1 and small whole numbers."""
        known = _LITERALS.get(type)
        return Const(type, known[value] if known else f"{value:.6e}")

    # -- operations; an ``int`` stands for a constant of the first operand's type

    def op(self, code: str, a: Operand, b: Operand | int) -> Operand:
        """An operation of two operands that gives the type of the first."""
        other = integer(a.type, b) if isinstance(b, int) else b
        return self.flat.emit(code, (a, other), a.type)

    def add(self, a: Operand, b: Operand | int) -> Operand:
        """a + b, which wraps."""
        return self.op("add", a, b)

    def sub(self, a: Operand, b: Operand | int) -> Operand:
        """a - b, which wraps."""
        return self.op("sub", a, b)

    def mul(self, a: Operand, b: Operand | int) -> Operand:
        """a * b, which wraps."""
        return self.op("mul", a, b)

    def and_(self, a: Operand, b: Operand | int) -> Operand:
        """a & b, bit by bit."""
        return self.op("and", a, b)

    def or_(self, a: Operand, b: Operand | int) -> Operand:
        """a | b, bit by bit."""
        return self.op("or", a, b)

    def xor(self, a: Operand, b: Operand | int) -> Operand:
        """a ^ b, bit by bit."""
        return self.op("xor", a, b)

    def shl(self, a: Operand, b: Operand | int) -> Operand:
        """a << b: zeros come in."""
        return self.op("shl", a, b)

    def lshr(self, a: Operand, b: Operand | int) -> Operand:
        """a >> b of unsigned numbers: zeros come in."""
        return self.op("lshr", a, b)

    def ashr(self, a: Operand, b: Operand | int) -> Operand:
        """a >> b of signed numbers: copies of the sign come in."""
        return self.op("ashr", a, b)

    def fop(self, code: str, *args: Operand) -> Operand:
        """An operation on floats that gives the type of the first operand."""
        return self.flat.emit(code, args, args[0].type)

    def icmp(self, predicate: str, a: Operand, b: Operand | int) -> Operand:
        """Integers compared by LLVM's ``predicate``, as ``ult``; an ``i1``."""
        other = integer(a.type, b) if isinstance(b, int) else b
        return self.flat.emit("icmp", (a, other), "i1", predicate)

    def fcmp(self, predicate: str, a: Operand, b: Operand) -> Operand:
        """Floats compared by LLVM's ``predicate``, as ``ogt``; an ``i1``."""
        return self.flat.emit("fcmp", (a, b), "i1", predicate)

    def select(self, c: Operand, a: Operand, b: Operand) -> Operand:
        """``a`` where the ``i1`` ``c`` holds, else ``b``."""
        return self.flat.emit("select", (c, a, b), a.type)

    def cast(self, code: str, a: Operand, type: str) -> Operand:
        """The conversion ``code`` to ``type``; ``a`` itself where it has that type."""
        return a if a.type == type else self.flat.emit(code, (a,), type)

    def zext(self, a: Operand, type: str) -> Operand:
        """Widened with zeros to the integer ``type``."""
        return self.cast("zext", a, type)

    def sext(self, a: Operand, type: str) -> Operand:
        """Widened with copies of the sign to the integer ``type``."""
        return self.cast("sext", a, type)

    def trunc(self, a: Operand, type: str) -> Operand:
        """The low bits, as many as the integer ``type`` has."""
        return self.cast("trunc", a, type)

    def bitcast(self, a: Operand, type: str) -> Operand:
        """The same bits as a ``type`` of equal width."""
        return self.cast("bitcast", a, type)

    def llvm(self, name: str, *args: Operand, extra: str = "") -> Operand:
        """``llvm.NAME`` on operands of one type, its result of that type too."""
        return self.flat.emit("llvm", args, args[0].type, (name, extra))

    def row(self, name: str, *args: Operand, type: str | None = None) -> Operand:
        """A function of the runtime."""
        return self.flat.emit("row", args, type or args[0].type, name)

    # -- numbers

    def bits(self, a: Operand) -> Operand:
        """The bits of a float as an integer of its width."""
        return self.bitcast(a, f"i{_FLOAT_BITS[a.type]}")

    def magnitude_mask(self, type: str) -> int:
        """The mask of a float type's bits but for the sign."""
        return (1 << (_FLOAT_BITS[type] - 1)) - 1

    def flush(self, a: Operand) -> Operand:
        """A subnormal becomes the zero of its sign."""
        word = self.bits(a)
        size = self.and_(word, self.magnitude_mask(a.type))
        small = self.icmp("ult", size, SMALLEST_NORMAL[a.type])
        sign = self.and_(word, 1 << (bits_of(word.type) - 1))
        return self.bitcast(self.select(small, sign, word), a.type)

    def saturate(self, a: Operand) -> Operand:
        """Into [0, 1]; a NaN becomes 0."""
        zero, one = self.f(a.type, 0.0), self.f(a.type, 1.0)
        above = self.fcmp("ogt", a, zero)
        below = self.fcmp("olt", a, one)
        return self.select(above, self.select(below, a, one), zero)

    def nan_of(self, a: Operand) -> Operand:
        """An ``i1``: whether the float is a NaN."""
        return self.fcmp("uno", a, a)

    def minimum(self, a: Operand, b: Operand) -> Operand:
        """The smaller; a NaN gives way, and -0 is below +0."""
        return self.in_single("minimumnum", a, b)

    def maximum(self, a: Operand, b: Operand) -> Operand:
        """The larger; a NaN gives way, and +0 is above -0."""
        return self.in_single("maximumnum", a, b)

    def in_single(self, name: str, *args: Operand, extra: str = "") -> Operand:
        """An LLVM intrinsic; narrow formats go through ``float``, which is exact or innocent of double rounding."""
        type = args[0].type
        if type not in ("half", "bfloat"):
            return self.llvm(name, *args, extra=extra)
        wide = [self.flat.emit("fpext", (a,), "float") for a in args]
        return self.flat.emit("fptrunc", (self.llvm(name, *wide, extra=extra),), type)
