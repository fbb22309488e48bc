"""Values between instructions: a register, or an array of them along dims whose iterations are known when compiled.

A value needs an array along an UNROLL or VECTOR dim unless all that read it are in the same loop. A reduction and its
``init`` share theirs.
"""

from __future__ import annotations

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation.objects import Dim, DimPair, Instruction, Temporary
from kernelwright.space.cuda_source.fused_loops import IN_REGISTERS, FusedLoop, FusedLoops


@dataclass(frozen=True)
class Registers:
    """``dims`` of the producer that the array is indexed by; ``name`` is the C variable."""

    name: str
    dims: tuple[Dim, ...]
    sizes: tuple[int, ...]

    def declaration(self) -> str:
        """The declaration in C: ``float v_mad[4][4];``."""
        return f"float {self.name}{''.join(f'[{n}]' for n in self.sizes)};"


class RegisterFile:
    """The registers of all values of a leaf, and the text that an instruction reads or writes them by."""

    def __init__(self, loops: FusedLoops) -> None:
        self.loops = loops
        names = {i.name for i in loops.instructions}
        self._pairs: dict[tuple[str, str], list[DimPair]] = {}
        for pair in loops.backbone.pairs:
            if {pair.producer, pair.consumer} <= names:
                self._pairs.setdefault((pair.producer, pair.consumer), []).append(pair)
        self._lowered = {
            (t.producer.name, t.consumer.name): t for t in loops.backbone.temporaries if loops.leaf.exists(t)
        }
        self._inits = {r.init.name: r.instruction for r in loops.backbone.reductions}
        self.of: dict[str, Registers] = {}
        for instruction in loops.instructions:
            if instruction.operation not in ("store", "put", "init"):
                dims = self._array_dims(instruction)
                self.of[instruction.name] = Registers(
                    f"v_{instruction.name}", dims, tuple(loops.of[d].size for d in dims)
                )

    def source(self, operand: str, consumer: Instruction) -> str:
        """The instruction whose registers hold an operand: the ``get`` of a temporary where there is one."""
        temporary: Temporary | None = self._lowered.get((operand, consumer.name))
        return temporary.get.name if temporary is not None else operand

    def written(self, instruction: Instruction, lane: int | None = None) -> str:
        """Where an instruction puts its value; ``lane``: of a vector access, which of its iterations."""
        if instruction.name in self._inits:
            return self.read(self._inits[instruction.name].name, instruction)
        registers = self.of[instruction.name]
        return registers.name + "".join(self._index(self.loops.of[d], lane) for d in registers.dims)

    def read(self, producer: str, consumer: Instruction, lane: int | None = None) -> str:
        """The C expression by which a consumer reads a producer's value; ``lane``: of a vector access, which of its iterations."""
        registers = self.of[producer]
        to = {p.lhs: p.rhs for p in self._pairs.get((producer, consumer.name), ())}
        to |= {p.rhs: p.lhs for p in self._pairs.get((consumer.name, producer), ())}  # an init, of its reduction
        return registers.name + "".join(self._index(self.loops.of[to[d]], lane) for d in registers.dims)

    @staticmethod
    def _index(fused: FusedLoop, lane: int | None) -> str:
        return f"[{lane if fused.kind == 'VECTOR' and lane is not None else fused.variable}]"

    def _array_dims(self, instruction: Instruction) -> tuple[Dim, ...]:
        """In the order of the instruction's dims, those of one iteration left out."""
        others = [p for (a, _), pairs in self._pairs.items() if a == instruction.name for p in pairs]
        ends = [(p.lhs, p.rhs) for p in others if self._is_used(p)]
        reduction = self.loops.backbone.reduction(instruction)
        if reduction is not None:
            ends += [(p.rhs, p.lhs) for p in self._pairs.get((reduction.init.name, instruction.name), ())]
        of = self.loops.of
        apart = {a for a, b in ends if of[a] is not of[b]}
        return tuple(d for d in instruction.dims if d in apart and of[d].kind in IN_REGISTERS and of[d].size > 1)

    def _is_used(self, pair: DimPair) -> bool:
        """Not where the value passes through a temporary instead."""
        return (pair.producer, pair.consumer) not in self._lowered
