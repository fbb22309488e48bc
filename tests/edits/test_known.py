"""Edits that keep the meaning: what is printed, what the guard says, and that results stay bit for bit where it holds."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from dataclasses import replace

import pytest

from kernelwright.codegen.ptx import emit_ptx
from kernelwright.device.arena import Arena
from kernelwright.device.reference import run_reference
from kernelwright.edits import Apart, ArgumentIs, BlockIs, Edit, GridIs, LaunchFacts, Original, apply, draw, known_edits
from kernelwright.edits.kinds.bound_argument import BoundArgument
from kernelwright.edits.kinds.copy import Copy
from kernelwright.edits.kinds.fix_launch import FixArgument, FixBlock, FixGrid
from kernelwright.edits.kinds.no_alias import NoAlias
from kernelwright.edits.kinds.recipe import PASSES, Recipe, recipes
from kernelwright.edits.kinds.replace_operand import ReplaceOperand
from kernelwright.edits.kinds.unroll import Unroll, unrollings
from kernelwright.errors import Misuse
from kernelwright.ir import parse_module, verify
from kernelwright.launch import Launch, Triple
from kernelwright.passes.llvm import check
from kernelwright.passes.recipe import EXTRA, optimise_with
from tests.edits.conftest import GEOMETRY, body, kernel, loop_kernel
from tests.ir.compare import function_difference

C0 = "c0000000000"
N, BLOCK, GRID = 40, (16, 1, 1), (3, 1, 1)
KNOWN: tuple[Edit, ...] = (
    FixArgument(2, "i32 40"),
    FixArgument(3, "float 3.000000e+00"),
    FixBlock(BLOCK),
    FixGrid(GRID),
    NoAlias(0),
    NoAlias(1),
    BoundArgument(2, 1, (1 << 15) - 1),
)


def launch(grid: Triple = GRID, block: Triple = BLOCK, **changed: object) -> LaunchFacts:
    bits = (struct.pack("<Q", 4096), struct.pack("<Q", 8192), struct.pack("<i", N), struct.pack("<f", 3.0))
    regions = (range(4096, 4096 + 4 * N), range(8192, 8192 + 4 * N), None, None)
    return replace(LaunchFacts(Launch("k", grid, block), bits, regions), **changed)  # type: ignore[arg-type]


@pytest.fixture
def arena() -> Iterator[Arena]:
    with Arena() as made:
        yield made


def result(arena: Arena, text: str) -> bytes:
    """What the kernel leaves in ``q``, run by the slow executor."""
    mark = arena.next_address
    p, q = arena.allocate(4 * N, "p"), arena.allocate(4 * N, "q")
    arena.view(p)[:] = list(struct.pack(f"<{N}f", *(1 / (1 + n) for n in range(N))))
    arena.view(q)[:] = 0
    arguments = struct.pack("<QQif", p.address, q.address, N, 3.0)
    ran = run_reference(parse_module(text), "k", GRID, BLOCK, arguments, arena)
    found = arena.view(q).tobytes()
    arena.rewind(mark)
    assert ran.fault is None
    return found


def accepted(original: Original, *edits: Edit) -> str:
    applied = apply(original, edits)
    assert applied.inert == ()
    verify(applied.module)
    check(applied.text)
    return applied.text


def refusal(original: Original, *edits: Edit) -> str:
    inert = apply(original, edits).inert
    assert [i.index for i in inert] == [len(edits) - 1]
    return inert[0].reason


# -- results stay


@pytest.mark.parametrize(
    "edits",
    [
        *[(e,) for e in KNOWN],
        KNOWN,
        *[(Unroll(16, n),) for n in (0, 1, 2, 3, 4)],
        *[(r,) for r in (Recipe(level=1), Recipe(rounds=2), Recipe(registers=32), Recipe(without=("slp", "unroll")))],
        (*KNOWN, Unroll(16, 4), Recipe(rounds=2, passes=PASSES)),
    ],
    ids=str,
)
def test_results_are_the_same_bit_for_bit(arena: Arena, edits: tuple[Edit, ...]) -> None:
    original = loop_kernel()
    expected = result(arena, apply(original, ()).text)
    assert struct.unpack("<f", expected[:4])[0] == pytest.approx(sum(1 / (1 + n) for n in range(N)), rel=1e-5)
    text = accepted(original, *edits)
    assert result(arena, text) == expected
    assert result(arena, optimise_with(text, apply(original, edits).recipe, "sm_80")) == expected


# -- what is printed


def test_a_fixed_argument_is_a_constant_at_the_entry() -> None:
    text = accepted(loop_kernel(), FixArgument(2, "i32 40"))
    assert "@k(ptr %p, ptr %q, i32 %n.given, float %x)" in text
    assert body(text)[0] == "%n = freeze i32 40"
    assert "%n," not in optimise_with(text, None, "sm_80").replace("%n.given,", "")
    assert "argument 2 is fixed already" in refusal(loop_kernel(), FixArgument(2, "i32 40"), FixArgument(2, "i32 7"))


def test_a_name_that_is_taken_is_not_taken_again() -> None:
    text = "%n.given = add i32 %n, 1\nstore i32 %n.given, ptr %p\nret void"
    assert body(accepted(kernel(text), FixArgument(2, "i32 40")))[-1] == "ret void"


def test_fixed_geometry() -> None:
    lines = body(accepted(loop_kernel(), FixBlock((16, 1, 1)), FixGrid((1, 1, 1))))
    assert lines[:4] == [
        "%t = call range(i32 0, 16) i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
        "%w = freeze i32 16",
        "%b = freeze i32 0",
        "%g = freeze i32 1",
    ]
    assert "range(i32 0, 2) i32" in apply(loop_kernel(), (FixBlock((2, 2, 1)),)).text
    text = apply(loop_kernel(), (FixBlock((16, 2, 1)),)).text
    assert ".reqntid 16, 2, 1" in emit_ptx(optimise_with(text, None, "sm_80"), "sm_80")


def test_copies_of_what_asks_for_the_geometry_get_the_same_answer() -> None:
    for edits in ((Copy(C0, 1, 5, (5, 0)), FixBlock(BLOCK)), (FixBlock(BLOCK), Copy(C0, 1, 5, (5, 0)))):
        lines = body(accepted(loop_kernel(), *edits))
        assert f"%{C0} = freeze i32 16" in lines and f"%i = add i32 %{C0}, %t" in lines


def test_a_kernel_with_launch_bounds_keeps_them() -> None:
    """PTX takes either ``.maxntid`` or ``.reqntid``."""
    bounds = parse_module(str(loop_kernel().module).replace("float %x)", 'float %x) "nvvm.maxntid"="64"'))
    text = apply(Original(bounds, "k"), (FixBlock(BLOCK),)).text
    assert "reqntid" not in text and "freeze i32 16" in text


def test_bounds_hold_for_other_sizes_and_tell_llvm_the_sign() -> None:
    original = kernel("%w = sext i32 %n to i64\nstore i64 %w, ptr %p\nret void")
    text = accepted(original, BoundArgument(2, 1, 4095))
    assert "i32 range(i32 1, 4096) %n" in text
    assert "zext nneg i32 %n" in optimise_with(text, None, "sm_80")
    assert "sext" in optimise_with(accepted(original), None, "sm_80")
    guards = apply(original, (BoundArgument(2, 1, 4095),)).guards
    assert [str(guard) for guard in guards] == ["argument 2 >= 1", "argument 2 <= 4095"]
    for n, expected in ((1, True), (4095, True), (0, False), (4096, False), (-1, False)):
        bits = (*launch().arguments[:2], struct.pack("<i", n), launch().arguments[3])
        assert all(guard.holds(launch(arguments=bits)) for guard in guards) is expected


def test_the_greatest_signed_number_is_a_bound_too() -> None:
    original = kernel("%w = sext i32 %n to i64\nstore i64 %w, ptr %p\nret void")
    text = accepted(original, BoundArgument(2, 0, 2**31 - 1))
    assert "range(i32 0, -2147483648)" in text and "zext nneg" in optimise_with(text, None, "sm_80")
    large = (*launch().arguments[:2], struct.pack("<i", 2**30), launch().arguments[3])
    known = known_edits({"k": original}, {"k": [launch(), launch(arguments=large)]})["k"]
    assert BoundArgument(2, 1, 2**31 - 1) in known
    negative = (*launch().arguments[:2], struct.pack("<i", -5), launch().arguments[3])
    assert not any(
        isinstance(edit, BoundArgument)
        for edit in known_edits({"k": original}, {"k": [launch(arguments=negative)]})["k"]
    )


def test_no_alias() -> None:
    text = accepted(loop_kernel(), NoAlias(0))
    assert "@k(ptr noalias %p, ptr %q," in text
    load = "ld.global.nc.b32"
    assert load in emit_ptx(optimise_with(text, None, "sm_80"), "sm_80")
    assert load not in emit_ptx(optimise_with(apply(loop_kernel(), ()).text, None, "sm_80"), "sm_80")


def test_no_alias_where_pointers_are_found_in_memory() -> None:
    original = kernel("%r = load ptr, ptr %p\nstore i32 0, ptr %r\nret void")
    assert "finds pointers in memory" in refusal(original, NoAlias(0))
    assert known_edits({"k": original}, {"k": [launch()]})["k"] == []


def test_no_alias_and_a_touched_store() -> None:
    """The parameter loses what was known of the original's use of it, and keeps what the launch is known for."""
    original = kernel(
        "%a = load i32, ptr %p\nstore i32 %a, ptr %q\nret void", parameters="ptr readonly %p, ptr writeonly %q"
    )
    text = accepted(original, NoAlias(0), ReplaceOperand(1, 1, "ptr %p"))
    assert "@k(ptr noalias %p, ptr %q)" in text


def test_unroll_says_so_in_metadata() -> None:
    text = accepted(loop_kernel(), Unroll(16, 4))
    assert "br i1 %more, label %loop, label %end, !llvm.loop !0" in body(text)
    assert text.endswith('!0 = distinct !{!0, !1}\n!1 = !{!"llvm.loop.unroll.count", i32 4}\n')
    assert optimise_with(text, None, "sm_80").count("fdiv") >= 4
    assert '"llvm.loop.unroll.full"' in apply(loop_kernel(), (Unroll(16, 4), Unroll(16, 0))).text
    assert "closes no loop" in refusal(loop_kernel(), Unroll(7, 4))
    assert "is unrolled -1 times" in refusal(loop_kernel(), Unroll(16, -1))
    assert list(unrollings(loop_kernel()))[:2] == [Unroll(16, 0), Unroll(16, 1)]


def test_another_unrolling_is_drawn() -> None:
    rng, draft = random.Random(0), apply(loop_kernel(), (Unroll(16, 4),)).draft
    drawn = {draw(draft, rng, operators={"unroll": 1.0}) for _ in range(100)}
    assert drawn == {Unroll(16, n) for n in (0, 1, 2, 3, 8, 16)}


def test_a_loop_that_cannot_be_unrolled_is_no_news(capfd: pytest.CaptureFixture[str]) -> None:
    optimise_with(accepted(loop_kernel(), Unroll(16, 0)), None, "sm_80")
    assert capfd.readouterr() == ("", "")


# -- recipes


def test_a_recipe_is_carried_out() -> None:
    original = loop_kernel()
    plain = apply(original, ()).text
    for recipe in recipes(original):
        applied = apply(original, (recipe,))
        assert applied.inert == () and applied.recipe == recipe
        check(optimise_with(applied.text, applied.recipe, "sm_80"))
    assert optimise_with(plain, Recipe(), "sm_80") == optimise_with(plain, None, "sm_80")
    assert optimise_with(plain, Recipe(level=0), "sm_80") != optimise_with(plain, None, "sm_80")
    applied = apply(original, (Recipe(registers=32),))
    assert ".maxnreg 32" in emit_ptx(optimise_with(applied.text, applied.recipe, "sm_80"), "sm_80")


@pytest.mark.slow
def test_rounds_are_the_pipeline_on_its_own_output(kernels: tuple[Original, ...]) -> None:
    """On a kernel of the suite that the second round still changes."""
    changed = 0
    for original in kernels:
        plain = apply(original, ()).text
        once, twice = optimise_with(plain, None, "sm_80"), optimise_with(plain, Recipe(rounds=2), "sm_80")
        again = optimise_with(once, None, "sm_80")
        changed += once != twice
        assert function_difference(*(parse_module(t).functions[original.kernel] for t in (again, twice))) == ""
    assert changed


def test_the_last_recipe_is_in_effect() -> None:
    applied = apply(loop_kernel(), (Recipe(registers=32), Recipe(level=2)))
    assert applied.recipe == Recipe(level=2) and "maxnreg" not in applied.text


@pytest.mark.parametrize(
    ("recipe", "says"),
    [
        (Recipe(), "changes nothing"),
        (Recipe(level=4), "level 4"),
        (Recipe(rounds=0), "0 times"),
        (Recipe(passes=("magic",)), "'magic' is none of adce"),
        (Recipe(without=("gvn",)), "'gvn' is none of slp, unroll"),
        (Recipe(registers=3), "3 registers"),
    ],
)
def test_recipes_that_cannot_be(recipe: Recipe, says: str) -> None:
    assert says in refusal(loop_kernel(), recipe)


def test_both_sides_of_a_recipe_know_the_same_passes() -> None:
    assert tuple(EXTRA) == PASSES
    with pytest.raises(Misuse, match="'magic'"):
        optimise_with(apply(loop_kernel(), ()).text, Recipe(passes=("magic",)), "sm_80")


def test_recipes_are_drawn_one_step_at_a_time() -> None:
    rng, draft = random.Random(0), apply(loop_kernel(), (Recipe(2, 2),)).draft
    for _ in range(100):
        recipe = draw(draft, rng, operators={"recipe": 1.0})
        assert recipe is None or apply(loop_kernel(), (Recipe(2, 2), recipe)).inert == ()
        if isinstance(recipe, Recipe):
            assert (recipe.level == 2) + (recipe.rounds == 2) >= 1


# -- guards


def test_guards_are_recorded() -> None:
    guards = apply(loop_kernel(), KNOWN).guards
    assert [str(g) for g in guards] == [
        "argument 2 == i32 40",
        "argument 3 == float 3.000000e+00",
        "block == 16x1x1",
        "grid == 3x1x1",
        "argument 0 shares no memory",
        "argument 1 shares no memory",
        "argument 2 >= 1",
        "argument 2 <= 32767",
    ]
    assert all(g.holds(launch()) for g in guards)
    assert apply(loop_kernel(), (FixArgument(2, "i32 40"), FixArgument(2, "i32 40"))).guards == guards[:1]
    assert apply(loop_kernel(), (Unroll(16, 2), Recipe(level=2))).guards == ()


@pytest.mark.parametrize(
    ("guard", "changed"),
    [
        (ArgumentIs(2, "i32 40", struct.pack("<i", 40)), {"arguments": (b"", b"", struct.pack("<i", 41), b"")}),
        (ArgumentIs(2, "i32 40", struct.pack("<i", 40)), {"arguments": ()}),
        (BlockIs(BLOCK), {"block": (8, 2, 1)}),
        (GridIs(GRID), {"grid": (3, 1, 2)}),
        (Apart(0), {"regions": (range(100), range(99, 200), None, None)}),
        (Apart(0), {"regions": (range(100), range(100), None, None)}),
        (Apart(0), {"regions": (None, range(100), None, None)}),
        (Apart(0), {"regions": ()}),
        (Apart(1), {"variables": (range(8200, 8204),)}),
    ],
    ids=str,
)
def test_guards_that_do_not_hold(guard: ArgumentIs | BlockIs | GridIs | Apart, changed: dict[str, object]) -> None:
    assert guard.holds(launch()) and not guard.holds(launch(**changed))


def test_what_all_launches_had_alike() -> None:
    original = loop_kernel()
    assert set(known_edits({"k": original}, {"k": [launch(), launch()]})["k"]) == set(KNOWN)
    bits = (*launch().arguments[:2], struct.pack("<i", 7), struct.pack("<f", 3.0))
    other = launch(arguments=bits, block=(8, 1, 1), regions=(range(9), range(8, 20), None, None))
    assert known_edits({"k": original}, {"k": [launch(), other]})["k"] == [
        FixArgument(3, "float 3.000000e+00"),
        FixGrid(GRID),
        BoundArgument(2, 1, 32767),
    ]
    assert known_edits({"k": original}, {}) == {"k": []}


def test_only_what_the_kernel_asks_for_is_known() -> None:
    original = kernel("store i32 0, ptr %p\nret void", GEOMETRY)
    assert known_edits({"k": original}, {"k": [launch()]})["k"] == [NoAlias(0), NoAlias(1)]


def test_what_has_no_text_with_the_same_bits_is_no_constant() -> None:
    """A signalling NaN; Python's floats cannot carry it."""
    bits = (*launch().arguments[:3], b"\x01\0\x80\x7f")
    found = known_edits({"k": loop_kernel()}, {"k": [launch(arguments=bits)]})["k"]
    assert not any(isinstance(e, FixArgument) and e.index == 3 for e in found)


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (FixArgument(9, "i32 1"), "no argument 9"),
        (FixArgument(0, "ptr null"), "no constant for argument 0"),
        (FixArgument(2, "float 1.000000e+00"), "no constant for argument 2"),
        (FixArgument(2, "i32 99999999999"), "no constant for argument 2"),
        (FixArgument(2, "i32 %t"), "no constant for argument 2"),
        (FixBlock((0, 1, 1)), "no block can be 0x1x1"),
        (FixBlock((1024, 2, 1)), "no block can be"),
        (FixBlock((1, 1, 65)), "no block can be"),
        (FixGrid((1, 65536, 1)), "no grid can be"),
        (NoAlias(2), "is no pointer"),
        (BoundArgument(2, 5, 4), "cannot be from 5 to 4"),
        (BoundArgument(2, -1, 4), "cannot be from -1 to 4"),
        (BoundArgument(2, 0, 1 << 31), "cannot be from"),
        (BoundArgument(3, 0, 4), "is no integer"),
        (BoundArgument(9, 0, 4), "no argument 9"),
        (NoAlias(7), "no argument 7"),
    ],
)
def test_what_cannot_be_known(edit: Edit, says: str) -> None:
    assert says in refusal(loop_kernel(), edit)
    assert apply(loop_kernel(), (edit,)).guards == ()


@pytest.mark.parametrize("behind", ["", "comdat", "comdat($other)", 'section "a comdat" align 32', "align 16"])
@pytest.mark.parametrize("group", ["", "#0", '"of-align"="comdat x"'])
def test_what_is_asked_of_a_kernel_stands_before_its_comdat(behind: str, group: str) -> None:
    """A kernel that is made of a template has one; LLVM reads no attribute behind it."""
    text = f"""target triple = "nvptx64-nvidia-cuda"
$k = comdat any
$other = comdat any
define dso_local ptx_kernel void @k(ptr %p, i32 %n) local_unnamed_addr {group} {behind} {{
  store i32 %n, ptr %p, align 4
  ret void
}}
attributes #0 = {{ nounwind memory(argmem: write) }}
"""
    original = Original(parse_module(text), "k")
    for edits in ((FixBlock((32, 4, 1)),), (NoAlias(0), FixBlock((32, 4, 1)))):
        applied = apply(original, edits)
        check(applied.text)
        kernel = applied.module.functions["k"]
        assert '"nvvm.reqntid"="32,4,1"' in kernel.attributes and kernel.attributes.endswith(behind)
