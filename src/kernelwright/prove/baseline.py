"""What the original does: the outputs a variant is compared with, and the undefined things a variant may do too.

The training cases are the workload's own. Held-out cases come from its generator, and count as different when their shape
is one that no training case has; further different ones are changed inputs (``changes``). A case that the original does not
survive, races on as it does not in training, or answers differently in another order is no case.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.device.describe_access import plural
from kernelwright.device.schedule import Schedule
from kernelwright.device.settings import OVERREAD
from kernelwright.errors import KernelwrightError, Misuse
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.judging.case_runner import Modules
from kernelwright.evaluate.judging.idle_check import idle_warnings
from kernelwright.evaluate.judging.past_buffers import OTHER_BYTES
from kernelwright.evaluate.workload.case import Arrays, Case, Output
from kernelwright.evaluate.workload.program_case import ProgramCase
from kernelwright.evaluate.workload.workload import AnyCase, InProcessCase, Workload
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.changed_inputs.changed_case import ChangedCase
from kernelwright.prove.checked_run import CaseRun, Device, Runnable, is_past_a_buffer, run_case
from kernelwright.prove.effort import WATCHED, Effort, divided
from kernelwright.prove.fences import has_fences
from kernelwright.prove.output_difference import difference
from kernelwright.prove.sightings import Site, Sites, add

FORWARD = Schedule.forward()
Shape = tuple[object, ...]


@dataclass(frozen=True, eq=False)
class Reference:
    """A case, and what the original made of it."""

    case: Runnable
    run: CaseRun
    output: Output
    expected: Arrays

    @property
    def kernels(self) -> frozenset[str]:
        """Mangled names of the kernels that the original launched."""
        return frozenset(made.launch.kernel for made in self.run.launches)

    @property
    def budget(self) -> int:
        """Turns of loops that a variant's launch may take: it is to be faster, not slower."""
        return 4 * self.run.turns + 100_000

    @property
    def launches(self) -> int:
        """The most launches that a variant's run may make: twice the original's and 16."""
        return 2 * len(self.run.launches) + 16


@dataclass
class CaseSet:
    """Cases of one sort, and why others are not among them."""

    references: list[Reference] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        left_out = ", ".join(f"{count} {why}" for why, count in self.dropped.items())
        return f"{len(self.references)} cases" + (f" ({left_out})" if left_out else "")


class Baseline:
    """The original of a workload, run once for all its variants.

    Raises ``Misuse`` when the original fails on a training case, fails its oracle or recording, or gives results under
    ``schedules`` that lie further apart than the workload's rules allow.
    """

    def __init__(
        self,
        workload: Workload,
        original: Modules,
        *,
        schedules: Sequence[Schedule] | None = None,
        seed: int = 0,
        held_out: Sequence[AnyCase] = (),
        different: Sequence[AnyCase] = (),
        effort: Effort | None = None,
        device: Device | None = None,
    ) -> None:
        self.workload = workload
        self.original = original
        self.seed = seed
        self.effort = effort or Effort()
        self.device = device or Device()
        if schedules is None:
            self.orders, self.split = self.effort.other_orders(seed), self.effort.split_warps(seed)
        else:
            self.orders, self.split = divided(schedules)
        self.overread: int | None = None
        """The byte that reads past a buffer give; None where the original makes none, so that they are faults."""
        self.depends_on_overreads = False
        """Whether its outputs are others when such reads give other bytes."""
        self.sites: Sites = {}
        """Everything undefined that the original was seen to do."""
        self.notes: list[str] = []
        self.leans_on_lock_step = ""
        """The schedule with split warps under which the original's own results change; empty when there is none."""
        self.training = self._training()
        self._shapes = {shape_of(one.run) for one in self.training}
        self._results = {results_of(one) for one in self.training}
        self._note_sites()
        self._ask_past_buffers()
        self._reorder()
        self.held_out, self.different = self._further(held_out, different)

    # -- the workload's own cases --------------------------------------------------------------------------------------

    def _training(self) -> list[Reference]:
        found = []
        for case in self.workload.in_process:
            run = self._run(case)
            if run.rejected is not None and is_past_a_buffer(run.fault) and self.overread is None:
                self.overread = OVERREAD
                self.sites.clear()
                self.notes.clear()
                return self._training()
            if run.output is None:
                raise Misuse(
                    f"the original {_of(case)} fails: {run.rejected}", hint="fix the program or its workload first"
                )
            reference = Reference(case, run, run.output, self._wanted(case, run.output))
            wrong = difference(run, reference.expected, run.output, self.workload.rules)
            if wrong is not None:
                raise Misuse(
                    f"the original fails its own check: {_of(case)}: {wrong.sentence}",
                    hint="fix the program, or its oracle, or the rules of comparison",
                )
            self._merge(run)
            self.notes += idle_warnings(self.workload.rules, reference.expected, run.output.before, run.output.inputs)
            found.append(reference)
        return found

    def _wanted(self, case: InProcessCase, output: Output) -> Arrays:
        if isinstance(case, RecordedCase):
            return {**output.arrays, **case.expected()}
        if self.workload.oracle is None:
            return output.arrays
        given = {name: np.asarray(values) for name, values in self.workload.told(case).items()}
        unknown = [name for name in given if name not in output.arrays]
        if unknown:
            raise Misuse(
                f"the oracle of {_of(case)} gives {unknown[0]!r}, which is no output",
                hint=f"the outputs are {', '.join(output.arrays)}",
            )
        return {**output.arrays, **{name: _as_output(v, output.arrays[name]) for name, v in given.items()}}

    def _note_sites(self) -> None:
        races = [site for site in self.sites if site.kind == "race" and not site.silent]
        if races:
            self.notes.append(
                f"the original races itself, at {plural(len(races), 'place')}: variants are compared with it place by place; "
                f"the first: {self.sites[races[0]].evidence.sentence}"
            )
        for kind, what in (
            ("out-of-bounds", "reads past its buffers"),
            ("uninitialised", "reads unwritten memory"),
        ):
            places = [site for site in self.sites if site.kind == kind]
            if places:
                sentence = self.sites[places[0]].evidence.sentence
                self.notes.append(f"the original {what}, at {plural(len(places), 'place')}; the first: {sentence}")

    def _ask_past_buffers(self) -> None:
        """Does the original's own result depend on what it reads past its buffers?"""
        for reference in self.training if self.overread is not None else ():
            for byte in OTHER_BYTES:
                run = self._run(reference.case, watch=False, overread=byte)
                wrong = difference(run, reference.expected, reference.output, self.workload.rules)
                if wrong is not None and not self.depends_on_overreads:
                    self.depends_on_overreads = True
                    self.notes.append(f"the original's output depends on what lies past its buffers: {wrong.sentence}")

    def byte_past_buffers(self, case: Runnable) -> int | None:
        """What reads past a buffer give in a case: on changed inputs something else than in the recording."""
        is_other = isinstance(case, ChangedCase) and self.overread is not None and not self.depends_on_overreads
        return OTHER_BYTES[0] if is_other else self.overread

    def _reorder(self) -> None:
        """Is the original's own result independent of the order of its threads?"""
        for reference in self.reordered(self.training):
            for number, schedule in enumerate(self.orders):
                run = self._run(reference.case, schedule, watch=number == 0)
                self._merge(run)
                wrong = difference(run, reference.expected, reference.output, self.workload.rules)
                if wrong is not None:
                    raise Misuse(
                        f"the original fails its own check: under schedule {schedule}, {wrong.sentence}",
                        hint="its output depends on the order of its threads; fix that, or allow for it: the rules are "
                        f"'{self.workload.rules}'",
                    )
            for schedule in () if self.leans_on_lock_step else self.split:
                run = self._run(reference.case, schedule, watch=False)
                if difference(run, reference.expected, reference.output, self.workload.rules) is not None:
                    self.leans_on_lock_step = str(schedule)
                    self.notes.append(
                        f"the original itself leans on warps that run in step: under {schedule} its results change"
                    )
                    break

    @cached_property
    def weak_orders(self) -> dict[Schedule, bool]:
        """Schedules in which memory is weak, and whether the original's results are the same there: on the cases that run a kernel
        with fences."""
        fenced = {name for name, module in self.original.items() if has_fences(module.functions[name])}
        cases = [one for one in self.reordered(self.training) if one.kernels & fenced]
        return {
            schedule: all(self._is_same(one, schedule) for one in cases)
            for schedule in self.effort.weak_orders(self.seed)
        }

    def _is_same(self, one: Reference, schedule: Schedule) -> bool:
        run = self._run(one.case, schedule, watch=False)
        return difference(run, one.expected, one.output, self.workload.rules) is None

    def reordered(self, references: Sequence[Reference]) -> list[Reference]:
        """The cases that are run under other schedules: of each kernel the cheapest two, and more as far as the effort goes."""
        turns = WATCHED + len(self.orders) + sum(schedule.groups for schedule in self.split)
        taken: Counter[frozenset[str]] = Counter()
        spent: Counter[frozenset[str]] = Counter()
        chosen = []
        for one in sorted(references, key=lambda one: one.run.work):
            spent[one.kernels] += turns * one.run.work
            if taken[one.kernels] < 2 or (
                taken[one.kernels] < self.effort.reordered and spent[one.kernels] <= self.effort.work // 2
            ):
                taken[one.kernels] += 1
                chosen.append(one)
        return chosen

    def is_like_training(self, one: Reference) -> bool:
        """Whether a case differs from a training case in nothing that matters: the same launches, and the same results."""
        return results_of(one) in self._results

    # -- other cases -------------------------------------------------------------------------------------------------

    def _further(self, held_out: Sequence[AnyCase], different: Sequence[AnyCase]) -> tuple[CaseSet, CaseSet]:
        same, other = CaseSet(), CaseSet()
        for case in self._in_process(held_out, same):
            self._sort(case, same, None)
        for case in self._in_process(different, other):
            self._sort(case, other, None)
        for case in self.generated(range(self.effort.draws), same):
            self._sort(case, same, other)
        return same, other

    def generated(self, numbers: Iterable[int], into: CaseSet) -> Iterator[Runnable]:
        """Cases of the workload's generator; one that raises is counted, not raised."""
        if self.workload.generator is None:
            return
        for number in numbers:
            try:
                case = self.workload.more(self.seed * 1000 + number)
            except Exception as error:  # It is the user's function.
                into.dropped[f"that the generator fails to make: {type(error).__name__}: {error}"] += 1
                continue
            yield from self._in_process((case,), into)

    def _in_process(self, cases: Sequence[AnyCase], into: CaseSet) -> Iterator[Runnable]:
        for case in cases:
            if isinstance(case, ProgramCase):
                into.dropped["that are whole programs"] += 1
            else:
                yield case

    def _sort(self, case: Runnable, same: CaseSet, other: CaseSet | None) -> None:
        reference = self.accept(case)
        if isinstance(reference, str):
            same.dropped[reference] += 1
        elif other is not None and shape_of(reference.run) not in self._shapes:
            other.references.append(reference)
        else:
            same.references.append(reference)

    @property
    def most_turns(self) -> int:
        """Turns of loops that a launch of the original may take on other data."""
        return 4 * max(one.run.turns for one in self.training) + 1_000_000

    @property
    def few_turns(self) -> int:
        """The same on data of which a loop up to the largest number is likely."""
        return 4 * max(one.run.turns for one in self.training) + 20_000

    def ends(self, case: Runnable, budget: int | None = None, overread: int | None = None) -> bool:
        """Whether the original comes to its end on a case; ``budget``: in so many turns of loops, else in as many as it may take. Nothing
        is watched or counted, so that one which does not is found out some twenty times as fast. Raises as ``run_case``."""
        return self._run(case, watch=False, budget=budget or self.most_turns, overread=overread).rejected is None

    def accept(self, case: Runnable) -> Reference | str:
        """The case as one to judge by, or why it is none; empty for a change that changes nothing."""
        is_brief = isinstance(case, ChangedCase) and case.change.brief
        budget = self.few_turns if is_brief else self.most_turns
        try:
            run = self._run(case, budget=budget) if self.ends(case, budget) else None
        except KernelwrightError as error:
            return f"that do not fit the kernel: {error.message}"
        if isinstance(case, ChangedCase) and not case.changed:
            return ""
        if run is None or run.output is None or run.rejected is not None:
            return "that the original does not survive"
        known = {site for site in self.sites if not site.silent}
        if any(not site.silent and site not in known for site in run.sites):
            return "on which the original itself does what is undefined"
        reference = Reference(case, run, run.output, run.output.arrays)
        others = [Schedule.reverse(), Schedule.random(self.seed)]
        if not self.leans_on_lock_step and not (isinstance(case, ChangedCase) and case.change.has_other_blocks):
            # Of other blocks the code for split warps would have to be made for this run alone; races are watched all the same.
            others.append(Schedule.subwarp(8, self.seed))
        for schedule in others:
            again = self._run(case, schedule, watch=False)
            if difference(again, reference.expected, reference.output, self.workload.rules) is not None:
                return "on which the original depends on the order of its threads"
        self._merge(run)
        return reference

    def _run(
        self, case: Runnable, schedule: Schedule = FORWARD, *, watch: bool = True, budget: int | None = None,
        overread: int | None = None,
    ) -> CaseRun:  # fmt: skip
        byte = self.byte_past_buffers(case) if overread is None else overread
        return run_case(
            self.device, self.original, case, self.workload.kernel, schedule,
            watch=watch, overread=byte, budget=(budget or self.effort.budget) * schedule.groups,
        )  # fmt: skip

    def _merge(self, run: CaseRun) -> None:
        for site, sight in run.sites.items():
            add(self.sites, site, sight.evidence, sight.count)

    def is_known(self, site: Site) -> bool:
        """Whether the original does the same, or worse."""
        return site in self.sites or replace(site, silent=False) in self.sites


def results_of(one: Reference) -> tuple[object, ...]:
    """The shapes of a case's launches, and a hash of what they leave."""
    digest = hashlib.sha256()
    for name, values in one.output.arrays.items():
        digest.update(name.encode() + str(values.dtype).encode() + values.tobytes())
    return (*(made.launch.geometry for made in one.run.launches), digest.digest())


def shape_of(run: CaseRun) -> Shape:
    """What makes two cases the same but for their values: the launches, their geometry and the sizes of memory."""
    return tuple((*one.launch.geometry, tuple(len(r) for r in one.regions)) for one in run.launches)


def _as_output(values: NDArray[Any], output: NDArray[Any]) -> NDArray[Any]:
    """What an oracle says, in the shape and type of the output it is for."""
    return values.astype(output.dtype, copy=False).reshape(output.shape) if values.size == output.size else values


def _of(case: Runnable) -> str:
    return f"case '{case.name}'" if isinstance(case, Case | RecordedCase) and case.name else "case"
