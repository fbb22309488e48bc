"""Times of candidates on a GPU (a stand-in's, here, which does as the module's text says): verdicts, rejections, effort."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelwright.device.real_gpu.worker import CudaWorker, Image
from kernelwright.errors import DeviceError, Misuse
from kernelwright.evaluate.judging.fitness import Evaluated
from kernelwright.evaluate.judging.worker_process import Reference
from kernelwright.evaluate.outcome import Metrics, Ok, Outcome, Rejected
from kernelwright.evaluate.timing.gpu_timer import ALIKE, Abandoned, GpuTimer
from kernelwright.evaluate.timing.machine_code import MachineCode, canonical_ptx
from kernelwright.evaluate.timing.measurement_record import Effort, Known, Measured
from kernelwright.evaluate.workload.case import Case, Step
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.guards import BlockIs, Guard

from .conftest import Fake

KERNEL = """
define ptx_kernel void @NAME(ptr %p, i32 %n) {
  %v = load float, ptr %p
  %w = fadd float %v, 1.0
  store float %w, ptr %p
  ret void
}
"""
KERNELS = 'target triple = "nvptx64-nvidia-cuda"\n' + "".join(KERNEL.replace("NAME", n) for n in ("add_one", "add_two"))
FOUND = Ok(0.5, 0.0, Metrics({"us add_one": 0.5, "with_launches_us": 3.0, "registers": 9.0}))
"""What the timing model says of everything."""


def adding(*kernels: str, times: int = 1) -> Case:
    row = np.arange(4, dtype=np.float32)
    launches = tuple(Step((1,), (4,), {"p": row, "n": 4}, kernel=kernel) for kernel in kernels for _ in range(times))
    return Case(launches=launches, name="+".join(kernels))


def code(*kernels: MachineCode) -> dict[str, MachineCode]:
    return {each.kernel: each for each in kernels}


def kernel(text: str, name: str = "add_one", guards: tuple[Guard, ...] = ()) -> MachineCode:
    """Machine code that does as the text says, to the stand-in."""
    return MachineCode(name, f"{name} {text}", Image(f"MODULE {text}".encode()), guards)


ORIGINAL = Reference(FOUND, 0.6, ("as noted",), code(kernel("US=10"), kernel("US=40", "add_two")))


def accepted(*kernels: MachineCode) -> Evaluated:
    return Evaluated(FOUND, "key", {"trained": {"time_us": 0.5, "error": 0.0}}, {"run": 0.1}, code(*kernels))


class Bench:
    """A workload, a GPU, a timer that has seen the original."""

    def __init__(self, workload: Workload, cache: Path, known: Known | None = None) -> None:
        self.worker = CudaWorker(timeout_s=20, folder=cache)
        self.known = known or Known()
        self.timer = GpuTimer(workload, "cuda:0", "Stand-in 0", self.known, self.worker)

    def of(self, *kernels: MachineCode, effort: Effort = Effort.SEARCH) -> Outcome:
        return self.timer._thread.submit(self.timer.timed, accepted(*kernels), effort).result().outcome

    def ok(self, *kernels: MachineCode, effort: Effort = Effort.SEARCH) -> Ok:
        found = self.of(*kernels, effort=effort)
        assert isinstance(found, Ok), found
        return found

    def rejected(self, *kernels: MachineCode) -> Rejected:
        found = self.of(*kernels)
        assert isinstance(found, Rejected), found
        return found


Make = Callable[..., Bench]


@pytest.fixture
def make(fake: Fake, tmp_path: Path) -> Iterator[Make]:
    made: list[Bench] = []
    source = tmp_path / "k.ll"
    source.write_text(KERNELS)

    def bench(*cases: Case, original: Reference | None = ORIGINAL, known: Known | None = None, **more: Any) -> Bench:
        workload = Workload(source, "add_one", cases or (adding("add_one"),), **more)
        made.append(Bench(workload, fake.cache, known))
        if original is not None:
            made[-1].timer.reference(original)
        return made[-1]

    yield bench
    for each in made:
        each.timer.close()


def launched(fake: Fake) -> list[str]:
    """The kernels that ran, but for what keeps the GPU busy while a sample is queued."""
    return [name for line in fake.named("launch") if (name := line.split()[1]) != "kw_wait"]


def launches(fake: Fake) -> int:
    return len(launched(fake))


# -- verdicts ----------------------------------------------------------------------------------------------------------


def test_the_original_is_measured_and_what_was_counted_elsewhere_kept(make: Make) -> None:
    bench = make(adding("add_one"), original=None)
    as_compiled = replace(ORIGINAL, as_compiled=code(kernel("US=8")))
    found = bench.timer.reference(as_compiled)
    assert found.original.time_us == 10 and found.as_compiled_us == pytest.approx(8)
    assert found.time_us == found.as_compiled_us
    assert found.notes[0] == "as noted" and "gains are counted from the former" in found.notes[1]
    figures = dict(found.original.metrics)
    assert figures == {
        "us add_one": 10, "shortest_us": 10, "low_us": 10, "high_us": 10, "model_us": 0.5, "registers": 9,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "us"), [("US=5", 5), ("US=20", 20), ("US=9.98", 10), ("US=10.02", 10), ("US=9.9", 9.9)]
)
def test_faster_slower_and_ties(make: Make, text: str, us: float) -> None:
    found = make().ok(kernel(text))
    assert found.time_us == pytest.approx(us, rel=1e-4)
    assert found.metrics["low_us"] <= found.time_us <= found.metrics["high_us"]
    if us == 10:
        assert found.time_us == 10  # a tie is no gain at all, or ties would add up


@pytest.mark.parametrize("text", ["US=10 NOISE=0.3", "US=9.7 NOISE=0.5"])
def test_what_noise_hides_is_a_tie(make: Make, text: str) -> None:
    found = make().ok(kernel(text))
    assert found.time_us == 10
    assert found.metrics["low_us"] < 9.95 and found.metrics["high_us"] > 10.05  # and it is told how little is known


def test_noise_does_not_hide_what_is_clear(make: Make) -> None:
    bench = make()
    found, again = bench.ok(kernel("US=5 NOISE=0.2")), bench.ok(kernel("US=5 NOISE=0.2"), effort=Effort.FINAL)
    assert 4.5 < found.time_us < 5.5 and 4.8 < again.time_us < 5.2
    width = [each.metrics["high_us"] - each.metrics["low_us"] for each in (found, again)]
    assert width[1] < width[0]


def test_launches_count_as_their_cases_do_and_unchanged_kernels_cost_what_they_did(make: Make, fake: Fake) -> None:
    bench = make(adding("add_one", "add_two"), adding("add_two"), weights=(5.0, 2.0))
    before = launches(fake)
    found = bench.ok(kernel("US=5"))
    assert found.time_us == pytest.approx(math.sqrt(5 * (5 + 40) * 2 * 40))  # each case is a data set
    assert found.metrics["us add_one"] == pytest.approx(25) and found.metrics["us add_two"] == 280
    assert found.metrics["shortest_us"] == pytest.approx(5)
    # The case without the changed kernel is not run at all; in the other one, add_two runs along and is not timed.
    assert launched(fake)[before:].count("add_two") == 2


def test_a_program_that_changes_nothing_costs_nothing(make: Make, fake: Fake) -> None:
    bench = make()
    before = launches(fake)
    assert bench.ok().time_us == 10 and launches(fake) == before


def test_of_many_launches_alike_some_are_timed(make: Make, fake: Fake) -> None:
    bench = make(adding("add_one", times=3 * ALIKE))
    before = launches(fake)
    assert bench.ok(kernel("US=5")).time_us == pytest.approx(3 * ALIKE * 5)
    assert launches(fake) - before < 2 * 3 * ALIKE + 2 * ALIKE * 20


def test_a_kernel_is_not_used_where_its_guards_do_not_hold(make: Make) -> None:
    bench = make()
    assert bench.ok(kernel("US=5", guards=(BlockIs((4, 1, 1)),))).time_us == pytest.approx(5)
    assert bench.ok(replace(kernel("US=4", guards=(BlockIs((8, 1, 1)),)))).time_us == 10


# -- effort ------------------------------------------------------------------------------------------------------------


def test_a_program_is_measured_once(make: Make, fake: Fake) -> None:
    bench = make(adding("add_one"), adding("add_two"))
    first, wrong = bench.ok(kernel("US=5")), bench.rejected(kernel("WRONG"))
    before = launches(fake)
    assert bench.ok(kernel("US=5")) == first and bench.rejected(kernel("WRONG")) == wrong
    assert launches(fake) == before
    both = bench.ok(kernel("US=5"), kernel("US=20", "add_two"))  # of which one part is known
    assert both.time_us == pytest.approx(math.sqrt(5 * 20))
    assert "add_one" not in launched(fake)[before:]


def test_what_the_journal_knows_is_not_measured_again(make: Make, fake: Fake) -> None:
    first = make()
    outcome = first.ok(kernel("US=5 NOISE=0.1"))
    noted = first.timer.taken()
    assert noted == []  # they went with the candidate
    evaluated = first.timer._thread.submit(first.timer.timed, accepted(kernel("US=7")), Effort.SEARCH).result()
    first.timer.close()
    journal = [each.as_json() for each in (*first.known._found.values(),)]
    assert any(each in journal for each in evaluated.facts["measured"])
    second = make(known=Known.of(journal))
    before = launches(fake)
    assert second.ok(kernel("US=5 NOISE=0.1")) == outcome and launches(fake) == before
    assert second.timer.taken() == []


def test_measuring_again_takes_more_and_counts_for_less_patient_questions_too(make: Make, fake: Fake) -> None:
    bench = make()
    bench.ok(kernel("US=5"))
    before = launches(fake)
    final = bench.ok(kernel("US=5"), effort=Effort.FINAL)
    assert launches(fake) - before >= 2 * Effort.FINAL.least
    before = launches(fake)
    assert bench.ok(kernel("US=5")) == final and launches(fake) == before


def test_measured_survives_json() -> None:
    rejected = Rejected("fault", "on cuda:0, it faults", "k.cu:1")
    for each in (Measured(1, {"k": "a"}, Effort.SEARCH, rejected=rejected), Measured(0, {}, Effort.FINAL, (), 0.5)):
        assert Measured.from_json(each.as_json()) == each


def test_modules_of_candidates_do_not_stay_on_the_gpu(make: Make, fake: Fake) -> None:
    bench = make()
    for us in range(3, 9):
        bench.ok(kernel(f"US={us}"))
    bench.ok(kernel("US=2"))
    loads = [line for line in fake.named("load") if "US=" in line]
    assert len(loads) == 8 and len(fake.named("unload")) == 7


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_wrong_output_on_the_gpu(make: Make) -> None:
    bench = make()
    found = bench.rejected(kernel("WRONG"))
    assert found.stage == "compare" and found.reason.startswith("on cuda:0, case 'add_one': 'p' ")
    assert bench.ok(kernel("US=5")).time_us == pytest.approx(5)


@pytest.mark.parametrize(
    ("text", "stage", "says"), [("FAULT", "fault", "out-of-bounds"), ("FAILS", "launch", "not launched")]
)
def test_what_fails_on_the_gpu_alone(make: Make, text: str, stage: str, says: str) -> None:
    bench = make()
    found = bench.rejected(kernel(text))
    assert found.stage == stage and found.reason.startswith("on cuda:0, ") and says in found.reason
    assert bench.ok(kernel("US=5")).time_us == pytest.approx(5)  # and the next one meets a GPU as it should be


def test_a_candidate_that_ends_the_process_has_a_second_chance(make: Make, fake: Fake, tmp_path: Path) -> None:
    bench = make()
    starts = bench.worker.starts
    found = bench.rejected(kernel("DIE"))
    assert found.stage == "crash" and found.reason.startswith(
        "on cuda:0, the GPU's worker process ended with exit code 9"
    )
    assert bench.worker.starts >= starts + 2
    assert bench.ok(kernel("US=5")).time_us == pytest.approx(5)


def test_a_process_that_ends_once_is_nobody_s_fault(make: Make, fake: Fake, tmp_path: Path) -> None:
    mark = tmp_path / "die"
    fake.set("FAKE_CUDA_DIE", str(mark))
    bench = make()
    starts = bench.worker.starts
    mark.touch()
    assert bench.ok(kernel("US=5")).time_us == pytest.approx(5)
    assert bench.worker.starts == starts + 1 and not mark.exists()


def test_a_gpu_that_is_gone_ends_the_search_not_the_candidate(make: Make, fake: Fake) -> None:
    bench = make()
    fake.set("FAKE_CUDA_GPUS", "0")
    with pytest.raises(DeviceError, match="cuda:0 does not run the original any more") as caught:
        bench.of(kernel("DIE"))
    assert "--resume" in str(caught.value)


def test_another_gpu_than_the_run_began_on(make: Make) -> None:
    bench = make(original=None)
    bench.timer._gpu = "NVIDIA Something"
    with pytest.raises(Misuse, match="was measured on NVIDIA Something; cuda:0 is Stand-in 0"):
        bench.timer.reference(ORIGINAL)


def oracle(case: Case) -> dict[str, Any]:
    return {"p": np.arange(4, dtype=np.float32) + 1}


def with_original(text: str) -> Reference:
    return replace(ORIGINAL, code=code(kernel(text), kernel("US=40", "add_two")))


@pytest.mark.parametrize(("text", "says"), [("WRONG", "fails its own check"), ("SELDOM", "something else each time")])
def test_an_original_that_is_no_judge_on_the_gpu(make: Make, text: str, says: str) -> None:
    bench = make(adding("add_one"), original=None, oracle=oracle)
    with pytest.raises(
        Misuse, match=f"on cuda:0, the original .*{says}|on cuda:0, the original gives {says}"
    ) as caught:
        bench.timer.reference(with_original(text))
    assert "--tolerance" in str(caught.value)


def test_an_original_that_faults_on_the_gpu(make: Make) -> None:
    bench = make(original=None)
    with pytest.raises(Misuse, match="fails: fault: out-of-bounds"):
        bench.timer.reference(with_original("FAULT"))


def test_where_the_gpu_rounds_differently_variants_are_compared_with_the_original_there(make: Make) -> None:
    bench = make(adding("add_one"), original=None, oracle=oracle)
    found = bench.timer.reference(with_original("ROUNDS US=10"))
    assert "differ from what was recorded" in found.notes[-1]
    assert bench.ok(kernel("ROUNDS US=5")).time_us == pytest.approx(5)
    assert bench.rejected(kernel("US=5")).stage == "compare"


# -- beside the pool ---------------------------------------------------------------------------------------------------


def test_accepted_ones_are_measured_while_others_are_judged(make: Make) -> None:
    bench = make()
    refused = Evaluated(Rejected("order", "it races"), "other", {"trained": {"time_us": 0.1, "error": 0.0}})
    began: list[float] = []

    def judged() -> Iterator[tuple[int, Evaluated]]:
        for number, text in enumerate(("US=5", "US=6", "US=7")):
            began.append(time.monotonic())
            yield number, accepted(kernel(text))
        yield 3, refused

    found = dict(bench.timer.through(judged(), Effort.SEARCH))
    assert set(found) == {0, 1, 2, 3}
    assert began[-1] - began[0] < found[0].timings["gpu"]  # nobody waited for the GPU
    assert [round(found[n].outcome.time_us) for n in range(3)] == [5, 6, 7]  # type: ignore[union-attr]
    for number in range(3):
        outcome = found[number].outcome
        assert isinstance(outcome, Ok) and found[number].facts["trained"]["time_us"] == outcome.time_us
        assert found[number].facts["model_us"] == 0.5 and found[number].code == {}
    # What was rejected has a time of the model's only, which must not be compared with measured ones.
    assert "trained" not in found[3].facts and found[3].outcome == refused.outcome


def test_closing_ends_a_measurement(make: Make) -> None:
    bench = make(adding("add_one", times=ALIKE))
    future = bench.timer._thread.submit(bench.timer.timed, accepted(kernel("US=10 NOISE=0.9")), Effort.FINAL)
    time.sleep(0.1)
    begin = time.monotonic()
    bench.timer.close()
    assert time.monotonic() - begin < 1 and isinstance(future.exception(), Abandoned)
    assert bench.worker._process is None


# -- machine code ------------------------------------------------------------------------------------------------------


def test_ptx_without_what_only_debuggers_read() -> None:
    one = "// made\n.version 7.8\n$L__func_begin0:\n\t.loc\t1 4 0  // a.cu:4\n\n$L__tmp0:\n// %bb.0:\n\tret;  // end\n"
    other = '.version 7.8\n$L__func_begin0:\n\t.loc\t1 7 0\n\tret;\n\t.file\t1 "b.cu"\n\t.section\t.debug_x\t{\n\t}\n'
    assert canonical_ptx(one) == canonical_ptx(other) == ".version 7.8\n$L__func_begin0:\n\tret;\n"
    assert canonical_ptx(one) != canonical_ptx(one.replace("ret", "trap"))
