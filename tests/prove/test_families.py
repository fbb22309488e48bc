"""Families of mistakes: no unsafe member above its label, sound ones clean. ``kw bench prove`` does 100 seeds."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from kernelwright.bench.prove.families.family import Family, Member
from kernelwright.bench.prove.family_table import FAMILIES
from kernelwright.bench.prove.labelling import AT_ONCE, Part, label_members, labelled_parts, parts_of
from kernelwright.bench.prove.planted import SOUND, UNSAFE
from kernelwright.ir import print_function
from kernelwright.prove.labels import LABELS

FEW = [(family, family.sound[-1] if number % 2 else family.unsafe[5]) for number, family in enumerate(FAMILIES)]
"""Of each family one; ``test_all_members`` has all."""


def named(pair: tuple[Family, Member]) -> str:
    return pair[1].kernel


@pytest.mark.parametrize("pair", FEW, ids=named)
def test_labels(pair: tuple[Family, Member]) -> None:
    family, member = pair
    found = label_members(family, [member], range(1))
    assert not found.wrong, found


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_there_are_enough_of_both_and_the_compiler_does_not_make_them_alike(family: Family) -> None:
    assert len(family.unsafe) >= 10 and len(family.sound) >= 10
    for member in family.unsafe:
        texts = {
            print_function(modules[member.kernel].functions[member.kernel])
            for modules in (family.original, family.variants)
        }
        assert len(texts) == 2, member.kernel


def test_compiling_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor where the process ends without tidying up."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    family = replace(FAMILIES[0])
    assert family.original.keys() == family.variants.keys()
    assert not list(tmp_path.iterdir())


def test_which_labels_are_right() -> None:
    family = FAMILIES[0]
    unsafe, sound = family.unsafe[0], family.sound[0]
    assert [label for label in LABELS if unsafe.is_right(label)] == ["data-specific", "schedule-dependent", "wrong"]
    assert [label for label in LABELS if sound.is_right(label)] == ["proven", "clean"]
    with pytest.raises(ValueError, match="two members"):
        Family("twice", "", (unsafe, unsafe))


def test_every_seed_of_everything_is_in_one_part() -> None:
    parts = parts_of(AT_ONCE + 3)
    assert len(set(parts)) == len(parts)
    seeds: dict[tuple[str, bool], list[int]] = {}
    for part in parts:
        seeds.setdefault((part.name, part.sound), []).extend(part.seeds)
    assert all(sorted(some) == list(range(AT_ONCE + 3)) for some in seeds.values())
    assert len(seeds) == 2 * len(FAMILIES) + len((*UNSAFE, *SOUND))


def test_labels_do_not_depend_on_the_number_of_cores() -> None:
    family = FAMILIES[0].name
    parts = [
        Part(family, False, range(1), True),
        Part(family, True, range(2, 3), True),
        Part("largest", False, range(1), False),
    ]
    one, two = (
        {part.name + str(part.sound): (found.labels, found.wrong) for part, found in labelled_parts(parts, workers)}
        for workers in (1, 2)
    )
    assert one == two and len(one) == 3
    assert all(not wrong and labels for labels, wrong in one.values())


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_all_members(family: Family) -> None:
    for member in family.members:
        found = label_members(family, [member], range(4))
        assert not found.wrong, found
