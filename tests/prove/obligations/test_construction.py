"""What holds by construction, and what only looks like it."""

from __future__ import annotations

from kernelwright.edits import Original, from_json
from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.genome import apply
from kernelwright.edits.kinds.copy import Copy
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.exchange_to_store import ExchangeToStore
from kernelwright.edits.kinds.fast_math import FastMath
from kernelwright.edits.kinds.fix_launch import FixArgument, FixBlock
from kernelwright.edits.kinds.loads.cache_policy import CachePolicy
from kernelwright.edits.kinds.move import Move
from kernelwright.edits.kinds.no_alias import NoAlias
from kernelwright.edits.kinds.unroll import Unroll
from kernelwright.edits.kinds.warp_barriers import WarpBarriers
from kernelwright.guards import Apart
from kernelwright.ir import parse_module
from kernelwright.prove.obligations.obligation import Obligation, all_hold, obligation_from_json
from kernelwright.prove.obligations.owed import owed

HEAD = """
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.barrier.cta.sync.all(i32)
declare void @llvm.nvvm.membar.gl()
declare void @llvm.nvvm.bar.warp.sync(i32)
"""


def kernel(body: str, arguments: str = "ptr %p, ptr %q, i32 %n") -> Original:
    module = parse_module(f"{HEAD}\ndefine ptx_kernel void @k({arguments}) {{\nentry:\n{body}\n  ret void\n}}\n")
    return Original(module, "k")


def of(original: Original, *edits: Edit) -> list[Obligation]:
    found = owed(original, edits)
    assert [obligation_from_json(one.as_json()) for one in found] == found
    return found


def holds(original: Original, *edits: Edit) -> bool:
    return all_hold(of(original, *edits))


COPY = kernel("""  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %m = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %s = add i32 %t, %n
  %i = sext i32 %s to i64
  %a = getelementptr float, ptr %p, i64 %i
  %x = load float, ptr %a
  %b = getelementptr float, ptr %q, i64 %i
  store float %x, ptr %b
  %c = getelementptr float, ptr %p, i64 3
  %y = load float, ptr %c
  %z = fadd float %x, %y
  store float %z, ptr %b""")


def id_of(original: Original, name: str) -> int:
    return next(id for id, node in original.nodes.items() if node.result == f"%{name}" and isinstance(id, int))


def those(original: Original, opcode: str) -> list[int]:
    return [id for id, n in original.nodes.items() if n.instruction.opcode == opcode and isinstance(id, int)]


def test_nothing_changed_owes_nothing_open() -> None:
    assert holds(COPY)


def test_specialised_inputs_hold_under_their_guard() -> None:
    assert holds(COPY, FixArgument(2, "i32 7"), FixBlock((32, 1, 1)))


def test_a_constant_in_place_of_an_argument_without_a_guard_is_open() -> None:
    edit = from_json({"edit": "replace-operand", "user": id_of(COPY, "s"), "index": 1, "value": "i32 7"})
    assert not holds(COPY, edit)


def test_a_pointer_that_is_only_read_may_be_apart() -> None:
    assert holds(COPY, NoAlias(0))
    assert not holds(COPY, NoAlias(1))


def test_a_copied_store_through_the_pointer_takes_that_away() -> None:
    store = those(COPY, "store")[0]
    to_p = from_json({"edit": "replace-operand", "user": store, "index": 1, "value": "ptr %a"})
    assert not all_hold(one for one in of(COPY, NoAlias(0), to_p) if "changes the memory" in one.claim)


def test_a_load_may_cross_a_store_into_other_memory_only() -> None:
    load, first = id_of(COPY, "y"), those(COPY, "store")[0]
    assert not holds(COPY, Move(id_of(COPY, "c"), first), Move(load, first))
    assert holds(COPY, NoAlias(0), Move(id_of(COPY, "c"), first), Move(load, first))


def test_values_may_be_made_anywhere() -> None:
    assert holds(COPY, Move(id_of(COPY, "b"), id_of(COPY, "x")))


def test_stores_keep_their_order_and_stay() -> None:
    first, second = those(COPY, "store")
    assert not holds(COPY, Move(second, first))
    assert not holds(COPY, Delete(first))
    assert not holds(COPY, Copy("c0123456789", first, second))


def test_results_that_may_be_rounded_otherwise_are_open() -> None:
    assert not holds(COPY, FastMath(id_of(COPY, "z"), "afn"))


FUSED = kernel("""  %x = load float, ptr %p
  %y = fmul contract float %x, %x
  %z = fadd contract float %y, 1.0
  store float %z, ptr %q""")


def test_a_product_that_is_no_longer_fused_is_open() -> None:
    edit = Copy("c0123456789", id_of(FUSED, "y"), id_of(FUSED, "z"))
    assert holds(FUSED, edit)
    user = those(FUSED, "store")[0]
    taken = from_json({"edit": "replace-operand", "user": user, "index": 0, "value": "float %y"})
    assert not holds(FUSED, taken)


def test_plain_loads_read_alike_with_every_policy() -> None:
    assert holds(COPY, CachePolicy(id_of(COPY, "x"), "cg"))
    assert holds(COPY, CachePolicy(id_of(COPY, "x"), "nc"))
    assert Apart(0) in apply(COPY, [CachePolicy(id_of(COPY, "x"), "nc")]).guards
    assert holds(COPY, NoAlias(0), CachePolicy(id_of(COPY, "x"), "nc"))


EXCHANGE = "  %o = atomicrmw xchg ptr %p, i32 1 monotonic\n"


def test_an_exchange_is_a_store_where_nothing_orders_it() -> None:
    plain = kernel(EXCHANGE)
    assert holds(plain, ExchangeToStore(id_of(plain, "o")))
    for fence in ("  fence acq_rel\n", "  call void @llvm.nvvm.membar.gl()\n", '  call void asm "membar.gl;", ""()\n'):
        fenced = kernel(f"  store i32 1, ptr %q\n{fence}{EXCHANGE}")
        assert apply(fenced, [ExchangeToStore(id_of(fenced, "o"))]).inert


def test_a_barrier_is_one_of_its_warp_where_lanes_reach_it_together() -> None:
    aligned = kernel("  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)")
    assert holds(aligned, WarpBarriers())
    apart = kernel("  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)")
    assert not holds(apart, WarpBarriers())


LOOP = """  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %s = phi float [ 0.0, %entry ], [ %u, %loop ]
  %w = zext i32 %i to i64
  %g = getelementptr float, ptr %p, i64 %w
  %x = load float, ptr %g
  %y = fmul contract float %x, %x
  %u = fadd contract float %s, %y
  %j = add nuw nsw i32 %i, 1
  %more = icmp slt i32 %j, %n
  br i1 %more, label %loop, label %end
end:
  store float %u, ptr %q"""


def test_unrolling_holds() -> None:
    loop = kernel(LOOP)
    assert holds(loop, Unroll(next(iter(loop.latches)), 4))
