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

from collections.abc import Sequence
from contextlib import closing

from kernelwright.cuda.names import readable
from kernelwright.device.describe_access import plural
from kernelwright.device.schedule import Schedule
from kernelwright.evaluate.judging.case_runner import Modules
from kernelwright.evaluate.workload.workload import AnyCase, Workload
from kernelwright.prove.baseline import Baseline
from kernelwright.prove.changed_inputs.refuting_changes import Counterexample
from kernelwright.prove.checked_run import Device
from kernelwright.prove.checks.check_kind import Answer, Turn, not_run
from kernelwright.prove.checks.known_runs import KnownRuns
from kernelwright.prove.checks.table import CHECKS, in_turn
from kernelwright.prove.checks.variant_runs import CheckInputs, Trial, VariantRuns
from kernelwright.prove.coverage.accepted_changes import AcceptedChanges
from kernelwright.prove.domain import Guards
from kernelwright.prove.effort import Effort
from kernelwright.prove.evidence import Check, Evidence
from kernelwright.prove.labels import Label
from kernelwright.prove.proof import FELL_SHORT, SHOWN, Proof
from kernelwright.prove.speedup_ceiling import LIMIT


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
        processes: int = 1,
    ) -> None:
        """``held_out``, ``different``: cases besides those of the workload's generator. ``schedules``: in place of those
        that ``effort`` and ``seed`` make. ``sanitizer``: None where there is none; it is not run for the reason given then.
        ``processes``: that run the cases of a variant; its proof is the same with any number of them."""
        self.baseline = Baseline(
            workload,
            workload.modules() if original is None else original,
            schedules=schedules, seed=seed, held_out=held_out, different=different, effort=effort, device=device,
        )  # fmt: skip
        self.changes = AcceptedChanges(self.baseline)
        self.known = KnownRuns()
        self.processes = processes
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
        larger_data: Trial | None = None,
        counterexamples: Sequence[Counterexample] = (),
        least: Label | None = None,
    ) -> Proof:
        """The proof of a variant, given as the kernels it changes.

        ``guards``: launches outside the variant's domain of validity are left out. ``speedup``: of the variant, over the
        original; above ``ceiling`` (``too_good.ceiling``) it is suspicious, and more different cases are demanded.
        ``whole_program``: runs it with the variant in it; None where there is none. ``larger_data``: the same on more data
        than any case has; asked only where nothing else was found. ``counterexamples``: what refuted obligations, of
        this variant or of others; the check ``different`` tries them, too. ``least``: the worst label that is of any use: a proof that
        falls short of it ends there (``Proof.is_whole``).
        """
        inputs = CheckInputs(
            speedup=speedup, ceiling=ceiling, whole_program=whole_program, larger_data=larger_data, sanitizer=self.sanitizer,
            why_no_sanitizer=self.why_no_sanitizer, counterexamples=tuple(counterexamples), least=least,
        )  # fmt: skip
        with closing(self._runs(variant, guards, inputs)) as runs:
            answers = _answers(runs)
        checks = (Check(name, a.status, a.detail, tuple(a.evidence[:SHOWN])) for name, a in answers.items())
        return Proof(tuple(checks), self.baseline.seed, _notes(runs))

    def refuted(
        self, variant: Modules, counterexamples: Sequence[Counterexample], *, guards: Guards | None = None
    ) -> tuple[list[Evidence], int]:
        """What is wrong with a variant on inputs made of what refuted obligations, and how many of them the original accepts."""
        inputs = CheckInputs(counterexamples=tuple(counterexamples))
        with closing(self._runs(variant, guards, inputs)) as runs:
            cases = runs.inside([one for each in runs.refuting(inputs.counterexamples) for one in each.references])
            return [one for one in runs.on_different(cases) if one], len(cases)

    def _runs(self, variant: Modules, guards: Guards | None, inputs: CheckInputs) -> VariantRuns:
        return VariantRuns(self.baseline, self.changes, variant, guards or {}, inputs, self.known, self.processes)


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


def _answers(runs: VariantRuns) -> dict[str, Answer]:
    """Of every check, in the order of the table."""
    found: dict[str, Answer] = {}
    first_checks = [kind for kind in CHECKS.values() if kind.turn == Turn.TRAINING]
    for kind in in_turn():
        if kind.turn > Turn.TRAINING and any(found[first.name].status == "failed" for first in first_checks):
            found[kind.name] = not_run("it is not right on the training cases to begin with")
            continue
        if any(each.status == "failed" and runs.inputs.is_short(CHECKS[name].label) for name, each in found.items()):
            found[kind.name] = not_run(FELL_SHORT)
            continue
        if kind.turn == Turn.LARGER and any(each.status == "failed" for each in found.values()):
            found[kind.name] = not_run("something else was found already")
            continue
        answer = found[kind.name] = kind.make(runs)
        for name, other in answer.also.items():
            if found[name].status != "failed":
                found[name] = other
    return {name: found[name] for name in CHECKS}


def _notes(runs: VariantRuns) -> tuple[str, ...]:
    """What is to be known of the original, its cases, and the runs."""
    notes = [*runs.baseline.notes]
    if runs.outside:
        total = sum(runs.outside.values())
        lie = f"{plural(total, 'case')} {'lies' if total == 1 else 'lie'}"
        notes.append(f"{lie} outside what the variant is meant for ({', '.join(runs.outside)})")
    idle = runs.kernels - frozenset().union(*(one.kernels for one in runs.baseline.training))
    if idle:
        notes.append(f"no training case launches {', '.join(map(readable, sorted(idle)))}, which is changed too")
    if runs.incomplete:
        notes.append("some launches were too large for all their accesses to be followed")
    return tuple(notes)


__all__ = ["Guards", "Prover", "Trial", "prove"]
