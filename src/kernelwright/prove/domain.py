"""What a variant is meant for: the launches that its guards admit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """The guards of a variant, asked about launches of the original."""

    def __init__(self, guards: Guards, original: Modules) -> None:
        self._guards = guards
        self._original = original
        self.key = tuple((kernel, *map(str, guards[kernel])) for kernel in sorted(guards) if guards[kernel])
        """Equal for variants that are meant for the same launches."""

    def broken_by(self, run: CaseRun) -> str:
        """The first guard that a launch of a run does not meet; empty when all are met."""
        return next(filter(None, map(self._broken, run.launches)), "")

    def broken_by_change(self, run: CaseRun, change: Change) -> str:
        """The same of the launches that a change would make of them, as far as can be said before they are run."""
        if not self.key or not change.moves_launches:
            return ""
        made = (replace(one, launch=change.launch(one.launch)) for one in run.launches)
        return next(filter(None, map(self._broken, made)), "")

    def _broken(self, made: LaunchMade) -> str:
        guards = self._guards.get(made.launch.kernel, ())
        if not guards:
            return ""
        facts = as_guards_see(made, self._original)
        return next((str(guard) for guard in guards if not guard.holds(facts)), "")


def as_guards_see(made: LaunchMade, original: Modules) -> LaunchFacts:
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
