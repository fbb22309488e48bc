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
from dataclasses import dataclass, field

from kernelwright.errors import CompileError, Place
from kernelwright.ir import types as ty
from kernelwright.ir.constants import ConstantFloat, ConstantInt, InlineAsm, zero
from kernelwright.ir.instruction import Instruction
from kernelwright.ir.module import Function
from kernelwright.ir.tokens import unescape
from kernelwright.ir.types import FloatType, FunctionType, IntType, StructType, Type
from kernelwright.ir.values import Value


@dataclass
class Expansion:
    """The instructions that stand for an ``asm``, in order and in no block, and the value of each output."""

    instructions: list[Instruction]
    results: list[Value]

    def drop(self) -> None:
        """Forgets the operands, so that the values of the function no longer count these instructions as users."""
        for instruction in self.instructions:
            instruction.operands = ()


class UnknownPtx(Exception):
    """A PTX instruction or operand that has no translation."""


def expand_asm(call: Instruction) -> Expansion:
    """The IR of a call of inline assembly. Raises ``CompileError`` with the PTX for what is not known."""
    asm = call.callee
    assert isinstance(asm, InlineAsm)
    from kernelwright.codegen.ptx_instructions import translate  # that table is written with the builder below

    text = unescape(asm.text).decode("utf-8", "replace")
    builder = Builder()
    try:
        operands = _Operands(asm.constraints, call)
        builder.registers.update(operands.initial)
        builder.kinds.update(operands.kinds)
        for statement in statements(text):
            _run(builder, statement, translate)
        results = [builder.read(f"${n}", kind) for n, kind in enumerate(operands.outputs)]
    except UnknownPtx as error:
        Expansion(builder.instructions, []).drop()
        function = call.function
        place = Place(f"<ir of {function.name}>" if function else "<ir>", text=str(call).strip())
        raise CompileError(
            f"The virtual GPU cannot run this inline PTX: {error}.",
            place=place,
            hint="write it in CUDA, or run the program on a GPU",
        ) from None
    return Expansion(builder.instructions, results)


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


@dataclass
class Builder:
    """Makes IR instructions and knows what each PTX register holds."""

    instructions: list[Instruction] = field(default_factory=list)
    registers: dict[str, Value] = field(default_factory=dict)
    kinds: dict[str, Type] = field(default_factory=dict)
    """The type of each register that was declared or is an output."""
    carry: Value | None = None
    """The carry or borrow of the last ``.cc`` instruction, as ``i1``."""

    def make(self, opcode: str, type: Type, *operands: Value, **fields: object) -> Instruction:
        made = Instruction(opcode, type, operands, **fields)  # type: ignore[arg-type]
        self.instructions.append(made)
        return made

    def call(self, name: str, result: Type, *arguments: Value) -> Instruction:
        """A call of an intrinsic."""
        kind = FunctionType(result, tuple(a.type for a in arguments))
        return self.make(
            "call", result, *arguments, Function(name, kind),
            function_type=kind, argument_attributes=("",) * len(arguments),
        )  # fmt: skip

    def compare(self, predicate: str, a: Value, b: Value) -> Instruction:
        opcode = "fcmp" if isinstance(a.type, FloatType) else "icmp"
        return self.make(opcode, ty.i1, a, b, predicate=predicate)

    def select(self, condition: Value, yes: Value, no: Value) -> Instruction:
        return self.make("select", yes.type, condition, yes, no)

    def cast(self, value: Value, type: Type, is_signed: bool = False) -> Value:
        """The bits of a value in another type: reinterpreted at equal width, else cut or extended."""
        source = value.type
        if source is type:
            return value
        if not isinstance(source, IntType):
            value = self.make("ptrtoint" if _is_pointer(source) else "bitcast", IntType(_bits(source)), value)
        if isinstance(value, ConstantInt) and isinstance(type, IntType):
            return ConstantInt(type, value.value if is_signed else value.unsigned)
        width, target = _bits(value.type), _bits(type)
        if width != target:
            opcode = "trunc" if target < width else "sext" if is_signed else "zext"
            value = self.make(opcode, IntType(target), value)
        if isinstance(type, IntType):
            return value
        return self.make("inttoptr" if _is_pointer(type) else "bitcast", type, value)

    def read(self, text: str, type: Type) -> Value:
        """The value of an operand: a register, a literal or ``%tid.x``."""
        text = text.strip()
        if text.startswith("!"):
            return self.make("xor", ty.i1, self.read(text[1:], ty.i1), ConstantInt(ty.i1, 1))
        if text in self.registers:
            return self.cast(self.registers[text], type)
        literal = _literal(text, type)
        if literal is not None:
            return literal
        if text in self.kinds:
            return zero(self.kinds[text]) if self.kinds[text] is type else self.cast(zero(self.kinds[text]), type)
        if text.startswith("%"):
            wide = text.endswith("64") or text == "%globaltimer"
            name = text[1:].replace("lanemask_", "lanemask.")
            return self.cast(self.call(f"llvm.nvvm.read.ptx.sreg.{name}", ty.i64 if wide else ty.i32), type)
        raise UnknownPtx(f"operand '{text}'")

    def write(self, text: str, value: Value) -> None:
        """Puts a value into a register, in the register's own type."""
        text = text.strip()
        if text == "_":
            return
        kind = self.kinds.get(text)
        self.registers[text] = self.cast(value, kind) if kind is not None else value


_STATEMENT = re.compile(r"(?:@(?P<not>!?)(?P<guard>[\w%$]+) )?(?P<opcode>[\w.:]+)(?: (?P<operands>.*))?$")
_OPERAND = re.compile(r"\s*(\{[^}]*\}|\[[^\]]*\]|[^,{\[|]+\|[^,]+|[^,]+)\s*(?:,|$)")
_REGISTER_TYPE = {"pred": ty.i1, "f32": ty.f32, "f64": ty.f64, "f16": ty.f16}


def type_of(word: str) -> Type:
    """The IR type of a PTX type: ``u32``, ``b64``, ``f32``, ``pred``."""
    if word in _REGISTER_TYPE:
        return _REGISTER_TYPE[word]
    if re.fullmatch(r"[usb](8|16|32|64|128)", word):
        return IntType(int(word[1:]))
    raise UnknownPtx(f"type '.{word}'")


def _run(builder: Builder, statement: str, translate: Translate) -> None:
    if statement.startswith(".reg"):
        _, kind, names = statement.split(" ", 2)
        builder.kinds.update({n.strip(): type_of(kind.lstrip(".")) for n in names.split(",")})
        return
    match = _STATEMENT.match(statement)
    if match is None:
        raise UnknownPtx(f"'{statement}'")
    operands = _OPERAND.findall(match["operands"] or "")
    before = dict(builder.registers)
    start = len(builder.instructions)
    translate(builder, match["opcode"].split("."), [o.strip() for o in operands])
    if match["guard"]:
        if any(i.opcode in ("store", "atomicrmw", "cmpxchg", "call") for i in builder.instructions[start:]):
            raise UnknownPtx(f"'{statement}' is conditional and has effects")
        condition = builder.read(match["not"] + match["guard"], ty.i1)
        for name, value in list(builder.registers.items()):
            old = before.get(name)
            if old is not value:
                kept = zero(value.type) if old is None else builder.cast(old, value.type)
                builder.registers[name] = builder.select(condition, value, kept)


def _literal(text: str, type: Type) -> Value | None:
    if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)[uU]?", text):
        if text.lstrip("-").lower().startswith(("0f", "0d")):
            return None
        number = int(text.rstrip("uU"), 0)
        if isinstance(type, FloatType):
            return ConstantFloat.of(type, float(number))
        if isinstance(type, IntType):
            return ConstantInt(type, number)
    match = re.fullmatch(r"0[fF]([0-9a-fA-F]{8})|0[dD]([0-9a-fA-F]{16})", text)
    if match:
        bits = ConstantInt(ty.i32 if match[1] else ty.i64, int(match[1] or match[2], 16))
        return bits if isinstance(type, IntType) else _float_of(bits, type)
    if re.fullmatch(r"-?\d+\.\d*([eE][-+]?\d+)?", text) and isinstance(type, FloatType):
        return ConstantFloat.of(type, float(text))
    return None


def _float_of(bits: ConstantInt, type: Type) -> Value:
    import struct

    code, raw = ("f", 4) if bits.type is ty.i32 else ("d", 8)
    (value,) = struct.unpack(code, bits.unsigned.to_bytes(raw, "little"))
    return ConstantFloat.of(type, value)


def _bits(type: Type) -> int:
    if isinstance(type, IntType | FloatType):
        return type.bits
    if _is_pointer(type):
        return 64
    raise UnknownPtx(f"operands of type {type}")


def _is_pointer(type: Type) -> bool:
    return isinstance(type, ty.PointerType)


from collections.abc import Callable  # noqa: E402

Translate = Callable[[Builder, list[str], list[str]], None]
"""Translates one PTX instruction: its opcode split at the dots, and its operands."""
