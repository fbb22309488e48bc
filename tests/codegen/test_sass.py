"""Machine instructions per block: every one counted, under its class, where its PTX was."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.codegen.machine.assemble import Assembler, assemble, find_assemblers
from kernelwright.codegen.machine.block_counts import machine_code
from kernelwright.codegen.machine.cubin_elf import Elf, Section, Symbol, read_elf
from kernelwright.codegen.machine.line_table import LineTable, read_lines
from kernelwright.codegen.machine.sass import (
    CONVERGED,
    DIVERGED,
    NOTHING,
    OPCODES,
    PIPE_OF_CLASS,
    PIPE_OF_OPCODE,
    PLAIN,
    UNIFORM,
    opcode_class,
    read_instructions,
)
from kernelwright.codegen.ptx import generate
from kernelwright.errors import Misuse, ToolError
from kernelwright.target import PIPES
from tests.codegen.counting import MACHINE_CLASSES, machine_counts, ptx_counts
from tests.examples import few
from tests.passes.listing import example

ASSEMBLERS = find_assemblers()
DATA = Path(__file__).parent / "data"

needs_assembler = pytest.mark.skipif(not ASSEMBLERS, reason="neither nvJitLink nor ptxas is installed")
each_assembler = pytest.mark.parametrize("assembler", ASSEMBLERS, ids=lambda a: f"{a.kind}-{a.version}")

# What a mnemonic is, from NVIDIA's table of instructions (CUDA Binary Utilities, "Instruction Set Reference").
MEANING = {
    "atomic": "ATOM ATOMG ATOMS RED REDG",
    "async_copy": "LDGSTS LDGDEPBAR",
    "barrier": "B2R BAR CCTL CGAERRBAR DEPBAR ERRBAR MEMBAR",
    "branch": "BPT BRA BREAK BRX BRXU BSSY BSYNC CALL ENDCOLLECTIVE EXIT NANOSLEEP RET WARPSYNC YIELD",
    "conversion": "F2F F2FP F2I FRND I2F I2FP",
    "fp16": "HADD2 HFMA2 HMUL2",
    "fp32": "FADD FCHK FFMA FMNMX FMUL FSEL FSETP",
    "fp64": "DADD DFMA DMUL DSETP",
    "int": "BREV FLO IABS IADD IADD3 IDP IMAD IMNMX ISETP LEA LOP3 PLOP3 POPC PRMT SEL SGXT SHF VIADD VIADDMNMX VIMNMX",
    "load_const": "LDC LDCU ULDC",
    "load_generic": "LD",
    "load_global": "LDG",
    "load_local": "LDL",
    "load_shared": "LDS",
    "move": "BMOV CS2R MOV P2R R2P S2R",
    "other": "NOP",
    "special": "MUFU",
    "store_generic": "ST",
    "store_global": "STG",
    "store_local": "STL",
    "store_shared": "STS",
    "tensor": "HMMA LDSM",
    "uniform": "R2UR S2UR UF2I UFFMA UFLO UFMUL UI2F UIADD3 UIMAD UISETP ULEA ULOP3 UMOV UP2UR UPLOP3 UPOPC USEL USHF",
    "warp": "CREDUX MATCH REDUX SHFL VOTE VOTEU",
}


def test_opcodes_against_a_disassembler() -> None:
    class_of = {mnemonic: name for name, mnemonics in MEANING.items() for mnemonic in mnemonics.split()}
    read = 0
    for line in (DATA / "opcodes.txt").read_text().splitlines()[1:]:
        mnemonic, *codes = line.split()
        for code in codes:
            assert opcode_class(int(code, 16)) == class_of[mnemonic], line
            read += 1
    assert read > 200


def test_branches_against_a_disassembler() -> None:
    """Where each goes, what kind it is and whether control may also go on behind it."""
    flavours = {"BRA": PLAIN, "BRA.U": UNIFORM, "BRA.DIV": DIVERGED, "BRA.CONV": CONVERGED}
    read = 0
    for line in (DATA / "branches.txt").read_text().splitlines()[1:]:
        arch, address, low, high, target, mnemonic, guard = line.split()
        code = bytes(int(address, 16)) + struct.pack("<QQ", int(low, 16), int(high, 16))
        *_, found = read_instructions(code, int(arch.removeprefix("sm_")))
        assert found.target == int(target, 16), line
        assert found.guarded == (guard == "guarded"), line
        if mnemonic in flavours:
            assert found.flavour == flavours[mnemonic], line
            assert found.conditional == (guard == "guarded" or mnemonic != "BRA"), line
        read += 1
    assert read == 75


# ISETP of bfs: waits for counter 2, 13 cycles to the branch behind it. S2R: raises counter 0, 4 cycles. STG: counter 0 falls
# when its operands have been read. FFMA: 4 cycles, no counters. Read with nvdisasm and the published layout by hand.
@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0x000000FF0200720C, 0x004FDA0003F05070, ("int", "alu", 13, -1, -1, 0b100)),
        (0x0000000000007919, 0x000E280000002500, ("move", "alu", 4, 0, -1, 0)),
        (0x000000FF04007986, 0x0001E6000C101104, ("store_global", "lsu", 3, -1, 0, 0)),
        (0x0000000404027981, 0x000EA4000C1E1100, ("load_global", "lsu", 2, 2, -1, 0)),
        (0x00005A0000027625, 0x000FCA00078E0203, ("int", "imad", 5, -1, -1, 0)),
    ],
)
def test_control_words(low: int, high: int, expected: tuple[str, str, int, int, int, int]) -> None:
    (found,) = read_instructions(struct.pack("<QQ", low, high), 80)
    assert (found.kind, found.pipe, found.stall, found.sets, found.frees, found.waits) == expected
    assert not found.guarded and found.target == -1


def test_every_class_and_exception_goes_to_a_pipe() -> None:
    assert set(PIPE_OF_CLASS) <= set(MACHINE_CLASSES)
    assert {*PIPE_OF_CLASS.values(), *PIPE_OF_OPCODE.values()} <= set(PIPES)
    assert all(opcode_class(opcode) != "other" for opcode in PIPE_OF_OPCODE)


def test_no_opcode_has_two_classes() -> None:
    codes = [code for group in OPCODES.values() for code in group]
    assert len(codes) == len(set(codes))
    assert all(0 <= code < 512 for code in codes)
    assert opcode_class(0x1FF) == "other" and "other" in MACHINE_CLASSES


@each_assembler
@pytest.mark.parametrize("name", ["figure4", "figure7", "general", "inlining"])
def test_every_instruction_is_counted_once(assembler: Assembler, name: str) -> None:
    """Against the code sections themselves, whose only other content is padding and the jump to itself behind the end."""
    ptx = generate(example(name), "sm_80").ptx
    found = machine_counts(ptx, "sm_80", assembler=assembler)
    sections = read_elf(assemble(ptx, "sm_80", assembler=assembler).data).sections
    code = [s for s in sections if s.name.startswith(".text.")]
    for kernel, counts in found.items():
        added = sum(words_of(s) for s in code if s.name.removeprefix(".text.") not in found)
        own = sum(words_of(s) for s in code if s.name == f".text.{kernel}")
        assert sum(counts.total().values()) + sum(counts.outlined.values()) == own + (added if counts.outlined else 0)
        assert counts.total()["other"] == 0
        assert set(counts.blocks) <= set(ptx_counts(ptx)[kernel].blocks)


def words_of(section: Section) -> int:
    """Instructions of a code section; a jump to itself has the distance -16 and guards nothing."""
    words = struct.iter_unpack("<QQ", section.data)
    return sum(
        1 for low, high in words if low & 0x1FF != NOTHING and (low, high & 0x3FFFF) != (0xFFFFFFF000007947, 0x3FFFF)
    )


@needs_assembler
@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_memory_instructions_stay_in_the_block_of_their_ptx(arch: str) -> None:
    """Arithmetic comes and goes; a load of the loop is one in each copy of the loop."""
    ptx = generate(example("figure4"), arch).ptx
    counts = machine_counts(ptx, arch)["_Z4walkPfPKfi"]
    virtual = ptx_counts(ptx)["_Z4walkPfPKfi"]
    assert set(counts.blocks) <= set(virtual.blocks)  # a block of arithmetic may become empty
    (loop,) = machine_code(ptx, arch).functions["_Z4walkPfPKfi"].loops
    assert loop.blocks == {"while.body"}
    for block in virtual.blocks:
        for name in ("load_shared", "load_global", "store_shared", "store_global"):
            copies = sum(g.copies for g in loop.groups if not g.before) if block in loop.blocks else 1
            before = sum(g.copies for g in loop.groups if g.before) if "preheader" in block else 0
            expected = copies * virtual.blocks[block].get(name, 0) + before * virtual.blocks["while.body"].get(name, 0)
            assert counts.blocks.get(block, {}).get(name, 0) == expected
    assert counts.total()["barrier"] >= 1


@needs_assembler
def test_a_division_is_many_instructions_and_its_slow_path_is_apart() -> None:
    ptx = generate(example("inlining"), "sm_80").ptx
    virtual = ptx_counts(ptx)["_Z5applyPfi"].total()
    assert virtual["divide_fp"] > 0
    ptxas = next((a for a in ASSEMBLERS if a.kind == "ptxas"), None)
    if ptxas is None:
        pytest.skip("no ptxas is installed")
    counts = machine_counts(ptx, "sm_80", assembler=ptxas)["_Z5applyPfi"]
    assert counts.total()["fp32"] > 3 * virtual["divide_fp"]
    assert sum(counts.outlined.values()) > 20


@each_assembler
def test_functions_that_are_called_have_their_own_counts(assembler: Assembler) -> None:
    ptx = generate(example("calls"), "sm_80").ptx
    found = machine_counts(ptx, "sm_80", assembler=assembler)
    assert set(found) == {"_Z6helperi", "_Z9factoriali", "_Z5callsPiPfi"}
    assert found["_Z9factoriali"].total()["fp32"] == 1
    assert 1 <= found["_Z6helperi"].total()["int"] <= 3  # x * x + 3, and moves in the guise of additions
    # The assembler turns an atomicAdd of a constant into one per warp, with votes of its own.
    assert found["_Z5callsPiPfi"].total()["warp"] >= 1
    assert found["_Z5callsPiPfi"].total()["atomic"] == 3


def test_architectures_with_other_instructions_are_refused() -> None:
    with pytest.raises(Misuse, match="choose sm_70 or newer"):
        machine_counts(generate(example("figure4"), "sm_61").ptx, "sm_61")


def line_table(program: bytes, relocations: bytes) -> dict[int, LineTable]:
    """The tables of a program with version 2's usual header: lines -5 to +8, opcodes from 10."""
    header = struct.pack("<BBbBB", 1, 1, -5, 14, 10) + bytes([0, 1, 1, 1, 1, 0, 0, 0, 1]) + b"\0\0"
    body = struct.pack("<HI", 2, len(header)) + header + program
    unit = struct.pack("<I", len(body)) + body
    sections = (Section(".debug_line", 1, len(unit), 0, unit), Section(".rel.debug_line", 9, 16, 0, relocations))
    return read_lines(Elf(sections, (Symbol("k", 2, 7, 0, 0),)))


# Header: 4 length, 2 version, 4 header length, 5 fields, 9 operand counts, 2 ends of lists; then 00 09 02 <address>.
ADDRESS_AT = 4 + 2 + 4 + 5 + 9 + 2 + 3
SET_ADDRESS = b"\x00\x09\x02" + struct.pack("<Q", 0)
RELOCATION = struct.pack("<QQ", ADDRESS_AT, 0 << 32 | 2)
END = b"\x00\x01\x01"


def test_line_programs_by_hand() -> None:
    """Line 1 at 0; a special opcode to 16 and line 3; far jumps by the standard opcodes; two rows at one address."""
    special = 10 + 5 + 2 + 14 * 16  # address + 16, line + 2
    program = SET_ADDRESS + b"\x01" + bytes([special]) + b"\x02\xb0\x02\x03\xfc\x00\x01" + b"\x03\x7f\x01" + END
    table = line_table(program, RELOCATION)[7]
    assert (table.addresses, table.lines) == ((0, 16, 320), (1, 3, 126))
    assert [table.line(a) for a in (0, 15, 16, 319, 320, 10_000)] == [1, 1, 3, 3, 126, 126]
    assert LineTable((16,), (5,)).line(0) == 0


def test_a_damaged_line_table_is_a_tool_error() -> None:
    with pytest.raises(ToolError, match="line table is damaged"):
        line_table(SET_ADDRESS[:5], RELOCATION)
    assert read_lines(Elf((), ())) == {}


@settings(max_examples=few(200), deadline=None)
@given(st.binary(max_size=80))
def test_any_bytes_are_a_table_or_a_tool_error(program: bytes) -> None:
    try:
        line_table(program, RELOCATION)
    except ToolError as error:
        assert error.hint
