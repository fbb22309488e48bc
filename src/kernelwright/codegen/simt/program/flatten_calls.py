"""What a call that has no body means: special registers, barriers, warp operations, printf; the rest is arithmetic.

Names are those of LLVM 22 and of the functions our headers declare.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from kernelwright.codegen.bulk_copies import promised_alignment
from kernelwright.codegen.memory_layout import RESERVED_BYTES
from kernelwright.codegen.simt.program import access_requests, intrinsics
from kernelwright.codegen.simt.program.access_requests import atomic, fence
from kernelwright.codegen.simt.program.flattening_context import FlatteningContext
from kernelwright.codegen.simt.program.lane_scalars import BASES, scalars
from kernelwright.codegen.simt.program.operation_builder import Make
from kernelwright.codegen.simt.program.program import Const, Op, Operand, bits_of, integer
from kernelwright.codegen.simt.program.warp_operations import Barrier, WarpOp
from kernelwright.errors import CompileError
from kernelwright.ir.constants import ConstantInt
from kernelwright.ir.fences import is_fence
from kernelwright.ir.module import Function, Instruction

IGNORED = re.compile(
    r"llvm\.(lifetime\.|assume|dbg\.|experimental\.noalias|invariant\.|prefetch|sideeffect|donothing|annotation|var\.annotation)"
    r"|llvm\.nvvm\.(prefetch|applypriority|discard|cp\.async\.(commit|wait)|griddepcontrol|pm\.event)"
    r"|llvm\.(stackrestore|invariant\.end)"
)

_REGISTER = re.compile(r"llvm\.nvvm\.read\.ptx\.sreg\.([\w.]+)$")
_BARRIER = re.compile(
    r"llvm\.nvvm\.(?:barrier(?:\.cta\.(?P<what>sync|arrive|red\.(?P<red>popc|and|or))(?:\.aligned)?\.(?P<who>all|count)"
    r"|0(?:\.(?P<old>popc|and|or))?|\.sync(?P<counted>\.cnt)?|\.n)?|bar\.sync)$"
)
_SHUFFLE = re.compile(r"llvm\.nvvm\.shfl\.(sync\.)?(up|down|bfly|idx)\.(i32|f32)(p)?$")
_VOTE = re.compile(r"llvm\.nvvm\.vote\.(?:(all|any|uni|ballot|eq)\.sync|(all|any|uni|ballot))$")
_MATCH = re.compile(r"llvm\.nvvm\.match\.(any|all)\.sync\.(i32|i64)(p)?$")
_REDUX = re.compile(r"llvm\.nvvm\.redux\.sync\.(add|and|or|xor|min|max|umin|umax|fmin|fmax)(?:\.(abs))?(?:\.(NaN))?$")
_MEMORY = re.compile(r"llvm\.(memcpy|memmove|memset)(?:\.inline)?\.")
_ATOMIC = re.compile(r"llvm\.nvvm\.atomic\.(?:load\.)?(add|inc|dec|cas|min|max|and|or|xor|exch)(?:\.(gen|f32|32))?.*$")


def intrinsic(flat: FlatteningContext, instruction: Instruction, callee: Function) -> None:
    """Put a call of a function without a body into the program. Raises ``CompileError`` naming what has no meaning here."""
    name = callee.name
    if IGNORED.match(name):
        return
    if is_fence(instruction):
        fence(flat, instruction)
        return
    for pattern, handler in FAMILIES:
        found = pattern.match(name)
        if found:
            handler(flat, instruction, found)
            return
    named = NAMED.get(name)
    if named is not None:
        named(flat, instruction)
        return
    row = intrinsics.meaning(flat, instruction, name)
    if row is not None:
        flat.rows[instruction] = row
        return
    where = "is an intrinsic that the virtual GPU does not know" if callee.is_intrinsic else "is called but has no body"
    raise CompileError(f"'{name}' {where}", hint="remove the call, or define the function in device code")


# -- special registers -------------------------------------------------------------------------------------------------

AXES = ("tid", "ntid", "ctaid", "nctaid")
COOPERATIVE = 2
"""The register in which a driver leaves something for cooperative launches alone."""
CONSTANTS = {
    "tid.w": 0, "ctaid.w": 0, "ntid.w": 1, "nctaid.w": 1, "warpsize": 32, "smid": 0, "nsmid": 1, "gridid": 0,
    # A grid launched without clusters is one of clusters of one block.
    **{f"cluster.ctaid.{axis}": 0 for axis in "xyzw"}, **{f"cluster.nctaid.{axis}": 1 for axis in "xyzw"},
    "cluster.ctarank": 0, "cluster.nctarank": 1, "clusterid.w": 0, "nclusterid.w": 1,
    # What a driver leaves for its own use: nothing here, but for cooperative launches.
    **{f"envreg{n}": 0 for n in range(32) if n != COOPERATIVE},
    "reserved_smem_offset_cap": RESERVED_BYTES,
}  # fmt: skip
RESERVED = {"begin": 0, "0": 0, "1": RESERVED_BYTES // 2, "end": RESERVED_BYTES}
"""Behind ``reserved_smem_offset_``: where in the block's reserved shared memory."""
SIZES = ("dynamic_smem_size", "total_smem_size", "aggr_smem_size")


def _register(flat: FlatteningContext, instruction: Instruction, found: re.Match[str]) -> None:
    name = found[1]
    type = scalars(instruction.type)[0].type
    kind, _, axis = name.partition(".")
    if name in CONSTANTS:
        row: list[Operand] = [integer(type, CONSTANTS[name])]
    elif kind in AXES:
        row = [flat.program.source(kind, axis, "i32")]
    elif kind in ("clusterid", "nclusterid"):
        row = [flat.program.source({"clusterid": "ctaid", "nclusterid": "nctaid"}[kind], axis, "i32")]
    elif name == f"envreg{COOPERATIVE}":
        row = [flat.program.source("cooperative", "", "i32")]
    elif name == "laneid":
        row = [flat.program.source("lane", "", "i32")]
    elif name == "warpid":
        row = [flat.program.source("warp", "", "i32")]
    elif name == "nwarpid":
        row = [_warps_of_block(flat)]
    elif kind in ("clock", "clock64", "globaltimer"):
        row = [flat.emit("clock", (), type)]
    elif f"lanemask.{axis}" == name:
        lane = flat.program.source("lane", "", "i32")
        row = [intrinsics.TABLE[name](Make(flat), [lane], "i32")]
    elif name.startswith("reserved_smem_offset_") and name.rpartition("_")[2] in RESERVED:
        row = [integer(type, flat.reserved + RESERVED[name.rpartition("_")[2]])]
    elif name in SIZES:
        row = [flat.emit("shared-size", (), "i32", name)]
    else:
        raise CompileError(f"special register '{name}' does not exist on the virtual GPU")
    flat.rows[instruction] = row


def _warps_of_block(flat: FlatteningContext) -> Operand:
    m = Make(flat)
    x, y, z = (flat.program.source("ntid", axis, "i32") for axis in "xyz")
    return m.lshr(m.add(m.mul(m.mul(x, y), z), 31), 5)


# -- barriers ----------------------------------------------------------------------------------------------------------


def _barrier(flat: FlatteningContext, instruction: Instruction, found: re.Match[str]) -> None:
    reduce = found["red"] or found["old"] or ""
    arguments = [flat.row(a)[0] for a in instruction.arguments]
    predicate: tuple[Operand, ...] = ()
    if reduce:
        operand = arguments.pop()
        if operand.type != "i1":
            operand = flat.emit("icmp", (operand, integer(operand.type, 0)), "i1", "ne")
        predicate = (operand,)
    number, threads = (*(_number(a) for a in arguments), 0, 0)[:2]
    if found["what"] == "arrive":
        flat.effect("arrive", (), Barrier("", number, threads))
        return
    flat.cut("barrier", predicate, Barrier(reduce, number, threads))
    if reduce:
        type = scalars(instruction.type)[0].type
        flat.rows[instruction] = [flat.emit("barrier-result", (), type, reduce)]


def _number(operand: Operand) -> int:
    if not isinstance(operand, Const) or operand.value is None or not 0 <= operand.value <= 1024:
        raise CompileError(
            "a barrier whose number or thread count is not constant does not run on the virtual GPU",
            hint="write them as constants",
        )
    return operand.value


# -- warp operations ---------------------------------------------------------------------------------------------------

ALL = integer("i32", -1)


def _warp(flat: FlatteningContext, instruction: Instruction, op: WarpOp, args: tuple[Operand, ...]) -> None:
    types = scalars(instruction.type)
    outs = flat.effect("warp", args, op, tuple((t.type, t.pointer) for t in types))
    flat.rows[instruction] = outs


def _shuffle(flat: FlatteningContext, instruction: Instruction, found: re.Match[str]) -> None:
    args = [flat.row(a)[0] for a in instruction.arguments]
    if not found[1]:
        args.insert(0, ALL)
    _warp(flat, instruction, WarpOp("shuffle", found[2], bool(found[4])), tuple(args))


def _vote(flat: FlatteningContext, instruction: Instruction, found: re.Match[str]) -> None:
    kind = found[1] or found[2]
    args = [flat.row(a)[0] for a in instruction.arguments]
    if found[2]:
        args.insert(0, ALL)
    name = "ballot" if kind == "ballot" else f"vote.{'uni' if kind == 'eq' else kind}"
    _warp(flat, instruction, WarpOp(name), tuple(args))


def _match(flat: FlatteningContext, instruction: Instruction, found: re.Match[str]) -> None:
    args = tuple(flat.row(a)[0] for a in instruction.arguments)
    _warp(flat, instruction, WarpOp(f"match.{found[1]}", found[2], bool(found[3])), args)


def _redux(flat: FlatteningContext, instruction: Instruction, found: re.Match[str]) -> None:
    value, mask = (flat.row(a)[0] for a in instruction.arguments)
    mode = found[1] + (".abs" if found[2] else "") + (".nan" if found[3] else "")
    _warp(flat, instruction, WarpOp("redux", mode), (mask, value))


def _sync_warp(flat: FlatteningContext, instruction: Instruction) -> None:
    _warp(flat, instruction, WarpOp("sync"), (flat.row(instruction.arguments[0])[0],))


def _active_mask(flat: FlatteningContext, instruction: Instruction) -> None:
    flat.rows[instruction] = flat.effect("warp", (), WarpOp("activemask"), (("i32", -1),))


def _elect(flat: FlatteningContext, instruction: Instruction) -> None:
    _warp(flat, instruction, WarpOp("elect"), (flat.row(instruction.arguments[0])[0],))


# -- memory and host services ------------------------------------------------------------------------------------------


def _bulk(flat: FlatteningContext, instruction: Instruction, found: re.Match[str]) -> None:
    """``memcpy``, ``memmove`` and ``memset``, per lane, on generic addresses."""
    target, second, size = instruction.arguments[:3]
    length = flat.row(size)[0]
    if bits_of(length.type) < 64:
        length = flat.emit("zext", (length,), "i64")
    if found[1] == "memset":
        flat.effect(
            "fill", (generic_address(flat, target), flat.row(second)[0], length), promised_alignment(instruction)
        )
    else:
        pointers = (generic_address(flat, target), generic_address(flat, second))
        flat.effect("copy", (*pointers, length), promised_alignment(instruction))


def _trap(flat: FlatteningContext, instruction: Instruction) -> None:
    flat.effect("trap", (), "trap")


def _assert(flat: FlatteningContext, instruction: Instruction) -> None:
    """``__assertfail(message, file, line, function, char size)``"""
    args = tuple(flat.row(a)[0] for a in instruction.arguments[:4])
    flat.effect("trap", args, "assert")


def _print(flat: FlatteningContext, instruction: Instruction) -> None:
    args = tuple(flat.row(a)[0] for a in instruction.arguments[:2])
    flat.rows[instruction] = flat.effect("print", args, None, (("i32", -1),))


def _exit(flat: FlatteningContext, instruction: Instruction) -> None:
    """The thread ends, wherever it is. What follows in the block is never reached."""
    before = flat.now
    flat.cut("jump")
    before.term = Op("return", (), (), None, instruction)


def _pause(flat: FlatteningContext, instruction: Instruction) -> None:
    """``nanosleep``: another warp may run."""
    flat.effect("warp", (), WarpOp("yield", "always"))


def _nothing(flat: FlatteningContext, instruction: Instruction) -> None:
    """Has a value that is unused."""
    flat.rows[instruction] = [integer(s.type, 0) for s in scalars(instruction.type)]


def _copy_async(flat: FlatteningContext, instruction: Instruction, found: re.Match[str]) -> None:
    """``cp.async``, done at once: its data may arrive at any time before the wait, so this is one of its outcomes."""
    size = int(found[1])
    target, source = (generic_address(flat, a) for a in instruction.arguments[:2])
    many: Operand = integer("i64", size)
    if found[2]:
        used = flat.row(instruction.arguments[2])[0]
        least = flat.emit("llvm", (used, integer(used.type, size)), used.type, ("umin", ""))
        many = flat.emit("zext", (least,), "i64")
        flat.effect("fill", (target, integer("i8", 0), integer("i64", size)), (size, 1))
    flat.effect("copy", (target, source, many), (size, size))


def generic_address(flat: FlatteningContext, value: Any) -> Operand:
    """A pointer as a generic address."""
    operand = flat.row(value)[0]
    base = BASES[scalars(value.type)[0].pointer]
    if not base:
        return operand
    if isinstance(operand, Const) and operand.value is not None:
        return integer("i64", operand.value + base)
    return flat.emit("gep", (operand,), "i64", (base, ()), 0)


def _load_cached(flat: FlatteningContext, instruction: Instruction, found: re.Match[str]) -> None:
    """``llvm.nvvm.ldg.global.i.i32.p1(ptr, i32 align)``: a load through the read-only cache."""
    pointer, align = instruction.arguments
    load = Instruction(
        "load", instruction.type, (pointer,), (), "", dict(instruction.metadata),
        align=align.value if isinstance(align, ConstantInt) else 0,
    )  # fmt: skip
    access_requests.HANDLERS["load"](flat, load)
    flat.rows[instruction] = flat.rows.pop(load)
    load.operands = ()


def _atomic(flat: FlatteningContext, instruction: Instruction, found: re.Match[str]) -> None:
    names = {"inc": "uinc_wrap", "dec": "udec_wrap", "exch": "xchg"}
    value = instruction.arguments[1]
    operation = names.get(found[1], found[1])
    type = scalars(value.type)[0].type
    if operation == "add" and type in ("float", "double", "half", "bfloat"):
        operation = "fadd"
    args = tuple(flat.row(a)[0] for a in instruction.arguments[:2])
    if operation == "cas":
        wanted, expected = flat.row(instruction.arguments[2])[0], args[1]
        args = (args[0], wanted, expected)
    flat.rows[instruction] = atomic(flat, instruction, instruction.arguments[0], operation, args, type)


FAMILIES: tuple[tuple[re.Pattern[str], Callable[[FlatteningContext, Instruction, re.Match[str]], None]], ...] = (
    (_REGISTER, _register),
    (_BARRIER, _barrier),
    (_SHUFFLE, _shuffle),
    (_VOTE, _vote),
    (_MATCH, _match),
    (_REDUX, _redux),
    (_MEMORY, _bulk),
    (re.compile(r"llvm\.nvvm\.ldg\.global\.[fip]\."), _load_cached),
    (re.compile(r"llvm\.nvvm\.ldu\.global\.[fip]\."), _load_cached),
    (_ATOMIC, _atomic),
    (re.compile(r"llvm\.nvvm\.cp\.async\.c[ag]\.shared\.global\.(4|8|16)(\.s)?$"), _copy_async),
)

NAMED: dict[str, Callable[[FlatteningContext, Instruction], None]] = {
    "llvm.nvvm.bar.warp.sync": _sync_warp,
    "llvm.nvvm.activemask": _active_mask,
    "llvm.nvvm.elect.sync": _elect,
    "llvm.trap": _trap,
    "llvm.debugtrap": _trap,
    "llvm.ubsantrap": _trap,
    "__assertfail": _assert,
    "__assert_fail": _assert,
    "vprintf": _print,
    "llvm.nvvm.exit": _exit,
    "llvm.nvvm.nanosleep": _pause,
    "llvm.stacksave.p0": _nothing,
    "llvm.invariant.start.p0": _nothing,
}
