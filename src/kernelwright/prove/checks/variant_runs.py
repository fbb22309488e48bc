"""One variant, run on cases: what every check of a proof asks about it.

runs = VariantRuns(baseline, {kernel: changed}, guards, inputs)
runs.evidence(reference)             what is wrong on a case, or None
runs.new_sites(runs.sites)           what it does undefined and the original does not
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kernelwright.device.guard_facts import facts_of
from kernelwright.device.schedule import Schedule
from kernelwright.errors import KernelwrightError
from kernelwright.evaluate.judging.case_runner import Modules
from kernelwright.evaluate.outcome import Outcome
from kernelwright.guards import Guard, LaunchFacts
from kernelwright.prove.baseline import FORWARD, Baseline, CaseSet, Reference
from kernelwright.prove.checked_run import CaseRun, LaunchMade, run_case
from kernelwright.prove.evidence import Evidence
from kernelwright.prove.fences import Fences
from kernelwright.prove.output_difference import difference
from kernelwright.prove.sightings import Site, Sites, add
from kernelwright.prove.speedup_ceiling import LIMIT

Guards = Mapping[str, Sequence[Guard]]
"""By kernel, what must hold at a launch for a variant to be meant for it."""
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


class VariantRuns:
    """``sites`` and ``outside`` gather what the runs have shown so far."""

    def __init__(self, baseline: Baseline, variant: Modules, guards: Guards, inputs: CheckInputs) -> None:
        self.baseline = baseline
        self.variant = variant
        self.inputs = inputs
        original = baseline.original
        self.modules = {**original, **variant}
        self.kernels = frozenset(k for k, module in variant.items() if module is not original.get(k))
        self.guards = guards
        self.sites: Sites = {}
        self.outside: Counter[str] = Counter()
        """By guard: the cases that do not meet it."""
        self.fences: Fences = Counter()
        """What the variant executed on ``trained``."""
        self.trained: list[Reference] = []
        """The training cases that it is meant for."""
        self.incomplete = False
        """Whether some launches were too large for all their accesses to be followed."""

    def evidence(
        self, one: Reference, schedule: Schedule = FORWARD, *, watch: bool = True, sites: Sites | None = None,
        fences: Fences | None = None,
    ) -> Evidence | None:  # fmt: skip
        """Runs the variant on a case: what is wrong, or None. What it does undefined goes to ``sites``, the fences it
        executes to ``fences``."""
        baseline = self.baseline
        try:
            run = run_case(
                baseline.device, self.modules, one.case, baseline.workload.kernel, schedule,
                watch=watch, slack=baseline.slack, budget=one.budget * schedule.groups, launches=one.launches,
            )  # fmt: skip
        except KernelwrightError as error:
            return Evidence(error.message, "fault", one.case.name, str(schedule))
        self.incomplete |= run.incomplete
        if fences is not None:
            fences.update(run.fences)
        _merge(run, self.sites if sites is None else sites)
        return difference(run, one.expected, one.output, baseline.workload.rules)

    def inside(self, references: Iterable[Reference]) -> list[Reference]:
        """The cases that launch a changed kernel, every such launch inside what the variant is meant for."""
        found = []
        for one in references:
            if one.kernels & self.kernels:
                broken = self.broken_guard(one)
                if broken:
                    self.outside[broken] += 1
                else:
                    found.append(one)
        return found

    def broken_guard(self, one: Reference) -> str:
        for made in one.run.launches:
            guards = self.guards.get(made.launch.kernel, ())
            facts = as_guards_see(made, self.baseline.original) if guards else None
            for guard in guards:
                if facts is not None and not guard.holds(facts):
                    return str(guard)
        return ""

    def settled(self) -> dict[tuple[str, int], str]:
        """What launches of the variant cannot differ in, with the guard that says so."""
        return {
            (kernel, guard.settles): str(guard)
            for kernel, guards in self.guards.items()
            for guard in guards
            if guard.settles is not None
        }

    def changed_sets(self, more: int = 1) -> list[CaseSet]:
        """Changed inputs of each kernel, made from the cheapest training case that the variant is meant for, without
        changing what its guards demand."""
        cheapest: dict[frozenset[str], Reference] = {}
        for one in self.baseline.training:
            if one.kernels & self.kernels and not self.broken_guard(one):
                known = cheapest.setdefault(one.kernels, one)
                cheapest[one.kernels] = one if one.run.work < known.run.work else known
        settled = frozenset(self.settled())
        return [self.baseline.changed(group, base=base, settled=settled, more=more) for group, base in cheapest.items()]

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


def as_guards_see(made: LaunchMade, original: Modules) -> LaunchFacts:
    kernel = original[made.launch.kernel].functions[made.launch.kernel]

    def region(address: int) -> range | None:
        return next((r for r in made.regions if address in r), None)

    return facts_of(made.launch, kernel, region, made.variables)
