"""One machine instruction, read from its 128 bits: what it does, which pipe does it, when the next one may start.

From Volta on every instruction carries its own schedule: how many cycles to wait before the next one, which of six
counters it raises until its result or its operands are done with, and which counters it waits for. Source: Jia,
Maggioni, Staiger, Scarpazza, "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking" (2018), section 2.1.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from kernelwright.lazy_dataclasses import dataclass

INSTRUCTION_BYTES = 16
"""From Volta (sm_70) on; before it, instructions took 8 bytes and had other opcodes."""

# The low nine bits of an instruction name the operation, the next three the kind of its operands. Source: found by
# comparing the bits with nvdisasm's mnemonics for sm_70 to sm_120 over all our kernels.
OPCODES: dict[str, tuple[int, ...]] = {
    "move": (0x002, 0x003, 0x004, 0x005, 0x119, 0x155, 0x156),
    "warp": (0x006, 0x086, 0x0CC, 0x189, 0x1A1, 0x1C4),
    "int": (
        0x007, 0x00C, 0x010, 0x011, 0x012, 0x013, 0x014, 0x016, 0x017, 0x019, 0x01A, 0x01B, 0x01C, 0x024, 0x025, 0x026,
        0x027, 0x035, 0x036, 0x037, 0x03A, 0x046, 0x048, 0x100, 0x101, 0x109,
    ),
    "fp32": (0x008, 0x009, 0x00A, 0x00B, 0x020, 0x021, 0x023, 0x102),
    "fp64": (0x028, 0x029, 0x02A, 0x02B),
    "fp16": (0x030, 0x031, 0x032, 0x033, 0x034, 0x040),
    "tensor": (0x03B, 0x03C, 0x03D, 0x03F, 0x1F0),
    "special": (0x108,),
    "conversion": (0x045, 0x03E, 0x104, 0x105, 0x106, 0x107, 0x110, 0x111, 0x112, 0x113),
    "uniform": (*range(0x050, 0x060), *sorted({*range(0x080, 0x100)} - {0x086, 0x0B9, 0x0BB, 0x0CC}), 0x1C2, 0x1C3),
    "load_const": (0x182, 0x0B9, 0x0BB, 0x1AC),
    "load_generic": (0x180,),
    "load_global": (0x181,),
    "load_local": (0x183,),
    "load_shared": (0x184,),
    "store_generic": (0x185,),
    "store_global": (0x186,),
    "store_local": (0x187,),
    "store_shared": (0x188,),
    "atomic": (0x18A, 0x18B, 0x18C, 0x18D, 0x18E, 0x1A3, 0x1A6, 0x1A8, 0x1A9, 0x1AA),
    "barrier": (0x11A, 0x11C, 0x11D, 0x18F, 0x192, 0x1AB),
    "async_copy": (0x1AE, 0x1AF),
    "branch": (0x11B, 0x141, 0x142, 0x143, 0x144, 0x145, 0x146, 0x147, 0x148, 0x149, 0x14D, 0x150, 0x158, 0x15B, 0x15C, 0x15D),
}  # fmt: skip

RANGE_CHECK = 0x102
"""FCHK: whether the short code of a division can round the quotient of its operands."""
NOTHING = 0x118
"""NOP: what fills a section up."""
HALF_AS_MOVE = 0x435
"""HFMA2 with an immediate, used to load a constant; its low bits are an integer addition's from sm_100 on."""

# Where an instruction is done, by its class; those that differ from their class, by opcode. Source: the pipes that NVIDIA's
# Nsight Compute documentation lists ("Metrics Decoder", pipelines).
PIPE_OF_CLASS = {
    "move": "alu", "warp": "warp", "int": "alu", "fp32": "fma", "fp64": "fp64", "fp16": "fp16", "tensor": "tensor",
    "special": "xu", "conversion": "xu", "branch": "branch",
} | dict.fromkeys(
    ("load_generic", "load_global", "load_local", "load_shared", "store_generic", "store_global",
     "store_local", "store_shared", "atomic", "async_copy"), "lsu",
)  # fmt: skip
PIPE_OF_OPCODE = (
    dict.fromkeys((0x024, 0x025, 0x026, 0x027), "imad")  # IMAD, its forms and the dot products
    | dict.fromkeys((0x008, 0x009, 0x00A, 0x00B), "alu")  # FSEL, FMNMX, FSET, FSETP
    | dict.fromkeys((0x100, 0x101, 0x109), "xu")  # FLO, BREV, POPC
    # FCHK, before a division, which takes 17.2 cycles of a quarter on an H200, twice what its reciprocal does (docs/decisions/0036).
    | dict.fromkeys((RANGE_CHECK,), "xu")
    | dict.fromkeys((0x045, 0x03E), "alu")  # I2FP, F2FP
    | dict.fromkeys((0x006,), "alu")  # VOTE
)

WIDE_CONVERSIONS = (0x110, 0x111, 0x112, 0x113)
"""F2F, F2I, I2F, FRND from or to 64 bits. Source: found by compiling one of each."""
FEW_DOUBLES = (75, 86, 87, 89, 120, 121)
"""Architectures with two double-precision units to a multiprocessor, which convert, too: two results a cycle. Source: CUDA C++ Programming
Guide 12.9, 'Arithmetic Instructions', type conversions from and to 64-bit types; the others have 16, as of any conversion."""

COUNTING_ATOMIC = 0xF8C
"""ATOMS.POPC.INC: adds to a word of shared memory the number of lanes that meet there, in one turn: what atomicAdd of 1 becomes where
nothing reads what it returns. The low twelve bits; source: found by compiling both."""
SPINNING_ATOMIC = 0x18D
"""ATOMS.CAST.SPIN, or a compare-and-swap that is asked for: the former in a loop, for additions of floats to shared memory."""
WIDE_PRODUCT = 0x025
"""IMAD.WIDE."""
WIDE_PRODUCT_TURNS: dict[int, float] = {90: 2.0}
"""Turns of its pipe that one takes, by architecture: measured on an H200 (docs/timing-model.md); of others it is not known."""

WIDTHS = (1, 1, 2, 2, 4, 8, 16, 16)
"""Bytes of a load or store by bits 73 to 75: U8, S8, U16, S16, 32, 64, 128. Source: found with PTX of known widths."""

CLASS_OF = {code: name for name, codes in OPCODES.items() for code in codes}

IMAD, SHUFFLE, POPC = 0x024, 0x189, 0x109
BRANCH, CALL_ABSOLUTE, CALL_RELATIVE, INDIRECT, EXIT, RETURN, BARRIER = 0x147, 0x143, 0x144, 0x149, 0x14D, 0x150, 0x11D
MEET = 0x141
"""BSYNC: waits for the lanes that left at a branch."""
ALWAYS = 7
"""The predicate that is always true."""
NO_COUNTER = 7
PLAIN, UNIFORM, DIVERGED, CONVERGED = range(4)
"""Kinds of branch: BRA, BRA.U, BRA.DIV (taken when the warp has diverged), BRA.CONV (taken when it has not)."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """``address`` in bytes from the start of its section. ``kind`` is a class of ``OPCODES`` or ``other``, ``pipe`` one of
    ``target.PIPES`` or empty for what only takes a turn to issue.

    ``stall``: cycles until the next instruction of the warp may start. ``sets`` and ``frees`` are the counters that fall
    when the result is written and when the operands have been read, -1 for none; ``waits`` is the mask of counters that
    must have fallen before it starts.
    """

    address: int
    opcode: int
    kind: str
    pipe: str
    guarded: bool
    stall: int
    sets: int
    frees: int
    waits: int
    target: int = -1
    """Where a branch or a relative call goes."""
    flavour: int = PLAIN
    conditional: bool = False
    """Whether control can also go on behind it, for branches, exits and returns."""
    bytes: int = 0
    """What each lane asks memory for, of loads and stores."""
    turns: float = 1.0
    """That its pipe takes for it."""
    counts_lanes: bool = False
    """Of an atomic: whether lanes that meet take no further turns."""
    spins: bool = False
    """Of an atomic: whether it is one of a loop that compares and swaps until it has won."""


def opcode_class(instruction: int) -> str:
    """The class of a machine instruction from its first 64 bits: one of ``OPCODES``, else ``other``."""
    if instruction & 0xFFF == HALF_AS_MOVE:
        return "fp16"
    return CLASS_OF.get(instruction & 0x1FF, "other")


def read_instructions(code: bytes, arch_number: int) -> Iterator[Instruction]:
    """The instructions of a code section, padding left out. ``arch_number`` is 80 for sm_80; from 70 on."""
    for address in range(0, len(code) - INSTRUCTION_BYTES + 1, INSTRUCTION_BYTES):
        low, high = struct.unpack_from("<QQ", code, address)
        if low & 0x1FF != NOTHING:
            yield _read(address, low, high, arch_number)


def _read(address: int, low: int, high: int, arch_number: int) -> Instruction:
    opcode, kind = low & 0x1FF, opcode_class(low)
    guarded = low >> 12 & 7 != ALWAYS or bool(low >> 15 & 1)
    sets, frees = high >> 46 & 7, high >> 49 & 7
    target, flavour, conditional = -1, PLAIN, guarded
    if opcode in (BRANCH, CALL_RELATIVE):
        target = _target(address, low, high, arch_number)
    if opcode == BRANCH:
        flavour = low >> 32 & 3
        conditional = guarded or high >> 23 & 7 != ALWAYS or flavour != PLAIN
    pipe = PIPE_OF_OPCODE.get(opcode, PIPE_OF_CLASS.get(kind, ""))
    if opcode in WIDE_CONVERSIONS and arch_number in FEW_DOUBLES:
        pipe = "fp64"
    return Instruction(
        address,
        opcode,
        kind,
        pipe,
        guarded,
        high >> 41 & 15,
        sets if sets != NO_COUNTER else -1,
        frees if frees != NO_COUNTER else -1,
        high >> 52 & 63,
        target,
        flavour,
        conditional,
        WIDTHS[high >> 9 & 7] if kind.startswith(("load", "store")) else 0,
        WIDE_PRODUCT_TURNS.get(arch_number, 1.0) if opcode == WIDE_PRODUCT else 1.0,
        low & 0xFFF == COUNTING_ATOMIC,
        opcode == SPINNING_ATOMIC and bool(high >> 23 & 1),
    )


def _target(address: int, low: int, high: int, arch_number: int) -> int:
    """A distance in units of 4 bytes: bits 34 to 81; from sm_90 on its lowest 8 bits lie apart, at 16 to 23."""
    distance, bits = (high & 0x3FFFF) << 30 | low >> 34, 48
    if arch_number >= 90:
        distance, bits = distance << 8 | low >> 16 & 0xFF, 56
    if distance >> (bits - 1):
        distance -= 1 << bits
    return address + INSTRUCTION_BYTES + 4 * distance
