"""Data sets of other sizes made from a program's arguments, and what is good for one size only."""

import pytest

from kernelwright.edits.gene import Gene
from kernelwright.edits.gene_draw import known_edits
from kernelwright.edits.kinds.fix_launch import FixArgument, FixBlock, FixGrid
from kernelwright.edits.kinds.require_launch import RequireLaunch, guard_json
from kernelwright.edits.kinds.unroll import Unroll
from kernelwright.edits.original import Original
from kernelwright.evolution.general import fixes_launch, own_blocks
from kernelwright.evolution.made_data import DOUBLED, HALVED, ODD, changed, places
from kernelwright.guards import LaunchFacts
from kernelwright.ir import parse_module
from kernelwright.launch import Launch
from kernelwright.launch_relations import Product, Quantity, Relation


def test_integers_that_may_be_sizes_are_whole_words_or_stand_behind_a_name() -> None:
    arguments = ["512", "2", "temp_512", "-n=100", "--rows=2048", "0x40", "-5", "3.5", "007"]
    assert places(arguments) == [0, 3, 4]


@pytest.mark.parametrize(
    ("how", "first", "named"), [(HALVED, "256", "-n=50"), (ODD, "385", "-n=75"), (DOUBLED, "1024", "-n=200")]
)
def test_one_integer_changes_and_all_else_stays(how: str, first: str, named: str) -> None:
    arguments = ("512", "2", "in.txt", "-n=100")
    assert changed(arguments, 0, how).words == (first, "2", "in.txt", "-n=100")
    assert changed(arguments, 3, how).words == ("512", "2", "in.txt", named)


def test_what_asks_for_one_value_is_good_for_one_size() -> None:
    n, blocks = (Product(1, (Quantity("argument", 0),)),), (Product(16, (Quantity("grid", 0),)),)
    fixed = Relation(n, "==", (Product(1024),))
    assert fixes_launch((Gene("k", RequireLaunch(guard_json(fixed))),))
    for general in (Relation(n, "==", blocks), Relation(n, ">=", (Product(1024),))):
        assert not fixes_launch((Gene("k", RequireLaunch(guard_json(general))), Gene("k", Unroll(3, 4))))
    assert fixes_launch((Gene("k", Unroll(3, 4)), Gene("k", FixBlock((16, 16, 1)))))
    assert fixes_launch((Gene("k", FixArgument(0, "i32 4")),)) and not fixes_launch(())


def launched(block: int, grid: int, bytes_behind: int = 4096) -> LaunchFacts:
    address = 1 << 20
    arguments = (address.to_bytes(8, "little"), (7).to_bytes(4, "little"))
    launch = Launch("k", (grid, 1, 1), (block, 1, 1), 0, b"")
    return LaunchFacts(launch, arguments, (range(address, address + bytes_behind), None))


@pytest.mark.parametrize(
    ("launches", "own"),
    [
        ([launched(64, 4), launched(64, 8)], True),
        ([launched(64, 1, 4096), launched(64, 1, 8192)], True),  # one block that goes through all of it
        ([launched(64, 4), launched(64, 4)], False),  # one size of data: nobody knows what the block is on another
        ([launched(64, 4), launched(128, 8)], False),
        ([], False),
    ],
)
def test_a_block_that_other_data_do_not_change_is_the_programs_own(launches: list[LaunchFacts], own: bool) -> None:
    assert own_blocks({"k": launches}) == (("k",) if own else ())


def test_a_block_of_the_programs_own_is_no_size() -> None:
    block, grid = (Product(1, (Quantity("block", 0),)),), (Product(1, (Quantity("grid", 0),)),)
    asks = [Gene("k", RequireLaunch(guard_json(Relation(one, "==", (Product(16),))))) for one in (block, grid)]
    fixed = Gene("k", FixBlock((16, 16, 1)))
    assert not fixes_launch((fixed, asks[0]), ("k",))
    assert fixes_launch((fixed,), ("other",)) and fixes_launch((asks[0],))
    assert fixes_launch((asks[1],), ("k",)) and fixes_launch((Gene("k", FixGrid((4, 1, 1))),), ("k",))
    assert fixes_launch((Gene("k", FixArgument(0, "i32 4")),), ("k",))


def test_what_is_known_of_fixed_sizes_is_not_general() -> None:
    text = """target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr %p, i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %s = add i32 %t, %n
  store i32 %s, ptr %p
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
"""
    original = Original(parse_module(text), "k")
    facts = launched(64, 1)
    fixed = {"FixArgument", "FixBlock", "FixGrid"}
    known = known_edits({"k": original}, {"k": [facts]})["k"]
    usual = {type(edit).__name__ for edit in known}
    general = {type(edit).__name__ for edit in known if not fixes_launch((Gene("k", edit),))}
    assert {"FixArgument", "FixBlock"} <= usual and not general & fixed and general == usual - fixed
