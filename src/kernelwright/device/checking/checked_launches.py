"""Launches from Python under the eyes of ``kw check``: for tests.

    def test_scan() -> None:
        with kw.checked() as found:
            device.launch(program.kernel("scan"), 64, 256, (x, sums, n))
        # raises kw.CheckFailed, an AssertionError, with all that was found

    @kw.checked(schedules=4)
    def test_sum() -> None: ...

``checking/pytest_plugin.py`` does it for every test of a run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelwright.device.checking.check_report import CheckReport
from kernelwright.device.checking.findings import CheckFinding, Findings
from kernelwright.device.checking.suppressions import Suppression, read_suppressions
from kernelwright.errors import KernelwrightError, Misuse

if TYPE_CHECKING:
    import numpy as np

    from kernelwright.device.arena import Arena
    from kernelwright.device.execution import Execution
    from kernelwright.device.virtual_gpu.gpu import Launched, VirtualGpu
    from kernelwright.ir.debug import Location

CheckedRun = Callable[["Execution", "VirtualGpu", "Arena"], "Launched"]
"""Runs a launch on a virtual GPU and notes what is found."""

_active: ContextVar[CheckedLaunches | None] = ContextVar("kernelwright-checked", default=None)


class CheckFailed(KernelwrightError, AssertionError):
    """Checked launches had findings; ``report`` holds them. An ``AssertionError``, so that test runners count a failure."""

    exit_code = 1

    def __init__(self, report: CheckReport) -> None:
        super().__init__(_said(report))
        self.report = report


class CheckedLaunches:
    """What the launches of one ``kw.checked`` came to so far."""

    def __init__(
        self, schedules: int = 0, seed: int = 0, suppressions: Sequence[Suppression] = (), strict: bool = False
    ) -> None:
        self._schedules, self._seed, self._suppressions, self._strict = schedules, seed, suppressions, strict
        self._found = Findings()
        self._launches = 0
        self._incomplete: dict[str, None] = {}

    @property
    def report(self) -> CheckReport:
        """All of it, suppressed findings and entries that match nothing among it."""
        return CheckReport.of(
            "launches from Python",
            self._found,
            self._suppressions,
            launches=self._launches,
            schedules=self._schedules,
            incomplete=tuple(self._incomplete),
        )

    @property
    def findings(self) -> tuple[CheckFinding, ...]:
        """What fails the check."""
        return self.report.defects

    def run(self, element_types: Sequence[np.dtype[Any] | None]) -> CheckedRun:
        """What runs one launch. ``element_types``: of its parameters, None for those that are no arrays.

        Arrays count as written, since nothing says which of their elements are; shared memory and local arrays do not.
        """
        from kernelwright.device.checking.checker import Checker

        def checked(execution: Execution, gpu: VirtualGpu, arena: Arena) -> Launched:
            # One for each launch: arrays are at the addresses of those before.
            checker = Checker(self._schedules, self._seed, lambda _: element_types, self._strict)
            checker.attach(_Memory(arena))
            launched = checker.launch(execution, gpu)
            for one in checker.findings:
                self._found.add(one)
            self._launches += checker.launches
            self._incomplete.update(dict.fromkeys(checker.incomplete))
            return launched

        return checked


class _Memory:
    """What a checker asks of a session, of which there is none."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena

    def definition(self, kernel: str) -> Location | None:
        return None


def active() -> CheckedLaunches | None:
    """What the caller's launches are checked by, if they are."""
    return _active.get()


@contextmanager
def watch(found: CheckedLaunches) -> Iterator[None]:
    """Checks the launches within. Raises ``CheckFailed`` at the end for findings; when something else was raised, that gets
    them as a note, since they may be why."""
    __tracebackhide__ = True  # pytest then shows the test
    before = _active.set(found)
    try:
        yield
    except BaseException as error:
        if found.findings:
            error.add_note(f"kw.checked: {_said(found.report)}")
        raise
    finally:
        _active.reset(before)
    if found.findings:
        raise CheckFailed(found.report)


@contextmanager
def checked(
    *, schedules: int = 0, seed: int = 0, suppressions: str | os.PathLike[str] | None = None, strict: bool = False
) -> Iterator[CheckedLaunches]:
    """Launches on virtual GPUs within are checked as ``kw check`` does; also a decorator of a function.

    ``schedules``: other orders to try for each launch, drawn from ``seed`` on; ``suppressions``: a file of findings that may stand
    (docs/check.md); ``strict``: races whose values happened to be the same are findings. A checked launch has
    no time, and winners do not take part. Raises ``CheckFailed`` at the end when there are
    findings, ``Misuse`` when nothing was launched, for a bad file, and for a launch on a real GPU.
    """
    __tracebackhide__ = True
    if schedules < 0:
        raise Misuse(f"{schedules} orders cannot be tried", hint="as schedules=8")
    found = CheckedLaunches(schedules, seed, read_suppressions(Path(suppressions)) if suppressions else (), strict)
    with watch(found):
        yield found
        if not found.report.launches:
            raise Misuse(
                "nothing was launched within kw.checked, so nothing was checked",
                hint="launch with kw.Device, in the thread that entered it",
            )


def _said(report: CheckReport) -> str:
    remarks = [remark for remark in report.remarks() if report.incomplete and "matches nothing" not in remark]
    return "\n".join([report.summary(), *(one.described() for one in report.defects), *remarks])
