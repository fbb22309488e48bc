"""The whole program with other kernels in it: exchanged where guards hold, its files and what it prints compared."""

from __future__ import annotations

import os
import re
import shutil
import socket
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from kernelwright.edits import Gene
from kernelwright.edits.kinds.constant_condition import ConstantCondition
from kernelwright.edits.kinds.fix_launch import FixArgument
from kernelwright.errors import Misuse, ToolError
from kernelwright.evaluate.judging import program_folder, whole_program
from kernelwright.evaluate.judging.program_outputs import COMPARED, StableOutputs
from kernelwright.evaluate.judging.variant import Built
from kernelwright.evaluate.judging.whole_program import Program, WholeProgram
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.workload.rule_text import Rules, parse_rules
from kernelwright.evolution.genomes import GENOMES, GenomeBuilder
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

int main(int count, char **words)
{
    int n;
    FILE *in = fopen(count > 1 ? words[1] : "n.txt", "r");
    if (!in || fscanf(in, "%d", &n) != 1)
        return 3;
    float *out;
    cudaMallocManaged(&out, n * sizeof(float));
    cudaEvent_t before, after;
    float ms;
    cudaEventCreate(&before);
    cudaEventCreate(&after);
    cudaEventRecord(before);
    fill<<<(n + 63) / 64, 64>>>(out, n, 0.25f);
    cudaEventRecord(after);
    cudaDeviceSynchronize();
    cudaEventElapsedTime(&ms, before, after);
    printf("it took %g ms\\n", ms);
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
    build_executable(compile_program([folder / "app.cu"]), [], folder / "app")
    return Program(str(folder / "app"), (), str(folder / "inputs"))


@pytest.fixture(scope="module")
def builder(program: Program) -> GenomeBuilder:
    (unit,) = compile_program([Path(program.executable).with_name("app.cu")]).units
    return GENOMES.builder({k.name: unit.module for k in unit.module.kernels}, "sm_90")


def judged(program: Program, builder: GenomeBuilder, *genes: Gene, rules: str = "exact") -> Ok | Rejected:
    variant = builder.build(genes)
    outcome = WholeProgram(program, "h200", parse_rules(rules)).judge(
        {g.kernel: variant.kernels[g.kernel] for g in genes}
    )
    assert isinstance(outcome, Ok | Rejected)
    return outcome


def kernel(builder: GenomeBuilder) -> str:
    return next(iter(builder.originals))


def test_the_original_agrees_with_itself_but_for_the_time(program: Program) -> None:
    outcome = WholeProgram(program, "h200", Rules()).judge({})
    assert isinstance(outcome, Ok) and outcome.error == 0.0 and outcome.metrics[COMPARED] > 0
    assert sorted(p.name for p in Path(program.folder).iterdir()) == ["n.txt"]  # the inputs are left alone


@pytest.mark.parametrize(
    ("found", "seeds", "accepted", "runs"),
    [("seed 5\nsum 42\n", "7", True, 1), ("seed 5\nsum 42\n", "1", False, 2), ("seed 5\nsum 43\n", "123456", False, 5)],
)
def test_what_two_runs_agree_on_by_chance_is_not_held_against_a_variant(
    program: Program, monkeypatch: pytest.MonkeyPatch, found: str, seeds: str, accepted: bool, runs: int
) -> None:
    """Both runs began in the same second, from which the program takes its random numbers; the variant's did not."""
    whole = WholeProgram(program, "h200", Rules())
    whole._expected = StableOutputs.of({"stdout": b"seed 1\nsum 42\n"}, {"stdout": b"seed 1\nsum 42\n"})
    made: list[bytes] = []

    def run(kernels: Mapping[str, Built]) -> whole_program._Whole:
        if kernels:
            return whole_program._Whole({"stdout": found.encode()}, exchanged=1)
        made.append(f"seed {seeds[len(made) % len(seeds)]}\nsum 42\n".encode())
        return whole_program._Whole({"stdout": made[-1]})

    monkeypatch.setattr(whole, "_run", run)
    outcome = whole.judge({"fill": Built("fill", "", "")})
    assert isinstance(outcome, Ok) == accepted and len(made) == runs


def test_a_wrong_kernel_is_noticed(program: Program, builder: GenomeBuilder) -> None:
    user = next(user for user, _ in builder.originals[kernel(builder)].slots["i1"])
    outcome = judged(program, builder, Gene(kernel(builder), ConstantCondition(user, 0, False)))
    outcomes = {
        judged(program, builder, Gene(kernel(builder), ConstantCondition(user, 0, flag))) for flag in (True, False)
    }
    assert outcome in outcomes and any(isinstance(each, Rejected) for each in outcomes)


def test_a_constant_that_is_right_passes_and_a_wrong_one_is_not_used(program: Program, builder: GenomeBuilder) -> None:
    right = judged(program, builder, Gene(kernel(builder), FixArgument(1, "i32 100")))
    assert isinstance(right, Ok) and right.error == 0.0
    with pytest.raises(Misuse, match="none of its launches meets the guards"):  # so nothing is known of it
        judged(program, builder, Gene(kernel(builder), FixArgument(1, "i32 99")))


def test_a_read_past_a_buffer_that_the_original_has_not(program: Program, builder: GenomeBuilder) -> None:
    (built,) = builder.build(()).kernels.values()
    (pointer,) = re.findall(r"define .*@\w+\(ptr .*?(%[\w.]+),", built.text)
    reads = f"  %b = getelementptr i8, ptr {pointer}, i64 -4\n  %past = load volatile i32, ptr %b\n  ret void"
    changed = Built(built.kernel, built.text.replace("  ret void", reads, 1), "changed")
    outcome = WholeProgram(program, "h200", Rules()).judge({built.kernel: changed})
    assert isinstance(outcome, Rejected) and outcome.stage == "fault"
    assert "reads past a buffer in fill" in outcome.reason and "where the original does not" in outcome.reason


def test_data_outside_of_its_folder(program: Program, builder: GenomeBuilder, tmp_path: Path) -> None:
    """As Rodinia's programs are run: in a folder of their own, on data that lie beside it."""
    work = tmp_path / "work"
    work.mkdir()
    shutil.copy(Path(program.folder) / "n.txt", tmp_path)
    whole = WholeProgram(Program(program.executable, ("../n.txt",), str(work)), "h200", Rules())
    assert isinstance(whole.judge({}), Ok)
    there = replace(program, arguments=("../n.txt",), folder=str(work))
    assert isinstance(judged(there, builder, Gene(kernel(builder), FixArgument(1, "i32 100"))), Ok)


def test_kernels_that_the_program_does_not_launch(program: Program, builder: GenomeBuilder) -> None:
    (built,) = builder.build(()).kernels.values()
    with pytest.raises(Misuse, match="launches none of the changed kernels"):
        WholeProgram(program, "h200", Rules()).judge({"another": built})


def test_pipes_and_sockets_in_its_folder_are_left_out(program: Program, tmp_path: Path) -> None:
    shutil.copytree(program.folder, tmp_path / "in" / "deep")
    shutil.copy(Path(program.folder) / "n.txt", tmp_path / "in")
    os.mkfifo(tmp_path / "in" / "deep" / "pipe")
    (tmp_path / "in" / "nowhere").symlink_to(tmp_path / "gone")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "in" / "socket"))
        there = Program(program.executable, (), str(tmp_path / "in"))
        assert there.trouble == ""
        assert isinstance(WholeProgram(there, "h200", Rules()).judge({}), Ok)


def test_installed_packages_and_history_beside_a_program_are_not_copied(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "in"
    shutil.copytree(program.folder, folder)
    files = sum(path.is_file() for path in folder.rglob("*"))
    monkeypatch.setattr(program_folder, "MOST_FILES", files)
    for name in (".venv", ".git"):
        (folder / name / "deep").mkdir(parents=True)
        (folder / name / "deep" / "file").touch()
    assert Program(program.executable, (), str(folder)).trouble == ""
    program_folder.copy_folder(str(folder), tmp_path / "copy")
    assert sorted(os.listdir(tmp_path / "copy")) == sorted(os.listdir(program.folder))
    (folder / "more").touch()
    assert "too large" in Program(program.executable, (), str(folder)).trouble


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied", "/data/secret.bin"), None])
def test_a_folder_that_cannot_be_copied(
    program: Program, monkeypatch: pytest.MonkeyPatch, error: OSError | None
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error or shutil.Error([("/data/secret.bin", "/tmp/x", "Permission denied"), ("b", "c", "d")])

    monkeypatch.setattr(shutil, "copytree", refuse)
    whole = WholeProgram(program, "h200", Rules())
    with pytest.raises(ToolError) as caught:
        whole.judge({})
    assert caught.value.message == "its folder cannot be copied: /data/secret.bin"


def test_what_cannot_run_again_says_why(program: Program, tmp_path: Path) -> None:
    assert program.trouble == ""
    assert "not there any more" in Program(str(tmp_path / "gone"), (), program.folder).trouble
    assert "not there any more" in Program(program.executable, (), str(tmp_path / "gone")).trouble
    with pytest.raises(Misuse, match="does not run again"):
        WholeProgram(Program(program.executable, (), str(tmp_path)), "h200", Rules())
