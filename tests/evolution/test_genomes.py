"""Building genomes: the same post-passes for all, a key per program, guards and inert genes told."""

from __future__ import annotations

import pytest

from kernelwright.edits import Gene, Original
from kernelwright.edits.kinds.constant_condition import ConstantCondition
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.fix_launch import FixArgument
from kernelwright.errors import Misuse
from kernelwright.evaluate.judging.case_runner import by_kernel
from kernelwright.evolution.genomes import GENOMES, GenomeBuilder
from kernelwright.ir import parse_module
from kernelwright.passes.llvm import check
from tests.evaluate import kernels

SCALE = "_Z5scalePKfPffi"


@pytest.fixture(scope="module")
def builder() -> GenomeBuilder:
    return GENOMES.builder(by_kernel(parse_module(kernels.text())), "sm_90")


def instruction(original: Original, opcode: str) -> int:
    return next(int(id) for id, node in original.nodes.items() if node.instruction.opcode == opcode)


def test_the_baseline_has_every_kernel_alone(builder: GenomeBuilder) -> None:
    baseline = builder.build(())
    assert set(baseline.modules) == {k.name for k in parse_module(kernels.text()).kernels}
    for name, module in baseline.modules.items():
        assert [k.name for k in module.kernels] == [name]
        check(baseline.kernels[name].text)


def test_only_what_changed_is_built_again(builder: GenomeBuilder) -> None:
    baseline = builder.build(())
    store = instruction(builder.originals["add"], "store")
    variant = builder.build((Gene("add", Delete(store)),))
    changed = [name for name in baseline.kernels if variant.kernels[name] is not baseline.kernels[name]]
    assert changed == ["add"]
    assert "store" not in variant.kernels["add"].text
    assert variant.key != baseline.key
    assert builder.build((Gene("add", Delete(store)),)).kernels["add"] is variant.kernels["add"]


def test_edits_that_come_to_the_same_have_one_key(builder: GenomeBuilder) -> None:
    original = builder.originals["add"]
    load, add, store = (instruction(original, opcode) for opcode in ("load", "add", "store"))
    gone = builder.build((Gene("add", Delete(store)),))
    # Without the store nothing is left of the rest, whatever became of it.
    more = builder.build(
        (Gene("add", Delete(store)), Gene("add", Delete(load, "i32 1")), Gene("add", Delete(add, "i32 0")))
    )
    assert more.key == gone.key
    assert len(more.kernels["add"].text) > 0


def test_inert_genes_are_told(builder: GenomeBuilder) -> None:
    store = instruction(builder.originals["add"], "store")
    twice = builder.build((Gene("add", Delete(store)), Gene("add", Delete(store))))
    assert twice.facts == {"inert": [Gene("add", Delete(store)).as_json()]} and twice.changed == {"add"}
    assert builder.build((Gene("add", Delete(store)),)).facts == {} == builder.build(()).facts


def test_guards_are_told_and_part_of_the_key(builder: GenomeBuilder) -> None:
    one = builder.build((Gene(SCALE, FixArgument(3, "i32 8")),))
    assert [str(g) for g in one.guards[SCALE]] == ["argument 3 == i32 8"]
    other = builder.build((Gene(SCALE, FixArgument(3, "i32 9")),))
    assert one.key != other.key != builder.build(()).key


def test_a_condition_made_constant_folds_a_branch(builder: GenomeBuilder) -> None:
    original = builder.originals[SCALE]
    user = next(user for user, _ in original.slots["i1"])
    variant = builder.build((Gene(SCALE, ConstantCondition(user, 0, True)),))
    assert "icmp" not in variant.kernels[SCALE].text and "icmp" in builder.build(()).kernels[SCALE].text


def test_foreign_genes_are_refused(builder: GenomeBuilder) -> None:
    with pytest.raises(Misuse, match="no kernel 'other'"):
        builder.build((Gene("other", Delete(3)),))


def test_the_ptx_is_of_what_is_run(builder: GenomeBuilder) -> None:
    built = builder.build(()).kernels["add"]
    assert ".entry add" in built.ptx("sm_90") and ".target sm_90" in built.ptx("sm_90")
    assert built.ptx("sm_90") is built.ptx("sm_90")
