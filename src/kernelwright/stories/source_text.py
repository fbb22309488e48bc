"""The text of a CUDA source in which edits are said one after another; the numbers of its lines stay as they are meanwhile.

    text = SourceText(source.split("\n"), "app.cu")
    text.apply(original, edit)               True where the edit is said now
    text.conditions(original, edit)          the ways to say that a condition is constant, to be tried

Which condition of a line a branch of the IR is, and which way round, debug information does not say: the caller compiles the ways.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from kernelwright.cuda.names import base_name
from kernelwright.edits.barriers import is_barrier
from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.edit_words import in_words
from kernelwright.edits.instruction_words import describe_value
from kernelwright.edits.kinds.constant_condition import ConstantCondition
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.delete_barrier import DeleteBarrier
from kernelwright.edits.kinds.fix_launch import FixArgument, FixBlock, FixGrid
from kernelwright.edits.kinds.no_alias import NoAlias
from kernelwright.edits.kinds.unroll import Unroll
from kernelwright.edits.original import Original

_BARRIER = re.compile(r"__syncthreads\(\)\s*;")
_GONE = "\0"
"""In the place of a line that is left out."""
_LOOP = re.compile(r"^(\s*)(?:for|while)\b")
_IF = re.compile(r"\bif\s*\(")
_PLAIN = re.compile(r"-?\d+|-?\d+\.\d*(?:e[+-]?\d+)?")
_EFFECTS = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)|[\w>]\s*\(|\[&")
"""What a condition may do besides being asked: steps, assignments, calls."""


class SourceText:
    """Lines of a source under way. Nothing adds or takes away a line before the end, so that their numbers stay."""

    def __init__(self, lines: list[str], name: str) -> None:
        self.lines = lines
        self._name = name

    @property
    def joined(self) -> str:
        """The text as it is now, without the lines that were taken out."""
        return "\n".join(line for line in self.lines if line != _GONE)

    def with_line(self, at: int, line: str) -> SourceText:
        """The same with another line."""
        return SourceText([*self.lines[:at], line, *self.lines[at + 1 :]], self._name)

    def apply(self, original: Original, edit: Edit) -> bool:
        """Says an edit in CUDA C; False where it cannot be."""
        for kind, say in _SAYS.items():
            if isinstance(edit, kind):
                return say(self, original, edit)
        return False

    def _line_of(self, original: Original, edit: Edit) -> int | None:
        location = in_words(original, edit).location
        if location is None or Path(location.file).name != self._name or not 0 < location.line <= len(self.lines):
            return None
        return location.line - 1

    def remove_barrier(self, original: Original, edit: Edit) -> bool:
        """Takes out the only ``__syncthreads()`` of the edit's line; False where the line has none or several."""
        at = self._line_of(original, edit)
        if isinstance(edit, Delete) and not is_barrier(original.nodes[edit.subject].instruction):
            return False
        if at is None or len(_BARRIER.findall(self.lines[at])) != 1:
            return False
        rest = _BARRIER.sub(";", self.lines[at])
        above = next((line.strip() for line in reversed(self.lines[:at]) if line.strip() not in ("", _GONE)), "")
        # Alone on its line after a whole statement, the line goes; the body of an if or a loop has to stay a statement.
        self.lines[at] = _GONE if rest.strip() == ";" and above.endswith((";", "{", "}")) else rest
        return True

    def unroll(self, original: Original, edit: Edit) -> bool:
        """Puts an unroll pragma before the ``for`` or ``while`` that begins the edit's line; False where there is none."""
        assert isinstance(edit, Unroll)
        at = self._line_of(original, edit)
        loop = _LOOP.match(self.lines[at]) if at is not None else None
        if at is None or loop is None:
            return False
        count = f" {edit.count}" if edit.count else ""
        # On the same line, so that the numbers of the others stay.
        self.lines[at] = f'{loop[1]}_Pragma("unroll{count}") {self.lines[at].lstrip()}'
        return True

    def restrict(self, original: Original, edit: Edit) -> bool:
        """Adds ``__restrict__`` to the parameter; False where it has it or its declaration is not plain."""
        assert isinstance(edit, NoAlias)

        def promised(parameter: str) -> str | None:
            head, star, tail = parameter.rpartition("*")
            return f"{head}*__restrict__ {tail.lstrip()}" if star and "__restrict__" not in parameter else None

        return self._change_parameter(original, edit.index, promised)

    def fix_argument(self, original: Original, edit: Edit) -> bool:
        """Assigns the number to the parameter first thing in the body; False for one that is ``const`` or not plain."""
        assert isinstance(edit, FixArgument)
        value, name = describe_value(edit.value), original.function.arguments[edit.index].name
        body = self._body_of(original)
        if body is None or not _PLAIN.fullmatch(value) or not re.fullmatch(r"[A-Za-z_]\w*", name):
            return False
        if not self._change_parameter(original, edit.index, lambda text: None if "const" in text.split() else text):
            return False
        line, column = body
        self.lines[line] = f"{self.lines[line][:column]} {name} = {value};{self.lines[line][column:]}"
        return True

    def fix_extents(self, original: Original, edit: Edit) -> bool:
        """``blockDim.x`` and its like in the kernel's own body; what functions it calls ask stays."""
        assert isinstance(edit, FixBlock | FixGrid)
        name = "blockDim" if isinstance(edit, FixBlock) else "gridDim"
        head, joined = self._head(original), "\n".join(self.lines)
        if head is None:
            return False
        start, stop = head[2], _closing(joined, head[2], "{}")
        body, count = re.subn(rf"\b{name}\.([xyz])\b", lambda m: str(edit.shape["xyz".index(m[1])]), joined[start:stop])
        self.lines[:] = (joined[:start] + body + joined[stop:]).split("\n")
        return count > 0

    def conditions(self, original: Original, edit: ConstantCondition) -> Iterator[tuple[int, str]]:
        """The line, and what stands there when the condition of an ``if`` on it, or one that ``&&`` or ``||`` joins in it, is
        constant: each both ways round, for the branch may be the other way round than the source."""
        at = self._line_of(original, edit)
        for found in _IF.finditer(self.lines[at]) if at is not None else ():
            assert at is not None
            line = self.lines[at]
            stop = _closing(line, found.end(), "()")
            if stop == len(line):
                continue  # it goes on in the next line
            for start, end in _joined(line, found.end(), stop):
                for outcome in ("true", "false") if edit.outcome else ("false", "true"):
                    yield at, line[:start] + _constant(line[start:end], outcome) + line[end:]

    # -- the kernel's definition

    def _head(self, original: Original) -> tuple[int, int, int] | None:
        """Where its parameters begin and end in the joined text, and where its body begins; None where that is not plain."""
        name = re.escape(base_name(original.kernel))
        found = list(re.finditer(rf"__global__\b[^;{{}}()]*?\b{name}\s*\(", "\n".join(self.lines)))
        if len(found) != 1:
            return None
        joined, at, depth = "\n".join(self.lines), found[0].end(), 1
        while depth and at < len(joined):
            depth += {"(": 1, ")": -1}.get(joined[at], 0)
            at += 1
        rest = re.match(r"\s*\{", joined[at:])
        return (found[0].end(), at - 1, at + rest.end()) if rest else None

    def _body_of(self, original: Original) -> tuple[int, int] | None:
        head = self._head(original)
        if head is None:
            return None
        before = "\n".join(self.lines)[: head[2]]
        return before.count("\n"), len(before) - before.rfind("\n") - 1

    def _change_parameter(self, original: Original, index: int, change: Callable[[str], str | None]) -> bool:
        head = self._head(original)
        if head is None:
            return False
        joined = "\n".join(self.lines)
        parts = joined[head[0] : head[1]].split(",")
        name = original.function.arguments[index].name
        if len(parts) != len(original.function.arguments) or not re.search(rf"\b{re.escape(name)}\s*$", parts[index]):
            return False  # a comma inside a template, say, or a parameter without a name
        changed = change(parts[index])
        if changed is None:
            return False
        parts[index] = changed
        self.lines[:] = (joined[: head[0]] + ",".join(parts) + joined[head[1] :]).split("\n")
        return True


def _closing(text: str, start: int, pair: str) -> int:
    """Where the bracket that was opened before ``start`` closes; the end of the text where it does not."""
    depth = 1
    for at in range(start, len(text)):
        depth += {pair[0]: 1, pair[1]: -1}.get(text[at], 0)
        if not depth:
            return at
    return len(text)


def _joined(line: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """A condition, and what ``&&`` and ``||`` join in it outside of brackets."""
    yield start, stop
    depth, begin, found = 0, start, []
    for at in range(start, stop):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(line[at], 0)
        if not depth and line[at : at + 2] in ("&&", "||"):
            found.append((begin, at))
            begin = at + 2
    if found:
        yield from [*found, (begin, stop)]


def _constant(condition: str, outcome: str) -> str:
    """What it was stays beside it: as a comment, or, if it does something besides, to be done."""
    left = condition[: len(condition) - len(condition.lstrip())]
    right = condition[len(condition.rstrip()) :]
    own = condition.strip()
    said = f"((void)({own}), {outcome})" if _EFFECTS.search(own) or "*/" in own else f"{outcome} /* {own} */"
    return left + said + right


_SAYS: dict[type, Callable[[SourceText, Original, Edit], bool]] = {
    DeleteBarrier: SourceText.remove_barrier,
    Delete: SourceText.remove_barrier,
    Unroll: SourceText.unroll,
    NoAlias: SourceText.restrict,
    FixArgument: SourceText.fix_argument,
    FixBlock: SourceText.fix_extents,
    FixGrid: SourceText.fix_extents,
}
