"""What may be said of memory that other threads use: where pointers come from, promises that LLVM would believe too far, fences."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kernelwright.device.arena import Arena
from kernelwright.device.reference import run_reference
from kernelwright.device.schedule import Schedule
from kernelwright.edits import Edit, LaunchFacts, Original, apply, known_edits
from kernelwright.edits.draft import unchanged
from kernelwright.edits.kinds.copy import Copy
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.delete_barrier import DeleteBarrier
from kernelwright.edits.kinds.exchange_to_store import ExchangeToStore, exchanges
from kernelwright.edits.kinds.loads.cache_policy import CachePolicy, cache_policies
from kernelwright.edits.kinds.loads.hoist_loads import HoistLoads, hoistings
from kernelwright.edits.kinds.move import Move, reorderings
from kernelwright.edits.kinds.no_alias import NoAlias
from kernelwright.edits.kinds.replace_operand import ReplaceOperand
from kernelwright.edits.kinds.swap import Swap
from kernelwright.edits.memory import ordering
from kernelwright.edits.memory.pointers import Pointers
from kernelwright.ir import parse_module
from kernelwright.launch import Launch
from kernelwright.passes.recipe import optimise_with
from tests.edits.conftest import kernel, refusal
from tests.examples import few

THREADS = 8
DECLARED = """
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare void @llvm.nvvm.membar.gl()
"""
BARRIER = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"
FENCE = "call void @llvm.nvvm.membar.gl()"
ACROSS = f"""
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %o = xor i32 %t, 1
  %own = getelementptr i32, ptr %p, i32 %t
  %others = getelementptr i32, ptr %p, i32 %o
  %r = load i32, ptr %own, align 4
  {BARRIER}
  %r1 = add i32 %r, 1
  store i32 %r1, ptr %others, align 4
  {BARRIER}
  %y = load i32, ptr %own, align 4
  %to = getelementptr i32, ptr %q, i32 %t
  store i32 %y, ptr %to, align 4
  ret void
"""
"""Each thread writes what its neighbour loads again behind the barrier."""


@given(st.lists(st.lists(st.integers(0, 6), max_size=3), min_size=7, max_size=7), st.integers(0, 6))
@settings(max_examples=few(200))
def test_what_leads_to_a_block_is_what_it_is_reached_from(edges: list[list[int]], home: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordering, "successors", lambda original: edges)
        before = ordering.predecessors(cast(Original, SimpleNamespace(order=range(len(edges)))))
    leading = {block for block in range(len(edges)) if home in ordering.reached(edges.__getitem__, edges[block])}
    assert ordering.reached(before.__getitem__, before[home]) == leading


def across(text: str = ACROSS) -> Original:
    return kernel(text, DECLARED)


def left(text: str, schedule: Schedule | None = None) -> tuple[tuple[int, ...], ...]:
    """What the kernel leaves in ``p`` and ``q``, run by the slow executor."""
    with Arena() as arena:
        buffers = [arena.allocate(4 * THREADS, name) for name in "pq"]
        for number, buffer in enumerate(buffers):
            arena.view(buffer)[:] = list(struct.pack(f"<{THREADS}i", *(100 * number + n for n in range(THREADS))))
        given = struct.pack("<QQif", *(b.address for b in buffers), THREADS, 1.0)
        order = schedule or Schedule.forward()
        ran = run_reference(parse_module(text), "k", (1, 1, 1), (THREADS, 1, 1), given, arena, schedule=order)
        assert ran.fault is None
        return tuple(struct.unpack(f"<{THREADS}i", arena.view(b).tobytes()) for b in buffers)


# -- where pointers come from


def test_where_pointers_come_from() -> None:
    text = """
entry:
  %c = icmp slt i32 %n, 3
  %s = select i1 %c, ptr %p, ptr %q
  br label %loop
loop:
  %at = phi ptr [ %p, %entry ], [ %next, %loop ]
  %g = addrspacecast ptr %at to ptr addrspace(1)
  %v = load i32, ptr addrspace(1) %g
  store i32 %v, ptr %s
  %next = getelementptr i32, ptr %at, i32 1
  br i1 %c, label %loop, label %end
end:
  ret void"""
    draft = unchanged(kernel(text))
    found = Pointers(draft)
    assert [set(found.roots(f"%{name}")) for name in ("s", "at", "g", "next", "v")] == [{0, 1}, {0}, {0}, {0}, set()]
    assert [(set(each.arguments), each.writes) for each in found.accesses()] == [({0}, False), ({0, 1}, True)]


# -- noalias


def test_llvm_believes_that_no_other_thread_writes() -> None:
    """Why the rule is there: the promise loses the last load."""
    plain = apply(across(), ()).text
    expected = left(plain)
    assert left(optimise_with(plain, None, "sm_80")) == expected
    promised = optimise_with(plain.replace("(ptr %p,", "(ptr noalias %p,"), None, "sm_80")
    assert left(promised) != expected


def test_no_promise_where_other_threads_write() -> None:
    assert "on both sides of a barrier" in refusal(across(), NoAlias(0))
    facts = LaunchFacts(Launch("k", (1, 1, 1), (8, 1, 1)), (), (range(32), range(64, 96), None, None))
    known = known_edits({"k": across()}, {"k": [facts]})["k"]
    assert [edit for edit in known if isinstance(edit, NoAlias)] == [NoAlias(1)]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ((BARRIER, ""), None),  # then the threads race as it is
        (("store i32 %r1, ptr %others", "store i32 %r1, ptr %to2"), None),  # it only reads
        ((BARRIER, FENCE), "signal to each other"),
        (("%r = load i32, ptr %own", "%r = load volatile i32, ptr %own"), "signal to each other"),
        ((BARRIER, 'call void asm sideeffect "bar.sync 0;", "~{memory}"()'), "finds pointers in memory"),
        ((BARRIER, "call void @llvm.nvvm.bar.warp.sync(i32 -1)"), "both sides of a barrier"),
        (("store i32 %r1, ptr %others, align 4", "%was = atomicrmw add ptr %others, i32 1 monotonic"), "both sides"),
    ],
    ids=str,
)
def test_what_the_promise_needs(change: tuple[str, str], says: str | None) -> None:
    text = ACROSS.replace(*change).replace("%r1 = add", "%to2 = getelementptr i32, ptr %q, i32 %o\n  %r1 = add")
    applied = apply(across(text), (NoAlias(0),))
    assert [each.reason for each in applied.inert] == [] if says is None else says in applied.inert[0].reason
    assert ("noalias %p" in applied.text) == (says is None)


LOOPED = f"""
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i32, ptr %p, i32 %t
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k2, %loop ]
  %before = add i32 %k, 0
  store i32 %k, ptr %at, align 4
  {BARRIER}
  %k2 = add i32 %k, 1
  %more = icmp slt i32 %k2, 3
  br i1 %more, label %loop, label %end
end:
  ret void
"""


def test_round_a_loop_is_the_other_side_too() -> None:
    assert "both sides of a barrier" in refusal(across(LOOPED), NoAlias(0))
    once = across(LOOPED.replace("br i1 %more, label %loop, label %end", "br label %end"))
    assert apply(once, (NoAlias(0),)).inert == ()


def test_another_edit_may_break_the_promise() -> None:
    """The store goes through ``q``; made one through ``p``, it takes the promise back, whichever edit comes first."""
    text = ACROSS.replace("store i32 %r1, ptr %others", "store i32 %r1, ptr %elsewhere").replace(
        "  %r = load", "  %elsewhere = getelementptr i32, ptr %q, i32 %o\n  %r = load"
    )
    original = across(text)
    store = next(id for id, node in original.nodes.items() if "%elsewhere" in node.operands)
    through_p = ReplaceOperand(store, 1, "ptr %others")
    assert "noalias %p" in apply(original, (NoAlias(0),)).text
    for edits in ((NoAlias(0), through_p), (through_p, NoAlias(0))):
        applied = apply(original, edits)
        assert "noalias" not in applied.text
        assert [(each.edit, "both sides of a barrier" in each.reason) for each in applied.inert] == [(NoAlias(0), True)]


STEPS = st.lists(st.sampled_from(["own", "others", "read", "barrier"]), min_size=1, max_size=6)


@settings(max_examples=few(60), deadline=None)
@given(steps=STEPS)
@example(steps=["read", "barrier", "others", "barrier", "read"])
@example(steps=["own", "barrier", "others", "barrier", "read"])
def test_promises_that_are_made_keep_the_results(steps: list[str]) -> None:
    """Random accesses to the own element and the neighbour's, all in ``p``: wherever the threads do not race, the optimised
    kernel with every promise that is not refused leaves what the original does."""
    lines = []
    for number, step in enumerate(steps):
        lines += {
            "own": [f"store i32 {number}, ptr %own, align 4"],
            "others": [f"store i32 {100 + number}, ptr %others, align 4"],
            "read": [
                f"%v{number} = load i32, ptr %own, align 4",
                f"%to{number} = add i32 %v{number}, {number}",
                f"%old{number} = load i32, ptr %to, align 4",
                f"%sum{number} = add i32 %old{number}, %to{number}",
                f"store i32 %sum{number}, ptr %to, align 4",
            ],
            "barrier": [BARRIER],
        }[step]
    head, _, _ = ACROSS.partition("  %r = load")
    text = "\n  ".join([head, "%to = getelementptr i32, ptr %q, i32 %t", *lines, "ret void"])
    plain = apply(across(text), ()).text
    orders = (Schedule.forward(), Schedule.reverse(), Schedule.random(1))
    results = {left(plain, order) for order in orders}
    made = apply(across(text), (NoAlias(0), NoAlias(1)))
    if len(results) == 1 and not _races(steps):
        assert {left(optimise_with(made.text, None, "sm_80"), order) for order in orders} == results


def _races(steps: list[str]) -> bool:
    """Whether, between two barriers, a thread touches its own element and its neighbour writes it."""
    intervals = " ".join(steps).split("barrier")
    return any("others" in each and ("own" in each or "read" in each) for each in intervals)


# -- the read-only cache


def loads_of(original: Original) -> list[int]:
    return [id for id, node in original.nodes.items() if node.instruction.opcode == "load" and isinstance(id, int)]


def test_only_what_nobody_writes_is_read_through_the_read_only_cache() -> None:
    original = across(ACROSS.replace("store i32 %r1, ptr %others", "store i32 %r1, ptr %elsewhere").replace(
        "  %r = load", "  %elsewhere = getelementptr i32, ptr %q, i32 %o\n  %r = load"
    ))  # fmt: skip
    loads = loads_of(original)
    applied = apply(original, [CachePolicy(load, "nc") for load in loads])
    assert applied.inert == () and applied.text.count("!invariant.load") == 2
    assert [str(guard) for guard in applied.guards] == ["argument 0 shares no memory"]
    written = across()
    assert "may write through argument 0" in refusal(written, CachePolicy(loads_of(written)[0], "nc"))
    assert all(edit.policy != "nc" for edit in cache_policies(written))
    store = next(id for id, node in original.nodes.items() if "%elsewhere" in node.operands)
    for edits in (
        (CachePolicy(loads[0], "nc"), ReplaceOperand(store, 1, "ptr %others")),
        (CachePolicy(loads[0], "nc"), Copy("c0000000000", loads[0], store), ReplaceOperand(store, 1, "ptr %others")),
    ):
        broken = apply(original, edits)
        assert "!invariant.load" not in broken.text and [each.edit for each in broken.inert] == [edits[0]]


def test_the_read_only_cache_needs_a_pointer_that_was_given() -> None:
    chosen = "%c = icmp slt i32 %n, 3\n%s = select i1 %c, ptr %p, ptr %q\n%a = load i32, ptr %s\nret void"
    assert "does not come from one pointer argument" in refusal(kernel(chosen), CachePolicy(2, "nc"))
    found = "%r = load ptr, ptr %p\n%a = load i32, ptr %r\nret void"
    assert "finds pointers in memory" in refusal(kernel(found), CachePolicy(1, "nc"))


# -- fences

FENCED = f"""
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i32, ptr %p, i32 %t
  %c = icmp slt i32 %t, 4
  %z = load i32, ptr %q, align 4
  store i32 %z, ptr %at, align 4
  br i1 %c, label %then, label %end
then:
  %old = atomicrmw xchg ptr %q, i32 1 monotonic, align 4
  {FENCE}
  %v = load i32, ptr %at, align 4
  store i32 %v, ptr %q, align 4
  br label %end
end:
  %w = load i32, ptr %p, align 4
  %far = getelementptr i32, ptr %p, i32 %w
  store i32 %w, ptr %far, align 4
  ret void
"""


@pytest.fixture
def fenced() -> Original:
    return kernel(FENCED, DECLARED)


def number(original: Original, result: str) -> int:
    id = original.defined[result]
    assert isinstance(id, int)
    return id


def test_an_exchange_in_a_kernel_with_fences_stays_one(fenced: Original) -> None:
    exchange = number(fenced, "%old")
    assert "what an exchange orders a store does not" in refusal(fenced, ExchangeToStore(exchange))
    assert list(exchanges(fenced)) == []
    without = kernel(FENCED.replace(FENCE, ""), DECLARED)
    assert list(exchanges(without)) == [ExchangeToStore(exchange)]
    for other in ("fence syncscope(\"device\") seq_cst", 'call void asm sideeffect "fence.acq_rel.gpu;", "~{memory}"()',
                  "%a = load atomic i32, ptr %q acquire, align 4"):  # fmt: skip
        assert list(exchanges(kernel(FENCED.replace(FENCE, other), DECLARED))) == []


def test_fences_stay_where_they_are(fenced: Original) -> None:
    fence = next(id for id, node in fenced.nodes.items() if "@llvm.nvvm.membar.gl" in node.operands)
    edits: tuple[Edit, ...] = (
        Delete(fence),
        Move(fence, 0),
        Copy("c0000000000", fence, 0),
        Swap(fence, 0),
        DeleteBarrier(fence),
    )
    for edit in edits:
        assert f"instruction {fence} is a 'call', which stays where it is" in refusal(fenced, edit)


def test_no_access_goes_past_a_fence(fenced: Original) -> None:
    v, w, z, far = (number(fenced, f"%{name}") for name in ("v", "w", "z", "far"))
    exchange = number(fenced, "%old")
    for edit in (
        Move(v, exchange), Move(exchange, v + 1), Swap(exchange, v), Copy("c0000000000", v, exchange),
        Move(w, v), Move(z, w), Copy("c0000000000", w, z),
    ):  # fmt: skip
        assert "a fence may stand between" in refusal(fenced, edit), edit
    for edit in (Move(far, z), Move(z, 1), Swap(w, far)):
        assert all("fence" not in each.reason for each in apply(fenced, (edit,)).inert), edit
    assert not any(edit.subject in (v, exchange) for edit in reorderings(fenced))


def test_loads_are_not_hoisted_past_a_fence(fenced: Original) -> None:
    then = next(ids for ids in fenced.order if number(fenced, "%v") in ids)
    assert "no load that could stand before it" in refusal(fenced, HoistLoads(then[-1]))
    open_ = kernel(FENCED.replace(FENCE, ""), DECLARED)
    assert HoistLoads(next(i for i in open_.order if number(open_, "%v") in i)[-1]) in list(hoistings(open_))


def test_what_touches_no_memory_goes_where_it_likes(fenced: Original) -> None:
    assert apply(fenced, (Move(number(fenced, "%c"), number(fenced, "%z") + 1),)).inert == ()
