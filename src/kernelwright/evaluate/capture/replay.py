"""Replay: the launches of a capture again, each from the memory it had, compared with what the recording says came out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

from kernelwright.device.execution import FORWARD
from kernelwright.device.schedule import Schedule
from kernelwright.device.settings import OVERREAD
from kernelwright.errors import Misuse
from kernelwright.evaluate.capture.capture import Capture, RecordedLaunch
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.judging.case_runner import BUDGET, Executor, Modules, Runner, Stopped
from kernelwright.evaluate.outcome import Rejected
from kernelwright.evaluate.workload.comparison import Given, Verdict, judge
from kernelwright.evaluate.workload.rule_text import Rules
from kernelwright.ir import Module, parse_module
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class ReplayedLaunch:
    """What came of one launch."""

    launch: RecordedLaunch
    stopped: Rejected | None
    """Why the kernel did not run to its end."""
    verdicts: Mapping[str, Verdict]
    """By buffer; empty when the kernel stopped."""
    seconds: float
    """Wall time of restoring, running and reading."""

    @property
    def as_recorded(self) -> bool:
        """Whether every buffer agrees; of a launch that failed in the recording, whether it failed again."""
        if self.launch.fault:
            return self.stopped is not None
        return self.stopped is None and all(v.accepted for v in self.verdicts.values())

    @property
    def error(self) -> float:
        """The largest error of any buffer."""
        return max((v.figure for v in self.verdicts.values()), default=0.0)

    def __str__(self) -> str:
        what = f"#{self.launch.number} {self.launch.kernel} {self.launch.launch.grid} x {self.launch.launch.block}"
        if self.stopped is not None:
            again = "fails as it did when it was recorded" if self.launch.fault else "fails"
            return f"{what}: {again}: {self.stopped}"
        if self.launch.fault:
            return f"{what}: runs to its end; when it was recorded it failed: {self.launch.fault}"
        wrong = [f"'{name}' {v.sentence}" for name, v in self.verdicts.items() if not v.accepted]
        return f"{what}: {'; '.join(wrong) or 'as recorded'}"


def replay(
    capture: Capture,
    executor: Executor,
    *,
    kernel: str = "",
    modules: Modules | None = None,
    rules: Rules | None = None,
    schedule: Schedule = FORWARD,
    budget: int = BUDGET,
) -> Iterator[ReplayedLaunch]:
    """Runs the launches of ``kernel`` (its mangled name, or as the source has it), or all of them, one at a time.

    ``modules``: kernels to run in place of the recorded ones. ``rules`` compare the buffers by name; without any they must
    be equal byte for byte. Raises ``Misuse`` when the capture has no such kernel, ``ToolError`` when it is damaged.
    """
    chosen = [one for one in capture.launches if is_called(one, kernel)]
    if kernel and not chosen:
        raise Misuse(
            f"{capture.path} records no launch of {kernel!r}", hint=f"its kernels are {', '.join(capture.kernels)}"
        )
    parsed: dict[str, Module] = {}
    for launch in chosen:
        if launch.module not in parsed:
            parsed[launch.module] = parse_module(capture.ir(launch.module))
        case = RecordedCase(capture, launch, parsed[launch.module], rules)
        module = (modules or {}).get(launch.kernel, case.module)
        yield _replayed(case, module, executor, schedule, budget)


def _replayed(
    case: RecordedCase, module: Module, executor: Executor, schedule: Schedule, budget: int
) -> ReplayedLaunch:
    begin = time.perf_counter()
    kernel = case.launch.kernel
    # A launch that failed may have been strict about what it reads.
    overread = None if case.recorded.fault else OVERREAD
    with case.arena() as arena:
        runner = Runner({kernel: module}, executor, arena, schedule=schedule, budget=budget, overread=overread)
        try:
            output = case.run(runner, kernel)
        except Stopped as stopped:
            return ReplayedLaunch(case.recorded, stopped.rejected, {}, time.perf_counter() - begin)
    seconds = time.perf_counter() - begin
    verdicts = {}
    for name, expected in case.expected().items():
        others = tuple(v for n, v in output.inputs.items() if n != name and v.shape == expected.shape)
        given = Given(output.before.get(name), tuple(v for v in others if v.dtype == expected.dtype))
        verdicts[name] = judge(case.rules.of(name), output.arrays[name], expected, given)
    return ReplayedLaunch(case.recorded, None, verdicts, seconds)


def is_called(launch: RecordedLaunch, kernel: str) -> bool:
    """Whether a launch is of ``kernel``: any for an empty name, else by its mangled name or as the source has it."""
    return not kernel or launch.kernel == kernel or launch.kernel.startswith(f"_Z{len(kernel)}{kernel}")
