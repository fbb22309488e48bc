"""Edits in words: what kind of change each one is, what it does, and to which line of source.

    words = in_words(original, Delete(12))
    words.kind         "redundant load"
    words.sentence     "the load at blur.cu:19 is gone; %in, seen before, takes its place"

The kinds are those that people who studied evolved kernels found (paper 000, section 6): removed barriers, redundant stores
and loads, conditions that never vary, skipped iterations, reused values, specialised constants.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kernelwright.edits.kinds.cache_policy import CachePolicy
from kernelwright.edits.kinds.change_constant import ChangeConstant
from kernelwright.edits.kinds.constant_condition import ConstantCondition
from kernelwright.edits.kinds.copy import Copy
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.delete_barrier import DeleteBarrier, is_barrier
from kernelwright.edits.kinds.exchange_to_store import ExchangeToStore
from kernelwright.edits.kinds.fast_math import FastMath
from kernelwright.edits.kinds.fix_launch import FixArgument, FixBlock, FixGrid
from kernelwright.edits.kinds.hoist_loads import HoistLoads
from kernelwright.edits.kinds.move import Move
from kernelwright.edits.kinds.no_alias import NoAlias
from kernelwright.edits.kinds.recipe import Recipe
from kernelwright.edits.kinds.replace_instruction import ReplaceInstruction
from kernelwright.edits.kinds.replace_operand import ReplaceOperand
from kernelwright.edits.kinds.swap import Swap
from kernelwright.edits.kinds.unroll import Unroll
from kernelwright.edits.kinds.warp_barriers import WarpBarriers
from kernelwright.edits.original import Id, Node, Original
from kernelwright.guards import WARP, Apart, ArgumentIs, BlockIs, BlockIsWarp, Guard
from kernelwright.ir import Function, Location

KINDS = (
    "removed barrier",
    "redundant store",
    "redundant load",
    "redundant work",
    "repeated work",
    "condition",
    "skipped iterations",
    "reused value",
    "unused value",
    "specialised constant",
    "specialised input",
    "promise",
    "order",
    "precision",
    "caching",
    "compile recipe",
)


@dataclass(frozen=True)
class Words:
    """``kind`` is one of ``KINDS``; ``location`` is the source line that the edit is about, where one is known."""

    kind: str
    sentence: str
    location: Location | None = None

    @property
    def place(self) -> str:
        """``blur.cu:19``, or nothing."""
        return _at(self.location)


def in_words(original: Original, edit: Any) -> Words:
    """An edit of ``original`` in words, whether or not it applies."""
    return _WORDS[type(edit)](original, edit)


def guard_in_words(original: Original, guard: Guard) -> str:
    """What must hold at a launch, by the names of the source.

    before   ``argument 7 == float 0x403AAAAAA0000000``
    after    ``resistance_x == 26.666666``
    """
    if isinstance(guard, ArgumentIs):
        return f"{_argument(original, guard.index)} == {_plain(guard.value)}"
    if isinstance(guard, BlockIsWarp):
        return f"block has at most {WARP} threads"
    if isinstance(guard, Apart):
        return f"no other argument reaches the memory behind '{_argument(original, guard.index)}'"
    return f"{'block' if isinstance(guard, BlockIs) else 'grid'} == {' x '.join(map(str, guard.shape))}"


# -- one rule per kind of edit ---------------------------------------------------------------------------------------------


def _delete(original: Original, edit: Delete) -> Words:
    what, location = _what(original, edit.subject)
    node = original.nodes.get(edit.subject)
    value = _plain(edit.value) if edit.value else ""
    if node is not None and node.type == "i1" and value in ("true", "false"):
        decides = any(user in original.latches for user, _ in original.uses.get(node.result, ()))
        kind = "skipped iterations" if decides else "condition"
        return Words(kind, f"{what} is gone: it is always {value}", location)
    takes = f"; {value} takes its place" if value else ""
    return Words(_kind_of_gone(original, edit.subject, value), f"{what} is gone{takes}", location)


def _delete_barrier(original: Original, edit: DeleteBarrier) -> Words:
    what, location = _what(original, edit.subject)
    return Words("removed barrier", f"{what} is gone", location)


def _condition(original: Original, edit: ConstantCondition) -> Words:
    what, location = _what(original, edit.user)
    outcome = "true" if edit.outcome else "false"
    if edit.user in original.latches:
        return Words("skipped iterations", f"whether the loop goes on is decided once and for all: {outcome}", location)
    return Words("condition", f"the condition of {what} is always {outcome}", location)


def _operand(original: Original, edit: ReplaceOperand) -> Words:
    what, location = _what(original, edit.user)
    type, _, value = edit.value.partition(" ")
    before = _operand_before(original, edit.user, edit.index)
    if type == "i1" and value in ("true", "false"):
        return _condition(original, ConstantCondition(edit.user, edit.index, value == "true"))
    kind = "reused value" if value.startswith("%") else "specialised constant"
    return Words(kind, f"{what} takes {_plain(edit.value)} in place of {before}", location)


def _constant(original: Original, edit: ChangeConstant) -> Words:
    what, location = _what(original, edit.user)
    before = _operand_before(original, edit.user, edit.index)
    return Words("specialised constant", f"the constant {before} of {what} is {_plain(edit.value)}", location)


def _instruction(original: Original, edit: ReplaceInstruction) -> Words:
    what, location = _what(original, edit.subject)
    by, _ = _what(original, edit.source)
    return Words("reused value", f"{what} is a copy of {by}", location)


def _copy(original: Original, edit: Copy) -> Words:
    what, location = _what(original, edit.source)
    before, _ = _what(original, edit.before)
    done = f"{what} is done once more before {before}"
    if edit.user is None:
        return Words("repeated work", done, location)
    user, _ = _what(original, edit.user[0])
    taken = _operand_before(original, *edit.user)
    return Words("reused value", f"{done}, and {user} takes its result in place of {taken}", location)


def _move(original: Original, edit: Move) -> Words:
    what, location = _what(original, edit.subject)
    before, _ = _what(original, edit.before)
    return Words("order", f"{what} stands before {before}", location)


def _hoist(original: Original, edit: HoistLoads) -> Words:
    what, location = _what(original, edit.subject)
    chains = ", those from loaded addresses too," if edit.chains else ""
    where = "the branch that leads there" if edit.levels == 1 else f"{edit.levels} of the branches that lead there"
    sentence = f"the loads of the block that ends with {what}{chains} stand before {where}"
    return Words("order", sentence, location)


def _swap(original: Original, edit: Swap) -> Words:
    first, location = _what(original, edit.first)
    second, _ = _what(original, edit.second)
    return Words("order", f"{first} and {second} change places", location)


def _fast_math(original: Original, edit: FastMath) -> Words:
    what, location = _what(original, edit.subject)
    return Words("precision", f"{what} may be computed with {edit.flag}", location)


def _cache_policy(original: Original, edit: CachePolicy) -> Words:
    what, location = _what(original, edit.subject)
    return Words("caching", f"{what} reads with the policy {edit.policy}", location)


def _exchange(original: Original, edit: ExchangeToStore) -> Words:
    what, location = _what(original, edit.subject)
    return Words("unused value", f"{what} is a store: nobody looks at the value it finds", location)


def _fix_argument(original: Original, edit: FixArgument) -> Words:
    return Words("specialised input", f"{_argument(original, edit.index)} is always {_plain(edit.value)}")


def _fix_block(original: Original, edit: FixBlock) -> Words:
    return Words("specialised input", f"blocks are always {' x '.join(map(str, edit.shape))}")


def _fix_grid(original: Original, edit: FixGrid) -> Words:
    return Words("specialised input", f"the grid is always {' x '.join(map(str, edit.shape))}")


def _no_alias(original: Original, edit: NoAlias) -> Words:
    return Words("promise", f"no other argument reaches the memory behind '{_argument(original, edit.index)}'")


def _unroll(original: Original, edit: Unroll) -> Words:
    location = original.location(edit.subject)
    how = {0: "wholly unrolled", 1: "not unrolled"}.get(edit.count, f"unrolled {edit.count} times")
    return Words("compile recipe", f"the loop is {how}", location)


def _warp_barriers(original: Original, edit: WarpBarriers) -> Words:
    return Words("specialised input", f"blocks have at most {WARP} threads, so that the warp's own barriers do")


def _recipe(original: Original, edit: Recipe) -> Words:
    parts = [f"level {edit.level}"] if edit.level != 3 else []
    parts += [f"{edit.rounds} rounds"] if edit.rounds != 1 else []
    parts += [f"then {', '.join(edit.passes)}"] if edit.passes else []
    parts += [f"without {', '.join(edit.without)}"] if edit.without else []
    parts += [f"at most {edit.registers} registers"] if edit.registers is not None else []
    return Words("compile recipe", f"compiled with {'; '.join(parts) or 'the usual passes'}")


_WORDS: dict[type, Callable[[Original, Any], Words]] = {
    Delete: _delete,
    DeleteBarrier: _delete_barrier,
    ConstantCondition: _condition,
    ReplaceOperand: _operand,
    ChangeConstant: _constant,
    ReplaceInstruction: _instruction,
    Copy: _copy,
    HoistLoads: _hoist,
    Move: _move,
    Swap: _swap,
    FastMath: _fast_math,
    CachePolicy: _cache_policy,
    ExchangeToStore: _exchange,
    FixArgument: _fix_argument,
    FixBlock: _fix_block,
    FixGrid: _fix_grid,
    NoAlias: _no_alias,
    Unroll: _unroll,
    WarpBarriers: _warp_barriers,
    Recipe: _recipe,
}


# -- instructions in words -------------------------------------------------------------------------------------------------

_NOUNS = {
    "br": "branch", "icmp": "comparison", "fcmp": "comparison", "getelementptr": "address", "phi": "phi", "select": "choice",
    "add": "addition", "fadd": "addition", "sub": "subtraction", "fsub": "subtraction", "mul": "multiplication",
    "fmul": "multiplication", "sdiv": "division", "udiv": "division", "fdiv": "division", "srem": "remainder",
    "urem": "remainder", "frem": "remainder", "shl": "shift", "lshr": "shift", "ashr": "shift", "fneg": "negation",
    "zext": "widening", "sext": "widening", "fpext": "widening", "trunc": "narrowing", "fptrunc": "narrowing",
    "sitofp": "conversion", "uitofp": "conversion", "fptosi": "conversion", "fptoui": "conversion", "atomicrmw": "atomic",
    "cmpxchg": "atomic",
}  # fmt: skip
"""Opcodes in words; others are called what they are."""
_INTRINSICS = {
    f"llvm.nvvm.read.ptx.sreg.{register}.{axis}": f"{name}.{axis}"
    for register, name in {"tid": "threadIdx", "ctaid": "blockIdx", "ntid": "blockDim", "nctaid": "gridDim"}.items()
    for axis in "xyz"
}
_FLOATS = {"float": "<f", "double": "<d"}
_NO_NAME = re.compile(r"a?\d+")
"""What an argument is called that has no name in the source."""
_GONE = {"store": "redundant store", "load": "redundant load"}


def _kind_of_gone(original: Original, id: Id, value: str) -> str:
    node = original.nodes.get(id)
    if node is not None and is_barrier(node.instruction):
        return "removed barrier"
    if node is not None and node.instruction.opcode in _GONE:
        return _GONE[node.instruction.opcode]
    return "reused value" if value.startswith("%") else "specialised constant" if value else "redundant work"


def _what(original: Original, id: Id) -> tuple[str, Location | None]:
    """An instruction as a person would point at it, and its location."""
    node = original.nodes.get(id)
    if node is None:
        return "a copied instruction", None
    location = original.location(id)
    at = _at(location)
    return f"the {_noun(node)}{f' at {at}' if at else f' {node.result}' if node.result else ''}", location


def _noun(node: Node) -> str:
    instruction = node.instruction
    if is_barrier(instruction):
        return "barrier"
    callee = instruction.callee if instruction.opcode == "call" else None
    if isinstance(callee, Function):
        return _INTRINSICS.get(callee.name) or f"call of {callee.name.removeprefix('llvm.')}"
    return _NOUNS.get(instruction.opcode, instruction.opcode)


def _operand_before(original: Original, id: Id, index: int) -> str:
    node = original.nodes.get(id)
    if node is None or index >= len(node.operands):
        return "another value"
    return _plain(f"{node.operand_types[index]} {node.operands[index]}")


def _argument(original: Original, index: int) -> str:
    """An argument by its name in the source, or by its number."""
    arguments = original.function.arguments
    name = original.names[arguments[index]].lstrip("%") if index < len(arguments) else ""
    return name if name and not _NO_NAME.fullmatch(name) else f"argument {index}"


def _plain(value: str) -> str:
    """A constant without its type; floats as people write them, with as many digits as tell them from their neighbours.

    before   ``float 0x403AAAAAA0000000``
    after    ``26.666666``
    """
    type, _, text = value.partition(" ")
    if type in _FLOATS and not text.startswith("%"):
        number = _float(text)
        return text if number is None else _shortest(number, _FLOATS[type])
    return text or value


def _shortest(number: float, form: str) -> str:
    for digits in range(1, 17):
        text = f"{number:.{digits}g}"
        try:
            if struct.pack(form, float(text)) == struct.pack(form, number):
                return repr(float(text)).removesuffix(".0")
        except OverflowError:  # rounded up, it is more than a float can be
            continue
    return repr(number)


def _float(text: str) -> float | None:
    try:
        return (
            float(struct.unpack(">d", bytes.fromhex(text[2:].zfill(16)))[0]) if text.startswith("0x") else float(text)
        )
    except (ValueError, struct.error):
        return None


def _at(location: Location | None) -> str:
    return f"{location.file.rsplit('/', 1)[-1]}:{location.line}" if location is not None and location.line else ""
