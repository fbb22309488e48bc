"""PTX instructions per IR block, by class: what one execution of a block costs, before a timing model weighs it.

IR opcodes are a poor measure: addresses fold into loads, multiplications and additions fuse, loads are joined. PTX has all
of that behind it, and LLVM says which IR block each PTX block was made from.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

from kernelwright.codegen.ptx_text import PtxFunction, read_ptx

# The first pattern that matches ``opcode.with.modifiers`` decides. Source: the PTX ISA's chapter on instructions.
CLASSES: tuple[tuple[str, str], ...] = (
    ("barrier", r"(bar|barrier|membar|fence|mbarrier|griddepcontrol)\b"),
    ("branch", r"(bra|brx|call|ret|exit|trap|brkpt|nanosleep)\b"),
    ("atomic", r"(atom|red)\b"),
    ("warp", r"(shfl|vote|match|redux|activemask|elect)\b"),
    ("tensor", r"(mma|wmma|wgmma|tcgen05|ldmatrix|stmatrix|movmatrix)\b"),
    ("texture", r"(tex|tld4|txq|suld|sust|sured|suq|istypep)\b"),
    ("async_copy", r"(cp|discard|applypriority|prefetch|prefetchu|multimem|createpolicy)\b"),
    ("load_parameter", r"ld\.param\b"),
    ("store_parameter", r"st\.param\b"),
    ("load_global", r"(ld|ldu)\b.*\.global\b"),
    ("load_shared", r"ld\b.*\.shared\b"),
    ("load_local", r"ld\b.*\.local\b"),
    ("load_const", r"ld\b.*\.const\b"),
    ("load_generic", r"(ld|ldu)\b"),
    ("store_global", r"st\b.*\.global\b"),
    ("store_shared", r"st\b.*\.shared\b"),
    ("store_local", r"st\b.*\.local\b"),
    ("store_generic", r"st\b"),
    ("conversion", r"cvt\b"),
    ("address", r"(cvta|isspacep|mapa|getctarank)\b"),
    ("move", r"mov\b"),
    ("special", r"(sin|cos|lg2|ex2|tanh|rsqrt)\b|(rcp|sqrt)\.approx|div\.(approx|full)"),
    # One PTX instruction, many machine instructions: weigh it apart.
    ("divide_fp", r"(div|sqrt|rcp)\b.*\.(f32|f64)"),
    ("divide_int", r"(div|rem)\b.*\.[us](16|32|64)"),
    ("fp64", r"\w+\b.*\.f64\b"),
    ("fp16", r"\w+\b.*\.(f16|f16x2|bf16|bf16x2)\b"),
    ("fp32", r"\w+\b.*\.(f32|f32x2|ftz)\b"),
    (
        "int",
        r"(add|addc|sub|subc|mul|mul24|mad|madc|mad24|sad|abs|neg|min|max|popc|clz|bfind|fns|brev|bfe|bfi|bmsk|szext|dp4a|dp2a"
        r"|and|or|xor|not|cnot|lop3|shl|shr|shf|prmt|set|setp|selp|slct|testp|copysign|v\w+)\b",
    ),
    ("other", r""),
)  # fmt: skip

PREHEADER = ".preheader"

_PATTERNS = tuple((name, re.compile(pattern)) for name, pattern in CLASSES)


@lru_cache(maxsize=4096)
def instruction_class(opcode: str) -> str:
    """The class of ``ld.global.f32`` or any other opcode with its modifiers: one of ``CLASSES``."""
    return next(name for name, pattern in _PATTERNS if pattern.match(opcode))


def count_instructions(ptx: str) -> int:
    """All instructions of all functions: what the paper's Figure 10 can be drawn in when there is no GPU."""
    return sum(1 for function in read_ptx(ptx) for _ in function.instructions())


def origins(function: PtxFunction, labels: Collection[str] | None = None) -> dict[str, str]:
    """The IR block behind each PTX block, by label.

    A block that code generation made itself (an edge it split, the short division) belongs to the block its name starts
    with; without a name, to the one control comes from if there is only one, else to where control goes, else to the
    one printed before.
    """
    names = labels if labels is not None else {b.ir_name for b in function.blocks if b.ir_name}
    found = {b.label: base for b in function.blocks if b.ir_name and (base := _original(b.ir_name, names))}
    sources: dict[str, list[str]] = {}
    for block in function.blocks:
        for target in block.successors:
            sources.setdefault(target, []).append(block.label)
    previous = next(iter(found.values()), next(iter(names), function.blocks[0].label))
    for block in function.blocks:
        if block.label not in found:
            neighbours = [*_only(sources.get(block.label, [])), *_only(block.successors)]
            found[block.label] = next((found[n] for n in neighbours if n in found), previous)
        previous = found[block.label]
    return found


def _original(name: str, names: Collection[str]) -> str | None:
    """``7.loopexit`` was split from ``7``; ``7.9_crit_edge`` is an edge that leaves it. A loop's new ``7.preheader`` runs once
    where ``7`` runs again and again, so it is no part of it."""
    if name.endswith(PREHEADER) and name not in names:
        return None
    while name not in names and "." in name:
        name = name.rpartition(".")[0]
    return name if name in names else None


def _only(labels: Iterable[str]) -> list[str]:
    found = list(labels)
    return found if len(found) == 1 else []
