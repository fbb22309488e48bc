"""The judge: what the cases of a workload should give, and whether what a candidate gave is that.

    judge = Judge(workload)
    judge.expect(workload.modules())                         # the expected outputs
    runner, output = judge.run(modules, case, schedule)      # Output or Rejected, whatever the candidate does
    verdict = judge.compare(case, output.arrays, judge.expected(index))

It runs candidates in this process: for code that may do anything, a worker process does the judging.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.device.arena import Arena
from kernelwright.device.execution import FORWARD
from kernelwright.device.reference import execute_reference
from kernelwright.device.schedule import Schedule
from kernelwright.errors import Misuse, ToolError
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.judging.case_runner import (
    BUDGET,
    LAUNCHES,
    Executor,
    Modules,
    Runner,
    Stopped,
    by_kernel,
)
from kernelwright.evaluate.judging.idle_check import idle_warnings
from kernelwright.evaluate.outcome import Rejected
from kernelwright.evaluate.workload.case import Arrays, Output
from kernelwright.evaluate.workload.comparison import Given, judge
from kernelwright.evaluate.workload.rule_text import Rules
from kernelwright.evaluate.workload.workload import InProcessCase, Workload
from kernelwright.ir import Module


class Judge:
    """Judges programs, given as the module of each kernel, by the cases of a workload.

    ``expect`` must be called first. Outputs are compared with the workload's oracle where it has one, otherwise with what
    was recorded, otherwise with the original's.
    """

    def __init__(
        self,
        workload: Workload,
        executor: Executor = execute_reference,
        *,
        budget: int = BUDGET,
        keeps_memory: bool = False,
    ) -> None:
        """``keeps_memory``: the device's memory stays from one case to the next, which saves most of what a small case takes.
        Nothing else in the process can replay a recording then: it is for workers, which do nothing else."""
        self.workload = workload
        self.executor = executor
        self.budget = budget
        """What one launch may spend, in the executor's unit."""
        self.warnings: list[str] = []
        """What makes the workload a doubtful judge: tolerances that doing nothing would pass."""
        self._keeps_memory = keeps_memory
        self._launches = LAUNCHES
        self._arenas = Arenas()
        self._original: Modules = {}
        self._expected: list[Output] = []

    def expect(self, modules: Modules | Module, executor: Executor | None = None, overread: int | None = None) -> None:
        """Runs the original once and keeps what candidates should give. Raises ``Misuse`` when it fails on its own cases.

        ``executor``: in place of the judge's own. ``overread``: as ``run`` has it.
        """
        self._original = by_kernel(modules) if isinstance(modules, Module) else modules
        self._expected, self.warnings = [], []
        most = 0
        for case in self.workload.in_process:
            runner, output = self.run(self._original, case, FORWARD, executor, overread=overread)
            if isinstance(output, Rejected):
                raise Misuse(f"the original {_of(case)} fails: {output}", hint="fix the program or its workload first")
            most = max(most, len(runner.results))
            wanted = self._wanted(case, output)
            self._expected.append(Output({**output.arrays, **wanted}, output.before, output.inputs))
            self.warnings += idle_warnings(self.workload.rules, wanted, output.before, output.inputs)
        # A candidate may send the host round its loop more often than the original, but not for ever.
        self._launches = 2 * most + 16

    def expected(self, index: int) -> Output:
        """What the case with this number should give, and what its memory held before."""
        return self._expected[index]

    def run(
        self,
        modules: Modules,
        case: InProcessCase,
        schedule: Schedule,
        executor: Executor | None = None,
        budget: int | None = None,
        overread: int | None = None,
    ) -> tuple[Runner, Output | Rejected]:
        """Runs a case of the workload; what its launches did is in the runner's ``results``. ``executor``, ``budget``: in
        place of the judge's own. ``overread``: the byte that a read past a buffer gives; None: it is a failure."""
        arena = self._arenas.of(case)
        runner = Runner(
            modules, executor or self.executor, arena,
            schedule=schedule, budget=budget or self.budget, launches=self._launches, overread=overread,
        )  # fmt: skip
        try:
            return runner, case.run(runner, self.workload.kernel)
        except Stopped as stopped:
            return runner, stopped.rejected
        finally:
            if not self._keeps_memory:
                self._arenas.close()

    def _wanted(self, case: InProcessCase, output: Output) -> Arrays:
        """The expected outputs: the oracle's, the recorded ones, or the original's own."""
        if isinstance(case, RecordedCase):
            return case.expected()
        if self.workload.oracle is None:
            return output.arrays
        wanted = {
            name: _as_output(values, output.arrays.get(name)) for name, values in self.workload.told(case).items()
        }
        unknown = [name for name in wanted if name not in output.arrays]
        if unknown:
            raise Misuse(
                f"the oracle of {_of(case)} gives {unknown[0]!r}, which is no output",
                hint=f"the outputs are {', '.join(output.arrays)}",
            )
        return wanted

    def compare(
        self, case: InProcessCase, found: Arrays, expected: Output, rules: Rules | None = None
    ) -> float | Rejected:
        """The largest error of all outputs, or why they are not accepted. ``rules``: in place of the workload's."""
        rules, worst = rules or self.workload.rules, 0.0
        for name, values in expected.arrays.items():
            if name not in found:
                return Rejected("compare", f"{_of(case)}: there is no output '{name}'")
            inputs = tuple(v for n, v in expected.inputs.items() if n != name and _alike(v, values))
            given = Given(expected.before.get(name), inputs)
            verdict = judge(rules.of(name), found[name], values, given)
            if not verdict.accepted:
                return Rejected("compare", f"{_of(case)}: '{name}' {verdict.sentence}")
            worst = max(worst, verdict.figure)
        return worst


class Arenas:
    """Memory for cases, kept from one to the next: making it anew takes longer than most launches run."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._arenas: dict[tuple[int, int] | None, Arena] = {}

    def of(self, case: InProcessCase) -> Arena:
        """An arena that a case may use until the next one is asked for; recordings find theirs at the recorded address.
        Raises ``ToolError`` when there is no memory for it."""
        if self._owner != os.getpid():
            # A copy of the process that made them: memory would be shared with it, and with its other copies.
            for arena in self._arenas.values():
                arena.close()
            self._owner, self._arenas = os.getpid(), {}
        asked = (case.capture.base, case.capture.reserve) if isinstance(case, RecordedCase) else None
        found = self._arenas.get(asked)
        if found is None:
            self.close()  # two might want the same addresses
            try:
                found = self._arenas[asked] = case.arena() if isinstance(case, RecordedCase) else Arena()
            except OSError as error:
                raise ToolError(
                    f"there is no memory for the virtual GPU: {error.strerror}",
                    hint="ulimit -a shows what is limited: the size of files and of virtual memory must not be",
                ) from error
        if asked is None:
            found.reset()
        return found

    def close(self) -> None:
        """Releases all of the memory; ``of`` makes new ones."""
        for arena in self._arenas.values():
            arena.close()
        self._arenas = {}


def _alike(left: NDArray[Any], right: NDArray[Any]) -> bool:
    return left.shape == right.shape and left.dtype == right.dtype


def _as_output(values: Any, output: NDArray[Any] | None) -> NDArray[Any]:
    """What an oracle says, in the shape and type of the output it is for; a size that differs stays different."""
    array = np.asarray(values)
    if output is None or array.size != output.size:
        return array
    return array.astype(output.dtype, copy=False).reshape(output.shape)


def _of(case: InProcessCase) -> str:
    return f"case '{case.name}'" if case.name else "case"
