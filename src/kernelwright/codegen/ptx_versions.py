"""The PTX ISA version that inline assembly needs, where it is above the one that an architecture's code is emitted in.

LLVM writes the version of its target machine and does not read inline assembly; an assembler refuses an instruction that the version
at the top does not have. Drivers read older versions, so that code without such instructions keeps its own.
"""

from __future__ import annotations

import re

# NVIDIA's PTX ISA manual, "PTX ISA Notes" of each instruction: those introduced after 7.8, which is the floor.
_SINCE: tuple[tuple[int, str], ...] = (
    (84, r"(?:mma|cvt)\S*\.(?:e4m3|e5m2)\b(?!x2)|atom\S*\.b128\b"),
    (83, r"tensormap\.|fence\.proxy\.tensormap|(?:ld|st)\S*\.b128\b"),
    (81, r"st\.async|red\.async|multimem\.|cvt\S*\.(?:e4m3|e5m2)x2"),
    (80, r"cp\.async\.bulk|cp\.reduce\.async|fence\.(?:proxy\.async|mbarrier_init)|mbarrier\.(?:expect_tx|complete_tx|\S*expect_tx)"
         r"|elect\.sync|setmaxnreg|wgmma\."),
)  # fmt: skip
_INLINE = re.compile(r"^\t// begin inline asm\n(.*?)^\t// end inline asm$", re.M | re.S)
_VERSION = re.compile(r"^\.version (\d+)\.(\d+)$", re.M)


def with_version(ptx: str) -> str:
    """``ptx``, verbose as LLVM writes it, with the version at its top that its inline assembly needs."""
    if "// begin inline asm" not in ptx:
        return ptx
    inline = re.sub(r"//[^\n]*", "", "\n".join(_INLINE.findall(ptx)))
    needed = next((version for version, words in _SINCE if re.search(rf"(?<![\w.])(?:{words})", inline)), 0)
    found = _VERSION.search(ptx)
    if found is None or needed <= 10 * int(found[1]) + int(found[2]):
        return ptx
    return f"{ptx[: found.start()]}.version {needed // 10}.{needed % 10}{ptx[found.end() :]}"
