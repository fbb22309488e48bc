"""The conditions of a kernel and which of their sides a run has seen, counted on an instrumented original.

    %c = icmp slt i32 %i, %n              seen true? seen false? seen with both sides equal?
    %m = call i32 @llvm.smin(%k, i32 9)   seen to be the second operand, and not the first? and the other way round?

A side that no data have shown may be cut off in a variant without a trace, so data are looked for that show it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kernelwright.edits.original import Id, Original
from kernelwright.errors import KernelwrightError
from kernelwright.ir import FloatType, Instruction, Module, Value
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.coverage.condition_sources import is_limit
from kernelwright.prove.coverage.required_relations import Relation, compared, is_value
from kernelwright.prove.instrumentation import Probe, Same, can_compare, instrumented

MOST = 128
"""Conditions of a kernel that are looked at."""
_RELATIONS = frozenset({"slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge", "olt", "ole", "ogt", "oge"})
BOTH = ((True, "true"), (False, "false"))


@dataclass(frozen=True)
class Goal:
    """Something to be seen: that a probe holds in some execution, or that it does not."""

    probe: int
    held: bool
    value: Value
    """What decides it."""
    line: int
    """Of the source; 0 where none is known."""
    words: str
    relation: Relation
    """What has to hold where it is seen."""

    def is_seen(self, counters: NDArray[np.int64]) -> bool:
        """``counters``: two for each probe, how often it was executed and how often it held; too few count as zeros."""
        if counters.size < 2 * self.probe + 2:
            return False
        executions, held = int(counters[2 * self.probe]), int(counters[2 * self.probe + 1])
        return held > 0 if self.held else held < executions


class Conditions:
    """Of one kernel. ``module`` is the original with counters; None where it cannot be made."""

    def __init__(self, module: Module, kernel: str) -> None:
        self.goals: list[Goal] = []
        self.module: Module | None = None
        self.function = module.functions[kernel]
        probes: list[Probe] = []
        try:
            original = Original(module, kernel)
            self.function = original.function
            for probe, sides, value, line, words in _asked(original):
                self.goals += [
                    Goal(len(probes), held, value, line, f"{words} {said}", relation) for held, said, relation in sides
                ]
                probes.append(probe)
            if probes:
                self.module = instrumented(original, probes, {})
        except KernelwrightError:
            self.goals = []


Asked = tuple[Probe, tuple[tuple[bool, str, Relation], ...], Value, int, str]


def _asked(original: Original) -> Iterator[Asked]:
    seen: set[str] = set()
    for block in range(len(original.order)):
        for place, id in enumerate(original.order[block]):
            if len(seen) >= MOST:
                return
            node = original.nodes[id]
            instruction = node.instruction
            at = _next_place(original, block, place)
            line = _line(original, id)
            if (
                at is not None
                and instruction.opcode in ("icmp", "fcmp")
                and node.type == "i1"
                and node.result not in seen
            ):
                seen.add(node.result)
                where = f"'{instruction.opcode}' at line {line}"
                sides = tuple((held, said, compared(instruction, held)) for held, said in BOTH)
                yield Same(at, "i1", node.result, "true"), sides, instruction, line, where
                if instruction.predicate in _RELATIONS and can_compare(node.operand_types[0]):
                    equal = Same(at, node.operand_types[0], *node.operands[:2])
                    relation = Relation("eq", *instruction.operands[:2])
                    yield equal, ((True, "with equal sides", relation),), instruction, line, where
            elif at is not None and is_limit(instruction) and can_compare(node.type) and node.result not in seen:
                seen.add(node.result)
                for number in (0, 1):
                    probe = Same(at, node.type, node.result, node.operands[number])
                    words = f"the limit at line {line} binding, side {number + 1}"
                    yield probe, ((False, "", _binding(instruction, number)),), instruction, line, words
            elif instruction.opcode in ("br", "select") and node.operands:
                condition = instruction.operands[0]
                name = node.operands[0]
                known = not isinstance(condition, Instruction) or condition.opcode in ("icmp", "fcmp") or name in seen
                if node.operand_types[0] == "i1" and not known:
                    seen.add(name)
                    where = f"the condition at line {line}"
                    sides = tuple((held, said, is_value(condition, held)) for held, said in BOTH)
                    yield Same(id, "i1", name, "true"), sides, condition, line, where


def _binding(limit: Instruction, number: int) -> Relation:
    """That a minimum or maximum is not the operand of that number: the other one is the smaller, or the larger."""
    one, other = limit.operands[:2]
    order = "lt" if "min" in limit.callee.name else "gt"
    kind = "o" if isinstance(one.type, FloatType) else "u" if ".u" in limit.callee.name else "s"
    return Relation(kind + order, *((other, one) if number == 0 else (one, other)))


def _next_place(original: Original, block: int, place: int) -> Id | None:
    """The next instruction of a block that others can stand before."""
    return next((id for id in original.order[block][place + 1 :] if not original.nodes[id].is_phi), None)


def _line(original: Original, id: Id) -> int:
    at = original.location(id)
    return at.line if at else 0


__all__ = ["Conditions", "Goal"]
