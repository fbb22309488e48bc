"""Fitness: what is accepted at which level, what a turned-down candidate is told, what is said of a doubtful workload."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelwright.edits import Gene
from kernelwright.edits.kinds.constant_condition import ConstantCondition
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.delete_barrier import DeleteBarrier
from kernelwright.edits.kinds.fix_launch import FixArgument
from kernelwright.errors import Misuse
from kernelwright.evaluate.judging import fitness as fitness_module
from kernelwright.evaluate.judging import variant_launches as launches
from kernelwright.evaluate.judging.demands import ACCEPT, Accept, Demands
from kernelwright.evaluate.judging.fitness import Evaluated, Fitness
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.workload.case import Case
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.evolution.genomes import GENOMES
from kernelwright.target import gpu

HEAD = """
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
@tile = internal addrspace(3) global [64 x i32] undef, align 4
"""

# out[b * 64 + t] = in[...] reversed in the block, through shared memory, behind a barrier. Blocks of 32 are one warp.
REVERSE = """
define ptx_kernel void @reverse(ptr %in, ptr %out, i32 %last) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = add i32 %last, 1
  %base = mul i32 %b, %size
  %i = add i32 %base, %t
  %w = sext i32 %i to i64
  %from = getelementptr i32, ptr %in, i64 %w
  %v = load i32, ptr %from
  %tw = sext i32 %t to i64
  %mine = getelementptr [64 x i32], ptr addrspace(3) @tile, i64 0, i64 %tw
  store i32 %v, ptr addrspace(3) %mine
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %other = sub i32 %last, %t
  %ow = sext i32 %other to i64
  %theirs = getelementptr [64 x i32], ptr addrspace(3) @tile, i64 0, i64 %ow
  %r = load i32, ptr addrspace(3) %theirs
  %to = getelementptr i32, ptr %out, i64 %w
  store i32 %r, ptr %to
  ret void
}
"""

# Every thread adds its value to one sum: in floats, the order shows.
SUM = """
define ptx_kernel void @sum(ptr %in, ptr %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %b, 64
  %i = add i32 %base, %t
  %w = sext i32 %i to i64
  %from = getelementptr float, ptr %in, i64 %w
  %v = load float, ptr %from
  %old = atomicrmw fadd ptr %out, float %v monotonic
  ret void
}
"""

# Every thread writes its own number to the same place, and to a place of its own.
RACE = """
define ptx_kernel void @race(ptr %last, ptr %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = sext i32 %t to i64
  %to = getelementptr i32, ptr %out, i64 %w
  store i32 %t, ptr %to
  %mine = getelementptr i32, ptr %last, i64 0
  %same = mul i32 %t, 0
  %v = add i32 %same, 7
  store i32 %v, ptr %mine
  ret void
}
"""

Make = Callable[..., Fitness]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(text: str, kernel: str, *cases: Case, accept: Accept = "clean", **more: Any) -> Fitness:
        path = tmp_path / "k.ll"
        path.write_text(HEAD + text)
        return Fitness(Workload(path, kernel, cases, **more), gpu("h200"), Demands(accept), kind=GENOMES)

    return made


def reversing(threads: int = 64, blocks: int = 2) -> Case:
    values = np.arange(threads * blocks, dtype=np.int32) ** 2
    arguments = {"in": values, "out": np.zeros(threads * blocks, np.int32), "last": threads - 1}
    return Case((blocks,), (threads,), arguments, name=f"{threads}")


def gene(fitness: Fitness, kernel: str, kind: str) -> Gene:
    original = fitness.builder.originals[kernel]
    for id, node in original.nodes.items():
        called = node.instruction.callee.name if node.instruction.opcode == "call" else ""  # type: ignore[union-attr]
        if node.instruction.opcode == kind or called.startswith(kind):
            return Gene(kernel, DeleteBarrier(id) if "barrier" in kind else Delete(id))
    raise AssertionError(kind)


def rejected(evaluated: Evaluated) -> Rejected:
    assert isinstance(evaluated.outcome, Rejected)
    return evaluated.outcome


def test_the_original_is_timed_and_exact(make: Make) -> None:
    fitness = make(REVERSE, "reverse", reversing(), reversing(32))
    original = fitness.reference()
    assert original.error == 0 and original.time_us > 0
    assert original.metrics["registers"] > 0 and original.metrics["instructions"] > 0
    assert fitness(()) == original


def test_the_same_twice_and_in_another_process_state(make: Make) -> None:
    one, other = (make(REVERSE, "reverse", reversing(), reversing(32)) for _ in range(2))
    one.reference()
    other.reference()
    barrier = gene(one, "reverse", "llvm.nvvm.barrier")
    other.evaluate((gene(other, "reverse", "store"),))
    assert one.evaluate((barrier,)).outcome == other.evaluate((barrier,)).outcome


def test_one_form_of_the_code_and_two_give_the_same(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    said = []
    for most in (launches.ONE_FORM, -1):
        monkeypatch.setattr(launches, "ONE_FORM", most)
        monkeypatch.setattr(launches, "ONE_FORM_EACH", 0)
        fitness = make(REVERSE, "reverse", reversing(), reversing(32))
        original, edits = fitness.reference(), ("llvm.nvvm.barrier", "store", "load")
        said.append([original, *(fitness.evaluate((gene(fitness, "reverse", kind),)).outcome for kind in edits)])
        assert fitness._one_form == (most > 0)
    assert said[0] == said[1]


def test_a_wrong_output_is_rejected_and_not_timed(make: Make) -> None:
    fitness = make(REVERSE, "reverse", reversing())
    fitness.reference()
    evaluated = fitness.evaluate((gene(fitness, "reverse", "store"),))
    assert rejected(evaluated).stage in ("compare", "fault")
    assert "trained" not in evaluated.facts and "time" not in evaluated.timings


@pytest.mark.parametrize(
    ("accept", "stage"), [("any", None), ("lockstep", None), ("benign", "order"), ("clean", "order")]
)
def test_what_holds_in_one_warp_alone(make: Make, accept: Accept, stage: str | None) -> None:
    """Without its barrier the kernel is right as long as the lanes of its single warp run in step."""
    fitness = make(REVERSE, "reverse", reversing(32), accept=accept)
    fitness.reference()
    evaluated = fitness.evaluate((gene(fitness, "reverse", "llvm.nvvm.barrier"),))
    if stage is None:
        assert isinstance(evaluated.outcome, Ok)
    else:
        assert rejected(evaluated).stage in ("order", "fault")
        # What GEVO would have reported is kept beside it.
        assert evaluated.facts["trained"]["error"] == 0
        assert 0 < evaluated.facts["trained"]["time_us"] < fitness.reference().time_us


def test_every_level_turns_down_what_hangs_on_the_order_of_warps(make: Make) -> None:
    for accept in ACCEPT:
        fitness = make(REVERSE, "reverse", reversing(64), accept=accept)
        fitness.reference()
        evaluated = fitness.evaluate((gene(fitness, "reverse", "llvm.nvvm.barrier"),))
        # The first schedule runs one warp after the other, so even that shows it here.
        assert isinstance(evaluated.outcome, Rejected), accept


def with_one_writer() -> str:
    """``RACE``, where thread 0 alone writes to the common place."""
    text = RACE.replace(
        "  %same = mul i32 %t, 0\n",
        "  %same = mul i32 %t, 0\n  %only = icmp eq i32 %t, 0\n  br i1 %only, label %one, label %end\none:\n",
    )
    return text.replace(
        "  store i32 %v, ptr %mine\n",
        "  %old = load i32, ptr %mine\n  %n = or i32 %old, %v\n  store i32 %n, ptr %mine\n  br label %end\nend:\n",
    )


def racing(threads: int) -> Case:
    return Case((1,), (threads,), {"last": np.zeros(1, np.int32), "out": np.zeros(64, np.int32)})


def everybody_writes(fitness: Fitness) -> Gene:
    user = next(user for user, _ in fitness.builder.originals["race"].slots["i1"])
    return Gene("race", ConstantCondition(user, 0, True))


def test_a_new_race_is_told_with_its_place(make: Make) -> None:
    """The value is the same whoever writes it last, so no schedule shows the race; the watch does."""
    fitness = make(with_one_writer(), "race", racing(64))
    fitness.reference()
    assert fitness.notes[0].startswith("a kernel runs for") or "race" not in fitness.notes[0]
    evaluated = fitness.evaluate((everybody_writes(fitness),))
    assert rejected(evaluated).stage == "fault" and "a race in race" in rejected(evaluated).reason


@pytest.mark.parametrize("most", [fitness_module.WATCHED_BESIDES, 0])
def test_a_race_that_only_the_launch_shows_that_does_most(
    make: Make, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Of two launches of a kernel the shorter has one thread. The other is watched as well, where it does little."""
    monkeypatch.setattr(fitness_module, "WATCHED_BESIDES", most)
    monkeypatch.setattr(Fitness, "_first_of_each", lambda _, order: frozenset(order[:1]))  # as of recorded launches
    fitness = make(with_one_writer(), "race", racing(1), racing(64))
    fitness.reference()
    evaluated = fitness.evaluate((everybody_writes(fitness),))
    assert isinstance(evaluated.outcome, Rejected if most else Ok)


def test_a_guard_that_does_not_hold_leaves_the_launch_to_the_original(make: Make) -> None:
    fitness = make(REVERSE, "reverse", reversing(64), reversing(32))
    fitness.reference()
    fixed = Gene("reverse", FixArgument(2, "i32 63"))
    assert isinstance(fitness.evaluate((fixed,)).outcome, Ok)
    wrong = Gene("reverse", FixArgument(2, "i32 5"))  # never holds: the original runs everywhere, and takes its time
    evaluated = fitness.evaluate((wrong, gene(fitness, "reverse", "store")))
    assert isinstance(evaluated.outcome, Ok)
    assert evaluated.outcome.time_us == fitness.reference().time_us


def test_programs_that_are_the_same_are_evaluated_once(make: Make) -> None:
    fitness = make(REVERSE, "reverse", reversing())
    fitness.reference()
    store = gene(fitness, "reverse", "store")
    first, again = fitness.evaluate((store,)), fitness.evaluate((store, store))
    assert "seen" not in first.facts and again.facts["seen"] is True
    assert again.outcome == first.outcome and again.key == first.key
    assert again.facts["inert"] == [store.as_json()]


def test_an_endless_candidate_ends(make: Make) -> None:
    text = """
define ptx_kernel void @turns(ptr %out, i32 %n) {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %old = load volatile i32, ptr %out
  %new = add i32 %old, 1
  store volatile i32 %new, ptr %out
  %next = add i32 %k, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""
    case = Case((1,), (1,), {"out": np.zeros(1, np.int32), "n": 20})
    fitness = make(text, "turns", case)
    fitness.reference()
    user = next(user for user, _ in fitness.builder.originals["turns"].slots["i1"])
    assert rejected(fitness.evaluate((Gene("turns", ConstantCondition(user, 0, True)),))).stage == "timeout"


# -- workloads that judge badly ----------------------------------------------------------------------------------------


def summing(**more: Any) -> tuple[Case, dict[str, Any]]:
    values = (np.random.default_rng(1).random(512) * 1e3).astype(np.float32)
    return Case((8,), (64,), {"in": values, "out": np.zeros(1, np.float32)}), more


def test_atomic_sums_of_floats_need_a_tolerance(make: Make) -> None:
    case, _ = summing()
    with pytest.raises(Misuse, match="the original is rejected: order") as told:
        make(SUM, "sum", case).reference()
    assert "--tolerance" in str(told.value)
    fitness = make(SUM, "sum", case, tolerance="relative 1e-4")
    assert isinstance(fitness.reference(), Ok)


def test_an_original_that_leans_on_lock_step_is_told_so(make: Make) -> None:
    text = REVERSE.replace("  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n", "")
    with pytest.raises(Misuse, match="--accept lockstep"):
        make(text, "reverse", reversing(32), accept="benign").reference()
    assert isinstance(make(text, "reverse", reversing(32), accept="lockstep").reference(), Ok)


def test_an_original_that_fails_its_own_check(make: Make) -> None:
    def oracle(case: Case) -> dict[str, Any]:
        return {"out": np.zeros(128, np.int32)}

    with pytest.raises(Misuse, match="fails its own check"):
        make(REVERSE, "reverse", reversing(), oracle=oracle).reference()


def test_fast_math_that_rounds_otherwise_is_told_so(make: Make) -> None:
    """Passes may order the sums of a program that was compiled so, in another way than those that its results were recorded with."""

    def oracle(case: Case) -> dict[str, Any]:
        return {"out": np.full(32, 3.25, np.float32)}

    text = """
define ptx_kernel void @add(ptr %in, ptr %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %t to i64
  %from = getelementptr float, ptr %in, i64 %i
  %to = getelementptr float, ptr %out, i64 %i
  %x = load float, ptr %from
  %sum = fadd FLAGS float %x, 3.0
  store float %sum, ptr %to
  ret void
}
"""
    case = Case((1,), (32,), {"in": np.zeros(32, np.float32), "out": np.zeros(32, np.float32)})
    for flags, hint in (
        ("fast", "--tolerance 1e-5"),
        ("nnan reassoc", "--tolerance 1e-5"),
        ("contract", "fix the program"),
    ):
        with pytest.raises(Misuse, match="fails its own check") as told:
            make(text.replace("FLAGS", flags), "add", case, oracle=oracle).reference()
        assert hint in str(told.value)


def test_an_original_that_races_is_compared_by_place(make: Make) -> None:
    text = RACE.replace("%same = mul i32 %t, 0", "%same = and i32 %t, 1")
    case = Case((1,), (32,), {"last": np.zeros(1, np.int32), "out": np.zeros(32, np.int32)})
    for accept in ACCEPT:
        fitness = make(text, "race", case, tolerance={"last": "ignore", "*": "exact"}, accept=accept)
        fitness.reference()
        (said,) = fitness.remarks_on_original()
        assert (
            "the original races itself in race: write at 'store void' and write at 'store void', by lanes of one warp"
            in said
        )
        assert "'as safe as the original', not clean" in said and ("--accept safe takes" in said) == (
            accept in ("clean", "proven")
        )
        assert isinstance(fitness.evaluate((gene(fitness, "race", "getelementptr"),)).outcome, Ok | Rejected)


def test_a_race_in_which_all_write_the_same_is_said_too(make: Make) -> None:
    case = Case((2,), (32,), {"last": np.zeros(1, np.int32), "out": np.zeros(32, np.int32)})
    fitness = make(RACE, "race", case, tolerance={"out": "ignore", "*": "exact"}, accept="any")
    fitness.reference()
    (said,) = fitness.remarks_on_original()
    assert "by different blocks and lanes of one warp (no value differed)" in said


def test_an_original_that_does_nothing_undefined_is_not_spoken_of(make: Make) -> None:
    fitness = make(REVERSE, "reverse", reversing())
    fitness.reference()
    assert fitness.remarks_on_original() == []


def test_what_makes_gains_doubtful_is_noted(make: Make) -> None:
    fitness = make(REVERSE, "reverse", reversing())
    fitness.reference()
    said = " ".join(fitness.notes)
    assert "one data set" in said and "less than its launch costs" in said


def test_demands_that_nobody_knows() -> None:
    with pytest.raises(Misuse, match="none of proven, clean"):
        Demands("strict")  # type: ignore[arg-type]


def test_what_the_user_has_is_timed_too(make: Make) -> None:
    fitness = make(REVERSE, "reverse", reversing())
    original = fitness.reference()
    assert fitness.as_compiled_us > 0
    assert fitness.evaluate(()).facts["as_compiled_us"] == fitness.as_compiled_us
    assert original.time_us <= fitness.as_compiled_us * 1.005 or any("gains are counted" in n for n in fitness.notes)
