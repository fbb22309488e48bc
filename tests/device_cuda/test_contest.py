"""A version that is slower than its original on the GPU that a program runs on: given up, after a few launches, and told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from kernelwright.device.real_gpu.driver import DriverError
from kernelwright.device.versions.contest import BEFORE, PAIRS, Contest
from kernelwright.executable import build_executable
from kernelwright.pipeline import Program
from kernelwright.pipeline import compile as compile_program

from .test_versions import SOURCE, run, version_of

__all__ = ["run"]  # a fixture
Run = Callable[..., dict[str, Any]]


class Clock:
    """Events of a GPU on which launches take given times, one after the other."""

    def __init__(self, times: Sequence[float], fails: str = "") -> None:
        self.times = list(times)
        self.now, self.events, self.fails = 0.0, dict[int, float](), fails

    def start(self) -> None:
        self.now += self.times.pop(0)

    def _done(self, what: str) -> None:
        if what == self.fails:
            raise DriverError(900, "STREAM_CAPTURE", "not while a stream is captured", what)

    def create_event(self, flags: int = 0) -> int:
        self.events[len(self.events) + 1] = 0.0
        return len(self.events)

    def destroy_event(self, event: int) -> None:
        self._done("destroy")

    def record(self, event: int, stream: int = 0) -> None:
        self._done("record")
        self.events[event] = self.now

    def synchronize_event(self, event: int) -> None:
        self._done("synchronize")

    def elapsed_ms(self, start: int, end: int) -> float:
        return (self.events[end] - self.events[start]) / 1000


def held(clock: Clock, launches: int) -> tuple[str, Contest]:
    """A letter for each launch: v, o; and the contest."""
    contest, ran = Contest(clock), ""
    for _ in range(launches):
        takes = contest.takes_next()
        ran += "v" if takes else "o"
        if takes or contest.lost is None:
            contest.around(clock.start, 0)
        else:
            clock.start()
    return ran, contest


TURNS = "v" * BEFORE + "vo" * PAIRS
IN_TURNS = BEFORE + 2 * PAIRS


@pytest.mark.parametrize(
    ("version", "original", "lost"),
    [
        ([30.0], [10.0], True),
        ([10.0], [30.0], False),
        ([10.0], [10.0], False),
        ([10.4], [10.0], False),  # by too little
        ([30.0, 30.0, 30.0, 9.0, 9.0, 30.0, 9.0, 30.0], [10.0], False),  # not surely
        ([30.0, 30.0, 9.0, 30.0, 30.0, 30.0, 9.0, 30.0], [10.0], True),
        ([2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 99.0, 150.0], [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 50.0, 75.0], True),
    ],
)
def test_who_wins(version: list[float], original: list[float], lost: bool) -> None:
    times = [1.0] * BEFORE
    for pair in range(PAIRS):
        times += [version[pair % len(version)], original[pair % len(original)]]
    ran, contest = held(Clock([*times, *[1.0] * 3]), IN_TURNS + 3)
    assert contest.lost is lost and ran == TURNS + ("ooo" if lost else "vvv")
    assert not contest.pending


def test_few_launches_have_no_contest() -> None:
    ran, contest = held(Clock([1.0] * BEFORE), BEFORE)
    assert ran == "v" * BEFORE and contest.lost is None and not contest.pending


@pytest.mark.parametrize("fails", ["record", "synchronize"])
def test_where_nothing_can_be_timed_the_version_runs(fails: str) -> None:
    """As while a stream is captured."""
    ran, contest = held(Clock([9.0, 1.0] * 20, fails), IN_TURNS + 3)
    assert contest.lost is False and ran.endswith("vvv")


def test_a_launch_that_fails_is_told() -> None:
    def fails() -> None:
        raise DriverError(1, "INVALID_VALUE", "invalid argument", "cuLaunchKernel")

    contest = Contest(Clock([]), launches=BEFORE)
    with pytest.raises(DriverError):
        contest.around(fails, 0)
    assert not contest.pending


@pytest.mark.parametrize(("marked", "printed", "used"), [("SLOW", 30, BEFORE + PAIRS), ("US=5", 30, 30 - PAIRS)])
def test_a_program_goes_on_with_what_is_faster(run: Run, tmp_path: Path, marked: str, printed: int, used: int) -> None:
    """The stand-in takes 10 us for the original, and what the version is marked with; both add 1."""
    path = tmp_path / "adding.cu"
    path.write_text(SOURCE.replace("VARIABLE", "").replace("ONE", "1").replace("k < 3", "k < 30"))
    program: Program = compile_program(path)
    executable, _ = build_executable(program, [], tmp_path / "app")
    version = version_of(program)
    version = type(version)(**{**version.__dict__, "ir": version.ir.replace("WRONG", marked_name(marked)), "ptx": {
        arch: f"// {marked}\n{text}".replace("WRONG", marked_name(marked)) for arch, text in version.ptx.items()
    }})  # fmt: skip
    found = run(executable, version)
    (row,) = found["rows"]
    assert found["printed"] == str(printed)
    assert (row["versions"][0]["launches"], row["original"]["launches"]) == (used, 30 - used)
    slower = (
        "is not used for kernel add_one: it is slower here than the original, 30.00 us a launch where that takes 10.00"
    )
    assert any(slower in sentence for sentence in found["said"]) == (marked == "SLOW")


def marked_name(mark: str) -> str:
    """A variable's."""
    return "marked_" + "".join(c for c in mark.lower() if c.isalnum())


def test_no_event_is_left_behind_where_a_launch_fails() -> None:
    clock = Clock([1.0] * BEFORE)
    alive = set[int]()

    def create(flags: int = 0) -> int:
        clock.events[len(clock.events) + 1] = 0.0
        alive.add(len(clock.events))
        return len(clock.events)

    def refuse() -> None:
        raise DriverError(701, "LAUNCH_OUT_OF_RESOURCES", "too many resources", "launch")

    clock.create_event, clock.destroy_event = create, alive.discard  # type: ignore[method-assign]
    contest = Contest(clock)
    for _ in range(BEFORE):
        contest.around(clock.start, 0)
    with pytest.raises(DriverError):
        contest.around(refuse, 0)
    assert not alive and not contest.pending and contest.lost is None
