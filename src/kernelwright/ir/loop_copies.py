"""Several turns of a loop one after the other, each with its own way out.

before   head:                          after   head:
           %i = phi [0, %a], [%j, %head]          %i = phi [0, %a], [%j.1, %next]
           %j = add %i, 1                         br label %turn
           %more = icmp slt %j, %n              turn:
           br i1 %more, %head, %end               %j = add %i, 1
                                                  %more = icmp slt %j, %n
                                                  br i1 %more, %next, %end
                                                next:
                                                  %j.1 = add %j, 1
                                                  %more.1 = icmp slt %j.1, %n
                                                  br i1 %more.1, %head, %end

Nothing has to be known of the number of turns, and a barrier in the loop is no hindrance: what runs is the same, in the same order.
LLVM copies no loop with a barrier unless it knows how often it turns.
"""

from __future__ import annotations

from kernelwright.ir import types
from kernelwright.ir.control_flow import Dominators
from kernelwright.ir.graph import loop_body
from kernelwright.ir.module import BasicBlock, Function, Instruction
from kernelwright.ir.values import Value

Twins = dict[Value, Value]

_OF_A_TURN = frozenset({"llvm.loop", "alias.scope", "noalias", "llvm.access.group", "llvm.mem.parallel_loop_access"})
"""What is said of a loop, or of accesses of one turn of it."""


def copy_turns(latch: BasicBlock, header: BasicBlock, count: int) -> list[BasicBlock]:
    """Makes ``count`` turns of the loop that ``latch`` closes one after the other, in place, and returns the block that each begins
    with; the header keeps its phis alone. Raises ``ValueError``, before anything is changed, for what is no such loop, or one that a
    value leaves to where paths meet that the loop does not know of."""
    function = latch.parent
    assert function is not None and count > 1
    dominators = Dominators(function)
    before: dict[BasicBlock, list[BasicBlock]] = {block: [] for block in function.blocks}
    for block in function.blocks:
        for successor in dict.fromkeys(block.successors):
            before[successor].append(block)
    if header not in latch.successors or not dominators.dominates(header, latch):
        raise ValueError("it closes no loop")
    inside = loop_body(header, [latch], before.__getitem__)
    if any(dominators.dominates(header, block) for block in before[header] if block is not latch):
        raise ValueError("the loop is closed at several places")
    body = [block for block in function.blocks if block in inside]
    if any(i.type.text == "token" or i.opcode == "alloca" for block in body for i in block.instructions):
        raise ValueError("the loop makes what cannot be made twice")
    exits = list(dict.fromkeys(s for block in body for s in block.successors if s not in inside))
    for block, values in _leaving(body, exits, inside, before, dominators).items():
        _close(block, values, before[block], dominators)
    for instruction in (i for block in body for i in block.instructions):
        instruction.metadata = {kind: node for kind, node in instruction.metadata.items() if kind not in _OF_A_TURN}
    first = _split(header)
    body.insert(body.index(header) + 1, first)
    if latch is header:
        latch = first
    return [first, *_copy(function, header, first, latch, body, exits, count)]


def _leaving(
    body: list[BasicBlock],
    exits: list[BasicBlock],
    inside: set[BasicBlock],
    before: dict[BasicBlock, list[BasicBlock]],
    dominators: Dominators,
) -> dict[BasicBlock, list[Instruction]]:
    """By block that the loop is left to: the values that are used beyond it. Values a phi there takes are none."""
    found: dict[BasicBlock, list[Instruction]] = {}
    for value in (i for block in body for i in block.instructions):
        for user in value.users:
            if not isinstance(user, Instruction) or user.parent is None:
                raise ValueError(f"%{value.name} is used by what is no instruction")
            for index, operand in enumerate(user.operands):
                if operand is not value:
                    continue
                place = user.blocks[index] if user.is_phi else user.parent
                if place in inside:
                    continue
                above = [each for each in exits if dominators.dominates(each, place)]
                fits = [each for each in above if all(b in inside for b in before[each])]
                home = value.parent
                assert home is not None
                if not fits or not all(dominators.dominates(home, b) for b in before[fits[0]]):
                    raise ValueError(f"%{value.name} leaves the loop to where other paths come, too")
                if value not in found.setdefault(fits[0], []):
                    found[fits[0]].append(value)
    return found


def _close(block: BasicBlock, values: list[Instruction], before: list[BasicBlock], dominators: Dominators) -> None:
    """Values reach what lies beyond ``block`` through phis of it."""
    for value in values:
        phi = Instruction("phi", value.type, tuple(value for _ in before), blocks=tuple(before))
        block.insert(0, phi)
        for use in value.uses:
            user = use.user
            assert isinstance(user, Instruction) and user.parent is not None
            place = user.blocks[use.index] if user.is_phi else user.parent
            if user is not phi and dominators.dominates(block, place):
                use.set(phi)


def _split(header: BasicBlock) -> BasicBlock:
    """A block of its own for what comes behind the header's phis."""
    function = header.parent
    assert function is not None
    made = function.add_block(after=header)
    for instruction in header.instructions[header.first_non_phi :]:
        instruction.unlink()
        made.append(instruction)
    for successor in dict.fromkeys(made.successors):
        for phi in successor.phis:
            phi.replace_block(header, made)
    jump = Instruction("br", types.void)
    jump.successors = (made,)
    header.append(jump)
    return made


def _copy(
    function: Function,
    header: BasicBlock,
    first: BasicBlock,
    latch: BasicBlock,
    body: list[BasicBlock],
    exits: list[BasicBlock],
    count: int,
) -> list[BasicBlock]:
    """The further turns; where each begins."""
    copied = [block for block in body if block is not header]
    leaving = [
        (phi, value, block) for each in exits for phi in each.phis for value, block in phi.incoming if block in copied
    ]
    carried = {phi: phi.incoming_value(latch) for phi in header.phis}
    last: Twins = {}
    end, after = latch, body[-1]
    links: list[tuple[BasicBlock, BasicBlock]] = []
    for _ in range(count - 1):
        twins: Twins = {phi: last.get(value, value) for phi, value in carried.items()}
        for block in copied:
            after = function.add_block(after=after)
            twins[block] = after
        pairs = []
        for block in copied:
            into = twins[block]
            assert isinstance(into, BasicBlock)
            for old in block.instructions:
                new = old.clone()
                into.append(new)
                twins[old] = new
                pairs.append((old, new))
        for old, new in pairs:
            new.operands = tuple(twins.get(value, value) for value in old.operands)
            if new.is_phi:
                new.blocks = tuple(twins.get(each, each) for each in old.blocks)  # type: ignore[misc]
            new.successors = tuple(twins.get(each, each) for each in new.successors)  # type: ignore[misc]
        for phi, value, block in leaving:
            phi.add_incoming(twins.get(value, value), twins[block])  # type: ignore[arg-type]
        start, next_end = twins[first], twins[latch]
        assert isinstance(start, BasicBlock) and isinstance(next_end, BasicBlock)
        links.append((end, start))
        last, end = twins, next_end
    for each, start in links:
        assert each.terminator is not None
        each.terminator.replace_block(header, start)
    for phi, value in carried.items():
        phi.remove_incoming(latch)
        phi.add_incoming(last.get(value, value), end)
    return [start for _, start in links]
