"""From instructions back to the lines a person wrote."""

from __future__ import annotations

import pytest

from kernelwright.codegen import source_lines
from kernelwright.codegen.ptx import generate
from kernelwright.codegen.ptx_text import read_ptx
from kernelwright.codegen.source_lines import debug_chain, instruction_positions, kernel_lines
from kernelwright.errors import Misuse
from kernelwright.ir import parse_module
from kernelwright.passes.optimise import optimise
from tests.passes.listing import example


def test_lines_of_a_kernel() -> None:
    module = parse_module(optimise(example("figure7")))
    found = kernel_lines(module, "_Z4pickPKfPfllbb")
    assert [line.line for line in found] == [4, 5, 6, 7]
    assert all(line.file.endswith("figure7.cu") and line.instructions > 0 for line in found)


def test_inlined_code_counts_where_it_was_written() -> None:
    module = parse_module(optimise(example("inlining")))
    assert {line.line for line in kernel_lines(module, "_Z5applyPfi")} >= {4, 9}
    divisions = [p for i, p in instruction_positions(module, "_Z5applyPfi") if i.opcode == "fdiv"]
    assert divisions and all(p is not None and p.line == 4 for p in divisions)


def test_our_own_headers_give_way_to_their_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse_module(optimise(example("inlining")))
    (division, *_) = [i for i, _ in instruction_positions(module, "_Z5applyPfi") if i.opcode == "fdiv"]
    chain = debug_chain(module, division.metadata["dbg"])
    assert [p.line for p in chain] == [4, 9]
    assert source_lines.user_position(chain) == chain[0]
    monkeypatch.setattr(source_lines, "OWN_HEADERS", chain[0].file)
    assert source_lines.user_position(chain) is None


def test_ptx_and_ir_agree_on_the_lines() -> None:
    made = generate(example("figure6"), "sm_80")
    ir = {line.line for line in kernel_lines(parse_module(made.ir), "_Z6windowPKfPflll")}
    loads = [
        source_lines.user_position(i.source)
        for function in read_ptx(made.ptx)
        for i in function.instructions()
        if i.opcode.startswith("ld.global")
    ]
    assert len(loads) == 9
    assert {p.line for p in loads if p} == {9}
    assert 9 in ir


def test_a_module_without_lines_has_none() -> None:
    module = parse_module(example("figure5a"))
    assert kernel_lines(module, "window") == []
    assert all(p is None for _, p in instruction_positions(module, "window"))
    (function,) = read_ptx(generate(example("figure5a"), "sm_80").ptx)
    assert not any(i.source for i in function.instructions())


def test_unknown_kernels_are_misuse() -> None:
    module = parse_module(example("figure5a"))
    with pytest.raises(Misuse, match="it has window"):
        kernel_lines(module, "windw")
