"""A variant down to the edits that matter: delta debugging (``search/minimise.py``) on a run's own answers."""

from __future__ import annotations

from typing import Any

from kernelwright.edits.kinds.require_launch import RequireLaunch
from kernelwright.errors import Misuse
from kernelwright.evaluate.run.variant_answers import VariantAnswers
from kernelwright.evaluate.run.variant_run import Found
from kernelwright.evolution.genomes import EvolveRun, Genes
from kernelwright.search import Minimise
from kernelwright.stories.explain import answered


def minimise(run: EvolveRun, name: str, *, jobs: int | None = None) -> Found[Genes]:
    """The variant with the fewest edits that is not slower by more than a tie; every single one of them matters.

    The run is open for writing; what is tried is recorded there. Raises ``Misuse`` for a variant that the run's own demands
    rejected: it cannot be judged.
    """
    found = run.variant(name)
    if not found.candidate:
        raise Misuse(f"{found.name} is the original: it has no edits", hint=f"kw show {run.folder}")
    # Guards cost no time; what is proven is proven with them.
    strategy: Minimise[Any] = Minimise(found.candidate, keep=lambda gene: isinstance(gene.edit, RequireLaunch))
    with VariantAnswers(run, jobs) as answers:
        answers.reference()
        try:
            answered(strategy, answers, run, "minimise")
        except ValueError as error:
            raise Misuse(
                f"{found.name} cannot be minimised: {error}", hint="evolve with --accept any to keep such variants"
            ) from error
        assert strategy.result is not None
        (answer,) = answers.of([strategy.result.candidate], "minimise", 0)
    small = run.variant(f"v{answer.row}")
    # What a run stands for is what was left of its best; of any other variant it is just that.
    is_best = run.best is not None and run.best.name == found.name and not run.journal.events("salvaged")
    run.journal.note(
        "minimised" if is_best else "reduced",
        {"name": small.name, "variant": small.name, "from": found.name, "of": len(found.candidate)},
    )
    return small
