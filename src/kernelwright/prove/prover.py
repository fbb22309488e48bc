"""Proving a variant: every check that can be made, each with its evidence.

    proof = prove(workload, originals, {kernel: changed})
    proof.label                                  # "lock-step only"
    proof.check("warp races").evidence           # both ends, with source lines

    training cases ─► held-out cases ─► different cases      right?
         └─ other orders, split warps, every access watched  right whatever the schedule, and nothing undefined?
                 └─ too good? whole program, compute-sanitizer

For many variants of one original make a ``Prover`` once: what the original does is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from kernelwright.cuda.names import readable
from kernelwright.device.describe_access import plural
from kernelwright.device.guard_facts import facts_of
from kernelwright.device.schedule import Schedule
from kernelwright.errors import IRError, KernelwrightError
from kernelwright.evaluate.judging.case_runner import Modules
from kernelwright.evaluate.outcome import Outcome, Rejected
from kernelwright.evaluate.workload.workload import AnyCase, Workload
from kernelwright.guards import ArgumentIs, GridIs, Guard, LaunchFacts
from kernelwright.ir import print_module, verify
from kernelwright.passes.llvm import binding
from kernelwright.passes.llvm import parse as llvm_parse
from kernelwright.prove.baseline import FORWARD, GRID, Baseline, CaseSet, Reference
from kernelwright.prove.checked_run import CaseRun, Device, LaunchMade, run_case
from kernelwright.prove.effort import Effort
from kernelwright.prove.fences import WIDTHS, Fences, fewer, has_fences
from kernelwright.prove.labels import CHECKS
from kernelwright.prove.output_difference import difference
from kernelwright.prove.proof import Check, Evidence, Proof, Status
from kernelwright.prove.sightings import Site, Sites, add
from kernelwright.prove.speedup_ceiling import LIMIT

Guards = Mapping[str, Sequence[Guard]]
"""By kernel, what must hold at a launch for a variant to be meant for it."""
Trial = Callable[[Modules], Outcome]
"""Runs something with the kernels exchanged, and says what came of it: the whole program, or NVIDIA's checker on it."""

SHOWN = 6
"""Pieces of evidence that a check keeps."""
HELD_OUT = 'there are none: evolve the program with --held-out "ARGUMENTS"'
"""The way to further cases of a recorded program."""


class Prover:
    """Proves variants of one original. Raises ``Misuse`` for an original that is itself not fit to be compared with."""

    def __init__(
        self,
        workload: Workload,
        original: Modules | None = None,
        *,
        schedules: Sequence[Schedule] | None = None,
        seed: int = 0,
        held_out: Sequence[AnyCase] = (),
        different: Sequence[AnyCase] = (),
        effort: Effort | None = None,
        sanitizer: Trial | None = None,
        why_no_sanitizer: str = "it needs a real GPU and NVIDIA's tool",
        device: Device | None = None,
    ) -> None:
        """``held_out``, ``different``: cases besides those of the workload's generator. ``schedules``: in place of those
        that ``effort`` and ``seed`` make. ``sanitizer``: None where there is none; it is not run for the reason given then."""
        self.baseline = Baseline(
            workload,
            workload.modules() if original is None else original,
            schedules=schedules, seed=seed, held_out=held_out, different=different, effort=effort, device=device,
        )  # fmt: skip
        self.sanitizer = sanitizer
        self.why_no_sanitizer = why_no_sanitizer

    def prove(
        self,
        variant: Modules,
        *,
        guards: Guards | None = None,
        speedup: float | None = None,
        ceiling: float = LIMIT,
        whole_program: Trial | None = None,
    ) -> Proof:
        """The proof of a variant, given as the kernels it changes.

        ``guards``: launches outside the variant's domain of validity are left out. ``speedup``: of the variant, over the
        original; above ``ceiling`` (``too_good.ceiling``) it is suspicious, and more different cases are demanded.
        ``whole_program``: runs it with the variant in it; None where there is none.
        """
        return _Proving(self, variant, guards or {}).proof(speedup, ceiling, whole_program)


def prove(
    workload: Workload,
    original: Modules,
    variant: Modules,
    *,
    schedules: Sequence[Schedule] | None = None,
    seed: int = 0,
    whole_program: Trial | None = None,
    sanitizer: Trial | None = None,
    held_out: Sequence[AnyCase] = (),
    different: Sequence[AnyCase] = (),
    effort: Effort | None = None,
    device: Device | None = None,
    guards: Guards | None = None,
    speedup: float | None = None,
    ceiling: float = LIMIT,
) -> Proof:
    """The proof of one variant; see ``Prover``. The same arguments give the same proof.

    Raises ``Misuse`` when the original fails on its own cases, or depends on the order of its threads.
    """
    prover = Prover(
        workload, original, schedules=schedules, seed=seed, held_out=held_out, different=different, effort=effort,
        sanitizer=sanitizer, device=device,
    )  # fmt: skip
    return prover.prove(variant, guards=guards, speedup=speedup, ceiling=ceiling, whole_program=whole_program)


class _Proving:
    """One variant on its way through the checks."""

    def __init__(self, prover: Prover, variant: Modules, guards: Guards) -> None:
        self.prover = prover
        self.baseline = prover.baseline
        self.variant = variant
        original = self.baseline.original
        self.modules = {**original, **variant}
        self.kernels = frozenset(k for k, module in variant.items() if module is not original.get(k))
        self.guards = guards
        self.checks: dict[str, Check] = {}
        self.sites: Sites = {}
        self.outside: Counter[str] = Counter()
        self.fences: Fences = Counter()
        """What the variant executed on ``trained``."""
        self.trained: list[Reference] = []
        """The training cases that it is meant for."""
        self.incomplete = False

    def proof(self, speedup: float | None, ceiling: float, whole_program: Trial | None) -> Proof:
        self._training()
        if self.checks["training"].status == "failed":
            for name in CHECKS:
                if name not in self.checks:
                    self._say(name, "not run", "it is not right on the training cases to begin with")
        else:
            self._orders()
            self._sub_warps()
            self._held_out()
            self._sites()
            self._fences()
            self._different()
            self._too_good(speedup, ceiling)
            self._trial("whole program", whole_program, "there is no program to run, only its launches")
            self._trial("compute-sanitizer", self.prover.sanitizer, self.prover.why_no_sanitizer)
        notes = [*self.baseline.notes]
        if self.outside:
            total = sum(self.outside.values())
            lie = f"{plural(total, 'case')} {'lies' if total == 1 else 'lie'}"
            notes.append(f"{lie} outside what the variant is meant for ({', '.join(self.outside)})")
        idle = self.kernels - frozenset().union(*(one.kernels for one in self.baseline.training))
        if idle:
            notes.append(f"no training case launches {', '.join(map(readable, sorted(idle)))}, which is changed too")
        if self.incomplete:
            notes.append("some launches were too large for all their accesses to be followed")
        return Proof(tuple(self.checks[name] for name in CHECKS), self.baseline.seed, tuple(notes))

    # -- right? --------------------------------------------------------------------------------------------------------

    def _training(self) -> None:
        refused = _refused(self.variant)
        self.trained = cases = self._inside(self.baseline.training)
        if refused:
            return self._say("training", "failed", refused, [Evidence(refused, "fault")])
        if not self.kernels:
            return self._say("training", "passed", "nothing is changed: every kernel is the original's")
        if not cases:
            why = "lies inside what the variant is meant for" if self.outside else "launches a kernel that is changed"
            return self._say("training", "failed", f"none of the training cases {why}: nothing is known of it")
        wrong = [self._evidence(one, fences=self.fences) for one in cases]
        self._judge("training", cases, wrong, f"right on {plural(len(cases), 'case')}")

    def _held_out(self) -> None:
        baseline = self.baseline
        cases = self._inside(baseline.held_out.references)
        if not cases:
            return self._say("held-out", "not run", _why_none(baseline.held_out, baseline.workload, HELD_OUT))
        wrong = [
            self._evidence(one) or self._evidence(one, Schedule.random(baseline.seed), watch=False) for one in cases
        ]
        self._judge("held-out", cases, wrong, f"right on {_counted(cases, baseline.held_out)}")

    def _different(self) -> None:
        sets = [self.baseline.different, *self._changed_sets()]
        for place, count in sum((each.settled for each in sets), Counter[tuple[str, int]]()).items():
            self.outside[self._settled()[place]] += count
        everything = CaseSet([r for s in sets for r in s.references], sum((s.dropped for s in sets), Counter()))
        cases = self._inside(everything.references)
        if not cases:
            why = _why_none(everything, self.baseline.workload, "no changed input was tried")
            if everything.references and self.outside:
                why = "every further case lies outside what the variant is meant for"
            return self._say("different", "not run", why)
        wrong = self._on_different(cases)
        right = f"right on {_counted(cases, everything)}; among those it is right on: {_examples(cases)}"
        self._judge("different", cases, wrong, right)

    def _changed_sets(self, more: int = 1) -> list[CaseSet]:
        """Changed inputs of each kernel, made from the cheapest training case that the variant is meant for, without
        changing what its guards demand."""
        cheapest: dict[frozenset[str], Reference] = {}
        for one in self.baseline.training:
            if one.kernels & self.kernels and not self._broken_guard(one):
                known = cheapest.setdefault(one.kernels, one)
                cheapest[one.kernels] = one if one.run.work < known.run.work else known
        settled = frozenset(self._settled())
        return [self.baseline.changed(group, base=base, settled=settled, more=more) for group, base in cheapest.items()]

    def _settled(self) -> dict[tuple[str, int], str]:
        """What launches of the variant cannot differ in, with the guard that says so."""
        return {
            (kernel, guard.index if isinstance(guard, ArgumentIs) else GRID): str(guard)
            for kernel, guards in self.guards.items()
            for guard in guards
            if isinstance(guard, ArgumentIs | GridIs)
        }

    def _on_different(self, cases: Sequence[Reference]) -> list[Evidence | None]:
        """Everything that is wrong on other data, be it a value, a race or an access, says that the variant is not for it."""
        found: list[Evidence | None] = []
        for one in cases:
            sites: Sites = {}
            other = Schedule.random(self.baseline.seed)
            wrong = self._evidence(one, sites=sites) or self._evidence(one, other, watch=False)
            new = [sight for site, sight in self._new(sites) if site not in self.sites]
            found.append(wrong or next((_in_case(sight, one) for sight in new), None))
        return found

    # -- whatever the schedule? ------------------------------------------------------------------------------------------

    def _orders(self) -> None:
        cases = self.baseline.reordered(self._inside(self.baseline.training))
        orders = self.baseline.orders
        if not orders or not cases:
            return self._say("orders", "not run", "no other order was asked for")
        # Races show in any order, nearly: one that is watched is enough.
        wrong = [self._evidence(one, s, watch=number == 0) for one in cases for number, s in enumerate(orders)]
        self._judge(
            "orders", cases, wrong, f"right on {plural(len(cases), 'case')} in {len(orders)} orders of blocks and warps"
        )

    def _sub_warps(self) -> None:
        cases = self.baseline.reordered(self._inside(self.baseline.training))
        split = self.baseline.split
        if self.baseline.leans_on_lock_step:
            why = f"the original itself leans on warps that run in step: under {self.baseline.leans_on_lock_step} it fails"
            return self._say("sub-warps", "not run", why)
        if not split or not cases:
            return self._say("sub-warps", "not run", "no schedule with split warps was asked for")
        found: list[Evidence | None] = []
        for one in cases:
            for schedule in split:
                wrong = self._evidence(one, schedule, watch=False)
                # The same order with whole warps: if that is wrong too, it is not the splitting.
                whole = self._evidence(one, Schedule.random(schedule.seed), watch=False) if wrong else None
                if whole is not None:
                    self._say("orders", "failed", whole.sentence, [whole])
                found.append(None if whole is not None else wrong)
        sizes = ", ".join(str(groups) for groups in sorted({s.groups for s in split}))
        self._judge(
            "sub-warps", cases, found, f"right on {plural(len(cases), 'case')} with warps in {sizes} groups out of step"
        )

    # -- nothing undefined? ----------------------------------------------------------------------------------------------

    def _sites(self) -> None:
        new = self._new(self.sites)
        self._say_sites("races", [s for site, s in new if site.kind == "race" and site.scope != "warp"], "new race")
        self._say_sites(
            "warp races", [s for site, s in new if site.kind == "race" and site.scope == "warp"], "new race"
        )
        self._say_sites(
            "bounds", [s for site, s in new if site.kind == "out-of-bounds"], "new place that leaves a buffer"
        )
        self._say_sites(
            "initialisation",
            [s for site, s in new if site.kind == "uninitialised"],
            "new place that reads unwritten memory",
        )
        fresh = {id(sight) for _, sight in new}
        rest = [sight.evidence for sight in self.sites.values() if id(sight.evidence) not in fresh]
        if not rest:
            detail = (
                "no race, no access past an end, no read of unwritten memory" if not new else "nothing but what is new"
            )
            return self._say("undefined", "passed", detail)
        silent = sum(site.silent and not self.baseline.is_known(site) for site in self.sites)
        detail = f"{plural(len(rest), 'place')}: the original does the same" + (
            f"; at {silent}, no value depends on it" if silent else ""
        )
        self._say("undefined", "failed", detail, rest)

    def _say_sites(self, name: str, found: Sequence[Evidence], what: str) -> None:
        if found:
            self._say(name, "failed", f"{plural(len(found), what)}: {found[0].sentence}", found)
        else:
            self._say(name, "passed", f"no {what}")

    def _fences(self) -> None:
        """A fence too few changes nothing in any run here, so the fences themselves are compared."""
        original = self.baseline.original
        if not any(has_fences(original[k].functions[k]) for k in self.kernels if k in original):
            return self._say("fences", "passed", "the original has none")
        expected = sum((one.run.fences for one in self.trained), Fences())
        if not expected:
            return self._say("fences", "not run", "no training case executes the original's memory fences")
        lacking = fewer(expected, self.fences)
        if lacking is None:
            return self._say("fences", "passed", "no memory fence is executed less often than in the original")
        kernel, width = lacking
        rank = WIDTHS.index(width)
        kind = f"memory fences wider than a {WIDTHS[rank - 1]}" if rank else "memory fences"
        found = (
            f"{readable(kernel)} executes {self.fences[lacking]} {kind} on the training cases, the original "
            f"{expected[lacking]}: no schedule here shows what an absent fence changes"
        )
        self._say("fences", "failed", found, [Evidence(found, "fence", kernel=kernel)])

    def _new(self, sites: Sites) -> list[tuple[Site, Evidence]]:
        """What matters and the original does not do."""
        return [
            (site, sight.evidence)
            for site, sight in sites.items()
            if not site.silent and not self.baseline.is_known(site)
        ]

    # -- and the rest ----------------------------------------------------------------------------------------------------

    def _too_good(self, speedup: float | None, ceiling: float) -> None:
        if speedup is None:
            return self._say("too good", "not run", "nobody told how fast the variant is")
        if speedup <= ceiling:
            return self._say(
                "too good", "passed", f"{speedup:.3g} times as fast; up to {ceiling:.3g} the same work can be"
            )
        extra = self._demanded()
        wrong = [one for one in self._on_different(extra) if one]
        asked = f"{speedup:.3g} times as fast is more than the same work can be ({ceiling:.3g})"
        if wrong:
            return self._say("too good", "failed", f"{asked}: {wrong[0].sentence}", wrong)
        if not extra:
            way = "" if self.baseline.workload.capture else ": give the workload a generator"
            return self._say("too good", "failed", f"{asked}, and there are no further cases to look at{way}")
        self._say("too good", "passed", f"{asked}; {len(extra)} further different cases agree all the same")

    def _demanded(self) -> list[Reference]:
        """Different cases beyond those there were."""
        baseline, into = self.baseline, CaseSet()
        effort = baseline.effort
        further = baseline.generated(range(effort.draws, 3 * effort.draws), into)
        made = [r for r in map(baseline.accept, further) if isinstance(r, Reference)]
        for first, changed in zip(self._changed_sets(), self._changed_sets(more=3), strict=True):
            seen = {one.case.name for one in first.references}
            made += [one for one in changed.references if one.case.name not in seen]
        return self._inside(made)

    def _trial(self, name: str, trial: Trial | None, why_not: str) -> None:
        if trial is None:
            return self._say(name, "not run", why_not)
        try:
            outcome = trial(self.modules)
        except KernelwrightError as error:
            return self._say(name, "not run", error.message)
        if isinstance(outcome, Rejected):
            evidence = Evidence(outcome.reason, "fault" if outcome.stage != "compare" else "value", place=outcome.where)
            return self._say(name, "failed", outcome.reason, [evidence])
        self._say(name, "passed", f"right, error {outcome.error:g}")

    # -- inside --------------------------------------------------------------------------------------------------------

    def _evidence(
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

    def _inside(self, references: Iterable[Reference]) -> list[Reference]:
        """The cases that launch a changed kernel, every such launch inside what the variant is meant for."""
        found = []
        for one in references:
            if one.kernels & self.kernels:
                broken = self._broken_guard(one)
                if broken:
                    self.outside[broken] += 1
                else:
                    found.append(one)
        return found

    def _broken_guard(self, one: Reference) -> str:
        for made in one.run.launches:
            guards = self.guards.get(made.launch.kernel, ())
            facts = as_guards_see(made, self.baseline.original) if guards else None
            for guard in guards:
                if facts is not None and not guard.holds(facts):
                    return str(guard)
        return ""

    def _judge(self, name: str, cases: Sequence[Reference], wrong: Sequence[Evidence | None], passed: str) -> None:
        found = [one for one in wrong if one is not None]
        if not found:
            return self._say(name, "passed", passed)
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        self._say(name, "failed", f"{found[0]}{more}", found)

    def _say(self, name: str, status: Status, detail: str, evidence: Sequence[Evidence] = ()) -> None:
        known = self.checks.get(name)
        if known is None or known.status != "failed":
            self.checks[name] = Check(name, status, detail, tuple(evidence[:SHOWN]))


def _merge(run: CaseRun, sites: Sites) -> None:
    for site, sight in run.sites.items():
        add(sites, site, sight.evidence, sight.count)


def _in_case(evidence: Evidence, one: Reference) -> Evidence:
    return replace(evidence, case=one.case.name)


def _refused(variant: Modules) -> str:
    """Why a module is not valid. LLVM would end the process for some that are not, so ours looks first."""
    for module in {id(m): m for m in variant.values()}.values():
        try:
            verify(module)
            llvm_parse(print_module(module), binding().create_context())
        except IRError as error:
            return error.message
    return ""


def as_guards_see(made: LaunchMade, original: Modules) -> LaunchFacts:
    kernel = original[made.launch.kernel].functions[made.launch.kernel]

    def region(address: int) -> range | None:
        return next((r for r in made.regions if address in r), None)

    return facts_of(made.launch, kernel, region, made.variables)


def _counted(cases: Sequence[Reference], of: CaseSet) -> str:
    left_out = "; left out: " + ", ".join(f"{n} {why}" for why, n in of.dropped.items()) if of.dropped else ""
    return f"{plural(len(cases), 'case')}{left_out}"


def _examples(cases: Sequence[Reference]) -> str:
    step = max(1, len(cases) // 4)
    return "; ".join(one.case.name for one in cases[::step][:4])


def _why_none(found: CaseSet, workload: Workload, of_recordings: str) -> str:
    """``of_recordings``: what whoever has a recorded program can do."""
    if found.dropped:
        return "no case is left: " + ", ".join(f"{n} {why}" for why, n in found.dropped.items())
    if not found.references and workload.capture is not None:
        return of_recordings
    if not found.references and workload.generator is None:
        return "there are none: give the workload a generator, Workload(..., generator=function)"
    return "none of its cases is one for the changed kernels"


__all__ = ["Guards", "Prover", "Trial", "prove"]
