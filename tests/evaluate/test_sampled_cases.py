"""Large launches judged by a sample of their blocks: which, what is found wrong there, and whose time it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from kernelwright.edits import Gene
from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.kinds.constant_condition import ConstantCondition
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.original import Id
from kernelwright.evaluate.judging import sampled_cases
from kernelwright.evaluate.judging.demands import Demands
from kernelwright.evaluate.judging.fitness import Fitness
from kernelwright.evaluate.judging.sampled_cases import LEAST_WORK, Shape, replaceable
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.run.settings import RunSettings
from kernelwright.evaluate.workload.case import Case
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.evolution.genomes import GENOMES
from kernelwright.target import gpu

THREADS, SMALL, LARGE = 32, 64, 16_384

# o[i] = a[i] + 1, with a further read whose value is unused; from element 96 on the sum is another one, which only large data show.
SMOOTH = """
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
define ptx_kernel void @smooth(ptr %a, ptr %o, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %b, 32
  %i = add i32 %base, %t
  %w = sext i32 %i to i64
  %from = getelementptr float, ptr %a, i64 %w
  %to = getelementptr float, ptr %o, i64 %w
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %v = load volatile float, ptr %from
  %unused = load volatile float, ptr %to
  %half = fmul float %v, 5.0e-1
  %r = fadd float %half, 1.0
  %next = add i32 %k, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  %far = icmp sgt i32 %i, 95
  %one = select i1 %far, float %r, float %half
  %two = fadd float %one, %r
  store float %two, ptr %to
  ret void
}
"""


Judge = Fitness[tuple[Gene, ...]]


def case(elements: int) -> Case:
    values = np.arange(elements, dtype=np.float32) % 61
    arguments = {"a": values, "o": np.zeros(elements, np.float32), "n": 3}
    return Case((elements // THREADS,), (THREADS,), arguments, name=f"{elements}")


def fitness(folder: Path, *, sampled: bool, cases: tuple[Case, ...]) -> Judge:
    source = folder / "smooth.ll"
    source.write_text(SMOOTH)
    demands = Demands("clean", sampled=sampled)
    made = Fitness(Workload(source, "smooth", cases), gpu("h200"), demands, kind=GENOMES)
    made.reference()
    return made


def edit(judge: Judge, opcode: str, make: Callable[[Id], Edit], place: int = 0) -> tuple[Gene, ...]:
    nodes = judge.builder.originals["smooth"].nodes.items()
    found = [id for id, node in nodes if node.instruction.opcode == opcode]
    return (Gene("smooth", make(found[place])),)


@pytest.fixture(scope="module")
def judges(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Judge, Judge]]:
    """One that samples the large case, and one that runs it whole."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampled_cases, "LEAST_WORK", 1000)
        cases = (case(LARGE), case(SMALL))
        sampled, whole = (
            fitness(tmp_path_factory.mktemp("judge"), sampled=sampled, cases=cases) for sampled in (True, False)
        )
        yield sampled, whole


def test_the_original_takes_what_it_takes_whole(judges: tuple[Judge, Judge]) -> None:
    sampled, whole = judges
    one, other = sampled(()), whole(())
    assert isinstance(one, Ok) and isinstance(other, Ok)
    assert one.time_us == pytest.approx(other.time_us, rel=1e-9)
    assert any("64 of 512 blocks" in note and "a proof runs them whole" in note for note in sampled.notes)
    assert not any("sample" in note for note in whole.notes)


def test_a_variant_gains_on_the_sample_what_it_gains_whole(judges: tuple[Judge, Judge]) -> None:
    gains = []
    for judge in judges:
        original, variant = judge(()), judge(edit(judge, "load", Delete, 1))
        assert isinstance(original, Ok) and isinstance(variant, Ok)
        gains.append(original.time_us / variant.time_us)
    assert gains[0] > 1.01 and gains[0] == pytest.approx(gains[1], rel=1e-3)


def test_what_is_wrong_on_large_data_alone_is_seen_on_their_sample(judges: tuple[Judge, Judge]) -> None:
    wrong = partial(ConstantCondition, index=0, outcome=False)
    for judge in judges:
        found = judge(edit(judge, "select", wrong))
        assert isinstance(found, Rejected) and found.stage == "compare" and f"case '{LARGE}'" in found.reason
    sampled, whole = (judge(edit(judge, "select", wrong)) for judge in judges)
    assert sampled != whole, "fewer elements are wrong where fewer blocks ran"


def test_a_sampled_outcome_does_not_depend_on_what_was_judged_before(judges: tuple[Judge, Judge]) -> None:
    """So a run that was killed and goes on with fresh workers finds what it would have found."""
    used, _ = judges
    wrong = partial(ConstantCondition, index=0, outcome=False)
    first, second = edit(used, "load", Delete, 1), edit(used, "select", wrong)
    expected = {candidate: used(candidate) for candidate in ((), first, second)}
    fresh = Fitness(used.workload, gpu("h200"), used.demands, kind=GENOMES)
    fresh.reference()
    assert {n: s.drawn for n, s in fresh.samples.items()} == {n: s.drawn for n, s in used.samples.items()} != {}
    assert {candidate: fresh(candidate) for candidate in (second, first, ())} == expected


def test_without_a_small_case_all_of_the_large_one_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampled_cases, "LEAST_WORK", 1000)
    alone = fitness(tmp_path, sampled=True, cases=(case(LARGE),))
    assert not any("sample" in note for note in alone.notes)


def shape(work: int, *covers: object, blocks: int = 1000, kind: str = "k") -> Shape:
    return Shape(kind, work, blocks, frozenset(covers))


@pytest.mark.parametrize(
    ("shapes", "found"),
    [
        ([shape(LEAST_WORK, 1, "x"), shape(10, 1, "x")], [0]),
        ([shape(LEAST_WORK - 1, 1, "x"), shape(10, 1, "x")], []),
        ([shape(LEAST_WORK, 1, "x"), shape(10, 1)], []),
        ([shape(LEAST_WORK, 1, 2), shape(10, 1)], []),
        ([shape(LEAST_WORK, 1, 2), shape(10, 1), shape(11, 2)], [0]),
        ([shape(LEAST_WORK, 1), shape(10, 1, kind="another")], []),
        ([shape(LEAST_WORK, 1, blocks=255), shape(10, 1)], []),
        ([shape(2 * LEAST_WORK, 1), shape(LEAST_WORK, 1)], [0]),
        ([shape(2 * LEAST_WORK, 1), shape(LEAST_WORK, 1), shape(5, 1)], [1, 0]),
        ([None, shape(LEAST_WORK, 1), shape(5, 1)], [1]),
    ],
)
def test_which_cases_a_smaller_one_stands_in_for(
    shapes: list[Shape | None], found: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampled_cases, "LEAST_WORK", LEAST_WORK)
    assert replaceable(shapes) == found


def test_runs_say_whether_they_sample() -> None:
    assert RunSettings().demands.sampled and not RunSettings(accept="any").demands.sampled
    assert not RunSettings(sampled=False).demands.sampled
    for settings in (RunSettings(), RunSettings(sampled=False)):
        assert RunSettings.from_json(settings.as_json()) == settings
    earlier = {name: value for name, value in RunSettings().as_json().items() if name != "sampled"}
    assert not RunSettings.from_json(earlier).sampled, "a run that began before there was a choice ran them whole"
