"""Writing for one number or for all lanes of a warp alike: what the tables of operations are spelled in."""

from __future__ import annotations

from kernelwright.codegen.simt.emission.lane_values import Lanes
from kernelwright.codegen.simt.emission.representation import splat, stored

SUFFIX = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}


class Width:
    """Writes either for one number or for all lanes; the tables below do not care which."""

    __slots__ = ("e", "lanes")

    def __init__(self, e: Lanes, vector: bool) -> None:
        self.e = e
        self.lanes = e.lanes if vector else 0

    @property
    def in_calls(self) -> bool:
        """Whether to call the runtime for lanes where vector code is long: what must be ready soon does."""
        return bool(self.lanes) and not self.e.options.in_line

    def type(self, type: str) -> str:
        """The type of a row of lane values: ``i32`` or ``<32 x i32>``."""
        return f"<{self.lanes} x {stored(type)}>" if self.lanes else stored(type)

    def const(self, type: str, text: str) -> str:
        """A constant of ``type``: for one number its text, for lanes a vector of it."""
        return splat(type, text) if self.lanes else text

    def let(self, text: str) -> str:
        """``%t = text``; returns the name."""
        return self.e.let(text)

    def suffix(self, type: str) -> str:
        """The type as names of intrinsics end in it: ``f32`` or ``v32f32``."""
        base = SUFFIX.get(type, type)
        return f"v{self.lanes}{base}" if self.lanes else base

    def intrinsic(self, name: str, type: str, args: list[str], extra: str = "") -> str:
        """``llvm.NAME.TYPE`` of arguments that all have one type; ``extra`` is a last argument of another."""
        full, t = f"llvm.{name}.{self.suffix(type)}", self.type(type)
        words = [f"{t} {a}" for a in args] + ([extra] if extra else [])
        self.e.declare(full, f"{t} ({', '.join(w.split(' ')[0] if w is extra else t for w in words)})")
        return self.let(f"call {t} @{full}({', '.join(words)})")

    def logic(self, code: str, type: str, a: str, b: str) -> str:
        """``and``, ``or`` and ``xor``."""
        e = self.e
        if self.lanes and type == "i1" and e.in_numbers:
            return e.bits_of_number(self.let(f"{code} i32 {e.number_of_bits(a)}, {e.number_of_bits(b)}"))
        return self.let(f"{code} {self.type(type)} {a}, {b}")

    def call(self, name: str, result: str, args: list[tuple[str, str]]) -> str:
        """A helper of the runtime: arrays of lanes in, an array of lanes out. ``args`` are (type, value)."""
        e = self.e
        for i, (type, value) in enumerate(args):
            self.let_store(type, value, e.scratch(i))
        pointers = [e.scratch(i) for i in range(len(args))]
        pointers += ["null"] * (3 - len(pointers))
        where = e.scratch(len(args))
        joined = ", ".join(f"ptr {p}" for p in [where, *pointers])
        e.line(e.helper(name, f"{joined}, i32 {self.lanes or 1}"))
        return self.let(f"load {self.type(result)}, ptr {where}, align 16")

    def let_store(self, type: str, value: str, pointer: str) -> None:
        """Stores the value through ``pointer``, which is aligned to 16 bytes."""
        self.e.line(f"store {self.type(type)} {value}, ptr {pointer}, align 16")
