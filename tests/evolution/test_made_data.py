"""Data sets of other sizes made from a program's arguments, and what is good for one size only."""

from pathlib import Path

import pytest

from kernelwright.edits.gene import Gene
from kernelwright.edits.kinds.fix_launch import FixArgument, FixBlock
from kernelwright.edits.kinds.require_launch import RequireLaunch, guard_json
from kernelwright.edits.kinds.unroll import Unroll
from kernelwright.evolution.general import fixes_launch
from kernelwright.evolution.made_data import DOUBLED, HALVED, ODD, changed, places
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


def test_nothing_general_is_known_of_fixed_sizes(tmp_path: Path) -> None:
    from kernelwright.edits.gene_draw import known_edits
    from kernelwright.edits.original import Original
    from kernelwright.guards import LaunchFacts
    from kernelwright.ir import parse_module
    from kernelwright.launch import Launch

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
    facts = LaunchFacts(Launch("k", (1, 1, 1), (64, 1, 1), 0, b""), (b"\0" * 8, (7).to_bytes(4, "little")))
    fixed = {"FixArgument", "FixBlock", "FixGrid"}
    usual = {type(edit).__name__ for edit in known_edits({"k": original}, {"k": [facts]})["k"]}
    general = {type(edit).__name__ for edit in known_edits({"k": original}, {"k": [facts]}, general=True)["k"]}
    assert {"FixArgument", "FixBlock"} <= usual and not general & fixed and general == usual - fixed
