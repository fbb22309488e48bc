"""Data sets of other sizes for a program that was given one alone: made from its arguments, recorded, and kept if the program and
the judge accept them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from kernelwright.errors import KernelwrightError, Misuse
from kernelwright.evaluate.capture.capture import Capture
from kernelwright.evaluate.capture.select_launches import choose, look
from kernelwright.evaluate.judging.demands import Demands
from kernelwright.evaluate.judging.worker_process import setup
from kernelwright.evaluate.workload.subject import Recordings
from kernelwright.evolution.genomes import GENOMES
from kernelwright.evolution.made_data import DOUBLED, HALVED, ODD, MadeLine, changed, is_another_size, places
from kernelwright.farm import Lost, Pool, Raised
from kernelwright.lazy_dataclasses import dataclass

MOST_WORK = 1_000_000
"""Warps' blocks of instructions of the given data, launch by launch: beyond, nothing is doubled."""

Record = Callable[[Sequence[str], Path], Path]
"""(the program's arguments, where to write it) -> the recording. Raises ``Misuse`` for arguments that the program refuses."""


@dataclass(frozen=True)
class MadeData:
    """Recordings that candidates are judged by, and those that are held out, each with its arguments."""

    training: tuple[tuple[Path, tuple[str, ...]], ...] = ()
    held_out: tuple[tuple[Path, tuple[str, ...]], ...] = ()


def made_data(
    arguments: Sequence[str], given: Path, record: Record, demands: Demands, device: str, tolerance: str,
    say: Callable[[str], None],
) -> MadeData:  # fmt: skip
    """The data sets that can be made of ``arguments``, whose recording is ``given``; recorded beside it."""
    made = _Maker(given, record, demands, device, tolerance)
    for place in places(arguments):
        halved = made.of(changed(arguments, place, HALVED))
        if halved is None:
            continue
        others = [ODD, DOUBLED] if made.work_of_given <= MOST_WORK else [ODD]
        found = {how: made.of(changed(arguments, place, how)) for how in others}
        training = tuple(each for each in (halved, found.get(ODD)) if each is not None)
        doubled = found.get(DOUBLED)
        for _, words in training:
            say(f"data set of another size, from the arguments: {shlex.join(words)}")
        if doubled is not None:
            say(f"data set of another size, for the proof alone: {shlex.join(doubled[1])}")
        return MadeData(training, (doubled,) if doubled is not None else ())
    say("no data set of another size can be made from the arguments; give one with --case")
    return MadeData()


class _Maker:
    def __init__(self, given: Path, record: Record, demands: Demands, device: str, tolerance: str) -> None:
        self._given, self._record = given, record
        self._judged_by = (device, demands)
        self._tolerance = tolerance
        with Capture.read(given) as capture:
            self.work_of_given = sum(each.work for each in look(capture))

    def of(self, line: MadeLine) -> tuple[Path, tuple[str, ...]] | None:
        """The recording of a line; None for one that the program or the judge does not accept."""
        target = self._given.with_name(f"made-{line.place}-{line.how}.capture")
        try:
            self._record(line.words, target)
            if self._is_fit(target):
                return target, line.words
        except Misuse:
            pass  # the program refuses these arguments, which is an answer
        target.unlink(missing_ok=True)
        return None

    def _is_fit(self, target: Path) -> bool:
        with Capture.read(target) as made, Capture.read(self._given) as given:
            if not is_another_size(made, given):
                return False
            subject = Recordings((str(target),), choose(0, look(made)), self._tolerance)
        return self._is_judge(subject)

    def _is_judge(self, subject: Recordings) -> bool:
        """Whether the original is accepted there itself: its outputs, under the demanded schedules."""
        device, demands = self._judged_by
        with Pool(setup, (subject, GENOMES, device, demands), workers=1, timeout_s=300.0, shared=True) as pool:
            try:
                ((_, found),) = list(pool.map([None]))
            except KernelwrightError:
                return False
        return not isinstance(found, Lost | Raised)
