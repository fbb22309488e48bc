"""PTX as LLVM prints it, read back: functions, basic blocks, instructions, and where each came from.

LLVM's verbose output labels a block with the IR block it was made from and a ``.loc`` with the chain of inlined calls;
both survive only as comments, so this reader keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from kernelwright.lazy_dataclasses import dataclass

# Ends a block without falling through, when nothing guards it.
LEAVES = frozenset({"bra", "brx", "ret", "exit", "trap"})

_FUNCTION = re.compile(r"^\s*(?:\.(?:visible|extern|weak|common)\s+)*\.(entry|func)\b\s*(?:\(.*?\)\s*)?([\w$.]+)")
_LABEL = re.compile(r"^(?:(\$L__BB\d+_\d+):|// %(bb\.\d+):)\s*(?:// (?:%(.*)|[^%].*))?$")
_OTHER_LABEL = re.compile(r"^\s*[\w$]+:(?!:)\s*")
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)[^/]*(?://\s*(.*))?$")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
_FRAME = re.compile(r"([^\s\[\]@][^\[\]@]*?):(\d+):(\d+)")
_SCOPE = re.compile(r"^\s*[{}]\s*")
_TARGET = re.compile(r"\$L__BB\d+_\d+")


@dataclass(frozen=True)
class Position:
    """``line`` and ``column`` count from 1; column 0 is unknown."""

    file: str
    line: int
    column: int


@dataclass(frozen=True)
class PtxInstruction:
    """``mad.lo.s32`` with its guard (``@%p1``, or empty). ``line`` is its line in the PTX text, from 1.

    ``source`` holds the line it was written on, then the calls it was inlined through, outermost last; empty when
    unknown.
    """

    line: int
    guard: str
    opcode: str
    operands: str
    source: tuple[Position, ...]


@dataclass(frozen=True)
class PtxBlock:
    """``ir_name`` is the IR block LLVM names as its origin, if it does. Successors are labels, fall-through included."""

    label: str
    ir_name: str | None
    instructions: tuple[PtxInstruction, ...]
    successors: tuple[str, ...]


@dataclass(frozen=True)
class PtxFunction:
    name: str
    kernel: bool
    blocks: tuple[PtxBlock, ...]

    def instructions(self) -> Iterator[PtxInstruction]:
        """The instructions of all blocks, in the order of the text."""
        for block in self.blocks:
            yield from block.instructions


class _OpenBlock:
    def __init__(self, label: str, ir_name: str | None) -> None:
        self.label = label
        self.ir_name = ir_name
        self.instructions: list[PtxInstruction] = []
        self.tables: list[str] = []
        """The labels of a ``.branchtargets`` directive, which name a ``brx``'s successors."""


@lru_cache(maxsize=2)
def read_ptx(text: str) -> tuple[PtxFunction, ...]:
    """The functions with a body, in order. Kept for a moment: who weighs a kernel reads its PTX, and so does who lays machine code
    onto it."""
    return tuple(_Reader(text).functions())


class _Reader:
    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        files = {int(m[1]): f"{m[2]}/{m[3]}" if m[3] else m[2] for m in map(_FILE.match, self.lines) if m}
        self.files = {number: _unescaped(name) for number, name in files.items()}

    def functions(self) -> Iterator[PtxFunction]:
        at = 0
        while at < len(self.lines):
            found = _FUNCTION.match(self.lines[at])
            at += 1
            if not found:
                continue
            # A declaration ends with a semicolon before any body opens.
            while (
                at < len(self.lines) and not self.lines[at - 1].rstrip().endswith(";") and self.lines[at].strip() != "{"
            ):
                at += 1
            if at < len(self.lines) and self.lines[at].strip() == "{":
                end = self._end(at)
                yield PtxFunction(found[2], found[1] == "entry", self._blocks(at + 1, end))
                at = end + 1

    def _end(self, begin: int) -> int:
        """Where the brace that opens in line ``begin`` closes: inline assembly has braces of its own, on lines of their own, too."""
        depth = 0
        for at in range(begin, len(self.lines)):
            line = self.lines[at]
            if "{" in line or "}" in line:
                code = line.partition("//")[0]
                depth += code.count("{") - code.count("}")
                if depth <= 0:
                    return at
        return len(self.lines)

    def _blocks(self, first: int, end: int) -> tuple[PtxBlock, ...]:
        blocks = [_OpenBlock("bb.0", None)]
        source: tuple[Position, ...] = ()
        pending = ""
        for at in range(first, end):
            line = self.lines[at]
            label = _LABEL.match(line)
            if label:
                name = (label[3] or "").strip().strip('"') or None
                if label[2] == "bb.0":
                    blocks[0].ir_name = name
                else:
                    blocks.append(_OpenBlock(label[1] or label[2], name))
                continue
            location = _LOC.match(line)
            if location:
                source = self._source(location)
                continue
            pending = (pending + " " + line.partition("//")[0].strip()).strip()
            pending = self._statements(pending, at + 1, source, blocks[-1])
        return tuple(_finished(blocks))

    def _statements(self, text: str, line: int, source: tuple[Position, ...], block: _OpenBlock) -> str:
        """Adds each complete statement to the block; returns what still lacks its semicolon."""
        while True:
            for noise in (_SCOPE, _OTHER_LABEL):
                text = noise.sub("", text)
            statement, semicolon, rest = text.partition(";")
            if not semicolon:
                return "" if text in ("{", "}") else text
            statement = statement.strip()
            if statement.startswith(".branchtargets"):
                block.tables += _TARGET.findall(statement)
            elif statement and not statement.startswith("."):
                guard, statement = _split(statement) if statement.startswith("@") else ("", statement)
                opcode, operands = _split(statement)
                block.instructions.append(PtxInstruction(line, guard, opcode, operands, source))
            text = rest

    def _source(self, location: re.Match[str]) -> tuple[Position, ...]:
        """The comment holds the chain; the directive alone gives only its innermost line."""
        chain = [
            Position(self._file(f), int(line), int(column)) for f, line, column in _FRAME.findall(location[4] or "")
        ]
        file = self.files.get(int(location[1]), "")
        first = Position(file or (chain[0].file if chain else ""), int(location[2]), int(location[3]))
        return tuple(each for each in (first, *chain[1:]) if each.line)

    def _file(self, name: str) -> str:
        """Comments shorten a name to what the compiler was given; the directives have it in full."""
        name = _unescaped(name)
        return next((full for full in self.files.values() if full == name or full.endswith("/" + name)), name)


def _unescaped(name: str) -> str:
    r"""``pr\303\266gram.cu`` -> ``prögram.cu``: bytes beyond ASCII are written in octal."""
    if "\\" not in name:
        return name
    raw = re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]), name.encode())
    return raw.decode("utf-8", "surrogateescape")


def _split(text: str) -> tuple[str, str]:
    first, *rest = text.split(None, 1)
    return first, rest[0] if rest else ""


def _finished(blocks: list[_OpenBlock]) -> Iterator[PtxBlock]:
    for i, block in enumerate(blocks):
        successors = list(block.tables)
        for each in block.instructions:
            successors += _TARGET.findall(each.operands) if each.opcode.startswith("bra") else []
        last = block.instructions[-1] if block.instructions else None
        leaves = last is not None and not last.guard and last.opcode.partition(".")[0] in LEAVES
        if not leaves and i + 1 < len(blocks):
            successors.append(blocks[i + 1].label)
        yield PtxBlock(block.label, block.ir_name, tuple(block.instructions), tuple(dict.fromkeys(successors)))
