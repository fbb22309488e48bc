"""Candidates judged in a worker of a pool, which may die of them: what it does before the first, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from kernelwright.device.settings import virtual_gpu
from kernelwright.errors import CompileError, ToolError
from kernelwright.evaluate.candidate import C, VariantKind
from kernelwright.evaluate.judging.demands import Demands
from kernelwright.evaluate.judging.fitness import Evaluated, Fitness
from kernelwright.evaluate.judging.variant import as_compiled
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.timing.machine_code import Code, machine_code
from kernelwright.evaluate.workload.subject import Subject
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    """What a worker says of the original when it is asked about no candidate at all (None)."""

    original: Ok
    as_compiled_us: float
    notes: tuple[str, ...]
    code: Code = field(default_factory=dict)
    """Every kernel with the post-passes, and as it was given; where candidates are going to be measured."""
    as_compiled: Code = field(default_factory=dict)

    @property
    def time_us(self) -> float:
        """What gains are counted from: the better of the original with the post-passes and without."""
        return min(self.original.time_us, self.as_compiled_us)


def setup(
    subject: Subject, kind: VariantKind[C], device: str, demands: Demands, measured_arch: str = ""
) -> Callable[[C | None], Evaluated | Reference]:
    """What a worker of a pool does before its first candidate; ``device`` names a GPU of the table. ``measured_arch``: the
    architecture of the real GPU that will time what is accepted, so that its machine code comes along."""
    workload = subject.workload()
    fitness = Fitness(workload, virtual_gpu(device), demands, kind=kind, alone=True, is_clock=not measured_arch)
    original = fitness.reference()
    builder = fitness.builder
    code = machine_code(builder.build(kind.original), measured_arch) if measured_arch else {}

    def work(candidate: C | None) -> Evaluated | Reference:
        if candidate is None:
            given = machine_code(as_compiled(workload.modules()), measured_arch, code) if measured_arch else {}
            notes = (*fitness.notes, *fitness.remarks_on_original())
            return Reference(original, fitness.as_compiled_us, notes, code, given)
        evaluated = fitness.evaluate(candidate)
        if not measured_arch or not isinstance(evaluated.outcome, Ok):
            return evaluated
        try:
            return replace(evaluated, code=machine_code(builder.build(candidate), measured_arch, code))
        except (CompileError, ToolError) as error:
            return replace(evaluated, outcome=Rejected("compile", error.message))

    return work
