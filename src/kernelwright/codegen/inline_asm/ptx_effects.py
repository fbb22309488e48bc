"""PTX instructions that touch memory or other threads, as IR; see ``ptx_instructions``."""

from __future__ import annotations

from kernelwright.codegen.inline_asm.builder import Builder, Family, Texts, UnknownPtx, Words, type_of, typed_as
from kernelwright.codegen.inline_asm.ptx_barrier_objects import (
    arrive_with_copies,
    barrier_object,
    bulk_copy,
    pointer_to,
)
from kernelwright.ir import types as ty
from kernelwright.ir.constants import ConstantInt, Poison
from kernelwright.ir.types import FloatType, StructType, VectorType
from kernelwright.ir.values import Value

# -- memory ------------------------------------------------------------------------------------------------------------


def _load(b: Builder, words: Words, operands: Texts) -> None:
    type, is_signed, _ = typed_as(words)
    pointer = pointer_to(b, words, operands[1])
    count = next((int(w[1]) for w in words if w in ("v2", "v4")), 1)
    whole = VectorType(count, type) if count > 1 else type
    value = b.make("load", whole, pointer, **_seen_by_others(words))
    if count == 1:
        b.write(operands[0], value, is_signed)
        return
    for n, name in enumerate(operands[0].strip("{} ").split(",")):
        b.write(name, b.make("extractelement", type, value, ConstantInt(ty.i32, n)), is_signed)


def _store(b: Builder, words: Words, operands: Texts) -> None:
    type = type_of(words[-1])
    pointer = pointer_to(b, words, operands[0])
    count = next((int(w[1]) for w in words if w in ("v2", "v4")), 1)
    if count == 1:
        b.make("store", ty.void, b.read(operands[1], type), pointer, **_seen_by_others(words))
        return
    whole = VectorType(count, type)
    value: Value = Poison(whole)
    for n, name in enumerate(operands[1].strip("{} ").split(",")):
        value = b.make("insertelement", whole, value, b.read(name, type), ConstantInt(ty.i32, n))
    b.make("store", ty.void, value, pointer, **_seen_by_others(words))


def _seen_by_others(words: Words) -> dict[str, object]:
    """How IR says that other threads take part: volatile, or an ordering."""
    ordering = {"relaxed": "monotonic", "acquire": "acquire", "release": "release"}
    found = next((ordering[w] for w in words if w in ordering), "")
    return {"ordering": found} if found else {"volatile": "volatile" in words}


_OPERATIONS = {"add": "add", "exch": "xchg", "and": "and", "or": "or", "xor": "xor", "inc": "uinc_wrap"}
_OPERATIONS |= {"dec": "udec_wrap"}


def _atom(b: Builder, words: Words, operands: Texts) -> None:
    """``atom`` and ``red``; the second gives no result."""
    type, is_signed, _ = typed_as(words)
    values = operands if words[0] == "red" else operands[1:]
    pointer = pointer_to(b, words, values[0])
    if "cas" in words:
        pair = StructType((type, ty.i1))
        both = b.make(
            "cmpxchg", pair, pointer, b.read(values[1], type), b.read(values[2], type),
            ordering="monotonic", failure_ordering="monotonic",
        )  # fmt: skip
        made = b.make("extractvalue", type, both, indices=(0,))
    else:
        word = next(w for w in words[1:] if w in ("min", "max") or w in _OPERATIONS)
        if isinstance(type, FloatType | VectorType):
            operation = {"add": "fadd", "exch": "xchg"}[word]
        elif word in ("min", "max"):
            operation = word if is_signed else f"u{word}"
        else:
            operation = _OPERATIONS[word]
        made = b.make("atomicrmw", type, pointer, b.read(values[1], type), operation=operation, ordering="monotonic")
    if words[0] == "atom":
        b.write(operands[0], made)


# -- threads -----------------------------------------------------------------------------------------------------------


def _barrier(b: Builder, words: Words, operands: Texts) -> None:
    if words[1:2] == ["warp"]:
        b.call("llvm.nvvm.bar.warp.sync", ty.void, b.read(operands[0], ty.i32))
        return
    what = next(w for w in words if w in ("sync", "arrive"))
    numbers = [b.read(o, ty.i32) for o in operands]
    ending = "count" if len(numbers) == 2 else "all"
    aligned = ".aligned" if words[0] == "bar" or "aligned" in words else ""
    b.call(f"llvm.nvvm.barrier.cta.{what}{aligned}.{ending}", ty.void, *numbers)


def _elect(b: Builder, words: Words, operands: Texts) -> None:
    """``elect.sync d|p, mask``: one of the lanes that are named, and whether it is this one."""
    if words[1:] != ["sync"] or len(operands) != 2:
        raise UnknownPtx(f"'{'.'.join(words)}'")
    both = b.call("llvm.nvvm.elect.sync", StructType((ty.i32, ty.i1)), b.read(operands[1], ty.i32))
    for number, (name, kind) in enumerate(zip(operands[0].split("|"), (ty.i32, ty.i1), strict=False)):
        b.write(name, b.make("extractvalue", kind, both, indices=(number,)))


def _vote(b: Builder, words: Words, operands: Texts) -> None:
    """``vote.sync.ballot.b32 d, p, mask``, and without ``sync`` among the lanes that are there."""
    name = words[2] if words[1] == "sync" else words[1]
    result = ty.i32 if name == "ballot" else ty.i1
    mask = b.read(operands[2], ty.i32) if words[1] == "sync" else b.call("llvm.nvvm.activemask", ty.i32)
    predicate = b.read(operands[1], ty.i1)
    b.write(operands[0], b.call(f"llvm.nvvm.vote.{name}.sync", result, mask, predicate))


def _shuffle(b: Builder, words: Words, operands: Texts) -> None:
    """``shfl.sync.idx.b32 d|p, a, b, c, mask``."""
    value, lane, clamp, mask = (b.read(o, ty.i32) for o in operands[1:5])
    names = operands[0].split("|")
    name = f"llvm.nvvm.shfl.sync.{words[2]}.i32"
    if len(names) == 1:
        b.write(names[0], b.call(name, ty.i32, mask, value, lane, clamp))
        return
    both = b.call(f"{name}p", StructType((ty.i32, ty.i1)), mask, value, lane, clamp)
    b.write(names[0], b.make("extractvalue", ty.i32, both, indices=(0,)))
    b.write(names[1], b.make("extractvalue", ty.i1, both, indices=(1,)))


def _match(b: Builder, words: Words, operands: Texts) -> None:
    """``match.any.sync.b32 d, a, mask``, and ``match.all`` with a predicate."""
    type = type_of(words[-1])
    value, mask = b.read(operands[1], type), b.read(operands[2], ty.i32)
    name = f"llvm.nvvm.match.{words[1]}.sync.{type}"
    names = operands[0].split("|")
    if words[1] == "any":
        b.write(names[0], b.call(name, ty.i32, mask, value))
        return
    both = b.call(f"{name}p", StructType((ty.i32, ty.i1)), mask, value)
    b.write(names[0], b.make("extractvalue", ty.i32, both, indices=(0,)))
    if len(names) > 1:
        b.write(names[1], b.make("extractvalue", ty.i1, both, indices=(1,)))


def _redux(b: Builder, words: Words, operands: Texts) -> None:
    """``redux.sync.add.s32 d, a, mask``."""
    word = f"u{words[2]}" if words[2] in ("min", "max") and words[-1][0] == "u" else words[2]
    value, mask = b.read(operands[1], ty.i32), b.read(operands[2], ty.i32)
    b.write(operands[0], b.call(f"llvm.nvvm.redux.sync.{word}", ty.i32, value, mask))


def _active(b: Builder, words: Words, operands: Texts) -> None:
    b.write(operands[0], b.call("llvm.nvvm.activemask", ty.i32))


def _fence(b: Builder, words: Words, operands: Texts) -> None:
    """``membar.gl``, ``fence.acq_rel.gpu``: one for everybody where no width is named."""
    scopes = {"cta": "block", "cluster": "cluster", "gl": "device", "gpu": "device"}
    b.make("fence", ty.void, ordering="seq_cst", syncscope=next((scopes[w] for w in words if w in scopes), ""))


def _no_effect(b: Builder, words: Words, operands: Texts) -> None:
    """Prefetches and waits for copies that are done at once."""


def _policy(b: Builder, words: Words, operands: Texts) -> None:
    """``createpolicy``: caches here have one policy, so its name is enough."""
    b.write(operands[0], ConstantInt(ty.i64, 0))


def _stop(b: Builder, words: Words, operands: Texts) -> None:
    b.call("llvm.trap" if words[0] == "trap" else "llvm.nvvm.exit", ty.void)


def _sleep(b: Builder, words: Words, operands: Texts) -> None:
    b.call("llvm.nvvm.nanosleep", ty.void, b.read(operands[0], ty.i32))


def _copy_async(b: Builder, words: Words, operands: Texts) -> None:
    """``cp.async.ca.shared.global [to], [from], 16;`` and the waits for it.

    After the size may come how many bytes of it are read, or a predicate under which none are; the rest of the target is
    filled with zeros. A cache policy is the last operand.
    """
    if words[2] in ("commit_group", "wait_group", "wait_all"):
        return
    if words[2] in ("bulk", "mbarrier"):
        (bulk_copy if words[2] == "bulk" else arrive_with_copies)(b, words, operands)
        return
    if words[2] not in ("ca", "cg"):
        raise ValueError(words[2])
    further = operands[3:-1] if "L2::cache_hint" in words else operands[3:]
    size = b.read(operands[2], ty.i32)
    if not isinstance(size, ConstantInt) or size.value not in (4, 8, 16) or len(further) > 1:
        raise ValueError(operands[2])
    target, origin = pointer_to(b, ["shared"], operands[0]), pointer_to(b, ["global"], operands[1])
    name = f"llvm.nvvm.cp.async.{words[2]}.shared.global.{size.value}"
    if not further:
        b.call(name, ty.void, target, origin)
        return
    many: Value
    if b.type_of(further[0]) is ty.i1:
        many = b.select(b.read(further[0], ty.i1), ConstantInt(ty.i32, 0), size)
    else:
        many = b.read(further[0], ty.i32)
    b.call(f"{name}.s", ty.void, target, origin, many)


EFFECTS: dict[str, Family] = {
    **dict.fromkeys(("atom", "red"), _atom),
    **dict.fromkeys(("bar", "barrier"), _barrier),
    **dict.fromkeys(("membar", "fence"), _fence),
    **dict.fromkeys(("prefetch", "prefetchu", "discard", "applypriority"), _no_effect),
    "createpolicy": _policy,
    **dict.fromkeys(("trap", "exit"), _stop),
    **dict.fromkeys(("ld", "ldu"), _load),
    "st": _store,
    "vote": _vote,
    "elect": _elect,
    "shfl": _shuffle,
    "match": _match,
    "redux": _redux,
    "activemask": _active,
    "nanosleep": _sleep,
    "cp": _copy_async,
    "mbarrier": barrier_object,
}

HARMLESS = frozenset(name for name, family in EFFECTS.items() if family is _no_effect)
"""Those that do nothing here, under whatever predicate they stand."""
