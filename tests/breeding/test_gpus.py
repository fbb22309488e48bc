"""Programs on a GPU: launches, programs that a device stops, and a stand-in for a real GPU that runs PTX."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kernelwright.breeding import gpus
from kernelwright.breeding.back_end_table import back_end
from kernelwright.breeding.gpus import RealGpu, VirtualGpu
from kernelwright.breeding.kernels import Kernels
from kernelwright.breeding.program_results import Answers, answers_to
from kernelwright.breeding.surrounding_code import PTX, ptx, ptx_frame
from kernelwright.device.arena import GAP
from kernelwright.device.fault import Fault
from kernelwright.device.real_gpu.gpu import CudaLaunched
from kernelwright.device.real_gpu.worker import Job
from kernelwright.errors import ToolError
from kernelwright.evaluate.outcome import Rejected
from kernelwright.farm.backends.assembling import header
from kernelwright.farm.backends.backend import Image, Level
from kernelwright.farm.backends.bundle import Frame, bundle
from kernelwright.farm.backends.ptx import Ptx
from kernelwright.farm.bundle_runner import BundleRunner
from kernelwright.grammar import Problem, load_problem
from kernelwright.grammar.problems import path_of
from tests.breeding.programs import programs
from tests.breeding.ptx_machine import Machine

PROBLEM = Problem(
    grammar="<s> ::= y = n;",
    cases={"n": np.arange(3, dtype=np.int32)},
    answer="int y",
    individual="{}",
    fitness=lambda y: float(y.sum()),
)


@dataclass(frozen=True)
class Numbers:
    """A back end whose individuals are numbers, and whose image lists them."""

    language: Any = "ptx"
    batch: tuple[int, int] = (1, 100)

    def missing(self) -> str:
        return ""

    def fingerprint(self) -> str:
        return ""

    def compile(self, population: Sequence[str], frame: Frame, level: Level = "quick") -> Image:
        return Image("cubin", " ".join(population).encode(), tuple(("population0", n) for n in range(len(population))))


class Faulty:
    """A GPU on which a program's answers are its number; a negative one faults, unless it is skipped."""

    arch = ""

    def __init__(self, *, skips: bool, names: bool = True) -> None:
        self.skips, self.names = skips, names
        self.launches = 0

    def load(self, image: Image) -> None:
        self.numbers = [int(each) for each in image.data.split()]

    def launch(self, kernel: str, grid: tuple[int, int], threads: int, arrays: Sequence[NDArray[Any]]) -> Fault | None:
        answers, marks, n = arrays
        assert grid == (1, len(self.numbers)) and threads == 3 and not n.flags.writeable
        self.launches += 1
        for slot, number in enumerate(self.numbers):
            if number < 0 and not (self.skips and marks[slot]):
                return Fault("trap", "it trapped", kernel, block=(0, slot, 0) if self.names else None)
            answers[slot] = number
            if number == 13:
                marks[slot, 1:] = 2
        return None

    def close(self) -> None:
        pass


def answered(gpu: Faulty, numbers: Sequence[int]) -> list[Any]:
    runner = BundleRunner(Numbers(), Frame("ptx"), str, Kernels(PROBLEM, gpu, skips=gpu.skips))
    found: list[Answers] = answers_to(runner, [str(each) for each in numbers])
    return [each.stage if isinstance(each, Rejected) else each.tolist() for each in found]


@pytest.mark.parametrize("skips", [True, False])
def test_a_program_that_a_device_stops_harms_no_other(skips: bool) -> None:
    gpu = Faulty(skips=skips)
    assert answered(gpu, [5, -1, 7, -2]) == [[5] * 3, "fault", [7] * 3, "fault"]
    assert gpu.launches == 3


@pytest.mark.parametrize("skips", [True, False])
def test_where_a_device_does_not_say_which_all_of_the_kernel_are_rejected(skips: bool) -> None:
    assert answered(Faulty(skips=skips, names=False), [5, -1]) == ["fault", "fault"]


def test_what_programs_mark_is_their_fault() -> None:
    (found,) = answers_to(
        BundleRunner(Numbers(), Frame("ptx"), str, Kernels(PROBLEM, Faulty(skips=False), skips=False)), ["13"]
    )
    assert isinstance(found, Rejected) and "outside of its array" in found.reason


def test_images_of_another_kind_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "require_gpu", lambda _: None)
    with pytest.raises(ToolError, match="a cubin does not run on a virtual GPU"):
        VirtualGpu().load(Image("cubin", b"", ()))
    with pytest.raises(ToolError, match="ir does not run on a GPU"):
        RealGpu().load(Image("ir", b"", ()))


# -- a real GPU, but for the machine code ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Unassembled(Ptx):
    """PTX where machine code would be."""

    def compile(self, population: Sequence[str], frame: Frame, level: Level = "quick") -> Image:
        made = bundle(frame, population, header=header(self.arch))
        return Image("cubin", made.text.encode(), made.places, self.arch)


class StandIn:
    """In the place of the process that owns a GPU."""

    def __init__(self, ordinal: int, *, exclusive: bool) -> None:
        assert ordinal == 0 and not exclusive
        self.loaded: list[bytes] = []

    def info(self) -> Any:
        return type("Info", (), {"arch": "sm_80"})

    def forget(self, images: Sequence[Any]) -> None:
        self.loaded = [each for each in self.loaded if each not in [image.data for image in images]]

    def run(self, job: Job, buffers: Sequence[tuple[int, bytes]]) -> tuple[CudaLaunched, dict[int, bytes]]:
        self.loaded = list(dict.fromkeys([*self.loaded, job.image.data]))
        assert len(self.loaded) == 1 and ".target sm_80" in job.image.data.decode()
        ends = [address + len(data) for address, data in buffers]
        assert all(b - a >= GAP for a, (b, _) in zip(ends, buffers[1:], strict=False))
        addresses = struct.unpack(f"<{len(buffers)}Q", job.launch.parameters)
        memory = {str(address): np.frombuffer(data, np.int32).tolist() for address, data in buffers}
        machine = Machine(job.image.data.decode(), {})
        machine.launch(
            job.launch.kernel, job.launch.grid[:2], job.launch.block[0], [str(each) for each in addresses], memory
        )
        after = {int(name): np.array(values, np.int64).astype(np.int32).tobytes() for name, values in memory.items()}
        return CudaLaunched(job.launch, None), after

    def close(self) -> None:
        pass


def test_cubins_are_run_in_the_gpus_own_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "require_gpu", lambda _: None)
    monkeypatch.setattr(gpus, "CudaWorker", StandIn)
    problem = load_problem(path_of("search"))
    row = replace(back_end("ptx"), compiler=Unassembled)
    assert row.language == PTX and ptx_frame(problem).language == "ptx"
    texts = [text for text in programs(problem, 40, seed=5) if len(ptx(problem, text)) < 3000]
    runner = row.runner(problem)
    expected = answers_to(back_end("interpreted").runner(problem), texts)
    for _ in range(2):
        for mine, other in zip(answers_to(runner, texts), expected, strict=True):
            assert not isinstance(mine, Rejected) and not isinstance(other, Rejected)
            assert mine.tolist() == other.tolist()
    runner.close()
