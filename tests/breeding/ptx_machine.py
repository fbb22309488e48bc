"""A machine for the part of PTX that the farm writes: whole modules run thread by thread, from the kernel's parameters, over the
branch table, to what it stores. Values are Python's and NumPy's; an address is (buffer, byte)."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

STEPS = 1_000_000


def signed(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def remainder(a: int, b: int) -> int:
    return a - b * quotient(a, b)


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
}  # fmt: skip
_WHOLE: dict[str, Callable[..., Any]] = {
    "mov": lambda a: a, "add": lambda a, b: signed(a + b), "sub": lambda a, b: signed(a - b), "rem": remainder,
    "div": quotient, "mul": lambda a, b: signed(a * b), "and": lambda a, b: a & b, "or": lambda a, b: a | b,
    "not": lambda a: ~a, "xor": lambda a, b: a ^ b, "shl": lambda a, b: signed(a << b), "shr": lambda a, b: a >> b,
    "selp": lambda a, b, p: a if p else b, "neg": lambda a: signed(-a), "cvta": lambda a: a,
}  # fmt: skip
_FLOAT: dict[str, Callable[..., Any]] = {
    "mov": lambda a: a, "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b, "abs": np.abs, "neg": lambda a: -a, "sqrt": np.sqrt, "rcp": lambda a: type(a)(1) / a,
}  # fmt: skip
_FLOATS: dict[str, type[Any]] = {"f32": np.float32, "f64": np.float64}
_SPECIAL = ("%tid.x", "%ctaid.x", "%ctaid.y", "%ntid.x")


_HEAD = re.compile(
    r"^\.(?:visible \.entry|func\s*\((?P<result>[^)]*)\))\s*(?P<name>\w+)\((?P<inputs>[^)]*)\)\s*\{", re.MULTILINE
)


@dataclass
class _Function:
    name: str
    inputs: list[str]
    result: str
    lines: list[tuple[int, str, bool, str, list[str]]] = field(default_factory=list)
    """Scope, guard, its negation, operation, operands."""
    labels: dict[tuple[int, str], int] = field(default_factory=dict)
    parents: dict[int, int] = field(default_factory=lambda: {0: 0})
    tables: dict[str, list[str]] = field(default_factory=dict)


class Machine:
    """``outside``: functions that are taken as they are, by name."""

    def __init__(self, text: str, outside: Mapping[str, Callable[..., Any]]) -> None:
        self._outside = outside
        self.functions: dict[str, _Function] = {}
        for found in _HEAD.finditer(text):
            inputs = [each.split()[-1] for each in found["inputs"].split(",") if each.strip()]
            result = (found["result"] or "").split()[-1:] or [""]
            self.functions[found["name"]] = _parsed(found["name"], inputs, result[0], _body(text, found.end()))

    def launch(
        self, kernel: str, grid: tuple[int, int], threads: int, given: Sequence[Any], memory: Mapping[str, list[Any]]
    ) -> None:
        """``given``: names of buffers in ``memory``, which hold an element of four bytes in each place."""
        function = self.functions[kernel]
        parameters = {name: (buffer, 0) for name, buffer in zip(function.inputs, given, strict=True)}
        with np.errstate(all="ignore"):
            for x in range(grid[0]):
                for y in range(grid[1]):
                    for lane in range(threads):
                        special = dict(zip(_SPECIAL, (lane, x, y, threads), strict=True))
                        self._run(function, dict(special), dict(parameters), memory)

    def _run(self, function: _Function, registers: dict[str, Any], params: dict[str, Any], memory: Any) -> None:
        at, steps = 0, 0

        def get(word: str, kind: str = "") -> Any:
            if word[0] == "%":
                return registers[word]
            if word[:2] in ("0f", "0d"):
                return _bits(word)
            return _FLOATS[kind](float(word)) if kind in _FLOATS else int(word)

        def go(scope: int, label: str) -> int:
            while (scope, label) not in function.labels:
                assert scope, label
                scope = function.parents[scope]
            return function.labels[scope, label]

        while at < len(function.lines):
            scope, guard, negated, operation, words = function.lines[at]
            at, steps = at + 1, steps + 1
            assert steps < STEPS
            if guard and bool(registers[guard]) == negated:
                continue
            name, *kinds = operation.split(".")
            kind = kinds[-1] if kinds else ""
            if name == "ret":
                return
            if name == "bra":
                at = go(scope, words[0])
            elif name == "brx":
                at = go(scope, function.tables[words[1]][registers[words[0]]])
            elif name == "call":
                self._call(words, registers, params, memory, get)
            elif operation.startswith("ld.param"):
                registers[words[0]] = params[words[1].strip("[]")]
            elif operation.startswith("st.param"):
                params[words[0].strip("[]")] = get(words[1], kind)
            elif name in ("ld", "st"):
                place = words[0] if name == "st" else words[1]
                base, _, ahead = place.strip("[]").partition("+")
                buffer, begin = registers[base]
                where = begin + int(ahead or 0)
                assert where % 4 == 0 and 0 <= where < 4 * len(memory[buffer]), (function.name, place, where)
                if name == "st":
                    memory[buffer][where // 4] = get(words[1], kind)
                else:
                    registers[words[0]] = memory[buffer][where // 4]
            elif name == "setp":
                a, b = (get(word, kind) for word in words[1:])
                if kind == "u32":
                    a, b = a & 0xFFFFFFFF, b & 0xFFFFFFFF
                registers[words[0]] = _COMPARE[kinds[0]](a, b)
            elif operation == "mad.wide.s32":
                buffer, begin = registers[words[3]]
                registers[words[0]] = buffer, begin + get(words[1]) * get(words[2])
            elif name == "mad":
                registers[words[0]] = signed(get(words[1]) * get(words[2]) + get(words[3]))
            elif name == "cvt":
                registers[words[0]] = _FLOATS[kinds[-2]](get(words[1], kind))
            else:
                table = _FLOAT if kind in _FLOATS else _WHOLE
                registers[words[0]] = table[name](*(get(word, kind) for word in words[1:]))

    def _call(self, words: list[str], registers: Any, params: Any, memory: Any, get: Callable[[str], Any]) -> None:
        result, name, *given = words
        values = [get(each) if each[0] in "%0123456789-" else params[each] for each in given]
        if name in self._outside:
            value = self._outside[name](*values)
        else:
            function = self.functions[name]
            inner = dict(zip(function.inputs, values, strict=True))
            self._run(function, inner, {}, memory)
            value = inner[function.result]
        (registers if result[0] == "%" else params)[result] = value


def _bits(word: str) -> Any:
    if word[1] == "f":
        return np.float32(struct.unpack(">f", bytes.fromhex(word[2:]))[0])
    return np.float64(struct.unpack(">d", bytes.fromhex(word[2:]))[0])


def _body(text: str, begin: int) -> str:
    """From behind a brace to the one that closes it."""
    depth, at = 1, begin
    while depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return text[begin : at - 1]


def _parsed(name: str, inputs: list[str], result: str, body: str) -> _Function:
    function = _Function(name, inputs, result)
    scope, count = 0, 0
    for line in (each.strip() for each in body.splitlines()):
        if line == "{":
            count += 1
            function.parents[count], scope = scope, count
        elif line == "}":
            scope = function.parents[scope]
        elif ".branchtargets" in line:
            table, _, targets = line.rstrip(";").partition(": .branchtargets ")
            function.tables[table] = targets.split(", ")
        elif line.endswith(":"):
            function.labels[scope, line[:-1]] = len(function.lines)
        elif line and not line.startswith((".reg", ".param", "//")):
            for part in filter(None, line.split(";")):
                _instruction(function, scope, part.strip())
    return function


def _instruction(function: _Function, scope: int, line: str) -> None:
    guard = re.match(r"@(!?)(%\w+)\s+", line)
    if guard:
        line = line[guard.end() :]
    operation, _, rest = line.partition(" ")
    words = re.findall(r"[%\w.+\-\[\]]+", rest)
    function.lines.append((scope, guard[2] if guard else "", bool(guard and guard[1]), operation, words))
