"""Families of mistakes: no unsafe member above its label, sound ones clean. ``kw bench prove`` does 100 seeds."""

from __future__ import annotations

import pytest

from kernelwright.bench.prove.families.family import Family, Member
from kernelwright.bench.prove.families.table import FAMILIES
from kernelwright.bench.prove.measure import label_members
from kernelwright.ir import print_function
from kernelwright.prove.labels import LABELS

FEW = [(family, member) for family in FAMILIES for member in (*family.unsafe[::5], family.sound[-1])]


def named(pair: tuple[Family, Member]) -> str:
    return pair[1].kernel


@pytest.mark.parametrize("pair", FEW, ids=named)
def test_labels(pair: tuple[Family, Member]) -> None:
    family, member = pair
    labels, wrong, _ = label_members(family, [member], 1)
    assert not wrong, f"{wrong} {labels}"


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_there_are_enough_of_both_and_the_compiler_does_not_make_them_alike(family: Family) -> None:
    assert len(family.unsafe) >= 10 and len(family.sound) >= 10
    for member in family.unsafe:
        texts = {
            print_function(modules[member.kernel].functions[member.kernel])
            for modules in (family.original, family.variants)
        }
        assert len(texts) == 2, member.kernel


def test_which_labels_are_right() -> None:
    family = FAMILIES[0]
    unsafe, sound = family.unsafe[0], family.sound[0]
    assert [label for label in LABELS if unsafe.is_right(label)] == ["data-specific", "schedule-dependent", "wrong"]
    assert [label for label in LABELS if sound.is_right(label)] == ["proven", "clean"]
    with pytest.raises(ValueError, match="two members"):
        Family("twice", "", (unsafe, unsafe))


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_all_members(family: Family) -> None:
    for member in family.members:
        _, wrong, _ = label_members(family, [member], 4)
        assert not wrong
