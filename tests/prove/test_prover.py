"""The checks one by one, on originals and variants made for each."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from kernelwright.bench.prove.planted import UNSAFE
from kernelwright.device.schedule import Schedule
from kernelwright.errors import Misuse, ToolError
from kernelwright.evaluate.judging.case_runner import Modules
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.workload.case import Case, Launcher
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.guards import ArgumentIs, BlockIs, GridIs
from kernelwright.ir import parse_module, print_module
from kernelwright.prove import Effort, Proof, Prover, prove
from tests.evaluate.recording import record
from tests.prove.planted import QUICK, floats, modules, planted, variant, workload, zeros


def copied(given: Modules, kernel: str) -> Modules:
    """The kernel as a module of its own, so that it counts as changed."""
    return {kernel: parse_module(print_module(given[kernel]))}


# -- what the original does too ----------------------------------------------------------------------------------------


def test_a_race_that_the_original_has_too() -> None:
    case = Case((2,), (64,), {"in": floats(128), "any": zeros(1, np.int32), "out": zeros(128)})
    proof = prove(workload("any_negative", case), modules(), variant("any_negative"), effort=QUICK)
    assert proof.label == "as safe as the original", str(proof)
    assert proof.check("races").status == proof.check("undefined").status == "passed"
    assert "kernels.cu:6" in str(proof.check("inherited").evidence[0])


def test_a_new_race_in_which_all_write_the_same_is_benign() -> None:
    case = Case((2,), (64,), {"in": floats(128), "flag": zeros(1, np.int32), "out": zeros(128)})
    proof = prove(workload("one_says_so", case), modules(), variant("one_says_so"), effort=QUICK)
    assert proof.label == "benign", str(proof)
    assert "3 new races that changed no value" in proof.check("undefined").detail
    assert proof.check("inherited").status == "passed"


def test_what_fails_with_whole_warps_too_is_not_for_want_of_lock_step() -> None:
    one = planted("halo_written")
    proof = prove(one.workload(0), one.original, one.variant, effort=QUICK)
    assert proof.check("orders").status == "failed" and proof.check("sub-warps").status == "passed"


def ahead(kernel: str) -> Case:
    return Case((2,), (32,), {"in": floats(64), "out": zeros(64), "n": 64}, name=kernel)


def test_a_read_past_the_end_that_the_original_has_too() -> None:
    proof = prove(workload("looks_ahead_again", ahead("")), modules(), variant("looks_ahead_again"), effort=QUICK)
    assert proof.label == "as safe as the original", str(proof)
    assert proof.check("bounds").status == "passed"
    assert any("the original reads past its buffers, at 1 place" in note for note in proof.notes)
    assert "with other bytes past its buffers" in proof.check("past buffers").detail


def test_a_read_past_the_end_that_the_original_has_not() -> None:
    proof = prove(workload("looks_ahead", ahead("")), modules(), variant("looks_ahead"), effort=QUICK)
    assert proof.label == "schedule-dependent"
    bounds = proof.check("bounds")
    assert bounds.status == "failed" and "at kernels.cu:18, up to 8 bytes past the end of 'in'" in bounds.detail
    assert len(bounds.evidence) == 1


def test_a_write_past_the_end_is_a_fault() -> None:
    proof = prove(workload("writes_behind", ahead("")), modules(), variant("writes_behind"), effort=QUICK)
    assert proof.label == "wrong"
    assert "writes 4 bytes" in proof.check("training").detail


def test_a_variant_whose_output_depends_on_what_lies_past_its_buffers() -> None:
    """With zeros there it is right, by luck."""
    case = Case((2,), (32,), {"in": floats(64), "out": zeros(64), "n": 64})
    proof = prove(workload("lucky", case), modules(), variant("lucky"), effort=QUICK)
    assert proof.check("training").status == "passed" and proof.label == "schedule-dependent", str(proof)
    past = proof.check("past buffers")
    assert past.status == "failed" and "its output depends on what lies past its buffers" in past.detail
    assert proof.check("bounds").status == "passed"


def test_an_original_whose_output_depends_on_what_lies_past_its_buffers() -> None:
    case = Case((2,), (32,), {"in": floats(64), "out": zeros(64), "n": 64})
    given = modules()
    proof = prove(workload("adds_the_next", case), given, copied(given, "adds_the_next"), effort=QUICK)
    assert proof.label == "as safe as the original", str(proof)
    assert any("the original's output depends on what lies past its buffers" in note for note in proof.notes)
    assert proof.check("past buffers").detail.endswith("as the original's own output does")


def test_an_original_that_leans_on_lock_step() -> None:
    one = planted("warp_sum")
    racy = {**one.original, **one.variant}
    prover = Prover(one.workload(0), racy, effort=QUICK)
    itself = prover.prove(copied(racy, "warp_sum"))
    assert itself.label == "as safe as the original" and itself.check("sub-warps").status == "not run"
    assert "where warps do not run in step" in itself.check("inherited").detail
    assert any("leans on warps that run in step" in note for note in itself.notes)
    assert any("the original races itself, at 2 places" in note for note in itself.notes)
    assert prover.prove({"warp_sum": one.original["warp_sum"]}).label == "clean"


# -- wrong variants ----------------------------------------------------------------------------------------------------


def test_wrong_on_the_training_cases() -> None:
    case = Case((1,), (32,), {"in": np.arange(32, dtype=np.int32), "out": zeros(32, np.int32)})
    proof = prove(workload("ends", case), modules(), variant("ends"), effort=QUICK)
    assert proof.label == "wrong"
    assert proof.check("training").status == "failed" and proof.check("races").status == "not run"


def test_the_first_wrong_element() -> None:
    one = planted("whole_blocks")
    text = print_module(one.original["whole_blocks"]).replace("fmul contract float", "fadd contract float")
    proof = prove(one.workload(0), one.original, {"whole_blocks": parse_module(text)}, effort=QUICK)
    evidence = proof.check("training").evidence[0]
    assert evidence.output == "out" and evidence.index == (0,) and evidence.count == 128
    assert evidence.found != evidence.expected and evidence.case == "seed 0" and evidence.schedule == "forward"


def test_invalid_ir_is_a_failed_check() -> None:
    one = planted("whole_blocks")
    module = parse_module(print_module(one.original["whole_blocks"]))
    entry = module.functions["whole_blocks"].blocks[0].instructions
    entry[0], entry[3] = entry[3], entry[0]
    assert prove(one.workload(0), one.original, {"whole_blocks": module}, effort=QUICK).label == "wrong"


def test_nothing_changed() -> None:
    one = planted("small")
    proof = prove(one.workload(0), one.original, one.original, effort=QUICK)
    assert proof.label == "clean" and "nothing is changed" in proof.check("training").detail


def test_a_changed_kernel_that_is_never_launched() -> None:
    one, other = planted("small"), planted("positive")
    alone = prove(one.workload(0), one.original, other.variant, effort=QUICK)
    assert alone.label == "wrong" and "launches a kernel that is changed" in alone.check("training").detail
    both = prove(planted("dead_store").workload(0), {**one.original, **planted("dead_store").original},
                 {**planted("dead_store").variant, **other.variant}, effort=QUICK)  # fmt: skip
    assert both.label == "clean" and any("launches positive, which is changed too" in note for note in both.notes)


# -- other cases ---------------------------------------------------------------------------------------------------------


def test_further_cases_given() -> None:
    one = next(p for p in UNSAFE if p.kernel == "positive")
    negative = Case((2,), (64,), {"in": -floats(128), "out": zeros(128), "n": 128}, name="negative")
    only = Effort(orders=1, draws=0, changes=0)
    wide = prove(one.workload(0), one.original, one.variant, effort=only)
    assert wide.label == "data-specific" and wide.check("held-out").status == "not run"
    held_out = prove(one.workload(0), one.original, one.variant, effort=only, held_out=[negative])
    assert held_out.label == "data-specific" and "negative" in held_out.check("held-out").detail
    other = prove(one.workload(0), one.original, one.variant, effort=only, different=[negative])
    assert other.label == "data-specific" and other.check("different").status == "failed"


def test_a_generator_of_other_shapes() -> None:
    one = planted("whole_blocks")

    def more(seed: int) -> Case:
        n = 100 + seed % 20
        return Case((2,), (64,), {"in": floats(n), "out": zeros(n), "n": n}, name=f"n={n}")

    training = one.workload(0)
    given = type(training)(training.source, training.kernel, training.cases, generator=more)
    proof = prove(given, one.original, one.variant, effort=Effort(draws=3, changes=0))
    assert proof.label == "data-specific" and "n=10" in proof.check("different").detail
    assert proof.check("held-out").status == "not run"


def test_the_way_to_further_cases(tmp_path: Path) -> None:
    record(tmp_path / "app.capture")
    recorded = Workload.from_capture(tmp_path / "app.capture", "scale")
    only = Effort(orders=1, changes=0)
    changed = copied(recorded.modules(), recorded.in_process[0].launch.kernel)  # type: ignore[union-attr]
    held_out = Prover(recorded, effort=only).prove(changed).check("held-out")
    assert held_out.status == "not run" and '--held-out "ARGUMENTS"' in held_out.detail
    written = last_adds(variant("last_adds")).check("held-out")
    assert "Workload(..., generator=function)" in written.detail


def test_a_generator_that_raises() -> None:
    one = planted("dead_store")

    def more(seed: int) -> Case:
        if seed % 2:
            raise RuntimeError("no odd ones")
        return one.case(seed)

    training = one.workload(0)
    given = type(training)(training.source, training.kernel, training.cases, generator=more)
    proof = prove(given, one.original, one.variant, effort=Effort(draws=4, changes=2))
    assert proof.label == "clean"
    assert "2 that the generator fails to make: RuntimeError: no odd ones" in proof.check("held-out").detail


def test_a_generated_case_that_the_original_does_not_survive() -> None:
    one = planted("dead_store")

    def more(seed: int) -> Case:
        return Case((2,), (64,), {"in": floats(10), "out": zeros(128), "n": 128})

    training = one.workload(0)
    given = type(training)(training.source, training.kernel, training.cases, generator=more)
    proof = prove(given, one.original, one.variant, effort=Effort(draws=2, changes=2))
    assert "2 that the original does not survive" in proof.check("held-out").detail
    assert proof.label == "clean"


def test_a_host_function() -> None:
    def host(launch: Launcher) -> dict[str, np.ndarray]:
        values = floats(64)
        launch("twice", 1, 64, values, 64)
        launch("twice", 1, 64, values, 64)
        return {"values": values}

    proof = prove(workload("twice", Case(host=host)), modules(), variant("twice"), effort=QUICK)
    assert proof.label == "data-specific" and "all memory below zero" in proof.check("different").evidence[0].case


def test_other_inputs_are_made_of_a_case_that_the_guards_allow() -> None:
    """The cheapest case lies outside: what is made of it would, too, and nothing would be known of other data."""
    one = planted("whole_blocks")
    given = one.workload(0)
    cases = tuple(
        Case((n // 64,), (64,), {"in": floats(n), "out": zeros(n), "n": np.int32(n)}, name=str(n)) for n in (64, 4096)
    )
    prover = Prover(Workload(given.source, given.kernel, cases), one.original, effort=QUICK)
    guards = {
        "whole_blocks": [
            ArgumentIs(2, "i32 4096", (4096).to_bytes(4, "little")),
            GridIs((64, 1, 1)),
            BlockIs((64, 1, 1)),
        ]
    }
    proof = prover.prove(one.variant, guards=guards)
    assert proof.check("different").status == "passed" and "4096" in proof.check("different").detail
    # What the guard settles is not changed: every change that was made counts.
    (made,) = prover.changes._sets.values()
    assert made.references and not any(", n of whole_blocks" in each.case.name for each in made.references)
    assert made.outside["argument 2 == i32 4096"] > 0 and any("argument 2 == i32 4096" in note for note in proof.notes)
    # The alarm has further ones, beyond those.
    assert (
        "further different cases agree"
        in prover.prove(one.variant, guards=guards, speedup=40.0).check("too good").detail
    )


def test_guards_are_the_domain() -> None:
    one = planted("whole_blocks")
    whole = (128).to_bytes(4, "little")
    guards = {"whole_blocks": [ArgumentIs(2, "i32 128", whole), BlockIs((64, 1, 1)), GridIs((2, 1, 1))]}
    prover = Prover(one.workload(0), one.original)
    assert prover.prove(one.variant).label == "data-specific"
    guarded = prover.prove(one.variant, guards=guards)
    assert guarded.label == "clean"
    assert any(
        "outside what the variant is meant for (" in note and "argument 2 == i32 128" in note for note in guarded.notes
    )
    nowhere = prover.prove(one.variant, guards={"whole_blocks": [BlockIs((32, 1, 1))]})
    assert nowhere.label == "wrong" and "none of the training cases" in nowhere.check("training").detail


# -- schedules -----------------------------------------------------------------------------------------------------------


def test_schedules_can_be_given() -> None:
    one = planted("halo_written")
    proof = prove(one.workload(0), one.original, one.variant, schedules=[Schedule.forward()], effort=QUICK)
    assert proof.check("orders").status == proof.check("sub-warps").status == "not run"
    assert proof.label == "schedule-dependent"  # the race shows all the same
    assert (
        prove(one.workload(0), one.original, one.variant, schedules=[Schedule.reverse()], effort=QUICK)
        .check("orders")
        .status
        == "failed"
    )


# -- fences --------------------------------------------------------------------------------------------------------------


def last_adds(given: Modules) -> Proof:
    case = Case((4,), (32,), {"in": floats(4), "out": zeros(1)})
    return prove(workload("last_adds", case), modules(), given, effort=QUICK)


def test_a_fence_too_few() -> None:
    proof = last_adds(variant("last_adds"))
    assert proof.label == "schedule-dependent"
    assert [check.name for check in proof.checks if check.status == "failed"] == ["weak memory", "fences"]
    assert "last_adds executes 0 memory fences on the training cases, the original 4" in proof.check("fences").detail


def test_no_fence_too_few() -> None:
    same = last_adds(copied(modules(), "last_adds"))
    assert same.label == "clean" and "no memory fence is executed less often" in same.check("fences").detail
    one = planted("positive")
    assert (
        prove(one.workload(0), one.original, one.variant, effort=QUICK).check("fences").detail
        == "the original has none"
    )


FENCE = "call void @llvm.nvvm.membar.gl()"


@pytest.mark.parametrize(
    ("put", "status"),
    [
        ("call void @llvm.nvvm.membar.sys()", "passed"),
        ('fence syncscope("device") seq_cst', "passed"),
        ('call void asm sideeffect "membar.gl;", "~{memory}"()', "passed"),
        ('fence syncscope("block") seq_cst', "failed"),
        ('call void asm sideeffect "fence.acq_rel.cta;", "~{memory}"()', "failed"),
        ("call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)", "failed"),
    ],
)
def test_what_stands_for_a_fence(put: str, status: str) -> None:
    text = print_module(modules()["last_adds"])
    assert FENCE in text
    text = re.sub(rf"(tail )?{re.escape(FENCE)}[^\n]*", put, text)
    text += "" if "@llvm.nvvm.membar.sys" not in put else "\ndeclare void @llvm.nvvm.membar.sys()\n"
    # Here the last thread of a block of one warp is alone: a barrier in its branch is one for it.
    case = Case((4,), (1,), {"in": floats(4), "out": zeros(1)})
    proof = prove(workload("last_adds", case), modules(), {"last_adds": parse_module(text)}, effort=QUICK)
    assert proof.check("training").status == "passed"
    assert proof.check("fences").status == status, str(proof)
    if ("cta" in put and "asm" in put) or "block" in put:
        assert "0 memory fences wider than a block" in proof.check("fences").detail


def test_fences_that_no_case_executes() -> None:
    case = Case((1,), (1,), {"in": floats(64), "out": zeros(64), "n": 0})
    proof = prove(workload("fenced_above", case), modules(), copied(modules(), "fenced_above"), effort=QUICK)
    assert proof.check("fences").status == "not run" and proof.label == "clean"


# -- what the data never take --------------------------------------------------------------------------------------------


RARE = {
    "rare_kind": {"kind": np.arange(128, dtype=np.int32) % 3, "in": floats(128), "out": zeros(128), "n": 128},
    "clipped": {"in": floats(128), "out": zeros(128)},
    "by_mode": {"in": floats(128), "out": zeros(128), "mode": 3},
}


@pytest.mark.parametrize("kernel", RARE)
def test_a_branch_that_the_training_data_never_take(kernel: str) -> None:
    case = Case((4,), (32,), RARE[kernel])
    proof = prove(workload(kernel, case), modules(), variant(kernel), effort=QUICK)
    assert proof.label == "data-specific", str(proof)
    assert "what the kernel compares with" in proof.check("different").detail or "-> 4321" in str(proof)


@pytest.mark.parametrize(("kernel", "output"), [("marked", "seen"), ("largest_key", "largest")])
def test_what_a_part_of_the_data_can_stand_for(kernel: str, output: str) -> None:
    keys = np.random.default_rng(0).integers(0, 8, 128).astype(np.int32)
    case = Case((4,), (32,), {"key": keys, output: np.zeros(8, np.int32), "n": 128})
    proof = prove(workload(kernel, case), modules(), variant(kernel), effort=QUICK)
    assert proof.label == "data-specific", str(proof)


# -- the rest ------------------------------------------------------------------------------------------------------------


def test_the_whole_program() -> None:
    one = planted("dead_store")
    seen: list[Modules] = []

    def right(program: Modules) -> Ok:
        seen.append(program)
        return Ok(1.0, 0.25)

    def wrong(program: Modules) -> Rejected:
        return Rejected("compare", "'out.txt' differs", "app.cu:7")

    def impossible(program: Modules) -> Ok:
        raise ToolError("there is no linker")

    def with_program(trial: object) -> object:
        return prove(one.workload(0), one.original, one.variant, effort=QUICK, whole_program=trial)  # type: ignore[arg-type]

    passed = with_program(right)
    assert passed.check("whole program").status == "passed" and passed.label == "clean"  # type: ignore[attr-defined]
    assert seen[0]["dead_store"] is one.variant["dead_store"] and set(seen[0]) == set(one.original)
    failed = with_program(wrong)
    assert failed.label == "wrong" and "out.txt" in failed.check("whole program").detail  # type: ignore[attr-defined]
    not_run = with_program(impossible).check("whole program")  # type: ignore[attr-defined]
    assert not_run.status == "not run" and not_run.detail == "there is no linker"
    sanitized = prove(one.workload(0), one.original, one.variant, effort=QUICK, sanitizer=wrong)
    assert sanitized.label == "schedule-dependent"


def test_larger_data_is_asked_last() -> None:
    one = planted("dead_store")
    prover = Prover(one.workload(0), one.original, effort=QUICK)
    calls = []

    def wrong(program: Modules) -> Rejected:
        calls.append(program)
        return Rejected("compare", "'model.bin' differs")

    failed = prover.prove(one.variant, larger_data=wrong)
    assert failed.label == "data-specific" and "model.bin" in failed.check("larger data").detail and len(calls) == 1
    assert prover.prove(one.variant).check("larger data").status == "not run"
    other = prover.prove(one.variant, whole_program=wrong, larger_data=wrong)
    assert other.label == "wrong" and other.check("larger data").detail == "something else was found already"
    assert len(calls) == 2  # the whole program's


def test_too_good_to_be_true() -> None:
    one = planted("dead_store")
    prover = Prover(one.workload(0), one.original, effort=QUICK)
    assert prover.prove(one.variant).check("too good").status == "not run"
    assert prover.prove(one.variant, speedup=1.2).check("too good").status == "passed"
    looked_into = prover.prove(one.variant, speedup=40.0).check("too good")
    assert looked_into.status == "passed" and "further different cases agree" in looked_into.detail
    assert (
        prover.prove(one.variant, speedup=3.0, ceiling=2.0)
        .check("too good")
        .detail.startswith("3 times as fast is more")
    )
    training = one.workload(0)
    poor = type(training)(training.source, training.kernel, training.cases)
    alone = Prover(poor, one.original, effort=Effort(changes=0)).prove(one.variant, speedup=40.0)
    assert alone.label == "data-specific" and "give the workload a generator" in alone.check("too good").detail


# -- originals that are not fit --------------------------------------------------------------------------------------------


def test_an_original_that_depends_on_the_order() -> None:
    case = Case((4,), (32,), {"in": floats(128) * np.float32(1e3), "sum": zeros(1)})
    with pytest.raises(Misuse, match="under schedule") as told:
        prove(workload("sum_of_floats", case), modules(), variant("sum_of_floats"))
    assert "depends on the order of its threads" in str(told.value)
    allowed = prove(
        workload("sum_of_floats", case, tolerance="relative 1e-3"), modules(), variant("sum_of_floats"), effort=QUICK
    )
    assert allowed.label == "clean", str(allowed)


def test_an_original_that_fails_its_own_check() -> None:
    case = Case((1,), (32,), {"in": np.arange(32, dtype=np.int32), "out": zeros(32, np.int32)})
    given = workload("ends", case, oracle=lambda c: {"out": np.ones(32)})
    with pytest.raises(Misuse, match="the original fails its own check: case: 'out' has 31 of 32 elements"):
        Prover(given, modules())
    with pytest.raises(Misuse, match="which is no output"):
        Prover(workload("ends", case, oracle=lambda c: {"other": np.ones(32)}), modules())
    with pytest.raises(Misuse, match="the original case fails: timeout"):
        Prover(workload("ends", case), {**modules(), **variant("ends")}, effort=Effort(budget=10_000))


def test_an_oracle_is_believed() -> None:
    case = Case((1,), (32,), {"in": np.arange(32, dtype=np.int32), "out": zeros(32, np.int32)})
    given = workload("ends", case, oracle=lambda c: {"out": np.arange(32)})
    assert prove(given, modules(), copied(modules(), "ends"), effort=QUICK).label == "clean"


def test_a_whole_program_cannot_be_proven(tmp_path: Path) -> None:
    from kernelwright.evaluate.workload.workload import Workload

    given = Workload.from_program(["/bin/true"], ["stdout"], tmp_path)
    with pytest.raises(Misuse, match="whole program"):
        Prover(given, modules())
