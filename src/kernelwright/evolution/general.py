"""What holds for launches of one size only: what ``--general`` does not take.

A block whose shape the program chooses whatever the data (``dim3 block(16, 16)``) is no size: ``block == 16x16x1`` holds for all data
of that program. A kernel counts as such where launches on data of different sizes had the same block.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from kernelwright.edits.gene import Gene
from kernelwright.edits.kinds.fix_launch import FixBlock
from kernelwright.edits.kinds.require_launch import RequireLaunch, guard_of
from kernelwright.edits.table import row_of
from kernelwright.evaluate.run.variant_run import VariantRun
from kernelwright.guards import Guard, LaunchFacts
from kernelwright.launch_relations import Relation


def own_blocks(launches: Mapping[str, Sequence[LaunchFacts]]) -> tuple[str, ...]:
    """The kernels whose block has one shape in all these launches, though their grids or the sizes of their buffers differ."""
    return tuple(sorted(kernel for kernel, some in launches.items() if _has_own_block(some)))


def _has_own_block(launches: Sequence[LaunchFacts]) -> bool:
    sizes = {
        (facts.launch.grid, tuple(None if region is None else len(region) for region in facts.regions))
        for facts in launches
    }
    return len(sizes) > 1 and len({facts.launch.block for facts in launches}) == 1


def own_blocks_of(run: VariantRun[Any]) -> tuple[str, ...]:
    """The same of a run, as it noted when it began."""
    return tuple(next((event.data["kernels"] for event in run.journal.events("own blocks")), ()))


def fixes_launch(candidate: object, own: Container[str] = ()) -> bool:
    """Whether a gene of the candidate fixes what launches differ by: as a constant, or by a guard that asks for one value. ``own``: the
    kernels whose block is the program's own (``own_blocks``)."""
    genes = candidate if isinstance(candidate, tuple) else ()
    return any(isinstance(gene, Gene) and _fixes(gene, gene.kernel in own) for gene in genes)


def _fixes(gene: Gene, has_own_block: bool) -> bool:
    if isinstance(gene.edit, RequireLaunch):
        guard = guard_of(gene.edit.guard)
        return is_equality(guard) and not (has_own_block and _is_about_blocks(guard))
    return row_of(gene.edit).fixes_launch and not (has_own_block and isinstance(gene.edit, FixBlock))


def _is_about_blocks(guard: Guard) -> bool:
    return isinstance(guard, Relation) and all(
        quantity.source == "block"
        for side in (guard.left, guard.right)
        for product in side
        for quantity in product.quantities
    )


def is_equality(guard: Guard) -> bool:
    """Whether a guard asks for one value of something: ``n == 1024``. ``n == 16 * grid.x`` holds for every size."""
    if not isinstance(guard, Relation) or guard.comparison != "==":
        return False
    return any(all(not product.quantities for product in side) for side in (guard.left, guard.right))
