"""Weights: machine code where it can be had, PTX where not, and which of the two it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.codegen.cost import block_weights as module
from kernelwright.codegen.cost.block_weights import Weights, weigh, weigh_all
from kernelwright.codegen.cost.loop_copies import copy_label, original
from kernelwright.codegen.cost.scoreboard_steps import split_at_barriers
from kernelwright.codegen.cost.slow_paths import is_slow_label
from kernelwright.codegen.machine.assemble import assemble, find_assemblers
from kernelwright.codegen.machine.resources import resources
from kernelwright.codegen.ptx import emit_ptx, generate
from kernelwright.errors import CompileError, Misuse, ToolError
from kernelwright.ir import parse_module
from kernelwright.ir.text.printer import local_names
from tests.codegen.counting import ptx_counts
from tests.passes.listing import example

ASSEMBLERS = find_assemblers()
needs_assembler = pytest.mark.skipif(not ASSEMBLERS, reason="neither nvJitLink nor ptxas is installed")
WALK = "_Z4walkPfPKfi"


def made(name: str, arch: str = "sm_90", **more: object) -> dict[str, Weights]:
    generated = generate(example(name), arch)
    ir = parse_module(generated.ir)
    labels = {
        f.name: [b.name or local_names(f)[b].removeprefix("%") for b in f.blocks]
        for f in ir.functions.values()
        if not f.is_declaration
    }
    return weigh_all(generated.ptx, arch, labels, **more)  # type: ignore[arg-type]


@needs_assembler
def test_machine_code_where_an_assembler_knows_the_architecture() -> None:
    for w in made("figure4").values():
        assert (w.source, w.arch, w.registers_from, w.slots) == ("machine code", "sm_90", "machine code", 6)
        assert w.instructions == sum(len(s) for segments in w.blocks.values() for s in segments)
        assert all(0 <= slot < 6 for segments in w.blocks.values() for s in segments for t in s for slot in t.waits)


@needs_assembler
def test_pascal_is_stood_for_by_a_newer_architecture() -> None:
    for w in made("figure4", "sm_60").values():
        assert w.source == "machine code" and w.arch in ("sm_70", "sm_75", "sm_80")


@needs_assembler
def test_registers_are_those_of_the_code_that_will_run() -> None:
    """With line information as without."""
    ptx = generate(example("figure4"), "sm_80").ptx
    real = resources(assemble(ptx, "sm_80"))[WALK]
    assert weigh(ptx, WALK, "sm_80").resources == real


@needs_assembler
def test_machine_code_is_kept_on_disk_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Weights of what the assembler made once are the same, and it is not asked again; other code is other code."""
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    expected = made("figure4", "sm_80")
    assert list(tmp_path.iterdir()) == []
    assert made("figure4", "sm_80", kept=True) == expected

    def refuse(*_: object, **__: object) -> None:
        raise ToolError("the assembler is asked again")

    for runs in ("nvjitlink.assemble", "run_ptxas"):
        monkeypatch.setattr(f"kernelwright.codegen.machine.assemble.{runs}", refuse)
    assert made("figure4", "sm_80", kept=True, source="machine code") == expected
    with pytest.raises(ToolError, match="asked again"):
        made("figure4", "sm_90", kept=True, source="machine code")
    with pytest.raises(ToolError, match="asked again"):
        made("figure6", "sm_80", kept=True, source="machine code")
    for entry in (tmp_path / "cubin").rglob("*"):
        if entry.is_file():
            entry.write_bytes(entry.read_bytes()[:-1])
    with pytest.raises(ToolError, match="asked again"):
        made("figure4", "sm_80", kept=True, source="machine code")


@pytest.mark.parametrize("name", ["figure4", "figure6", "general", "math"])
def test_ptx_weights_hold_every_instruction(name: str) -> None:
    generated = generate(example(name), "sm_80")
    counted = ptx_counts(generated.ptx)
    found = weigh_all(generated.ptx, "sm_80", source="ptx")
    assert found
    for kernel, w in found.items():
        assert (w.source, w.registers_from) == ("ptx", "ptx")
        for (function, label), segments in w.blocks.items():
            if is_slow_label(label):
                continue  # in the subroutine of a division, which is no PTX
            assert sum(len(s) for s in segments) == sum(counted[function].blocks[label].values())
        reached = {f for f, _ in w.blocks}
        assert kernel in reached and not (reached - {kernel}) & set(found)


def test_only_functions_that_a_kernel_calls_are_its_own() -> None:
    generated = generate(example("calls"), "sm_80")
    found = weigh_all(generated.ptx, "sm_80", source="ptx")
    assert {f for f, _ in found["_Z5callsPiPfi"].blocks} == {"_Z5callsPiPfi", "_Z6helperi", "_Z9factoriali"}
    apart = generated.ptx.replace("_Z6helperi, ", "_Z6nobodyi, ")
    assert "_Z6helperi" not in {f for f, _ in weigh_all(apart, "sm_80", source="ptx")["_Z5callsPiPfi"].blocks}


def test_without_an_assembler_ptx_is_the_fallback(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def nothing(*_: object, **__: object) -> None:
        raise ToolError("no assembler for PTX is installed")

    monkeypatch.setattr(module, "machine_code", nothing)
    ptx = generate(example("figure4"), "sm_80").ptx
    assert weigh(ptx, WALK, "sm_80").source == "ptx"
    with pytest.raises(ToolError, match="no assembler"):
        weigh(ptx, WALK, "sm_80", source="machine code")


@needs_assembler
def test_ptx_that_the_assembler_refuses_is_an_error_not_a_fallback() -> None:
    ptx = generate(example("figure4"), "sm_80").ptx.replace("ret;", "rett;", 1)
    with pytest.raises(CompileError):
        weigh(ptx, WALK, "sm_80")


def test_a_kernel_that_is_not_there() -> None:
    ptx = generate(example("figure4"), "sm_80").ptx
    with pytest.raises(Misuse, match="no kernel 'run'"):
        weigh(ptx, "run", "sm_80", source="ptx")


@pytest.mark.parametrize("source", ["machine code", "ptx"])
def test_barriers_cut_blocks(source: str) -> None:
    """The tile kernel of figure 4 has barriers: each ends a segment, and nothing else does."""
    if source == "machine code" and not ASSEMBLERS:
        pytest.skip("neither nvJitLink nor ptxas is installed")
    w = made("figure4", source=source)[WALK]
    barriers = 0
    for segments in w.blocks.values():
        for segment in segments[:-1]:
            assert segment[-1].barrier and not any(s.barrier for s in segment[:-1])
        assert not any(s.barrier for s in segments[-1])
        barriers += len(segments) - 1
    assert barriers >= 1


def test_segments() -> None:
    assert split_at_barriers([]) == ((),)


@needs_assembler
def test_steps_know_their_source_lines() -> None:
    text = Path(__file__).parents[1] / "passes" / "data" / "figure4.ll"
    ptx = emit_ptx(text.read_text(), "sm_80")
    w = next(iter(weigh_all(ptx, "sm_80").values()))
    lines = {s.position.line for segments in w.blocks.values() for seg in segments for s in seg if s.position}
    assert lines and min(lines) > 0


@needs_assembler
def test_both_kinds_of_weights_are_about_equal() -> None:
    """What PTX instructions are worth was measured: over whole kernels it comes within a third of the machine code."""
    for name in ("figure4", "general", "spaces"):
        generated = generate(example(name), "sm_80")
        by_code, by_ptx = (weigh_all(generated.ptx, "sm_80", source=s).values() for s in ("machine code", "ptx"))  # type: ignore[arg-type]
        unrolled = {(loop.function, label) for w in by_code for loop in w.loops for label in loop.blocks}
        issued = [sum(_issues(w, unrolled) for w in each) for each in (by_code, by_ptx)]
        assert issued[1] == pytest.approx(issued[0], rel=0.35)


ITERATIONS = 8
"""Of more, PTX counts more: it is weighed as if no loop were unrolled, which takes the tests and additions of a counter away."""


def _issues(w: Weights, unrolled: set[tuple[str, str]]) -> float:
    """Of one execution of each block, and of so many iterations of unrolled loops: all in the group with most copies."""
    copies: dict[tuple[str, str], int] = {}
    for loop in w.loops:
        number, group = max(enumerate(loop.groups), key=lambda each: each[1].copies)
        copies |= {
            (loop.function, copy_label(b, number, c)): group.copies for b in loop.blocks for c in range(group.copies)
        }
    found = 0.0
    for (function, label), segments in w.blocks.items():
        times = 1.0
        if (function, original(label)) in unrolled:
            times = ITERATIONS / copies[function, label] if (function, label) in copies else 0.0
            times = ITERATIONS if w.source == "ptx" else times
        found += times * sum(s.issues for segment in segments for s in segment)
    return found
