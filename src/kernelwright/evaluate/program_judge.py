"""The judge of whole programs: runs one with a changed kernel in it, and compares the files it writes.

How the change gets into the program is the device's business: a candidate is an environment, the variables that tell our
runtime which kernels to exchange. A search judges launches in process; this is how its winner is confirmed.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Ok, Outcome, Rejected
from kernelwright.evaluate.workload.case import Arrays
from kernelwright.evaluate.workload.comparison import judge
from kernelwright.evaluate.workload.program_case import ProgramCase, ProgramRun
from kernelwright.evaluate.workload.workload import Workload

Environment = Mapping[str, str]


class ProgramJudge:
    """Judges by the cases of a workload that are programs. ``reference`` must be called first."""

    def __init__(self, workload: Workload) -> None:
        if not workload.programs:
            raise Misuse("this workload has no whole program", hint="make one with Workload.from_program")
        self.workload = workload
        self._expected: list[Arrays] = []

    def reference(self, environment: Environment | None = None) -> Ok:
        """Runs the original twice and keeps its outputs, or takes what the case or the oracle expects.

        Raises ``Misuse`` when it fails, does not give what is expected, or gives other outputs the second time.
        """
        self._expected = []
        for case in self.workload.programs:
            run = case.run(environment)
            if isinstance(run, Rejected):
                raise Misuse(f"the original program fails: {run}", hint="mend the program or its workload first")
            self._expected.append({**run.arrays, **self._wanted(case)})
        outcome = self(environment)
        if isinstance(outcome, Rejected):
            raise Misuse(
                f"the original program fails its own check: {outcome.reason}",
                hint="its outputs must be right, and the same in every run; or say how far they may differ",
            )
        return outcome

    def __call__(self, environment: Environment | None = None) -> Outcome:
        """The outcome of one run of every case; its time is wall time."""
        seconds = error = 0.0
        for case, expected in zip(self.workload.programs, self._expected, strict=True):
            run = case.run(environment)
            if isinstance(run, Rejected):
                return run
            verdict = self._compare(run, expected)
            if isinstance(verdict, Rejected):
                return verdict
            error = max(error, verdict)
            seconds += run.seconds
        return Ok(seconds * 1e6, error)

    def _wanted(self, case: ProgramCase) -> Arrays:
        found = case.expected() if case.expected is not None else {}
        return {**found, **self.workload.told(case)}

    def _compare(self, run: ProgramRun, expected: Arrays) -> float | Rejected:
        worst = 0.0
        for name, values in expected.items():
            if name not in run.arrays:
                return Rejected("compare", f"there is no output '{name}'")
            verdict = judge(self.workload.rules.of(name), run.arrays[name], values)
            if not verdict.accepted:
                return Rejected("compare", f"'{name}' {verdict.sentence}")
            worst = max(worst, verdict.figure)
        return worst
