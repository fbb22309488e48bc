"""One variant, run on cases: what every check of a proof asks about it.

runs = VariantRuns(baseline, changes, {kernel: changed}, guards, inputs, KnownRuns())
runs.evidence(reference)             what is wrong on a case, or None
runs.new_sites(runs.sites)           what it does undefined and the original does not
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from kernelwright.cache import content_key
from kernelwright.device.schedule import Schedule
from kernelwright.errors import KernelwrightError
from kernelwright.evaluate.judging.case_runner import Modules
from kernelwright.evaluate.outcome import Outcome
from kernelwright.ir import Module, print_module
from kernelwright.ir.text.printer import global_line
from kernelwright.ir.values import Names
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.baseline import FORWARD, Baseline, Reference
from kernelwright.prove.changed_inputs.refuting_changes import Counterexample
from kernelwright.prove.checked_run import Guarded, recording_of, run_case
from kernelwright.prove.checks.known_runs import KnownRun, KnownRuns
from kernelwright.prove.checks.runs_ahead import AskedRun, RunsAhead
from kernelwright.prove.coverage.accepted_changes import AcceptedChanges, ChangedSet
from kernelwright.prove.coverage.edited_lines import edited_lines
from kernelwright.prove.domain import Domain, Guards
from kernelwright.prove.evidence import Evidence
from kernelwright.prove.fences import Fences
from kernelwright.prove.labels import LABELS, Label
from kernelwright.prove.output_difference import difference
from kernelwright.prove.sightings import Site, Sites, add
from kernelwright.prove.speedup_ceiling import LIMIT

WRONG_ELSEWHERE: Label = "data-specific"
"""What a variant is at best that is wrong on other data."""

Trial = Callable[[Modules], Outcome]
"""Runs something with the kernels exchanged, and says what came of it: the whole program, or NVIDIA's checker on it."""


@dataclass(frozen=True, eq=False)
class CheckInputs:
    """What checks are told besides the variant."""

    speedup: float | None = None
    """Of the variant, over the original."""
    ceiling: float = LIMIT
    """Above it a speed-up is suspicious."""
    whole_program: Trial | None = None
    larger_data: Trial | None = None
    """The whole program on more data than any case has."""
    sanitizer: Trial | None = None
    why_no_sanitizer: str = "it needs a real GPU and NVIDIA's tool"
    counterexamples: tuple[Counterexample, ...] = ()
    """What refuted obligations, of this variant or of others."""
    least: Label | None = None
    """The worst label that is of any use: what cannot be had any more is not looked into further. None: everything is."""

    def is_short(self, label: Label) -> bool:
        """Whether a failure that stands for this label settles all there is to know."""
        return self.least is not None and LABELS.index(label) > LABELS.index(self.least)


class VariantRuns:
    """``sites`` and ``outside`` gather what the runs have shown so far."""

    def __init__(
        self,
        baseline: Baseline,
        changes: AcceptedChanges,
        variant: Modules,
        guards: Guards,
        inputs: CheckInputs,
        known: KnownRuns,
        processes: int = 1,
    ) -> None:
        """``known``: what earlier variants of the same baseline did. ``processes``: that run cases at once."""
        self.baseline = baseline
        self.known = known
        self.ahead = RunsAhead(self._made, self._keep, self._is_known, processes - 1)
        self.variant = variant
        self.inputs = inputs
        original = baseline.original
        self.modules = {**original, **variant}
        self.kernels = frozenset(k for k, module in variant.items() if module is not original.get(k))
        self.domain = Domain(guards, original, self.kernels)
        self._guarded: Guarded | None = None
        """How launches are shared out between variant and original; None where the variant runs at all."""
        if self.domain.is_guarded:
            self._guarded = Guarded({kernel: variant[kernel] for kernel in self.kernels}, self.domain.admits)
        self.changes = changes
        self.edited = {
            kernel: edited_lines(original[kernel].functions[kernel], variant[kernel].functions[kernel])
            for kernel in sorted(self.kernels)
            if kernel in original and kernel in variant[kernel].functions
        }
        """By changed kernel, where it differs."""
        self.sites: Sites = {}
        self.outside: Counter[str] = Counter()
        """By guard: the cases that do not meet it."""
        self.fences: Fences = Counter()
        """What the variant executed on ``trained``."""
        self.trained: list[Reference] = []
        """The training cases that it is meant for."""
        self.leans_on_lock_step = ""
        """A schedule with split warps under which it fails as the original does; empty when there is none."""
        self.incomplete = False
        """Whether some launches were too large for all their accesses to be followed."""

    def close(self) -> None:
        """Ends what runs ahead."""
        self.ahead.close()

    def evidence(
        self, one: Reference, schedule: Schedule = FORWARD, *, watch: bool = True, sites: Sites | None = None,
        fences: Fences | None = None, overread: int | None = None,
    ) -> Evidence | None:  # fmt: skip
        """Runs the variant on a case: what is wrong, or None. What it does undefined goes to ``sites``, the fences it
        executes to ``fences``. ``overread``: what reads past a buffer give, where that is not the case's own."""
        try:
            run = self._run(one, schedule, watch, overread)
        except KernelwrightError as error:
            return Evidence(error.message, "fault", one.case.name, str(schedule))
        self.incomplete |= run.incomplete
        if fences is not None:
            fences.update(run.fences)
        _merge(run.sites, self.sites if sites is None else sites)
        return run.wrong

    def _run(self, one: Reference, schedule: Schedule, watch: bool, overread: int | None) -> KnownRun:
        """What a run shows: made now, or known of a variant with the same code."""
        asked = AskedRun(one, schedule, watch)
        if overread is not None:
            return self._made(asked, overread)  # what is expected of the case then may be another at every proof
        self.ahead.take()
        known = self.known.get(one, self._key(asked))
        if known is None:
            known = self._made(asked)
            self._keep(asked, known)
        return known

    def _made(self, asked: AskedRun, overread: int | None = None) -> KnownRun:
        """A run, made now."""
        baseline, one = self.baseline, asked.one
        byte = baseline.byte_past_buffers(one.case) if overread is None else overread
        run = run_case(
            baseline.device, self._loaded, one.case, baseline.workload.kernel, asked.schedule,
            watch=asked.watch, overread=byte, budget=one.budget * asked.schedule.groups, launches=one.launches,
            guarded=self._guarded,
        )  # fmt: skip
        wrong = difference(run, one.expected, one.output, baseline.workload.rules)
        return KnownRun(wrong, run.sites, run.fences, run.incomplete)

    def _keep(self, asked: AskedRun, run: KnownRun) -> None:
        self.known.keep(asked.one, self._key(asked), run)

    def _key(self, asked: AskedRun) -> Hashable:
        return self._code_on(asked.one), asked.schedule, asked.watch

    def begin(self, groups: Iterable[Sequence[AskedRun]]) -> None:
        """Runs that will be asked for, made meanwhile by another process where there is one to spare. Of a group, those behind one that
        finds something wrong will not be asked for."""
        if self.ahead.is_free:
            device = self.baseline.device
            device.forget_memory()  # no two processes may run in one
            with device.memory_kept():
                self.ahead.begin([group for group in groups if not all(map(self._is_known, group))])

    def _is_known(self, asked: AskedRun) -> bool:
        return self.known.get(asked.one, self._key(asked)) is not None

    @property
    def _loaded(self) -> Modules:
        """What is loaded: where launches are shared out, the original, and the variant runs on its variables."""
        return self.modules if self._guarded is None else self.baseline.original

    @cached_property
    def _texts(self) -> dict[str, str]:
        """By changed kernel, a hash of its module's text and of the variables that are loaded for it: whatever decides what it does, and
        where its places are."""
        return {
            kernel: content_key([print_module(self.variant[kernel]), *_variables(self._loaded.get(kernel))])
            for kernel in sorted(self.variant)
        }

    def _code_on(self, one: Reference) -> Hashable:
        """The changed code that may run on a case. A recorded launch runs one kernel, and the variant's, or it would be no case of it; a
        host program may run any, and the guards decide at each launch whose."""
        recorded = recording_of(one.case)
        if recorded is not None:
            return recorded.launch.kernel, self._texts.get(recorded.launch.kernel)
        return tuple(self._texts.items()), self.domain.key if self._guarded is not None else ()

    def inside(self, references: Iterable[Reference]) -> list[Reference]:
        """The cases that launch a changed kernel inside what the variant is meant for. At launches outside of it the original
        runs, as it does in the program: versions of two kernels may depend on each other, and must not."""
        found = []
        for one in references:
            if one.kernels & self.kernels:
                broken = self.domain.broken_by(one.run)
                if broken:
                    self.outside[broken] += 1
                else:
                    found.append(one)
        return found

    def drawn_anew(self) -> list[Reference]:
        """The cases with other values in their buffers, of each kernel the one that inputs are made from."""
        return [one for base in self._bases() for one in self.changes.drawn_anew(base)]

    def _bases(self) -> list[Reference]:
        known = (*self.baseline.training, *self.baseline.held_out.references)
        launching = [one for one in known if one.kernels & self.kernels]
        found = self.changes.bases([one for one in launching if not self.domain.broken_by(one.run)])
        # The first blocks of a launch are another grid.
        return [one for one in found if not self.domain.broken_by(one.run)]

    def changed_sets(self, more: int = 1) -> Iterator[ChangedSet]:
        """Changed inputs of each kernel, made from the training cases that cover most, as far as the guards admit them."""
        groups: set[frozenset[str]] = set()
        for base in self._bases():
            first = base.kernels not in groups
            groups.add(base.kernels)
            made = self.changes.of(base, self.edited, self.domain, first=first, more=more)
            self.begin(self._asked_of_different(one) for one in made.references if self._is_inside(one))
            yield made

    def wrong_at_once(self, some: ChangedSet) -> Evidence | None:
        """What is wrong on one of these inputs, of a variant that is of no use then; None where more than that is wanted. Of the runs that
        each input takes anyhow, those that are not watched come first for all of them: together they take as long as one that is."""
        if not self.inputs.is_short(WRONG_ELSEWHERE):
            return None
        with self.baseline.device.memory_kept():
            for one in filter(self._is_inside, some.references):
                _, other = self._asked_of_different(one)
                wrong = self.evidence(one, other.schedule, watch=other.watch, sites={})
                if wrong is not None:
                    return wrong
        return None

    def refuting(self, counterexamples: Sequence[Counterexample]) -> list[ChangedSet]:
        """Changed inputs made of what refuted obligations, as far as the guards admit them."""
        return (
            [self.changes.refuting(base, counterexamples, self.domain) for base in self._bases()]
            if counterexamples
            else []
        )

    def on_different(self, cases: Sequence[Reference]) -> list[Evidence | None]:
        """Everything that is wrong on other data, be it a value, a race or an access, says that the variant is not for it."""
        found = []
        with self.baseline.device.memory_kept():
            for number, one in enumerate(cases):
                self.begin(self._asked_of_different(each) for each in cases[number + 1 :])
                found.append(self._on_different(one))
                if found[-1] is not None and self.inputs.is_short(WRONG_ELSEWHERE):
                    break
        return found

    def _is_inside(self, one: Reference) -> bool:
        return bool(one.kernels & self.kernels) and not self.domain.broken_by(one.run)

    def _asked_of_different(self, one: Reference) -> tuple[AskedRun, AskedRun]:
        return AskedRun(one, FORWARD), AskedRun(one, Schedule.random(self.baseline.seed), watch=False)

    def _on_different(self, one: Reference) -> Evidence | None:
        sites: Sites = {}
        _, other = self._asked_of_different(one)
        wrong = self.evidence(one, sites=sites) or self.evidence(one, other.schedule, watch=other.watch)
        new = [sight for site, sight in self.new_sites(sites) if site not in self.sites]
        return wrong or next((_in_case(sight, one) for sight in new), None)

    def new_sites(self, sites: Sites) -> list[tuple[Site, Evidence]]:
        """What matters and the original does not do."""
        return [
            (site, sight.evidence)
            for site, sight in sites.items()
            if not site.silent and not self.baseline.is_known(site)
        ]


def _variables(module: Module | None) -> list[str]:
    return [global_line(variable, Names()) for variable in module.globals.values()] if module is not None else []


def _merge(seen: Sites, sites: Sites) -> None:
    for site, sight in seen.items():
        add(sites, site, sight.evidence, sight.count)


def _in_case(evidence: Evidence, one: Reference) -> Evidence:
    return replace(evidence, case=one.case.name)
