"""The original, instrumented: counters beside the places an edit changes, and what they counted on a workload's cases.

    before   %s = fadd float %a, %b          after   %same = icmp eq i32 (bits of %b), (bits of %c)
                                                     counter[0] += 1, counter[1] += %same
                                                     %s = fadd float %a, %b

The instrumented kernel computes what the original does. Every count is one of threads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution
from kernelwright.edits.original import Id, Original
from kernelwright.evaluate.judging.case_runner import Executor, Ran, Runner
from kernelwright.evaluate.workload.case import Output
from kernelwright.ir import Module, parse_module
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.checked_run import LaunchMade, Runnable

COUNTERS = "kw.observed"
Memory = tuple[tuple[int, int, str], ...]
"""Where buffers begin and end, and their names."""
_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}
_INTEGER = re.compile(r"i(\d+)")
_VECTOR = re.compile(r"<(\d+) x (\w+)>")


@dataclass(frozen=True)
class Edge:
    """A way out of a block, as a phi at its other end sees it."""

    block: int
    to: int


@dataclass(frozen=True)
class Same:
    """Counts how often two values of ``type`` are equal, bit by bit, before instruction ``at`` or on an edge."""

    at: Id | Edge
    type: str
    left: str
    right: str


@dataclass(frozen=True)
class AlreadyThere:
    """Counts how often memory holds already what a store is to write, before instruction ``at``."""

    at: Id
    type: str
    value: str
    pointer: str
    """With its type."""
    align: int


@dataclass(frozen=True)
class Reached:
    """Counts how often instruction ``at`` is reached."""

    at: Id


Probe = Same | AlreadyThere | Reached


@dataclass(frozen=True)
class Count:
    """``held`` of ``executions``."""

    executions: int = 0
    held: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.executions + other.executions, self.held + other.held)


def can_compare(type: str) -> bool:
    """Whether two values of a type can be compared as numbers of up to 64 bits."""
    return type.startswith("ptr") or 0 < _bits(type) <= 64


def instrumented(
    original: Original, probes: Sequence[Probe], added: Mapping[Id, Sequence[str]], *, words: int = 1
) -> Module:
    """The kernel's module with two counters per probe. ``added``: lines that stand before an instruction. ``words``: counters that
    they need, at least."""
    before: dict[Id, list[str]] = {id: list(lines) for id, lines in added.items()}
    for number, probe in enumerate(probes):
        at = probe.at
        id = original.order[at.block][-1] if isinstance(at, Edge) else at
        before.setdefault(id, []).extend(_lines(original, number, probe))
    blocks = {original.nodes[id].block for id in before}
    text = original.text({block: _block(original, block, before) for block in blocks}, other_memory=True)
    counters = f"@{COUNTERS} = addrspace(1) global [{max(2 * len(probes), words)} x i64] zeroinitializer, align 8\n"
    return parse_module(f"{text}\n{counters}")


def _block(original: Original, block: int, before: Mapping[Id, Sequence[str]]) -> str:
    lines = [original.labels[block][1:] + ":"]
    waiting: list[str] = []
    for id in original.order[block]:
        waiting += before.get(id, ())
        if not original.nodes[id].is_phi:  # nothing can stand before one
            lines += [f"  {line}" for line in waiting]
            waiting = []
        lines.append("  " + original.lines[id])
    return "\n".join(lines)


def _lines(original: Original, number: int, probe: Probe) -> Iterator[str]:
    name = f"%kw.{number}"
    held = "false"
    if isinstance(probe, Same):
        yield from _compared(name, probe.type, probe.left, probe.right)
        held = f"{name}.same"
    elif isinstance(probe, AlreadyThere):
        yield f"{name}.there = load {probe.type}, {probe.pointer}, align {probe.align}"
        yield from _compared(name, probe.type, f"{name}.there", probe.value)
        held = f"{name}.same"
    passes = "true"
    if isinstance(probe.at, Edge):
        condition = _condition(original, probe.at)
        if condition:
            passes = f"{name}.taken"
            yield f"{passes} = xor i1 {condition[0]}, {'false' if condition[1] else 'true'}"
    yield f"{name}.held = and i1 {held}, {passes}"
    for offset, bit in enumerate((passes, f"{name}.held")):
        yield f"{name}.n{offset} = zext i1 {bit} to i64"
        yield f"{name}.p{offset} = getelementptr i64, ptr addrspace(1) @{COUNTERS}, i64 {2 * number + offset}"
        yield f"{name}.o{offset} = atomicrmw add ptr addrspace(1) {name}.p{offset}, i64 {name}.n{offset} monotonic, align 8"


def _compared(name: str, type: str, left: str, right: str) -> Iterator[str]:
    if type.startswith("ptr") or _INTEGER.fullmatch(type):
        yield f"{name}.same = icmp eq {type} {left}, {right}"
        return
    bits = _bits(type)
    yield f"{name}.left = bitcast {type} {left} to i{bits}"
    yield f"{name}.right = bitcast {type} {right} to i{bits}"
    yield f"{name}.same = icmp eq i{bits} {name}.left, {name}.right"


def _bits(type: str) -> int:
    """The size of a type that can be seen as one whole number; 0 for others."""
    whole, several = _INTEGER.fullmatch(type), _VECTOR.fullmatch(type)
    if several:
        return int(several[1]) * _bits(several[2])
    return int(whole[1]) if whole else _BITS.get(type, 0)


def _condition(original: Original, edge: Edge) -> tuple[str, bool] | None:
    """The condition under which an edge is taken, and its value then; None for an edge that is the only one, or a switch."""
    branch = original.nodes[original.order[edge.block][-1]].instruction
    if branch.opcode != "br":
        return None
    targets = [original.names[block] for block in branch.successors]
    if len(targets) != 2 or targets[0] == targets[1]:
        return None
    return original.names[branch.operands[0]], targets[0] == original.labels[edge.to]


# -- running -------------------------------------------------------------------------------------------------------------


class ObservedCase:
    """A case whose counters are read after each launch."""

    def __init__(self, case: Runnable) -> None:
        self.case = case
        self.name = case.name
        self.counters: NDArray[np.int64] = np.zeros(0, np.int64)
        self.memory: Memory = ()

    def run(self, runner: Runner, kernel: str) -> Output:
        return self.case.run(runner.through(_Reading(runner.executor, self)), kernel)


class _Reading:
    """An executor that reads the counters after another one has run the launch."""

    def __init__(self, executor: Executor, case: ObservedCase) -> None:
        self._executor = executor
        self._case = case

    def __call__(self, execution: Execution, arena: Arena) -> Ran:
        result = self._executor(execution, arena)
        counters = execution.loaded.variables.buffers.get(COUNTERS)
        if counters is not None:
            self._case.counters = arena.view(counters, np.int64).copy()
            self._case.memory = tuple((b.address, b.end, b.name) for b in arena.buffers)
        return result


def counts(probes: Sequence[Probe], counters: Iterable[NDArray[np.int64]]) -> list[Count]:
    """What each probe counted, all cases together."""
    total = np.zeros(2 * len(probes), np.int64)
    for one in counters:
        total += one[: total.size] if one.size >= total.size else 0
    return [Count(int(total[2 * n]), int(total[2 * n + 1])) for n in range(len(probes))]


__all__ = [
    "AlreadyThere", "Count", "Edge", "LaunchMade", "Memory", "ObservedCase", "Probe", "Reached", "Same", "can_compare", "counts",
    "instrumented",
]  # fmt: skip
