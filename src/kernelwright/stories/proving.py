"""Proofs of a run's variants, made in worker processes, and what is kept of a variant that does not stand up to its proof.

with Proofs(run) as proofs:
    proof = proofs.of(candidate, speedup)          # prove.Proof
    meets(proof.label, "clean")
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Generic, TypeAlias

from kernelwright.device.settings import virtual_gpu
from kernelwright.errors import KernelwrightError, ToolError
from kernelwright.evaluate.candidate import C, VariantKind
from kernelwright.evaluate.judging.case_runner import Modules
from kernelwright.evaluate.judging.fitness import Fitness
from kernelwright.evaluate.judging.variant import Built
from kernelwright.evaluate.judging.whole_program import WholeProgram
from kernelwright.evaluate.outcome import Outcome
from kernelwright.evaluate.run.variant_run import VariantRun
from kernelwright.evaluate.workload.subject import Recordings, Subject
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.evolution.general import fixes_launch, own_blocks_of
from kernelwright.farm import Lost, Pool, Raised
from kernelwright.farm.machine import available_cores
from kernelwright.prove.changed_inputs.refuting_changes import Counterexample
from kernelwright.prove.checks.table import CHECKS
from kernelwright.prove.domain import training_facts
from kernelwright.prove.evidence import Check, Evidence
from kernelwright.prove.gpu_cases import LONGEST_S, Watched
from kernelwright.prove.labels import LABELS, Label
from kernelwright.prove.obligations.obligation import Obligation, obligation_from_json
from kernelwright.prove.proof import Proof, evidence_from_json, proof_from_json
from kernelwright.prove.prover import Prover
from kernelwright.prove.speedup_ceiling import ceiling
from kernelwright.stories.obligations import Launches, Obligations

TIMEOUT_S = 600.0
ASKED = "it takes minutes: kw prove --again makes it, where there is a GPU"

WORST: dict[str, Label] = {
    "proven": "proven",
    "clean": "clean",
    "safe": "as safe as the original",
    "benign": "benign",
    "lockstep": "lock-step only",
    "any": "data-specific",
}
"""By what was demanded, the worst label that meets it."""


_Asked: TypeAlias = tuple[str, C, float, tuple[Counterexample, ...], Label | None]
"""What is asked, of which candidate; its speed-up, what refuted obligations, and the worst label that is of any use."""


def _least(accept: str) -> Label | None:
    """The worst label that tests can give what is demanded. What is proven has passed as clean does; of what may be anything, all is of
    interest."""
    return None if accept == "any" else "clean" if accept == "proven" else WORST[accept]


def meets(label: Label, accept: str) -> bool:
    """Whether a label is as good as was demanded."""
    return LABELS.index(label) <= LABELS.index(WORST[accept])


class Proofs(Generic[C]):
    """Proves variants of one run, one at a time. Close it, or use it as a context manager."""

    def __init__(self, run: VariantRun[C], *, jobs: int | None = None, sanitizer: bool = False) -> None:
        """``jobs``: processes that run the cases of a variant (None: one per core). ``sanitizer``: also under NVIDIA's checker, where
        there is a GPU; that takes minutes."""
        settings = run.settings
        timeout_s = TIMEOUT_S + (LONGEST_S if sanitizer else 0.0)
        processes = min(jobs or available_cores(), available_cores())
        asked = (run.subject, run.kind, settings.virtual, settings.seed, sanitizer, processes)
        self._seed, self._general, self._own_blocks = settings.seed, settings.general, own_blocks_of(run)
        self._pool = Pool(_setup, asked, workers=1, timeout_s=timeout_s)
        self._counterexamples = counterexamples_of(run)
        self._launches: Launches = {}
        self._obligations = Obligations(run.subject, run.kind, settings.virtual)

    def of(self, candidate: C, speedup: float, *, accept: str = "any") -> Proof:
        """The proof of a candidate. Raises ``Misuse`` for an original that proves nothing, ``ToolError`` when it cannot be made.

        ``accept``: what is demanded of it; a proof that falls short of it ends there. One that ends the process it is run in, twice, is
        wrong: what would come of it elsewhere it is unknown.
        """
        found = self._asked("proof", candidate, speedup, _least(accept))
        if isinstance(found, Lost):
            return _wrong(f"while it was proven, {found.reason}", self._seed)
        proof, self._launches = proof_from_json(found["proof"]), found["launches"]
        if proof.label != "clean":
            return proof  # nothing that it owes could make it more
        proof = replace(proof, obligations=tuple(self._obligations.of(candidate, found["launches"])))
        return self._tried(proof, candidate, speedup)

    def _tried(self, proof: Proof, candidate: C, speedup: float) -> Proof:
        """The proof, after the variant was run on what refutes its obligations; every later candidate is run on that, too."""
        known = set(self._counterexamples)
        new = [each for each in dict.fromkeys(counterexamples_in(proof.obligations)) if each not in known]
        if not new:
            return proof
        self._counterexamples += new
        found = self._asked("refuted", candidate, speedup)
        if isinstance(found, Lost):
            return _wrong(f"on what refutes an obligation, {found.reason}", self._seed)
        return proof.refuted([evidence_from_json(each) for each in found["wrong"]])

    def _asked(self, what: str, candidate: C, speedup: float, least: Label | None = None) -> Lost | dict[str, Any]:
        """What the worker says; that it ended, twice, where the candidate ends it."""
        ((_, found),) = list(self._pool.map([(what, candidate, speedup, tuple(self._counterexamples), least)]))
        if isinstance(found, Lost) and found.stage != "crash":
            raise ToolError(f"the proof cannot be made: {found}", hint="evolve it on smaller inputs")
        if isinstance(found, Raised):
            if isinstance(found.error, KernelwrightError):
                raise found.error
            raise ToolError(f"proving failed: {found.reason}", hint="report it with the run") from found.error
        answer: Lost | dict[str, Any] = found
        return answer

    def provable(self, candidate: C) -> C | None:
        """What of a candidate can be proven for all launches, with the guards that this takes; None for nothing."""
        found = self._obligations.provable(candidate, self._launches)
        return None if self._general and found is not None and self.fixes_launch(found) else found

    def relying_on_less(self, candidate: C) -> list[C]:
        """What the candidate that was proven last is when it relies on less, in the order of trying."""
        found = self._obligations.relying_on_less(candidate, self._launches)
        return [each for each in found if not (self._general and self.fixes_launch(each))]

    def fixes_launch(self, candidate: object) -> bool:
        """Whether the candidate holds for data of one size only; the blocks that the program chooses whatever the data are no size."""
        return fixes_launch(candidate, self._own_blocks)

    def masked(self, candidate: C) -> C | None:
        """The candidate with masked loads in place of those that rely on their address; None where it has none."""
        return next(iter(self._obligations.masked(candidate)), None)

    def close(self) -> None:
        """Ends the worker processes."""
        self._pool.close()
        self._obligations.close()

    def __enter__(self) -> Proofs[C]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _setup(
    subject: Subject, kind: VariantKind[C], device: str, seed: int, sanitizer: bool, processes: int
) -> Callable[[_Asked[C]], dict[str, Any]]:
    workload = subject.workload()
    builder = kind.builder(workload.modules(), virtual_gpu(device).arch)
    held_out = subject.held_out() if isinstance(subject, Recordings) else ()
    # Flags are an optimisation of the same source: the original of a proof is the program as its user compiles it.
    given = kind.builder(workload.given_modules(), virtual_gpu(device).arch) if workload.optimised else builder
    originals = given.build(kind.original).modules
    watched, why_not = _watched(subject, originals) if sanitizer else (None, ASKED)
    prover = Prover(
        workload, originals, seed=seed, held_out=held_out, sanitizer=watched, why_no_sanitizer=why_not,
        processes=processes,
    )  # fmt: skip
    whole, not_run = _whole(subject, device, workload)
    larger = LargerTrial(subject, device, workload)
    estimates, weights = zip(*Fitness(workload, virtual_gpu(device), kind=kind).estimates(), strict=True)
    most = ceiling(estimates, weights)
    launches = training_facts(prover.baseline)

    def work(asked: _Asked[C]) -> dict[str, Any]:
        what, candidate, speedup, counterexamples, least = asked
        variant = builder.build(candidate)
        changed = {name: built.module for name, built in variant.kernels.items() if name in variant.changed}
        if what == "refuted":
            wrong, _ = prover.refuted(changed, counterexamples, guards=variant.guards)
            return {"wrong": [one.as_json() for one in wrong]}
        kernels = {name: variant.kernels[name] for name in changed}
        trial = None
        if whole is not None:
            trial = functools.partial(_trial, whole, kernels)
        elif not_run:
            trial = functools.partial(_no_trial, not_run)
        proof = prover.prove(
            changed, guards=variant.guards, speedup=speedup, ceiling=most, whole_program=trial,
            larger_data=functools.partial(larger.trial, kernels) if larger.program is not None else None,
            counterexamples=counterexamples, least=least,
        )  # fmt: skip
        return {"proof": proof.as_json(), "launches": launches}

    return work


def counterexamples_in(obligations: Iterable[Obligation]) -> Iterator[Counterexample]:
    """What refuted those that were refuted."""
    for one in obligations:
        if one.counterexample:
            yield Counterexample(one.kernel, one.counterexample)


def counterexamples_of(run: VariantRun[C]) -> list[Counterexample]:
    """Those of all proofs that a run has noted, so that a run that is resumed goes on with them."""
    noted = (event.data.get("obligations", ()) for event in run.journal.events("proof"))
    owed = (obligation_from_json(one) for some in noted for one in some)
    return list(dict.fromkeys(counterexamples_in(owed)))


def _trial(whole: WholeProgram, kernels: Mapping[str, Built], _: Modules) -> Outcome:
    """The whole program with these kernels in it."""
    return whole.judge(kernels)


class LargerTrial:
    """The whole program on more data, run as it is once the first variant is tried on it: that takes as long as many cases."""

    def __init__(self, subject: Subject, device: str, workload: Workload) -> None:
        larger = subject.larger if isinstance(subject, Recordings) else None
        self.program = None if larger is None else larger.program
        self._gpu, self._rules = virtual_gpu(device).name, workload.rules
        self._whole: WholeProgram | None = None

    def trial(self, kernels: Mapping[str, Built], _: Modules) -> Outcome:
        """It with these kernels inside. Raises ``Misuse`` where it does not run as it is, ``ToolError`` where it cannot be run again."""
        assert self.program is not None
        if self._whole is None:
            if self.program.trouble:
                raise ToolError(self.program.trouble)
            self._whole = WholeProgram(self.program, self._gpu, self._rules)
        return self._whole.judge(kernels)


def _no_trial(why: str, _: Modules) -> Outcome:
    """Raises ``ToolError``: what the proof says in place of the trial."""
    raise ToolError(why)


def _wrong(why: str, seed: int) -> Proof:
    """The proof of a variant that could not be run to its end."""
    failed = Check("training", "failed", why, (Evidence(why, "fault"),))
    rest = [Check(name, "not run", "it ends the process that runs it") for name in CHECKS if name != "training"]
    return Proof((failed, *rest), seed)


def _watched(subject: Subject, originals: Modules) -> tuple[Watched | None, str]:
    """The cases under compute-sanitizer, or why there is none here."""
    try:
        return Watched(subject, originals), ""
    except KernelwrightError as error:
        return None, error.message


def _whole(subject: Subject, device: str, workload: Workload) -> tuple[WholeProgram | None, str]:
    """The whole program, where there is one, and why it cannot be run again, where it cannot."""
    program = subject.program if isinstance(subject, Recordings) else None
    if program is None:
        return None, ""
    if program.trouble:
        return None, program.trouble
    return WholeProgram(program, virtual_gpu(device).name, workload.rules), ""
