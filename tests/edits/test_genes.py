"""Genes: edits of a program's kernels, as values, as text, drawn and listed."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from kernelwright.edits import (
    Edit,
    Gene,
    Id,
    Original,
    apply,
    apply_genes,
    by_kernel,
    draw_gene,
    dump_genes,
    listed,
    load_genes,
)
from kernelwright.edits.kinds.change_constant import ChangeConstant
from kernelwright.edits.kinds.constant_condition import ConstantCondition
from kernelwright.edits.kinds.copy import Copy
from kernelwright.edits.kinds.delete import Delete, reuses
from kernelwright.edits.kinds.delete_barrier import DeleteBarrier
from kernelwright.edits.kinds.fix_launch import FixArgument, FixBlock
from kernelwright.edits.kinds.move import reorderings
from kernelwright.edits.kinds.recipe import Recipe
from kernelwright.edits.kinds.replace_operand import ReplaceOperand
from kernelwright.edits.kinds.unroll import Unroll
from kernelwright.edits.table import KINDS
from kernelwright.errors import Misuse
from kernelwright.ir import parse_module
from tests.edits.conftest import DIAMOND, kernel, loop_kernel

C0 = "c0000000000"
BARRIER = "declare void @llvm.nvvm.barrier0()"


def program() -> dict[str, Original]:
    with_barrier = DIAMOND.replace("join:\n", "join:\n", 1).replace(
        "  store i32 %w", "  call void @llvm.nvvm.barrier0()\n  store i32 %w"
    )
    return {"loop": loop_kernel(), "diamond": kernel(with_barrier, BARRIER)}


def test_a_gene_is_a_value() -> None:
    one, same, other = Gene("k", Delete(1)), Gene("k", Delete(1)), Gene("l", Delete(1))
    assert one == same and hash(one) == hash(same) and one != other and len({one, same, other}) == 2
    assert one.kind == "delete" and Gene("k", FixBlock((1, 1, 1))).kind == "fix-block"


def test_the_form() -> None:
    genes = (Gene("k", FixArgument(2, "i32 40")), Gene("l", Recipe(2, passes=("sink",), registers=32)))
    assert json.loads(dump_genes(genes)) == [
        {"kernel": "k", "edit": "fix-argument", "index": 2, "value": "i32 40"},
        {
            "kernel": "l",
            "edit": "recipe",
            "level": 2,
            "rounds": 1,
            "passes": ["sink"],
            "without": [],
            "registers": 32,
        },
    ]
    assert load_genes(dump_genes(genes)) == genes


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "no JSON"),
        ("{}", "a JSON list"),
        ("[3]", "is no gene"),
        ('[{"edit": "delete", "subject": 1}]', "is no gene"),
        ('[{"kernel": "", "edit": "delete", "subject": 1}]', "is no gene"),
        ('[{"kernel": "k", "edit": "vanish"}]', "is no edit"),
        ('[{"kernel": "k", "edit": "fix-block", "shape": [1, 2]}]', "is no edit"),
        ('[{"kernel": "k", "edit": "fix-block", "shape": 7}]', "is no edit"),
        ('[{"kernel": "k", "edit": "unroll", "subject": 3, "count": true}]', "no whole number"),
        ('[{"kernel": "k", "edit": "constant-condition", "user": 3, "index": 0, "outcome": 1}]', "neither true nor"),
        ('[{"kernel": "k", "edit": "recipe", "passes": "sink"}]', "no list of names"),
        ('[{"kernel": "k", "edit": "fast-math", "subject": 3, "flag": 5}]', "is no name"),
    ],
)
def test_what_is_no_gene(text: str, says: str) -> None:
    with pytest.raises(Misuse, match=says):
        load_genes(text)


def test_only_the_kernels_that_genes_touch_are_made() -> None:
    originals = program()
    genes = (
        Gene("diamond", Delete(0, "i32 %n")),
        Gene("loop", Delete(5, "i32 %t")),
        Gene("diamond", Delete(3, "i32 %s")),
    )
    applied = apply_genes(originals, genes)
    assert list(applied) == ["diamond", "loop"]
    assert applied["diamond"].text == apply(originals["diamond"], (Delete(0, "i32 %n"), Delete(3, "i32 %s"))).text
    assert by_kernel(genes)["loop"] == (Delete(5, "i32 %t"),)
    assert apply_genes(originals, ()) == {}
    with pytest.raises(Misuse, match="no kernel 'other'"):
        apply_genes(originals, (Gene("other", Delete(0)),))


# -- drawing


def test_the_same_seed_draws_the_same_genes() -> None:
    originals = program()

    def some(seed: int) -> list[Gene]:
        rng, genes = random.Random(seed), list[Gene]()
        for _ in range(40):
            gene = draw_gene(originals, rng, genes)
            assert gene is not None
            genes.append(gene)
        return genes

    assert some(7) == some(7) != some(8)
    genes = some(7)
    assert all(not a.inert for a in apply_genes(originals, genes).values())


def test_kernels_are_drawn_by_their_weight() -> None:
    originals, rng = program(), random.Random(0)
    weights: dict[str, dict[Id, float]] = {"loop": {11: 3.0}, "diamond": {3: 1.0}}
    drawn = Counter(g.kernel for _ in range(800) if (g := draw_gene(originals, rng, weights=weights)))
    assert 520 < drawn["loop"] < 680
    assert {draw_gene(originals, rng, weights={"diamond": {3: 1.0}}).kernel for _ in range(20)} == {"diamond"}  # type: ignore[union-attr]
    assert draw_gene(originals, rng, weights={}) is None and draw_gene({}, rng) is None


def test_shares_say_how_often_a_kernel_is_drawn() -> None:
    originals, rng = program(), random.Random(1)
    first, *others = originals
    weights = {name: dict.fromkeys(original.nodes, 1.0) for name, original in originals.items()}
    shares = {first: 3.0, others[0]: 1.0}
    drawn = Counter(g.kernel for _ in range(800) if (g := draw_gene(originals, rng, weights=weights, shares=shares)))
    assert set(drawn) == set(shares) and 2.3 < drawn[first] / drawn[others[0]] < 3.9
    weights[first] = {}  # a kernel where nothing weighs has nothing to draw, whatever its share
    assert draw_gene(originals, rng, weights=weights, shares={first: 1.0}) is None


def test_a_kernel_with_nothing_of_a_kind_leaves_it_to_the_others() -> None:
    rng = random.Random(0)
    drawn = {draw_gene(program(), rng, operators={"delete-barrier": 1.0}) for _ in range(20)}
    assert drawn == {Gene("diamond", DeleteBarrier(10))}


def test_what_the_candidate_made_is_drawn_too() -> None:
    originals, rng = {"diamond": kernel(DIAMOND)}, random.Random(0)
    genes = (Gene("diamond", Copy(C0, 0, 3, (3, 0))),)
    subjects = {
        gene.edit.subject
        for _ in range(200)
        if (gene := draw_gene(originals, rng, genes, operators={"delete": 1.0})) and isinstance(gene.edit, Delete)
    }
    assert C0 in subjects


def test_what_is_known_is_drawn_until_it_is_there() -> None:
    originals, rng = program(), random.Random(0)
    known: dict[str, list[Edit]] = {"loop": [FixArgument(2, "i32 40"), FixBlock((16, 1, 1))]}
    first = draw_gene(originals, rng, known=known, operators={"known": 1.0})
    assert first is not None and first.edit in known["loop"]
    second = draw_gene(originals, rng, (first,), known=known, operators={"known": 1.0})
    assert second is not None and second != first
    assert draw_gene(originals, rng, (first, second), known=known, operators={"known": 1.0}) is None


# -- listing


def test_the_most_promising_come_first() -> None:
    known: dict[str, list[Edit]] = {"loop": [FixArgument(2, "i32 40")]}
    genes = list(listed(program(), known=known))
    assert len(genes) == len(set(genes)) > 100
    kinds = list(dict.fromkeys(g.kind for g in genes))
    assert kinds == [
        "fix-argument",
        "collect-turns",
        "unroll",
        "move",
        "recipe",
        "constant-condition",
        "delete-barrier",
        "delete",
        "change-constant",
        "replace-operand",
    ]
    originals = program()
    for gene in genes:
        assert apply_genes(originals, (gene,))[gene.kernel].inert == ()


def test_memory_comes_before_the_rest_and_the_costliest_first() -> None:
    weights: dict[str, dict[Id, float]] = {"loop": {11: 1.0, 12: 9.0, 16: 4.0}, "diamond": {2: 2.0, 9: 1.0, 11: 5.0}}
    genes = list(listed(program(), weights))
    assert [g.edit for g in genes if isinstance(g.edit, ConstantCondition)] == [
        ConstantCondition(16, 0, True),
        ConstantCondition(16, 0, False),
        ConstantCondition(2, 0, True),
        ConstantCondition(2, 0, False),
    ]
    deleted = [(g.kernel, g.edit.subject) for g in genes if isinstance(g.edit, Delete)]
    assert list(dict.fromkeys(deleted)) == [
        ("diamond", 11),
        ("loop", 11),
        ("loop", 12),
        ("diamond", 9),
    ]
    assert {g.edit.subject for g in genes if isinstance(g.edit, Unroll)} == {16}


def test_loads_are_listed_in_favour_of_the_nearest_and_the_first_ones() -> None:
    loads = "\n".join(f"  %v{n} = load i32, ptr addrspace(1) %p" for n in range(9))
    text = (
        "define ptx_kernel void @many(ptr addrspace(1) %p, i32 %n) {\n"
        f"{loads}\n  %w = load float, ptr addrspace(1) %p\n  %s = add i32 %v8, %n\n"
        "  store i32 %s, ptr addrspace(1) %p\n  ret void\n}\n"
    )
    original = Original(parse_module(text), "many")
    found = [edit.value for edit in reuses(original) if edit.subject == 8]
    assert found == [f"i32 %v{n}" for n in (0, 1, 7, 6, 5, 4)]
    assert not [edit for edit in reuses(original) if edit.subject in (0, 9)]  # nothing before, nothing of its type
    genes = {gene.edit for gene in listed({"many": original})}
    for edit in reuses(original):
        assert edit in genes and not apply(original, (edit,)).inert


def test_reorderings_leave_every_value_as_it_was() -> None:
    text = (
        "declare float @llvm.sqrt.f32(float)\n"
        "define ptx_kernel void @mixed(ptr addrspace(1) %p, ptr addrspace(1) %q, float %x) {\n"
        "  %a = load float, ptr addrspace(1) %p\n"  # 0
        "  %r = call float @llvm.sqrt.f32(float %a)\n"  # 1
        "  %g = getelementptr float, ptr addrspace(1) %q, i64 1\n"  # 2
        "  store float %x, ptr addrspace(1) %g\n"  # 3
        "  %b = load float, ptr addrspace(1) %q\n"  # 4
        "  %s = fadd float %r, %b\n"  # 5
        "  store float %s, ptr addrspace(1) %p\n"  # 6
        "  ret void\n}\n"
    )
    original = Original(parse_module(text), "mixed")
    found = {(edit.subject, edit.before) for edit in reorderings(original)}
    late, early = {(1, 5), (3, 6), (3, 7)}, {(4, 0)}
    assert found == late | early
    for edit in reorderings(original):
        assert not edit.choices and not apply(original, (edit,)).inert
        assert {"%r", "%b"} < set(apply(original, (edit,)).text.replace(",", " ").replace(")", " ").split())


def test_a_barrier_is_listed_behind_the_loads_that_follow() -> None:
    text = (
        f"{BARRIER}\n"
        "define ptx_kernel void @waits(ptr addrspace(1) %p, ptr addrspace(1) %q) {\n"
        "  call void @llvm.nvvm.barrier0()\n  %a = load float, ptr addrspace(1) %p\n"  # 0, 1
        "  %b = load float, ptr addrspace(1) %q\n  %s = fadd float %a, %b\n"  # 2, 3
        "  store float %s, ptr addrspace(1) %p\n  ret void\n}\n"
    )
    found = [(edit.subject, edit.before) for edit in reorderings(Original(parse_module(text), "waits"))]
    assert found == [(0, 2), (0, 3), (1, 0), (2, 0)]


def test_no_operand_is_listed_twice() -> None:
    """Conditions and neighbours of constants have kinds of their own."""
    genes = list(listed({"diamond": kernel(DIAMOND)}))
    changed = {(g.edit.user, g.edit.index, g.edit.value) for g in genes if isinstance(g.edit, ChangeConstant)}
    replaced = {(g.edit.user, g.edit.index, g.edit.value) for g in genes if isinstance(g.edit, ReplaceOperand)}
    assert changed and replaced and not changed & replaced
    assert not any(value.startswith("i1 ") for _, _, value in replaced)


def test_every_kind_has_a_docstring_with_before_and_after() -> None:
    """They are the manual, and reports quote them."""
    import importlib

    for kind in (row.type for row in KINDS):
        text = importlib.import_module(kind.__module__).__doc__ or ""
        assert "before" in text and "after" in text, kind
