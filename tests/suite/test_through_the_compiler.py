"""Every suite program through the whole compiler: IR that survives a round trip, and PTX that assemblers take."""

from __future__ import annotations

import functools

import pytest

from kernelwright.codegen.machine.assemble import assemble
from kernelwright.codegen.machine.resources import resources
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.cuda.frontend import SourceOptions
from kernelwright.ir import parse_module, print_module
from kernelwright.ir.verify import verify
from kernelwright.passes.options import PassOptions
from kernelwright.pipeline import CompileOptions, Program
from kernelwright.pipeline import compile as compile_program
from kernelwright.suite import NAMES, load


@functools.cache
def built(name: str, arch: str = "sm_80") -> Program:
    program = load(name)
    options = CompileOptions(
        source=SourceOptions(
            arch=arch,
            include=tuple(f[2:] for f in program.flags if f.startswith("-I")),
            define=tuple(f[2:] for f in program.flags if f.startswith("-D")),
        )
    )
    return compile_program([p for p in program.source_paths if p.suffix == ".cu"], options=options)


def without_predecessors(text: str) -> list[str]:
    """The lines without the comments that list a block's predecessors: LLVM prints those in the order of its use-lists."""
    return [line.split("; preds =")[0].rstrip() for line in text.splitlines()]


@pytest.mark.parametrize("name", NAMES)
def test_printing_what_was_parsed_gives_the_same_text(name: str) -> None:
    for unit in built(name).units:
        for text in (unit.source.text, unit.optimised):
            once = print_module(parse_module(text))
            assert print_module(parse_module(once)) == once
            assert without_predecessors(once) == without_predecessors(text)


@pytest.mark.parametrize("name", NAMES)
def test_our_verifier_accepts_what_llvm_made(name: str) -> None:
    for unit in built(name).units:
        verify(parse_module(unit.source.text))
        verify(unit.module)


@pytest.mark.parametrize("name", NAMES)
def test_ptx_of_a_round_trip_is_the_same_bytes(name: str) -> None:
    for unit in built(name).units:
        again = emit_ptx(print_module(parse_module(unit.optimised)), "sm_80", PassOptions())
        assert again == emit_ptx(unit.optimised, "sm_80", PassOptions())


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90"])
@pytest.mark.parametrize("name", NAMES)
def test_every_output_assembles(name: str, arch: str) -> None:
    for unit in built(name, arch).units:
        made = resources(assemble(unit.ptx, arch))
        assert set(made) == {k.name for k in unit.module.kernels}
        assert all(0 < r.registers <= 255 for r in made.values())


@pytest.mark.parametrize("name", NAMES)
def test_kernels_know_their_source_lines(name: str) -> None:
    program = built(name)
    for kernel in program.kernels:
        files = {line.file.rsplit("/", 1)[-1] for line in program.lines(kernel)}
        assert files & {p.name for p in program.units[0].path.parent.iterdir()}
