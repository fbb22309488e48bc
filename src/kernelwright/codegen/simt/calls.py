"""What a call that has no body means: special registers, barriers, warp operations, printf; the rest is arithmetic.

Names are those of LLVM 22 and of the functions our headers declare.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelwright.codegen.simt.program import Const, Op, Operand, bits_of, integer
from kernelwright.codegen.simt.scalars import scalars
from kernelwright.errors import CompileError
from kernelwright.ir.constants import InlineAsm
from kernelwright.ir.instruction import Instruction
from kernelwright.ir.module import Function

if TYPE_CHECKING:
    from kernelwright.codegen.simt.flatten import Flattener


@dataclass(frozen=True)
class WarpOp:
    """An operation that lanes of a warp do together. ``mode`` tells kinds of one name apart."""

    name: str
    mode: str = ""
    pair: bool = False
    """Whether it returns a predicate beside its value."""

    def __str__(self) -> str:
        return f"{self.name} {self.mode}".strip()


@dataclass(frozen=True)
class Barrier:
    """A barrier of the block. ``reduce``: the answer every thread gets, popc, and, or or none."""

    reduce: str = ""

    def __str__(self) -> str:
        return self.reduce or "sync"


IGNORED = re.compile(
    r"llvm\.(lifetime\.|assume|dbg\.|experimental\.noalias|invariant\.|prefetch|sideeffect|donothing|annotation|var\.annotation)"
    r"|llvm\.nvvm\.(membar|fence|prefetch|nanosleep|exit\.placeholder|wmma\.placeholder)"
)

_REGISTER = re.compile(r"llvm\.nvvm\.read\.ptx\.sreg\.(\w+)(?:\.([xyz]))?$")
_BARRIER = re.compile(
    r"llvm\.nvvm\.(?:barrier\.cta\.(?:sync|red\.(popc|and|or))(?:\.aligned)?\.(all|count)|barrier0(?:\.(popc|and|or))?|bar\.sync|barrier)$"
)
_SHUFFLE = re.compile(r"llvm\.nvvm\.shfl\.(sync\.)?(up|down|bfly|idx)\.(i32|f32)(p)?$")
_VOTE = re.compile(r"llvm\.nvvm\.vote\.(?:(all|any|uni|ballot|eq)\.sync|(all|any|uni|ballot))$")
_MATCH = re.compile(r"llvm\.nvvm\.match\.(any|all)\.sync\.(i32|i64)(p)?$")
_REDUX = re.compile(r"llvm\.nvvm\.redux\.sync\.(add|and|or|xor|min|max|umin|umax|fmin|fmax)(?:\.(abs))?(?:\.(NaN))?$")
_MEMORY = re.compile(r"llvm\.(memcpy|memmove|memset)(?:\.inline)?\.")
_ATOMIC = re.compile(r"llvm\.nvvm\.atomic\.(?:load\.)?(add|inc|dec|cas|min|max|and|or|xor|exch)(?:\.(gen|f32|32))?.*$")


def intrinsic(flat: Flattener, instruction: Instruction, callee: Function) -> None:
    """Put a call of a function without a body into the program. Raises ``CompileError`` naming what has no meaning here."""
    name = callee.name
    if IGNORED.match(name):
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
    from kernelwright.codegen.simt import intrinsics

    if intrinsics.known(name):
        _call(flat, instruction, name)
        return
    where = "is an intrinsic that the virtual GPU does not know" if callee.is_intrinsic else "is called but has no body"
    raise CompileError(f"'{name}' {where}", hint="remove the call, or define the function in device code")


def _call(flat: Flattener, instruction: Instruction, name: str) -> None:
    """A pure function, element by element where it works on vectors."""
    rows = [flat.row(a) for a in instruction.arguments]
    types = scalars(instruction.type)
    if not types:
        return
    lanes = len(types)
    vectors = [len(r) == lanes and scalars(a.type)[0].type == types[0].type for r, a in zip(rows, instruction.arguments, strict=True)]
    from kernelwright.codegen.simt import intrinsics

    plain = intrinsics.scalar_name(name)
    if intrinsics.returns_several(name) or (lanes > 1 and intrinsics.takes_pairs(name)):
        args = tuple(o for r in rows for o in r)
        flat.rows[instruction] = flat.effect("call", args, plain, tuple((t.type, t.pointer) for t in types))
        return
    if lanes == 1 and all(len(r) == 1 for r in rows):
        flat.rows[instruction] = [flat.emit("call", tuple(r[0] for r in rows), types[0].type, plain, types[0].pointer)]
        return
    if lanes == 1 and any(len(r) > 1 for r in rows):
        flat.rows[instruction] = [intrinsics.reduce(flat, name, rows, types[0].type)]
        return
    del vectors
    made: list[Operand] = []
    for i, t in enumerate(types):
        args = tuple(r[i] if len(r) == lanes else r[0] for r in rows)
        made.append(flat.emit("call", args, t.type, plain, t.pointer))
    flat.rows[instruction] = made


# -- special registers -------------------------------------------------------------------------------------------------

AXES = ("tid", "ntid", "ctaid", "nctaid")


def _register(flat: Flattener, instruction: Instruction, found: re.Match[str]) -> None:
    kind, axis = found[1], found[2]
    type = scalars(instruction.type)[0].type
    if kind in AXES and axis:
        row: list[Operand] = [flat.program.source(kind, axis, "i32")]
    elif kind == "laneid":
        row = [flat.program.source("lane", "", "i32")]
    elif kind == "warpsize":
        row = [integer("i32", 32)]
    elif kind in ("warpid", "smid", "nsmid", "nwarpid", "gridid", "pm0", "pm1", "pm2", "pm3"):
        row = [flat.program.source("warp", "", "i32")] if kind == "warpid" else [integer(type, 1 if kind[0] == "n" else 0)]
    elif kind in ("clock", "clock64", "globaltimer", "globaltimer_lo"):
        row = [flat.emit("clock", (), type)]
    elif kind.startswith("lanemask_"):
        row = [flat.emit("call", (flat.program.source("lane", "", "i32"),), "i32", kind)]
    elif kind in ("clusterid", "cluster_ctaid", "cluster_ctarank") or kind in ("is_explicit_cluster",):
        row = [integer(type, 0)]
    elif kind in ("nclusterid", "cluster_nctaid", "cluster_nctarank"):
        row = [integer(type, 1)] if kind != "nclusterid" else [flat.program.source("nctaid", axis or "x", "i32")]
    elif kind == "dynamic_smem_size":
        row = [flat.emit("dynamic-shared", (), "i32")]
    else:
        raise CompileError(f"special register '%{kind}' does not exist on the virtual GPU")
    flat.rows[instruction] = row


# -- barriers ----------------------------------------------------------------------------------------------------------


def _barrier(flat: Flattener, instruction: Instruction, found: re.Match[str]) -> None:
    reduce = found[1] or found[3] or ""
    arguments = [flat.row(a)[0] for a in instruction.arguments]
    if found[2] or "bar.sync" in found[0]:
        number = arguments.pop(0)
        if not isinstance(number, Const) or number.value != 0:
            raise CompileError(
                f"barrier {number} is not the block's own: named barriers do not run on the virtual GPU",
                hint="use __syncthreads()",
            )
    if found[2] == "count":
        raise CompileError(
            "barriers for a part of the block do not run on the virtual GPU", hint="use __syncthreads()"
        )
    predicate: tuple[Operand, ...] = ()
    if reduce:
        operand = arguments[0]
        if operand.type != "i1":
            operand = flat.emit("icmp", (operand, integer(operand.type, 0)), "i1", "ne")
        predicate = (operand,)
    flat.cut("barrier", predicate, Barrier(reduce))
    if reduce:
        type = scalars(instruction.type)[0].type
        flat.rows[instruction] = [flat.emit("barrier-result", (), type, reduce)]


# -- warp operations ---------------------------------------------------------------------------------------------------

ALL = integer("i32", -1)


def _warp(flat: Flattener, instruction: Instruction, op: WarpOp, args: tuple[Operand, ...]) -> None:
    types = scalars(instruction.type)
    outs = flat.effect("warp", args, op, tuple((t.type, t.pointer) for t in types))
    flat.rows[instruction] = outs


def _shuffle(flat: Flattener, instruction: Instruction, found: re.Match[str]) -> None:
    args = [flat.row(a)[0] for a in instruction.arguments]
    if not found[1]:
        args.insert(0, ALL)
    _warp(flat, instruction, WarpOp("shuffle", found[2], bool(found[4])), tuple(args))


def _vote(flat: Flattener, instruction: Instruction, found: re.Match[str]) -> None:
    kind = found[1] or found[2]
    args = [flat.row(a)[0] for a in instruction.arguments]
    if found[2]:
        args.insert(0, ALL)
    name = "ballot" if kind == "ballot" else f"vote.{'uni' if kind == 'eq' else kind}"
    _warp(flat, instruction, WarpOp(name), tuple(args))


def _match(flat: Flattener, instruction: Instruction, found: re.Match[str]) -> None:
    args = tuple(flat.row(a)[0] for a in instruction.arguments)
    _warp(flat, instruction, WarpOp(f"match.{found[1]}", found[2], bool(found[3])), args)


def _redux(flat: Flattener, instruction: Instruction, found: re.Match[str]) -> None:
    value, mask = (flat.row(a)[0] for a in instruction.arguments)
    mode = found[1] + (".abs" if found[2] else "") + (".nan" if found[3] else "")
    _warp(flat, instruction, WarpOp("redux", mode), (mask, value))


def _sync_warp(flat: Flattener, instruction: Instruction) -> None:
    _warp(flat, instruction, WarpOp("sync"), (flat.row(instruction.arguments[0])[0],))


def _active_mask(flat: Flattener, instruction: Instruction) -> None:
    flat.rows[instruction] = flat.effect("warp", (), WarpOp("activemask"), (("i32", -1),))


def _elect(flat: Flattener, instruction: Instruction) -> None:
    _warp(flat, instruction, WarpOp("elect"), (flat.row(instruction.arguments[0])[0],))


# -- memory and host services ------------------------------------------------------------------------------------------


def _bulk(flat: Flattener, instruction: Instruction, found: re.Match[str]) -> None:
    """``memcpy``, ``memmove`` and ``memset``, per lane, on generic addresses."""
    from kernelwright.codegen.simt.scalars import BASES

    target, second, size = instruction.arguments[:3]

    def generic(value: Any) -> Operand:
        operand = flat.row(value)[0]
        base = BASES[scalars(value.type)[0].pointer]
        if not base:
            return operand
        if isinstance(operand, Const) and operand.value is not None:
            return integer("i64", operand.value + base)
        return flat.emit("gep", (operand,), "i64", (base, ()), 0)

    length = flat.row(size)[0]
    if bits_of(length.type) < 64:
        length = flat.emit("zext", (length,), "i64")
    if found[1] == "memset":
        flat.effect("fill", (generic(target), flat.row(second)[0], length))
    else:
        flat.effect("copy", (generic(target), generic(second), length))


def _trap(flat: Flattener, instruction: Instruction) -> None:
    flat.effect("trap", (), "trap")


def _assert(flat: Flattener, instruction: Instruction) -> None:
    """``__assertfail(message, file, line, function, char size)``"""
    args = tuple(flat.row(a)[0] for a in instruction.arguments[:4])
    flat.effect("trap", args, "assert")


def _print(flat: Flattener, instruction: Instruction) -> None:
    args = tuple(flat.row(a)[0] for a in instruction.arguments[:2])
    flat.rows[instruction] = flat.effect("print", args, None, (("i32", -1),))


def _exit(flat: Flattener, instruction: Instruction) -> None:
    raise CompileError("'exit' inside a function does not run on the virtual GPU", hint="return instead")


def _expect(flat: Flattener, instruction: Instruction) -> None:
    flat.rows[instruction] = flat.row(instruction.arguments[0])


def _constant(flat: Flattener, instruction: Instruction) -> None:
    flat.rows[instruction] = [integer("i1", 0)]


def _pointer_mask(flat: Flattener, instruction: Instruction) -> None:
    pointer, mask = (flat.row(a)[0] for a in instruction.arguments)
    if bits_of(mask.type) < 64:
        mask = flat.emit("zext", (mask,), "i64")
    s = scalars(instruction.type)[0]
    flat.rows[instruction] = [flat.emit("and", (pointer, mask), "i64", None, s.pointer)]


def _is_space(space: int) -> Callable[[Flattener, Instruction], None]:
    def handler(flat: Flattener, instruction: Instruction) -> None:
        flat.rows[instruction] = [flat.emit("call", (flat.row(instruction.arguments[0])[0],), "i1", f"isspacep.{space}")]

    return handler


def _load_cached(flat: Flattener, instruction: Instruction, found: re.Match[str]) -> None:
    """``llvm.nvvm.ldg.global.i.i32.p1(ptr, i32 align)``: a load through the read-only cache."""
    from kernelwright.ir.constants import ConstantInt

    pointer, align = instruction.arguments
    load = Instruction(
        "load", instruction.type, (pointer,), (), "", dict(instruction.metadata),
        align=align.value if isinstance(align, ConstantInt) else 0,
    )  # fmt: skip
    from kernelwright.codegen.simt.flatten import HANDLERS

    HANDLERS["load"](flat, load)
    flat.rows[instruction] = flat.rows.pop(load)
    load.operands = ()


def _atomic(flat: Flattener, instruction: Instruction, found: re.Match[str]) -> None:
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
    flat.rows[instruction] = flat._atomic(instruction, instruction.arguments[0], operation, args, type)


FAMILIES: tuple[tuple[re.Pattern[str], Callable[[Flattener, Instruction, re.Match[str]], None]], ...] = (
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
)

NAMED: dict[str, Callable[[Flattener, Instruction], None]] = {
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
    "llvm.nvvm.isspacep.global": _is_space(1),
    "llvm.nvvm.isspacep.shared": _is_space(3),
    "llvm.nvvm.isspacep.const": _is_space(4),
    "llvm.nvvm.isspacep.local": _is_space(5),
}
for _name in ("i1", "i8", "i16", "i32", "i64"):
    NAMED[f"llvm.expect.{_name}"] = _expect
    NAMED[f"llvm.expect.with.probability.{_name}"] = _expect
    NAMED[f"llvm.is.constant.{_name}"] = _constant
for _name in ("f16", "f32", "f64", "p0"):
    NAMED[f"llvm.is.constant.{_name}"] = _constant
for _name in ("p0.i64", "p1.i64", "p3.i64", "p0.i32", "p3.i32"):
    NAMED[f"llvm.ptrmask.{_name}"] = _pointer_mask


# -- inline assembly ---------------------------------------------------------------------------------------------------

_SPACES = re.compile(r"\s+")

ASSEMBLY: dict[str, Callable[[Flattener, Instruction], None]] = {}
"""Forms of inline PTX that we know, by their text with single spaces; filled below."""


def inline_assembly(flat: Flattener, instruction: Instruction, asm: InlineAsm) -> None:
    text = _SPACES.sub(" ", asm.text.replace("\\09", " ").replace("\\0A", " ").strip()).rstrip("; ") + ";"
    if text == ";":
        return
    handler = ASSEMBLY.get(text)
    if handler is None:
        raise CompileError(
            f"inline PTX '{text}' does not run on the virtual GPU", hint="use the CUDA function for it, if there is one"
        )
    handler(flat, instruction)


def _read(kind: str, axis: str = "") -> Callable[[Flattener, Instruction], None]:
    def handler(flat: Flattener, instruction: Instruction) -> None:
        found = _REGISTER.match(f"llvm.nvvm.read.ptx.sreg.{kind}" + (f".{axis}" if axis else ""))
        assert found
        _register(flat, instruction, found)

    return handler


def _ignore(flat: Flattener, instruction: Instruction) -> None:
    """Orders memory or hints; there is nothing to order here."""


ASSEMBLY.update(
    {f"mov.u32 $0, %{k};": _read(k) for k in ("laneid", "warpid", "smid", "clock", "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge", "lanemask_eq")}
)
ASSEMBLY["mov.u64 $0, %clock64;"] = _read("clock64")
ASSEMBLY["mov.u64 $0, %globaltimer;"] = _read("globaltimer")
ASSEMBLY.update({t: _ignore for t in ("membar.gl;", "membar.cta;", "membar.sys;", "fence.acq_rel.gpu;", "fence.acq_rel.cta;", "fence.acq_rel.sys;", "fence.sc.gpu;", "fence.sc.cta;", "fence.sc.sys;")})
