"""The whole program with other kernels in it: exchanged where guards hold, its files and what it prints compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.edits import ConstantCondition, FixArgument, Gene
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.rules import Rules, parse_rules
from kernelwright.evaluate.variant import Builder
from kernelwright.evaluate.whole import Program, WholeProgram
from kernelwright.executable import build_executable
from kernelwright.pipeline import compile as compile_program

APP = """
#include <cstdio>
#include <ctime>

__global__ void fill(float *out, int n, float value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = value + i;
}

int main()
{
    int n;
    FILE *in = fopen("n.txt", "r");
    if (!in || fscanf(in, "%d", &n) != 1)
        return 3;
    float *out;
    cudaMallocManaged(&out, n * sizeof(float));
    fill<<<(n + 63) / 64, 64>>>(out, n, 0.25f);
    cudaDeviceSynchronize();
    FILE *file = fopen("out.bin", "wb");
    fwrite(out, sizeof(float), n, file);
    fclose(file);
    printf("the sum of two is %g\\n", out[0] + out[n - 1]);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    file = fopen("when.txt", "w");
    fprintf(file, "%ld\\n", now.tv_nsec);
    fclose(file);
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("whole")
    (folder / "app.cu").write_text(APP)
    (folder / "inputs").mkdir()
    (folder / "inputs" / "n.txt").write_text("100")
    build_executable(compile_program([folder / "app.cu"]), [], folder / "app", (), lambda said: None)
    return Program(str(folder / "app"), (), str(folder / "inputs"))


@pytest.fixture(scope="module")
def builder(program: Program) -> Builder:
    (unit,) = compile_program([Path(program.executable).with_name("app.cu")]).units
    return Builder.of({k.name: unit.module for k in unit.module.kernels}, "sm_90")


def judged(program: Program, builder: Builder, *genes: Gene, rules: str = "exact") -> Ok | Rejected:
    variant = builder.build(genes)
    outcome = WholeProgram(program, "h200", parse_rules(rules)).judge(
        {g.kernel: variant.kernels[g.kernel] for g in genes}
    )
    assert isinstance(outcome, Ok | Rejected)
    return outcome


def kernel(builder: Builder) -> str:
    return next(iter(builder.originals))


def test_the_original_agrees_with_itself_but_for_the_time(program: Program) -> None:
    assert WholeProgram(program, "h200", Rules()).judge({}) == Ok(0.0, 0.0)
    assert sorted(p.name for p in Path(program.folder).iterdir()) == ["n.txt"]  # the inputs are left alone


def test_a_wrong_kernel_is_noticed(program: Program, builder: Builder) -> None:
    user = next(user for user, _ in builder.originals[kernel(builder)].slots["i1"])
    outcome = judged(program, builder, Gene(kernel(builder), ConstantCondition(user, 0, False)))
    outcomes = {
        judged(program, builder, Gene(kernel(builder), ConstantCondition(user, 0, flag))) for flag in (True, False)
    }
    assert outcome in outcomes and any(isinstance(each, Rejected) for each in outcomes)


def test_a_constant_that_is_right_passes_and_a_wrong_one_is_not_used(program: Program, builder: Builder) -> None:
    for value in ("i32 100", "i32 99"):  # the guard of the second never holds
        assert judged(program, builder, Gene(kernel(builder), FixArgument(1, value))) == Ok(0.0, 0.0)


def test_what_cannot_run_again_says_why(program: Program, tmp_path: Path) -> None:
    assert program.trouble == ""
    assert "not there any more" in Program(str(tmp_path / "gone"), (), program.folder).trouble
    assert "not there any more" in Program(program.executable, (), str(tmp_path / "gone")).trouble
    with pytest.raises(Misuse, match="does not run again"):
        WholeProgram(Program(program.executable, (), str(tmp_path)), "h200", Rules())
