"""What a candidate that fell short is tried as: buffers apart, loads masked, blocks as they were in training."""

from __future__ import annotations

import struct

from kernelwright.edits import LaunchFacts
from kernelwright.edits.gene import Gene
from kernelwright.edits.kinds.fix_launch import FixBlock
from kernelwright.edits.kinds.loads.hoist_loads import HoistLoads
from kernelwright.edits.kinds.loads.hoist_masked_loads import HoistMaskedLoads
from kernelwright.edits.kinds.require_launch import RequireLaunch, guard_of
from kernelwright.launch import Launch
from kernelwright.prove.obligations.less_relied_on import Genes, masked_where_possible, relying_on_less
from tests.edits.conftest import kernel
from tests.edits.test_hoist_loads import DECLARED
from tests.edits.test_hoist_masked_loads import D_END, LOOKUP, PARAMETERS

ORIGINAL = kernel(LOOKUP, DECLARED, PARAMETERS.replace("ptr %p, ptr %q", "ptr readonly %p, ptr readonly %q"))
ORIGINALS = {"k": ORIGINAL}
HOIST, MASKED = Gene("k", HoistLoads(D_END)), Gene("k", HoistMaskedLoads(D_END))


def launch(block: int, overlap: bool = False) -> LaunchFacts:
    p, q, out = 1 << 20, 2 << 20, 3 << 20
    arguments = (*(struct.pack("<Q", each) for each in (p, q)), struct.pack("<i", 9), struct.pack("<Q", out))
    regions = (range(p, p + 256), range(q, q + 256), None, range(p if overlap else out, out + 256))
    return LaunchFacts(Launch("k", (1, 1, 1), (block, 1, 1)), arguments, regions)


def tried(candidate: Genes, *launches: LaunchFacts) -> list[tuple[list[Gene], list[str]]]:
    """By candidate: its edits, and the guards that came to them."""
    found = []
    for each in relying_on_less(ORIGINALS, candidate, {"k": launches}):
        guards = [str(guard_of(gene.edit.guard)) for gene in each if isinstance(gene.edit, RequireLaunch)]
        found.append(([gene for gene in each if not isinstance(gene.edit, RequireLaunch)], guards))
    return found


def test_the_one_that_changes_least_comes_first() -> None:
    apart = ["argument 3 shares no memory"]
    block = [f"block.{axis} == {extent}" for axis, extent in zip("xyz", (64, 1, 1), strict=True)]
    assert tried((HOIST,), launch(64), launch(64)) == [
        ([HOIST], apart),
        ([MASKED], apart),
        ([HOIST], apart + block),
        ([MASKED], apart + block),
    ]


def test_what_launches_had_otherwise_is_not_asked_for() -> None:
    assert tried((HOIST,), launch(64, overlap=True), launch(32))[0] == ([MASKED], [])
    assert tried((HOIST,), launch(64, overlap=True), launch(32))[1][1] == ["block.y == 1", "block.z == 1"]


def test_what_is_asked_already_is_not_asked_again() -> None:
    fixed = Gene("k", FixBlock((64, 1, 1)))
    (apart,) = tried((MASKED, fixed), launch(64))
    assert apart == ([MASKED, fixed], ["argument 3 shares no memory"])
    assert tried((MASKED, fixed), launch(64, overlap=True)) == []


def test_only_what_can_be_masked_is() -> None:
    """The block that ends with instruction 7 has no load."""
    other = Gene("k", HoistLoads(7))
    assert masked_where_possible(ORIGINALS, (other, HOIST)) == (other, MASKED)
