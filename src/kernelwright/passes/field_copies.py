"""Structures that are copied as they are (``to[i] = from[i]``), field by field: all loads first, then all stores.

    before   call void @llvm.memcpy.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 16, i1 false), !tbaa.struct !1
             !1 = !{i64 0, i64 4, !int, i64 8, i64 8, !double}
    after    %copied.0 = load i32, ptr %from, align 8
             %copied.1 = getelementptr inbounds i8, ptr %from, i64 8
             %copied.2 = load i64, ptr %copied.1, align 8
             store i32 %copied.0, ptr %to, align 8
             %copied.3 = getelementptr inbounds i8, ptr %to, i64 8
             store i64 %copied.2, ptr %copied.3, align 8

Code generation would copy eight bytes at a time, each load waiting for the store before it; so written, neighbours become
accesses of 128 bits, as nvcc's do, and whatever counts loads and stores counts these. Padding is not copied: no program may
look at it.
"""

from __future__ import annotations

import re

LARGEST = 128
"""Bytes that are copied so, in registers; code generation makes a loop of more."""
WIDEST = 8
"""Bytes of a piece; the load and store vectoriser joins neighbours."""

POINTER = r"ptr(?: addrspace\(\d+\))?"
COPY = re.compile(
    rf"^  (?:tail )?call void (?P<callee>@llvm\.memcpy\.\S+?)\((?P<type>{POINTER})(?P<facts>[^%@]*)(?P<to>%[\w.$-]+|%\"[^\"]+\"), "
    rf"(?P<from_type>{POINTER})(?P<from_facts>[^%@]*)(?P<source>%[\w.$-]+|%\"[^\"]+\"|@[\w.$-]+), "
    r"(?P<index>i32|i64) (?:noundef )?(?P<size>\d+), i1 (?:noundef )?false\)[^!\n]*(?P<notes>.*)$",
    re.MULTILINE,
)
"""A copy of a known size that is not volatile, with what is noted of it."""
_ALIGN = re.compile(r"\balign (\d+)")
_FIELDS = re.compile(r"!tbaa\.struct (!\d+)")
_KEPT = re.compile(r", !(?:dbg|alias\.scope|noalias|llvm\.access\.group) !\d+")
_NODE = re.compile(r"^(!\d+) = !\{(.*)\}$", re.MULTILINE)
_FIELD = re.compile(r"i64 (\d+), i64 (\d+), (!\d+)")
_NAMED = re.compile(r"%copied\.(\d+)\b")


def fields_copied(ir_text: str) -> str:
    """The module with such copies of at most ``LARGEST`` bytes written out, where their fields are known."""
    if "!tbaa.struct" not in ir_text:
        return ir_text
    nodes = dict(_NODE.findall(ir_text))
    first = 1 + max((int(n) for n in _NAMED.findall(ir_text)), default=-1)
    return COPY.sub(_Writer(nodes, first).written, ir_text)


class _Writer:
    """Writes copies of a module, with names of their own."""

    def __init__(self, nodes: dict[str, str], first: int) -> None:
        self._nodes, self._next = nodes, first

    def written(self, found: re.Match[str]) -> str:
        """A copy's loads and stores; the copy itself where its fields are not known or it is too large."""
        fields = _FIELDS.search(found["notes"])
        size = int(found["size"])
        if not fields or size > LARGEST:
            return found[0]
        known = _FIELD.findall(self._nodes.get(fields[1], ""))
        if not known or any(int(length) > 1 and self._is_bytes(tag) for _, length, tag in known):
            # Bytes may be anything, padding too.
            return found[0]
        to_align, from_align = alignment(found["facts"]), alignment(found["from_facts"])
        notes = "".join(_KEPT.findall(", " + found["notes"]))
        lines: list[str] = []
        values = []
        for at, width, type in pieces(
            [(int(o), int(n), self._is_pointer(t)) for o, n, t in known], min(to_align, from_align)
        ):
            source = self._moved(lines, found["from_type"], found["source"], at)
            value = self._name()
            lines.append(
                f"  {value} = load {type}, {found['from_type']} {source}, align {aligned(from_align, at)}{notes}"
            )
            values.append((at, width, type, value))
        for at, _, type, value in values:
            to = self._moved(lines, found["type"], found["to"], at)
            lines.append(f"  store {type} {value}, {found['type']} {to}, align {aligned(to_align, at)}{notes}")
        return "\n".join(lines)

    def _moved(self, lines: list[str], type: str, pointer: str, at: int) -> str:
        if not at:
            return pointer
        name = self._name()
        lines.append(f"  {name} = getelementptr inbounds i8, {type} {pointer}, i64 {at}")
        return name

    def _name(self) -> str:
        self._next += 1
        return f"%copied.{self._next - 1}"

    def _is_bytes(self, tag: str) -> bool:
        return '!"omnipotent char"' in self._type_of(tag)

    def _is_pointer(self, tag: str) -> bool:
        return re.match(r'!"(any pointer|p\d+ |vtable pointer)', self._type_of(tag)) is not None

    def _type_of(self, tag: str) -> str:
        """The node of a tag's type: ``!"float", ...``."""
        node = self._nodes.get(tag, "")
        return self._nodes.get(node.partition(",")[0], node)


def pieces(fields: list[tuple[int, int, bool]], align: int) -> list[tuple[int, int, str]]:
    """Offset, bytes and type of each access, from each field's offset, bytes and whether it is a pointer: nothing but fields, as
    wide as they are aligned."""
    found = []
    for offset, length, is_pointer in _joined(fields):
        at = offset
        while at < offset + length:
            left = offset + length - at
            width = min(WIDEST, aligned(align, at), 1 << (left.bit_length() - 1))
            found.append((at, width, "ptr" if is_pointer and width == WIDEST else f"i{8 * width}"))
            at += width
    return found


def _joined(fields: list[tuple[int, int, bool]]) -> list[tuple[int, int, bool]]:
    """Fields beside each other as one, but for pointers, which stay what they are; what two of them have in common once."""
    joined: list[tuple[int, int, bool]] = []
    for offset, length, is_pointer in sorted(fields):
        end = offset + length
        if (
            joined
            and offset <= (until := joined[-1][0] + joined[-1][1])
            and (offset < until or not (is_pointer or joined[-1][2]))
        ):
            start, _, was_pointer = joined[-1]
            joined[-1] = (
                start,
                max(until, end) - start,
                was_pointer and is_pointer and (start, until) == (offset, end),
            )
        else:
            joined.append((offset, length, is_pointer))
    return joined


def aligned(align: int, at: int) -> int:
    """What an address is a multiple of that is ``at`` bytes behind one that is a multiple of ``align``."""
    return min(align, at & -at) if at else align


def alignment(facts: str) -> int:
    """What the attributes of a pointer argument say that it is a multiple of."""
    found = _ALIGN.search(facts)
    return int(found[1]) if found else 1
