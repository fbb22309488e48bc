"""Random damage to a module: operands replaced, instructions moved, fields changed. Most of it is no valid IR."""

from __future__ import annotations

import random

from kernelwright.ir import (
    BasicBlock,
    ConstantInt,
    Function,
    Instruction,
    Module,
    Poison,
    Value,
    parse_type,
    types,
    zero,
)
from kernelwright.ir.types import FloatType, IntType, PointerType

KINDS = [
    types.i1,
    types.i8,
    types.i32,
    types.i64,
    types.f32,
    types.f64,
    types.ptr,
    PointerType(3),
    parse_type("<2 x i32>"),
]


CARRY_FLAGS = (
    "add",
    "shl",
    "or",
    "lshr",
    "sdiv",
    "zext",
    "trunc",
    "icmp",
    "fcmp",
    "fadd",
    "phi",
    "select",
    "call",
    "getelementptr",
)


def pick_value(rng: random.Random, function: Function, wanted: types.Type) -> Value:
    """Mostly a value of the wanted type, sometimes any."""
    pool: list[Value] = [*function.arguments, *(i for i in function.instructions() if i.has_result)]
    fitting = [v for v in pool if v.type is wanted]
    choice = rng.random()
    if fitting and choice < 0.6:
        return rng.choice(fitting)
    if choice < 0.75:
        kind = wanted if rng.random() < 0.6 else rng.choice(KINDS)
        if isinstance(kind, IntType | FloatType | PointerType):
            return zero(kind)
        return Poison(kind)
    return rng.choice(pool) if pool else ConstantInt(types.i32, 1)


def mutate(rng: random.Random, module: Module) -> str:
    """Change one thing and say what."""
    function = rng.choice(module.definitions)
    instructions = list(function.instructions())
    i = rng.choice(instructions)
    what = rng.choice(
        ["operand", "operand", "operand", "move", "clone", "successor", "flag", "phi", "result", "field", "erase"]
    )
    if what == "operand" and i.operands:
        n = rng.randrange(len(i.operands))
        i.set_operand(n, pick_value(rng, function, i.operands[n].type))
    elif what == "move":
        i.move_before(rng.choice(instructions))
    elif what == "clone":
        other = rng.choice(instructions)
        assert other.parent is not None
        other.parent.insert(other.index, i.clone())
    elif what == "successor":
        branches = [j for j in instructions if j.successors]
        if branches:
            i = rng.choice(branches)
            n = rng.randrange(len(i.successors))
            targets = list(i.successors)
            targets[n] = rng.choice(function.blocks)
            i.successors = tuple(targets)
    elif what == "flag" and i.opcode in CARRY_FLAGS:
        i.flags = (rng.choice(["nsw", "nuw", "exact", "contract", "inbounds", "nneg", "disjoint", "samesign"]),)
    elif what == "phi":
        phis = [j for j in instructions if j.opcode == "phi"]
        if phis:
            damage_phi(rng, function, rng.choice(phis))
    elif what == "result" and i.opcode in ("trunc", "zext", "sext", "fpext", "fptrunc", "bitcast", "load", "sitofp"):
        i.type = rng.choice(KINDS)
    elif what == "field":
        damage_field(rng, i)
    elif what == "erase":
        fallback = Poison(i.type) if i.has_result else None
        if fallback is not None:
            i.replace_all_uses_with(fallback)
        i.erase()
    return f"{what} {i.opcode}"


def damage_phi(rng: random.Random, function: Function, phi: Instruction) -> None:
    block = rng.choice(function.blocks)
    if rng.random() < 0.3:
        phi.add_incoming(pick_value(rng, function, phi.type), block)
    elif rng.random() < 0.5 and len(phi.blocks) > 1:
        phi.remove_incoming(rng.choice(phi.blocks))
    else:
        blocks: list[BasicBlock] = list(phi.blocks)
        blocks[rng.randrange(len(blocks))] = block
        phi.blocks = tuple(blocks)


def damage_field(rng: random.Random, i: Instruction) -> None:
    if i.opcode == "icmp":
        i.predicate = rng.choice(["eq", "slt", "ult"])
    elif i.opcode == "getelementptr":
        i.source_type = rng.choice([*KINDS, parse_type("{ i32, [4 x float] }"), parse_type("[4 x i32]")])
    elif i.opcode in ("load", "store", "alloca"):
        i.align = rng.choice([1, 2, 4, 8, 16])
    elif i.opcode == "extractvalue":
        i.indices = (rng.randrange(3),)
    elif i.opcode == "atomicrmw":
        i.operation = rng.choice(["add", "fadd", "xchg", "umin", "and"])
        i.ordering = rng.choice(["monotonic", "unordered", "seq_cst"])
    elif i.opcode == "alloca":
        i.allocated_type = rng.choice(KINDS)
