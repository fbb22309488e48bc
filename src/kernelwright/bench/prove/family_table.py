"""The families, a line each."""

from __future__ import annotations

from kernelwright.bench.prove.families import (
    block_shape,
    check_never_binds,
    data_property,
    device_variable,
    element_assumed,
    launch_dimension,
    loop_not_empty,
    many_turns,
    nothing_compared,
    overflow,
    start_value,
    struct_field,
)
from kernelwright.bench.prove.families.between_threads import (
    fence_order,
    same_values,
    shared_work,
    warp_for_block,
    whole_warps,
)
from kernelwright.bench.prove.families.family import Family
from kernelwright.bench.prove.families.memory import (
    meeting_accesses,
    other_memory,
    pointers_and_flags,
    restricted,
    shared_buffers,
    unneeded_indexes,
)

FAMILIES: tuple[Family, ...] = (
    launch_dimension.FAMILY,
    block_shape.FAMILY,
    device_variable.FAMILY,
    struct_field.FAMILY,
    pointers_and_flags.FAMILY,
    other_memory.FAMILY,
    loop_not_empty.FAMILY,
    many_turns.FAMILY,
    element_assumed.FAMILY,
    check_never_binds.FAMILY,
    data_property.FAMILY,
    overflow.FAMILY,
    start_value.FAMILY,
    nothing_compared.FAMILY,
    fence_order.FAMILY,
    restricted.FAMILY,
    shared_buffers.FAMILY,
    meeting_accesses.FAMILY,
    unneeded_indexes.FAMILY,
    same_values.FAMILY,
    shared_work.FAMILY,
    whole_warps.FAMILY,
    warp_for_block.FAMILY,
)
