"""Inline PTX turned into IR: straight-line code only, one PTX instruction after the other.

Before → after::

    asm "{ mad.lo.cc.u32 $0, $2, $3, $4; madc.hi.u32 $1, $2, $3, 0; }"       %1 = mul i32 %a, %b
                                                                      →      %2 = add i32 %1, %c
                                                                             %3 = icmp ult i32 %2, %1
                                                                             ...

libdevice and many CUDA programs reach carries, byte permutes and cache hints through ``asm``. Executors run the IR that
stands for it; what is not in ``ptx_instructions`` is refused by its text. PTX ISA, chapter "Instruction Set".
"""

from __future__ import annotations

import re

from kernelwright.codegen.inline_asm.builder import Builder, Guarded, Step, UnknownPtx, type_of
from kernelwright.codegen.inline_asm.ptx_effects import EFFECTS, HARMLESS
from kernelwright.codegen.inline_asm.ptx_instructions import translate
from kernelwright.errors import CompileError, Place
from kernelwright.ir import types as ty
from kernelwright.ir.constants import InlineAsm, zero
from kernelwright.ir.module import Instruction
from kernelwright.ir.text.tokens import unescape
from kernelwright.ir.types import StructType, Type
from kernelwright.ir.values import Value
from kernelwright.lazy_dataclasses import dataclass


@dataclass
class Expansion:
    """The instructions that stand for an ``asm``, in order and in no block, and the value of each output. What a thread
    skips has no value for it: zero stands for that."""

    steps: list[Step]
    results: list[Value]

    def drop(self) -> None:
        """Forgets the operands, so that the values of the function no longer count these instructions as users."""
        for step in self.steps:
            for instruction in step.instructions if isinstance(step, Guarded) else [step]:
                instruction.operands = ()


def expand_asm(call: Instruction) -> Expansion:
    """The IR of a call of inline assembly. Raises ``CompileError`` with the PTX for what is not known."""
    asm = call.callee
    assert isinstance(asm, InlineAsm)
    text = unescape(asm.text).decode("utf-8", "replace")
    builder = Builder()
    try:
        operands = _Operands(asm.constraints, call)
        builder.registers.update(operands.initial)
        builder.kinds.update(operands.kinds)
        for statement in statements(text):
            _run(builder, statement)
        results = [builder.read(f"${n}", kind) for n, kind in enumerate(operands.outputs)]
    except UnknownPtx as error:
        Expansion(builder.steps, []).drop()
        function = call.function
        place = Place(f"<ir of {function.name}>" if function else "<ir>", text=str(call).strip())
        raise CompileError(
            f"The virtual GPU cannot run this inline PTX: {error}.",
            place=place,
            hint="write it in CUDA, or run the program on a GPU",
        ) from None
    return Expansion(builder.steps, results)


def statements(text: str) -> list[str]:
    """PTX statements without comments, braces that only group, and final semicolons; ``$$`` is a plain ``$``."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    text = re.sub(r"\$\{(\d+)(?::\w+)?\}", r"$\1", text)
    found = [re.sub(r"\s+", " ", s).strip() for s in text.split(";")]
    # A brace at the very start or end of a statement opens or closes a scope; one after an opcode groups registers.
    found = [re.sub(r"^[{} ]+", "", s) for s in found]
    return [s for s in found if s]


class _Operands:
    """The operands of an ``asm`` by number: outputs first, then inputs; an input may start where an output ends."""

    def __init__(self, constraints: str, call: Instruction) -> None:
        parts = [c for c in constraints.split(",") if c and not c.startswith("~")]
        outputs = [c for c in parts if c.startswith("=")]
        inputs = [c for c in parts if not c.startswith("=")]
        result = call.type
        if isinstance(result, StructType) and result.fields is not None:
            self.outputs: list[Type] = list(result.fields)
        else:
            self.outputs = [] if result is ty.void else [result]
        if len(self.outputs) != len(outputs) or len(inputs) != len(call.arguments) or any("*" in c for c in parts):
            raise UnknownPtx(f"operands '{constraints}' are not simple registers")
        self.initial: dict[str, Value] = {}
        self.kinds: dict[str, Type] = {f"${n}": t for n, t in enumerate(self.outputs)}
        for n, (constraint, value) in enumerate(zip(inputs, call.arguments, strict=True)):
            self.initial[f"${n + len(outputs)}"] = value
            if constraint.isdigit():
                self.initial[f"${constraint}"] = value


_STATEMENT = re.compile(r"(?:@(?P<not>!?)(?P<guard>[\w%$]+) )?(?P<opcode>[\w.:]+)(?: (?P<operands>.*))?$")
_OPERAND = re.compile(r"\s*(\{[^}]*\}|\[[^\]]*\]|[^,{\[|]+\|[^,]+|[^,]+)\s*(?:,|$)")


def _run(builder: Builder, statement: str) -> None:
    if statement.startswith(".reg"):
        _, kind, names = statement.split(" ", 2)
        builder.kinds.update({n.strip(): type_of(kind.lstrip(".")) for n in names.split(",")})
        return
    match = _STATEMENT.match(statement)
    if match is None:
        raise UnknownPtx(f"'{statement}'")
    operands = [o.strip() for o in _OPERAND.findall(match["operands"] or "")]
    words = match["opcode"].split(".")
    if not match["guard"]:
        translate(builder, words, operands)
        return
    before = dict(builder.registers)
    condition = builder.read(match["not"] + match["guard"], ty.i1)
    if words[0] in EFFECTS and words[0] not in HARMLESS:
        # Only some threads touch memory or wait: the others go round it.
        builder.inside = Guarded(condition, [])
        builder.steps.append(builder.inside)
    translate(builder, words, operands)
    builder.inside = None
    for name, value in list(builder.registers.items()):
        old = before.get(name)
        if old is not value:
            kept = zero(value.type) if old is None else builder.cast(old, value.type)
            builder.registers[name] = builder.select(condition, value, kept)
