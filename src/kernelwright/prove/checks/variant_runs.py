"""One variant, run on cases: what every check of a proof asks about it.

runs = VariantRuns(baseline, changes, {kernel: changed}, guards, inputs)
runs.evidence(reference)             what is wrong on a case, or None
runs.new_sites(runs.sites)           what it does undefined and the original does not
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from kernelwright.device.schedule import Schedule
from kernelwright.errors import KernelwrightError
from kernelwright.evaluate.judging.case_runner import Modules
from kernelwright.evaluate.outcome import Outcome
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.baseline import FORWARD, Baseline, Reference
from kernelwright.prove.changed_inputs.refuting_changes import Counterexample
from kernelwright.prove.checked_run import CaseRun, Guarded, run_case
from kernelwright.prove.coverage.accepted_changes import AcceptedChanges, ChangedSet
from kernelwright.prove.coverage.edited_lines import edited_lines
from kernelwright.prove.domain import Domain, Guards
from kernelwright.prove.evidence import Evidence
from kernelwright.prove.fences import Fences
from kernelwright.prove.output_difference import difference
from kernelwright.prove.sightings import Site, Sites, add
from kernelwright.prove.speedup_ceiling import LIMIT

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
    sanitizer: Trial | None = None
    why_no_sanitizer: str = "it needs a real GPU and NVIDIA's tool"
    counterexamples: tuple[Counterexample, ...] = ()
    """What refuted obligations, of this variant or of others."""


class VariantRuns:
    """``sites`` and ``outside`` gather what the runs have shown so far."""

    def __init__(
        self, baseline: Baseline, changes: AcceptedChanges, variant: Modules, guards: Guards, inputs: CheckInputs
    ) -> None:
        self.baseline = baseline
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

    def evidence(
        self, one: Reference, schedule: Schedule = FORWARD, *, watch: bool = True, sites: Sites | None = None,
        fences: Fences | None = None, overread: int | None = None,
    ) -> Evidence | None:  # fmt: skip
        """Runs the variant on a case: what is wrong, or None. What it does undefined goes to ``sites``, the fences it
        executes to ``fences``. ``overread``: what reads past a buffer give, where that is not the case's own."""
        baseline = self.baseline
        byte = baseline.byte_past_buffers(one.case) if overread is None else overread
        try:
            run = run_case(
                baseline.device, baseline.original if self._guarded else self.modules, one.case, baseline.workload.kernel, schedule,
                watch=watch, overread=byte, budget=one.budget * schedule.groups, launches=one.launches, guarded=self._guarded,
            )  # fmt: skip
        except KernelwrightError as error:
            return Evidence(error.message, "fault", one.case.name, str(schedule))
        self.incomplete |= run.incomplete
        if fences is not None:
            fences.update(run.fences)
        _merge(run, self.sites if sites is None else sites)
        return difference(run, one.expected, one.output, baseline.workload.rules)

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

    def changed_sets(self, more: int = 1) -> list[ChangedSet]:
        """Changed inputs of each kernel, made from the training cases that cover most, as far as the guards admit them."""
        groups: set[frozenset[str]] = set()
        found = []
        for base in self._bases():
            first = base.kernels not in groups
            groups.add(base.kernels)
            found.append(self.changes.of(base, self.edited, self.domain, first=first, more=more))
        return found

    def refuting(self, counterexamples: Sequence[Counterexample]) -> list[ChangedSet]:
        """Changed inputs made of what refuted obligations, as far as the guards admit them."""
        return (
            [self.changes.refuting(base, counterexamples, self.domain) for base in self._bases()]
            if counterexamples
            else []
        )

    def on_different(self, cases: Sequence[Reference]) -> list[Evidence | None]:
        """Everything that is wrong on other data, be it a value, a race or an access, says that the variant is not for it."""
        found: list[Evidence | None] = []
        for one in cases:
            sites: Sites = {}
            other = Schedule.random(self.baseline.seed)
            wrong = self.evidence(one, sites=sites) or self.evidence(one, other, watch=False)
            new = [sight for site, sight in self.new_sites(sites) if site not in self.sites]
            found.append(wrong or next((_in_case(sight, one) for sight in new), None))
        return found

    def new_sites(self, sites: Sites) -> list[tuple[Site, Evidence]]:
        """What matters and the original does not do."""
        return [
            (site, sight.evidence)
            for site, sight in sites.items()
            if not site.silent and not self.baseline.is_known(site)
        ]


def _merge(run: CaseRun, sites: Sites) -> None:
    for site, sight in run.sites.items():
        add(sites, site, sight.evidence, sight.count)


def _in_case(evidence: Evidence, one: Reference) -> Evidence:
    return replace(evidence, case=one.case.name)
