"""What each edit relies on, in words and counted: the invariants of a workload that make a changed kernel right.

    for invariant in invariants(workload, originals, edits_in_order(genes)):
        print(invariant.sentence)

    "the condition of 'br' at blur.cu:19 was true in all 12,288 executions on 6 data sets"

Each edit is looked at by itself, against the original, on the workload's own cases and any others given. What it replaces
is compared with what it puts there, execution by execution; a deleted store with what memory held; a deleted barrier by
the races that come of it. An invariant that held is still one of these data sets only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Literal

from kernelwright.device.checking.findings import SCOPES
from kernelwright.device.describe_access import plural
from kernelwright.device.settings import OVERREAD
from kernelwright.edits.barriers import is_barrier
from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.genome import Applied, apply
from kernelwright.edits.original import Id, Original
from kernelwright.edits.table import row_of
from kernelwright.errors import KernelwrightError, Misuse, reason
from kernelwright.evaluate.judging.case_runner import Modules
from kernelwright.evaluate.workload.workload import Workload, data_sets
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.affected_places import Asked, Edited, added, gone, place_of, questions
from kernelwright.prove.baseline import FORWARD
from kernelwright.prove.checked_run import CaseRun, Device, Runnable, is_past_a_buffer, run_case
from kernelwright.prove.domain import as_guards_see
from kernelwright.prove.instrumentation import Count, ObservedCase, Probe, Reached, counts, instrumented
from kernelwright.prove.output_difference import difference
from kernelwright.prove.sightings import Sites, add

Alone = Literal["right", "wrong", "not run"]


@dataclass(frozen=True)
class Invariant:
    """What one edit relies on. An edit may rely on several things, or on none."""

    gene: int
    """Its number in the candidate."""
    kernel: str
    sentence: str
    place: str = ""
    """``blur.cu:19``"""
    executions: int = 0
    held: int = 0
    """In how many of ``executions`` it held. Threads are counted, not warps."""
    data_sets: int = 0
    """Independent sets of inputs: the launches of one recording are one."""
    launches: int = 0
    """Of the kernel, on all of them."""
    alone: Alone = "not run"
    """Whether the outputs are right with this edit alone."""

    @property
    def holds(self) -> bool:
        """Whether it held in all executions that were seen; without any it does."""
        return self.held == self.executions

    def as_json(self) -> dict[str, Any]:
        """By field name; ``invariant_from_json`` reads it."""
        return asdict(self)


def invariant_from_json(value: Mapping[str, Any]) -> Invariant:
    """What ``Invariant.as_json`` wrote. Raises ``Misuse`` for anything else."""
    try:
        return Invariant(**value)
    except TypeError as error:
        raise Misuse(f"this is no invariant ({reason(error)})", hint="prove the variant again") from error


def invariants(
    workload: Workload,
    originals: Mapping[str, Original],
    edits: Sequence[tuple[str, Edit]],
    *,
    cases: Sequence[Runnable] = (),
    device: Device | None = None,
) -> tuple[Invariant, ...]:
    """The invariants of all edits, each given with the name of its kernel, in their order. ``cases``: further ones to observe,
    besides the workload's own.

    Raises ``Misuse`` for an edit of a kernel that is not among ``originals``.
    """
    unknown = [kernel for kernel, _ in edits if kernel not in originals]
    if unknown:
        raise Misuse(f"there is no kernel '{unknown[0]}'", hint=f"the kernels are {', '.join(originals) or 'none'}")
    observer = _Observer(workload, [*workload.in_process, *cases], device or Device())
    return tuple(
        invariant
        for number, (kernel, edit) in enumerate(edits)
        for invariant in observer.observe(number, edit, originals[kernel])
    )


class _Observer:
    """Runs instrumented originals on the cases, and each edit alone."""

    def __init__(self, workload: Workload, cases: Sequence[Runnable], device: Device) -> None:
        self.workload = workload
        self.device = device
        self.modules = workload.modules()
        self.overread: int | None = None
        ran = [(case, self._run(self.modules, case)) for case in cases]
        if any(is_past_a_buffer(run.fault) for _, run in ran):
            self.overread = OVERREAD
            ran = [(case, self._run(self.modules, case)) for case in cases]
        self.runs = [(case, run) for case, run in ran if run.output is not None]

    def observe(self, number: int, edit: Edit, original: Original) -> Iterator[Invariant]:
        kernel = original.kernel
        applied = apply(original, (edit,))
        seen = self._cases(kernel)
        launches = sum(made.launch.kernel == kernel for _, run in seen for made in run.launches)
        blank = Invariant(number, kernel, "", data_sets=data_sets(case for case, _ in seen), launches=launches)
        if applied.inert:
            yield replace(blank, sentence=f"it changes nothing: {applied.inert[0].reason}")
            return
        edited = Edited.by(original, applied.draft)
        alone, sites = self._alone(kernel, applied)
        blank = replace(blank, alone=alone)
        found = [*self._of_guards(blank, applied), *self._of_barriers(blank, edited, sites)]
        asked = list(questions(edited))
        found += self._answers(blank, edited, asked)
        if not found:
            found.append(replace(blank, sentence=row_of(edit).relies_on.format(alone=alone)))
        yield from found

    def _cases(self, kernel: str) -> list[tuple[Runnable, CaseRun]]:
        return [(case, run) for case, run in self.runs if any(made.launch.kernel == kernel for made in run.launches)]

    def _alone(self, kernel: str, applied: Applied) -> tuple[Alone, Sites]:
        """Are the outputs right with this edit alone, and what does it do that the original does not?"""
        modules = {**self.modules, kernel: applied.module}
        new: Sites = {}
        verdict: Alone = "right"
        for case, before in self._cases(kernel):
            run = self._run(modules, case)
            assert before.output is not None
            if difference(run, before.output.arrays, before.output, self.workload.rules) is not None:
                verdict = "wrong"
            for site, sight in run.sites.items():
                if site not in before.sites and not site.silent:
                    add(new, site, sight.evidence, sight.count)
        return verdict, new

    def _of_guards(self, blank: Invariant, applied: Applied) -> Iterator[Invariant]:
        launches = [made for _, run in self.runs for made in run.launches if made.launch.kernel == blank.kernel]
        for guard in applied.guards:
            held = sum(guard.holds(as_guards_see(made, self.modules)) for made in launches)
            sentence = (
                f"{guard} in {_of(held, len(launches), 'launches')}{_of_data(blank)}; it is checked at each launch"
            )
            yield replace(blank, sentence=sentence, executions=len(launches), held=held)

    def _of_barriers(self, blank: Invariant, edited: Edited, sites: Sites) -> Iterator[Invariant]:
        """A barrier that is gone, or in another place: which conflicting accesses met, now that it is not there?"""
        original = edited.original
        barriers = [id for id in gone(edited) if is_barrier(original.nodes[id].instruction)]
        reached = self._counted(original, [Reached(id) for id in barriers], {}) if barriers else None
        for number, id in enumerate(barriers):
            count = reached[number] if reached else Count()
            races = [(site, sight) for site, sight in sites.items() if site.kind == "race"]
            met = sum(sight.count for _, sight in races)
            place = place_of(original, id)
            if races:
                site = races[0][0]
                what = (
                    f"it separates a {site.ends[0].verb} at {site.ends[0]} from a {site.ends[1].verb} at {site.ends[1]}"
                )
                sentence = (
                    f"the barrier at {place} is needed: {what} by {SCOPES[site.scope]} ({met:,} conflicts{_on(blank)})"
                )
            else:
                sentence = f"the barrier at {place} separated no conflicting accesses in {count.executions:,} executions{_on(blank)}"
            yield replace(
                blank,
                sentence=sentence,
                place=place,
                executions=count.executions,
                held=0 if races else count.executions,
            )

    def _answers(self, blank: Invariant, edited: Edited, asked: Sequence[Asked]) -> Iterator[Invariant]:
        probes = [probe for one in asked for probe in one.probes]
        counted = self._counted(edited.original, probes, added(edited)) if probes else []
        at = 0
        for one in asked:
            if counted is None:
                sentence = one.sentence.format(count="executions that could not be counted")
                yield replace(blank, sentence=sentence, place=one.place)
                continue
            total = sum(counted[at : at + len(one.probes)], Count())
            at += len(one.probes)
            if one.probes and not total.executions:
                sentence = f"the place at {one.place} was never reached{_on(blank)}"
            else:
                sentence = one.sentence.format(count=_of(total.held, total.executions, "executions") + _on(blank))
            if one.probes and total.held != total.executions:
                sentence += _all_the_same(blank.alone)
            yield replace(blank, sentence=sentence, place=one.place, executions=total.executions, held=total.held)

    def _counted(
        self, original: Original, probes: Sequence[Probe], added: Mapping[Id, Sequence[str]]
    ) -> list[Count] | None:
        """What the probes counted on all cases; None when the instrumented original does not run."""
        try:
            module = instrumented(original, probes, added)
            found = []
            for case, _ in self._cases(original.kernel):
                observed = ObservedCase(case)
                run = self._run({**self.modules, original.kernel: module}, observed, watch=False)
                if run.rejected is not None:
                    return None
                found.append(observed.counters)
        except KernelwrightError:
            return None
        return counts(probes, found)

    def _run(self, modules: Modules, case: Runnable, *, watch: bool = True) -> CaseRun:
        kernel = self.workload.kernel
        return run_case(self.device, modules, case, kernel, FORWARD, watch=watch, overread=self.overread)


# -- words -------------------------------------------------------------------------------------------------------------


def _of(held: int, total: int, what: str) -> str:
    return f"all {total:,} {what}" if held == total else f"{held:,} of {total:,} {what}"


def _on(blank: Invariant) -> str:
    """On how much; of one launch for each data set, the data sets say it all."""
    if blank.launches == blank.data_sets:
        return f" on {plural(blank.data_sets, 'data set')}"
    return f" in {blank.launches:,} launches{_of_data(blank)}"


def _of_data(blank: Invariant) -> str:
    return f" on {plural(blank.data_sets, 'data set')}"


def _all_the_same(alone: Alone) -> str:
    if alone == "right":
        return "; the outputs are right all the same: what differed was overwritten, or changes nothing"
    return "; the outputs are wrong with this edit alone" if alone == "wrong" else ""
