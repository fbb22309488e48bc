"""The changed inputs that a variant is tried on: made from several training cases, accepted by the original, aimed at conditions.

    changes = AcceptedChanges(baseline)
    for base in changes.bases(cases):
        changes.of(base, edited, domain)      # a CaseSet

Training cases are chosen by what they cover: blocks of the control flow and shapes of launches; the cheapest among equals.
From each, changes of every sort are made first. Then the sides of conditions are counted that no accepted input has shown, and
changes aimed at each; one that shows a further side is accepted like any other, and others are put on top of it. All work is
counted, not timed, so that the same seed gives the same inputs on every machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain, zip_longest

import numpy as np
from numpy.typing import NDArray

from kernelwright.errors import KernelwrightError
from kernelwright.ir import ConstantInt, Instruction, Module
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.baseline import FORWARD, Baseline, CaseSet, Reference
from kernelwright.prove.changed_inputs.buffer_values import MILD
from kernelwright.prove.changed_inputs.case_survey import Change, Survey
from kernelwright.prove.changed_inputs.change_order import changes, extreme_changes, larger_changes
from kernelwright.prove.changed_inputs.changed_case import ChangedCase, SurveyedCase
from kernelwright.prove.changed_inputs.launch_shapes import first_blocks
from kernelwright.prove.changed_inputs.pointer_aliases import alias_changes
from kernelwright.prove.changed_inputs.pointer_places import place_changes
from kernelwright.prove.changed_inputs.refuting_changes import Counterexample, refuting_changes
from kernelwright.prove.checked_run import run_case
from kernelwright.prove.coverage.aimed_changes import edit_changes
from kernelwright.prove.coverage.conditions import Conditions
from kernelwright.prove.coverage.edited_lines import Edited
from kernelwright.prove.coverage.exchanged_values import exchange_changes
from kernelwright.prove.coverage.followed_indexes import FollowedIndexes, far_indexes
from kernelwright.prove.coverage.goal_search import GoalSearch
from kernelwright.prove.coverage.meeting_changes import meeting_changes, ways_there
from kernelwright.prove.coverage.meetings import Meetings
from kernelwright.prove.domain import Domain
from kernelwright.prove.instrumentation import ObservedCase

ACCEPTED_OF_ONE = 2
"""Changes that are kept of one counterexample: all of what it says, and a part of it."""
DRAWN_TRIES = 12
"""Changes that are tried to draw the data of a case anew."""
OF_EDITS = 0.3
"""So many times as many changed inputs as of any sort are made, before them, of what an edit's result depends on."""
OF_MEETINGS = 0.4
"""The same, of what decides whether a thread's accesses meet."""
OF_FAR = 0.4
"""The same, of indexes that lead nowhere; runs that note which are followed count."""
OF_ALIASES = 0.2
"""So many times as many, of pointers that share memory."""
OF_PLACES = 0.2
"""The same, of pointers that are null, moved, or in another order."""
OF_FEW = 0.4
"""So many times as many, of what threads tell each other, where some warps of a block meet what others do not."""
OF_EXTREMES = 0.3
"""The same, of whole numbers as large as they can be."""
OF_LARGER = 0.2
"""The same, of whole numbers that are some times as large."""
BASES = 3
"""Training cases that inputs are made from, of those that launch the same kernels."""


@dataclass
class ChangedSet(CaseSet):
    """Changed inputs, what of them a domain leaves out, and how far the conditions are covered."""

    outside: Counter[str] = field(default_factory=Counter)
    """Changes that were not made, by the guard that does not admit them."""
    goals: int = 0
    """Sides of conditions."""
    unseen: tuple[str, ...] = ()
    """Those that no input has shown."""


class AcceptedChanges:
    """Keeps what the original accepts, for all its variants."""

    def __init__(self, baseline: Baseline) -> None:
        self._baseline = baseline
        self._sets: dict[Hashable, ChangedSet] = {}
        self._accepted: dict[Hashable, Reference | str] = {}
        self._parts: dict[int, Reference | None] = {}
        """By case, its first blocks as a case of its own."""
        self._surveys: dict[int, Survey] = {}
        self._of_exchanges: dict[int, list[Change]] = {}
        self._conditions: dict[str, Conditions] = {}
        self._followed: dict[str, FollowedIndexes] = {}
        self._meetings: dict[str, Meetings] = {}
        self._of_meetings: dict[tuple[int, str], list[Change]] = {}
        self._counters: dict[Hashable, NDArray[np.int64] | None] = {}

    def bases(self, cases: Sequence[Reference]) -> list[Reference]:
        """The cases that inputs are made from: of each group that launches the same kernels, those that cover most."""
        groups: dict[frozenset[str], list[Reference]] = {}
        for one in cases:
            groups.setdefault(one.kernels, []).append(one)
        return [base for group in groups.values() for base in self._covering(group)]

    def _covering(self, cases: Sequence[Reference]) -> list[Reference]:
        chosen: list[Reference] = []
        covered: set[Hashable] = set()
        while len(chosen) < BASES:
            best = max(cases, key=lambda one: (len(covers(one) - covered), -one.run.work))
            if not covers(best) - covered:
                break
            chosen.append(best)
            covered |= covers(best)
        cheapest = min(cases, key=lambda one: one.run.work)
        effort = self._baseline.effort
        if cheapest not in chosen and effort.tries_of(chosen[0].run.work) < effort.changes:
            # On the cheapest many more can be tried.
            chosen.append(cheapest)
        if effort.tries_of(cheapest.run.work) < effort.changes and (part := self._first_blocks(cheapest)):
            chosen.insert(0, part)
        return chosen

    def _first_blocks(self, base: Reference) -> Reference | None:
        """The first blocks of a case that is too large for many changes to be tried; None where the original does not accept that,
        or works as much: its blocks may share all there is among them."""
        if id(base) not in self._parts:
            change = first_blocks(self._survey(base), self._baseline.effort.work_of_a_try / max(base.run.work, 1))
            found = self._baseline.accept(ChangedCase(base.case, change)) if change is not None else ""
            fits = isinstance(found, Reference) and 2 * found.run.work <= base.run.work
            self._parts[id(base)] = found if fits and isinstance(found, Reference) else None
        return self._parts[id(base)]

    def of(
        self,
        base: Reference,
        edited: Mapping[str, Edited],
        domain: Domain,
        *,
        first: bool = True,
        more: int = 1,
    ) -> ChangedSet:
        """The inputs made from ``base`` for a variant. ``edited``: the kernels that it changes, each with where it differs: what
        decides that is changed first, and conditions there are aimed at before others. ``first``: of several bases, the one
        that most are made from. ``more``: so many times the effort."""
        aimed = {kernel: lines for kernel, lines in sorted(edited.items()) if kernel in base.kernels}
        asked = (id(base), tuple(aimed.items()), domain.key, first, more)
        known = self._sets.get(asked)
        if known is None:
            with self._baseline.device.memory_kept():
                known = self._sets[asked] = self._made(base, aimed, domain, more if first else more / 2)
        return known

    def drawn_anew(self, base: Reference) -> list[Reference]:
        """The case with the values of its buffers in another order or drawn anew from themselves, or else with other numbers:
        the same launches and sizes, other results."""
        baseline, survey = self._baseline, self._survey(base)
        seed, most = baseline.seed, min(DRAWN_TRIES, 2 * baseline.effort.changes)
        values = [
            Change(f"'{buffer.name}' {way}", ((buffer, way),))
            for way in MILD
            for buffer in survey.buffers.values()
            if way in buffer.ways
        ]
        numbers = [change for change in changes(survey, seed) if change.numbers and not change.geometries]
        for some in (values, numbers):
            found = CaseSet()
            for number, change in enumerate(some[:most]):
                self._take(base, replace(change, seed=seed * 1000 + number), found)
            telling = [one for one in found.references if not baseline.is_like_training(one)]
            if telling:
                return telling
        return []

    def refuting(self, base: Reference, counterexamples: Sequence[Counterexample], domain: Domain) -> ChangedSet:
        """The case with what refuted an obligation of this variant or another: of each, the first change that the original accepts."""
        found, survey = ChangedSet(), self._survey(base)
        for number, each in enumerate(counterexamples):
            if each.kernel not in base.kernels:
                continue
            function = self._baseline.original[each.kernel].functions[each.kernel]
            before = len(found.references)
            for change in refuting_changes(each, function, survey, self._baseline.seed + number):
                self._try(base, change, domain, found)
                if len(found.references) >= before + ACCEPTED_OF_ONE:
                    break
        return found

    def _made(self, base: Reference, edited: Mapping[str, Edited], domain: Domain, share: float) -> ChangedSet:
        effort, seed = self._baseline.effort, self._baseline.seed
        found = ChangedSet()
        tries = int(effort.tries_of(base.run.work) * share)
        survey, most = self._survey(base), effort.changes * share
        of_edits = (
            edit_changes(self._baseline.original[kernel].functions[kernel], where, survey, seed)
            for kernel, where in edited.items()
        )
        sorts = (
            (chain.from_iterable(of_edits), OF_EDITS),
            (chain.from_iterable(self._meeting(base, kernel) for kernel in edited), OF_MEETINGS),
            (alias_changes(survey, seed), OF_ALIASES),
            (place_changes(survey, seed), OF_PLACES),
            (self._exchanged(base), OF_FEW),
            (filter(self._keeps_steps, extreme_changes(survey, seed)), OF_EXTREMES),
            (filter(self._keeps_steps, larger_changes(survey, seed)), OF_LARGER),
            (changes(survey, seed), 1.0),
        )
        for some, part in sorts:
            left, enough = tries * part, len(found.references) + most * part
            for change in some:
                if left <= 0 or len(found.references) >= enough:
                    break
                left -= self._try(base, change, domain, found)
        aims = int(effort.aims_of(base.run.work) * share)
        for kernel, where in edited.items():
            self._aim(kernel, where.lines, base, domain, found, aims // len(edited))
        for kernel in edited:
            self._lead_far(kernel, base, domain, found, int(tries * OF_FAR))
        return found

    def _lead_far(self, kernel: str, base: Reference, domain: Domain, found: ChangedSet, tries: int) -> None:
        """Changes on top of accepted ones: what they do not follow in memory leads out of it."""
        if kernel not in self._followed:
            self._followed[kernel] = FollowedIndexes(self._baseline.original[kernel], kernel)
        indexes, tried = self._followed[kernel], dict[str, set[int]]()
        for reference in (base, *found.references) if indexes.module is not None else ():
            under = reference.case.change if isinstance(reference.case, ChangedCase) else None
            if tries <= 0 or (under is not None and under.has_other_blocks):
                continue
            tries -= 1
            observed = ObservedCase(reference.case)
            counters = self._observed(indexes.module, kernel, observed)
            if counters is not None:
                for change in far_indexes(indexes, counters, observed.memory, self._survey(base), under, tried):
                    tries -= self._try(base, change, domain, found)

    def _meeting(self, base: Reference, kernel: str) -> list[Change]:
        """Changes under which accesses of the kernel meet that do not in the case."""
        if (id(base), kernel) not in self._of_meetings:
            if kernel not in self._meetings:
                self._meetings[kernel] = Meetings(self._baseline.original[kernel], kernel)
            meetings, survey = self._meetings[kernel], self._survey(base)
            sorts = [self._noted(meetings, kernel, base, None)]
            sorts += [self._noted(meetings, kernel, base, way) for way in ways_there(meetings, survey)]
            made = (change for row in zip_longest(*sorts) for change in row if change is not None)
            self._of_meetings[id(base), kernel] = list(dict.fromkeys(made))
        return self._of_meetings[id(base), kernel]

    def _noted(self, meetings: Meetings, kernel: str, base: Reference, way: Change | None) -> list[Change]:
        """Changes by what the original notes on the case, changed by ``way``."""
        observed = ObservedCase(base.case if way is None else ChangedCase(base.case, way))
        counters = self._observed(meetings.module, kernel, observed)
        noted = meetings.noted(counters) if counters is not None else []
        if not noted:
            return []
        made = meeting_changes(meetings, noted, observed.memory, self._survey(base), self._baseline.seed)
        return list(made) if way is None else [change.on_top_of(way) for change in made]

    def _exchanged(self, base: Reference) -> list[Change]:
        """Changes of what the threads of the case's kernels tell each other."""
        if id(base) not in self._of_exchanges:
            functions = [self._baseline.original[kernel].functions[kernel] for kernel in sorted(base.kernels)]
            self._of_exchanges[id(base)] = list(exchange_changes(functions, self._survey(base), self._baseline.seed))
        return self._of_exchanges[id(base)]

    def _keeps_steps(self, change: Change) -> bool:
        """Whether no argument is so large that the original's own ``n + 1`` or ``n - 1`` overflows, which nothing here would see."""
        for number, raw in change.numbers:
            value, most = int.from_bytes(raw, "little", signed=True), 1 << (8 * len(raw) - 1)
            function = self._baseline.original[number.kernel].functions[number.kernel] if number.kernel else None
            for user in function.arguments[number.index].users if function is not None else ():
                if not isinstance(user, Instruction) or user.opcode not in ("add", "sub") or "nsw" not in user.flags:
                    continue
                steps = [o.value for o in user.operands if isinstance(o, ConstantInt)]
                if steps and not -most <= value + (steps[0] if user.opcode == "add" else -steps[0]) < most:
                    return False
        return True

    def _try(self, base: Reference, change: Change, domain: Domain, found: ChangedSet) -> bool:
        """Whether there was anything to try."""
        if broken := domain.broken_by_change(base.run, change):
            found.outside[broken] += 1
            return False
        return self._take(base, change, found)

    def _take(self, base: Reference, change: Change, found: CaseSet) -> bool:
        asked = (id(base), change)
        if asked not in self._accepted:
            self._accepted[asked] = self._baseline.accept(ChangedCase(base.case, change))
        reference = self._accepted[asked]
        if isinstance(reference, str):
            if reference:
                found.dropped[reference] += 1
            return bool(reference)
        found.references.append(reference)
        return True

    # -- aimed at conditions -----------------------------------------------------------------------------------------

    def _aim(
        self, kernel: str, lines: frozenset[int], base: Reference, domain: Domain, found: ChangedSet, aims: int
    ) -> None:
        conditions = self._conditions_of(kernel)

        def accept(change: Change) -> bool:
            before = len(found.references)
            self._try(base, change, domain, found)
            return len(found.references) > before

        search = GoalSearch(
            conditions, self._survey(base), self._baseline.seed,
            admits=lambda change: not domain.broken_by_change(base.run, change),
            count=lambda change: self._counted(conditions, kernel, base, change),
            accept=accept,
        )  # fmt: skip
        missing = sorted(conditions.goals, key=lambda goal: goal.line not in lines)
        found.goals += len(missing)
        for reference in (base, *found.references):
            case = reference.case
            # Of other blocks the counting code would have to be made anew.
            change = case.change if isinstance(case, ChangedCase) else None
            if missing and (change is None or not change.has_other_blocks):
                counters = self._counted(conditions, kernel, base, change)
                search.saw(change, counters)
                missing = [goal for goal in missing if counters is None or not goal.is_seen(counters)]
        found.unseen += tuple(goal.words for goal in search.look_for(missing, aims))

    def _counted(
        self, conditions: Conditions, kernel: str, base: Reference, change: Change | None
    ) -> NDArray[np.int64] | None:
        """The counters of the conditions after a run of the case; None when it does not come to its end."""
        asked = (kernel, id(base), change)
        if asked not in self._counters:
            case = base.case if change is None else ChangedCase(base.case, change)
            self._counters[asked] = self._observed(conditions.module, kernel, ObservedCase(case))
        return self._counters[asked]

    def _observed(self, module: Module | None, kernel: str, observed: ObservedCase) -> NDArray[np.int64] | None:
        """What the kernel counts in ``module``, which does that; None where it does not come to its end."""
        if module is None:
            return None
        baseline = self._baseline
        modules = {**baseline.original, kernel: module}
        try:
            if not baseline.ends(observed.case, overread=baseline.overread):
                return None
            run = run_case(
                baseline.device, modules, observed, baseline.workload.kernel, FORWARD,
                watch=False, overread=baseline.overread, budget=baseline.most_turns,
            )  # fmt: skip
        except KernelwrightError:
            return None
        return observed.counters if run.rejected is None else None

    def _conditions_of(self, kernel: str) -> Conditions:
        if kernel not in self._conditions:
            self._conditions[kernel] = Conditions(self._baseline.original[kernel], kernel)
        return self._conditions[kernel]

    def _survey(self, base: Reference) -> Survey:
        if id(base) not in self._surveys:
            baseline = self._baseline
            survey = SurveyedCase(base.case)
            run_case(
                baseline.device, baseline.original, survey, baseline.workload.kernel, FORWARD,
                watch=False, overread=baseline.overread,
            )  # fmt: skip
            self._surveys[id(base)] = survey.survey
        return self._surveys[id(base)]


def covers(one: Reference) -> set[Hashable]:
    """The blocks that ran, and the shapes of launches: a dimension counts as one or as several."""
    found: set[Hashable] = set(one.run.covered)
    for made in one.run.launches:
        launch = made.launch
        found.add((launch.kernel, launch.block, tuple(min(n, 2) for n in launch.grid)))
    return found
