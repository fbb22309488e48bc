"""The line of an instruction as a template: text with gaps where its result and its operands stand.

    %sum = fadd float %a, %b        →        (result) " = fadd float " (operand 0) ", " (operand 1)

A variant is printed by filling gaps, so a line costs microseconds and an untouched line nothing.
"""

from __future__ import annotations

import re

from kernelwright.ir import BasicBlock, Instruction, Names, Value, types
from kernelwright.ir.text.printer import instruction_line

RESULT = -1
Template = tuple["str | int", ...]
"""Pieces of text, and in between the number of an operand or ``RESULT``."""

_POISON_FLAGS = frozenset(
    ["nuw", "nsw", "exact", "inbounds", "nusw", "nneg", "disjoint", "samesign", "nnan", "ninf", "inrange"]
)
_FAST_WITHOUT_POISON = ("reassoc", "nsz", "arcp", "contract", "afn")
"""What is left of ``fast`` without its promises about operands."""
_PROMISES = re.compile(
    r"\b(noundef|nonnull|dereferenceable(_or_null)?\(\d+\)|range\([^)]*\)|nofpclass\([^)]*\)|align \d+|noalias|readonly"
    r"|writeonly|readnone|captures\([^)]*\)|returned)"
)
FAST_FLAGS = ("contract", "reassoc", "nsz", "arcp", "afn", "nnan", "ninf", "fast")
"""The fast-math flags, the mildest first; ``fast`` is all of them."""
POLICIES = {"nc": "", "cg": ".cg", "cs": ".cs", "lu": ".lu", "no_allocate": ".L1::no_allocate"}
"""Cache policies of a load, and how PTX writes them."""
WIDTHS = {"i16": ("u16", "h"), "i32": ("u32", "r"), "i64": ("u64", "l"), "float": ("f32", "f"), "double": ("f64", "d")}
"""What inline assembly can load: PTX's type, and the constraint of its register."""
AS_STORE = "store"
"""Makes an atomic exchange an atomic store."""
OF_WARP = "warp"
"""Makes a barrier of the block one of the warp."""
WARP_BARRIER = "llvm.nvvm.bar.warp.sync"
LOOP = "llvm.loop"
_GAP = re.compile("\0(\\d+)\0")


class _Gaps(Names):
    """Answers every question for a name with a gap, and remembers what was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Value] = []

    def __getitem__(self, value: Value) -> str:
        self.asked.append(value)
        return f"\0{len(self.asked) - 1}\0"


def template(instruction: Instruction, names: Names) -> Template:
    """The line of an instruction with its result and operands left open; blocks are named by ``names``."""
    gaps = _Gaps()
    parts = _GAP.split(instruction_line(instruction, gaps))
    count = len(instruction.operands)
    # A call is written with the callee, its last operand, first.
    order = iter([count - 1, *range(count - 1)] if instruction.opcode == "call" else range(count))
    pieces: list[str | int] = [parts[0]]
    for number, text in zip(parts[1::2], parts[2::2], strict=True):
        value = gaps.asked[int(number)]
        # A switch's cases are no operands.
        if isinstance(value, BasicBlock) or (instruction.opcode == "switch" and number != "0"):
            pieces[-1] = f"{pieces[-1]}{names[value]}{text}"
            continue
        is_result = len(pieces) == 1 and instruction.has_result
        pieces += [RESULT if is_result else next(order), text]
    return tuple(pieces)


def altered_template(instruction: Instruction, names: Names, extras: tuple[str, ...], touched: bool) -> Template:
    """The same with ``extras``: fast-math flags, a cache policy, ``AS_STORE``, ``OF_WARP``, or the node of its loop (``!9``).
    ``touched``: without what was promised about the original place and operands, that is poison flags, all metadata but the
    source line, attributes of arguments and result that LLVM would take for granted."""
    bare = instruction.clone()
    if touched:
        _drop_promises(bare)
    flags = {f for f in extras if f in FAST_FLAGS}
    if flags:
        flags |= set(bare.flags)
        bare.flags = ("fast",) if "fast" in flags else tuple(f for f in FAST_FLAGS if f in flags)
    for extra in extras:
        if extra[0] == "!":
            bare.metadata[LOOP] = extra
        elif extra == "nc":
            bare.metadata["invariant.load"] = "!{}"
    policy = next((x for x in extras if POLICIES.get(x)), None)
    if AS_STORE in extras:
        made = _exchange_as_store(bare, names)
    elif OF_WARP in extras:
        made = (f"call void @{WARP_BARRIER}(i32 -1){_where(bare)}",)
    else:
        made = template(bare, names) if policy is None else _load_in_assembly(bare, policy)
    bare.drop_operands()
    return made


def _drop_promises(bare: Instruction) -> None:
    flags = tuple(f for f in bare.flags if f not in _POISON_FLAGS)
    bare.flags = tuple(g for f in flags for g in (_FAST_WITHOUT_POISON if f == "fast" else (f,)))
    bare.metadata = {kind: node for kind, node in bare.metadata.items() if kind in ("dbg", "srcloc")}
    if bare.opcode == "call":
        bare.argument_attributes = tuple(_without_promises(a) for a in bare.argument_attributes)
        bare.return_attributes = _without_promises(bare.return_attributes)


def _load_in_assembly(load: Instruction, policy: str) -> Template:
    """It must not be moved over a store, nor joined with another load."""
    ptx, register = WIDTHS[load.type.text]
    pointer = load.operands[0].type.text
    space = ".global" if pointer.endswith("(1)") else ""
    assembly = f'"ld{space}{POLICIES[policy]}.{ptx} $0, [$1];", "={register},l,~{{memory}}"'
    return (RESULT, f" = call {load.type.text} asm sideeffect {assembly}({pointer} ", 0, f"){_where(load)}")


def _where(instruction: Instruction) -> str:
    return f", !dbg {instruction.metadata['dbg']}" if "dbg" in instruction.metadata else ""


def _exchange_as_store(exchange: Instruction, names: Names) -> Template:
    """CUDA's exchange is one for the whole device, which PTX takes for granted of ``atom`` but not of ``st.relaxed``."""
    pointer, value = exchange.operands
    store = Instruction(
        "store",
        types.void,
        (value, pointer),
        metadata=exchange.metadata,
        volatile=exchange.volatile,
        ordering=exchange.ordering,
        syncscope=exchange.syncscope or "device",
        align=exchange.align,
    )
    made = template(store, names)
    store.drop_operands()
    return tuple(piece if isinstance(piece, str) else 1 - piece for piece in made)


def _without_promises(attributes: str) -> str:
    return " ".join(_PROMISES.sub("", attributes).split())


def filled(pieces: Template, result: str, operands: list[str]) -> str:
    """The line with its gaps filled."""
    return "".join([p if isinstance(p, str) else result if p < 0 else operands[p] for p in pieces])
