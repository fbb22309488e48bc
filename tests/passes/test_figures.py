"""The paper's own examples, with each step and without it: Figures 4 to 7, and sections 3.3 and 3.6.

The golden files are the documentation: every one shows the code before and after one optimisation.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernelwright.codegen.ptx import generate
from kernelwright.passes.options import PassOptions
from tests.passes.listing import example, instructions, ir_bodies, listing, lowered_ir

Golden = Callable[[str, str], None]


def ptx(name: str, *without: str, arch: str = "sm_80") -> str:
    return generate(example(name), arch, PassOptions.of(3, without)).ptx


def with_and_without(name: str, *without: str) -> str:
    return f"-- with all steps\n{listing(ptx(name))}\n-- without {', '.join(without)}\n{listing(ptx(name, *without))}"


def count(code: list[str], opcode: str) -> int:
    return sum(line.split()[0 if "@" not in line else 1].startswith(opcode) for line in code)


@pytest.mark.parametrize(
    ("figure", "without"),
    [
        ("figure4", ["msi"]),
        ("figure6", ["par", "slsr", "gra"]),
        ("figure6", ["unroll"]),
        ("figure7", ["spec"]),
        ("spaces", ["msaa"]),
        ("division", ["bypass"]),
    ],
)
def test_golden(golden: Golden, figure: str, without: list[str]) -> None:
    golden(f"passes/{figure}-without-{'-'.join(without)}.txt", with_and_without(figure, *without))


def test_figure_4_a_derived_pointer_is_known_to_be_shared() -> None:
    (load,) = [
        i for i in instructions(ptx("figure4")) if i.startswith("  ld.") and "param" not in i and "global" not in i
    ]
    assert load.startswith("  ld.shared.")
    (load,) = [i for i in instructions(ptx("figure4", "msi")) if i.startswith("  ld.b32") and "%rd" in i][-1:]
    assert "shared" not in load


def figure_5(source: str, *without: str) -> str:
    return ir_bodies(lowered_ir(example(source), PassOptions.of(3, without)))


def test_figure_5_golden(golden: Golden) -> None:
    """(a) to (d) of the figure, each as LLVM leaves it when the later steps are left out."""
    steps = [
        ("(a) none of the three", "figure5a", ("par", "slsr", "gra")),
        ("(b) pointer-arithmetic reassociation", "figure5a", ("slsr", "gra")),
        ("(c), (d) and straight-line strength reduction", "figure5a", ("gra",)),
        ("from (c) without global reassociation", "figure5c", ("slsr", "gra")),
        ("(d) from (c) with global reassociation alone", "figure5c", ("slsr",)),
    ]
    golden("passes/figure5.txt", "\n".join(f"-- {title}\n{figure_5(s, *w)}" for title, s, w in steps))


def test_figure_5_arithmetic_shrinks_step_by_step() -> None:
    """Multiplications and additions left, in the paper's order of (a), (b), (c)."""

    def arithmetic(text: str) -> tuple[int, int]:
        return text.count(" mul "), text.count(" add ")

    assert arithmetic(figure_5("figure5a", "par", "slsr", "gra")) == (3, 13)
    assert arithmetic(figure_5("figure5a", "slsr", "gra")) == (3, 5)
    assert arithmetic(figure_5("figure5a", "gra")) == (1, 1)
    # Figure 5 (c) to (d): p3 = &a[j1] becomes &p0[n].
    assert "%p3 = getelementptr float, ptr addrspace(1) %0, i64 %j1" in figure_5("figure5c", "slsr", "gra")
    assert "%p3 = getelementptr float, ptr addrspace(1) %p0, i64 %n" in figure_5("figure5c", "slsr")


def test_figure_6_folds_constants_into_addresses() -> None:
    """Six of the nine loads cost no address arithmetic: +4 and +8."""
    loads = [i for i in instructions(ptx("figure6")) if "ld.global" in i]
    assert len(loads) == 9
    assert sum("+4]" in i or "+8]" in i for i in loads) == 6
    assert count(instructions(ptx("figure6")), "mul") == 1
    assert count(instructions(ptx("figure6", "slsr")), "mul") == 2


def test_figure_7_the_second_address_comes_from_the_first() -> None:
    """The add for &a[i] moves above both branches and is shared."""
    hoisted, plain = listing(ptx("figure7")), listing(ptx("figure7", "spec"))
    assert hoisted.split("bra")[0].count("add.s64") == 1
    assert plain.split("bra")[0].count("add.s64") == 0
    assert hoisted.count("add.s64") < plain.count("add.s64")


def test_section_3_3_spaces_do_not_alias() -> None:
    def shared_loads(*without: str) -> int:
        return count(instructions(ptx("spaces", *without)), "ld.shared")

    assert shared_loads() == 1
    assert shared_loads("msaa") == 2
    # Alone, neither of the passes that use the analysis is what removes the load.
    assert shared_loads("gvn") == shared_loads("lsv") == 1


def test_leaving_out_alias_analysis_changes_nothing_else() -> None:
    """The equivalent of a switch that LLVM lacks: code with one memory space must come out the same."""
    for name in ("figure4", "figure5a", "figure6", "figure7", "division", "inlining", "math"):
        assert instructions(ptx(name)) == instructions(ptx(name, "msaa")), name


def test_section_3_6_division() -> None:
    fast, plain = instructions(ptx("division")), instructions(ptx("division", "bypass"))
    assert count(fast, "div.u32") == 1 and count(fast, "div.s64") == 1
    assert count(plain, "div.u32") == 0 and count(plain, "div.s64") == 1


def test_leaving_out_the_division_bypass_changes_nothing_else() -> None:
    for name in ("figure4", "figure5a", "figure6", "figure7", "inlining", "math", "general", "calls"):
        assert instructions(ptx(name)) == instructions(ptx(name, "bypass")), name


@pytest.mark.parametrize(
    ("step", "name"),
    [
        ("sroa", "general"),
        ("inline", "inlining"),
        ("reassociate", "general"),
        ("licm", "general"),
        ("unroll", "general"),
        ("gvn", "math"),
        ("dse", "general"),
        ("par", "math"),
        ("lsr", "inlining"),
        ("lsv", "general"),
    ],
)
def test_every_other_step_does_something(step: str, name: str) -> None:
    assert instructions(ptx(name)) != instructions(ptx(name, step))


@pytest.mark.parametrize(
    ("threshold", "value", "name", "opcode"),
    [("inline", 0, "inlining", "call"), ("unroll", 0, "inlining", "bra"), ("unroll-partial", 0, "general", "bra")],
)
def test_thresholds_act(threshold: str, value: int, name: str, opcode: str) -> None:
    usual = instructions(ptx(name))
    options = PassOptions.of(3, thresholds={threshold: value})
    steered = instructions(generate(example(name), "sm_80", options).ptx)
    assert steered != usual, (count(steered, opcode), count(usual, opcode))


def test_speculation_thresholds_act() -> None:
    for threshold in ("spec", "spec-kept"):
        options = PassOptions.of(3, thresholds={threshold: 0})
        assert instructions(generate(example("figure7"), "sm_80", options).ptx) == instructions(ptx("figure7", "spec"))
