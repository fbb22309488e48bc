"""Programs that call NCCL, as people write them: ranks that are devices of one thread, threads, and processes; what is refused, and
peers that go. The programs compare collectives with loops; reductions of 16 bits are compared with NumPy here."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from .conftest import Here, kw

RANKS = Path(__file__).parent / "nccl_ranks.cu"
MISUSE = Path(__file__).parent / "nccl_misuse.cu"

OF_A_RANK = 205
"""How many comparisons a rank makes."""


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("built") / "ranks"
    made = kw("compile", RANKS, "-lnccl", "--emit", "exe", "-o", path)
    assert made.code == 0, made.err
    return path


@pytest.mark.parametrize(
    ("who", "count", "elements"),
    [("all", 3, 300_001), ("group", 1, 7), ("group", 2, 263_000), ("threads", 2, 530_001)],
)
def test_every_collective_in_every_type(run: Here, ranks: Path, who: str, count: int, elements: int) -> None:
    ran = run(ranks, "--device", "h200", "--gpus", "3", "--", who, str(count), str(elements))
    assert (ran.code, ran.lines) == (0, [f"{count * OF_A_RANK} comparisons, 0 differ, version 1"]), ran.err


def test_between_processes(run: Here, ranks: Path) -> None:
    """Each has a virtual GPU of its own."""
    ran = run(ranks, "--device", "h200", "--", "fork", "3", "300001")
    assert ran.code == 0, ran.out + ran.err
    assert sorted(ran.lines) == [
        "0 processes failed",
        *(f"rank {r}: {OF_A_RANK} comparisons, 0 differ" for r in range(3)),
    ]


def test_with_nvidias_headers(run: Here, tmp_path: Path) -> None:
    pytest.importorskip("nvidia.cuda_runtime")
    (tmp_path / "app.cu").write_text(SIXTEEN_BITS)
    ran = run("app.cu", "--headers", "nvidia", "-lnccl", "--device", "h200", "--gpus", "2")
    assert (ran.code, ran.err) == (0, "")


# ---- 16 bits: of all values, with others ----

SIXTEEN_BITS = r"""
#include <cstdio>
#include <nccl.h>
int main()
{
    const int n = 65536;
    static unsigned short h[2][n];
    ncclComm_t comm[2];
    unsigned short *d[2], *to[2];
    ncclCommInitAll(comm, 2, NULL);
    for (int i = 0; i < n; i++) h[0][i] = i, h[1][i] = i * 40503 + 12345;
    for (int r = 0; r < 2; r++) {
        cudaSetDevice(r);
        cudaMalloc(&d[r], sizeof h[r]);
        cudaMalloc(&to[r], sizeof h[r]);
        cudaMemcpy(d[r], h[r], sizeof h[r], cudaMemcpyHostToDevice);
    }
    FILE *file = fopen("results", "wb");
    for (ncclDataType_t type : {ncclHalf, ncclBfloat16})
        for (ncclRedOp_t op : {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg}) {
            ncclGroupStart();
            for (int r = 0; r < 2; r++)
                if (ncclAllReduce(d[r], to[r], n, type, op, comm[r], 0)) return 1;
            if (ncclGroupEnd()) return 2;
            cudaMemcpy(h[1], to[1], sizeof h[1], cudaMemcpyDeviceToHost);
            fwrite(h[1], 1, sizeof h[1], file);
        }
    fclose(file);
    for (int r = 0; r < 2; r++) ncclCommDestroy(comm[r]);
}
"""


def half(bits: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
    return bits.view(np.float16).astype(np.float32)


def bfloat16(bits: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def to_half(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return values.astype(np.float16).astype(np.float32)


def to_bfloat16(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    bits = values.view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + (bits >> 16 & 1)) >> 16 << 16
    return np.where(np.isnan(values), values, rounded.view(np.float32))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_reductions_of_16_bits_are_rounded_once(run: Here, tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(SIXTEEN_BITS)
    ran = run("app.cu", "-lnccl", "--device", "h200", "--gpus", "2")
    assert (ran.code, ran.err) == (0, "")
    got = np.fromfile(tmp_path / "results", np.uint16).reshape(2, 5, 65536)
    numbers = np.arange(65536, dtype=np.uint32)
    first, second = numbers.astype(np.uint16), (numbers * 40503 + 12345).astype(np.uint16)
    for of_type, (widen, rounded) in zip(got, [(half, to_half), (bfloat16, to_bfloat16)], strict=True):
        a, b = widen(first), widen(second)
        expected = [a + b, a * b, np.fmax(a, b), np.fmin(a, b), (a + b) / np.float32(2)]
        for operation, (bits, values) in enumerate(zip(of_type, expected, strict=True)):
            assert np.array_equal(widen(bits), rounded(values), equal_nan=True), (widen.__name__, operation)


# ---- what is refused ----


def test_misuse(run: Here) -> None:
    ran = run(MISUSE, "-lnccl", "--device", "h200", "--gpus", "2")
    expected = MISUSE.with_suffix(".txt").read_text().splitlines()
    assert (ran.code, ran.lines) == (0, expected), ran.err


def test_sentences_are_said_where_nccl_says_them(run: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "app.cu").write_text("#include <nccl.h>\nint main() { return ncclGroupEnd(); }\n")
    assert run("app.cu", "-lnccl").err == ""
    monkeypatch.setenv("NCCL_DEBUG", "WARN")
    assert run("app.cu", "-lnccl").err == "kw: NCCL: ncclGroupEnd: there is no ncclGroupStart before it\n"


# ---- ranks that go ----

GONE = r"""
#include <csignal>
#include <cstdio>
#include <nccl.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
__global__ void fault() { *(volatile int *)0 = 1; }
int main(int, char **argv)
{
    std::string how = argv[1];
    ncclUniqueId id;
    ncclComm_t comm;
    ncclResult_t state;
    float *data;
    ncclGetUniqueId(&id);
    // The name of what ranks share: two numbers of eight bytes.
    for (int i : {15, 14, 13, 12, 11, 10, 9, 8, 23, 22, 21, 20, 19, 18, 17, 16}) printf("%02x", (unsigned char)id.internal[i]);
    puts("");
    fflush(stdout);
    int ranks = how == "before" ? 3 : 2;
    pid_t child = how == "alone" ? 1 : fork();
    if (!child) {
        if (how == "before") alarm(1);
        ncclResult_t result = ncclCommInitRank(&comm, ranks, id, how == "same" ? 0 : 1);
        if (how == "left") ncclCommDestroy(comm), sleep(60);
        if (how == "faulty") {
            cudaMalloc(&data, 1024);
            fault<<<1, 1>>>();
            result = ncclAllReduce(data, data, 256, ncclFloat, ncclSum, comm, 0);
            printf("the other %d %s\n", result, ncclGetLastError(comm));
            fflush(stdout);
            sleep(60);
        }
        if (how == "killed") {
            cudaMalloc(&data, 1024);
            result = ncclRecv(data, 1024, ncclChar, 0, comm, 0);
        }
        _exit(result);
    }
    if (how == "alone") alarm(1);
    ncclResult_t result = ncclCommInitRank(&comm, ranks, id, 0);
    printf("init %d %s\n", result, result ? ncclGetLastError(NULL) : "");
    if (result) {
        int status;
        waitpid(child, &status, 0);
        printf("the other %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
        return 0;
    }
    cudaMalloc(&data, 1024);
    usleep(100000);
    if (how == "killed") kill(child, SIGKILL);  // which no one has waited for yet
    result = ncclAllReduce(data, data, 256, ncclFloat, ncclSum, comm, 0);
    printf("sum %d %s\n", result, ncclGetLastError(comm));
    result = ncclSend(data, 256, ncclFloat, 1, comm, 0);
    ncclCommGetAsyncError(comm, &state);
    printf("send %d %d\n", result, state);
    kill(child, SIGKILL);
    return ncclCommAbort(comm);
}
"""

ENDED = ["init 0 ", "sum 6 ncclAllReduce of 256 ncclFloat32 with ncclSum: rank 1 has ended", "send 6 6"]
LEFT = ["init 0 ", "sum 6 ncclAllReduce of 256 ncclFloat32 with ncclSum: rank 1 has left the communicator", "send 6 6"]
FAILED = [
    "the other 1 a copy of the device's memory: cudaErrorIllegalAddress",
    "init 0 ",
    "sum 6 ncclAllReduce of 256 ncclFloat32 with ncclSum: rank 1 has failed",
    "send 6 6",
]


@pytest.fixture(scope="module")
def gone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    (folder / "gone.cu").write_text(GONE)
    made = kw("compile", folder / "gone.cu", "-lnccl", "--emit", "exe", "-o", folder / "gone")
    assert made.code == 0, made.err
    return folder / "gone"


def shared(name: str) -> Path:
    return Path(f"/dev/shm/kernelwright-nccl-{name}")


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("ended", ENDED),
        ("killed", ENDED),
        ("left", LEFT),
        ("faulty", FAILED),
        ("before", ["init 6 rank 1 has ended before all had come", "the other -14"]),
        ("same", ["init 5 two ranks have the number 0", "the other 5"]),
    ],
)
def test_a_peer_that_goes(run: Here, gone: Path, how: str, says: list[str]) -> None:
    ran = run(gone, "--device", "h200", "--", how)
    name, *lines = ran.lines
    assert (ran.code, lines) == (0, says), ran.err
    assert not shared(name).exists()


def test_what_a_killed_rank_leaves_is_removed_by_the_next(run: Here, gone: Path) -> None:
    name = run(gone, "--device", "h200", "--", "alone").lines[0]
    assert shared(name).exists()
    run(gone, "--device", "h200", "--", "same")
    assert shared(name).exists(), "ranks may be on their way to one that is new"
    os.utime(shared(name), (0, 0))
    run(gone, "--device", "h200", "--", "same")
    assert not shared(name).exists()
