"""Straight runs of vector operations as functions of their own, whose code kernels share.

    before   %t5 = load <32 x float>, ptr %s2              after   call void @run_7(ptr %w1, float %t4, ptr %s2)
             %t6 = fneg <32 x float> %t5
             %t7 = insertelement <32 x float> poison, float %t4, i64 0
             %t8 = fadd <32 x float> %t6, %t7

LLVM takes some hundred microseconds to select instructions for an operation on vectors wider than the machine's, and twenty for
a call. Candidates of a search have nearly all their runs in common, so those are compiled once (``launching/host_code.py``). Between
runs a vector lies in memory, as it does in code that is not optimised anyway. In a function values go by the order of their use,
so that runs that do the same have the same text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from kernelwright.lazy_dataclasses import dataclass

MOST = 8
"""Operations of a run: what an edit changes is compiled anew run by run."""

NAME = "@run("
"""How the function of a run is called in its own text; its compiler gives it a name."""
_BETWEEN_VALUES = re.compile(r"(%[\w.]+)")
_VECTOR = re.compile(r"<\d+ x \w+>")
_NUMBER = re.compile(r"(ptr|i\d+|float|double|half|bfloat)(?: align \d+)? $")
_CALL = re.compile(r"call (?:[a-z]+ )*?(<\d+ x \w+>|\w+) @llvm\.")
_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}
_OF_FIRST = frozenset(
    ("add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor", "fadd", "fsub", "fmul",
     "fdiv", "frem", "fneg", "freeze", "insertelement", "load")
)  # fmt: skip
"""Operations whose result has the type that is named first."""
_CASTS = frozenset(
    ("trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp", "bitcast")
)  # fmt: skip
_MOVABLE = frozenset(
    ("add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor", "zext", "sext", "trunc", "icmp", "select",
     "getelementptr", "bitcast", "fneg")
)  # fmt: skip
"""Operations on numbers that may as well come before the run they stand in: they touch no memory, and a run that makes a number
ends there."""
_ELSEWHERE = 1 << 60
"""The last use of a value that other blocks use."""


@dataclass(frozen=True)
class CutText:
    """A kernel's text without its vector operations, and by name the functions that it calls in their place."""

    text: str
    runs: Mapping[str, str]
    declarations: tuple[str, ...]
    """Of LLVM's own functions that runs call."""


class _Operation:
    """An operation on vectors. ``words`` are what stands between its ``values``, ``numbers`` the types of those that are no
    vectors; ``name`` and ``type`` of its result are empty and ``void`` for a store."""

    __slots__ = ("name", "numbers", "type", "values", "words")

    def __init__(self, name: str, words: tuple[str, ...], values: list[str]) -> None:
        self.name, self.words, self.values = name, words, values
        self.type, self.numbers = _types_of(words)

    @property
    def makes_number(self) -> bool:
        return self.type[0] != "<" and bool(self.name)


def cut(text: str, most: int = MOST) -> CutText | None:
    """The text of a kernel's module, cut. None where it has a vector operation that cannot stand elsewhere: accesses written in
    line have some."""
    lines = text.split("\n")
    entry, end = lines.index("entry:"), lines.index("}")
    cutter = _Cutter(lines, entry, end)
    if not cutter.read():
        return None
    cutter.write(most)
    head, body = lines[: entry + 1], [*cutter.slots, *cutter.out]
    declarations = tuple(line for line in head if line.startswith("declare") and "@llvm." in line)
    runs = {name: text for text, name in cutter.names.items()}
    return CutText("\n".join([*cutter.declared, *head, *body, *lines[end:]]), runs, declarations)


class _Cutter:
    def __init__(self, lines: list[str], entry: int, end: int) -> None:
        self.lines, self.entry, self.end = lines, entry, end
        self.out: list[str] = []
        self.slots: list[str] = []
        self.names: dict[str, str] = {}
        """Of functions, by their text."""
        self.declared: list[str] = []
        self._operations: dict[int, _Operation] = {}
        self._types: dict[str, str] = {}
        """Of the vectors."""
        self._last: dict[str, int] = {}
        """By vector, the line of its last use."""
        self._slot: dict[str, str] = {}
        self._free: dict[int, list[str]] = {}

    def read(self) -> bool:
        """Finds the vector operations, and where their results are used last. False when one cannot stand elsewhere."""
        types, last, block, home = self._types, self._last, 0, dict[str, int]()
        users: list[tuple[int, int, _Operation]] = []
        for at in range(self.entry + 1, self.end):
            line = self.lines[at]
            if line[:1] != " ":
                block += 1
            elif "<" in line and " = alloca " not in line:
                name, _, body = line.strip().partition(", !")[0].rpartition(" = ")
                parts = _BETWEEN_VALUES.split(body)
                operation = self._operations[at] = _Operation(name, tuple(parts[::2]), parts[1::2])
                if not operation.type:
                    return False
                if operation.type[0] == "<":
                    types[name], home[name], last[name] = operation.type, block, at
                users.append((at, block, operation))
        # Blocks need not stand in the order in which they run.
        for at, block, operation in users:
            for value in operation.values:
                if value in types:
                    last[value] = max(last[value], at if home[value] == block else _ELSEWHERE)
        for value, use in last.items():
            if use == _ELSEWHERE:
                self._slot[value] = self._new_slot(value)
        return True

    def write(self, most: int) -> None:
        operations, lines, out = self._operations, self.lines, self.out
        run: list[_Operation] = []
        for at in range(self.entry + 1, self.end):
            operation = operations.get(at)
            if operation is None:
                line = lines[at]
                if run and line.partition(" = ")[2].partition(" ")[0] not in _MOVABLE:
                    self._call(run, at - 1)
                    run = []
                out.append(line)
                continue
            run.append(operation)
            if operation.makes_number or len(run) == most:
                self._call(run, at)
                run = []

    def _call(self, run: list[_Operation], stop: int) -> None:
        """Writes the function of a run that ends at or before the line ``stop``, and a call of it."""
        types, last = self._types, self._last
        inside: dict[str, str] = {}
        made: list[str] = []
        taken: list[str] = []
        parameters: list[str] = []
        arguments: list[str] = []
        loads: list[str] = []
        body: list[str] = []
        for operation in run:
            words = operation.words
            text = words[0]
            for place, value in enumerate(operation.values):
                inner = inside.get(value)
                if inner is None:
                    inner = inside[value] = f"%a{len(taken)}"
                    type = types.get(value)
                    if type is None:
                        type = operation.numbers[place]
                        parameters.append(f"{type} {inner}")
                        arguments.append(f"{type} {value}")
                    else:
                        loads.append(f"{inner} = load {type}, ptr {inner}.p, align 64")
                        parameters.append(f"ptr {inner}.p")
                        arguments.append(f"ptr {self._slot[value]}")
                    taken.append(value)
                text += inner + words[place + 1]
            if operation.name:
                inside[operation.name] = f"%v{len(made)}"
                made.append(operation.name)
                text = f"{inside[operation.name]} = {text}"
            body.append(text)
        # The function reads all it is given before it writes what it makes: the same memory may serve for both.
        for value in taken:
            if value in types and last[value] <= stop:
                self._free.setdefault(_bytes_of(types[value]), []).append(self._slot[value])
        for value in made:
            if value in types and last[value] > stop:
                inner = inside[value]
                body.append(f"store {types[value]} {inner}, ptr {inner}.p, align 64")
                parameters.append(f"ptr {inner}.p")
                arguments.append(f"ptr {self._room(value)}")
        final = run[-1]
        result = final.type if final.makes_number else "void"
        body.append(f"ret {result} {inside[final.name]}" if final.makes_number else "ret void")
        function = f"define {result} {NAME}{', '.join(parameters)}) nounwind {{\n" + "\n".join((*loads, *body, "}"))
        name = self.names.get(function)
        if name is None:
            name = self.names[function] = f"@run_{len(self.names)}"
            kinds = ", ".join(each.partition(" ")[0] for each in arguments)
            self.declared.append(f"declare {result} {name}({kinds})")
        call = f"call {result} {name}({', '.join(arguments)})"
        self.out.append(f"  {final.name} = {call}" if final.makes_number else f"  {call}")

    def _room(self, value: str) -> str:
        """Memory for a vector, until its last use."""
        if value not in self._slot:
            free = self._free.get(_bytes_of(self._types[value]))
            self._slot[value] = free.pop() if free else self._new_slot(value)
        return self._slot[value]

    def _new_slot(self, value: str) -> str:
        slot = f"%w{len(self.slots)}"
        self.slots.append(f"  {slot} = alloca [{_bytes_of(self._types[value])} x i8], align 64")
        return slot


@lru_cache(maxsize=4096)
def _types_of(words: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """What an operation's result is, empty for one that cannot stand elsewhere; and the types of the values in it, as far as they
    stand before them: those of numbers and pointers do."""
    numbers = [_NUMBER.search(each) for each in words[:-1]]
    return _result_of("".join(words)), tuple(found[1] if found else "" for found in numbers)


def _result_of(body: str) -> str:
    operation = body.partition(" ")[0]
    if operation == "store":
        return "void"
    types: list[str] = _VECTOR.findall(body)
    if operation in _OF_FIRST:
        return types[0]
    if operation in _CASTS:
        return body.rpartition(" to ")[2]
    if operation in ("icmp", "fcmp"):
        return f"{types[0].partition(' x ')[0]} x i1>"
    if operation == "select":
        return types[-1]
    if operation == "shufflevector":
        return f"{types[-1].partition(' x ')[0]} x {types[0].partition(' x ')[2]}"
    if operation == "extractelement":
        return types[0].partition(" x ")[2][:-1]
    called = _CALL.match(body)
    return called[1] if called else ""


@lru_cache(maxsize=256)
def _bytes_of(vector: str) -> int:
    count, _, element = vector[1:-1].partition(" x ")
    return max(8, int(count) * (_BITS.get(element) or int(element[1:])) // 8)
