"""The table of kinds: its order decides what a seed draws, the ranks decide what is tried first."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from kernelwright.edits import DRAWN, KNOWN, OPERATORS, UNIFORM, Draft, EditKind, Original
from kernelwright.edits.gene import Gene
from kernelwright.edits.gene_draw import AT_ONCE, LISTED, listed
from kernelwright.edits.instruction_words import Words
from kernelwright.edits.json_fields import read_id, read_number
from kernelwright.edits.kinds.bound_argument import BoundArgument
from kernelwright.edits.kinds.fix_launch import FixBlock
from kernelwright.edits.table import BY_NAME, KINDS
from tests.edits.conftest import loop_kernel


def test_every_kind_has_a_name_of_its_own_and_a_way_into_a_candidate() -> None:
    assert len(KINDS) == len(BY_NAME) == len({kind.type for kind in KINDS}) == 27
    for kind in KINDS:
        # Guards alone are added by proofs.
        assert kind.draw or kind.listed or kind.known or kind.name == "require-launch", kind.name
        assert kind.draw or not kind.share, kind.name


def test_what_is_drawn_by_default() -> None:
    assert list(OPERATORS.items()) == [
        ("constant-condition", 12.0),
        ("delete-barrier", 6.0),
        ("delete", 36.0),
        ("replace-operand", 14.0),
        ("change-constant", 6.0),
        ("replace-instruction", 8.0),
        ("move", 6.0),
        ("copy", 4.0),
        ("swap", 2.0),
        (KNOWN, 6.0),
        ("unroll", 3.0),
        ("recipe", 1.0),
    ]
    assert list(UNIFORM) == ["copy", "delete", "move", "replace-instruction", "replace-operand", "swap"]
    assert set(OPERATORS) - {KNOWN} < set(DRAWN)


def test_what_is_tried_first() -> None:
    assert [listing.edits.__name__ for _, listing in LISTED] == [
        "exchanges",
        "collections",
        "turns",
        "hoistings",
        "far_hoistings",
        "unrollings",
        "more_turns",
        "reorderings",
        "recipes",
        "conditions",
        "barriers",
        "deletions_of_memory",
        "deletions_of_the_rest",
        "reuses",
        "changes",
        "other_constant_operands",
    ]
    ranks = [listing.rank for _, listing in LISTED]
    assert len(set(ranks)) == len(ranks)
    assert [keeps for keeps, _ in LISTED] == [True] * 9 + [False] * 7


def test_what_keeps_the_meaning_comes_first() -> None:
    kept = [BY_NAME[gene.kind].keeps_meaning for gene in listed({"k": loop_kernel()})]
    assert kept == sorted(kept, reverse=True) and any(kept) and not all(kept)


def test_no_kind_of_what_is_known_fills_the_scan() -> None:
    """Its edits beyond the first of each kernel come once all that keep the meaning have been listed."""
    originals = {"k": loop_kernel(), "m": loop_kernel()}
    many = [BoundArgument(0, 1, bound) for bound in range(1, AT_ONCE + 5)]
    known = {"k": [many[0], FixBlock((64, 1, 1)), *many[1:]], "m": [*many[:3], FixBlock((64, 1, 1))]}
    genes = list(listed(originals, known=known))
    plain = list(listed(originals))
    began = [Gene("k", many[0]), Gene("k", FixBlock((64, 1, 1))), *(Gene("k", edit) for edit in many[1:AT_ONCE])]
    began += [Gene("m", edit) for edit in known["m"]]
    assert genes[: len(began)] == began
    left = [Gene("k", edit) for edit in many[AT_ONCE:]]
    at = genes.index(left[0])
    assert genes[at : at + len(left)] == left
    assert genes[len(began) : at] + genes[at + len(left) :] == plain
    recipes = [place for place, gene in enumerate(genes) if gene.kind == "recipe"]
    assert at == max(recipes) + 1  # the last listing that keeps the meaning
    assert any(not BY_NAME[gene.kind].keeps_meaning for gene in genes[at + len(left) :])


@dataclass(frozen=True)
class Nothing:
    subject: int

    def apply(self, draft: Draft) -> str | None:
        return "it changes nothing"


def in_words(original: Original, edit: Nothing) -> Words:
    return Words("order", "nothing")


def test_a_row_reads_the_fields_that_there_are() -> None:
    EditKind("nothing", Nothing, in_words, reads={"subject": read_id})
    for reads in ({}, {"subject": read_id, "count": read_number}):
        with pytest.raises(ValueError, match=r"the row of nothing reads .*, its fields are \['subject'\]"):
            EditKind("nothing", Nothing, in_words, reads=reads)
