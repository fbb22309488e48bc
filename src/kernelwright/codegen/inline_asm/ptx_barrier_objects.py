"""Barriers that lie in shared memory (``mbarrier``) and the bulk copies that report to them, as IR. PTX ISA, "Parallel Synchronization
and Communication Instructions: mbarrier" and "Data Movement and Conversion Instructions: cp.async.bulk".

What a barrier holds is opaque; here its 64 bits are

    0 .. 15   arrivals that the phase still waits for
    16 .. 31  arrivals that a phase begins with
    32        the phase's parity
    40 .. 63  bytes that are expected and have not come, below zero where they came first

An arrival is one addition; who sees that nothing is missing any more begins the next phase with another. Copies are done at once, which
is one of the times at which they may be.
"""

from __future__ import annotations

from kernelwright.codegen.inline_asm.builder import SPACES, Builder, Texts, Words
from kernelwright.ir import types as ty
from kernelwright.ir.constants import ConstantInt
from kernelwright.ir.types import PointerType
from kernelwright.ir.values import Value

BEGINS_WITH, PARITY, BYTES = 16, 32, 40
MOST = (1 << BEGINS_WITH) - 1


def barrier_object(b: Builder, words: Words, operands: Texts) -> None:
    """``mbarrier.init.shared.b64 [$0], $1;`` and its like. Raises ``ValueError`` for what is not known."""
    verb = words[1]
    if verb == "inval":
        return
    if verb == "pending_count":
        b.write(operands[0], b.cast(_and(b, b.read(operands[1], ty.i64), MOST), ty.i32))
        return
    result = "" if operands[0].startswith("[") else operands.pop(0)
    place = pointer_to(b, words, operands[0])
    if verb == "init":
        count = b.read(operands[1], ty.i64)
        b.make("store", ty.void, b.make("or", ty.i64, count, _shifted(b, count, BEGINS_WITH)), place)
    elif verb in ("expect_tx", "complete_tx"):
        _bytes_change(b, place, b.read(operands[1], ty.i64), verb == "complete_tx")
    elif verb in ("arrive", "arrive_drop"):
        expects = "expect_tx" in words
        count = ConstantInt(ty.i64, 1) if expects or len(operands) == 1 else b.read(operands[1], ty.i64)
        fewer = b.make("or", ty.i64, count, _shifted(b, count, BEGINS_WITH)) if verb == "arrive_drop" else count
        more = _shifted(b, b.read(operands[1], ty.i64), BYTES) if expects else ConstantInt(ty.i64, 0)
        before = _add(b, place, b.make("sub", ty.i64, more, fewer))
        if "noComplete" not in words:
            _complete(b, place, b.make("add", ty.i64, before, b.make("sub", ty.i64, more, fewer)))
        b.write(result or "_", before)
    elif verb in ("test_wait", "try_wait"):
        now = _add(b, place, ConstantInt(ty.i64, 0))  # a load would race with arrivals
        asked = b.read(operands[1], ty.i64)
        phase = _and(b, asked, 1) if "parity" in words else _parity(b, asked)
        b.write(result, b.compare("ne", _parity(b, now), phase))
    else:
        raise ValueError(verb)


def arrive_with_copies(b: Builder, words: Words, operands: Texts) -> None:
    """``cp.async.mbarrier.arrive``: an arrival when the thread's copies are done, which they are. Without ``noinc`` it is one more than
    was waited for."""
    if "noinc" in words:
        barrier_object(b, ["mbarrier", "arrive", *words[4:]], operands)


def bulk_copy(b: Builder, words: Words, operands: Texts) -> None:
    """``cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], size, [barrier];`` and the way back.

    A cluster has one block here. Raises ``ValueError`` for tensors, reductions and several targets.
    """
    if words[3] in ("commit_group", "wait_group", "prefetch"):
        return
    if "tensor" in words or "multicast::cluster" in words or words[0] != "cp":
        raise ValueError("a bulk copy of another kind")
    target, origin = (pointer_to(b, [space], text) for space, text in zip(words[3:5], operands, strict=False))
    size = b.read(operands[2], ty.i64)
    spaces = [SPACES[word.partition("::")[0]] for word in words[3:5]]
    b.call(f"llvm.memcpy.p{spaces[0]}.p{spaces[1]}.i64", ty.void, target, origin, size, ConstantInt(ty.i1, 0))
    if any(word.startswith("mbarrier::") for word in words):
        _bytes_change(b, pointer_to(b, ["shared"], operands[3]), size, True)


def pointer_to(b: Builder, words: Words, text: str) -> Value:
    """``[$1 + 16]`` as a pointer into the space that the opcode names, generic when it names none."""
    name, _, offset = text.strip("[] ").partition("+")
    space = next((SPACES[w.partition("::")[0]] for w in words if w.partition("::")[0] in SPACES), 0)
    value = b.read(name.strip(), ty.i64)
    if offset:
        value = b.make("add", ty.i64, value, ConstantInt(ty.i64, int(offset, 0)))
    return b.make("inttoptr", PointerType(space), value)


def _bytes_change(b: Builder, place: Value, size: Value, came: bool) -> None:
    change: Value = _shifted(b, size, BYTES)
    if came:
        change = b.make("sub", ty.i64, ConstantInt(ty.i64, 0), change)
    before = _add(b, place, change)
    if came:
        _complete(b, place, b.make("add", ty.i64, before, change))


def _complete(b: Builder, place: Value, now: Value) -> None:
    """Begins the next phase if nothing is missing in this one."""
    missing = b.make("or", ty.i64, _and(b, now, MOST), b.make("lshr", ty.i64, now, ConstantInt(ty.i64, BYTES)))
    one = ConstantInt(ty.i64, 1 << PARITY)
    other = b.select(b.compare("eq", _parity(b, now), ConstantInt(ty.i64, 0)), one, ConstantInt(ty.i64, -(1 << PARITY)))
    arrivals = _and(b, b.make("lshr", ty.i64, now, ConstantInt(ty.i64, BEGINS_WITH)), MOST)
    following = b.make("add", ty.i64, arrivals, other)
    nothing = ConstantInt(ty.i64, 0)
    _add(b, place, b.select(b.compare("eq", missing, nothing), following, nothing))


def _add(b: Builder, place: Value, change: Value) -> Value:
    return b.make("atomicrmw", ty.i64, place, change, operation="add", ordering="acq_rel")


def _parity(b: Builder, value: Value) -> Value:
    return _and(b, b.make("lshr", ty.i64, value, ConstantInt(ty.i64, PARITY)), 1)


def _and(b: Builder, value: Value, bits: int) -> Value:
    return b.make("and", ty.i64, value, ConstantInt(ty.i64, bits))


def _shifted(b: Builder, value: Value, places: int) -> Value:
    return b.make("shl", ty.i64, value, ConstantInt(ty.i64, places))
