"""What holds for launches of one size only: what ``--general`` does not take."""

from __future__ import annotations

from kernelwright.edits.gene import Gene
from kernelwright.edits.kinds.require_launch import RequireLaunch, guard_of
from kernelwright.edits.table import row_of
from kernelwright.guards import Guard
from kernelwright.launch_relations import Relation


def fixes_launch(candidate: object) -> bool:
    """Whether a gene of the candidate fixes what launches differ by: as a constant, or by a guard that asks for one value."""
    genes = candidate if isinstance(candidate, tuple) else ()
    return any(isinstance(gene, Gene) and _fixes(gene) for gene in genes)


def _fixes(gene: Gene) -> bool:
    if isinstance(gene.edit, RequireLaunch):
        return is_equality(guard_of(gene.edit.guard))
    return row_of(gene.edit).fixes_launch


def is_equality(guard: Guard) -> bool:
    """Whether a guard asks for one value of something: ``n == 1024``. ``n == 16 * grid.x`` holds for every size."""
    if not isinstance(guard, Relation) or guard.comparison != "==":
        return False
    return any(all(not product.quantities for product in side) for side in (guard.left, guard.right))
