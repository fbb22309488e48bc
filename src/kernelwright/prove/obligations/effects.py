"""What an instruction does besides making a value, and which memory a pointer reaches.

Whatever is not known here is ``SYNC``: nothing may cross it, and it may not come or go.
"""

from __future__ import annotations

import re
from enum import Enum

from kernelwright.edits.barriers import is_barrier
from kernelwright.ir import Argument, ConstantExpr, Function, GlobalVariable, InlineAsm, Instruction, Value
from kernelwright.ir.opcodes import BINARY, CASTS, TERMINATORS


class Effect(Enum):
    PURE = "pure"
    """Makes a value of its operands alone, anywhere, any number of times; or decides where to go on, and is never moved."""
    DIVISION = "division"
    """The same, undefined for some operands."""
    LOAD = "load"
    STORE = "store"
    BARRIER = "barrier"
    PIN = "pin"
    """Keeps a value in its place, touches nothing."""
    SYNC = "sync"
    """Atomics, fences, volatile accesses, inline assembly, what talks to other threads, unknown calls."""


_VALUES = BINARY - {"udiv", "sdiv", "urem", "srem"} | CASTS | TERMINATORS - {"invoke", "callbr", "indirectbr"} | {
    "icmp", "fcmp", "select", "phi", "getelementptr", "fneg",
    "extractvalue", "insertvalue", "extractelement", "insertelement", "shufflevector",
}  # fmt: skip
_DIVISIONS = frozenset({"udiv", "sdiv", "urem", "srem"})
_PURE_CALLS = re.compile(
    r"llvm\.(smin|smax|umin|umax|abs|sqrt|fabs|fma|fmuladd|floor|ceil|trunc|rint|nearbyint|round|roundeven|minnum|maxnum|minimum"
    r"|maximum|copysign|canonicalize|ctpop|ctlz|cttz|bswap|bitreverse|fshl|fshr|sin|cos|exp|exp2|log|log2|log10|pow|powi|ldexp"
    r"|usub\.sat|uadd\.sat|ssub\.sat|sadd\.sat)\..*"
    r"|llvm\.nvvm\.(read\.ptx\.sreg\.(n?tid|n?ctaid)\.[xyz]|read\.ptx\.sreg\.(laneid|warpsize)"
    r"|(ex2|lg2|rcp|sqrt|rsqrt|sin|cos|fabs|fmin|fmax|fma|add|mul|div|saturate|floor|ceil|round|trunc|mul24|mulhi|sad|prmt"
    r"|f2i|i2f|d2f|f2ll|d2i|ui2f|f2ui)\..*|lohi\.i2d)"
)
"""Intrinsics whose result their arguments decide."""


def effect_of(instruction: Instruction) -> Effect:
    """What an instruction does besides making a value; ``Effect.OTHER`` for what is unknown."""
    i = instruction
    if i.opcode in _VALUES:
        return Effect.PURE
    if i.opcode in _DIVISIONS:
        return Effect.DIVISION
    if i.opcode in ("load", "store"):
        return Effect.SYNC if i.volatile or i.ordering else Effect.LOAD if i.opcode == "load" else Effect.STORE
    if i.opcode == "call":
        return _effect_of_call(i)
    return Effect.SYNC


def _effect_of_call(call: Instruction) -> Effect:
    callee = call.callee
    if isinstance(callee, InlineAsm):
        return Effect.PIN if not callee.text and "memory" not in callee.constraints else Effect.SYNC
    if is_barrier(call):
        return Effect.BARRIER
    if isinstance(callee, Function) and callee.is_intrinsic and _PURE_CALLS.fullmatch(callee.name):
        return Effect.PURE
    return Effect.SYNC


# -- memory

UNKNOWN = None
Base = Argument | GlobalVariable | Instruction
"""What a pointer was made from: a parameter, a variable, a stack slot."""

_ON = frozenset({"getelementptr", "bitcast", "addrspacecast", "freeze"})


def bases(pointer: Value) -> frozenset[Base] | None:
    """What a pointer may point into; None for anything at all."""
    found: set[Base] = set()
    seen: set[Value] = set()
    waiting = [pointer]
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        further = _made_from(value)
        if further is None:
            return UNKNOWN
        if isinstance(further, tuple):
            waiting += further
        else:
            found.add(further)
    return frozenset(found)


def _made_from(value: Value) -> Base | tuple[Value, ...] | None:
    if isinstance(value, Argument | GlobalVariable):
        return value
    if isinstance(value, ConstantExpr):
        return (value.operands[0],) if value.opcode in _ON else None
    if isinstance(value, Instruction):
        if value.opcode == "alloca":
            return value
        if value.opcode in _ON:
            return (value.operands[0],)
        if value.opcode == "phi":
            return value.operands
        if value.opcode == "select":
            return value.operands[1:3]
    return None


def pointer_of(access: Instruction) -> Value:
    """Where a load or store reads or writes."""
    return access.operands[0 if access.opcode == "load" else 1]


def is_byval(base: Base) -> bool:
    """Whether a pointer is an argument that is passed by value."""
    return isinstance(base, Argument) and "byval" in base.attributes


def is_private(base: Base) -> bool:
    """Whether no other thread has it: a stack slot, or a parameter by value."""
    return isinstance(base, Instruction) or is_byval(base)


def needed_apart(one: Base, other: Base) -> int | bool:
    """What has to hold for two different memories never to overlap: True for nothing, False for what no guard can give, else the
    number of an argument that shares no memory."""
    if one is other:
        return False
    for here in (one, other):
        if is_private(here):
            return True
        if isinstance(here, GlobalVariable) and here.kind not in ("global", "constant"):
            return False  # an alias
        if isinstance(here, Argument) and "noalias" in here.attributes.split():
            return True
    if isinstance(one, GlobalVariable) and isinstance(other, GlobalVariable):
        # Arrays in shared memory whose size the launch decides all begin at the same place.
        return not (_is_launch_sized(one) and _is_launch_sized(other))
    if any(isinstance(each, GlobalVariable) and each.address_space == SHARED for each in (one, other)):
        return True
    first = one if isinstance(one, Argument) else other
    return first.index if isinstance(first, Argument) else False


SHARED, CONSTANT = 3, 4
"""Address spaces."""


def _is_launch_sized(variable: GlobalVariable) -> bool:
    return variable.address_space == SHARED and variable.initializer is None


def read_only(function: Function, base: Base) -> frozenset[int] | None:
    """The arguments that must share no memory, so that nothing writes behind ``base`` while the kernel runs; None where the kernel
    itself does, or may."""
    if is_byval(base) and not isinstance(base, Argument):
        return None
    if isinstance(base, GlobalVariable) and (base.is_read_only or base.address_space == CONSTANT):
        return frozenset()  # what a kernel stores to constant memory is a fault
    needed: set[int] = set()
    for i in function.instructions():
        if may_write_anywhere(i):
            return None
        if i.opcode not in ("store", "atomicrmw", "cmpxchg"):
            continue
        written = bases(i.operands[1 if i.opcode == "store" else 0])
        if written is None:
            return None
        for other in written:
            apart = needed_apart(base, other)
            if apart is False:
                return None
            if apart is not True:
                needed.add(base.index if isinstance(base, Argument) else apart)
    return frozenset(needed)


_WRITES_NOTHING = re.compile(
    r"llvm\.nvvm\.(shfl|vote|match|membar|fence|bar|activemask|redux|read\.ptx|nanosleep|elect|isspacep|mapa|getctarank).*"
    r"|llvm\.(trap|ubsantrap|debugtrap|expect|assume|lifetime).*|vprintf|__assertfail"
)


def may_write_anywhere(i: Instruction) -> bool:
    """Whether an instruction may write to memory that its operands do not show."""
    if i.opcode == "call":
        if effect_of(i) is not Effect.SYNC:
            return False
        callee = i.callee
        return not (isinstance(callee, Function) and _WRITES_NOTHING.fullmatch(callee.name))
    return i.is_opaque
