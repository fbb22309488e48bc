"""What comes of a candidate on every case of a workload, under every schedule: what a search does, in a few lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from kernelwright.device.reference import execute_reference
from kernelwright.device.schedule import Schedule
from kernelwright.evaluate.judging.case_runner import Modules, Ran, by_kernel
from kernelwright.evaluate.judging.judge import Judge
from kernelwright.evaluate.outcome import Metrics, Ok, Outcome, Rejected
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.ir import Module
from tests.evaluate.cost import instructions


class Judged:
    """A judge that has seen the workload's own program."""

    def __init__(
        self, workload: Workload, schedules: Sequence[Schedule] = (Schedule.forward(),), budget: int = 1_000_000
    ) -> None:
        self.judge = Judge(workload, execute_reference, budget=budget)
        self.schedules = schedules
        self.workload = workload
        self.original = workload.modules()
        self.judge.expect(self.original)

    @property
    def warnings(self) -> list[str]:
        return self.judge.warnings

    def __call__(self, modules: Module | Mapping[str, Module] = MappingProxyType({})) -> Outcome:
        changed: Modules = by_kernel(modules) if isinstance(modules, Module) else modules
        results: list[Ran] = []
        error = 0.0
        for index, case in enumerate(self.workload.in_process):
            for number, schedule in enumerate(self.schedules):
                runner, output = self.judge.run({**self.original, **changed}, case, schedule)
                if isinstance(output, Rejected):
                    return output
                verdict = self.judge.compare(case, output.arrays, self.judge.expected(index))
                if isinstance(verdict, Rejected):
                    said = f"under schedule {schedule}, {verdict.reason}"
                    return verdict if number == 0 else Rejected("order", said, verdict.where)
                error = max(error, verdict)
                results += runner.results if number == 0 else []
        time_us, metrics = instructions(results)
        return Ok(time_us, error, Metrics(metrics))
