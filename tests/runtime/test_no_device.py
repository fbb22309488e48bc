"""Programs where there is no device: they start, register, report, and every call says so as CUDA does."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from kernelwright.cuda.clang import HEADERS, Clang
from kernelwright.cuda.runtime_library import static_runtime

from .conftest import Builder, run

API = "".join((HEADERS / name).read_text() for name in ("cuda_runtime_api.h", "kernelwright/graph_api.h"))
PROTOTYPE = re.compile(
    r"^(?:cudaError_t|const char \*|struct \w+|void|void \*\*|unsigned int) ?\**(\w+)\(([^;]*)\);", re.M
)

NO_DEVICE = "cudaErrorNoDevice"
# What needs no device, and what is said of arguments that are all zero.
OTHER: dict[str, str] = {
    "cudaGetLastError": "cudaSuccess",
    "cudaPeekAtLastError": "cudaSuccess",
    "cudaDriverGetVersion": "cudaErrorInvalidValue",
    "cudaRuntimeGetVersion": "cudaErrorInvalidValue",
    "cudaGetDeviceCount": "cudaErrorInvalidValue",
    **dict.fromkeys(
        (
            "cudaGraphDestroy",
            "cudaGraphClone",
            "cudaGraphGetNodes",
            "cudaGraphGetRootNodes",
            "cudaGraphNodeGetType",
            "cudaGraphExecDestroy",
            "cudaThreadExchangeStreamCaptureMode",
        ),
        "cudaErrorInvalidValue",
    ),
}


def functions() -> dict[str, list[str]]:
    """Name -> its parameters, of every function of the header that returns an error."""
    found = {}
    for name, parameters in PROTOTYPE.findall(
        re.sub(r"KW_DEFAULT\(((?:[^()]|\([^()]*\)|\(\([^()]*\)[^()]*\))*)\)", "", API)
    ):
        returns_error = re.search(rf"^cudaError_t {name}\(", API, re.M)
        if returns_error and not name.startswith("__"):
            found[name] = [] if parameters == "void" else [p.strip() for p in parameters.split(",")]
    return found


def caller() -> str:
    """A C program that calls each function with zeros and prints what it says."""
    lines = ["#include <stdio.h>", "#include <cuda_runtime_api.h>", "int main(void) {"]
    for name, parameters in functions().items():
        declared = "".join(f" {p} = {{0}};" for p in parameters)
        names = ", ".join(re.findall(r"\w+$", p)[0] for p in parameters)
        lines.append(
            f'  {{{declared} cudaGetLastError(); printf("{name} %s\\n", cudaGetErrorName({name}({names}))); }}'
        )
    return "\n".join([*lines, "  return 0; }"])


@pytest.fixture(scope="module")
def said(builder: Builder) -> dict[str, str]:
    ran = run(builder.program({"every.c": caller()}))
    assert ran.status == 0, ran.err
    return dict(line.split() for line in ran.lines)


def test_every_function_is_there(said: dict[str, str]) -> None:
    assert len(said) > 110
    assert set(said) == set(functions())


@pytest.mark.parametrize("name", functions())
def test_every_function_says_that_there_is_no_device(said: dict[str, str], name: str) -> None:
    assert said[name] == OTHER.get(name, NO_DEVICE)


def test_the_library_has_what_the_header_declares_and_nothing_else(clang: Clang) -> None:
    declared = set(re.findall(r"\b((?:__)?cuda[A-Z]\w*)\(", re.sub(r"/\*.*?\*/", "", API, flags=re.S)))
    # Called by compiled host code; the compiler declares them itself.
    by_compiler = {"__cudaRegisterFunction", "__cudaRegisterVar", "__cudaRegisterTexture"}
    assert static_runtime().exports == declared | by_compiler | of_libraries(clang)


def of_libraries(clang: Clang) -> set[str]:
    """What the headers of cuBLAS, cuFFT, cuRAND, cuSOLVER, cuSPARSE, NCCL, the driver API and NVRTC declare for C++, their macros expanded."""
    command = [*clang.command, *clang.header_flags, "-isystem", str(HEADERS), "-x", "c++", "-E", "-P", "-"]
    text = subprocess.run(
        command,
        input="#include <cublas.h>\n#include <cublasLt.h>\n#include <cufftXt.h>\n#include <curand.h>\n#include <cusparse.h>\n#include <cusolverDn.h>\n#include <nccl.h>\n#include <cuda.h>\n#include <nvrtc.h>\n",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    # Those with 64-bit numbers are made of others, in the header.
    of_status = r"(?<!static inline )\b(?:cu(?:blas|solver|sparse)Status_t|cufftResult|curandStatus_t|cusparse\w+_t|cublasHandle_t|size_t|char \*) ?(cu(?:blas|fft|rand|solver|sparse)\w+)\("
    found = set(re.findall(of_status, text))
    return found | set(
        re.findall(
            r"^(?:CUresult|nvrtcResult|ncclResult_t|const char \*)\s?(cu[A-Z]\w+|nvrtc\w+|nccl\w+)\(", text, re.M
        )
    )


BASIC = """
#include <stdio.h>
#include <cuda_runtime_api.h>
int main(void) {
    int n = -1, version = -1; void *p = (void *)1; cudaError_t e;
    e = cudaGetDeviceCount(&n); printf("%d %d\\n", e, n);
    e = cudaRuntimeGetVersion(&version); printf("%d %d\\n", e, version);
    e = cudaDriverGetVersion(&version); printf("%d %d\\n", e, version);
    e = cudaMalloc(&p, 4); printf("%d %s\\n", e, cudaGetErrorString(e));
    printf("%d %d %d\\n", cudaPeekAtLastError(), cudaGetLastError(), cudaGetLastError());
    printf("%s; %s\\n", cudaGetErrorName((cudaError_t)12345), cudaGetErrorString((cudaError_t)12345));
    struct cudaChannelFormatDesc d = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    printf("%d %d\\n", d.x, d.f);
    return 0;
}
"""


def test_what_a_careful_program_prints(builder: Builder) -> None:
    ran = run(builder.program({"basic.c": BASIC}))
    assert ran.lines == [
        "100 0",
        "0 12080",
        "0 0",
        "100 no CUDA-capable device is detected",
        "100 100 0",
        "unrecognized error code; unrecognized error code",
        "32 2",
    ]
    assert ran.err == ""


# ---- registration and the report ----

KERNELS = """
#include <cstdio>
#include <vector>
struct Pair { char tag; double value; };
__constant__ float table[16];
__device__ int counter;
__managed__ int shared_count = 42;
template <class T> __global__ void scale(T *data, T factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= factor * (T)table[i % 16];
}
__global__ void __launch_bounds__(128) mixed(char a, Pair pair, int *out) { *out = a + pair.tag + counter + shared_count; }
int main() {
    std::vector<float> host(16, 2.0f);
    float *device = nullptr;
    printf("%d %d\\n", shared_count, cudaMalloc(&device, 64));
    printf("%d\\n", cudaMemcpyToSymbol(table, host.data(), 64));
    scale<float><<<1, 32>>>(device, 2.0f, 16);
    printf("%s\\n", cudaGetErrorName(cudaGetLastError()));
    mixed<<<dim3(2, 2), dim3(8, 4), 16>>>('x', Pair{'y', 1.5}, nullptr);
    printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
"""


@pytest.fixture(scope="module")
def kernels(builder: Builder) -> Path:
    return builder.program({"kernels.cu": KERNELS})


def test_an_unmodified_program_starts_and_says_what_is_missing(kernels: Path) -> None:
    ran = run(kernels)
    assert (ran.status, ran.lines) == (0, ["42 100", "100", "cudaErrorNoDevice", "cudaErrorNoDevice"])
    # Once, though two kernels were launched.
    assert ran.err == ("kw: kernel scale was not run: there is no device here (KERNELWRIGHT_DEVICE=none)\n")


def test_the_report(kernels: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    assert run(kernels, KERNELWRIGHT_REPORT=str(path)).status == 0
    report = json.loads(path.read_text())
    assert report["program"] == str(kernels.resolve())
    assert report["device"] == "none"
    (module,) = report["modules"]
    assert (module["source"], module["format"]) == ("kernels.cu", "kernelwright")
    assert re.fullmatch("[0-9a-f]{32}", module["id"]) and module["bytes"] > 1000
    assert {k["name"]: (k["launches"], k["arguments_bytes"]) for k in module["kernels"]} == {
        "_Z5scaleIfEvPT_S0_i": (0, 16),
        "_Z5mixedc4PairPi": (0, 32),
    }
    offsets = {k["name"]: [(p["offset"], p["bytes"]) for p in k["parameters"]] for k in module["kernels"]}
    assert offsets["_Z5mixedc4PairPi"] == [(0, 1), (8, 16), (24, 8)]
    variables = {v["name"]: (v["bytes"], v["constant"]) for v in module["variables"]}
    assert variables == {"table": (64, True), "counter": (4, False), "shared_count": (4, False)}


def test_the_report_on_standard_error(kernels: Path) -> None:
    ran = run(kernels, KERNELWRIGHT_REPORT="1")
    assert json.loads(ran.err[ran.err.index("{") :])["modules"][0]["source"] == "kernels.cu"


def test_a_report_that_cannot_be_written(kernels: Path) -> None:
    ran = run(kernels, KERNELWRIGHT_REPORT="/nowhere/report.json")
    assert ran.status == 0
    assert "cannot write the report to /nowhere/report.json: No such file or directory" in ran.err


def test_asking_for_a_device_that_nobody_can_start(kernels: Path) -> None:
    ran = run(kernels, KERNELWRIGHT_DEVICE="h200")
    assert ran.lines[0] == "42 100"
    assert "KERNELWRIGHT_DEVICE=h200 asks for a device, but no worker is known" in ran.err


def test_a_socket_where_nobody_answers(kernels: Path, tmp_path: Path) -> None:
    ran = run(kernels, KERNELWRIGHT_SOCKET=str(tmp_path / "none"))
    assert ran.lines[0] == "42 100"
    assert "no device worker answers" in ran.err
    assert "too long" in run(kernels, KERNELWRIGHT_SOCKET="/" + "x" * 200).err


# ---- several files ----

ONE = """
static __device__ int value = 1;
static __global__ void kernel(int *out) { *out = value; }
template <class T> __global__ void shared_template(T *out) { *out = T(1); }
extern "C" void host_part(void);
int one() { int h = 0; kernel<<<1, 1>>>(nullptr); shared_template<<<1, 1>>>((int *)0);
            return cudaMemcpyToSymbol(value, &h, 4) == cudaErrorNoDevice; }
int two();
int main() { host_part(); return one() + 2 * two(); }
"""
TWO = ONE.replace("value = 1", "value = 2").replace("int one()", "int two()").split("int two();")[0]
THREE = '#include <stdio.h>\n#include <cuda_runtime_api.h>\nvoid host_part(void) { puts("C"); }\n'


def test_several_files_with_kernels_of_the_same_name(builder: Builder, tmp_path: Path) -> None:
    program = builder.program({"one.cu": ONE, "two.cu": TWO, "three.c": THREE})
    ran = run(program, KERNELWRIGHT_REPORT=str(tmp_path / "report"))
    assert (ran.status, ran.out) == (3, "C\n")
    modules = json.loads((tmp_path / "report").read_text())["modules"]
    assert [m["source"] for m in modules] == ["one.cu", "two.cu"]
    for module in modules:
        assert {k["name"] for k in module["kernels"]} == {"_ZL6kernelPi", "_Z15shared_templateIiEvPT_"}
        assert [v["name"] for v in module["variables"]] == ["_ZL5value"]


STATIC = """
#include <cstdio>
__global__ void kernel(int *out) { *out = 1; }
struct Early {
    int count = -1;
    cudaError_t counted, allocated, launched;
    void *memory = nullptr;
    Early() {
        counted = cudaGetDeviceCount(&count);
        allocated = cudaMalloc(&memory, 16);
        kernel<<<1, 1>>>((int *)memory);
        launched = cudaGetLastError();
    }
    ~Early() { printf("late %d\\n", cudaFree(memory)); }
};
Early early;
int main() { printf("%d %d %d %d\\n", early.count, early.counted, early.allocated, early.launched); }
"""


def test_calls_before_and_after_main(builder: Builder) -> None:
    ran = run(builder.program({"static.cu": STATIC}))
    assert (ran.status, ran.lines) == (0, ["0 100 100 100", "late 100"])


def test_a_blob_that_is_damaged(builder: Builder) -> None:
    program = builder.program({"damaged.cu": KERNELS})
    data = program.read_bytes()
    at = data.index(b"\x89KWBLOB\n\x01\0\0\0") + 8
    program.write_bytes(data[:at] + b"\xff" + data[at + 1 :])
    ran = run(program, KERNELWRIGHT_REPORT="1")
    assert ran.status == 0
    assert json.loads(ran.err[ran.err.index("{") :])["modules"][0]["format"] == "unknown"
