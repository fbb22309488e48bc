"""An exchange nobody looks at becomes a store: what is printed, what it means on both executors, and where it is refused."""

from __future__ import annotations

import random

import numpy as np
import pytest

from kernelwright.codegen.ptx import emit_ptx
from kernelwright.codegen.simt.launching.watching import Watch
from kernelwright.device.arena import Arena
from kernelwright.device.reference.race_watch import Watch as ReferenceWatch
from kernelwright.edits import Original, apply, draw
from kernelwright.edits.kinds.copy import Copy
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.exchange_to_store import ExchangeToStore, exchanges
from kernelwright.edits.kinds.replace_operand import ReplaceOperand
from kernelwright.passes.recipe import optimise_with
from tests.edits.conftest import after, kernel, refusal
from tests.simt.harness import Case

CLONE = "c0000000000"
DECLARED = "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
MARK = """
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %slot = urem i32 %t, 5
  %to = getelementptr i32, ptr %p, i32 %slot
  %old = atomicrmw xchg ptr %to, i32 %n monotonic, align 4
  %seen = add i32 %n, 1
  %mine = getelementptr i32, ptr %q, i32 %t
  store i32 %seen, ptr %mine, align 4
  ret void
"""
EXCHANGE, ADD = 3, 4
ONLY = {"exchange-to-store": 1.0}


@pytest.fixture
def mark() -> Original:
    return kernel(MARK, DECLARED)


def test_it_is_a_store_of_the_whole_device(mark: Original) -> None:
    made = after(mark, ExchangeToStore(EXCHANGE))
    assert 'store atomic i32 %n, ptr %to syncscope("device") monotonic, align 4' in made
    assert not any("xchg" in line or "%old" in line for line in made)
    ptx = emit_ptx(optimise_with(apply(mark, (ExchangeToStore(EXCHANGE),)).text, None, "sm_80"), "sm_80")
    assert "st.relaxed.gpu" in ptx and "atom" not in ptx


@pytest.mark.parametrize("written", ["volatile ", ""])
@pytest.mark.parametrize(
    ("type", "value", "ordering"),
    [("i32", "%n", 'syncscope("block") monotonic'), ("float", "%x", "monotonic"), ("ptr", "%q", "monotonic")],
)
def test_what_it_was_it_stays(type: str, value: str, ordering: str, written: str) -> None:
    asked = f"atomicrmw {written}xchg ptr %p, {type} {value} {ordering}, align 8"
    scope = "" if "syncscope" in ordering else 'syncscope("device") '
    assert f"store atomic {written}{type} {value}, ptr %p {scope}{ordering}, align 8" in after(
        kernel(f"  %old = {asked}\n  ret void"), ExchangeToStore(0)
    )


def test_who_asks_for_the_old_value_after_all_gets_the_new_one(mark: Original) -> None:
    uses_it = ReplaceOperand(ADD, 1, "i32 %old")
    for genome in ((ExchangeToStore(EXCHANGE), uses_it), (uses_it, ExchangeToStore(EXCHANGE))):
        made = after(mark, *genome)
        assert made[made.index("%old = freeze i32 %n") - 1].startswith("store atomic i32 %n")
        assert "%seen = add i32 %n, %old" in made


def test_a_copy_is_what_its_source_is(mark: Original) -> None:
    assert (
        sum("store atomic" in line for line in after(mark, ExchangeToStore(EXCHANGE), Copy(CLONE, EXCHANGE, ADD))) == 2
    )
    only_one = after(mark, Copy(CLONE, EXCHANGE, ADD), ExchangeToStore(EXCHANGE))
    assert sum("store atomic" in line for line in only_one) == sum("xchg" in line for line in only_one) == 1


@pytest.mark.parametrize(
    ("exchange", "reason"),
    [
        ("%old = atomicrmw add ptr %p, i32 1 monotonic", "is no exchange"),
        ("%old = atomicrmw xchg ptr %p, i32 1 seq_cst", "is no exchange"),
        ("%old = atomicrmw xchg ptr %p, i32 1 acquire", "is no exchange"),
        ("%old = load i32, ptr %p", "is no exchange"),
        ("%old = atomicrmw xchg ptr %p, i32 1 monotonic\n  store i32 %old, ptr %q", "is used"),
    ],
)
def test_what_is_more_than_a_store_stays(exchange: str, reason: str) -> None:
    original = kernel(f"  {exchange}\n  ret void")
    assert reason in refusal(original, ExchangeToStore(0))
    assert list(exchanges(original)) == []
    assert draw(original, random.Random(0), operators=ONLY) is None


def test_one_that_is_gone_or_done_is_refused(mark: Original) -> None:
    assert "is gone" in refusal(mark, Delete(EXCHANGE), ExchangeToStore(EXCHANGE))
    assert "a store already" in refusal(mark, ExchangeToStore(EXCHANGE), ExchangeToStore(EXCHANGE))
    assert "there is no instruction" in refusal(mark, ExchangeToStore(99))


def test_it_is_listed_and_drawn_once(mark: Original) -> None:
    assert list(exchanges(mark)) == [ExchangeToStore(EXCHANGE)]
    assert draw(mark, random.Random(0), operators=ONLY) == ExchangeToStore(EXCHANGE)
    assert draw(apply(mark, (ExchangeToStore(EXCHANGE),)).draft, random.Random(0), operators=ONLY) is None


def test_no_program_of_the_suite_exchanges_where_the_published_one_stores(kernels: tuple[Original, ...]) -> None:
    assert [k.kernel for k in kernels if list(exchanges(k))] == []


def test_both_executors_store_without_a_race_and_without_taking_turns(mark: Original, arena: Arena) -> None:
    plain = kernel(MARK.replace("%old = atomicrmw xchg ptr %to, i32 %n monotonic", "store i32 %n, ptr %to"), DECLARED)
    cases = [
        Case(apply(original, edits).module, "k", 1, 64, np.zeros(5, np.int32), np.zeros(64, np.int32), 7, 0.0)
        for original, edits in ((mark, ()), (mark, (ExchangeToStore(EXCHANGE),)), (plain, ()))
    ]
    fast = [case.fast(arena, watch=Watch(races=True)) for case in cases]
    defined = [case.reference(arena, watch=ReferenceWatch()) for case in cases]
    for run in (*fast, *defined):
        assert run.fault is None
        np.testing.assert_array_equal(run.arrays[0], np.full(5, 7, np.int32))
    assert [bool(run.launch.sites["serial"].any()) for run in fast] == [True, False, False]
    assert [any(site.kind == "race" for site in run.launch.found) for run in fast] == [False, False, True]
    assert [any(site.kind == "race" for site in run.reference.findings) for run in defined] == [False, False, True]
