"""Text in LLVM's language: lines, names, declarations, and what the entry block reads once."""

from __future__ import annotations

from kernelwright.codegen.simt.emission import struct_offsets
from kernelwright.codegen.simt.emission.representation import stored

_HELPERS = frozenset(struct_offsets.FUNCTIONS)


class Writer:
    """``head`` is the entry block, ``out`` everything behind it."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.head: list[str] = []
        self.out: list[str] = []
        self.number = 0
        self.declared: dict[str, str] = {}
        self.scratches = 0
        self.context_pointers: dict[str, str] = {}
        self.tables: dict[tuple[int, ...], str] = {}

    def line(self, text: str) -> None:
        """Appends an indented line behind the entry block."""
        self.out.append("  " + text)

    def let(self, text: str) -> str:
        """``%t = text``; returns the name."""
        self.number += 1
        name = f"%t{self.number}"
        self.out.append(f"  {name} = {text}")
        return name

    def top(self, text: str) -> str:
        """The same in the entry block, where every later line can use it."""
        self.number += 1
        name = f"%t{self.number}"
        self.head.append(f"  {name} = {text}")
        return name

    def label(self, name: str) -> None:
        """Begins a basic block called ``name``."""
        self.out.append(f"{name}:")

    def fresh_label(self, hint: str) -> str:
        """A label that no block has yet: ``hint`` and a number."""
        self.number += 1
        return f"{hint}{self.number}"

    def vector_type(self, type: str) -> str:
        """The type of a vector of all lanes, as ``<32 x i32>``; a ``bfloat`` is kept as ``i16``."""
        return f"<{self.lanes} x {stored(type)}>"

    def declare(self, name: str, signature: str) -> None:
        """``signature`` is the declaration with ``@`` and name left to us: ``<32 x i32> (<32 x i32>)``."""
        if name not in self.declared:
            result, _, parameters = signature.partition(" (")
            self.declared[name] = f"declare {result} @{name}({parameters}"

    def context(self, field: str, type: str, index: int = 0, size: int = 4) -> str:
        """A field of the context, read in the entry block."""
        key = f"{field}{index}"
        found = self.context_pointers.get(key)
        if found is None:
            pointer = self.top(f"getelementptr i8, ptr %c, i64 {struct_offsets.CONTEXT[field] + index * size}")
            found = self.context_pointers[key] = self.top(f"load {type}, ptr {pointer}")
        return found

    def frame_pointer(self, field: str, offset: int = 0) -> str:
        """The address of a field of the warp's frame, ``offset`` bytes further on."""
        return self.let(f"getelementptr i8, ptr %f, i64 {struct_offsets.FRAME[field] + offset}")

    def scratch(self, i: int) -> str:
        """One of a few buffers of 32 lanes of 16 bytes, for passing vectors to the runtime."""
        self.scratches = max(self.scratches, i + 1)
        return f"%scratch{i}"

    def helper(self, name: str, arguments: str, result: str = "void") -> str:
        """The words that call a function of the runtime; each of ``arguments`` is a type and a value."""
        full = f"simt_{name}" if name in _HELPERS else f"row_{name}"
        if full not in self.declared:
            types = ", ".join(a.split(" ", 1)[0] for a in arguments.split(", "))
            self.declared[full] = f"declare {result} @{full}({types})"
        return f"call {result} @{full}({arguments})"

    def table(self, numbers: list[int]) -> str:
        """A constant row of bytes."""
        name = self.tables.get(tuple(numbers))
        if name is None:
            name = self.tables[tuple(numbers)] = f"@table{len(self.tables)}"
            row = ", ".join(f"i8 {n}" for n in numbers)
            self.declared[name] = f"{name} = private constant [{len(numbers)} x i8] [{row}]"
        return name

    def all_of(self, conditions: list[str]) -> str:
        """The ``and`` of several ``i1``."""
        total = conditions[0]
        for other in conditions[1:]:
            total = self.let(f"and i1 {total}, {other}")
        return total
