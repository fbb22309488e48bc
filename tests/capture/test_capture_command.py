"""``kw capture`` and ``kw replay``: a program recorded, run again in process, compared; and files that are no recording."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.evaluate.capture.capture import Capture
from kernelwright.evaluate.capture.replay import replay
from kernelwright.evaluate.judging.case_runner import by_kernel
from kernelwright.ir import parse_module
from tests.check.conftest import kw

PROGRAM = """
#include <cstdio>
#include <cstdlib>
__constant__ float factor[2];
__device__ int calls;
__global__ void scale(float *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= factor[1];
    if (i == 0)
        calls++;
}
template <typename T> __global__ void add(const T *a, T *b, T c) { b[threadIdx.x] += a[threadIdx.x] + c; }
int main(int count, char **words)
{
    const int n = 40000;
    static float values[n], host[2] = {1, 3};
    float *p, *q, *managed;
    cudaMalloc(&p, sizeof values);
    cudaMalloc(&q, 64 * sizeof(float));
    cudaMallocManaged(&managed, 64 * sizeof(float));
    for (int i = 0; i < n; i++)
        values[i] = i;
    cudaMemcpy(p, values, sizeof values, cudaMemcpyHostToDevice);
    cudaMemset(q, 0, 64 * sizeof(float));
    cudaMemcpyToSymbol(factor, host, sizeof host);
    for (int i = 0; i < 3; i++)
        scale<<<n / 256 + 1, 256>>>(p, n);
    for (int i = 0; i < 64; i++)
        managed[i] = 2;
    add<float><<<1, 64>>>(p, q, 1.0f);
    add<float><<<1, 64>>>(managed, q, 1.0f);
    cudaMemcpy(values, q, 64 * sizeof(float), cudaMemcpyDeviceToHost);
    FILE *f = fopen("out.txt", "w");
    fprintf(f, "%g %s\\n", values[2], count > 1 ? words[1] : "-");
    fclose(f);
    printf("%g\\n", values[2]);
    return 7;
}
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``app.capture`` in a folder with the program that it records."""
    folder = tmp_path_factory.mktemp("capture")
    (folder / "app.cu").write_text(PROGRAM)
    done = kw("capture", "app.cu", "-o", "app.capture", "--", "word", cwd=folder)
    assert (done.returncode, done.stdout) == (7, "58\n"), done.stderr
    assert "5 launches of 2 kernels in app.capture" in done.stderr
    assert sorted(p.name for p in folder.iterdir()) == ["app.capture", "app.cu", "out.txt"]
    return folder / "app.capture"


def test_the_recording_tells_the_whole_story(recorded: Path) -> None:
    with Capture.read(recorded) as capture:
        assert capture.kernels == ("_Z5scalePfi", "_Z3addIfEvPKT_PS0_S0_")
        assert [each.launch.grid[0] for each in capture.launches] == [157, 157, 157, 1, 1]
        assert capture.program.argv == ("./app", "word") and capture.program.device
        assert capture.ending is not None and capture.ending.exit_code == 7
        assert list(capture.ending.outputs) == ["out.txt"]
        operations = [o.kind for o in capture.launches[0].operations]
        assert operations.count("allocate") == 3 and operations.count("write") == 2 and "fill" in operations
        assert [o.kind for o in capture.last_operations] == ["read"]
        (variables,) = (m.variables for m in capture.modules.values())
        assert {"factor", "calls"} <= set(variables)
        before, after = (dict(capture.buffers(3, when)) for when in ("before", "after"))
        changed = {b.name for b in after if before[b] != after[b]}
        assert changed == {"device allocation 2"}


def test_contents_are_written_once(recorded: Path) -> None:
    """Three times 160,000 bytes change; everything else is there once, compressed."""
    assert recorded.stat().st_size < 4 * 160_000


def test_replay_repeats_every_launch(recorded: Path) -> None:
    done = kw("replay", str(recorded))
    assert done.returncode == 0, done.stderr
    assert "scale: 3 of 3 launches as recorded" in done.stdout
    assert "add<float>: 2 of 2 launches as recorded" in done.stdout


def test_replay_of_one_kernel_as_json(recorded: Path) -> None:
    done = kw("replay", str(recorded), "--kernel", "add", "--json")
    told = json.loads(done.stdout)
    assert [row["number"] for row in told["launches"]] == [3, 4] and done.returncode == 0
    assert all(row["as_recorded"] and row["error"] == 0 and row["kernel"] == "add<float>" for row in told["launches"])


def test_the_virtual_gpu_finds_a_changed_kernel_out(recorded: Path) -> None:
    with Capture.read(recorded) as capture:
        (name,) = capture.modules
        text = capture.ir(name)
        assert text.count("fmul") == 1
        run = VirtualGpu().run
        for changed, right in ((text, True), (text.replace("fmul", "fadd"), False)):
            done = list(replay(capture, run, kernel="scale", modules=by_kernel(parse_module(changed))))
            assert [one.as_recorded for one in done] == [right] * 3, list(map(str, done))


def test_the_same_start_and_another_end(recorded: Path, tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(PROGRAM.replace("p[i] *= factor[1]", "p[i] *= factor[1] + (i == 77)"))
    assert kw("capture", "app.cu", cwd=tmp_path).returncode == 7
    with Capture.read(tmp_path / "app.capture") as other, Capture.read(recorded) as capture:
        assert other.launches[0].after != capture.launches[0].after
        assert other.launches[0].before == capture.launches[0].before


def test_damaged_and_foreign_files(recorded: Path, tmp_path: Path) -> None:
    data = recorded.read_bytes()
    spoiled = bytearray(data)
    spoiled[len(data) // 3] ^= 0xFF
    cases = {
        "empty.capture": (b"", 2, "no capture file"),
        "text.capture": (b"#include <cstdio>\n", 2, "no capture file"),
        "cut.capture": (data[: len(data) // 2], 3, "ends in the middle"),
        "spoiled.capture": (bytes(spoiled), 3, "damaged"),
    }
    for name, (content, code, says) in cases.items():
        (tmp_path / name).write_bytes(content)
        done = kw("replay", str(tmp_path / name))
        assert done.returncode == code and says in done.stderr and "Traceback" not in done.stderr, name
        assert done.stderr.startswith("kw: ") and done.stderr.count("\n") <= 2


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["replay", "missing.capture"], 2, "missing.capture cannot be read"),
        (["replay", "{capture}", "--kernel", "nothing"], 2, "records no launch of 'nothing'"),
        (["replay", "{capture}", "--compare", "roughly"], 2, "roughly"),
        (["replay", "{capture}", "--budget", "0"], 2, "--budget 0"),
        (["capture", "app.cu", "-o", "nowhere/app.capture"], 2, "no folder nowhere"),
        (["capture", "app.cu", "-o", "app.cu"], 2, "overwrite the program"),
        (["capture", "missing.cu"], 2, "missing.cu"),
    ],
)
def test_misuse(recorded: Path, arguments: list[str], code: int, says: str) -> None:
    done = kw(*(a.format(capture=recorded) for a in arguments), cwd=recorded.parent)
    assert done.returncode == code and says in done.stderr and "Traceback" not in done.stderr


def test_a_program_without_kernels_and_one_that_faults(tmp_path: Path) -> None:
    (tmp_path / "none.cu").write_text("int main() { cudaFree(0); return 0; }\n")
    done = kw("capture", "none.cu", cwd=tmp_path)
    assert done.returncode == 1 and "launched no kernel" in done.stderr and not list(tmp_path.glob("*capture"))
    fault = (
        "__global__ void k(int *p) { p[threadIdx.x] = 1; }\nint main() { k<<<1, 32>>>(0); cudaDeviceSynchronize(); }\n"
    )
    (tmp_path / "fault.cu").write_text(fault)
    assert kw("capture", "fault.cu", "-o", "f.capture", cwd=tmp_path).returncode == 0
    done = kw("replay", "f.capture", cwd=tmp_path)
    assert done.returncode == 0 and "1 of 1 launches as recorded" in done.stdout


def test_an_interrupted_program_leaves_its_launches(tmp_path: Path) -> None:
    source = PROGRAM.replace("return 7;", "kill(getppid(), SIGINT); while (1) pause();")
    source = "#include <csignal>\n#include <unistd.h>\n" + source
    (tmp_path / "app.cu").write_text(source)
    try:
        done = kw("capture", "app.cu", "-o", "app.capture", cwd=tmp_path)
    except subprocess.TimeoutExpired:
        pytest.fail("Ctrl-C did not end the recording")
    assert done.returncode == 130, done.stderr
    assert not list(tmp_path.glob(".app*"))
    with Capture.read(tmp_path / "app.capture", partial=True) as capture:
        assert len(capture.launches) == 5 and not capture.complete
