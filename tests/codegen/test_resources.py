"""Registers, shared memory, stack and spills: what the cubin says against what the assembler's log says."""

from __future__ import annotations

import re
import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernelwright.codegen.machine.assemble import Assembler, assemble, find_assemblers
from kernelwright.codegen.machine.cubin_elf import read_elf
from kernelwright.codegen.machine.resources import resources
from kernelwright.codegen.ptx import generate
from kernelwright.errors import ToolError
from kernelwright.passes.libdevice import find_libdevice
from tests.examples import few
from tests.passes.listing import example

ASSEMBLERS = find_assemblers()

pytestmark = pytest.mark.skipif(not ASSEMBLERS, reason="neither nvJitLink nor ptxas is installed")

each_assembler = pytest.mark.parametrize("assembler", ASSEMBLERS, ids=lambda a: f"{a.kind}-{a.version}")


@each_assembler
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_89", "sm_90", "sm_120"])
def test_the_cubin_says_what_the_log_says(assembler: Assembler, arch: str) -> None:
    for name in ("figure4", "figure7", "general"):
        made = assemble(generate(example(name), arch).ptx, arch, assembler=assembler)
        found = resources(made)
        assert found
        for kernel, r in found.items():
            log = made.log[made.log.index(f"entry function '{kernel}'") :]
            used = re.search(r"Used (\d+) registers.*", log)
            assert used and r.registers == int(used[1])
            shared = re.search(r"(\d+) bytes smem", used[0])
            assert r.shared_bytes == (int(shared[1]) if shared else 0)
            banks = re.findall(r"(\d+) bytes cmem\[[02]\]", used[0])
            assert not banks or r.constant_bytes == sum(map(int, banks))
            assert r.code_bytes > 0 and r.code_bytes % 16 == 0


def test_shared_memory_of_figure_4() -> None:
    """1024 floats; what the system reserves from sm_90 on is not the kernel's."""
    for arch in ("sm_80", "sm_90"):
        made = resources(assemble(generate(example("figure4"), arch).ptx, arch))
        assert made["_Z4walkPfPKfi"].shared_bytes == 4096


def many_live_values(count: int) -> str:
    """A kernel that loads ``count`` values and stores them in the same order, so that all are alive at once."""
    loads = [f"\tld.volatile.global.u32 %r{i}, [%rd1+{4 * i}];" for i in range(count)]
    stores = [f"\tst.volatile.global.u32 [%rd1+{4 * i}], %r{i};" for i in range(count)]
    head = [".version 7.8", ".target sm_80", ".address_size 64", ".visible .entry crowd(.param .u64 p)", "{"]
    registers = [f"\t.reg .b32 %r<{count}>;", "\t.reg .b64 %rd<2>;", "\tld.param.u64 %rd1, [p];"]
    return "\n".join([*head, *registers, *loads, *stores, "\tret;", "}", ""])


@each_assembler
def test_spills_and_stack(assembler: Assembler) -> None:
    text = many_live_values(40)
    made = assemble(text, "sm_80", assembler=assembler, max_registers=24)
    tight = resources(made)["crowd"]
    assert tight.registers == 24
    # At least the values that 24 registers cannot hold, once out and once in, 4 bytes each.
    assert (tight.spill_store_bytes or 0) >= 4 * (40 - 24)
    assert (tight.spill_load_bytes or 0) >= 4 * (40 - 24)
    assert tight.stack_bytes >= 4 * (40 - 24)
    free = resources(assemble(text, "sm_80", assembler=assembler))["crowd"]
    assert free.registers > 40
    assert (free.spill_store_bytes, free.spill_load_bytes, free.stack_bytes) == (0, 0, 0)
    unknown = resources(made.data)["crowd"]
    assert (unknown.spill_store_bytes, unknown.stack_bytes) == (None, tight.stack_bytes)


@each_assembler
@pytest.mark.skipif(find_libdevice() is None, reason="no libdevice is installed")
def test_stack_and_registers_include_what_is_called(assembler: Assembler) -> None:
    """sin in double calls a slow path with an array of 40 bytes."""
    found = resources(assemble(generate(example("math"), "sm_80").ptx, "sm_80", assembler=assembler))
    (kernel,) = found.values()
    assert kernel.stack_bytes == 40


def test_only_kernels_are_listed() -> None:
    assert set(resources(assemble(generate(example("calls"), "sm_80").ptx, "sm_80"))) == {"_Z5callsPiPfi"}


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"\x7fELF\x02\x01" + b"\0" * 20, b"MZ" * 100])
def test_what_is_no_cubin_is_a_tool_error(data: bytes) -> None:
    with pytest.raises(ToolError, match=r"this cubin is damaged|this is no cubin"):
        resources(data)


_WHOLE: list[bytes] = []


def whole() -> bytes:
    if not _WHOLE:
        _WHOLE.append(assemble(generate(example("figure7"), "sm_80").ptx, "sm_80").data)
    return _WHOLE[0]


@settings(max_examples=few(60), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_a_damaged_cubin_is_read_or_refused_but_never_crashes(data: st.DataObject) -> None:
    raw = bytearray(whole())
    for _ in range(data.draw(st.integers(1, 8))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(raw)))
    try:
        resources(bytes(raw[:cut]))
    except ToolError as error:
        assert error.hint


def test_symbols_and_sections_against_a_file_made_by_hand() -> None:
    """One section with four bytes, one function symbol in it."""
    names = b"\0.shstrtab\0.data\0.symtab\0.strtab\0"
    strings = b"\0main\0"
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 2, 0, 2, 16, 8)
    blobs = [b"", names, b"abcd", symbols, strings]
    kinds, titles, links = [0, 3, 1, 2, 3], [0, 1, 11, 17, 25], [0, 0, 0, 4, 0]
    offset, headers, body = 64, b"", b""
    for blob, kind, title, link in zip(blobs, kinds, titles, links, strict=True):
        headers += struct.pack("<IIQQQQIIQQ", title, kind, 0, 0, offset + len(body), len(blob), link, 0, 1, 0)
        body += blob
    head = bytearray(64)
    head[:6] = b"\x7fELF\x02\x01"
    struct.pack_into("<Q", head, 0x28, 64 + len(body))
    struct.pack_into("<HH", head, 0x3C, 5, 1)
    elf = read_elf(bytes(head) + body + headers)
    assert [s.name for s in elf.sections] == ["", ".shstrtab", ".data", ".symtab", ".strtab"]
    assert elf.sections[2].data == b"abcd"
    assert (elf.symbols[1].name, elf.symbols[1].section, elf.symbols[1].value, elf.symbols[1].size) == (
        "main",
        2,
        16,
        8,
    )
