"""How each opcode is read: one table from the first word of an instruction to its reader.

A reader gets the words after the opcode (reversed, see ``tokens``) and returns the instruction, leaving what it does not
take: nothing may be left, the parser checks. Metadata attachments were cut off before.
"""

from __future__ import annotations

from collections.abc import Callable

from kernelwright.ir import types as ty
from kernelwright.ir.constants import ConstantInt
from kernelwright.ir.module import BasicBlock, Instruction
from kernelwright.ir.opcodes import CASTS, FLOAT_BINARY, INTEGER_BINARY
from kernelwright.ir.text.reader import FunctionReader, Unexpected
from kernelwright.ir.text.tokens import joined
from kernelwright.ir.types import ArrayType, FunctionType, PointerType, StructType, Type, VectorType
from kernelwright.ir.values import Value

ARITHMETIC_FLAGS = frozenset(
    {"nuw", "nsw", "exact", "disjoint", "nneg", "samesign", "inbounds", "nusw", "inrange"}
    | {"fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"}
)
PREDICATES = {
    "icmp": frozenset(["eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle"]),
    "fcmp": frozenset(
        {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"}
        | {"ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"}
    ),
}
ORDERINGS = frozenset(["unordered", "monotonic", "acquire", "release", "acq_rel", "seq_cst"])
CALLING_CONVENTIONS = frozenset(
    {"ccc", "fastcc", "coldcc", "tailcc", "preserve_mostcc", "preserve_allcc", "preserve_nonecc", "swiftcc"}
    | {"swifttailcc", "ghccc", "ptx_kernel", "ptx_device", "spir_func", "spir_kernel", "amdgpu_kernel"}
    | {"device_kernel", "x86_stdcallcc", "win64cc", "x86_64_sysvcc"}
)

Tokens = list[str]


def _flags(tokens: Tokens) -> tuple[str, ...]:
    if tokens[-1] not in ARITHMETIC_FLAGS:
        return ()
    found = [tokens.pop()]
    while tokens[-1] in ARITHMETIC_FLAGS:
        found.append(tokens.pop())
    return tuple(found)


def _comma(tokens: Tokens) -> None:
    word = tokens.pop()
    if word != ",":
        raise Unexpected(f"expected ',', found '{word}'")


def _binary(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    flags = _flags(tokens)
    type = r.type(tokens)
    left = r.operand(tokens, type)
    _comma(tokens)
    return Instruction(opcode, type, (left, r.operand(tokens, type)), flags)


def _unary(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    flags = _flags(tokens)
    value = r.typed_operand(tokens)
    return Instruction(opcode, value.type, (value,), flags)


def _compare(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    flags = _flags(tokens)
    predicate = tokens.pop()
    if predicate not in PREDICATES[opcode]:
        raise Unexpected(f"'{predicate}' is no predicate of {opcode}")
    type = r.type(tokens)
    left = r.operand(tokens, type)
    _comma(tokens)
    right = r.operand(tokens, type)
    result = VectorType(type.count, ty.i1, type.scalable) if isinstance(type, VectorType) else ty.i1
    made = Instruction(opcode, result, (left, right), flags)
    made.predicate = predicate
    return made


def _cast(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    flags = _flags(tokens)
    value = r.typed_operand(tokens)
    r.expect(tokens, "to")
    return Instruction(opcode, r.type(tokens), (value,), flags)


def _select(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    flags = _flags(tokens)
    condition = r.typed_operand(tokens)
    _comma(tokens)
    chosen = r.typed_operand(tokens)
    _comma(tokens)
    return Instruction(opcode, chosen.type, (condition, chosen, r.typed_operand(tokens)), flags)


def _phi(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    flags = _flags(tokens)
    type = r.type(tokens)
    values: list[Value] = []
    blocks: list[BasicBlock] = []
    while True:
        r.expect(tokens, "[")
        values.append(r.operand(tokens, type))
        _comma(tokens)
        blocks.append(r.block(tokens))
        r.expect(tokens, "]")
        if not tokens:
            break
        _comma(tokens)
    made = Instruction(opcode, type, tuple(values), flags)
    made.blocks = tuple(blocks)
    return made


def _getelementptr(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    flags = _flags(tokens)
    source_type = r.type(tokens)
    _comma(tokens)
    operands = [r.typed_operand(tokens)]
    type = operands[0].type
    while tokens:
        _comma(tokens)
        index = r.typed_operand(tokens)
        operands.append(index)
        if isinstance(index.type, VectorType) and not isinstance(type, VectorType):
            type = VectorType(index.type.count, type, index.type.scalable)
    made = Instruction(opcode, type, tuple(operands), flags)
    made.source_type = source_type
    return made


def _alloca(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    flags = []
    while tokens[-1] in ("inalloca", "swifterror"):
        flags.append(tokens.pop())
    allocated = r.type(tokens)
    operands: tuple[Value, ...] = ()
    align = address_space = 0
    while tokens:
        _comma(tokens)
        word = tokens[-1]
        if word.startswith("align "):
            align = int(tokens.pop()[6:])
        elif word.startswith("addrspace("):
            address_space = int(tokens.pop()[10:-1])
        else:
            operands = (r.typed_operand(tokens),)
    made = Instruction(opcode, PointerType(address_space), operands, tuple(flags))
    made.allocated_type, made.align, made.address_space = allocated, align, address_space
    return made


def _memory_flags(tokens: Tokens) -> tuple[bool, bool]:
    """``atomic`` and ``volatile`` in front of a load or store."""
    atomic = volatile = False
    while tokens[-1] in ("atomic", "volatile"):
        if tokens.pop() == "atomic":
            atomic = True
        else:
            volatile = True
    return atomic, volatile


def _ordering(tokens: Tokens) -> str:
    word = tokens.pop()
    if word not in ORDERINGS:
        raise Unexpected(f"expected a memory ordering, found '{word}'")
    return word


def _syncscope(tokens: Tokens) -> str:
    """The name in an optional ``syncscope("...")``."""
    return tokens.pop()[11:-2] if tokens[-1].startswith("syncscope(") else ""


def _align(tokens: Tokens) -> int:
    """An optional ``, align n`` at the end."""
    if not tokens:
        return 0
    _comma(tokens)
    word = tokens.pop()
    if not word.startswith("align "):
        raise Unexpected(f"expected an alignment, found '{word}'")
    return int(word[6:])


def _finish_memory(made: Instruction, tokens: Tokens, atomic: bool, volatile: bool) -> Instruction:
    made.volatile = volatile
    if atomic:
        made.syncscope = _syncscope(tokens)
        made.ordering = _ordering(tokens)
    else:
        made.syncscope = made.ordering = ""
    made.align = _align(tokens)
    return made


def _load(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    atomic, volatile = _memory_flags(tokens)
    type = r.type(tokens)
    _comma(tokens)
    return _finish_memory(Instruction(opcode, type, (r.typed_operand(tokens),)), tokens, atomic, volatile)


def _store(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    atomic, volatile = _memory_flags(tokens)
    value = r.typed_operand(tokens)
    _comma(tokens)
    return _finish_memory(Instruction(opcode, ty.void, (value, r.typed_operand(tokens))), tokens, atomic, volatile)


def _fence(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    made = Instruction(opcode, ty.void)
    made.syncscope = _syncscope(tokens)
    made.ordering = _ordering(tokens)
    return made


def _atomicrmw(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    volatile = tokens[-1] == "volatile"
    if volatile:
        tokens.pop()
    operation = tokens.pop()
    pointer = r.typed_operand(tokens)
    _comma(tokens)
    value = r.typed_operand(tokens)
    made = Instruction(opcode, value.type, (pointer, value))
    made.operation = operation
    return _finish_memory(made, tokens, True, volatile)


def _cmpxchg(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    flags: tuple[str, ...] = ()
    if tokens[-1] == "weak":
        flags = (tokens.pop(),)
    volatile = tokens[-1] == "volatile"
    if volatile:
        tokens.pop()
    pointer = r.typed_operand(tokens)
    _comma(tokens)
    expected = r.typed_operand(tokens)
    _comma(tokens)
    new = r.typed_operand(tokens)
    made = Instruction(opcode, StructType((new.type, ty.i1)), (pointer, expected, new), flags)
    made.volatile = volatile
    made.syncscope = _syncscope(tokens)
    made.ordering = _ordering(tokens)
    made.failure_ordering = _ordering(tokens)
    made.align = _align(tokens)
    return made


def _indices(tokens: Tokens) -> tuple[int, ...]:
    found: list[int] = []
    while tokens:
        _comma(tokens)
        word = tokens.pop()
        if not word.isdigit():
            raise Unexpected(f"expected an index, found '{word}'")
        found.append(int(word))
    return tuple(found)


def element_type(type: Type, indices: tuple[int, ...]) -> Type:
    """The type inside an aggregate that constant indices lead to. Raises ``ValueError`` when they lead nowhere."""
    for index in indices:
        if isinstance(type, StructType) and type.fields is not None and index < len(type.fields):
            type = type.fields[index]
        elif isinstance(type, ArrayType) and index < type.count:
            type = type.element
        else:
            raise ValueError(f"{type} has no element {index}")
    return type


def _extractvalue(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    value = r.typed_operand(tokens)
    indices = _indices(tokens)
    try:
        made = Instruction(opcode, element_type(value.type, indices), (value,))
    except ValueError as error:
        raise Unexpected(str(error)) from None
    made.indices = indices
    return made


def _insertvalue(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    value = r.typed_operand(tokens)
    _comma(tokens)
    made = Instruction(opcode, value.type, (value, r.typed_operand(tokens)))
    made.indices = _indices(tokens)
    return made


def _vector(value: Value) -> VectorType:
    if not isinstance(value.type, VectorType):
        raise Unexpected(f"expected a vector, found a {value.type}")
    return value.type


def _extractelement(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    value = r.typed_operand(tokens)
    element = _vector(value).element
    _comma(tokens)
    return Instruction(opcode, element, (value, r.typed_operand(tokens)))


def _insertelement(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    value = r.typed_operand(tokens)
    _comma(tokens)
    element = r.typed_operand(tokens)
    _comma(tokens)
    return Instruction(opcode, value.type, (value, element, r.typed_operand(tokens)))


def _shufflevector(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    left = r.typed_operand(tokens)
    _comma(tokens)
    right = r.typed_operand(tokens)
    _comma(tokens)
    mask = r.typed_operand(tokens)
    lanes = _vector(mask)
    return Instruction(opcode, VectorType(lanes.count, _vector(left).element, lanes.scalable), (left, right, mask))


def _call(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    tail = ""
    if opcode != "call":
        tail = opcode
        r.expect(tokens, "call")
    flags = _flags(tokens)
    convention = ""
    if tokens[-1] in CALLING_CONVENTIONS:
        convention = tokens.pop()
    elif tokens[-1] == "cc":
        convention = f"{tokens.pop()} {tokens.pop()}"
    return_attributes = "" if tokens[-1] in r.known else r.attributes(tokens)
    type = r.type(tokens)
    if tokens[-1] == "asm":
        tokens.pop()
        callee: Value = r.inline_asm(tokens)
    else:
        callee = r.operand(tokens, ty.ptr)
    arguments, attributes = _arguments(r, tokens)
    after: list[str] = []
    bundles: tuple[tuple[str, int], ...] = ()
    operands = arguments
    while tokens:
        if tokens[-1] == "[":
            bundles, extra = _bundles(r, tokens)
            operands = (*arguments, *extra)
        else:
            after.append(tokens.pop())
    if isinstance(type, FunctionType):
        made = Instruction("call", type.result, (*operands, callee), flags)
        made.function_type = type
    else:
        made = Instruction("call", type, (*operands, callee), flags)
        made.function_type = FunctionType(type, tuple([a.type for a in arguments]))
    made.tail, made.calling_convention, made.return_attributes = tail, convention, return_attributes
    made.argument_attributes, made.call_attributes, made.bundles = attributes, joined(after), bundles
    return made


def _arguments(r: FunctionReader, tokens: Tokens) -> tuple[tuple[Value, ...], tuple[str, ...]]:
    """``(type attributes value, ...)``."""
    r.expect(tokens, "(")
    if tokens[-1] == ")":
        tokens.pop()
        return (), ()
    values: list[Value] = []
    attributes: list[str] = []
    while True:
        type = r.type(tokens)
        attributes.append("" if tokens[-1] in r.values or type is ty.metadata else r.attributes(tokens))
        values.append(r.operand(tokens, type))
        word = tokens.pop()
        if word == ")":
            return tuple(values), tuple(attributes)
        if word != ",":
            raise Unexpected(f"expected ',' or ')', found '{word}'")


def _bundles(r: FunctionReader, tokens: Tokens) -> tuple[tuple[tuple[str, int], ...], tuple[Value, ...]]:
    """``[ "tag"(type value, ...), ... ]``."""
    found: list[tuple[str, int]] = []
    values: list[Value] = []
    tokens.pop()
    while True:
        tag = r.string(tokens)
        r.expect(tokens, "(")
        before = len(values)
        while tokens[-1] != ")":
            values.append(r.typed_operand(tokens))
            if tokens[-1] != ")":
                _comma(tokens)
        tokens.pop()
        found.append((tag, len(values) - before))
        if tokens[-1] == "]":
            tokens.pop()
            return tuple(found), tuple(values)
        _comma(tokens)


def _return(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    if tokens[-1] == "void":
        tokens.pop()
        return Instruction(opcode, ty.void)
    return Instruction(opcode, ty.void, (r.typed_operand(tokens),))


def _branch(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    if tokens[-1] == "label":
        tokens.pop()
        made = Instruction(opcode, ty.void)
        made.successors = (r.block(tokens),)
        return made
    made = Instruction(opcode, ty.void, (r.typed_operand(tokens),))
    _comma(tokens)
    taken = r.label(tokens)
    _comma(tokens)
    made.successors = (taken, r.label(tokens))
    return made


def _switch(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    value = r.typed_operand(tokens)
    _comma(tokens)
    successors = [r.label(tokens)]
    cases: list[ConstantInt] = []
    r.expect(tokens, "[")
    while tokens[-1] != "]":
        case = r.typed_operand(tokens)
        if not isinstance(case, ConstantInt) or case.type is not value.type:
            raise Unexpected(f"the case of this switch must be an integer of type {value.type}")
        _comma(tokens)
        cases.append(case)
        successors.append(r.label(tokens))
    tokens.pop()
    made = Instruction(opcode, ty.void, (value,))
    made.cases, made.successors = tuple(cases), tuple(successors)
    return made


def _unreachable(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    return Instruction(opcode, ty.void)


def _va_arg(r: FunctionReader, opcode: str, tokens: Tokens) -> Instruction:
    pointer = r.typed_operand(tokens)
    _comma(tokens)
    return Instruction(opcode, r.type(tokens), (pointer,))


READERS: dict[str, Callable[[FunctionReader, str, Tokens], Instruction]] = {
    **dict.fromkeys(INTEGER_BINARY + FLOAT_BINARY, _binary),
    **dict.fromkeys(CASTS, _cast),
    **dict.fromkeys(("call", "tail", "musttail", "notail"), _call),
    **dict.fromkeys(("fneg", "freeze"), _unary),
    **dict.fromkeys(("icmp", "fcmp"), _compare),
    "select": _select,
    "phi": _phi,
    "getelementptr": _getelementptr,
    "alloca": _alloca,
    "load": _load,
    "store": _store,
    "fence": _fence,
    "atomicrmw": _atomicrmw,
    "cmpxchg": _cmpxchg,
    "extractvalue": _extractvalue,
    "insertvalue": _insertvalue,
    "extractelement": _extractelement,
    "insertelement": _insertelement,
    "shufflevector": _shufflevector,
    "ret": _return,
    "br": _branch,
    "switch": _switch,
    "unreachable": _unreachable,
    "va_arg": _va_arg,
}
