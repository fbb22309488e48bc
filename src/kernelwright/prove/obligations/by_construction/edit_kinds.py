"""What keeps the meaning by construction: the argument stands with the kind of edit, here is what it takes.

specialised inputs, unrolling, recipes    their guard
turns of a loop copied                    nothing: the same runs, in the same order
any change at all                         sums that are fused as they were (``rounding``)
cache policies                            plain loads; for nc nothing writes there while the kernel runs
barriers of a warp                        aligned barriers; blocks of at most 32 threads, else see ``barriers``
no alias                                  the kernel writes nothing behind that pointer
exchange to store                         the result is unused, and no fence, acquire or release orders it
shared arrays made private                their guards; see ``private_arrays``
masked loads                              their guards, their selects; see ``masked_loads``
"""

from __future__ import annotations

from collections.abc import Iterator

from kernelwright.edits.instruction_words import describe_argument, describe_instruction
from kernelwright.edits.line_templates import AS_STORE, FAST_FLAGS, OF_WARP, POLICIES
from kernelwright.edits.original import Id
from kernelwright.edits.plain_constants import bits_of
from kernelwright.guards import Apart, ArgumentIs, BlockIs, BlockIsWarp, GridIs, Guard
from kernelwright.ir import Argument, Function, GlobalVariable, InlineAsm, Instruction
from kernelwright.prove.obligations.barriers import is_narrowed
from kernelwright.prove.obligations.by_construction.masked_loads import of_masked_loads
from kernelwright.prove.obligations.by_construction.private_arrays import private_arrays
from kernelwright.prove.obligations.effects import bases, pointer_of, read_only
from kernelwright.prove.obligations.obligation import Method, Obligation
from kernelwright.prove.obligations.rounding.fused_sums import may_fuse, why_fused_otherwise
from kernelwright.prove.obligations.rounding.loose_operations import why_loose
from kernelwright.prove.obligations.variant_pair import VariantPair

ALIGNED = frozenset({"llvm.nvvm.barrier0", "llvm.nvvm.barrier.cta.sync.aligned.all"})
"""Barriers that all threads of a warp reach together."""


def by_construction(pair: VariantPair) -> Iterator[Obligation]:
    """What the setting, the recipe and what was added to instructions owe."""
    yield from _specialised(pair)
    yield from _apart(pair)
    yield from _compiled(pair)
    yield from private_arrays(pair)
    yield from of_masked_loads(pair)
    for id, extras in pair.applied.draft.extras.items():
        if id not in pair.applied.draft.dead:
            for extra in extras:
                yield _extra(pair, id, extra)


def _guarded(pair: VariantPair, guard: Guard, claim: str) -> Obligation:
    if guard in pair.applied.guards:
        return Obligation(claim, "construction", f"it is checked at each launch: {guard}")
    return Obligation(claim, "tested", f"no guard says so: {guard}")


def _specialised(pair: VariantPair) -> Iterator[Obligation]:
    setting = pair.applied.draft.setting
    for index, text in setting.fixed:
        type = pair.before.arguments[index].type
        bits = bits_of(type, text)
        what = f"{describe_argument(pair.original, index)} is {text} in every launch"
        if bits is None:
            yield Obligation(what, "tested", "its bits are not known")
        else:
            yield _guarded(pair, ArgumentIs(index, f"{type.text} {text}", bits), what)
    if setting.block is not None:
        yield _guarded(pair, BlockIs(setting.block), "every block has this shape")
    if setting.grid is not None:
        yield _guarded(pair, GridIs(setting.grid), "every grid has this shape")


def _compiled(pair: VariantPair) -> Iterator[Obligation]:
    draft = pair.applied.draft
    if may_fuse(pair.before) or may_fuse(pair.after):
        claim, otherwise = "the same products are rounded once, with their sum", why_fused_otherwise(pair)
        if otherwise:
            yield Obligation(claim, "tested", otherwise)
        else:
            yield Obligation(claim, "construction", "every sum that LLVM leaves has its products beside it as before")
    loose = why_loose(pair.before)
    if loose:
        yield Obligation("what LLVM may compute in several ways is computed as before", "tested", loose)
    asked = [
        f"a loop is unrolled {count} times" if count else "a loop is unrolled wholly"
        for count in draft.unrolled.values()
    ]
    if draft.recipe is not None:
        asked.append("LLVM runs other passes")
    for claim in asked:
        yield Obligation(claim, "construction", "LLVM's passes keep the meaning")
    for count in draft.collected.values():
        claim = f"{count} turns of a loop stand one after the other"
        yield Obligation(claim, "construction", "each has its way out: the same runs, in the same order")


def _apart(pair: VariantPair) -> Iterator[Obligation]:
    for index in sorted(pair.applied.draft.setting.apart):
        argument = pair.before.arguments[index]
        claim = (
            f"no other thread changes the memory behind {describe_argument(pair.original, index)} while the kernel runs"
        )
        held = _guarded(pair, Apart(index), claim)
        needed = read_only(pair.before, argument) if _reads_as_before(pair) else None
        if not held.holds:
            yield held
        elif pair.original.finds_pointers:
            yield Obligation(claim, "tested", "the kernel finds pointers in memory, which no launch shows")
        elif needed is None or not needed <= {index}:
            yield Obligation(claim, "tested", "the kernel writes there, and so do other threads of it")
        else:
            yield Obligation(claim, "construction", f"the kernel only reads it, and at each launch {Apart(index)}")


def _reads_as_before(pair: VariantPair) -> bool:
    """Whether the variant has no store that the original has not: what the original only reads, the variant only reads."""
    written = {"store", "atomicrmw", "cmpxchg"}
    if any(pair.varied[id].opcode in written for id in pair.copies):
        return False
    return not any(pair.varied[id].opcode in written and index == 1 for id, index in pair.changed_uses)


def _extra(pair: VariantPair, id: Id, extra: str) -> Obligation:
    what, _ = describe_instruction(pair.original, id)
    place, subject = pair.place(id), str(id)
    if extra in FAST_FLAGS:
        why = "the result may be rounded otherwise"
        return Obligation(f"{what} has the same result with {extra}", "tested", why, place=place, subject=subject)
    if extra == AS_STORE:
        method, why = _exchange(pair, id)
        return Obligation(f"{what} can be a store", method, why, place=place, subject=subject)
    if extra == OF_WARP:
        method, why = _warp_barrier(pair, id)
        return Obligation(f"{what} can be one of its warp", method, why, place=place, subject=subject)
    if extra in POLICIES:
        method, why = _policy(pair, id, extra)
        return Obligation(f"{what} can read with the policy {extra}", method, why, place=place, subject=subject)
    return Obligation(f"{what} keeps its meaning with {extra}", "tested", "it is unknown", place=place, subject=subject)


def _exchange(pair: VariantPair, id: Id) -> tuple[Method, str]:
    result = pair.original.nodes[id].result if isinstance(id, int) else ""
    if not isinstance(id, int) or any(result in pair.operands_after(o) for ids in pair.order_after for o in ids):
        return "tested", "its result is used"
    orders = next((i for i in pair.before.instructions() if _orders(i)), None)
    if orders is not None:
        return "tested", f"the kernel has a '{orders.opcode}' that may order it with other memory"
    return "construction", "its result is unused, and the kernel has no fence, acquire or release that could order it"


def _orders(i: Instruction) -> bool:
    """Whether it may be a fence, an acquire or a release. What is not known may be one."""
    if i.opcode == "fence" or i.is_opaque:
        return True
    if i.opcode in ("load", "store", "atomicrmw"):
        return i.volatile or i.ordering not in ("", "monotonic")
    if i.opcode == "cmpxchg":
        return i.volatile or i.ordering != "monotonic" or i.failure_ordering != "monotonic"
    if i.opcode != "call":
        return False
    callee = i.callee
    if isinstance(callee, InlineAsm):
        return bool(callee.text)
    name = callee.name if isinstance(callee, Function) else ""
    harmless = (
        "llvm.nvvm.read.ptx.",
        "llvm.nvvm.barrier0",
        "llvm.nvvm.barrier.cta.",
        "llvm.nvvm.bar.warp.sync",
        "llvm.nvvm.shfl",
    )
    if name.startswith(harmless):
        return False
    return not name.startswith("llvm.") or any(
        word in name for word in ("fence", "membar", "atom", "mbarrier", "cp.async")
    )


def _warp_barrier(pair: VariantPair, id: Id) -> tuple[Method, str]:
    callee = pair.original.nodes[id].instruction.callee if isinstance(id, int) else None
    if not isinstance(callee, Function) or callee.name not in ALIGNED:
        return "tested", "threads of a warp may reach it apart"
    if is_narrowed(pair, id):  # what it no longer separates is asked of the solver
        return "construction", "all threads of a warp come to it together"
    return "construction", f"it is checked at each launch: {BlockIsWarp()}"


def _policy(pair: VariantPair, id: Id, policy: str) -> tuple[Method, str]:
    if not isinstance(id, int):
        return "tested", "it is a copy"
    load = pair.original.nodes[id].instruction
    behind = bases(pointer_of(load))
    if behind is None or not all(_is_global(base) for base in behind):
        return "tested", "it may read what is not in global memory"
    if policy != "nc":
        return "construction", "it is a plain load of global memory, which every policy reads alike"
    needed: set[int] = set()
    for base in behind:
        found = read_only(pair.before, base) if _reads_as_before(pair) else None
        if found is None:
            return "tested", "the kernel may write there"
        needed |= found
    missing = [Apart(index) for index in sorted(needed) if Apart(index) not in pair.applied.guards]
    if missing:
        return "tested", f"no guard says so: {missing[0]}"
    return "construction", "nothing writes there while the kernel runs"


def _is_global(base: object) -> bool:
    if isinstance(base, GlobalVariable):
        return base.address_space in (0, 1)
    return isinstance(base, Argument) and "byval" not in base.attributes
