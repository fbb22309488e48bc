"""Copies of modules and functions."""

from __future__ import annotations

import pytest

from kernelwright.ir import clone_function, clone_module, parse_module, print_module, verify
from kernelwright.ir.constants import ConstantExpr
from kernelwright.ir.module import Instruction
from tests.ir.compare import difference
from tests.ir.llvm import RAW, optimised, parsed, ptx, read
from tests.ir.uses import check_uses


@pytest.mark.parametrize("name", [*RAW, "syntax", "stencil.o3"])
def test_a_copy_says_the_same_and_shares_nothing_that_changes(name: str) -> None:
    module = parse_module(read(name))
    before = print_module(module)
    copy, twins = clone_module(module)
    assert difference(module, copy) == "" and print_module(copy) == before
    verify(copy)
    check_uses(copy)
    for function in copy.definitions:
        for i in list(function.instructions()):
            i.metadata.clear()
            i.erase()
    copy.metadata.clear()
    assert print_module(module) == before
    check_uses(module)
    originals = {id(i) for f in module.functions.values() for i in f.instructions()}
    assert all(id(twins[i]) not in originals for f in module.functions.values() for i in f.instructions())


def test_twins_lead_from_the_old_to_the_new() -> None:
    module = parse_module(read("control"))
    copy, twins = clone_module(module)
    for function in module.functions.values():
        assert twins[function] is copy.functions[function.name]
        for old, new in zip(function.instructions(), copy.functions[function.name].instructions(), strict=True):
            assert twins[old] is new and isinstance(new, Instruction)


def test_expressions_are_copied_with_their_globals() -> None:
    module = parse_module(read("stencil.o3"))
    copy, _ = clone_module(module)
    tile = next(g for g in copy.globals.values() if g.address_space == 3)
    assert tile.users and all(isinstance(u, ConstantExpr) and u.operands == (tile,) for u in tile.users)


@pytest.mark.parametrize("form", ["raw", "optimised"])
@pytest.mark.parametrize("name", RAW)
def test_a_function_beside_its_original(name: str, form: str) -> None:
    module = parse_module(read(name) if form == "raw" else optimised(name))
    kernel = module.kernels[0]
    made, _ = clone_function(kernel, "second_version")
    verify(module)
    check_uses(module)
    assert module.kernels[-1] is made
    text = print_module(module)
    parsed(text)
    # LLVM found the lines of the copy sound: it keeps the line directives of the whole module.
    assert ptx(text).count("\t.loc") > ptx(read(name) if form == "raw" else optimised(name)).count("\t.loc")


def test_loops_of_a_copy_have_names_of_their_own() -> None:
    module = parse_module(read("control"))
    kernel = module.functions["_Z6nestedPfiPi"]
    made, _ = clone_function(kernel, "copy")
    ours = {i.metadata["llvm.loop"] for i in made.instructions() if "llvm.loop" in i.metadata}
    theirs = {i.metadata["llvm.loop"] for i in kernel.instructions() if "llvm.loop" in i.metadata}
    assert len(ours) == len(theirs) > 1 and not ours & theirs
    assert all(module.metadata[node].startswith(f"distinct !{{{node}, ") for node in ours)


def test_a_taken_name_is_refused() -> None:
    module = parse_module(read("control"))
    kernel = module.kernels[0]
    with pytest.raises(ValueError, match="already"):
        clone_function(kernel, kernel.name)


def test_differences_are_named() -> None:
    one, two = parse_module(read("control")), parse_module(read("control"))
    assert difference(one, two) == ""
    i = next(i for i in two.functions["_Z8classifyi"].instructions() if i.opcode == "store")
    i.align = 1
    assert "@_Z8classifyi: 'store" in difference(one, two)
    i.align = 4
    i.metadata["dbg"] = "!0"
    assert difference(one, two) != ""
    two = parse_module(read("control"))
    two.metadata["!0"] = "!{}"
    assert difference(one, two).startswith("the modules differ in metadata")
    two = parse_module(read("control"))
    two.functions["_Z8classifyi"].blocks[3].name = "x"
    assert "names or lengths of the blocks" in difference(one, two)
    two = parse_module(read("control"))
    f = two.functions["_Z8classifyi"]
    switch = f.entry.instructions[-1]
    switch.successors = (switch.successors[1], *switch.successors[1:])
    assert "differ" in difference(one, two)
