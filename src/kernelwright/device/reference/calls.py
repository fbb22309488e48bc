"""Calls and atomics of the reference executor: what has effects, waits for others, or leaves the function."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from kernelwright.codegen.bulk_copies import promised_alignment
from kernelwright.codegen.device_heap import heap_function
from kernelwright.codegen.grid_barrier import is_grid_barrier
from kernelwright.codegen.inline_asm.builder import Guarded
from kernelwright.codegen.inline_asm.expand import expand_asm
from kernelwright.codegen.memory_layout import store_size
from kernelwright.device.arena import LOCAL_BASE, SHARED_BASE, WINDOW
from kernelwright.device.printf import format_text
from kernelwright.device.reference import intrinsics
from kernelwright.device.reference.body import Body, Handlers
from kernelwright.device.reference.memory_access import find_generic, read_bytes, read_string, write_bytes
from kernelwright.device.reference.pointer_calls import bad_call, call_through
from kernelwright.device.reference.thread_state import (
    ACTIVE,
    BARRIER,
    GRID,
    PAUSE,
    WARP_OPERATION,
    Stop,
    Thread,
    ThreadExit,
)
from kernelwright.device.reference.unsupported import refuse
from kernelwright.device.reference.warp import OPERATIONS
from kernelwright.device.value_layout import decoder, encoder
from kernelwright.ir import types as ty
from kernelwright.ir.constants import InlineAsm, zero
from kernelwright.ir.module import Function, Instruction
from kernelwright.ir.types import FloatType, IntType, PointerType, StructType, Type, VectorType
from kernelwright.ir.values import Value

# -- who waits ---------------------------------------------------------------------------------------------------------

_BARRIER = re.compile(
    r"llvm\.nvvm\.barrier(?:\.cta\.(?P<what>sync|arrive|red\.(?P<red>popc|and|or))(?P<aligned>\.aligned)?"
    r"\.(?P<who>all|count)|0(?:\.(?P<old>popc|and|or))?|\.sync(?P<count>\.cnt)?|\.n)$|llvm\.nvvm\.bar\.sync$"
)
_WARP_NAMES = {f"llvm.nvvm.{name}" for name in OPERATIONS}
_ASM_WAITS = re.compile(r"\b(bar|barrier|vote|shfl|activemask|match|redux|nanosleep)\b")
_PAUSES = ("llvm.nvvm.nanosleep",)


def may_wait(function: Function) -> bool:
    """Whether the body itself contains an operation that waits for other threads."""
    for i in function.instructions():
        if i.opcode != "call":
            continue
        if isinstance(i.callee, Function) and (_waits(i.callee.name) or is_grid_barrier(i.callee)):
            return True
        if isinstance(i.callee, InlineAsm) and _ASM_WAITS.search(i.callee.text):
            return True
    return False


def _waits(name: str) -> bool:
    return name in _WARP_NAMES or name == "llvm.nvvm.activemask" or name in _PAUSES or _BARRIER.match(name) is not None


# -- calls -------------------------------------------------------------------------------------------------------------


def _call(body: Body, i: Instruction) -> None:
    callee = i.callee
    if isinstance(callee, InlineAsm):
        _inline_asm(body, i)
        return
    if not isinstance(callee, Function):
        call_through(body, i)
        return
    name = callee.name
    if is_grid_barrier(callee):
        body.emit(f"yield ({BARRIER}, 0, 0, False, '{GRID}', 0, {body.site(i)})")
        return
    of_heap = heap_function(callee)
    if callee.blocks or of_heap:
        _defined(body, i, of_heap or callee)
        return
    base = intrinsics.base_name(name)
    special = _SPECIAL.get(name) or _SPECIAL.get(base)
    found = intrinsics.lookup(name)
    if special:
        special(body, i)
    elif found:
        key, template = found
        if key in intrinsics.WHOLE:
            body.define(i, body.apply(template, ty.void, i.arguments, False))
        else:
            body.compute(i, template, i.arguments, key in intrinsics.ROUNDED)
    elif name in intrinsics.IGNORED or base in intrinsics.IGNORED:
        if i.has_result:
            body.define(i, "0")
    elif name in _WARP_NAMES:
        _warp(body, i, name.removeprefix("llvm.nvvm."))
    elif _BARRIER.match(name):
        _barrier(body, i, name)
    elif base.startswith("llvm.vector.reduce."):
        _vector_reduce(body, i, base.removeprefix("llvm.vector.reduce."))
    elif name.startswith("llvm.nvvm.atomic."):
        _old_atomic(body, i, name)
    else:
        raise refuse(i, f"nothing here defines '{name}'")


def _defined(body: Body, i: Instruction, callee: Function) -> None:
    """A device function: a Python call, which may wait when the function may."""
    arguments = "".join(f", {body.ref(a)}" for a in i.arguments)
    call = f"{body.program.names[callee]}(T{arguments})"
    if callee in body.program.generators:
        call = f"yield from {call}"
    if i.has_result:
        body.define(i, f"({call})")
    else:
        body.emit(call)


def _barrier(body: Body, i: Instruction, name: str) -> None:
    match = _BARRIER.match(name)
    assert match is not None
    values = [body.ref(a) for a in i.arguments]
    reduction = match["red"] or match["old"] or ""
    predicate = values.pop() if reduction else "0"
    if match["old"] or name == "llvm.nvvm.barrier0":
        values = ["0"]
    counted = len(values) > 1
    arrive = match["what"] == "arrive"
    event = f"({BARRIER}, {values[0]}, {values[1] if counted else 0}, {arrive}, '{reduction}', {predicate}"
    event = f"(yield {event}, {body.site(i)}))"
    if i.has_result:
        body.define(i, f"int({event})" if i.type is ty.i32 else event)
    else:
        body.emit(event[1:-1])


def _warp(body: Body, i: Instruction, name: str) -> None:
    """The member mask comes first; the other arguments go to the operation. ``match`` and ``redux`` write it last."""
    values = [body.ref(a) for a in i.arguments]
    mask = values.pop() if name.startswith("redux") else values.pop(0)
    arguments = "".join(f"{v}, " for v in values)
    event = f"yield ({WARP_OPERATION}, '{name}', {mask}, ({arguments}), {body.site(i)})"
    if i.has_result:
        body.define(i, f"({event})")
    else:
        body.emit(event)


def _active_mask(body: Body, i: Instruction) -> None:
    body.define(i, f"(yield ({ACTIVE}, {body.site(i)}))")


def _pause(body: Body, i: Instruction) -> None:
    if body.is_generator:
        body.emit(f"q = yield ({PAUSE}, {body.site(i)})")


# -- memory ------------------------------------------------------------------------------------------------------------


def _copy(body: Body, i: Instruction) -> None:
    to, source, size = i.arguments[:3]
    aligns = "{}, {}".format(*promised_alignment(i))
    body.emit(f"copy(T, {body.generic(to)}, {body.generic(source)}, {body.ref(size)}, {aligns}, {body.site(i)})")


def _fill(body: Body, i: Instruction) -> None:
    to, value, size = i.arguments[:3]
    align = promised_alignment(i)[0]
    body.emit(f"fill(T, {body.generic(to)}, {body.ref(value)}, {body.ref(size)}, {align}, {body.site(i)})")


def _copy_async(body: Body, i: Instruction) -> None:
    """``cp.async`` done at once: its data may arrive at any time before the wait, so this is one of its outcomes."""
    assert isinstance(i.callee, Function)
    to, source, *rest = i.arguments
    size = re.search(r"\.(4|8|16)(\.s)?$", i.callee.name)
    assert size is not None
    used = body.ref(rest[0]) if rest else size[1]
    body.emit(f"copy_padded(T, {body.generic(to)}, {body.generic(source)}, {size[1]}, {used}, {body.site(i)})")


def _load_uncached(body: Body, i: Instruction) -> None:
    """``ldu``: a plain load."""
    body.load(i, i.arguments[0])


def _stack_save(body: Body, i: Instruction) -> None:
    if i.has_result:
        body.define(i, "0")


# -- atomics -----------------------------------------------------------------------------------------------------------

_NEW: dict[str, str] = {
    "xchg": "{x}",
    "add": "{o} + {x} & {M}",
    "sub": "{o} - {x} & {M}",
    "and": "{o} & {x}",
    "or": "{o} | {x}",
    "xor": "{o} ^ {x}",
    "nand": "~({o} & {x}) & {M}",
    "max": "{o} if {o} ^ {S} >= {x} ^ {S} else {x}",
    "min": "{o} if {o} ^ {S} <= {x} ^ {S} else {x}",
    "umax": "{o} if {o} >= {x} else {x}",
    "umin": "{o} if {o} <= {x} else {x}",
    "uinc_wrap": "0 if {o} >= {x} else {o} + 1",
    "udec_wrap": "{x} if {o} == 0 or {o} > {x} else {o} - 1",
    "usub_cond": "{o} - {x} if {o} >= {x} else {o}",
    "usub_sat": "{o} - {x} if {o} >= {x} else 0",
    "fadd": "{o} + {x}",
    "fsub": "{o} - {x}",
    "fmax": "maximum({o}, {x})",
    "fmin": "minimum({o}, {x})",
    "fmaximum": "maximum({o}, {x}) if {o} == {o} and {x} == {x} else NAN",
    "fminimum": "minimum({o}, {x}) if {o} == {o} and {x} == {x} else NAN",
}
"""The new value of an atomic from the old one ``{o}`` and the operand ``{x}``."""


def _atomic(body: Body, i: Instruction) -> None:
    pointer, value = i.operands
    if i.operation not in _NEW:
        raise refuse(i, f"the operation '{i.operation}' is not known")
    _read_modify_write(body, i, i.operation, pointer, value)


def _read_modify_write(body: Body, i: Instruction, operation: str, pointer: Value, value: Value) -> None:
    type, text = value.type, body.ref(value)
    old = body.fresh()
    load, store = _atomic_place(body, i, pointer, type)
    body.emit(f"{old} = {load}")
    if isinstance(type, VectorType):
        parts = [_new_value(operation, type.element, f"{old}[{n}]", f"{text}[{n}]") for n in range(type.count)]
        new = f"({', '.join(parts)},)"
    else:
        new = _new_value(operation, type, old, text)
    body.emit(store.format(new))
    body.define(i, old)


def _new_value(operation: str, type: Type, old: str, operand: str) -> str:
    fields = {"o": old, "x": operand}
    if isinstance(type, IntType):
        fields |= {"M": str((1 << type.bits) - 1), "S": str(1 << (type.bits - 1))}
    new = _NEW[operation].format(**fields)
    if isinstance(type, FloatType) and type.kind != "double" and operation != "xchg":
        rounder = {"half": "round_half", "bfloat": "round_bfloat", "float": "round_single"}[type.kind]
        new = f"{rounder}({new})"
    return new


def _atomic_place(body: Body, i: Instruction, pointer: Value, type: Type) -> tuple[str, str]:
    """The text that loads the old value and the pattern that stores a new one, checked for both at once."""
    size = store_size(type)
    body.watch_read(i, pointer, size, "atomic")
    code = {"i8": "B", "i16": "H", "i32": "I", "i64": "Q"}.get("i64" if isinstance(type, PointerType) else type.text)
    if code:
        item = body.place(i, pointer, size, size, code, True)
        return item, f"{item} = {{}}"
    decode, encode = (body.program.keep(p, f(type)) for p, f in (("D", decoder), ("E", encoder)))
    address, site = body.generic(pointer), body.site(i)
    return (
        f"{decode}(read_bytes(T, {address}, {size}, {size}, {site}))",
        f"write_bytes(T, {address}, {encode}({{}}), {size}, {site})",
    )


def _compare_exchange(body: Body, i: Instruction) -> None:
    pointer, expected, new = i.operands
    old = body.fresh()
    load, store = _atomic_place(body, i, pointer, new.type)
    body.emit(f"{old} = {load}", f"if {old} == {body.ref(expected)}: {store.format(body.ref(new))}")
    body.define(i, f"({old}, {old} == {body.ref(expected)})")


def _old_atomic(body: Body, i: Instruction, name: str) -> None:
    """``llvm.nvvm.atomic.add.gen.i.cta`` and its relatives, which newer front ends write as ``atomicrmw``."""
    word = name.split(".")[3]
    pointer, *values = i.arguments
    if word == "cas":
        old = body.fresh()
        load, store = _atomic_place(body, i, pointer, values[1].type)
        body.emit(f"{old} = {load}", f"if {old} == {body.ref(values[0])}: {store.format(body.ref(values[1]))}")
        body.define(i, old)
        return
    operation = {"exch": "xchg", "inc": "uinc_wrap", "dec": "udec_wrap"}.get(word, word)
    if isinstance(values[0].type, FloatType) and word == "add":
        operation = "fadd"
    _read_modify_write(body, i, operation, pointer, values[0])


# -- vectors -----------------------------------------------------------------------------------------------------------

_REDUCTIONS = {
    "add": "add", "mul": "mul", "and": "and", "or": "or", "xor": "xor",
    "smax": "max", "smin": "min", "umax": "umax", "umin": "umin",
    "fmax": "fmax", "fmin": "fmin", "fmaximum": "fmaximum", "fminimum": "fminimum", "fadd": "fadd", "fmul": "fmul",
}  # fmt: skip


def _vector_reduce(body: Body, i: Instruction, name: str) -> None:
    """From the first element to the last, starting with the scalar operand where there is one."""
    if name not in _REDUCTIONS:
        raise refuse(i, f"the reduction '{name}' is not known")
    vector = i.arguments[-1]
    assert isinstance(vector.type, VectorType)
    text = body.ref(vector)
    values = [f"{text}[{n}]" for n in range(vector.type.count)]
    if len(i.arguments) > 1:
        values.insert(0, body.ref(i.arguments[0]))
    total = body.fresh()
    body.emit(f"{total} = {values[0]}")
    for value in values[1:]:
        if name in ("mul", "fmul"):
            new = f"{total} * {value}"
            mask = f" & {(1 << i.type.bits) - 1}" if isinstance(i.type, IntType) else ""
            rounder = {"float": "round_single", "half": "round_half", "bfloat": "round_bfloat"}.get(i.type.text, "")
            new = f"{rounder}({new})" if not mask else new + mask
        else:
            new = _new_value(_REDUCTIONS[name], i.type, total, value)
        body.emit(f"{total} = {new}")
    body.define(i, total)


# -- the outside world -------------------------------------------------------------------------------------------------


def _print(body: Body, i: Instruction) -> None:
    format, buffer = i.arguments
    body.define(i, f"print_text(T, {body.generic(format)}, {body.generic(buffer)}, {body.site(i)})")


def _assert_fail(body: Body, i: Instruction) -> None:
    message, file, line, function = i.arguments[:4]
    body.emit(
        f"assertion_failed(T, {body.generic(message)}, {body.generic(file)}, {body.ref(line)}, "
        f"{body.generic(function)}, {body.site(i)})"
    )


def _trap(body: Body, i: Instruction) -> None:
    body.emit(f"trap(T, {body.site(i)})")


def _exit(body: Body, i: Instruction) -> None:
    body.emit("exit_thread()")


def _inline_asm(body: Body, i: Instruction) -> None:
    """Inline PTX runs as the IR that stands for it; its faults are the call's."""
    expansion = expand_asm(i)
    body.standing_for = i
    for step in expansion.steps:
        if isinstance(step, Guarded):
            _guarded(body, step)
        else:
            body.instruction(step)
    body.standing_for = None
    if isinstance(i.type, StructType):
        body.define(i, f"({', '.join(body.ref(v) for v in expansion.results)},)")
    elif i.has_result:
        body.alias(i, expansion.results[0])
    expansion.drop()


def _guarded(body: Body, step: Guarded) -> None:
    """An ``if`` around the instructions. A thread that does not run them finds zeros for what they make."""
    condition, start, known = body.ref(step.condition), len(body.lines), set(body.names.values())
    for instruction in step.instructions:
        body.instruction(instruction)
    inside = [f"    {line}" for line in body.lines[start:]] or ["    pass"]
    made = {body.names[i]: i for i in step.instructions if i in body.names}
    zeros = [f"{n} = {body.ref(zero(i.type))}" for n, i in made.items() if n not in known and n.isidentifier()]
    body.lines[start:] = [*zeros, f"if {condition}:", *inside]


_SPECIAL: dict[str, Callable[[Body, Instruction], None]] = {
    "llvm.memcpy": _copy,
    "llvm.memcpy.inline": _copy,
    "llvm.memmove": _copy,
    "llvm.memset": _fill,
    "llvm.memset.inline": _fill,
    "llvm.stacksave": _stack_save,
    "llvm.stackrestore": _stack_save,
    "llvm.invariant.start": _stack_save,
    "llvm.trap": _trap,
    "llvm.debugtrap": _trap,
    "llvm.nvvm.exit": _exit,
    "llvm.nvvm.activemask": _active_mask,
    "llvm.nvvm.nanosleep": _pause,
    "vprintf": _print,
    "__assertfail": _assert_fail,
    "__assert_fail": _assert_fail,
    **{f"llvm.nvvm.ldu.global.{k}": _load_uncached for k in "ifp"},
    **{
        f"llvm.nvvm.cp.async.{cache}.shared.global.{size}{part}": _copy_async
        for cache in ("ca", "cg")
        for size in (4, 8, 16)
        for part in ("", ".s")
    },
}

CALLS: Handlers = {"call": _call, "atomicrmw": _atomic, "cmpxchg": _compare_exchange}
"""The handlers that ``Body`` takes for these opcodes."""


# -- helpers that translated code calls --------------------------------------------------------------------------------


def _do_copy(t: Thread, to: int, source: int, size: int, to_align: int, source_align: int, site: int) -> None:
    watch = t.block.launch.watch
    old = watch.before(t, to, size) if watch else b""
    write_bytes(t, to, read_bytes(t, source, size, source_align, site), to_align, site)
    if watch and size:
        watch.copied(t, to, source, size, site, old)


def _do_copy_padded(t: Thread, to: int, source: int, size: int, used: int, site: int) -> None:
    used = min(used, size)
    find_generic(t, to, size, size, "B", site, True)  # one access, whatever of it is padding
    _do_copy(t, to, source, used, size, size, site)
    _do_fill(t, to + used, 0, size - used, 1, site)


def _do_fill(t: Thread, to: int, value: int, size: int, align: int, site: int) -> None:
    watch = t.block.launch.watch
    old = watch.before(t, to, size) if watch else b""
    write_bytes(t, to, bytes([value]) * size, align, site)
    if watch and size:
        watch.write(t, to, size, site, old)


def _print_text(t: Thread, format: int, buffer: int, site: int) -> int:
    text, count = format_text(
        read_string(t, format, site),
        lambda offset, size: read_bytes(t, buffer + offset, size, 1, site),
        lambda address: read_string(t, address, site),
    )
    t.block.launch.text.append(text)
    return count


def _assertion_failed(t: Thread, message: int, file: int, line: int, function: int, site: int) -> None:
    what, where, who = (read_string(t, a, site) for a in (message, file, function))
    raise Stop("assert", f"{where}:{line}: {who}: assertion `{what}` failed", t, site)


def _do_trap(t: Thread, site: int) -> None:
    raise Stop("trap", "the kernel stopped itself (trap)", t, site)


def _exit_thread() -> None:
    raise ThreadExit


def _in_global(t: Thread, address: int) -> bool:
    windows = any(base <= address < base + WINDOW for base in (SHARED_BASE, LOCAL_BASE))
    return not windows and not _in_constant(t, address)


def _in_constant(t: Thread, address: int) -> bool:
    buffer = t.block.launch.memory.arena.find(address)
    return buffer is not None and not buffer.writable


HELPERS: dict[str, Any] = {
    "copy": _do_copy,
    "copy_padded": _do_copy_padded,
    "fill": _do_fill,
    "print_text": _print_text,
    "assertion_failed": _assertion_failed,
    "trap": _do_trap,
    "exit_thread": _exit_thread,
    "bad_call": bad_call,
    "in_shared": lambda a: SHARED_BASE <= a < SHARED_BASE + WINDOW,
    "in_local": lambda a: LOCAL_BASE <= a < LOCAL_BASE + WINDOW,
    "in_constant": _in_constant,
    "in_global": _in_global,
}
