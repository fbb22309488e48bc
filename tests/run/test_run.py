"""``kw run``: what a program says, reads, writes and returns is its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from kernelwright.cuda.runtime_library import install_shared

from .conftest import Here, command, execute, kw

ECHO = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
__global__ void twice(int *x) { x[threadIdx.x] *= 2; }
int main(int argc, char **argv)
{
    int host[2] = {argc, 100}, *device;
    cudaMalloc(&device, sizeof host);
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    twice<<<1, 2>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    printf("%s %d %d\n", argv[0], host[0], host[1]);
    for (int i = 1; i < argc; i++) printf("[%s]\n", argv[i]);
    char line[100];
    while (fgets(line, sizeof line, stdin)) fputs(line, stderr);
    fclose(fopen("written", "w"));
    return 42;
}
"""


@pytest.fixture
def echo(tmp_path: Path) -> Path:
    (tmp_path / "echo.cu").write_text(ECHO)
    return tmp_path / "echo.cu"


def test_a_program_is_compiled_and_run(echo: Path) -> None:
    ran = kw("run", "echo.cu", "--", "a b", "--device", "--", "", cwd=echo.parent, stdin="in\nput\n")
    assert ran.lines == ["./echo 10 200", "[a b]", "[--device]", "[--]", "[]"]
    note = "kw: --device behind -- goes to the program; as a flag of kw run, --device stands before --\n"
    assert (ran.code, ran.err) == (42, f"{note}in\nput\n")  # which asks for no such flag in its text
    assert {p.name for p in echo.parent.iterdir()} == {"echo.cu", "written"}
    again = kw("run", "echo.cu", "--", "a b", "--device", "--", "", cwd=echo.parent, stdin="in\nput\n")
    assert again == ran


def test_a_changed_file_is_compiled_again(run: Here, tmp_path: Path) -> None:
    (tmp_path / "value.h").write_text("#define VALUE 3\n")
    text = (
        '#include <cstdio>\n#ifdef __CUDA_ARCH__\n#define VALUE 0\n#else\n#include "value.h"\n#endif\n'
        'int main() { printf("%d\\n", VALUE); }\n'
    )
    (tmp_path / "app.cu").write_text(text)
    assert run("app.cu").out == "3\n"
    (tmp_path / "value.h").write_text("#define VALUE 4\n")
    assert run("app.cu").out == "4\n"


def test_several_files_c_among_them(run: Here, tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(
        '#include <cstdio>\nextern "C" int from_c(void); int from_other();\n'
        "__device__ int x = 5; __global__ void k(int *p) { *p = x; }\n"
        "int main(int argc, char **) { int *p, h; cudaMalloc(&p, 4); k<<<1, 1>>>(p);\n"
        'cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost); printf("%d %d %d %d\\n", h, from_c(), from_other(), N); }\n'
    )
    (tmp_path / "b.cu").write_text(
        "__global__ void k(int *p) { *p = 7; }\n"
        "int from_other() { int *p, h; cudaMalloc(&p, 4); k<<<1, 1>>>(p); cudaMemcpy(&h, p, 4, cudaMemcpyDefault); return h; }\n"
    )
    # Both kernels are called k(int *): the linker would have to choose, so the second is in a namespace of its own.
    (tmp_path / "b.cu").write_text(
        "namespace {\n" + (tmp_path / "b.cu").read_text().replace("int from", "}\nint from", 1)
    )
    (tmp_path / "c.c").write_text("int from_c(void) { int class = 6; return class; }\n")
    ran = run("-DN=8", "a.cu", "b.cu", "c.c")
    assert (ran.code, ran.out, ran.err) == (0, "5 6 7 8\n", "")


def test_a_program_built_before_runs_by_kw_and_by_hand(echo: Path, tmp_path: Path) -> None:
    assert kw("compile", "echo.cu", "-o", "app", "--emit", "exe", cwd=tmp_path).code == 0
    by_kw = kw("run", "./app", "--", "x", cwd=tmp_path)
    assert (by_kw.code, by_kw.lines) == (42, ["./app 4 200", "[x]"])
    # Files that Python would take for its own modules do not disturb a worker that the program starts.
    for name in ("json", "socket", "numpy", "struct", "site"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('taken from the working folder')\n")
    by_hand = execute(["./app", "x"], cwd=tmp_path, PYTHONPATH="")
    assert (by_hand.code, by_hand.lines, by_hand.err) == (42, ["./app 4 200", "[x]"], "")


@pytest.mark.parametrize("device", ["auto", "p100"])
def test_every_gpu(device: str, run: Here, tmp_path: Path) -> None:
    (tmp_path / "which.cu").write_text(
        "#include <cstdio>\n#ifndef __CUDA_ARCH__\n#define __CUDA_ARCH__ 0\n#endif\n"
        "__global__ void k(int *p) { *p = __CUDA_ARCH__; }\nint main() { cudaDeviceProp d; int *p, arch; cudaGetDeviceProperties(&d, 0); cudaMalloc(&p, 4); k<<<1, 1>>>(p);\n"
        'cudaMemcpy(&arch, p, 4, cudaMemcpyDeviceToHost); printf("%s|%d%d0|%d\\n", d.name, d.major, d.minor, arch); }\n'
    )
    ran = run("--device", device, "which.cu")
    name, capability, arch = ran.out.strip().split("|")
    assert device.replace("auto", "h200").upper() in name and name.endswith("(virtual)")
    assert capability == arch


def test_the_report(run: Here, tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(
        "namespace net { __global__ void add(int *p) { *p += 1; } }\n__global__ void late() {}\n"
        "int main() { int *p; cudaMalloc(&p, 4); for (int i = 0; i < 3; i++) net::add<<<1, 1>>>(p); late<<<1, 1>>>(); }\n"
    )
    ran = run("--report", "app.cu")
    head, add, late = ran.err.splitlines()
    assert ran.code == 0 and head.startswith("kw: launches") and "H200" in head
    assert add.split()[:2] == ["kw:", "3"] and add.split()[-1] == "net::add"
    assert late.split()[1] == "1" and late.split()[-1] == "late", "also what was under way when the program ended"


def test_a_report_of_nothing(run: Here, tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text("int main() { return 3; }\n")
    ran = run("--report", "app.cu")
    assert (ran.code, ran.err) == (3, "kw: no kernel was launched\n")


CHILDREN = r"""
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>
__global__ void k(int *p) { *p += 1; }
int use() { int *p, h = 4; cudaMalloc(&p, 4); cudaMemcpy(p, &h, 4, cudaMemcpyDefault); k<<<1, 1>>>(p);
    cudaMemcpy(&h, p, 4, cudaMemcpyDefault); return h; }
int main()
{
    int sum = 0, status;
    for (int i = 0; i < 3; i++) if (fork() == 0) return use() + i;
    for (int i = 0; i < 3; i++) { wait(&status); sum += WEXITSTATUS(status); }
    printf("%d %d\n", sum, use());
}
"""


def test_processes_of_a_program_have_devices_of_their_own(run: Here, tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(CHILDREN)
    ran = run("--report", "app.cu")
    assert ran.out == "18 5\n"
    assert ran.err.splitlines()[1].split()[1] == "4", "launches of all four processes"


THREADS = r"""
#include <cstdio>
#include <thread>
#include <vector>
__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }
int main()
{
    std::vector<std::thread> threads;
    int wrong = 0;
    for (int t = 0; t < 8; t++)
        threads.emplace_back([t, &wrong] {
            int *p, host[32];
            cudaStream_t stream;
            cudaStreamCreate(&stream);
            cudaMalloc(&p, sizeof host);
            for (int i = 0; i < 50; i++) {
                fill<<<1, 32, 0, stream>>>(p, 100 * t + i);
                cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, stream);
                cudaStreamSynchronize(stream);
                for (int x : host) if (x != 100 * t + i) __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
            }
            cudaFree(p);
            cudaStreamDestroy(stream);
        });
    for (auto &t : threads) t.join();
    printf("%d %s\n", wrong, cudaGetErrorName(cudaGetLastError()));
}
"""


def test_threads_share_a_device(run: Here, tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(THREADS)
    ran = run("app.cu")
    assert (ran.out, ran.err) == ("0 cudaSuccess\n", "")


TEXTURES = r"""
#include <cstdio>
static texture<float, 1, cudaReadModeElementType> rows;
static __device__ int hidden = 3;
static __constant__ int limit;
__managed__ int level = 5;
__global__ void look(float *out) { int i = threadIdx.x; out[i] = tex1Dfetch(rows, i) + hidden + limit + level; }
int main()
{
    float host[4] = {1, 2, 3, 4}, *in, *out;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaBindTexture(nullptr, rows, in, sizeof host);
    int v = 100;
    cudaMemcpyToSymbol(hidden, &v, 4);
    v = 1000;
    cudaMemcpyToSymbol(limit, &v, 4);
    level = 10000;
    look<<<1, 4>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%g %g %g %g\n", host[0], host[1], host[2], host[3]);
}
"""


def test_textures_symbols_and_managed_variables(run: Here, tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(TEXTURES)
    ran = run("app.cu")
    assert (ran.out, ran.err) == ("11101 11102 11103 11104\n", "")


EVENTS = r"""
#include <cstdio>
__global__ void work(float *x, int n) { for (int i = 0; i < n; i++) x[threadIdx.x] = x[threadIdx.x] * 1.5f + 1; }
int main()
{
    float *x, ms[3];
    cudaEvent_t e[4];
    for (auto &each : e) cudaEventCreate(&each);
    cudaMalloc(&x, 1 << 24);
    cudaEventRecord(e[0]);
    work<<<1, 32>>>(x, 100);
    cudaEventRecord(e[1]);
    work<<<1, 32>>>(x, 10000);
    cudaEventRecord(e[2]);
    float *host = new float[1 << 22];
    cudaMemcpy(host, x, 1 << 24, cudaMemcpyDeviceToHost);
    cudaEventRecord(e[3]);
    cudaEventSynchronize(e[3]);
    for (int i = 0; i < 3; i++) cudaEventElapsedTime(&ms[i], e[i], e[i + 1]);
    printf("%a %a %a\n", ms[0], ms[1], ms[2]);
}
"""


def test_events_tell_the_same_time_twice(run: Here, tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(EVENTS)
    first, second = run("app.cu"), run("app.cu")
    assert first == second
    short, long, copied = (float.fromhex(word) for word in first.out.split())
    assert 0.002 < short < 0.05 and long > 5 * short, "milliseconds, and a hundred times the work"
    assert copied == pytest.approx((1 << 24) / 50.4e6, rel=0.02), "16 MiB over the link of an H200, in milliseconds"


HOST_ALONE = """
#include <cuda_runtime.h>
#include <stdio.h>
int main(void) {
    struct cudaDeviceProp about;
    int *device, host[4] = {1, 2, 3, 4}, back[4];
    cudaGetDeviceProperties(&about, 0);
    cudaMalloc((void **)&device, sizeof host);
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(device, 0, 4);
    cudaMemcpy(back, device, sizeof back, cudaMemcpyDeviceToHost);
    printf("%s %d %d\\n", about.name, back[0], back[3]);
    return 0;
}
"""


@pytest.mark.parametrize("name", ["app.c", "app.cpp"])
def test_a_program_without_kernels(name: str, run: Here, tmp_path: Path) -> None:
    """Host code that only calls the runtime, as device queries do: there is no CUDA source."""
    (tmp_path / name).write_text(HOST_ALONE)
    assert run(name).out == "NVIDIA H200 SXM 141 GB (virtual) 0 4\n"


PLACES = """
#include <cstdio>
__global__ void k(int *p) { p[threadIdx.x] += 1; }
int main() {
    int *m;
    cudaMallocManaged(&m, 128);
    for (int i = 0; i < 32; i++) m[i] = i;
    cudaMemLocation device = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0}, none = {cudaMemLocationTypeDevice, 9};
    printf("%d %d ", cudaMemPrefetchAsync(m, 128, device, 0), cudaMemAdvise(m, 128, cudaMemAdviseSetPreferredLocation, host));
    printf("%d %d ", cudaMemPrefetchAsync(m, 128, device, 7), cudaMemPrefetchAsync(m, 128, none, 0));
    k<<<1, 32>>>(m);
    printf("%d ", cudaMemPrefetchAsync(m, 128, host, 0, 0));
    cudaDeviceSynchronize();
    printf("%d\\n", m[31]);
}
"""


def test_places_of_managed_memory_as_cuda_13_names_them(run: Here, tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(PLACES)
    assert run("app.cu").out == "0 0 1 101 0 32\n"


BAD = {
    "a missing source": (("no.cu",), 2, "no.cu does not exist"),
    "a missing program": (("./no",), 2, "no does not exist"),
    "no program at all": (("notes.txt",), 2, "neither a program nor a source"),
    "arguments without --": (("ok.cu", "100"), 2, "arguments go behind --"),
    "a real GPU that is none": (("--device", "cuda:x", "ok.cu"), 2, "unknown GPU 'cuda:x'"),
    "no GPU": (("--device", "h300", "ok.cu"), 2, "unknown GPU 'h300'"),
    "a budget": (("--budget", "many", "ok.cu"), 2, "--budget many is no number that makes sense"),
    "a negative budget": (("--budget", "-1", "ok.cu"), 2, "--budget -1 is no number that makes sense"),
    "a timeout": (("--timeout", "1h", "ok.cu"), 2, "--timeout 1h is no number that makes sense"),
    "no timeout": (("--timeout", "nan", "ok.cu"), 2, "--timeout nan is no number that makes sense"),
    "memory": (("--memory", "lots", "ok.cu"), 2, "'lots' is no amount of memory"),
    "a source that is wrong": (("wrong.cu",), 2, "wrong.cu:1:"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_command_lines(name: str, run: Here, tmp_path: Path) -> None:
    (tmp_path / "ok.cu").write_text("int main() {}\n")
    (tmp_path / "ok.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "wrong.cu").write_text("int main() { return x; }\n")
    (tmp_path / "notes.txt").write_text("hello\n")
    arguments, code, text = BAD[name]
    ran = run(*arguments)
    assert ran.code == code and text in ran.err and "Traceback" not in ran.err, ran


def test_a_file_that_may_not_be_executed(run: Here, tmp_path: Path) -> None:
    (tmp_path / "app").write_bytes(b"\x7fELF")
    ran = run("./app")
    assert ran.code in (2, 3) and "kw: ./app" in ran.err


OLD_PROGRAM = """
#include <stdio.h>
int cudaGetDeviceCount(int *), cudaMalloc(void **, unsigned long), cudaMemset(void *, int, unsigned long);
int cudaDeviceSynchronize(void);
int main(void)
{
    int count = 0;
    void *p;
    int error = cudaGetDeviceCount(&count);
    printf("%d %d ", error, count);
    printf("%d ", cudaMalloc(&p, 100));
    printf("%d ", cudaMemset(p, 1, 100));
    printf("%d\\n", cudaDeviceSynchronize());
    return 6;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_a_program_linked_with_nvidias_shared_runtime_takes_ours(run: Here, tmp_path: Path) -> None:
    (tmp_path / "old.c").write_text(OLD_PROGRAM)
    (library,) = install_shared(tmp_path / "nvidia", (12,))
    subprocess.run(["cc", "old.c", "-o", "old", library], cwd=tmp_path, check=True)
    library.unlink()  # what it was linked with is not on this machine
    ran = run("./old")
    assert (ran.code, ran.out, ran.err) == (6, "0 1 0 0 0\n", "")


def test_a_script_that_starts_programs(echo: Path, tmp_path: Path) -> None:
    assert kw("compile", "echo.cu", "-o", "app", "--emit", "exe", cwd=tmp_path).code == 0
    (tmp_path / "both.sh").write_text("#!/bin/sh\n./app 1\n./app 2\nexit 5\n")
    os.chmod(tmp_path / "both.sh", 0o755)
    ran = kw("run", "./both.sh", cwd=tmp_path)
    assert (ran.code, ran.lines, ran.err) == (5, ["./app 4 200", "[1]", "./app 4 200", "[2]"], "")


UNUSUAL = {
    "nothing": ((), "next: kw run --help"),
    "only arguments": (("--", "x"), "no program to run"),
    "a flag": (("--nope", "ok.cu"), "No such option"),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_command_lines(name: str) -> None:
    arguments, text = UNUSUAL[name]
    ran = kw("run", *arguments)
    assert ran.code == 2 and text in ran.err and "Traceback" not in ran.err, ran


def test_a_cache_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text('#include <cstdio>\nint main() { puts("here"); return 4; }\n')
    (tmp_path / "file").write_text("in the way")
    before = set(Path(tempfile.gettempdir()).glob("kernelwright-*"))
    ran = kw("run", "app.cu", cwd=tmp_path, KERNELWRIGHT_CACHE=str(tmp_path / "file"))
    assert (ran.code, ran.out) == (4, "here\n")
    left = set(Path(tempfile.gettempdir()).glob("kernelwright-*")) - before
    assert not [p for p in left if (p / "app").exists()]


def test_without_winners_nothing_of_the_search_is_loaded() -> None:
    code = (
        "import sys; from kernelwright.cli.support.winners_view import given_versions; print(given_versions(()), "
        "[m for m in sys.modules if m.startswith(('kernelwright.evolution', 'kernelwright.prove', 'kernelwright.report'))])"
    )
    assert execute([*command()[:1], "-c", code]).out == "[] []\n"


def test_help() -> None:
    ran = kw("run", "--help")
    assert ran.code == 0 and "--device" in ran.out and "Traceback" not in ran.err
