"""The best compile flags of a program, found before any edit."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelwright.evaluate.judging.demands import Demands
from kernelwright.evaluate.workload.subject import PythonFile
from kernelwright.evolution.flag_sets import Texts
from kernelwright.passes.options import PassOptions
from kernelwright.pipeline import CompileOptions
from kernelwright.pipeline import compile as compile_program
from kernelwright.stories import flags
from kernelwright.stories.flags import best_flags

KERNEL = """
__global__ void series(const float *in, float *out) {
    int i = blockIdx.x * 32 + threadIdx.x;
    float sum = in[i];
    for (int k = 0; k < 100; ++k) sum = sum * in[k % 32] + k;
    out[i] = sum;
}
"""
WORKLOAD = """
from pathlib import Path
import numpy as np
from kernelwright.evaluate import Case, Workload

case = Case(grid=(1,), block=(32,), arguments={"in": np.linspace(0, 1, 32, dtype=np.float32), "out": np.zeros(32, np.float32)})
workload = Workload(Path(__file__).with_name("series.cu"), "series", cases=(case,))
"""
FEW = (PassOptions.parse("-O3 unroll=2000"), PassOptions.parse("-O3 unroll=3000"))


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "series.cu").write_text(KERNEL)
    (tmp_path / "series.py").write_text(WORKLOAD)
    monkeypatch.setattr(flags, "single_changes", lambda given: list(FEW))
    yield tmp_path / "series.cu"


def test_flags_that_pay_are_found_and_programs_that_are_the_same_judged_once(source: Path) -> None:
    def compiled(passes: PassOptions) -> Texts:
        unit = compile_program(source, options=CompileOptions(passes=passes)).units[0]
        return {kernel.name: unit.optimised for kernel in unit.module.kernels}

    subject = PythonFile(str(source.with_suffix(".py")))
    heard: list[int] = []
    choice, texts = best_flags(subject, PassOptions(), compiled, Demands("any"), "h200", 1, heard.append)
    assert heard == [1]
    assert choice.spelled == "--threshold unroll=2000" and choice.speedup > 1.1
    assert choice.tried == 1, "unrolled wholly either way: the same program"
    assert texts == compiled(PassOptions.parse("-O3 unroll=2000"))
    assert f"{choice.speedup:.3f}x" in str(choice) and "without any edit" in str(choice)


def test_where_nothing_pays_the_given_flags_stay(source: Path) -> None:
    given = PassOptions()

    def compiled(passes: PassOptions) -> Texts:
        unit = compile_program(source, options=CompileOptions(passes=given)).units[0]
        return {kernel.name: unit.optimised for kernel in unit.module.kernels}

    choice, texts = best_flags(
        PythonFile(str(source.with_suffix(".py"))), given, compiled, Demands("any"), "h200", jobs=1
    )
    assert (choice.spelled, choice.speedup, choice.tried, dict(texts)) == ("", 1.0, 0, {})
