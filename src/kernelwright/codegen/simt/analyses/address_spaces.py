"""Which memory a pointer can name, by following pointers back to where they come from.

before   %p = gep [SHARED_BASE + 64] %i        after   the access is one to shared memory,
         load [access 0] %p                            and takes SHARED_BASE off the address
"""

from __future__ import annotations

from kernelwright.codegen.simt.program.lane_scalars import LOCAL_BASE, SHARED_BASE
from kernelwright.codegen.simt.program.program import Const, Op, Operand, Program, Var

GLOBAL, SHARED, LOCAL, CONSTANT, ANY = 1, 2, 4, 8, 15
"""Sets of memories, so that joining is ``|``. Constant: ``__constant__`` variables and kernel arguments, which the constant
cache serves; global: everything else an arena holds."""

_BY_ADDRESS_SPACE = {1: GLOBAL, 3: SHARED, 4: CONSTANT, 5: LOCAL}
_WINDOW = SHARED_BASE


def infer_spaces(program: Program) -> None:
    """Fills ``space``, ``base``, ``constant`` and ``may_be_local`` of every access."""
    found: dict[Var, int] = {}
    changed = True
    while changed:
        changed = False
        for op in program.ops():
            if len(op.outs) != 1 or op.outs[0].pointer < 0:
                continue
            out = op.outs[0]
            spaces = _made_by(op, found, program)
            if spaces | found.get(out, 0) != found.get(out, 0):
                found[out] = found.get(out, 0) | spaces
                changed = True
    for op in program.ops():
        if op.code not in ("load", "store", "atomic"):
            continue
        access = op.detail
        if access.space == 0:
            spaces = _of(op.args[0], found, program)
            access.constant = spaces == CONSTANT and access.kind == "load"
            if spaces == SHARED:
                access.space, access.base = 1, SHARED_BASE
            elif spaces == LOCAL:
                access.space, access.base = 2, LOCAL_BASE
            access.may_be_local = bool(spaces & LOCAL) and program.local_bytes > 0
        else:
            access.may_be_local = access.space == 2


def _of(operand: Operand, found: dict[Var, int], program: Program) -> int:
    if isinstance(operand, Const):
        address = operand.value or 0
        if 0 <= address - SHARED_BASE < _WINDOW:
            return SHARED
        return LOCAL if 0 <= address - LOCAL_BASE < _WINDOW else GLOBAL
    if operand.op is not None and operand.op.code == "source":
        kind, name = operand.op.detail
        if kind == "by-value" or (kind == "symbol" and name in program.constants):
            return CONSTANT
        return _BY_ADDRESS_SPACE.get(operand.pointer, GLOBAL)
    return found.get(operand, 0)


def _made_by(op: Op, found: dict[Var, int], program: Program) -> int:
    space = op.outs[0].pointer
    if space in _BY_ADDRESS_SPACE:
        return _BY_ADDRESS_SPACE[space]
    match op.code:
        case "gep":
            source = op.args[0]
            if isinstance(source, Var) and source.pointer in (3, 5):
                return _BY_ADDRESS_SPACE[source.pointer]
            return _of(source, found, program)
        case "phi":
            return _joined(op.args, found, program)
        case "select":
            return _joined(op.args[1:], found, program)
    return ANY


def _joined(args: tuple[Operand, ...], found: dict[Var, int], program: Program) -> int:
    spaces = 0
    for arg in args:
        # A null pointer names nothing.
        if not (isinstance(arg, Const) and arg.value == 0):
            spaces |= _of(arg, found, program)
    return spaces
