"""What a well-typed instruction is: one table from opcode to its rule.

A rule looks at one instruction alone and calls ``wrong`` for what does not fit; ``verify`` adds place and context.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from kernelwright.ir import types as ty
from kernelwright.ir.constants import (
    ConstantAggregate,
    ConstantExpr,
    ConstantFloat,
    ConstantInt,
    Poison,
    Undef,
    ZeroInitializer,
)
from kernelwright.ir.module import Function, Instruction
from kernelwright.ir.opcodes import FLOAT_BINARY, INTEGER_BINARY
from kernelwright.ir.text.read_instruction import ORDERINGS, PREDICATES, element_type
from kernelwright.ir.types import (
    ArrayType,
    FloatType,
    FunctionType,
    IntType,
    LabelType,
    MetadataType,
    PointerType,
    StructType,
    TokenType,
    Type,
    VectorType,
    VoidType,
)
from kernelwright.ir.values import Value


class Wrong(Exception):
    """The instruction breaks a rule. ``operand`` is the index of the operand to point at, when it is one."""

    def __init__(self, message: str, operand: int | None = None) -> None:
        super().__init__(message)
        self.operand = operand


def wrong(message: str, operand: int | None = None) -> NoReturn:
    """Raises ``Wrong``: the rule is broken by this operand."""
    raise Wrong(message, operand)


def scalar(type: Type) -> Type:
    """The type of a lane: the element of a vector, any other type itself."""
    return type.element if isinstance(type, VectorType) else type


def lanes(type: Type) -> tuple[int, bool] | None:
    """Number of lanes and whether they scale; ``None`` for what is no vector."""
    return (type.count, type.scalable) if isinstance(type, VectorType) else None


def _need(i: Instruction, count: int) -> None:
    if len(i.operands) != count:
        wrong(f"'{i.opcode}' takes {count} operands and has {len(i.operands)}")


def _same(i: Instruction, index: int, type: Type) -> None:
    if i.operands[index].type is not type:
        wrong(f"this operand of '{i.opcode}' must have type {type} but has type {i.operands[index].type}", index)


def _lane(i: Instruction, index: int, kind: type[Type], word: str) -> None:
    if not isinstance(scalar(i.operands[index].type), kind):
        wrong(f"this operand of '{i.opcode}' must be {word} but has type {i.operands[index].type}", index)


def _result(i: Instruction, type: Type) -> None:
    if i.type is not type:
        wrong(f"the result of this '{i.opcode}' must have type {type} but has type {i.type}")


def is_sized(type: Type) -> bool:
    """Whether values of the type take memory."""
    if isinstance(type, StructType):
        return type.fields is not None and all(is_sized(f) for f in type.fields)
    if isinstance(type, ArrayType | VectorType):
        return is_sized(type.element)
    return not isinstance(type, VoidType | LabelType | MetadataType | TokenType | FunctionType)


# -- rules


def _integer_binary(i: Instruction) -> None:
    _need(i, 2)
    _lane(i, 0, IntType, "an integer")
    _same(i, 1, i.operands[0].type)
    _result(i, i.operands[0].type)


def _float_binary(i: Instruction) -> None:
    _need(i, 2)
    _lane(i, 0, FloatType, "a floating point number")
    _same(i, 1, i.operands[0].type)
    _result(i, i.operands[0].type)


def _fneg(i: Instruction) -> None:
    _need(i, 1)
    _lane(i, 0, FloatType, "a floating point number")
    _result(i, i.operands[0].type)


def _freeze(i: Instruction) -> None:
    _need(i, 1)
    _result(i, i.operands[0].type)
    if not is_sized(i.type):
        wrong(f"a value of type {i.type} cannot be frozen", 0)


def _condition_type(type: Type) -> Type:
    return VectorType(type.count, ty.i1, type.scalable) if isinstance(type, VectorType) else ty.i1


def _compare(i: Instruction) -> None:
    _need(i, 2)
    if i.opcode == "fcmp":
        _lane(i, 0, FloatType, "a floating point number")
    elif not isinstance(scalar(i.operands[0].type), IntType | PointerType):
        wrong(f"this operand of 'icmp' must be an integer or a pointer but has type {i.operands[0].type}", 0)
    if i.predicate not in PREDICATES[i.opcode]:
        wrong(f"'{i.predicate}' is no predicate of '{i.opcode}'")
    _same(i, 1, i.operands[0].type)
    _result(i, _condition_type(i.operands[0].type))


Relation = Callable[[int, int], bool]
_CASTS: dict[str, tuple[type[Type], type[Type], Relation | None, str]] = {
    # opcode: lane before, lane after, how their bits relate, the rule in words
    "trunc": (IntType, IntType, lambda a, b: a > b, "an integer to a narrower one"),
    "zext": (IntType, IntType, lambda a, b: a < b, "an integer to a wider one"),
    "sext": (IntType, IntType, lambda a, b: a < b, "an integer to a wider one"),
    "fptrunc": (FloatType, FloatType, lambda a, b: a > b, "a floating point number to a narrower one"),
    "fpext": (FloatType, FloatType, lambda a, b: a < b, "a floating point number to a wider one"),
    "fptoui": (FloatType, IntType, None, "a floating point number to an integer"),
    "fptosi": (FloatType, IntType, None, "a floating point number to an integer"),
    "uitofp": (IntType, FloatType, None, "an integer to a floating point number"),
    "sitofp": (IntType, FloatType, None, "an integer to a floating point number"),
    "ptrtoint": (PointerType, IntType, None, "a pointer to an integer"),
    "ptrtoaddr": (PointerType, IntType, None, "a pointer to an integer"),
    "inttoptr": (IntType, PointerType, None, "an integer to a pointer"),
    "addrspacecast": (PointerType, PointerType, None, "a pointer to one in another address space"),
}


def _cast(i: Instruction) -> None:
    _need(i, 1)
    before, after = i.operands[0].type, i.type
    source, target, relation, words = _CASTS[i.opcode]
    a, b = scalar(before), scalar(after)
    fits = isinstance(a, source) and isinstance(b, target) and lanes(before) == lanes(after)
    if fits and relation is not None:
        fits = relation(a.bits, b.bits)  # type: ignore[attr-defined]
    if fits and i.opcode == "addrspacecast":
        fits = a is not b
    if not fits:
        wrong(f"'{i.opcode}' turns {words}, not {before} into {after}", 0)


def _bits(type: Type) -> int | None:
    if isinstance(type, IntType | FloatType):
        return type.bits
    if isinstance(type, VectorType):
        bits = _bits(type.element)
        return None if bits is None else bits * type.count
    return None


def _bitcast(i: Instruction) -> None:
    _need(i, 1)
    before, after = i.operands[0].type, i.type
    pointers = isinstance(scalar(before), PointerType) and scalar(before) is scalar(after)
    same_bits = _bits(before) is not None and _bits(before) == _bits(after)
    if not (same_bits or (pointers and lanes(before) == lanes(after)) or before is after):
        wrong(f"'bitcast' keeps the bits: {before} and {after} differ in size or kind", 0)


def _select(i: Instruction) -> None:
    _need(i, 3)
    condition, chosen = i.operands[0].type, i.operands[1].type
    if condition is not ty.i1 and condition is not _condition_type(chosen):
        wrong(f"the condition of 'select' must be i1 or {_condition_type(chosen)} but has type {condition}", 0)
    _same(i, 2, chosen)
    _result(i, chosen)
    if isinstance(chosen, VoidType | LabelType | MetadataType | TokenType):
        wrong(f"'select' cannot choose between values of type {chosen}", 1)


def _phi(i: Instruction) -> None:
    if len(i.blocks) != len(i.operands):
        wrong(f"this phi has {len(i.operands)} values for {len(i.blocks)} blocks")
    if not i.operands:
        wrong("this phi has no values")
    if not i.has_result or isinstance(i.type, TokenType | LabelType | MetadataType):
        wrong(f"a phi cannot have type {i.type}")
    for index in range(len(i.operands)):
        _same(i, index, i.type)


def _pointer(i: Instruction, index: int) -> None:
    if not isinstance(i.operands[index].type, PointerType):
        wrong(f"this operand of '{i.opcode}' must be a pointer but has type {i.operands[index].type}", index)


def _align(i: Instruction) -> None:
    if i.align and (i.align & (i.align - 1) or i.align < 0):
        wrong(f"an alignment is a power of two, not {i.align}")


def _alloca(i: Instruction) -> None:
    if not is_sized(i.allocated_type):
        wrong(f"'alloca' needs a type with a size, not {i.allocated_type}")
    if i.operands and not isinstance(i.operands[0].type, IntType):
        wrong("the number of elements of 'alloca' must be an integer", 0)
    _align(i)
    _result(i, PointerType(i.address_space))


def _atomic_access(i: Instruction, type: Type, forbidden: tuple[str, ...]) -> None:
    """A load or store with an ordering: a plain lane of a whole number of bytes, an alignment, an ordering that fits."""
    if i.ordering not in ORDERINGS or i.ordering in forbidden:
        wrong(f"an atomic '{i.opcode}' cannot be '{i.ordering}'")
    if not isinstance(scalar(type), IntType | FloatType | PointerType):
        wrong(f"an atomic '{i.opcode}' takes an integer, a pointer or a floating point number, not {type}", 0)
    bits = _bits(type)
    if bits is not None and (bits < 8 or bits & (bits - 1)):
        wrong(f"an atomic '{i.opcode}' takes a power of two of at least 8 bits, not {type}", 0)
    if not i.align:
        wrong(f"an atomic '{i.opcode}' must state its alignment")


def _load(i: Instruction) -> None:
    _need(i, 1)
    _pointer(i, 0)
    if not is_sized(i.type):
        wrong(f"a value of type {i.type} cannot be loaded")
    _align(i)
    if i.ordering:
        _atomic_access(i, i.type, ("release", "acq_rel"))


def _store(i: Instruction) -> None:
    _need(i, 2)
    _pointer(i, 1)
    if not is_sized(i.operands[0].type):
        wrong(f"a value of type {i.operands[0].type} cannot be stored", 0)
    _align(i)
    _result(i, ty.void)
    if i.ordering:
        _atomic_access(i, i.operands[0].type, ("acquire", "acq_rel"))


def _fence(i: Instruction) -> None:
    _need(i, 0)
    if i.ordering not in ("acquire", "release", "acq_rel", "seq_cst"):
        wrong(f"a fence cannot be '{i.ordering}'")


_ATOMIC_OPERATIONS: dict[str, tuple[type[Type], ...]] = {
    "xchg": (IntType, FloatType, PointerType),
    **dict.fromkeys(("add", "sub", "and", "nand", "or", "xor", "max", "min", "umax", "umin"), (IntType,)),
    **dict.fromkeys(("uinc_wrap", "udec_wrap", "usub_cond", "usub_sat"), (IntType,)),
    **dict.fromkeys(("fadd", "fsub", "fmax", "fmin", "fmaximum", "fminimum"), (FloatType,)),
}


def _atomicrmw(i: Instruction) -> None:
    _need(i, 2)
    _pointer(i, 0)
    type = i.operands[1].type
    allowed = _ATOMIC_OPERATIONS.get(i.operation)
    if allowed is None:
        wrong(f"'{i.operation}' is no operation of 'atomicrmw'")
    lane = scalar(type) if i.operation.startswith("f") else type
    if not isinstance(lane, allowed):
        wrong(f"'atomicrmw {i.operation}' cannot work on {type}", 1)
    bits = _bits(type)
    if bits is not None and (bits < 8 or bits & (bits - 1)):
        wrong(f"'atomicrmw' takes a power of two of at least 8 bits, not {type}", 1)
    if i.ordering not in ORDERINGS or i.ordering == "unordered":
        wrong(f"'atomicrmw' cannot be '{i.ordering}'")
    _align(i)
    _result(i, type)


def _cmpxchg(i: Instruction) -> None:
    _need(i, 3)
    _pointer(i, 0)
    type = i.operands[1].type
    if not isinstance(type, IntType | PointerType):
        wrong(f"'cmpxchg' compares integers or pointers, not {type}", 1)
    bits = _bits(type)
    if bits is not None and (bits < 8 or bits & (bits - 1)):
        wrong(f"'cmpxchg' takes a power of two of at least 8 bits, not {type}", 1)
    _same(i, 2, type)
    if i.ordering not in ORDERINGS or i.ordering == "unordered":
        wrong(f"'cmpxchg' cannot be '{i.ordering}'")
    if i.failure_ordering not in ("monotonic", "acquire", "seq_cst"):
        wrong(f"'cmpxchg' cannot be '{i.failure_ordering}' when it fails")
    _align(i)
    _result(i, StructType((type, ty.i1)))


def gep_type(source_type: Type, operands: tuple[Value, ...]) -> Type:
    """The result type of a ``getelementptr``; calls ``wrong`` for indices that lead nowhere."""
    base = operands[0].type
    if not isinstance(scalar(base), PointerType):
        wrong(f"'getelementptr' starts at a pointer, not at {base}", 0)
    if not is_sized(source_type):
        wrong(f"'getelementptr' cannot step through {source_type}, which has no size")
    shape = next((v.type for v in operands if isinstance(v.type, VectorType)), None)
    here = source_type
    for n, index in enumerate(operands[1:], 1):
        if not isinstance(scalar(index.type), IntType):
            wrong(f"an index of 'getelementptr' must be an integer but has type {index.type}", n)
        if shape is not None and lanes(index.type) not in (None, lanes(shape)):
            wrong(f"the vectors of this 'getelementptr' differ in length: {index.type} and {shape}", n)
        if n == 1:
            continue
        if isinstance(here, StructType):
            field = _field_number(index)
            if index.type is not ty.i32 and scalar(index.type) is not ty.i32:
                wrong("a field of a struct is selected by an i32", n)
            if field is None:
                wrong(f"a field of {here} is selected by a constant", n)
            if here.fields is None or not 0 <= field < len(here.fields):
                wrong(f"{here} has no field {field}", n)
            here = here.fields[field]
        elif isinstance(here, ArrayType | VectorType):
            here = here.element
        else:
            wrong(f"there is nothing inside {here} to index", n)
    if shape is not None and not isinstance(base, VectorType):
        return VectorType(shape.count, base, shape.scalable)
    return base


def _field_number(index: Value) -> int | None:
    if isinstance(index, ConstantInt):
        return index.value
    if isinstance(index, ZeroInitializer):
        return 0
    if isinstance(index, ConstantExpr) and index.opcode == "splat" and isinstance(index.operands[0], ConstantInt):
        return index.operands[0].value
    return None


def _getelementptr(i: Instruction) -> None:
    if not i.operands:
        wrong("'getelementptr' needs a pointer")
    _result(i, gep_type(i.source_type, i.operands))


def _inside(i: Instruction) -> Type:
    if not i.indices:
        wrong(f"'{i.opcode}' needs an index")
    if not isinstance(i.operands[0].type, StructType | ArrayType):
        wrong(f"'{i.opcode}' works on structs and arrays, not on {i.operands[0].type}", 0)
    try:
        return element_type(i.operands[0].type, i.indices)
    except ValueError as error:
        wrong(str(error), 0)


def _extractvalue(i: Instruction) -> None:
    _need(i, 1)
    _result(i, _inside(i))


def _insertvalue(i: Instruction) -> None:
    _need(i, 2)
    _same(i, 1, _inside(i))
    _result(i, i.operands[0].type)


def _vector(i: Instruction, index: int) -> VectorType:
    type = i.operands[index].type
    if not isinstance(type, VectorType):
        wrong(f"this operand of '{i.opcode}' must be a vector but has type {type}", index)
    return type


def _index(i: Instruction, index: int) -> None:
    if not isinstance(i.operands[index].type, IntType):
        wrong(f"the index of '{i.opcode}' must be an integer but has type {i.operands[index].type}", index)


def _extractelement(i: Instruction) -> None:
    _need(i, 2)
    _index(i, 1)
    _result(i, _vector(i, 0).element)


def _insertelement(i: Instruction) -> None:
    _need(i, 3)
    _same(i, 1, _vector(i, 0).element)
    _index(i, 2)
    _result(i, i.operands[0].type)


def _shufflevector(i: Instruction) -> None:
    _need(i, 3)
    vector = _vector(i, 0)
    _same(i, 1, vector)
    mask, shape = i.operands[2], _vector(i, 2)
    if shape.element is not ty.i32 or not isinstance(
        mask, ConstantAggregate | ConstantExpr | ZeroInitializer | Poison | Undef
    ):
        wrong("the mask of 'shufflevector' must be a constant vector of i32", 2)
    for lane in mask.operands if isinstance(mask, ConstantAggregate | ConstantExpr) else ():
        if isinstance(lane, ConstantInt):
            if not 0 <= lane.value < 2 * vector.count:
                wrong(f"the mask names lane {lane.value}, but the two vectors have {2 * vector.count} lanes", 2)
        elif not isinstance(lane, Poison | Undef):
            wrong("the mask of 'shufflevector' must be a constant vector of i32", 2)
    _result(i, VectorType(shape.count, vector.element, shape.scalable))


def _call(i: Instruction) -> None:
    if not i.operands:
        wrong("'call' needs a callee")
    callee = len(i.operands) - 1
    if not isinstance(i.callee.type, PointerType):
        wrong(f"the callee must be a pointer but has type {i.callee.type}", callee)
    type = i.function_type
    _result(i, type.result)
    given, taken = i.arguments, type.parameters
    if len(given) < len(taken) or (len(given) > len(taken) and not type.variadic):
        wrong(f"the call passes {len(given)} arguments to a function that takes {len(taken)}", callee)
    for n, parameter in enumerate(taken):
        _same(i, n, parameter)
    if isinstance(i.callee, Function) and i.callee.is_intrinsic and i.callee.function_type is not type:
        wrong(f"{i.callee.name} has type {i.callee.function_type} but is called as {type}", callee)
    if isinstance(i.callee, Function):
        _check_intrinsic_arguments(i, i.callee)
    if len(i.argument_attributes) + sum(count for _, count in i.bundles) != callee:
        wrong("the arguments and operand bundles of this call do not add up to its operands")


def _check_intrinsic_arguments(i: Instruction, callee: Function) -> None:
    """Arguments that must be written out in the call, and the one that must be a stack slot."""
    for n, argument in enumerate(callee.arguments):
        if "immarg" in argument.attributes.split() and not isinstance(i.operands[n], ConstantInt | ConstantFloat):
            wrong(f"argument {n} of @{callee.name} must be a constant", n)
    if callee.name.startswith(("llvm.lifetime.start", "llvm.lifetime.end")):
        slot = i.operands[0]
        if not isinstance(slot, Poison) and not (isinstance(slot, Instruction) and slot.opcode == "alloca"):
            wrong(f"@{callee.name} takes the result of an 'alloca'", 0)


def _return(i: Instruction) -> None:
    function = i.function
    wanted = function.return_type if function is not None else None
    if wanted is None:
        return
    if wanted is ty.void:
        _need(i, 0)
    else:
        _need(i, 1)
        _same(i, 0, wanted)


def _branch(i: Instruction) -> None:
    if len(i.successors) not in (1, 2):
        wrong(f"'br' goes to one block or two, not to {len(i.successors)}")
    _need(i, len(i.successors) - 1)
    if i.operands:
        _same(i, 0, ty.i1)


def _switch(i: Instruction) -> None:
    _need(i, 1)
    type = i.operands[0].type
    if not isinstance(type, IntType):
        wrong(f"'switch' chooses by an integer, not by {type}", 0)
    if len(i.successors) != len(i.cases) + 1:
        wrong(f"this 'switch' has {len(i.cases)} cases for {len(i.successors) - 1} blocks")
    seen = set()
    for case in i.cases:
        if case.type is not type:
            wrong(f"the case {case.text} must have type {type} but has type {case.type}")
        if case.value in seen:
            wrong(f"the case {case.text} appears twice")
        seen.add(case.value)


def _unreachable(i: Instruction) -> None:
    _need(i, 0)


def _va_arg(i: Instruction) -> None:
    _need(i, 1)
    _pointer(i, 0)


RULES: dict[str, Callable[[Instruction], None]] = {
    **dict.fromkeys(INTEGER_BINARY, _integer_binary),
    **dict.fromkeys(FLOAT_BINARY, _float_binary),
    **dict.fromkeys(_CASTS, _cast),
    **dict.fromkeys(("icmp", "fcmp"), _compare),
    "bitcast": _bitcast,
    "fneg": _fneg,
    "freeze": _freeze,
    "select": _select,
    "phi": _phi,
    "alloca": _alloca,
    "load": _load,
    "store": _store,
    "fence": _fence,
    "atomicrmw": _atomicrmw,
    "cmpxchg": _cmpxchg,
    "getelementptr": _getelementptr,
    "extractvalue": _extractvalue,
    "insertvalue": _insertvalue,
    "extractelement": _extractelement,
    "insertelement": _insertelement,
    "shufflevector": _shufflevector,
    "call": _call,
    "ret": _return,
    "br": _branch,
    "switch": _switch,
    "unreachable": _unreachable,
    "va_arg": _va_arg,
}

UNREAD = frozenset(
    {"indirectbr", "invoke", "callbr", "resume", "catchswitch", "catchret", "cleanupret"}
    | {"landingpad", "catchpad", "cleanuppad", "#dbg_value", "#dbg_declare", "#dbg_assign", "#dbg_label"}
    | {"#dbg_declare_value"}
)
"""What LLVM has and we keep as text."""
