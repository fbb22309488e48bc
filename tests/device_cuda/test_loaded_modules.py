"""Programs that load modules by the driver API, on a real GPU: what reaches NVIDIA's driver, which a stand-in is here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kernelwright.cuda.link import LinkOptions
from kernelwright.executable import build_executable, worker_command
from kernelwright.pipeline import CompileOptions, Program

from .conftest import Fake

HERE = Path(__file__).parent
LOADS = r"""
#include <cuda.h>
#include <nvrtc.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
int main(int count, char **words)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr p;
    float h[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int n = 8, result;
    char name[64];
    printf("%d %d %d", cuInit(0), cuDeviceGet(&device, 0), cuCtxCreate(&context, 0, device));
    cuDeviceGetName(name, sizeof name, device);
    if (!strcmp(words[1], "nvrtc")) {
        nvrtcProgram program;
        nvrtcCreateProgram(&program, "extern \"C\" __global__ void add_one(float *p, int n) { if (threadIdx.x < n) p[threadIdx.x] += 1; }",
                           "one.cu", 0, nullptr, nullptr);
        size_t size;
        nvrtcCompileProgram(program, 0, nullptr);
        nvrtcGetPTXSize(program, &size);
        std::vector<char> ptx(size);
        nvrtcGetPTX(program, ptx.data());
        result = cuModuleLoadData(&module, ptx.data());
    } else {
        result = cuModuleLoad(&module, words[1]);
    }
    printf(" %d", result);
    printf(" %d %d", cuModuleGetFunction(&kernel, module, "add_one"), cuMemAlloc(&p, sizeof h));
    cuMemcpyHtoD(p, h, sizeof h);
    void *arguments[] = {&p, &n};
    printf(" %d", cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
    printf(" %d", cuMemcpyDtoH(h, p, sizeof h));
    printf(" %g %g %s\n", h[0], h[7], name);
    return cuModuleUnload(module);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("loads")
    (folder / "loads.cpp").write_text(LOADS)
    nothing = Program((), CompileOptions())
    return build_executable(nothing, [folder / "loads.cpp"], folder / "loads", LinkOptions())[0]


def run(program: Path, what: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(p for p in sys.path if p)
    settings = {"KERNELWRIGHT_DEVICE": "cuda:0", "KERNELWRIGHT_WORKER": worker_command(), "PYTHONPATH": path}
    return subprocess.run([program, what], capture_output=True, text=True, timeout=60, env={**os.environ, **settings})


@pytest.mark.parametrize("what", ["nvrtc", str(HERE / "kernels.ptx")])
def test_ptx_of_ours_and_of_others(program: Path, what: str, fake: Fake) -> None:
    """The driver reads any PTX; how the arguments of another compiler's kernel lie, it says itself."""
    done = run(program, what)
    assert (done.stdout, done.stderr) == ("0 0 0 0 0 0 0 0 2 9 Stand-in 0\n", "")
    assert len(fake.named("load")) == 1
    (launched,) = fake.named("launch")
    assert launched.startswith("launch add_one 1,1,1 32,1,1 shared 0")
    assert "unload" in fake.calls
