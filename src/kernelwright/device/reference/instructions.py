"""Instructions without control flow: arithmetic, casts, addresses, loads and stores, vectors and aggregates."""

from __future__ import annotations

from kernelwright.codegen.fused_products import Fused
from kernelwright.codegen.memory_layout import alloc_size, field_offsets
from kernelwright.device.arena import GENERIC, LOCAL_BASE
from kernelwright.device.reference import operations
from kernelwright.device.reference.body import M64, Body, Handlers, space_of
from kernelwright.device.reference.unsupported import refuse
from kernelwright.device.value_layout import bits_of, element_type
from kernelwright.ir import types as ty
from kernelwright.ir.constants import ConstantInt
from kernelwright.ir.module import Instruction
from kernelwright.ir.opcodes import CASTS, FLOAT_BINARY, INTEGER_BINARY
from kernelwright.ir.types import FloatType, IntType, PointerType, StructType, Type, VectorType
from kernelwright.ir.values import Value


def _integer(body: Body, i: Instruction) -> None:
    body.compute(i, operations.INTEGER[i.opcode], i.operands)


def _float(body: Body, i: Instruction) -> None:
    if i in body.fused:
        _fused(body, i, body.fused[i])
    else:
        body.compute(i, operations.FLOAT[i.opcode], i.operands, rounded=True)


def _fused(body: Body, i: Instruction, f: Fused) -> None:
    minus_a, minus_c = "-" * f.negate_product, "-" * f.negate_addend
    template = f"{{fma}}({minus_a}{{a}}, {{b}}, {minus_c}{{c}}{{format}})"
    if body.flushes and i.type is ty.f32:
        template = f"flush(fused_single({minus_a}flush({{a}}), flush({{b}}), {minus_c}flush({{c}})))"
    body.compute(i, template, (f.left, f.right, f.addend))


def _cast(body: Body, i: Instruction) -> None:
    (value,) = i.operands
    source, target = value.type, i.type
    if i.opcode == "bitcast":
        _bitcast(body, i, value)
        return
    if i.opcode == "addrspacecast":
        assert isinstance(source, PointerType) and isinstance(target, PointerType)
        step = GENERIC[source.address_space] - GENERIC[target.address_space]
        if step:
            body.define(i, f"{body.ref(value)} + {step} & {M64}")
        else:
            body.alias(i, value)
        return
    same = i.opcode in ("ptrtoint", "ptrtoaddr", "inttoptr") and bits_of(source) == bits_of(target)
    if same or (i.opcode == "zext" and not isinstance(target, VectorType)):
        body.alias(i, value)
        return
    a, b = (t.element if isinstance(t, VectorType) else t for t in (source, target))
    template = operations.cast_template(i.opcode, a, b)
    assert template is not None
    body.compute(i, template, (value,), isinstance(b, FloatType) and i.opcode != "fpext")


def _bitcast(body: Body, i: Instruction, value: Value) -> None:
    source, target = value.type, i.type
    text = body.ref(value)
    if source is target or isinstance(source, PointerType):
        body.alias(i, value)
    elif isinstance(source, FloatType) and isinstance(target, IntType):
        body.define(i, f"{source.kind}_bits({text})")
    elif isinstance(source, IntType) and isinstance(target, FloatType):
        body.define(i, f"{target.kind}_from_bits({text})")
    else:
        to, of = body.program.keep("Y", target), body.program.keep("Y", source)
        body.define(i, f"from_bits_of({to}, to_bits_of({of}, {text}))")


def _address(body: Body, i: Instruction) -> None:
    """``getelementptr``."""
    base, *indices = i.operands
    if isinstance(i.type, VectorType):
        raise refuse(i, "vectors of pointers are not supported; compile without loop vectorisation")
    constant, terms = 0, [body.ref(base)]
    source: Type = i.source_type
    for n, index in enumerate(indices):
        if n and isinstance(source, StructType):
            assert isinstance(index, ConstantInt) and source.fields is not None
            constant += field_offsets(source)[index.value]
            source = source.fields[index.value]
            continue
        if n:
            source = element_type(source)
        size = alloc_size(source)
        if isinstance(index, ConstantInt):
            constant += index.value * size
        elif size:
            terms.append(_scaled(body, index, size))
    if constant:
        terms.append(str(constant))
    if len(terms) == 1:
        body.alias(i, base)
    else:
        body.define(i, f"{' + '.join(terms)} & {M64}")


def _scaled(body: Body, index: Value, size: int) -> str:
    bits, text = bits_of(index.type), body.ref(index)
    if bits < 64:
        sign = 1 << (bits - 1)
        text = f"(({text} ^ {sign}) - {sign})"
    return f"{text} * {size}" if size != 1 else text


def _alloca(body: Body, i: Instruction) -> None:
    space = space_of(i)
    body.define(i, f"fp + {body.frame.offsets[i] + (LOCAL_BASE if space == 0 else 0)}")


def _compare(body: Body, i: Instruction) -> None:
    body.compute(i, (operations.ICMP if i.opcode == "icmp" else operations.FCMP)[i.predicate], i.operands)


def _select(body: Body, i: Instruction) -> None:
    condition, yes, no = i.operands
    template = "{b} if {a} else {c}"
    if isinstance(i.type, VectorType) and isinstance(condition.type, VectorType):
        body.compute(i, template, i.operands)
    else:
        body.define(i, template.format(a=body.ref(condition), b=body.ref(yes), c=body.ref(no)))


def _negate(body: Body, i: Instruction) -> None:
    kind = i.type.element if isinstance(i.type, VectorType) else i.type
    assert isinstance(kind, FloatType)
    template = f"-{{a}} if {{a}} == {{a}} else negate({{a}}, {{bits}}, {{from_bits}}, {kind.bits})"
    body.compute(i, template, i.operands)


def _freeze(body: Body, i: Instruction) -> None:
    body.alias(i, i.operands[0])


def _extract_value(body: Body, i: Instruction) -> None:
    body.define(i, body.ref(i.operands[0]) + "".join(f"[{n}]" for n in i.indices))


def _insert_value(body: Body, i: Instruction) -> None:
    aggregate, value = (body.ref(o) for o in i.operands)
    body.define(i, _replaced(aggregate, list(i.indices), value))


def _extract_element(body: Body, i: Instruction) -> None:
    vector, index = i.operands
    if isinstance(index, ConstantInt):
        body.define(i, f"{body.ref(vector)}[{index.unsigned % _count(vector)}]")
    else:  # beyond the end: zero
        zero = "0.0" if isinstance(i.type, FloatType) else "0"
        text = body.ref(index)
        body.define(i, f"{body.ref(vector)}[{text}] if {text} < {_count(vector)} else {zero}")


def _insert_element(body: Body, i: Instruction) -> None:
    vector, value, index = i.operands
    text = body.ref(vector)
    if isinstance(index, ConstantInt):
        body.define(i, _replaced(text, [index.unsigned % _count(vector)], body.ref(value)))
    else:
        n = body.ref(index)
        body.define(i, f"(*{text}[:{n}], {body.ref(value)}, *{text}[{n} + 1:]) if {n} < {_count(vector)} else {text}")


def _shuffle_vector(body: Body, i: Instruction) -> None:
    first, second, mask = i.operands
    a, b, count = body.ref(first), body.ref(second), _count(first)
    indices = body.program.constants.value(mask)
    parts = [f"{a}[{n}]" if n < count else f"{b}[{n - count}]" for n in indices]
    body.define(i, f"({', '.join(parts)},)")


def _memory(body: Body, i: Instruction) -> None:
    if i.opcode == "load":
        body.load(i, i.operands[0])
    else:
        body.store(i, i.operands[0], i.operands[1], i.align)


def _fence(body: Body, i: Instruction) -> None:
    """A thread sees every store at once here, so fences do nothing."""


def _replaced(aggregate: str, indices: list[int], value: str) -> str:
    """A tuple with one element, possibly of an inner tuple, exchanged."""
    first, rest = indices[0], indices[1:]
    inner = _replaced(f"{aggregate}[{first}]", rest, value) if rest else value
    return f"(*{aggregate}[:{first}], {inner}, *{aggregate}[{first + 1}:])"


def _count(vector: Value) -> int:
    assert isinstance(vector.type, VectorType)
    return vector.type.count


INSTRUCTIONS: Handlers = {
    **dict.fromkeys(INTEGER_BINARY, _integer),
    **dict.fromkeys(FLOAT_BINARY, _float),
    **dict.fromkeys(CASTS, _cast),
    **dict.fromkeys(("icmp", "fcmp"), _compare),
    **dict.fromkeys(("load", "store"), _memory),
    "getelementptr": _address,
    "select": _select,
    "fneg": _negate,
    "freeze": _freeze,
    "alloca": _alloca,
    "extractvalue": _extract_value,
    "insertvalue": _insert_value,
    "extractelement": _extract_element,
    "insertelement": _insert_element,
    "shufflevector": _shuffle_vector,
    "fence": _fence,
}
"""How each opcode is translated; ``calls`` has the rest."""
