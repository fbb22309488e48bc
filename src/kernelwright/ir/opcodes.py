"""The opcodes by kind, and which extra fields the instructions of each have."""

from __future__ import annotations

from typing import Any

INTEGER_BINARY = ("add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor")
FLOAT_BINARY = ("fadd", "fsub", "fmul", "fdiv", "frem")
BINARY = frozenset(INTEGER_BINARY + FLOAT_BINARY)
CASTS = frozenset(
    {"trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp"}
    | {"ptrtoint", "ptrtoaddr", "inttoptr", "bitcast", "addrspacecast"}
)
TERMINATORS = frozenset(
    {"ret", "br", "switch", "unreachable", "indirectbr", "invoke", "callbr", "resume"}
    | {"catchswitch", "catchret", "cleanupret"}
)

FIELDS: dict[str, tuple[str, ...]] = {
    "icmp": ("predicate",),
    "fcmp": ("predicate",),
    "phi": ("blocks",),
    "br": ("successors",),
    "switch": ("successors", "cases"),
    "getelementptr": ("source_type",),
    "alloca": ("allocated_type", "align", "address_space"),
    "load": ("volatile", "ordering", "syncscope", "align"),
    "store": ("volatile", "ordering", "syncscope", "align"),
    "fence": ("ordering", "syncscope"),
    "atomicrmw": ("volatile", "operation", "ordering", "syncscope", "align"),
    "cmpxchg": ("volatile", "ordering", "failure_ordering", "syncscope", "align"),
    "extractvalue": ("indices",),
    "insertvalue": ("indices",),
    "call": (
        "tail",
        "calling_convention",
        "return_attributes",
        "function_type",
        "argument_attributes",
        "call_attributes",
        "bundles",
    ),
}
"""The fields an opcode has besides operands, flags and metadata. Opcodes not listed have none, or are kept as text."""

OPAQUE_FIELDS = ("text", "successors")

ABSENT: dict[str, Any] = {
    "volatile": False,
    "align": 0,
    "ordering": "",
    "syncscope": "",
}
"""What an instruction answers for a field its opcode does not have, where that answer is harmless."""

NEUTRAL: dict[str, Any] = {
    "tail": "",
    "calling_convention": "",
    "return_attributes": "",
    "call_attributes": "",
    "bundles": (),
    "address_space": 0,
}
"""The value of a field that an instruction was given none for."""
