"""``kw tune`` on a Python file and on a CUDA program."""

from __future__ import annotations

import gc
import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from kernelwright.cli.commands.tune.command import command
from kernelwright.cli.commands.tune.subjects import Asked
from kernelwright.cli.support.compile_flags import CompileFlags
from kernelwright.cli.support.program_arguments import GivenProgram
from kernelwright.errors import Misuse
from kernelwright.versions.program import Compared
from kernelwright.versions.resolution import Times, Verdict
from kernelwright.versions.running.external_program import ExternalProgram
from kernelwright.versions.running.python_runner import run
from kernelwright.versions.running.resident_runner import ResidentRunner
from kernelwright.versions.threshold_file import read_thresholds
from tests import kw_process

PYTHON = """
import signal
import time
import numpy as np
import kernelwright as kw

def slow_start(a):
    time.sleep(0.02)
    a += 1
    return a

def slow_rows(a):
    for row in a:
        time.sleep(0.01)
        row += 1
    return a

add = kw.versions("add", [slow_start, slow_rows], by=[("a.shape[0]", ">=")])

def inputs(dataset):
    return (np.zeros((int(dataset), 4)),)
"""
CUDA = """
#include <cstdio>
#include <cstdlib>
#include <kernelwright_threshold.h>
__global__ void rows(float *a, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) for (int k = 0; k < n; k++) a[i * n + k] += 1.0f;
}
__global__ void flat(float *a, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) a[i] += 1.0f;
}
int main(int argc, char **argv) {
    int m = atoi(argv[1]), n = atoi(argv[2]), launches = atoi(argv[3]);
    float *a, last;
    cudaMalloc(&a, sizeof(float) * m * n);
    cudaMemset(a, 0, sizeof(float) * m * n);
    for (int i = 0; i < launches; i++)
        if (KW_THRESHOLD("rows", m)) rows<<<(m + 127) / 128, 128>>>(a, m, n);
        else flat<<<(m * n + 127) / 128, 128>>>(a, m * n);
    cudaMemcpy(&last, a + m * n - 1, sizeof last, cudaMemcpyDeviceToHost);
    printf("%g\\n", last);
}
"""


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs go to ``kw-runs`` there."""
    monkeypatch.chdir(tmp_path)


def test_arguments_written_in_place_are_restored_before_each_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "add.py"
    path.write_text(PYTHON + "before = []\ndef program(a):\n    before.append(float(a.sum()))\n    return add(a)\n")
    monkeypatch.delenv("KW_THRESHOLDS", raising=False)
    defined = run(path, "2", tmp_path / "outputs.npz")
    assert len(defined["before"]) > 2 and set(defined["before"]) == {0.0}
    said = capsys.readouterr().err
    assert said.startswith("Compared add.a.shape[0] <= 2: false.\nTook ")
    with np.load(tmp_path / "outputs.npz") as outputs:
        assert all((outputs[name] == 1.0).all() for name in outputs.files)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "defines no kw.versions"),
        (PYTHON.partition("def inputs")[0], "does not say what a dataset is"),
        (PYTHON + "more = kw.versions('more', [slow_rows], by=[])", "several kw.versions: add, more"),
    ],
)
def test_a_file_that_lacks_something_is_told(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "add.py"
    path.write_text(text)
    with pytest.raises(Misuse, match=said):
        run(path, "2", tmp_path / "outputs.npz")


@pytest.mark.parametrize(
    ("result", "arrays"),
    [("(a, [1.5, {'n': 2}], 'text')", 5), ("{'deep': [[float('nan')]]}", 2), ("None", 1)],
)
def test_whatever_a_version_returns_is_compared(tmp_path: Path, result: str, arrays: int) -> None:
    path = tmp_path / "add.py"
    path.write_text(PYTHON + f"def program(a):\n    add(a)\n    return {result}\n")
    run(path, "2", tmp_path / "outputs.npz")
    with np.load(tmp_path / "outputs.npz") as outputs:
        assert len(outputs.files) == arrays


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    path.write_text(PYTHON + "def program(a):\n    return object()\n")
    with pytest.raises(Misuse, match="a version returns a object, which cannot be compared"):
        run(path, "2", tmp_path / "outputs.npz")


@pytest.mark.slow
def test_versions_that_write_nan_are_excluded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In Python the version behind the guard, in CUDA C the untuned one; both end well."""
    python, cuda = tmp_path / "rows.py", tmp_path / "add.cu"
    python.write_text(PYTHON.replace("time.sleep(0.02)\n    a += 1", "a += np.nan"))
    command([str(python), "8"], runs=1, as_json_=True)
    (dataset,) = json.loads(capsys.readouterr().out)["datasets"]
    assert dataset["tuned_us"] == dataset["untuned_us"] and "= nan, expected 1.0" in dataset["failures"][0]
    cuda.write_text(CUDA.replace("a[i] += 1.0f;\n}\nint main", 'a[i] += nanf("");\n}\nint main'))
    command([str(cuda)], data=["4 200 2"], as_json_=True, device="a100")
    (dataset,) = json.loads(capsys.readouterr().out)["datasets"]
    assert dataset["untuned_us"] is None and dataset["tuned_us"] > 0 and len(dataset["failures"]) == 1


@pytest.mark.slow
def test_a_python_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "add.py"
    path.write_text(PYTHON)
    command([str(path), "1"], data=["4"], runs=1, as_json_=True)
    found = json.loads(capsys.readouterr().out)
    assert 1 < found["thresholds"]["add.a.shape[0]"] <= 4 and not found["conflicts"]
    assert all(not d["failures"] for d in found["datasets"])
    assert 0 < found["dispatch_us"]["1"] < 1000
    assert read_thresholds(tmp_path / "add.tuning") == found["thresholds"]


@pytest.mark.slow
def test_a_cuda_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On the virtual GPU times repeat, so that there is one run per threshold, and one more."""
    path = tmp_path / "add.cu"
    path.write_text(CUDA)
    command([str(path)], data=["4 2000 2", "40000 2 2"], as_json_=True, device="a100")
    found = json.loads(capsys.readouterr().out)
    assert [d["runs"] for d in found["datasets"]] == [2, 2]
    assert next(d["decisions"][0]["verdict"] for d in found["datasets"]) == "not taken"
    assert (tmp_path / "add.tuning").read_text().splitlines()[1] == "-- on a100"
    assert all(0 < found["dispatch_us"][d["name"]] < 1000 for d in found["datasets"])
    tuned = found["datasets"][0]["tuned_us"]
    # kw run takes what stands there, wherever the executable is.
    (tmp_path / "add.tuning").write_text("rows=5\n")
    for rows, taken in (("4", "false"), ("5", "true")):
        done = kw_process.kw(
            "run", str(path), "--device", "a100", "--", rows, "2", "1", env={**os.environ, "KW_TUNING": "1"}
        )
        assert f"Compared rows <= {rows}: {taken}." in done.stderr, done.stderr
    command([str(path)], output=tmp_path / "again.tuning", data=["4 2000 2"], as_json_=True, device="a100")
    assert json.loads(capsys.readouterr().out)["datasets"][0]["tuned_us"] == tuned


def test_a_program_that_is_built_in_the_cache_finds_the_thresholds_beside_its_source(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def environment(path: str) -> dict[str, str]:
        return GivenProgram.of([Path(path)], [], CompileFlags.of({}), {"device": "a100"}).environment()

    monkeypatch.delenv("KW_THRESHOLDS", raising=False)
    assert environment("app.cu") == {}
    Path("app.tuning").write_text("rows=4\n")
    assert environment("app.cu") == {"KW_THRESHOLDS": str(Path("app.tuning").absolute())}
    assert not capsys.readouterr().err
    for device, says in (("a100", False), ("l4", True)):
        Path("app.tuning").write_text(f"-- thresholds of app.cu\n-- on {device}\nrows=4\n")
        assert (
            environment("app.cu")
            and ("app.tuning was tuned on l4, and this runs on a100" in capsys.readouterr().err) == says
        )
    assert environment("./app") == {}, "which looks beside itself"
    monkeypatch.setenv("KW_THRESHOLDS", "mine")
    assert environment("app.cu") == {}


OUT_OF_MEMORY = """
#include <cstdio>
#include <cstdlib>
#include <kernelwright_threshold.h>
__global__ void twice(const float *a, float *b, long n) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n) b[i] = 2 * a[i];
}
__global__ void slowly(const float *a, float *b, long n) {
    for (long i = threadIdx.x; i < n; i += 32) b[i] = 2 * a[i];
}
static float *take(size_t bytes) {
    float *found;
    cudaError_t error = cudaMalloc(&found, bytes);
    if (error) { fprintf(stderr, "cudaMalloc of %zu bytes: %s\\n", bytes, cudaGetErrorString(error)); exit(1); }
    return found;
}
int main(int argc, char **argv) {
    long n = atol(argv[1]), copies = atol(argv[2]);
    float *a = take(4 * n), *b = take(4 * n), last;
    cudaMemset(a, 0, 4 * n);
    if (KW_THRESHOLD("elements", n)) {
        float *scratch = take(4 * n * copies);
        twice<<<(n + 127) / 128, 128>>>(a, b, n);
        cudaFree(scratch);
    } else slowly<<<1, 32>>>(a, b, n);
    cudaMemcpy(&last, b + n - 1, 4, cudaMemcpyDeviceToHost);
    printf("%g\\n", last);
}
"""


@pytest.mark.slow
def test_a_version_that_runs_out_of_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On one dataset. It counts as infinitely slow there, which is told; the other one is tuned as if nothing was."""
    path = tmp_path / "memory.cu"
    path.write_text(OUT_OF_MEMORY)
    command([str(path)], data=["20000 4", "4000 1000000000000"], as_json_=True, device="a100")
    found = json.loads(capsys.readouterr().out)
    enough, too_much = found["datasets"]
    assert enough["tuned_us"] < enough["untuned_us"] and not enough["failures"]
    assert too_much["tuned_us"] == too_much["untuned_us"] and not found["conflicts"]
    (failure,) = too_much["failures"]
    assert failure.startswith("elements=4000: ") and "cudaMalloc of 16000000000000000 bytes: out of memory" in failure
    assert 4000 < found["thresholds"]["elements"] <= 20000
    command(explain=True, output=path.with_suffix(".tuning"))
    assert f"failed: {failure}" in capsys.readouterr().out
    # Where every version fails, that dataset is left out, and told.
    command([str(path)], data=["4000000000000000 1"], as_json_=True, device="a100")
    found = json.loads(capsys.readouterr().out)
    assert found["datasets"][-1]["tuned_us"] is None and "out of memory" in found["datasets"][-1]["failures"][0]
    assert [d["tuned_us"] for d in found["datasets"][:2]] == [enough["tuned_us"], too_much["tuned_us"]]


class TestResidentRunner:
    """The process that runs a CUDA program again and again, with the program's part played by ``told``."""

    @staticmethod
    def answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *words: str, timeout: float = 20) -> list[object]:
        def told(
            device: str, executable: Path, times: Path, arguments: list[str], versions: object, kept: object
        ) -> int:
            seen = kept.__dict__.setdefault("seen", [])
            seen.append(arguments[0])
            os.write(1, f"{os.environ['GIVEN']} {len(seen)}\n".encode())
            os.write(2, b"Compared rows <= 4: false.\n")
            match arguments[0]:
                case "crash":
                    os.kill(os.getpid(), signal.SIGKILL)
                case "hang":
                    time.sleep(60)
                case "fail":
                    return 5
            times.write_text("7\n")
            return 0

        monkeypatch.setattr("kernelwright.versions.running.cuda_runner.told", told)
        monkeypatch.setenv("GIVEN", "environment")
        program = ExternalProgram(
            "cuda_runner h200 ./app {times} {data}", timeout, deterministic=True, start=ResidentRunner().start
        )
        found: list[object] = []
        for word in words:
            answer = program.answer(word, {})
            assert answer.ran.compared == (Compared("rows", 4, False),)
            ran = answer.ran
            found.append(
                str(ran.failure).partition(":")[0] if ran.failure else (ran.time_us, float(answer.output["stdout"][0]))
            )
        return found

    def test_a_process_ends_with_its_runner_whatever_others_there_are(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr("kernelwright.versions.running.cuda_runner.told", lambda *_: 4)
        command, runners = "cuda_runner h200 ./app times data", [ResidentRunner() for _ in range(3)]
        with (tmp_path / "out").open("wb") as out:
            for _ in range(2):
                assert [runner.start(command, {}, out, out).wait(20) for runner in runners] == [4, 4, 4]
        processes = [runner._process for runner in runners]
        runners.clear()
        gc.collect()
        assert [os.waitpid(process, 0)[1] for process in processes] == [0, 0, 0]

    def test_runs_share_a_process_until_one_crashes_or_hangs(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        first, second, third = (7.0, 1.0), (7.0, 2.0), (7.0, 3.0)
        assert self.answers(monkeypatch, tmp_path, "good", "good", "good") == [first, second, third]
        assert self.answers(monkeypatch, tmp_path, "good", "fail", "good") == [first, "program", third]
        assert self.answers(monkeypatch, tmp_path, "good", "crash", "good", "good") == [first, "crash", first, second]
        assert self.answers(monkeypatch, tmp_path, "hang", "good", timeout=0.5) == ["timeout", first]

    @pytest.mark.parametrize("fault", ["", "raises", "dies"])
    def test_what_is_loaded_beforehand_is_no_part_of_a_run(
        self, fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """However long it takes, and whatever comes of it."""

        def load() -> None:
            match fault:
                case "raises":
                    raise ImportError("nothing to load")
                case "dies":
                    os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(0.2)

        def told(*_: object) -> int:
            os.write(1, b"1")
            return 4

        monkeypatch.setattr("kernelwright.versions.running.cuda_runner.load", load)
        monkeypatch.setattr("kernelwright.versions.running.cuda_runner.told", told)
        runner = ResidentRunner()
        runner.load()
        assert runner._loads
        with (tmp_path / "out").open("wb") as out:
            process = runner._process
            run = runner.start("cuda_runner h200 ./app times data", {}, out, out)
            assert run.wait(20) == 4 and (runner._process == process) == (fault != "dies")
            runner.load(wait=True)
            assert runner.start("cuda_runner h200 ./app times data", {}, out, out).wait(20) == 4
        assert (tmp_path / "out").read_bytes() == b"11"

    def test_a_process_that_loads_for_nobody_says_nothing(
        self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """The command has ended: its program did not compile, say."""
        monkeypatch.setattr("kernelwright.versions.running.cuda_runner.load", lambda: time.sleep(0.3))
        runner = ResidentRunner()
        runner.load()
        process = runner._process
        runner.forget()
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
        assert capfd.readouterr() == ("", "")


def test_estimated_times_are_compared_as_finely_as_asked_for() -> None:
    """Any difference counts, unless ``--resolution`` says otherwise; measured times need a share that shows."""
    exact, coarse = (Asked("app.cu", (), resolution=share).rule(deterministic=True) for share in (None, 0.05))
    ten, other, more = Times([10.0]), Times([10.4]), Times([10.6])
    assert [rule.verdict(ten, other) for rule in (exact, coarse)] == [Verdict.FASTER, Verdict.TIE]
    assert coarse.verdict(ten, more) is Verdict.FASTER
    noisy = Asked("app.py", (), runs=7).rule(deterministic=False)
    assert (noisy.relative, noisy.most_runs) == (0.02, 7)
