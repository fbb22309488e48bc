"""A candidate's edits and guards in words: naming their places takes the original."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kernelwright.cuda.names import readable
from kernelwright.edits.edit_words import guard_in_words, in_words
from kernelwright.edits.instruction_words import describe_argument
from kernelwright.edits.original import Original
from kernelwright.errors import KernelwrightError
from kernelwright.evolution.genomes import GENOMES, EvolveRun, Genes, GenomeBuilder
from kernelwright.prove.obligations.obligation import Obligation


def edits_in_words(run: EvolveRun, candidate: Genes) -> list[str]:
    """A sentence for each edit; the edit as it is recorded where the original cannot be opened any more."""
    try:
        originals = GENOMES.of(run).originals
    except KernelwrightError:
        return [f"{readable(gene.kernel)}: {gene.edit}" for gene in candidate]
    words = [(gene.kernel, in_words(originals[gene.kernel], gene.edit)) for gene in candidate]
    return [f"{each.kind} in {readable(kernel)}: {each.sentence}" for kernel, each in words]


def obligations_in_words(run: EvolveRun, obligations: Sequence[Obligation]) -> list[str]:
    """A sentence for each obligation; with arguments by their numbers where the original cannot be opened any more."""
    try:
        originals = GENOMES.of(run).originals
    except KernelwrightError:
        originals = {}
    return [obligation_in_words(one, originals.get(one.kernel)) for one in obligations]


def obligation_in_words(obligation: Obligation, original: Original | None) -> str:
    """
    before   ``... (argument 3 = 7, bytes behind argument 0 = 64)``
    after    ``... (cols = 7, bytes behind in = 64)``
    """
    if original is None:
        return str(obligation)
    return _ARGUMENT.sub(lambda found: describe_argument(original, int(found[1])), str(obligation))


_ARGUMENT = re.compile(r"\bargument (\d+)\b")


def guards_in_words(builder: GenomeBuilder, candidate: Genes) -> tuple[str, ...]:
    """What must hold at a launch for a candidate to be used: ``advance: steps == 2``."""
    return tuple(
        f"{readable(kernel)}: {guard_in_words(builder.originals[kernel], guard)}"
        for kernel, guards in builder.build(candidate).guards.items()
        for guard in guards
    )


def guard_names(builder: GenomeBuilder, candidate: Genes) -> dict[str, str]:
    """By what a proof calls a guard, the same in words, as far as no two kernels have guards that it calls alike."""
    found: dict[str, set[str]] = {}
    for kernel, guards in builder.build(candidate).guards.items():
        for guard in guards:
            found.setdefault(str(guard), set()).add(guard_in_words(builder.originals[kernel], guard))
    return {raw: words.pop() for raw, words in found.items() if len(words) == 1}
