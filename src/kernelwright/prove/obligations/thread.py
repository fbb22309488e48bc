"""One thread of the original, as formulas: what its values are, and what is known where it stands.

In SSA form a value that dominates a place has there the instance that was made last, of operands that are those of the place as well
(docs/proof.md). So the definitions of all that dominates a place hold there, and so do the conditions of branches on the only way to it.
A phi is the value of the edge its block was entered by; at the head of a loop it is anything that the loop's invariants allow.

Each block has a symbol "it was run on the way here", and every fact of a block depends on it; so facts of ways
that were not taken say nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property

from kernelwright.edits.setting import register_asked
from kernelwright.guards import WARP, Apart
from kernelwright.ir import (
    Argument,
    BasicBlock,
    ConstantAggregate,
    ConstantExpr,
    ConstantFloat,
    ConstantInt,
    ConstantNull,
    DataLayout,
    Dominators,
    Function,
    GlobalVariable,
    Instruction,
    Names,
    Poison,
    Undef,
    Value,
    ZeroInitializer,
    loop_latches,
)
from kernelwright.ir.graph import back_edges
from kernelwright.ir.types import ArrayType, IntType, PointerType, StructType, VectorType
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.coverage.condition_sources import offset_in
from kernelwright.prove.obligations.arithmetic import Arithmetic
from kernelwright.prove.obligations.effects import (
    SHARED,
    Base,
    Effect,
    bases,
    effect_of,
    is_byval,
    pointer_of,
    read_only,
)
from kernelwright.prove.obligations.memory_states import MemoryStates
from kernelwright.prove.obligations.variant_pair import Unprovable
from kernelwright.prove.obligations.world import ADDRESS_BITS, Expr, Term, World, z3

LANE = "llvm.nvvm.read.ptx.sreg.laneid"
LAUNCH = {"tid": "thread", "ntid": "launch", "ctaid": "block", "nctaid": "launch"}


class Shape:
    """What is known of a function once, for all its threads. Raises ``Unprovable`` for an irreducible loop."""

    def __init__(self, function: Function, guards: Sequence[object] = ()) -> None:
        self.function = function
        self.layout = DataLayout(function.module.data_layout if function.module is not None else "")
        self.dominators = Dominators(function)
        self.latches = loop_latches(self.dominators)
        self.before: dict[BasicBlock, list[BasicBlock]] = {block: [] for block in function.blocks}
        for block in self.dominators.order:
            for successor in dict.fromkeys(block.successors):
                self.before[successor].append(block)
        for tail, head in back_edges(function.blocks[0], lambda block: block.successors):
            if tail not in self.latches.get(head, ()):
                raise Unprovable("it has a loop with two entries")
        self.values = {f"%{v.name}": v for v in [*function.arguments, *function.instructions()] if v.name}
        self._apart = {guard.index for guard in guards if isinstance(guard, Apart)}
        self._constant: dict[Value, bool] = {}
        self._needed: dict[Instruction, tuple[Value, ...]] = {}

    def is_constant_memory(self, pointer: Value) -> bool:
        """Whether nothing writes what it points to while the kernel runs."""
        if pointer not in self._constant:
            behind = bases(pointer)
            needed = [read_only(self.function, base) for base in behind] if behind else [None]
            self._constant[pointer] = all(one is not None and one <= self._apart for one in needed)
        return self._constant[pointer]

    def store_size(self, access: Instruction) -> int:
        """Bytes that a load or store touches."""
        return self.layout.store_size(access.type if access.opcode == "load" else access.operands[0].type)

    def not_poison(self, block: BasicBlock, index: int | None) -> dict[Value, None]:
        """What cannot have been poison once the accesses before instruction ``index`` of a block are made: their pointers, and what
        these are computed from by instructions that hand poison on."""
        found: dict[Value, None] = {}
        for i in block.instructions[:index]:
            if effect_of(i) in (Effect.LOAD, Effect.STORE):
                if i not in self._needed:
                    self._needed[i] = tuple(_poisons(pointer_of(i)))
                found |= dict.fromkeys(self._needed[i])
        return found


_HANDS_POISON_ON = frozenset({
    "getelementptr", "add", "sub", "mul", "shl", "lshr", "ashr", "zext", "sext", "trunc", "and", "or", "xor", "addrspacecast",
})  # fmt: skip


def _poisons(value: Value) -> dict[Value, None]:
    """Values whose poison makes this one poison."""
    found: dict[Value, None] = {}
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found[each] = None
            if isinstance(each, Instruction) and each.opcode in _HANDS_POISON_ON:
                waiting += each.operands
    return found


Invariant = Callable[["Thread", Callable[[Value], Term], Expr], Expr]
"""Of the values that the phis of a loop's head have, and the number of turns so far, what holds in each turn."""


@dataclass(eq=False)
class Thread:
    """``name`` tells threads apart; those of one ``block`` name share their block's number. ``side`` holds what is true of all symbols."""

    world: World
    shape: Shape
    name: str = ""
    block: str = ""
    side: list[Expr] = field(default_factory=list)
    invariants: Mapping[BasicBlock, Sequence[Invariant]] = field(default_factory=dict)
    follows_memory: bool = False
    """Whether loads of memory that the kernel writes are more than anything of their type (``memory_states``)."""
    inbounds: dict[Instruction, Expr] = field(default_factory=dict)
    """Symbols that say an address stays in its memory as its computation promises: it is poison else."""
    _terms: dict[Value, Term] = field(default_factory=dict)
    _blocks: dict[BasicBlock, Expr] = field(default_factory=dict)
    _edges: dict[tuple[BasicBlock, BasicBlock], Expr] = field(default_factory=dict)
    _turns: dict[BasicBlock, Expr] = field(default_factory=dict)

    @cached_property
    def arithmetic(self) -> Arithmetic:
        """Gives terms to pure instructions, and adds what is true of them to ``side``."""
        return Arithmetic(self.world, self.side)

    @cached_property
    def memory(self) -> MemoryStates:
        """What loads of memory find that the kernel writes, too."""
        return MemoryStates(self, self.shape)

    # -- values

    def term(self, value: Value) -> Term:
        """Of a value of the original, or of the variant: that has the original's name, or is a copy."""
        if isinstance(value, Instruction | Argument) and self._is_foreign(value):
            known = self.shape.values.get(f"%{value.name}")
            if known is not None:
                value = known
        found = self._terms.get(value)
        if found is None:
            found = self._terms[value] = self._made(value)
        return found

    def has_term(self, value: Value) -> bool:
        """Whether a value of the original was asked for."""
        return value in self._terms

    def _is_foreign(self, value: Instruction | Argument) -> bool:
        return value.function is not self.shape.function

    def _made(self, value: Value) -> Term:
        z = z3()
        if isinstance(value, Argument):
            return self.world.argument(value)
        if isinstance(value, Instruction):
            return self.computed(value)
        if isinstance(value, ConstantInt):
            if isinstance(value.type, IntType) and value.type.bits == 1:
                return Term(z.BoolVal(bool(value.value)), z.BoolVal(True))
            return Term(z.IntVal(value.value), z.BoolVal(True), value.value, value.value)
        if isinstance(value, ConstantNull):
            return Term(z.IntVal(0), z.BoolVal(True), 0, 0)
        if isinstance(value, Poison):
            return Term(z.Const(f"poison {value.type.text}", self.world.sort(value.type)), z.BoolVal(False))
        if isinstance(value, Undef):
            return self._anything("undefined", value)
        if isinstance(value, ConstantFloat):
            return Term(z.Const(f"{value.type.text} {value.text}", self.world.sort(value.type)), z.BoolVal(True))
        if isinstance(value, GlobalVariable | Function):
            address = z.Int(f"@{value.name}")
            self.side.append(z.And(address >= 0, address < 1 << (ADDRESS_BITS - 1)))
            return Term(address, z.BoolVal(True))
        if isinstance(value, ConstantExpr) and value.opcode == "getelementptr" and value.source_type is not None:
            return self._address(value.source_type, value.operands)
        if isinstance(value, ConstantExpr) and value.opcode == "addrspacecast":
            return self.term(value.operands[0])
        if isinstance(value, ConstantAggregate | ZeroInitializer) and not _has_undefined(value):
            name = f"{value.type.text} {value.reference(Names())}"
            return Term(z.Const(name, self.world.sort(value.type)), z.BoolVal(True))
        return self._anything("constant", value)

    def _anything(self, name: str, value: Value) -> Term:
        """Any value of its type. It may be poison or not: neither helps a proof that has it."""
        made = self.world.fresh(name, self.world.sort(value.type))
        return self.arithmetic.ranged(value.type, made, self.world.fresh("ok", z3().BoolSort()))

    def computed(self, i: Instruction) -> Term:
        """The term of an instruction of the original, by what it computes; a fresh symbol where that is not followed."""
        z = z3()
        if i.is_phi:
            return self._phi(i)
        asked = register_asked(i)
        if asked is not None:
            return self.register(*asked)
        if i.opcode == "load":
            return self._load(i)
        if i.opcode == "getelementptr" and isinstance(i.type, PointerType):
            return self._address(i.source_type, i.operands, promised=i if i.flags else None)
        if i.opcode == "freeze":
            x = self.term(i.operands[0])
            if z.is_true(x.ok):
                return x
            other = self.world.fresh("frozen", self.world.sort(i.type))
            made = self.arithmetic.ranged(i.type, other, z.BoolVal(True))
            return Term(z.If(x.ok, x.value, other), z.BoolVal(True), made.low, made.high)
        if i.opcode == "addrspacecast":
            return self.term(i.operands[0])
        if effect_of(i) not in (Effect.PURE, Effect.DIVISION) or i.is_terminator:
            return self._unknown(i)
        if i.opcode == "call" and isinstance(i.callee, Function) and i.callee.name == LANE:
            return self._lane()
        arguments = i.arguments if i.opcode == "call" else i.operands
        if any(value.type.text in ("metadata", "label", "token") for value in arguments):
            return self._unknown(i)
        return self.arithmetic.term(i, [self.term(value) for value in arguments])

    def _unknown(self, i: Instruction) -> Term:
        """Anything of its type."""
        value = self.world.fresh(f"{self.name}{i.name or i.opcode}", self.world.sort(i.type))
        return self.arithmetic.ranged(i.type, value, z3().BoolVal(True))

    def register(self, name: str, axis: int) -> Term:
        """The term of a special register: ``tid``, ``ctaid``, ``ntid`` or ``nctaid`` on axis 0 to 2."""
        z = z3()
        if name in ("ntid", "nctaid"):
            return self.world.geometry(name, axis)
        of = self.world.geometry("n" + name, axis)
        key = f"{self.block if name == 'ctaid' else self.name}{name}.{'xyz'[axis]}"
        assert of.high is not None
        if of.high == 1:
            return Term(z.IntVal(0), z.BoolVal(True), 0, 0)
        value = z.Int(key)
        self.side.append(z.And(value >= 0, value < of.value))
        return Term(value, z.BoolVal(True), 0, of.high - 1)

    def _lane(self) -> Term:
        """Its place in its warp, which each thread has of its own."""
        z = z3()
        value = z.Int(f"{self.name}lane")
        self.side.append(z.And(value >= 0, value < WARP))
        return Term(value, z.BoolVal(True), 0, WARP - 1)

    def _load(self, i: Instruction) -> Term:
        made = self._loaded(i)
        if isinstance(i.type, IntType) and i.type.bits in (8, 16, 32, 64):
            for base in bases(self._own(pointer_of(i))) or ():
                place = place_in_words(base, offset_in(self._own(pointer_of(i))))
                if place:
                    self.world.found_in_memory(place, made.value)
        return made

    def _loaded(self, i: Instruction) -> Term:
        z = z3()
        if effect_of(i) is Effect.LOAD and self.shape.is_constant_memory(self._own(pointer_of(i))):
            pointer = self.term(pointer_of(i))
            value = z.Function(f"memory {i.type.text}", z.IntSort(), self.world.sort(i.type))(pointer.value)
            return self.arithmetic.ranged(i.type, value, z.BoolVal(True))
        if self.follows_memory and effect_of(i) is Effect.LOAD and not self._is_foreign(i):
            return self.arithmetic.ranged(i.type, *self.memory.loaded(i))
        if effect_of(i) is Effect.LOAD:
            return self._anything(f"{self.name}{i.name}", i)  # poison, too, if the kernel stored some
        return self._unknown(i)

    def _own(self, pointer: Value) -> Value:
        """The original's value for one of the variant, as far as it has one."""
        if isinstance(pointer, Instruction | Argument) and self._is_foreign(pointer):
            known = self.shape.values.get(f"%{pointer.name}")
            if known is not None:
                return known
            if isinstance(pointer, Instruction) and pointer.opcode == "getelementptr":
                return self._own(pointer.operands[0])
        return pointer

    def _address(self, source: object, operands: Sequence[Value], promised: Instruction | None = None) -> Term:
        z = z3()
        layout, base = self.shape.layout, self.term(operands[0])
        offset: Expr = z.IntVal(0)
        parts = [base]
        type = source
        for number, index in enumerate(operands[1:]):
            if number == 0:
                size = layout.size(type)  # type: ignore[arg-type]
            elif isinstance(type, StructType):
                assert isinstance(index, ConstantInt) and type.fields is not None
                offset = offset + layout.offsets(type)[index.value]
                type = type.fields[index.value]
                continue
            elif isinstance(type, ArrayType | VectorType):
                type = type.element
                size = layout.size(type)
            else:
                raise Unprovable("an address is computed in a way that is not understood")
            term = self.term(index)
            parts.append(term)
            offset = offset + term.value * size
        ok = self.arithmetic.all_ok(parts)
        if promised is not None:
            # In bounds of its memory, or poison: whether it is shows where it is used.
            stays = self.world.fresh("inbounds", z.BoolSort())
            self.inbounds[promised] = stays
            return Term(base.value + offset, z.And(ok, stays))
        exact = base.value + offset
        value, turns = self.world.fresh("address", z.IntSort()), self.world.fresh("turns", z.IntSort())
        self.side += [value == exact - turns * (1 << ADDRESS_BITS), value >= 0, value < 1 << ADDRESS_BITS]
        return Term(value, ok)

    def _phi(self, i: Instruction) -> Term:
        z = z3()
        assert i.parent is not None
        if i.parent in self.shape.latches:
            ok = self.world.fresh("ok", z.BoolSort())
            value = self.world.fresh(f"{self.name}{i.name}", self.world.sort(i.type))
            return self.arithmetic.ranged(i.type, value, ok)
        made: Term | None = None
        for value, block in zip(i.operands, i.blocks, strict=True):
            if not self.shape.dominators.is_reachable(block):
                continue
            term = self.term(value)
            taken = self.edge(block, i.parent)
            made = term if made is None else _either(taken, term, made)
        if made is None:
            raise Unprovable("a phi is never reached")
        return self.arithmetic.promised(i, made)

    def turns_of(self, head: BasicBlock) -> Expr:
        """How often the loop was closed since it was entered."""
        if head not in self._turns:
            turns = self._turns[head] = self.world.fresh(f"{self.name}turns", z3().IntSort())
            self.side.append(turns >= 0)
        return self._turns[head]

    # -- places

    def run(self, block: BasicBlock) -> Expr:
        """The symbol that says the block was run to its end on the way; what follows from it goes to ``side``."""
        z = z3()
        found = self._blocks.get(block)
        if found is not None:
            return found
        symbol = self._blocks[block] = self.world.fresh(f"{self.name}run {block.name}", z.BoolSort())
        for fact in self.entered(block):
            self.side.append(z.Implies(symbol, fact))
        return symbol

    def entered(self, block: BasicBlock) -> list[Expr]:
        """What holds when the block is entered: facts of blocks that dominate it, and of the ways to it."""
        z = z3()
        above = self.shape.dominators.immediate(block)
        if above is None:
            return []
        facts = [self.run(above)]
        before = self.shape.before[block]
        if before == [above]:
            return [*facts, self.condition(above, block)]
        if block in self.shape.latches:
            return [*facts, *(holds(self, self.term, self.turns_of(block)) for holds in self.invariants.get(block, ()))]
        return [*facts, z.Or(*(self.edge(each, block) for each in before))]

    def edge(self, before: BasicBlock, block: BasicBlock) -> Expr:
        """The symbol that says the block was entered from there, once that is known to have happened at all."""
        z = z3()
        key = (before, block)
        found = self._edges.get(key)
        if found is None:
            found = self._edges[key] = self.world.fresh(f"{self.name}edge", z.BoolSort())
            self.side.append(z.Implies(found, z.And(self.run(before), self.condition(before, block))))
            for (other, to), taken in self._edges.items():
                if to is block and other is not before:
                    self.side.append(z.Not(z.And(found, taken)))
        return found

    def condition(self, block: BasicBlock, successor: BasicBlock) -> Expr:
        """What makes a block go on to a successor; the condition is not poison, or all would be undefined."""
        z = z3()
        end = block.terminator
        if end is None or len(set(block.successors)) == 1:
            return z.BoolVal(True)
        if end.opcode == "br" and len(end.operands) == 1:
            term = self.term(end.operands[0])
            return z.And(term.value if end.successors[0] is successor else z.Not(term.value), term.ok)
        if end.opcode == "switch":
            term = self.term(end.operands[0])
            mine = [self.term(c).value for c, to in zip(end.cases, end.successors[1:], strict=True) if to is successor]
            found = [term.value == value for value in mine]
            if end.successors[0] is successor:
                found.append(z.And(*(term.value != self.term(c).value for c in end.cases)))
            return z.And(z.Or(*found), term.ok)
        return z.BoolVal(True)

    def at(self, block: BasicBlock, index: int | None = None) -> list[Expr]:
        """What is known before instruction ``index`` of a block, or at its end. Ask for it after all the values."""
        z = z3()
        facts = [*self.entered(block), *self._not_poison(block, index)]
        for run, symbol in list(self._blocks.items()):
            facts += [z.Implies(symbol, ok) for ok in self._not_poison(run, None)]
        return facts

    def _not_poison(self, block: BasicBlock, index: int | None) -> list[Expr]:
        """No access that was made is through poison."""
        known = (self._terms[value].ok for value in self.shape.not_poison(block, index) if value in self._terms)
        return [ok for ok in known if not z3().is_true(ok)]


def place_in_words(base: Base, offset: int | None) -> str:
    """Where a launch finds what is read there, in words that counterexamples use; empty for memory that is not there before it."""
    at = f" at byte {offset}" if offset is not None else ""
    if isinstance(base, Argument):
        return f"argument {base.index}{at}" if is_byval(base) else f"what argument {base.index} points to"
    return f"variable {base.name}{at}" if isinstance(base, GlobalVariable) and base.address_space != SHARED else ""


def _either(taken: Expr, term: Term, other: Term) -> Term:
    z = z3()
    low = min(term.low, other.low) if term.low is not None and other.low is not None else None
    high = max(term.high, other.high) if term.high is not None and other.high is not None else None
    ok = z.BoolVal(True) if z.is_true(term.ok) and z.is_true(other.ok) else z.If(taken, term.ok, other.ok)
    return Term(z.If(taken, term.value, other.value), ok, low, high)


def _has_undefined(value: Value) -> bool:
    return isinstance(value, Undef | Poison | ConstantExpr) or any(map(_has_undefined, value.operands))
