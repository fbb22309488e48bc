"""Calls of functions that may be running already: jumps, with a stack in local memory for what the caller needs again.

    int depth(node *n)                           depth:    n = frame[0]; ... frame[8] = deeper
    {                                                      push(7, n->right), jump depth
        int deeper = depth(n->left);       →     b7:       other = result; deeper = frame[8]; ...
        int other = depth(n->right);             leave:    pop, jump to what was pushed: b6, b7 or behind the first call
        ...

What is called from outside of such a group is put into the program once for each place that calls it, as every function is, with a block
to enter and one to leave each function of the group. Values that no call of the group comes between stay values (``call_frames.py``). Lanes
that are at different depths run apart and meet where they would in a loop: each goes on with its own frame.
"""

from __future__ import annotations

from typing import Protocol

from kernelwright.codegen.call_graph import Group
from kernelwright.codegen.memory_layout import round_up
from kernelwright.codegen.simt.program.call_frames import LOCAL, CallFrame, Slot, lay_out, put, take
from kernelwright.codegen.simt.program.flatten_calls import generic_address
from kernelwright.codegen.simt.program.flattening_context import FlatteningContext, Row
from kernelwright.codegen.simt.program.lane_scalars import LOCAL_BASE, Scalar, scalars
from kernelwright.codegen.simt.program.program import Block, Op, Operand, integer
from kernelwright.ir.module import Function, Instruction
from kernelwright.lazy_dataclasses import dataclass

_NUMBER = Scalar("i32")
_FRAME = Scalar("i64", LOCAL)


class Walk(Protocol):
    """The walk over functions (``flatten.py``)."""

    def function(
        self, function: Function, arguments: list[Row], entry: Block, frame: int, stack: tuple[str, ...],
        kept: CallFrame | None = None,
    ) -> list[tuple[Block, Row]]:  # fmt: skip
        """Puts the body of ``function`` into the program, beginning in ``entry``; the blocks that return, with their rows.
        ``frame``: the end of what is taken of local memory; ``kept``: where its values lie, if it may be called while it runs."""


@dataclass
class Member:
    """A function of a group, as one place outside calls it."""

    frame: CallFrame
    entry: Block
    leave: Block
    """Where it comes to when it returns."""
    goes_on: list[Block]
    """Behind the calls of it, by the number that a call pushes."""


@dataclass
class Machine:
    """All functions of a group."""

    members: dict[Function, Member]
    result: int
    """Where in local memory what a function returns is handed over."""


class RecursiveCalls:
    """Puts calls of functions that may be running into the program. ``stack_start``: where in local memory a thread's stack begins."""

    def __init__(self, groups: dict[Function, Group], stack_start: int) -> None:
        self.groups = groups
        self._stack_start = stack_start
        self._running: list[tuple[Machine, CallFrame]] = []
        """The functions being flattened, the innermost last."""

    def call(
        self, flat: FlatteningContext, walk: Walk, instruction: Instruction, callee: Function, static: int
    ) -> None:
        """``static``: the end of what the caller has in local memory besides its stack."""
        machine, frame = self._running[-1] if self._running else (None, None)
        base: Operand = integer("i64", self._stack_start)
        if frame is not None:
            base = flat.emit("gep", (frame.top(flat),), "i64", (frame.size, ()), LOCAL)
        inside = machine is not None and callee in machine.members
        caller = frame.top(flat) if inside and frame is not None else base
        if not inside:
            machine = _machine(flat, self.groups[callee], static)
            static = machine.result + _result_bytes(machine)
            flat.program.local_bytes = max(flat.program.local_bytes, static)
        assert machine is not None
        after = _push(flat, instruction, machine.members[callee], base, caller)
        if not inside:
            self._bodies(flat, walk, machine, static)
        flat.now = after
        slots, _ = lay_out(scalars(instruction.type), 0)
        flat.set(instruction, take(flat, integer("i64", machine.result), slots))

    def _bodies(self, flat: FlatteningContext, walk: Walk, machine: Machine, static: int) -> None:
        state = (flat.function_now, flat.index, flat.instruction, flat.names)
        for function, member in machine.members.items():
            self._running.append((machine, member.frame))
            returns = walk.function(function, [], member.entry, static, state[3], member.frame)
            for block, row in returns:
                flat.now = block
                slots, _ = lay_out(scalars(function.function_type.result), 0)
                put(flat, integer("i64", machine.result), slots, row)
                block.term = Op("jump", (), (), None, block.term.origin, (member.leave,))
            self._running.pop()
        for member in machine.members.values():
            _leave(flat, member)
        flat.function_now, flat.index, flat.instruction, flat.names = state


def _machine(flat: FlatteningContext, group: Group, static: int) -> Machine:
    here = round_up(static, 16)
    members = {}
    for function in sorted(group, key=lambda f: f.name):
        last = next(b for b in reversed(function.blocks) if b.terminator is not None)
        # No count of a block of the program is a count of these two's origins: they begin behind their first instructions.
        entry = flat.block(function.name, function.entry)
        leave = flat.block(function.name, last, 1, len(last.instructions))
        leave.end = leave.start
        members[function] = Member(CallFrame(function, group, here), entry, leave, [])
    return Machine(members, here + 16)


def _result_bytes(machine: Machine) -> int:
    return max(lay_out(scalars(f.function_type.result), 0)[1] for f in machine.members)


def _push(flat: FlatteningContext, instruction: Instruction, callee: Member, base: Operand, caller: Operand) -> Block:
    """Opens a frame at ``base`` and goes to the function; returns where the program goes on behind the call. ``caller``: the frame
    to come back to; for a call from outside it does not matter."""
    arguments = [flat.row(a) for a in instruction.arguments]
    frame = callee.frame
    number = integer("i32", len(callee.goes_on))
    put(flat, base, [Slot(frame.goes_on, _NUMBER)], [number])
    put(flat, base, [Slot(frame.caller, _FRAME)], [caller])
    for argument, value, row in zip(frame.function.arguments, instruction.arguments, arguments, strict=True):
        if argument in frame.structs:
            offset, size = frame.structs[argument]
            to = flat.emit("gep", (base,), "i64", (LOCAL_BASE + offset, ()), 0)
            flat.effect("copy", (to, generic_address(flat, value), integer("i64", size)))
        else:
            put(flat, base, frame.slots[argument], row)
    put(flat, integer("i64", frame.here), [Slot(0, _FRAME)], [base])
    before = flat.now
    after = flat.cut("jump")
    before.term = Op("jump", (), (), None, instruction, (callee.entry,))
    callee.goes_on.append(after)
    return after


def _leave(flat: FlatteningContext, member: Member) -> None:
    """Back to the caller's frame, and to where it goes on."""
    flat.now, frame = member.leave, member.frame
    last = member.leave.origin
    assert last is not None and last.terminator is not None
    flat.function_now, flat.instruction, flat.index = frame.function, last.terminator, len(last.instructions) - 1
    (number,) = take(flat, frame.top(flat), [Slot(frame.goes_on, _NUMBER)])
    caller = take(flat, frame.top(flat), [Slot(frame.caller, _FRAME)])
    put(flat, integer("i64", frame.here), [Slot(0, _FRAME)], caller)
    targets = tuple(member.goes_on)
    if len(targets) == 1:
        member.leave.term = Op("jump", (), (), None, last.terminator, targets)
    else:
        member.leave.term = Op("switch", (number,), (), tuple(range(1, len(targets))), last.terminator, targets)
