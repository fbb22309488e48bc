"""What the code says about a race, or about an order that shows: whether it can matter, what its author meant, which atomic decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelwright.codegen.simt.launching.launch_result import Found
from kernelwright.device.arena import SHARED_BASE, WINDOW
from kernelwright.device.checking.findings import End, Hint
from kernelwright.device.checking.source_lines import line_of
from kernelwright.ir.constants import ConstantExpr
from kernelwright.ir.module import Argument, Function, Instruction
from kernelwright.ir.types import PointerType
from kernelwright.ir.values import Value
from kernelwright.launch import Triple

_SPECIAL = "llvm.nvvm.read.ptx.sreg."
_OF_THE_LAUNCH = ("ntid.", "nctaid.", "warpsize")
_PURE = frozenset([
    "add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor", "fadd", "fsub", "fmul", "fdiv",
    "frem", "fneg", "icmp", "fcmp", "select", "trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp",
    "ptrtoint", "inttoptr", "bitcast", "addrspacecast", "getelementptr", "extractvalue", "freeze",
])  # fmt: skip
_OF_A_WARP = ("llvm.nvvm.vote.", "llvm.nvvm.redux.", "llvm.nvvm.match.all")
_ACROSS = "llvm.nvvm.shfl.sync.bfly"
_DEPTH = 24


def is_in_shared(address: int) -> bool:
    """Whether a generic address lies in the window of shared memory."""
    return SHARED_BASE <= address < SHARED_BASE + WINDOW


def cannot_matter(found: Found) -> bool:
    """Whether a benign race is benign on every input: two stores of one value that is the same for all threads concerned, by the code
    and not by the data."""
    if found.other is None or found.verbs != ("write", "write"):
        return False
    values = [one.operands[0] for one in (found.origin, found.other) if one.opcode == "store"]
    if len(values) < 2:
        return False
    if found.origin is found.other:
        return _is_same_for_all(values[0], found.scope, _DEPTH)
    return all(value.is_constant and not isinstance(value, ConstantExpr) for value in values)


def _is_same_for_all(value: Value, scope: str, depth: int) -> bool:
    if value.is_constant:
        return True
    if isinstance(value, Argument):
        return value.function is not None and value.function.is_kernel
    if not isinstance(value, Instruction) or depth == 0:
        return False
    if value.opcode == "load" and not value.volatile:
        # Of shared memory another block has its own; what changes between two threads' loads races itself.
        address = value.operands[0].type
        of_block = isinstance(address, PointerType) and address.address_space == 3
        return _is_same_for_all(value.operands[0], scope, depth - 1) and not (of_block and scope == "grid")
    if value.opcode == "call":
        name = value.callee.name
        if name.startswith(_SPECIAL):
            rest = name.removeprefix(_SPECIAL)
            return rest.startswith(_OF_THE_LAUNCH) or (rest.startswith("ctaid.") and scope != "grid")
        if scope == "warp" and name.startswith(_OF_A_WARP):
            return True
        if scope == "warp" and name.startswith("llvm.nvvm.shfl.sync.idx"):
            return _is_same_for_all(value.arguments[2], scope, depth - 1)
        return False
    if scope == "warp" and _is_butterfly(value):
        return True
    return value.opcode in _PURE and all(_is_same_for_all(one, scope, depth - 1) for one in value.operands)


def _is_butterfly(value: Instruction) -> bool:
    """Whether lanes join what they have with what the lane across has, as in the last step of a sum of all: both then have the same."""
    for one, other in (value.operands[:2], value.operands[1::-1]) if len(value.operands) > 1 else ():
        crossed = other.operands[0] if isinstance(other, Instruction) and other.opcode == "bitcast" else other
        if isinstance(crossed, Instruction) and crossed.opcode == "call" and crossed.callee.name.startswith(_ACROSS):
            sent = crossed.arguments[1]
            return one is (sent.operands[0] if isinstance(sent, Instruction) and sent.opcode == "bitcast" else sent)
    return False


def advice(found: Found, kernel: Function, block: Triple, threads: tuple[Triple, Triple], grid: Triple) -> Hint:
    """What helps against a race of this kind; ``threads``: both."""
    first, second = threads
    if found.scope != "grid":
        for axis, name in ((1, "y"), (2, "z")):
            if block[axis] > 1 and first[axis] != second[axis] and not _reads(kernel, f"tid.{name}"):
                return "race threadIdx.y" if name == "y" else "race threadIdx.z"
    elif grid[1] > 1 and not _reads(kernel, "ctaid.y"):
        return "race blockIdx.y"
    if _updates_one_word(found):
        return "race update"
    if "atomic" in found.verbs and found.scope == "grid":
        return "race atomic"
    scopes: dict[str, Hint] = {"warp": "race warp", "block": "race block", "grid": "race grid"}
    return scopes[found.scope]


def _reads(kernel: Function, register: str) -> bool:
    """Whether a kernel, or what it calls, may look at one of its numbers."""
    return any(
        one.opcode == "call" and one.callee.name == _SPECIAL + register
        for function in _with_callees(kernel)
        for one in function.instructions()
    )


def _with_callees(kernel: Function) -> list[Function]:
    found = [kernel]
    for function in found:
        for one in function.instructions():
            callee = one.callee if one.opcode == "call" else None
            if isinstance(callee, Function) and not callee.is_declaration and callee not in found:
                found.append(callee)
    return found


def _updates_one_word(found: Found) -> bool:
    """Whether threads change what they have read: ``x += 1``, ``x = max(x, y)``."""
    ends = [one for one in (found.origin, found.other) if one is not None]
    store = next((one for one in ends if one.opcode == "store"), None)
    if store is None or "atomic" in found.verbs:
        return False
    address = store.operands[1]
    reads = [one for one in _behind(store.operands[0]) if one.opcode == "load"]
    if found.verbs == ("write", "write"):
        return found.origin is found.other and any(_same_address(one.operands[0], address) for one in reads)
    load = next((one for one in ends if one.opcode == "load"), None)
    return load is not None and load in reads and _same_address(load.operands[0], address)


def _same_address(one: Value, other: Value) -> bool:
    if one is other:
        return True
    if isinstance(one, Instruction) and isinstance(other, Instruction):
        return one.opcode == other.opcode == "getelementptr" and one.operands == other.operands
    if isinstance(one, ConstantExpr) and isinstance(other, ConstantExpr):
        pairs = zip(one.operands, other.operands, strict=False)
        return one.opcode == other.opcode and all(_same_address(a, b) for a, b in pairs)
    return False


def _behind(value: Value) -> Iterator[Instruction]:
    """The instructions that a value is made of, by arithmetic."""
    waiting = [value]
    seen: set[Instruction] = set()
    while waiting and len(seen) < 200:
        one = waiting.pop()
        if isinstance(one, Instruction) and one not in seen:
            seen.add(one)
            yield one
            if one.opcode in _PURE or one.opcode == "phi":
                waiting += one.operands


def deciding_atomics(kernel: Function, names: Sequence[str]) -> list[End]:
    """The atomics of a kernel by which the order of threads can show: those whose answer is used, exchanges, sums of floating-point
    numbers; if any of the last two kinds is on an argument among ``names``, these alone."""
    on_it, others = [], []
    for function in _with_callees(kernel):
        for one in function.instructions():
            if one.opcode not in ("atomicrmw", "cmpxchg"):
                continue
            ordered = one.opcode == "atomicrmw" and (one.operation == "xchg" or one.operation.startswith("f"))
            if not (ordered or one.is_used):
                continue
            place = line_of(one)
            end = End(place.file, place.line)
            others.append(end)
            base = one.operands[0]
            while isinstance(base, Instruction) and base.opcode in ("getelementptr", "addrspacecast", "bitcast"):
                base = base.operands[0]
            if ordered and isinstance(base, Argument) and base.name in names:
                on_it.append(end)
    return list(dict.fromkeys(on_it or others))
