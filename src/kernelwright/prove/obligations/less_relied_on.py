"""A candidate that fell short of its proof, as it is when it relies on less: what a proof may find to hold of it in its place.

apart     launches whose buffers share no memory, as far as those in training had it so
masked    loads that were hoisted past the check of their address read a first element where they are not needed
blocks    launches in blocks of the shape that all those in training had: most programs have one, and a proof tries others
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.gene import Gene, by_kernel
from kernelwright.edits.genome import apply
from kernelwright.edits.kinds.loads.hoist_loads import HoistLoads
from kernelwright.edits.kinds.loads.hoist_masked_loads import masked
from kernelwright.edits.kinds.require_launch import RequireLaunch, guard_json
from kernelwright.edits.original import Original
from kernelwright.guards import BlockIs, LaunchFacts
from kernelwright.launch_relations import Product, Quantity, Relation
from kernelwright.prove.obligations.guard_search import buffers_apart

Genes = tuple[Gene, ...]
Launches = Mapping[str, Sequence[LaunchFacts]]


def relying_on_less(originals: Mapping[str, Original], candidate: Genes, launches: Launches) -> list[Genes]:
    """The candidates that rely on less, the one that changes least first; none where all is so already."""
    apart = _guarded(candidate, originals, launches, _buffers_apart)
    careful = masked_where_possible(originals, apart)
    found = [apart, careful]
    found += [_guarded(each, originals, launches, _blocks_as_seen) for each in (apart, careful)]
    return [each for each in dict.fromkeys(found) if each != candidate]


def masked_where_possible(originals: Mapping[str, Original], candidate: Genes) -> Genes:
    """The candidate with masked loads in place of those that rely on their address."""
    found = []
    for gene in candidate:
        mask = masked(gene.edit) if isinstance(gene.edit, HoistLoads) else None
        applies = mask is not None and not apply(originals[gene.kernel], [mask]).inert
        found.append(Gene(gene.kernel, mask) if applies and mask is not None else gene)
    return tuple(found)


_Guards = Callable[[Original, Sequence[Edit], Sequence[LaunchFacts]], Iterator[str]]


def _guarded(candidate: Genes, originals: Mapping[str, Original], launches: Launches, guards: _Guards) -> Genes:
    wanted = (
        Gene(kernel, RequireLaunch(guard))
        for kernel, edits in by_kernel(candidate).items()
        for guard in guards(originals[kernel], edits, launches.get(kernel, ()))
    )
    return tuple(dict.fromkeys([*candidate, *wanted]))


def _buffers_apart(original: Original, edits: Sequence[Edit], launches: Sequence[LaunchFacts]) -> Iterator[str]:
    asked = apply(original, edits).guards
    yield from (guard_json(guard) for guard in buffers_apart(original.function, launches) if guard not in asked)


def _blocks_as_seen(original: Original, edits: Sequence[Edit], launches: Sequence[LaunchFacts]) -> Iterator[str]:
    """The extents of blocks that all launches had alike."""
    if any(isinstance(guard, BlockIs) for guard in apply(original, edits).guards):
        return
    for axis in range(3):
        extents = {facts.launch.block[axis] for facts in launches}
        if len(extents) == 1:
            yield guard_json(Relation((Product(1, (Quantity("block", axis),)),), "==", (Product(min(extents)),)))
