"""From a function of the IR to a Python function that means the same: what the reference executor runs.

Before → after::

    loop:                                                  while True:
      %i = phi i32 [ 0, %entry ], [ %n, %loop ]              if k == 1:
      %p = getelementptr float, ptr %a, i64 %x                   C[1] += 1
      %v = load float, ptr %p            →                       v4 = p0 + v3 * 4 & 0xffffffffffffffff
      %n = add i32 %i, 1                                         if not l0 <= v4 <= h0 or v4 & 3: l0, h0, m0, o0 = find_generic(...)
      %c = icmp slt i32 %n, %1                                   v5 = m0[v4 - o0 >> 2]
      br i1 %c, label %loop, label %exit                         v6 = v2 + 1 & 0xffffffff
                                                                 if v6 ^ S < p1 ^ S: v2 = v6
                                                                 else: k = 2

Blocks that follow each other without a choice become one; the block to run next is found by a binary search over ``k``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

from kernelwright.codegen.fused_products import contractions
from kernelwright.codegen.joined_accesses import joined_alignment
from kernelwright.codegen.memory_layout import align_of, round_up, store_size
from kernelwright.device.arena import GENERIC
from kernelwright.device.reference import intrinsic_helpers, operations
from kernelwright.device.reference.local_memory import Frame, copy_in, too_deep
from kernelwright.device.reference.memory_access import FIND, read_bytes, write_bytes
from kernelwright.device.reference.straight_code import Run, Runs, search
from kernelwright.device.reference.thread_state import PAUSE, QUANTUM, Stop, Thread
from kernelwright.device.reference.unsupported import refuse
from kernelwright.device.value_layout import Constants, decoder, encoder, from_bits_of, is_aggregate, to_bits_of
from kernelwright.errors import CompileError
from kernelwright.ir import types as ty
from kernelwright.ir.module import BasicBlock, Function, Instruction
from kernelwright.ir.types import FloatType, IntType, PointerType, StructType, Type, VectorType
from kernelwright.ir.values import Value
from kernelwright.lazy_dataclasses import dataclass

CODES = {"i8": "B", "i16": "H", "i32": "I", "i64": "Q", "float": "f", "double": "d", "half": "H", "bfloat": "H"}
"""The ``struct`` code of the items that hold a type in memory."""

M64 = (1 << 64) - 1


@dataclass
class Program:
    """Everything translated for one kernel."""

    constants: Constants
    sites: list[Instruction] = field(default_factory=list)
    """Instructions that can fault or wait, by the number that the translated code mentions."""
    counters: dict[Function, tuple[list[int], list[list[BasicBlock]]]] = field(default_factory=dict)
    """Per function how often each run of blocks was entered, and the blocks of each run."""
    namespace: dict[str, Any] = field(default_factory=dict)
    kept: dict[int, str] = field(default_factory=dict)
    """The names of objects in ``namespace`` by their identity."""
    names: dict[Function, str] = field(default_factory=dict)
    generators: set[Function] = field(default_factory=set)
    """The functions that may wait for other threads."""
    watched: bool = False
    """Whether every access is reported to the launch, for races and uninitialised reads."""

    def site(self, instruction: Instruction) -> int:
        """Registers an instruction that can fault or wait; returns its index in ``sites``."""
        self.sites.append(instruction)
        return len(self.sites) - 1

    def keep(self, prefix: str, value: Any) -> str:
        """A name by which translated code reaches a Python object."""
        name = self.kept.get(id(value))
        if name is None:
            name = self.kept[id(value)] = f"{prefix}{len(self.namespace)}"
            self.namespace[name] = value
        return name


class Body:
    """Translates one function: what the handler of every instruction receives. It imports none of them."""

    def __init__(
        self,
        program: Program,
        function: Function,
        frame: Frame,
        byval: dict[Value, Type],
        handlers: Handlers,
        is_recursive: bool = False,
    ) -> None:
        """``handlers`` translates each opcode but phis and terminators. ``is_recursive``: it may be called while it runs."""
        self.is_recursive = is_recursive
        self.handlers = handlers
        self.program = program
        self.function = function
        self.frame = frame
        self.byval = byval
        self.is_generator = function in program.generators
        self.names: dict[Value, str] = {a: f"p{a.index}" for a in function.arguments}
        self.lines: list[str] = []
        self.prologue: list[str] = []
        self.fused = contractions(function)
        self.swallowed = {f.product for f in self.fused.values()}
        self.flushes = flushes_subnormals(function)
        self.standing_for: Instruction | None = None
        """The call of inline assembly whose expansion is being translated."""
        self._count = 0
        self._places: dict[tuple[Any, ...], int] = {}

    # -- values ----------------------------------------------------------------------------------------------------

    def ref(self, value: Value) -> str:
        """How translated code writes a value. Raises ``CompileError`` for one that is used before it is made."""
        name = self.names.get(value)
        if name is None:
            if not value.is_constant:
                raise CompileError(f"A value of type {value.type} in '{self.function.name}' is used before it is made.")
            name = self.literal(self.program.constants.value(value))
        return name

    def literal(self, item: Any) -> str:
        """Python text of a constant; tuples for aggregates. NaN, which has no literal, gets a name in the namespace."""
        if isinstance(item, tuple):
            return f"({', '.join(map(self.literal, item))},)" if item else "()"
        if isinstance(item, float):
            if item != item:
                return self.program.keep("N", item)
            text = {float("inf"): "INF", float("-inf"): "-INF"}.get(item, repr(item))
            return f"({text})" if text[0] == "-" else text
        return str(int(item))

    def fresh(self) -> str:
        """A name for a local variable that the function does not use yet."""
        self._count += 1
        return f"v{self._count}"

    def define(self, instruction: Instruction, expression: str) -> None:
        """Assigns the result."""
        name = self.names.get(instruction)
        if name is None:
            name = self.names[instruction] = self.fresh()
        self.lines.append(f"{name} = {expression}")

    def alias(self, instruction: Instruction, value: Value) -> None:
        """The result is another value, unchanged."""
        self.names[instruction] = self.ref(value)

    def emit(self, *lines: str) -> None:
        """Appends lines of Python to the block that is being translated."""
        self.lines += lines

    def site(self, instruction: Instruction) -> int:
        """As ``Program.site``; what inline assembly expands to counts as the call of it."""
        return self.program.site(self.standing_for or instruction)

    # -- templates -------------------------------------------------------------------------------------------------

    def apply(self, template: str, result: Type, operands: Sequence[Value], rounded: bool) -> str:
        """The template on operands, element by element for vectors. ``rounded`` brings a double into the format."""
        types = [o.type for o in operands]
        texts = [self.ref(o) for o in operands]
        if not isinstance(result, VectorType):
            return self._one(template, result, types, texts, rounded)
        parts = []
        for i in range(result.count):
            element_types = [t.element if isinstance(t, VectorType) else t for t in types]
            elements = [f"{x}[{i}]" if isinstance(t, VectorType) else x for x, t in zip(texts, types, strict=True)]
            parts.append(self._one(template, result.element, element_types, elements, rounded))
        return f"({', '.join(parts)},)"

    def _one(self, template: str, result: Type, types: list[Type], texts: list[str], rounded: bool) -> str:
        fields = dict(zip("abcd", texts, strict=False))
        if types:
            fields |= operations.widths(types[0], "A")
        fields |= operations.widths(result, "R")
        if len(types) > 1 and isinstance(types[1], IntType):
            fields["V"] = str(types[1].bits)
        if isinstance(result, StructType) and result.fields and isinstance(result.fields[-1], IntType):
            fields["w1"] = str(result.fields[-1].bits)
        kind = next((t for t in (*_struct_fields(result), *types[:1]) if isinstance(t, FloatType)), None)
        if kind is not None:
            plain = kind.kind in ("float", "double")
            fields |= {
                "F": f"{kind.kind.upper()}_FORMAT",
                "format": "" if plain else f", {kind.kind.upper()}_FORMAT",
                "fma": {"float": "fused_single", "double": "fused_double"}.get(kind.kind, "fused"),
                "bits": f"{kind.kind}_bits",
                "from_bits": f"{kind.kind}_from_bits",
                "sign": str(1 << (kind.bits - 1)),
            }
        flush = rounded and self.flushes and kind is ty.f32 and result is ty.f32
        if flush:
            fields |= {n: f"flush({x})" for n, x, t in zip("abcd", texts, types, strict=False) if t is ty.f32}
        text = template.format(**fields)
        rounder = operations.ROUNDER.get(result.kind) if rounded and isinstance(result, FloatType) else None
        text = f"{rounder}({text})" if rounder else f"({text})"
        return f"flush({text})" if flush else text

    def compute(
        self, instruction: Instruction, template: str, operands: Sequence[Value], rounded: bool = False
    ) -> None:
        """Assigns the template's value to the result."""
        text = self.apply(template, instruction.type, operands, rounded)
        prefix = "round_single("
        if instruction.type is ty.f32 and text.startswith(prefix):
            # The cell rounds in half the time of a call.
            self.emit(f"F32[0] = {text[len(prefix) : -1]}")
            text = "F32[0]"
        self.define(instruction, text)

    # -- memory ----------------------------------------------------------------------------------------------------

    def generic(self, pointer: Value) -> str:
        """A pointer's generic address."""
        base = GENERIC[space_of(pointer)]
        return f"{self.ref(pointer)} + {base}" if base else self.ref(pointer)

    def place(self, instruction: Instruction, pointer: Value, size: int, align: int, code: str, write: bool) -> str:
        """Emits the check of one access and returns the text of its first item, ``m0[v4 - o0 >> 2]``."""
        space, address = space_of(pointer), self.ref(pointer)
        root = None if space in (3, 5) else _root(pointer)
        key = (space, root, size, align, code, write)
        n = self._places.setdefault(key, len(self._places))
        site = self.site(instruction)
        misaligned = f" or {address} & {align - 1}" if align > 1 else ""
        self.emit(
            f"if not l{n} <= {address} <= h{n}{misaligned}:"
            f" l{n}, h{n}, m{n}, o{n} = find{space}(T, {address}, {size}, {align}, '{code}', {site}, {write})"
        )
        shift = {"B": 0, "H": 1, "I": 2, "f": 2, "Q": 3, "d": 3}[code]
        return f"m{n}[{address} - o{n}{f' >> {shift}' if shift else ''}]"

    def watch_read(self, instruction: Instruction, pointer: Value, size: int, kind: str = "read") -> None:
        """Reports a load, or an ``atomic``, to who watches the launch."""
        if self.program.watched:
            volatile = f", {_is_meant_to_be_seen(instruction)}" if kind == "read" else ""
            address, site = self.generic(pointer), self.site(instruction)
            self.emit(f"T.block.launch.watch.{kind}(T, {address}, {size}, {site}{volatile})")

    def watch_write(self, instruction: Instruction, pointer: Value, size: int, start: int) -> None:
        """Puts the lines of a store, from line ``start`` on, between looking at memory before and after."""
        if self.program.watched:
            address, watch = self.generic(pointer), "T.block.launch.watch"
            self.lines.insert(start, f"w = {watch}.before(T, {address}, {size})")
            volatile = _is_meant_to_be_seen(instruction)
            self.emit(f"{watch}.write(T, {address}, {size}, {self.site(instruction)}, w, {volatile})")

    def load(self, instruction: Instruction, pointer: Value) -> None:
        """Translates a load, checked for bounds and alignment; in a watched program with a report of the read."""
        type, size = instruction.type, store_size(instruction.type)
        align = max(required_align(type, instruction.align), joined_alignment(instruction, type))
        code, count = _items(type, align)
        self.watch_read(instruction, pointer, size)
        if not code:
            decode, site = self.program.keep("D", decoder(type)), self.site(instruction)
            self.define(instruction, f"{decode}(read_bytes(T, {self.generic(pointer)}, {size}, {align}, {site}))")
            return
        item = self.place(instruction, pointer, size, align, code, False)
        element = type.element if isinstance(type, VectorType) else type
        if count > 1:
            view, _, index = item[:-1].partition("[")
            self.emit(f"i = {index}")
            texts = [f"{view}[i + {n}]" for n in range(count)]
        else:
            texts = [item]
        texts = [_loaded(element, t) for t in texts]
        self.define(instruction, f"({', '.join(texts)},)" if isinstance(type, VectorType) else texts[0])
        if element is ty.f32:  # a NaN keeps its bits
            name = self.names[instruction]
            test = f"{name} != {name}"
            if count > 1 or isinstance(type, VectorType):
                total = " + ".join(f"{name}[{n}]" for n in range(count))
                self.emit(f"s = {total}")
                test = "s != s"
            decode, site = self.program.keep("D", decoder(type)), self.site(instruction)
            again = f"read_bytes(T, {self.generic(pointer)}, {size}, {align}, {site}, True)"
            self.emit(f"if {test}: {name} = {decode}({again})")

    def store(self, instruction: Instruction, value: Value, pointer: Value, align: int) -> None:
        """Translates a store of ``value``, ``align`` in bytes; in a watched program with a report of the write."""
        start = len(self.lines)
        self._store(instruction, value, pointer, align)
        self.watch_write(instruction, pointer, store_size(value.type), start)

    def _store(self, instruction: Instruction, value: Value, pointer: Value, align: int) -> None:
        type, size = value.type, store_size(value.type)
        align = max(required_align(type, align), joined_alignment(instruction, type))
        code, count = _items(type, align)
        text = self.ref(value)
        encode, site = self.program.keep("E", encoder(type)), self.site(instruction)
        slow = f"write_bytes(T, {self.generic(pointer)}, {encode}({text}), {align}, {site})"
        if not code:
            self.emit(slow)
            return
        item = self.place(instruction, pointer, size, align, code, True)
        element = type.element if isinstance(type, VectorType) else type
        if count > 1 or isinstance(type, VectorType):
            view, _, index = item[:-1].partition("[")
            parts = [f"{text}[{n}]" for n in range(count)]
            targets = [f"{view}[i + {n}]" for n in range(count)]
            stores = [f"i = {index}"]
            stores += [f"{target} = {_stored(element, p)}" for target, p in zip(targets, parts, strict=True)]
        else:
            parts, stores = [text], [f"{item} = {_stored(element, text)}"]
        if element is ty.f32 and not value.is_constant:
            self.emit(f"if {' and '.join(f'{p} == {p}' for p in parts)}:", *(f"    {s}" for s in stores))
            self.emit(f"else: {slow}")
        else:
            self.emit(*stores)

    # -- instructions ----------------------------------------------------------------------------------------------

    def instruction(self, i: Instruction) -> None:
        """Translates everything but phis and terminators."""
        handler = self.handlers.get(i.opcode)
        if handler is None:
            raise refuse(i, "no GPU code contains this instruction")
        if i not in self.swallowed:
            handler(self, i)

    # -- control ---------------------------------------------------------------------------------------------------

    def terminator(self, i: Instruction, run: Run, runs: Runs) -> None:
        """Leaves the run of blocks: sets ``k`` or, in a loop of its own, goes round again."""
        if i.opcode == "ret":
            value = self.ref(i.operands[0]) if i.operands else "None"
            if self.frame.size:
                self.emit(f"r = {value}", "T.sp = sp")
                value = "r"
            self.emit(f"return {value}")
        elif i.opcode == "unreachable":
            self.emit(f"unreachable(T, {self.site(i)})")
        elif i.opcode == "br" and len(i.successors) == 2 and i.successors[0] is not i.successors[1]:
            self.emit(f"if {self.ref(i.operands[0])}:")
            self._edge(i, i.successors[0], run, runs, "    ")
            self.emit("else:")
            self._edge(i, i.successors[1], run, runs, "    ")
        elif i.opcode == "switch" and i.cases:
            self._switch(i, run, runs)
        elif i.opcode in ("br", "switch"):
            self._edge(i, i.successors[0], run, runs, "")
        else:
            raise refuse(i, "GPU code has no exceptions and no computed jumps")

    def _switch(self, i: Instruction, run: Run, runs: Runs) -> None:
        value = self.ref(i.operands[0])
        by_target: dict[BasicBlock, list[int]] = {}
        for case, target in zip(i.cases, i.successors[1:], strict=True):
            by_target.setdefault(target, []).append(case.unsigned)
        word = "if"
        for target, numbers in by_target.items():
            test = f"== {numbers[0]}" if len(numbers) == 1 else f"in {{{', '.join(map(str, numbers))}}}"
            self.emit(f"{word} {value} {test}:")
            self._edge(i, target, run, runs, "    ")
            word = "elif"
        self.emit("else:")
        self._edge(i, i.successors[0], run, runs, "    ")

    def _edge(self, i: Instruction, target: BasicBlock, run: Run, runs: Runs, indent: str) -> None:
        """The phis of the target all at once, the charge for going back, and the next block."""
        assert i.parent is not None
        pairs = [(self.names[phi], self.ref(phi.incoming_value(i.parent))) for phi in target.phis]
        pairs = [(name, value) for name, value in pairs if name != value]
        if pairs:
            left, right = (", ".join(side) for side in zip(*pairs, strict=True))
            self.emit(f"{indent}{left} = {right}")
        number = runs.of[target]
        if number <= run.number:
            pause = f"yield ({PAUSE}, {self.site(i)})" if self.is_generator else f"T.recharge({self.site(i)})"
            self.emit(f"{indent}q -= 1", f"{indent}if q < 0: q = {pause}")
        if number != run.number:
            self.emit(f"{indent}k = {number}")
            if run.loops:
                self.emit(f"{indent}break")

    # -- the whole -------------------------------------------------------------------------------------------------

    def source(self, name: str) -> str:
        """The Python text of the function."""
        runs = Runs(self.function)
        for block in runs.order:
            for phi in block.phis:
                self.names[phi] = self.fresh()
        bodies = [self._run(run, runs) for run in runs.runs]
        counts = [0] * len(bodies)
        self.program.counters[self.function] = (counts, [run.blocks for run in runs.runs])
        self.program.namespace[f"C_{name}"] = counts
        parameters = "".join(f", p{a.index}" for a in self.function.arguments)
        head = [f"def {name}(T{parameters}, *, C=C_{name}, F32=F32):", *(f"    {line}" for line in self._prologue())]
        if len(bodies) == 1 and not runs.runs[0].loops:
            lines = [f"    {line}" for line in bodies[0]]
        else:
            lines = ["    k = 0", "    while True:", *search(bodies, 0, len(bodies), "        ")]
        return "\n".join([*head, *lines, "    if 0: yield" if self.is_generator else ""])

    def _prologue(self) -> list[str]:
        lines = [f"q = {QUANTUM}"]
        if self._places:
            lines.append(" = ".join(f"l{n}" for n in self._places.values()) + " = 1")
            lines.append(" = ".join(f"h{n}" for n in self._places.values()) + " = 0")
        if self.frame.size:
            lines += ["sp = T.sp", f"fp = sp + {self.frame.align - 1} & {-self.frame.align}"]
            lines.append(f"T.sp = fp + {round_up(self.frame.size, 16)}")
        if self.is_recursive:
            name, site = self.program.keep("F", self.function), self.program.site(self.function.entry.instructions[0])
            lines.append(f"if T.sp > T.local.size: too_deep(T, {name}, {site})")
        for value, type in self.byval.items():
            offset = self.frame.offsets[value]
            name, site = self.names[value], self.program.site(self.function.entry.instructions[0])
            lines.append(f"{name} = copy_in(T, {name}, fp + {offset}, {store_size(type)}, {site})")
        return lines + self.prologue

    def _run(self, run: Run, runs: Runs) -> list[str]:
        self.lines = [f"C[{run.number}] += 1"]
        for n, block in enumerate(run.blocks):
            if n:
                for phi in block.phis:
                    self.emit(f"{self.names[phi]} = {self.ref(phi.operands[0])}")
            for instruction in block.instructions[block.first_non_phi : -1]:
                self.instruction(instruction)
        last = run.blocks[-1].terminator
        assert last is not None
        self.terminator(last, run, runs)
        return ["while True:", *(f"    {line}" for line in self.lines)] if run.loops else self.lines


def required_align(type: Type, stated: int) -> int:
    """What the hardware demands of an address: the alignment the IR promises, but no more than the access is wide."""
    natural = min(align_of(type), 16) if not is_aggregate(type) or isinstance(type, VectorType) else align_of(type)
    return min(stated or natural, natural)


def _items(type: Type, align: int) -> tuple[str, int]:
    """The item code and count that memory views can hold a type with; no code when only bytes will do."""
    element, count = (type.element, type.count) if isinstance(type, VectorType) else (type, 1)
    code = "Q" if isinstance(element, PointerType) else CODES.get(element.text, "")
    return (code, count) if code and align >= store_size(element) else ("", count)


def _loaded(type: Type, text: str) -> str:
    return f"{type.text}_from_bits({text})" if type.text in ("half", "bfloat") else text


def _stored(type: Type, text: str) -> str:
    return f"{type.text}_bits({text})" if type.text in ("half", "bfloat") else text


def space_of(pointer: Value) -> int:
    """The address space of a pointer."""
    assert isinstance(pointer.type, PointerType), f"{pointer.type} is no pointer"
    return pointer.type.address_space


def _is_meant_to_be_seen(instruction: Instruction) -> bool:
    """Volatile, or an atomic load or store; a copy is neither."""
    return bool(instruction.opcode in ("load", "store") and (instruction.volatile or instruction.ordering))


def _root(pointer: Value) -> Value:
    """What an address is computed from: accesses with the same root mostly hit the same buffer."""
    while isinstance(pointer, Instruction) and pointer.opcode in ("getelementptr", "bitcast", "addrspacecast"):
        pointer = pointer.operands[0]
    return pointer


def _struct_fields(type: Type) -> tuple[Type, ...]:
    if isinstance(type, StructType):
        return type.fields or ()
    return (type.element,) if isinstance(type, VectorType) else (type,)


def flushes_subnormals(function: Function) -> bool:
    """Whether ``float`` arithmetic treats subnormal numbers as zero (``-fgpu-flush-denormals-to-zero``)."""
    groups = function.module.attribute_groups if function.module else {}
    texts = [function.attributes, *(groups.get(w, "") for w in function.attributes.split() if w.startswith("#"))]
    return any(
        '"denormal-fp-math-f32"="preserve-sign' in t or ("denormal_fpenv" in t and "preservesign" in t) for t in texts
    )


def _unreachable(t: Thread, site: int) -> None:
    raise Stop("trap", "the thread reached a place that the program promised it never would", t, site)


Handlers = dict[str, Callable[["Body", Instruction], None]]

HELPERS: dict[str, Any] = {
    **operations.HELPERS,
    **intrinsic_helpers.HELPERS,
    **{f"find{space}": find for space, find in FIND.items()},
    "read_bytes": read_bytes,
    "write_bytes": write_bytes,
    "from_bits_of": from_bits_of,
    "to_bits_of": to_bits_of,
    "unreachable": _unreachable,
    "copy_in": copy_in,
    "too_deep": too_deep,
    "negate": operations.negate,
}
