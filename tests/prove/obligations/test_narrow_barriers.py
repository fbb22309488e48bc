"""Barriers that are one of each warp: decided by the solver, known beforehand, and held against watched runs of random kernels."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from kernelwright.codegen.simt.launching.watching import Watch
from kernelwright.device.arena import Arena
from kernelwright.edits import Edit, Original, apply
from kernelwright.edits.kinds.delete_barrier import DeleteBarrier
from kernelwright.edits.kinds.narrow_barrier import NarrowBarrier, barriers_of_few
from kernelwright.edits.kinds.warp_barriers import WarpBarriers, is_block_barrier
from kernelwright.guards import LaunchFacts
from kernelwright.ir import verify
from kernelwright.launch import Launch
from kernelwright.passes.llvm import check
from kernelwright.prove.obligations.obligation import all_hold
from kernelwright.prove.obligations.owed import owed
from tests.edits.conftest import refusal
from tests.prove.obligations.test_barriers import BARRIER, shared
from tests.simt.harness import Case


@pytest.fixture
def arena() -> Iterator[Arena]:
    with Arena() as made:
        yield made


def step(number: int, threads: int, write: str, read: str, compare: str = "icmp ult") -> str:
    """Threads below a number add what another cell holds to one, then all wait."""
    return f"""  %c{number} = {compare} i32 %t, {threads}
  br i1 %c{number}, label %do{number}, label %join{number}
do{number}:
  %a{number} = load i32, ptr addrspace(3) {write}
  %b{number} = load i32, ptr addrspace(3) {read}
  %s{number} = add i32 %a{number}, %b{number}
  store i32 %s{number}, ptr addrspace(3) {write}
  br label %join{number}
join{number}:
{BARRIER}"""


ADDRESSES = "".join(
    f"  %u{n} = add i32 %t, {n}\n  %j{n} = zext i32 %u{n} to i64\n"
    f"  %cell{n} = getelementptr [1024 x i32], ptr addrspace(3) @tile, i64 0, i64 %j{n}\n"
    for n in (0, 4, 8, 16, 32, 64)
)
BEGIN = f"{ADDRESSES}  store i32 %t, ptr addrspace(3) %cell0\n{BARRIER}"
END = """  %first = getelementptr [1024 x i32], ptr addrspace(3) @tile, i64 0, i64 0
  %sum = load i32, ptr addrspace(3) LAST
  store i32 %sum, ptr %out
"""


def tree(*steps: tuple[int, str, str], last: str = "%cell0", compare: str = "icmp ult") -> Original:
    body = BEGIN + "".join(step(n, *each, compare=compare) for n, each in enumerate(steps)) + END.replace("LAST", last)
    return shared(body)


def barriers(original: Original) -> list[NarrowBarrier]:
    return [NarrowBarrier(id) for id in original.those(is_block_barrier)]


REDUCTION = ((64, "%cell0", "%cell64"), (32, "%cell0", "%cell32"), (16, "%cell0", "%cell16"), (8, "%cell0", "%cell8"))


def is_proven(original: Original, *edits: Edit) -> bool:
    return all_hold(owed(original, edits))


@pytest.mark.parametrize("compare", ["icmp ult", "icmp samesign ult", "icmp slt"])
def test_the_last_steps_of_a_reduction(compare: str) -> None:
    original = tree(*REDUCTION, compare=compare)
    first, wide, *few = barriers(original)
    assert is_proven(original, *few) and all(is_proven(original, each) for each in few)
    # What comes before concerns threads of two warps.
    assert not is_proven(original, first) and not is_proven(original, wide)
    assert not is_proven(original, wide, *few)


def test_what_all_threads_read_in_the_end_is_waited_for_by_all() -> None:
    original = tree(*REDUCTION, last="%first")
    *_, before_last, last = barriers(original)
    assert not is_proven(original, last) and is_proven(original, before_last)
    assert not is_proven(original, before_last, last)


def test_of_two_in_a_row_both_may_be_needed() -> None:
    """Two barriers: each alone may be narrow, for the other one is still the block's."""
    original = shared(BEGIN + BARRIER + "  %sum = load i32, ptr addrspace(3) %cell64\n  store i32 %sum, ptr %out\n")
    one, other = barriers(original)
    assert is_proven(original, one) and is_proven(original, other)
    assert not is_proven(original, one, other)
    assert not is_proven(original, one, DeleteBarrier(other.subject))
    assert not is_proven(original, DeleteBarrier(one.subject), other)


def test_one_that_is_gone_counts_narrow_ones_as_gone() -> None:
    original = tree((32, "%cell0", "%cell4"), (8, "%cell0", "%cell4"))
    first, middle, last = barriers(original)
    assert is_proven(original, middle, last) and not is_proven(original, DeleteBarrier(middle.subject), last)
    assert not is_proven(original, first)


def test_several_rows_of_threads_are_left_to_the_original() -> None:
    original = tree(*REDUCTION)
    edit = barriers(original)[-1]
    guards = [str(guard) for guard in apply(original, [edit]).guards]
    assert guards == ["block.y <= 1", "block.z <= 1"]


def test_blocks_of_one_warp_need_no_solver() -> None:
    original = tree(*REDUCTION)
    assert is_proven(original, WarpBarriers())
    assert is_proven(original, barriers(original)[0], WarpBarriers())
    assert is_proven(original, WarpBarriers(), DeleteBarrier(barriers(original)[0].subject)) is False


def test_a_barrier_that_threads_of_a_warp_reach_apart_is_not_narrowed() -> None:
    apart = BARRIER.replace("sync.aligned.all", "sync.all")
    text = BEGIN + "".join(step(n, *each).replace(BARRIER, apart) for n, each in enumerate(REDUCTION))
    original = shared(text + END.replace("LAST", "%cell0"))
    assert not is_proven(original, barriers(original)[-1])


def facts(*block: int) -> LaunchFacts:
    return LaunchFacts(Launch("k", (1, 1, 1), (block[0], block[1], block[2])), ())


def test_those_are_listed_that_concern_the_first_warp() -> None:
    original = tree(*REDUCTION)
    every = barriers(original)
    assert (
        list(barriers_of_few(original, [facts(128, 1, 1)])) == every[2:4]
    )  # the last one is followed by all threads' loads
    assert list(barriers_of_few(original, [facts(128, 1, 1), facts(16, 2, 1)])) == []
    assert list(barriers_of_few(original, [])) == []


def test_where_it_is_refused() -> None:
    original = tree(*REDUCTION)
    edit = barriers(original)[0]
    assert "already" in refusal(original, edit, edit)
    assert "is gone" in refusal(original, DeleteBarrier(edit.subject), edit)
    assert "no barrier of the block" in refusal(original, NarrowBarrier(0))


@pytest.mark.parametrize("seed", range(2))
def test_what_is_proven_never_races(seed: int, arena: Arena) -> None:
    """Random steps of random threads, of which the original does not race; some barriers narrow, some gone."""
    numbers = random.Random(seed)
    proven = racing = 0
    for _ in range(6):
        cells = [f"%cell{n}" for n in (4, 8, 16, 32, 64)]
        steps = tuple((numbers.choice((4, 8, 16, 32, 64)), "%cell0", numbers.choice(cells)) for _ in range(3))
        original = tree(*steps, last=numbers.choice(("%cell0", "%cell0", "%cell32", "%first")))
        if _races(original, (), arena):
            continue
        for _ in range(4):
            chosen = [each for each in barriers(original) if numbers.random() < 0.5]
            edits: list[Edit] = [DeleteBarrier(e.subject) if numbers.random() < 0.15 else e for e in chosen]
            verify(apply(original, edits).module)
            check(apply(original, edits).text)
            races, holds = _races(original, edits, arena), is_proven(original, *edits)
            proven += holds and bool(edits)
            racing += races
            assert not (races and holds), (steps, edits)
    assert proven and racing


def _races(original: Original, edits: tuple[Edit, ...] | list[Edit], arena: Arena) -> bool:
    zeros = np.zeros(96, np.int32)
    case = Case(apply(original, edits).module, "k", 1, 96, zeros, zeros, 0)
    return any(found.kind == "race" for found in case.fast(arena, watch=Watch(races=True)).launch.found)
