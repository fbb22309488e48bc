"""What nvcc accepts and clang does not: a launch written ``<< < grid, block >> >``, a PTX register in inline assembly
with one percent sign, a template of a dependent type that is not called one, and an object in shared memory whose type has a
constructor, which is not called.

    kernel<< <grid, block>> >(x);          ->   kernel<<<grid, block>>> (x);
    asm("mov.u32 %0, %laneid;" : ...);     ->   asm("mov.u32 %0, %%laneid;" : ...);
    vector.at<2>(i)                        ->   vector.template at<2>(i)            where clang asks for it
    typename A::Of<3>::type                ->   typename A::template Of<3>::type
    __shared__ Barrier all[4];             ->   __shared__ __kw_shared_room<Barrier [4]> ...; auto &all = ...;

The two spellings of a launch have the same length, so every line and column stays where the user put it. The changed text
reaches clang through a virtual file system overlay: paths, ``#include`` look-up and diagnostics are those of the real files.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

# Comments, strings and character literals are skipped whole; `operator<< <T>` is a template-id, not a launch. The `'` of
# a number (`1'024`) begins no character.
_TOKENS = r"""
    (?P<skip> //[^\n]* | /\*.*?\*/ | R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)" | "(?:[^"\\\n]|\\.)*"
            | (?<![\w.])[0-9][\w.]*+(?:'\w++)+ | '(?:[^'\\\n]|\\.)*'
            | operator\s*<<\s*<? | ^[ \t]*\#[ \t]*include[^\n]* )
  | (?P<open> <<[ \t\r\n]*< )
  | (?P<close> >>[ \t\r\n]*> )
    """
_LENIENT = re.compile(r"<<[ \t\r\n]+<|>>[ \t\r\n]+>")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.M)
# The strings of an asm statement; in them, PTX's special registers (PTX ISA, "Special Registers") behind one `%`.
_ASSEMBLY = r'\b(?:__)?asm(?:__)?(?:\s+(?:__)?volatile(?:__)?)?\s*\((?:\s*"(?:[^"\\\n]|\\.)*")+'
_REGISTER = (
    r"(?<!%)%(?=(?:n?tid|n?ctaid|laneid|n?warpid|n?smid|gridid|lanemask_[a-z]+|clock(?:64|_hi)?|globaltimer(?:_lo|_hi)?"
    r"|(?:total|dynamic|aggr)_smem_size|n?clusterid|is_explicit_cluster|cluster_n?cta(?:id|rank)|envreg\d+|pm\d+(?:_64)?)\b)"
)


def escape_registers(text: str) -> str:
    """``text`` with a second percent sign before every special register in inline assembly that has only one."""
    if "%" not in text or "asm" not in text:
        return text
    return re.sub(_ASSEMBLY, lambda m: re.sub(_REGISTER, "%%", m.group()), text)


def normalise_launches(text: str) -> str:
    """``text`` with every lenient launch written as clang wants it; same length, same lines."""
    if not _LENIENT.search(text):
        return text
    waiting = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal waiting
        token = match.group()
        if match["open"]:
            waiting += 1
            return _tight(token)
        if match["close"] and waiting:
            # A close without an open launch is nested templates, and stays.
            waiting -= 1
            return _tight(token)
        return token

    return re.sub(_TOKENS, replace, text, flags=re.X | re.S | re.M)


_KEYWORD = b"template "
# Said where a template is instantiated: `a.at<1>(2)` was read as comparisons, in `3 + a.at<1>(2)` of another operand. Said where one is
# parsed: nvcc accepts it behind `typename`, and `a.at<int>` not. With each, how the text goes on, and what stands before it.
_NEEDS_KEYWORD = (
    (re.compile(r"error: missing 'template' keyword prior to dependent template name '(?:[^']*::)?(\w+)'$"), ""),
    (re.compile(r"error: reference to non-static member function must be called()$"), ""),
    (re.compile(r"error: reference to overloaded function could not be resolved; did you mean to call it\?()$"), ""),
    (re.compile(r"error: use 'template' keyword to treat '(\w+)' as a dependent template name$"), "::"),
)
_NO_TEMPLATE = "following the 'template' keyword does not refer to a template"
_SAID = re.compile(r"^(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): (?P<text>.*)$", re.M)


class WhatClangAsks:
    """What a program leaves out and nvcc does without, as clang asks for it, and its texts with that inside: keywords ``template``, and
    rooms for shared objects. What results is what the C++ standard asks for, so that clang compiles it, or says what else is wrong.
    """

    def __init__(self, rewritten: dict[Path, str]) -> None:
        self.texts = dict(rewritten)
        self._first, self._said_first = "", ""
        self._inserted: dict[tuple[Path, int], list[int]] = {}
        """By file and line, the columns where a keyword was put, in bytes from 0, of the text as it was before."""
        self._rooms: list[str] = []
        """Where objects got a room, as clang named the places."""

    def add(self, said: str) -> bool:
        """Puts in what clang, in what it ``said`` of these texts, asks for; whether there was any. Where the name of a template comes from
        a macro, it is the macro's text that gets the keyword."""
        lines: dict[Path, list[bytes]] = {}
        wanted: set[tuple[Path, int, int]] = set()
        self._said_first = self._said_first or said
        asked = None
        for found in _SAID.finditer(said):
            matches = ((pattern.match(found["text"]), behind) for pattern, behind in _NEEDS_KEYWORD)
            if found["text"].startswith("error:"):
                asked = next(((match[1], behind) for match, behind in matches if match), None)
            if asked is None or not found["text"].startswith(("error:", "note: expanded from macro")):
                continue
            path, line, column = Path(os.path.abspath(found["file"])), int(found["line"]), int(found["column"]) - 1
            if path not in lines:
                lines[path] = self._bytes(path).split(b"\n")
            place = _template_at(lines[path][line - 1], column, *asked) if line <= len(lines[path]) else None
            if place:
                wanted.add((path, line, place[0]))
                self._first = self._first or f"{found['file']}:{line}:{place[0] + 1}: warning: '{place[1]}'"
                asked = None
        for path, line, column in sorted(wanted, reverse=True):
            text = lines[path][line - 1]
            lines[path][line - 1] = text[:column] + _KEYWORD + text[column:]
            self._inserted.setdefault((path, line), []).append(column)
        for path in {path for path, _, _ in wanted}:
            self.texts[path] = b"\n".join(lines[path]).decode("utf-8", "surrogateescape")
        return bool(wanted) or self._add_rooms(said)

    def _add_rooms(self, said: str) -> bool:
        """In a round of their own: keywords in the same line would move their columns."""
        found = {
            (m["file"], int(m["line"]), int(m["column"]) - 1) for m in _SAID.finditer(said) if m["text"] == _CONSTRUCTED
        }
        is_any = False
        for file, line, column in sorted(found, reverse=True):
            path = Path(os.path.abspath(file))
            lines = self._bytes(path).split(b"\n")
            roomy = _with_room(lines[line - 1], column) if line <= len(lines) else None
            if roomy is None:
                continue
            is_any, lines[line - 1] = True, roomy
            self.texts[path] = b"\n".join(lines).decode("utf-8", "surrogateescape")
            self._rooms.append(f"{file}:{line}:{column + 1}")
        return is_any

    def as_written(self, said: str) -> str:
        """What clang ``said`` of these texts, with the columns of the user's; what it said of those, where there is no such template."""
        if _NO_TEMPLATE in said:
            return self._said_first

        def replace(found: re.Match[str]) -> str:
            column = int(found["column"])
            for inserted in reversed(
                self._inserted.get((Path(os.path.abspath(found["file"])), int(found["line"])), [])
            ):
                column -= len(_KEYWORD) if column > inserted + len(_KEYWORD) else 0
            return f"{found['file']}:{found['line']}:{column}: {found['text']}"

        return _SAID.sub(replace, said) if self._inserted else said

    @property
    def remark(self) -> str:
        """A line that says which keyword was the first, and how many there are, and one for each room; nothing where there is none."""
        count = sum(map(len, self._inserted.values()))
        others = f" (and {count - 1} more)" if count > 1 else ""
        asks = "is taken for a template; C++ asks for the keyword 'template' before it"
        rooms = "".join(f"{place}: warning: {_NOT_CALLED}\n" for place in sorted(self._rooms))
        return (f"{self._first} {asks}{others}\n" if count else "") + rooms

    def _bytes(self, path: Path) -> bytes:
        if path in self.texts:
            return self.texts[path].encode("utf-8", "surrogateescape")
        try:
            return path.read_bytes()
        except OSError:
            return b""


_CONSTRUCTED = "error: initialization is not supported for __shared__ variables"
_NOT_CALLED = "the constructor of a __shared__ variable is not called"
_SHARED_OBJECT = re.compile(
    rb"__shared__\s+(?P<type>[\w:]+[^;{}()=]*?)\s*(?<![\w:])(?P<name>\w+)\s*(?P<extents>(?:\[[^][;]*\]\s*)*);"
)


def _with_room(line: bytes, column: int) -> bytes | None:
    """The line with the shared object whose name stands at ``column`` in a room of its size (``shared_room.h``). None where it is
    declared in another way: over several lines, beside others, or with a value, which nvcc refuses as well."""
    for found in _SHARED_OBJECT.finditer(line):
        if found.start("name") == column and not _has_comma(found["type"]):
            name, room = found["name"], b"__kw_room_of_" + found["name"]
            of = b" ".join((found["type"], *found["extents"].split()))
            made = b"__shared__ __kw_shared_room<%b> %b; auto &%b = %b.object();" % (of, room, name, room)
            return line[: found.start()] + made + line[found.end() :]
    return None


def _has_comma(type: bytes) -> bool:
    """Whether a comma is in it that separates no arguments of a template: of several variables the last was found."""
    depths = (type[:at].count(b"<") - type[:at].count(b">") for at in range(len(type)) if type[at : at + 1] == b",")
    return any(depth <= 0 for depth in depths)


_NAME_OF_TEMPLATE = re.compile(rb"(\w+)\s*<(?![<=])")
_QUALIFIER = re.compile(rb"\s*::\s*")


def _template_at(line: bytes, column: int, name: str, behind: str) -> tuple[int, str] | None:
    """Where the name of a member template stands, and the name: at ``column`` and ``behind`` something, or, qualified from there on, as
    the last in ``A<B>::C<D>``. It is ``name``, where that is known."""
    at = column
    while found := _NAME_OF_TEMPLATE.match(line, at):
        told, qualifier = found[1].decode(), _QUALIFIER.match(line, _end_of_arguments(line, found.end()))
        is_behind = line[:at].rstrip().endswith((behind.encode(),) if behind else (b".", b"->", b"::"))
        if is_behind and (told == name if name else not qualifier):
            return at, told
        if not qualifier:
            return None
        at = qualifier.end()
    plain = re.compile(rb"\w+\s*::\s*").match(line, at)  # a qualifier that is no template
    return _template_at(line, plain.end(), name, "") if plain and not behind else None


def _end_of_arguments(line: bytes, at: int) -> int:
    """Behind the ``>`` that closes the ``<`` before ``at``, or the line's end."""
    depth = 1
    while depth and at < len(line):
        depth += {b"<": 1, b">": -1}.get(line[at : at + 1], 0)
        at += 1
    return at


def _tight(token: str) -> str:
    """``<< <`` becomes ``<<< ``; newlines inside keep their place after the token."""
    brackets = "".join(c for c in token if c in "<>")
    return brackets + "".join(c for c in token if c not in "<>")


def changed_files(source: Path, include: tuple[str, ...]) -> dict[Path, str]:
    """Every file of the program whose text ``normalise_launches`` and ``escape_registers`` change: the source, and what it
    includes from beside it or from the folders of ``include``."""
    changed: dict[Path, str] = {}
    seen: set[Path] = set()
    queue = [Path(os.path.abspath(source))]
    while queue:
        path = queue.pop()
        if path in seen:
            continue
        seen.add(path)
        try:
            text = path.read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            continue
        better = escape_registers(normalise_launches(text))
        if better != text:
            changed[path] = better
        for quoted, angled in _INCLUDE.findall(text):
            for folder in (*([path.parent] if quoted else []), *map(Path, include)):
                candidate = Path(os.path.abspath(folder / (quoted or angled)))
                if candidate.is_file():
                    queue.append(candidate)
                    break
    return changed


def write_overlay(changed: dict[Path, str], folder: Path) -> Path:
    """Writes the changed texts and the overlay that puts them in place of the originals; returns the overlay's path."""
    import json

    roots = []
    for number, (path, text) in enumerate(sorted(changed.items())):
        copy = folder / str(number)  # the file's own name may be as long as names can be
        copy.write_text(text, encoding="utf-8", errors="surrogateescape")
        roots.append({"type": "file", "name": str(path), "external-contents": str(copy)})
    overlay = folder / "overlay.yaml"
    content = json.dumps({"version": 0, "use-external-names": False, "roots": roots}, ensure_ascii=False)
    overlay.write_text(content, encoding="utf-8", errors="surrogateescape")
    return overlay
