"""Genes to try: drawn at random on what a candidate has become, or listed one by one.

known = known_edits(originals, launches)                           # what all training launches had alike
for gene in listed(originals, weights, known): ...                 # the most promising first
gene = draw_gene(originals, random, candidate, weights=weights, known=known)
"""

from __future__ import annotations

import random as rng
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from kernelwright.edits.draft import Draft
from kernelwright.edits.draw import OPERATORS, draw
from kernelwright.edits.edit_kind import Edit, Listing
from kernelwright.edits.gene import Gene
from kernelwright.edits.genome import apply
from kernelwright.edits.original import Id, Original
from kernelwright.edits.table import KINDS
from kernelwright.guards import LaunchFacts

Weights = Mapping[str, Mapping[Id, float]]
"""By kernel, by number of an original instruction: the cycles it took, or whatever else should draw edits to it."""
Known = Mapping[str, Sequence[Edit]]
"""By kernel: edits that hold for every training launch."""
State = Original | Draft
"""A kernel to draw an edit for: as it was, or as edits left it."""
AT_ONCE = 8
"""Edits of one kind in a kernel, of those that are known, that are listed before other kinds have had their turn: a kernel may have
thirty barriers (``docs/decisions/0027-no-kind-fills-the-scan.md``)."""


def draw_gene(
    originals: Mapping[str, Original],
    random: rng.Random,
    genes: Iterable[Gene] = (),
    *,
    weights: Weights | None = None,
    operators: Mapping[str, float] = OPERATORS,
    known: Known | None = None,
    shares: Mapping[str, float] | None = None,
    state: Callable[[Original, tuple[Edit, ...]], State] | None = None,
) -> Gene | None:
    """A gene that applies to the candidate ``genes``, copies that it made included; None when none does.

    A kernel is drawn by its share of the candidate's time (``shares``), else by the sum of its weights (without weights: by
    its size); one without any is never drawn. Nothing is tried out: the same random numbers, candidate, weights and shares
    always give the same gene. ``state``: a kernel with edits, where it was kept.
    """
    candidate = list(genes)
    left = {name: _weight(name, original, weights) for name, original in originals.items()}
    if shares is not None:
        left = {name: shares.get(name, 0.0) if weight else 0.0 for name, weight in left.items()}
    while any(left.values()):
        kernel = random.choices(list(left), list(left.values()))[0]
        edit = draw(
            (state or with_edits)(originals[kernel], tuple(g.edit for g in candidate if g.kernel == kernel)),
            random,
            weights=None if weights is None else weights.get(kernel, {}),
            operators=operators,
            known=() if known is None else known.get(kernel, ()),
        )
        if edit is not None:
            return Gene(kernel, edit)
        del left[kernel]
    return None


def known_edits(
    originals: Mapping[str, Original], launches: Mapping[str, Iterable[LaunchFacts]]
) -> dict[str, list[Edit]]:
    """By kernel: what held in all its launches, as edits that keep the meaning wherever it holds again. A kernel that was
    never launched has none."""
    found: dict[str, list[Edit]] = {}
    for name, original in originals.items():
        seen = list(launches.get(name, ()))
        found[name] = [edit for kind in KINDS if kind.known is not None for edit in kind.known(original, seen)]
    return found


def listed(
    originals: Mapping[str, Original],
    weights: Weights | None = None,
    known: Known | None = None,
) -> Iterator[Gene]:
    """Every single gene that can be listed, the most promising first: what is known of all launches, then the listings of kinds that keep
    the meaning, then those of all others, by their rank. Of what is known, a kind that has more than ``AT_ONCE`` edits in a kernel leaves
    its others for behind the listings that keep the meaning.

    Within a kind those of the costliest instructions come first; with weights, those that weigh nothing are left out.
    Copies, replacements, swaps and other moves are drawn; cache policies and fast-math flags are in ``cache_policies`` and
    ``fast_math``.
    """
    first, others = _known_genes(originals, known or {})
    yield from first
    for keeps_meaning, listings in groupby(LISTED, key=lambda each: each[0]):
        for _, listing in listings:
            yield from _by_weight(originals, listing.edits, weights)
        if keeps_meaning:
            yield from others


def _known_genes(originals: Mapping[str, Original], known: Known) -> tuple[list[Gene], list[Gene]]:
    """Those to begin with, and those that a kind has besides in a kernel."""
    first: list[Gene] = []
    others: list[Gene] = []
    for name in originals:
        count = Counter[str]()
        for gene in (Gene(name, edit) for edit in known.get(name, ())):
            count[gene.kind] += 1
            (first if count[gene.kind] <= AT_ONCE else others).append(gene)
    return first, others


LISTED: tuple[tuple[bool, Listing], ...] = tuple(
    sorted(
        ((kind.keeps_meaning, one) for kind in KINDS for one in kind.listed),
        key=lambda each: (not each[0], each[1].rank),
    )
)
"""What can be listed, the most promising first: what kinds that keep the meaning find is nearly always accepted. With each, whether
its kind does."""


def _by_weight(
    originals: Mapping[str, Original], candidates: Callable[[Original], Iterator[Edit]], weights: Weights | None
) -> list[Gene]:
    found: list[tuple[float, Gene]] = []
    for name, original in originals.items():
        own = None if weights is None else weights.get(name, {})
        for edit in candidates(original):
            place = _place(edit)
            weight = 1.0 if own is None else sum(own.values()) if place is None else own.get(place, 0.0)
            if weight:
                found.append((weight, Gene(name, edit)))
    found.sort(key=lambda pair: -pair[0])  # stable: alike ones stay in the kernel's order
    return [gene for _, gene in found]


def _place(edit: Edit) -> Id | None:
    """The instruction an edit is about; None when it is about all of the kernel."""
    place: Id | None = getattr(edit, "subject", None)
    return getattr(edit, "user", None) if place is None else place


def _weight(name: str, original: Original, weights: Weights | None) -> float:
    return float(len(original.nodes)) if weights is None else float(sum(weights.get(name, {}).values()))


def with_edits(original: Original, edits: tuple[Edit, ...]) -> State:
    """What ``draw`` draws on."""
    return apply(original, edits).draft if edits else original
