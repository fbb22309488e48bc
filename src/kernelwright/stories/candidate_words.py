"""A candidate's edits and guards in words: naming their places takes the original. And for which launches a variant is, the last
sentence of every command that says how much faster one is:

    v207 is proven for every launch of smooth where radius == 4 and block == 256 x 1 x 1; for others v209 (2.380x) is tried,
    then the original runs

Of a label that claims nothing beyond the data of its run, the sentence says that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from kernelwright.cuda.names import readable
from kernelwright.edits.edit_words import guard_in_words, in_words
from kernelwright.edits.instruction_words import describe_argument
from kernelwright.edits.original import Original
from kernelwright.errors import KernelwrightError
from kernelwright.evaluate.run.variant_run import Found
from kernelwright.evolution.genomes import GENOMES, EvolveRun, Genes, GenomeBuilder
from kernelwright.prove.obligations.obligation import Obligation
from kernelwright.report.selected_variant import label_of
from kernelwright.stories.winners import for_any_size


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


# -- for which launches --------------------------------------------------------------------------------------------------

CLAIMS = {
    "proven": "is proven for every launch of {}",
    "clean": "is tested, not proven, for launches of {}",
    "as safe as the original": "is tested, not proven, for launches of {}",
}
"""By label. Others claim nothing beyond the run's own data."""
NO_CLAIM = "was compared on the run's own data alone ({label}): nothing is claimed for other launches of {kernels}"


def valid_for(run: EvolveRun, found: Found[Genes]) -> str:
    """The sentence, without a full stop. It raises nothing for a run whose recordings are gone; then it says so."""
    if not found.candidate:
        return f"{found.name} is the original, for every launch"
    try:
        guards = _guards(run, found)
    except KernelwrightError as error:
        return f"for which launches {found.name} is cannot be said: {error.message}"
    second = for_any_size(run, found)
    later = f"{second.name} ({second.speedup:.3f}x)" if second is not None else ""
    kernels = tuple(dict.fromkeys(readable(gene.kernel) for gene in found.candidate))
    return sentence(found.name, label_of(run, found.name), by_kernel(kernels, guards), later)


def sentence(name: str, label: str, guards: Mapping[str, Sequence[str]], later: str = "") -> str:
    """``guards``: in words, by each kernel that is changed; ``later``: what is tried where they do not hold, before the original."""
    of = ", and of ".join(f"{kernel} where {_joined(asked)}" if asked else kernel for kernel, asked in guards.items())
    claim = CLAIMS[label].format(of) if label in CLAIMS else NO_CLAIM.format(label=label, kernels=of)
    if not any(guards.values()):
        return f"{name} {claim}"
    others = f"for others {later} is tried, then the original runs" if later else "for others the original runs"
    return f"{name} {claim}; {others}"


def by_kernel(kernels: Iterable[str], guards: Iterable[str]) -> dict[str, list[str]]:
    """
    before   ``("f", "g")``, ``("f: n == 4", "f: block == 64 x 1 x 1")``
    after    ``{"f": ["n == 4", "block == 64 x 1 x 1"], "g": []}``
    """
    found: dict[str, list[str]] = {kernel: [] for kernel in kernels}
    for guard in guards:
        # A template's name has colons of its own, without a space behind.
        kernel, _, asked = guard.partition(": ")
        found.setdefault(kernel, []).append(asked)
    return found


def _guards(run: EvolveRun, found: Found[Genes]) -> Sequence[str]:
    known = run.explained(found.name)
    return known["guards"] if known is not None else guards_in_words(GENOMES.of(run), found.candidate)


def _joined(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
