"""The kinds of edits, a line each; what each one is stands in its own file.

The order is the one in which ``draw`` goes through them: to exchange two lines that are drawn by default changes what a seed draws.
"""

from __future__ import annotations

from kernelwright.edits.edit_kind import Edit, EditKind
from kernelwright.edits.kinds import (
    bound_argument,
    change_constant,
    constant_condition,
    copy,
    delete,
    delete_barrier,
    exchange_to_store,
    fast_math,
    fix_launch,
    move,
    narrow_barrier,
    no_alias,
    recipe,
    replace_instruction,
    replace_operand,
    require_launch,
    swap,
    unroll,
    warp_barriers,
)
from kernelwright.edits.kinds.arrays import private_cells
from kernelwright.edits.kinds.loads import cache_policy, collect_loads, collect_turns, hoist_loads, hoist_masked_loads

KINDS: tuple[EditKind, ...] = (
    constant_condition.KIND,
    delete_barrier.KIND,
    delete.KIND,
    replace_operand.KIND,
    change_constant.KIND,
    replace_instruction.KIND,
    move.KIND,
    copy.KIND,
    swap.KIND,
    no_alias.KIND,
    fix_launch.ARGUMENT,
    fix_launch.BLOCK,
    fix_launch.GRID,
    bound_argument.KIND,
    warp_barriers.KIND,
    unroll.KIND,
    recipe.KIND,
    hoist_loads.KIND,
    exchange_to_store.KIND,
    cache_policy.KIND,
    fast_math.KIND,
    require_launch.KIND,
    private_cells.KIND,
    hoist_masked_loads.KIND,
    collect_loads.KIND,
    narrow_barrier.KIND,
    collect_turns.KIND,
)
BY_NAME: dict[str, EditKind] = {kind.name: kind for kind in sorted(KINDS, key=lambda kind: kind.name)}
_BY_TYPE: dict[type, EditKind] = {kind.type: kind for kind in KINDS}


def row_of(edit: Edit) -> EditKind:
    """The row of an edit's kind."""
    return _BY_TYPE[type(edit)]
