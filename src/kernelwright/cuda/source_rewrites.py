"""What nvcc accepts and clang does not: a launch written ``<< < grid, block >> >``, and a PTX register in inline assembly
with one percent sign.

    kernel<< <grid, block>> >(x);          ->   kernel<<<grid, block>>> (x);
    asm("mov.u32 %0, %laneid;" : ...);     ->   asm("mov.u32 %0, %%laneid;" : ...);

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
