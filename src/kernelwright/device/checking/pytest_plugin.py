"""For pytest: ``--kw-check`` checks what each test launches with ``kw.Device``, as ``with kw.checked()`` does for some of it.

    pytest_plugins = ["kernelwright.device.checking.pytest_plugin"]        # in conftest.py, or pytest -p of that name

What fixtures launch is not checked. There is no entry point: pytest would then rewrite the assertions of all modules of the package, in
every project beside which it is installed; importing ours took twice as long the first time, and a third to a half longer later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from kernelwright.device.checking.checked_launches import CheckedLaunches
    from kernelwright.device.checking.suppressions import Suppression

_SETTINGS = pytest.StashKey["_Session"]()


class _Session:
    """The checked tests of this process."""

    def __init__(self, schedules: int, seed: int, suppressions: tuple[Suppression, ...]) -> None:
        self._schedules, self._seed, self._suppressions = schedules, seed, suppressions
        self._unmatched = list(suppressions)
        self._tests = self._launches = self._suppressed = 0

    def begin(self) -> CheckedLaunches:
        from kernelwright.device.checking.checked_launches import CheckedLaunches

        return CheckedLaunches(self._schedules, self._seed, self._suppressions)

    def count(self, found: CheckedLaunches) -> None:
        report = found.report
        self._tests += bool(report.launches)
        self._launches += report.launches
        self._suppressed += len(report.suppressed)
        self._unmatched = [one for one in self._unmatched if one in report.unmatched]

    def lines(self) -> list[str]:
        """For the end of the run. Of no launches nothing is said: other processes may have made them."""
        if not self._launches:
            return []
        count = f"launches checked: {self._launches} in {self._tests} tests; findings suppressed: {self._suppressed}"
        return [count, *(f"the suppression of {one} matches nothing that was found" for one in self._unmatched)]


def pytest_addoption(parser: pytest.Parser) -> None:
    """pytest's hook: the options ``--kw-check``, ``--kw-schedules`` and their like."""
    group = parser.getgroup("kernelwright")
    group.addoption("--kw-check", action="store_true", help="Check what each test launches with kernelwright.Device.")
    group.addoption("--kw-schedules", type=int, default=0, metavar="N", help="With --kw-check: other orders to try.")
    group.addoption("--kw-seed", type=int, default=0, metavar="N", help="Seed of those orders.")
    group.addoption("--kw-suppressions", metavar="FILE", help="With --kw-check: TOML file of findings that may stand.")


def pytest_configure(config: pytest.Config) -> None:
    """pytest's hook: reads the options once."""
    if not config.getoption("--kw-check"):
        return
    from pathlib import Path

    from kernelwright.device.checking.suppressions import read_suppressions
    from kernelwright.errors import Misuse

    given, schedules = config.getoption("--kw-suppressions"), config.getoption("--kw-schedules")
    if schedules < 0:
        raise pytest.UsageError(f"--kw-schedules {schedules}: orders that can be tried are 0 or more")
    try:
        suppressions = read_suppressions(Path(given)) if given else ()
    except Misuse as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[_SETTINGS] = _Session(schedules, config.getoption("--kw-seed"), suppressions)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """pytest's hook: a test within the checker; it fails for findings."""
    session = item.config.stash.get(_SETTINGS, None)
    if session is None:
        return (yield)
    from kernelwright.device.checking.checked_launches import CheckFailed, watch

    found = session.begin()
    try:
        with watch(found):
            return (yield)
    except CheckFailed as error:
        if not found.findings:  # raised by a kw.checked within the test
            raise
        raise pytest.fail.Exception(str(error), pytrace=False) from None  # the trace would be of this plug-in
    finally:
        session.count(found)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """pytest's hook: what was checked and what matched no suppression, at the end."""
    session = config.stash.get(_SETTINGS, None)
    for line in session.lines() if session is not None else []:
        terminalreporter.write_line(f"kw: {line}")
