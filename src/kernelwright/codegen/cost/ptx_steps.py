"""PTX as steps for a scoreboard, for machines without an assembler: who needs whose result, and about what it costs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kernelwright.codegen.cost.ptx_counts import instruction_class
from kernelwright.codegen.cost.scoreboard_steps import Step
from kernelwright.codegen.ptx_text import PtxBlock, PtxFunction, PtxInstruction
from kernelwright.codegen.source_lines import user_position

# Machine instructions that an instruction of each class becomes, by the pipe they go to; the empty name takes a turn to
# issue and nothing else. Source: measured over the suite's programs for sm_75 to sm_90 (nvJitLink 12.9), slow paths left out;
# classes that the suite lacks are taken from the instruction set.
TURNS: dict[str, tuple[tuple[str, float], ...]] = {
    "barrier": (("", 1.0), ("branch", 0.4)),
    "branch": (("branch", 0.9), ("alu", 0.25)),
    "atomic": (("lsu", 1.0), ("branch", 1.0), ("alu", 0.5)),
    "warp": (("warp", 1.0), ("alu", 0.2)),
    "tensor": (("tensor", 1.0),),
    "texture": (("lsu", 1.0),),
    "async_copy": (("lsu", 1.0),),
    "load_parameter": (("alu", 0.2),),
    "store_parameter": (("alu", 1.0),),
    "load_global": (("lsu", 1.0), ("alu", 0.2)),
    "load_shared": (("lsu", 1.0),),
    "load_local": (("lsu", 1.0),),
    "load_const": (("lsu", 0.2),),
    "load_generic": (("lsu", 1.0), ("alu", 0.2)),
    "store_global": (("lsu", 1.0), ("imad", 0.1)),
    "store_shared": (("lsu", 1.0), ("branch", 0.2)),
    "store_local": (("lsu", 0.8),),
    "store_generic": (("lsu", 1.0),),
    "conversion": (("alu", 0.5), ("xu", 0.2)),
    "address": (),
    "move": (("alu", 0.4), ("imad", 0.1)),
    "special": (("xu", 1.0), ("imad", 0.3)),
    "divide_fp": (("fma", 5.3), ("branch", 2.7), ("xu", 1.0), ("alu", 0.8)),
    "divide_int": (("alu", 14.0), ("imad", 9.0), ("xu", 3.0)),
    "fp64": (("fp64", 1.0), ("alu", 0.2), ("imad", 0.1)),
    "fp16": (("fp16", 1.0),),
    "fp32": (("fma", 0.65), ("alu", 0.2)),
    "int": (("alu", 0.65), ("imad", 0.35)),
    "other": (("alu", 1.0),),
}
DOUBLE_DIVISION = (("fp64", 8.0), ("branch", 2.9), ("alu", 2.6), ("imad", 1.4), ("xu", 1.0))
CHAINED = frozenset({"divide_fp", "divide_int"})
"""Their machine instructions wait for one another."""
ALU_CYCLES = 4

EXTRA_REGISTERS = 2
"""What the assembler needs beyond the values that are alive; measured over the suite's kernels."""
LEAST_REGISTERS = 10

REQUESTING = frozenset(
    f"{what}_{where}" for what in ("load", "store") for where in ("global", "shared", "local", "generic", "const")
)
"""Classes whose instructions ask memory for something."""

_TYPE = re.compile(r"[bsuf](8|16|32|64|128)")
_REGISTER = re.compile(r"%[a-z]+\d+")
_PREDICATE = re.compile(r"%p\d+")
_WIDE = re.compile(r"%(?:rd|fd|d)\d+")
_QUAD = re.compile(r"%(?:rq|q)\d+")
_BARRIER = re.compile(r"(?:bar|barrier)(?:\.cta)?(?!.*\barrive\b)\.(?:sync|red)")
_NO_RESULT = (
    "st",
    "bra",
    "brx",
    "ret",
    "exit",
    "trap",
    "bar",
    "barrier",
    "membar",
    "fence",
    "red",
    "prefetch",
    "brkpt",
)


def steps_of(block: PtxBlock, function: str, label: str, slots: dict[str, int]) -> Iterator[Step]:
    """The steps of a PTX block that stands for the IR block ``label``; ``slots`` numbers registers across calls."""
    for each in block.instructions:
        kind = instruction_class(each.opcode)
        made, used = operands(each)
        turns = DOUBLE_DIVISION if kind == "divide_fp" and each.opcode.endswith("f64") else TURNS[kind]
        issued = sum(n for _, n in turns)
        yield Step(
            kind=kind,
            pipes=turns,
            stall=max(1, round(issued * (ALU_CYCLES if kind in CHAINED else 1))) if issued >= 0.5 else 0,
            waits=tuple(slots.setdefault(f"{function} {r}", len(slots)) for r in used),
            sets=slots.setdefault(f"{function} {made[0]}", len(slots)) if made else -1,
            frees=-1,
            barrier=bool(_BARRIER.match(each.opcode)),
            block=label,
            position=user_position(each.source),
            bytes=_bytes(each, kind),
            guarded=bool(each.guard),
        )


def _bytes(instruction: PtxInstruction, kind: str) -> int:
    """What each lane asks memory for; nothing for a constant at a fixed address, which becomes an operand."""
    if kind not in REQUESTING or (kind == "load_const" and not has_register_address(instruction)):
        return 0
    parts = instruction.opcode.split(".")
    bits = next((int(p[1:]) for p in reversed(parts) if _TYPE.fullmatch(p)), 0)
    many = next((int(p[1:]) for p in parts if p in ("v2", "v4", "v8")), 1)
    return bits * many // 8


def has_register_address(instruction: PtxInstruction) -> bool:
    """Whether the address of a load is computed, not known beforehand."""
    return "%" in instruction.operands.partition("[")[2].partition("]")[0]


def operands(instruction: PtxInstruction) -> tuple[list[str], list[str]]:
    """The registers an instruction writes and those it reads, its guard's among them."""
    base = instruction.opcode.partition(".")[0]
    first, rest = ("", instruction.operands) if base in _NO_RESULT else _first_operand(instruction.operands)
    written = [] if first.startswith("[") else _REGISTER.findall(first)
    read = _REGISTER.findall(rest if written else instruction.operands)
    return written, list(dict.fromkeys([*read, *_REGISTER.findall(instruction.guard)]))


def _first_operand(text: str) -> tuple[str, str]:
    """Up to the first comma outside brackets, and what follows it."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in "({[") - (letter in ")}]")
        if letter == "," and not depth:
            return text[:at].strip(), text[at + 1 :]
    return text.strip(), ""


def pressure(function: PtxFunction) -> int:
    """About how many registers of 32 bits a thread takes: the most that are alive at once, and some for the assembler.

    Good enough to tell 20 registers from 60; the assembler's own count replaces it wherever there is one.
    """
    number = {block.label: i for i, block in enumerate(function.blocks)}
    live_in: list[set[str]] = [set() for _ in function.blocks]
    changed, most = True, 0
    while changed:
        changed, most = False, 0
        for index in range(len(function.blocks) - 1, -1, -1):
            block = function.blocks[index]
            alive: set[str] = set()
            for successor in block.successors:
                alive |= live_in[number[successor]] if successor in number else set()
            most = max(most, _words(alive))
            for each in reversed(block.instructions):
                written, read = operands(each)
                if not each.guard:
                    alive -= set(written)
                alive |= set(read)
                most = max(most, _words(alive))
            if alive != live_in[index]:
                live_in[index] = alive
                changed = True
    return min(255, max(LEAST_REGISTERS, most + EXTRA_REGISTERS))


def _words(alive: set[str]) -> int:
    return sum(0 if _PREDICATE.match(r) else 2 if _WIDE.match(r) else 4 if _QUAD.match(r) else 1 for r in alive)
