"""What a variant is meant for: the launches that its guards admit. At others the original runs, in the same program."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from kernelwright.device.guard_facts import facts_of
from kernelwright.evaluate.judging.case_runner import Modules
from kernelwright.guards import Guard, LaunchFacts
from kernelwright.prove.baseline import Baseline
from kernelwright.prove.changed_inputs.case_survey import Change
from kernelwright.prove.checked_run import CaseRun, LaunchMade

Guards = Mapping[str, Sequence[Guard]]
"""By kernel, what must hold at a launch for a variant to be meant for it."""


class Domain:
    """The guards of a variant, asked about launches of the original. ``changed``: its kernels; none given: those with guards."""

    def __init__(self, guards: Guards, original: Modules, changed: Collection[str] = ()) -> None:
        self._guards = {kernel: tuple(each) for kernel, each in guards.items() if each}
        self._changed = frozenset(changed) or frozenset(self._guards)
        self._original = original
        self.key = tuple((kernel, *map(str, self._guards.get(kernel, ()))) for kernel in sorted(self._changed))
        """Equal for variants that are meant for the same launches."""

    @property
    def is_guarded(self) -> bool:
        """Whether any kernel has a guard; without one the variant is meant for every launch."""
        return bool(self._guards)

    def broken_by(self, run: CaseRun) -> str:
        """A guard that keeps the variant out of a run: no launch of a changed kernel meets all of its own. Empty where one does,
        or where no changed kernel is launched."""
        return self._broken_by_all(run.launches)

    def broken_by_change(self, run: CaseRun, change: Change) -> str:
        """The same of the launches that a change would make of them, as far as can be said before they are run."""
        if not self._guards or not change.moves_launches:
            return ""
        return self._broken_by_all(replace(one, launch=change.launch(one.launch)) for one in run.launches)

    def admits(self, made: LaunchMade) -> bool:
        """Whether the variant runs at a launch."""
        return not self._broken(made)

    def _broken_by_all(self, launches: Iterable[LaunchMade]) -> str:
        first = ""
        for made in launches:
            if made.launch.kernel in self._changed:
                broken = self._broken(made)
                if not broken:
                    return ""
                first = first or broken
        return first

    def _broken(self, made: LaunchMade) -> str:
        guards = self._guards.get(made.launch.kernel, ())
        if not guards:
            return ""
        facts = as_guards_see(made, self._original)
        return next((str(guard) for guard in guards if not guard.holds(facts)), "")


def as_guards_see(made: LaunchMade, original: Modules) -> LaunchFacts:
    """A launch of a case as guards look at it: arguments, regions of pointers, variables."""
    kernel = original[made.launch.kernel].functions[made.launch.kernel]

    def region(address: int) -> range | None:
        return next((r for r in made.regions if address in r), None)

    return facts_of(made.launch, kernel, region, made.variables, made.contents)


def training_facts(baseline: Baseline) -> dict[str, list[LaunchFacts]]:
    """By kernel, what guards see of its launches in training; equal ones once."""
    found: dict[str, dict[LaunchFacts, None]] = {}
    for one in baseline.training:
        for made in one.run.launches:
            found.setdefault(made.launch.kernel, {})[as_guards_see(made, baseline.original)] = None
    return {kernel: list(facts) for kernel, facts in found.items()}
