"""Kernels that are given their sizes at launch: the text, and equality with NumPy at sizes that were not tuned on."""

from __future__ import annotations

from pathlib import Path

import pytest

import kernelwright as kw
from kernelwright.errors import Misuse
from kernelwright.space.computation.declaration import Computation
from kernelwright.space.computation.sizes import LaunchSize, size_at_launch
from kernelwright.space.cuda_source import generate
from kernelwright.space.library import example
from tests.space.execution import run
from tests.space.random_leaves import Sampler, breaches
from tests.space.written_leaf import naive_matmul, shared_row_sum, tiled_matmul, vector_axpy

TUNED: dict[str, dict[str, int]] = {
    "axpy": {"n": 4096},
    "mv": {"m": 32, "n": 64},
    "outer": {"m": 32, "n": 16},
    "matmul": {"m": 32, "n": 32, "k": 16},
    "matmul_strided": {"m": 16, "n": 32, "k": 8},
    "matmul_at": {"m": 32, "n": 16, "k": 16},
    "matmul_bt": {"m": 16, "n": 32, "k": 16},
    "matmul_fused": {"m": 16, "n": 32, "k": 16},
    "batchmm": {"batch": 4, "m": 16, "n": 16, "k": 16},
    "gesummv": {"m": 16, "n": 32},
    "row_sum": {"m": 32, "n": 64},
    "row_max": {"m": 32, "n": 64},
    "softmax": {"m": 16, "n": 32},
    "softmax_kept": {"m": 16, "n": 32},
    "conv": {"filters": 8, "channels": 4, "size": 8, "window": 3},
    "fused2mm": {"m": 16, "n": 16, "k": 16, "p": 16},
}


def at_launch(tuned: dict[str, int], multiple: int = 1) -> dict[str, int]:
    return {name: size_at_launch(name, value, multiple) for name, value in tuned.items()}


def launches(tuned: dict[str, int], multiple: int = 1) -> list[dict[str, int]]:
    """The smallest, fewer than tiles, more than tuned, each size another."""
    counts = [[1, 1, 1, 1], [3, 1, 2, 1], [1, 5, 3, 2]]
    found = [{name: n * multiple for name, n in zip(tuned, each, strict=False)} for each in counts]
    return [*found, {name: size + (n + 1) * multiple for n, (name, size) in enumerate(tuned.items())}]


def check(name: str, seed: int, count: int, folder: Path, multiple: int = 1) -> None:
    """Random leaves, tuned and at other launches; their bound holds at the tuned sizes."""
    tuned = TUNED[name]
    sampler = Sampler(name, at_launch(tuned, multiple), seed)
    with kw.Device("h200", strict=True) as device:
        for sample in sampler.samples(count, folder, device):
            assert not breaches(sample), "\n".join([*breaches(sample)[:3], sample.kernel.source])
            for sizes in launches(tuned, multiple):
                computation = sampler.example.computation(**sizes)
                run(sampler.example, computation, sample.kernel.at(sizes), folder, device, sizes)
    assert not sampler.failed, sampler.failed[0]


@pytest.mark.parametrize(("name", "multiple"), [("axpy", 1), ("mv", 1), ("matmul", 4)])
def test_a_few(name: str, multiple: int, tmp_path: Path) -> None:
    check(name, 3, 3, tmp_path, multiple)


@pytest.mark.slow
@pytest.mark.parametrize("name", TUNED)
def test_many(name: str, tmp_path: Path) -> None:
    check(name, 4, 20, tmp_path)
    if name != "conv":
        check(name, 5, 10, tmp_path, 4)


def test_sizes_are_parameters_and_steps_of_addresses(tmp_path: Path) -> None:
    entry, tuned = example("matmul"), {"m": 64, "n": 64, "k": 32}
    backbone = entry.computation(**at_launch(tuned)).backbone()
    kernel = generate(backbone, naive_matmul(backbone))
    source = kernel.source
    assert "float *__restrict__ C, int m, int n, int k) {" in source
    assert "const int n0 = blockIdx.x % ((n + 31) / 32);" in source and "blockIdx.x / ((n + 31) / 32);" in source
    assert "k0 < (k + 3) / 4" in source and "A[(m0 * 16 + thread_y * 2 + m2) * k + k0 * 4 + k1]" in source
    assert "if (m0 * 16 + thread_y * 2 + m2 < m && n0 * 32 + thread_x * 2 + n2 < n) {" in source
    assert kernel.grid == (8, 1, 1) and kernel.grid_text == "((n + 31) / 32) * ((m + 15) / 16)"
    with kw.Device("h200", strict=True) as device:
        for sizes in ({"m": 1, "n": 1, "k": 1}, {"m": 100, "n": 33, "k": 7}, tuned):
            other = kernel.at(sizes)
            assert other.source == source and other.grid[0] == eval(kernel.grid_text.replace("/", "//"), dict(sizes))
            run(entry, entry.computation(**sizes), other, tmp_path, device, sizes)


BORDERS = (
    {"m": 1, "n": 1, "k": 1},
    {"m": 67, "n": 131, "k": 17},
    {"m": 128, "n": 64, "k": 16},
    {"m": 64, "n": 65, "k": 31},
    {"m": 127, "n": 192, "k": 3},
)


def test_what_is_there_as_a_whole_asks_nothing(tmp_path: Path) -> None:
    """The whole iterations of whole blocks are a loop of their own, which goes on with all others."""
    entry, tuned = example("matmul"), {"m": 64, "n": 64, "k": 32}
    backbone = entry.computation(**at_launch(tuned)).backbone()
    kernel = generate(backbone, tiled_matmul(backbone, vector=False))
    before, whole, asking = kernel.source.split("for (; k0 < ")
    assert whole.startswith("(m0 < m / 64 && n0 < n / 64 ? k / 16 : 0); k0++)") and "if (" not in before
    assert asking.startswith("(k + 15) / 16; k0++)") and kernel.barriers == 4
    asking, stores = asking.split("    if (m0 < m / 64 && n0 < n / 64) {\n")
    assert "min(" not in whole and " ? __ldg" not in whole and whole.count("__ldg") == asking.count("__ldg") == 2
    rows, columns = "min(m0 * 64 + thread_y * 4 + a_m2, m - 1) * k", "min(n0 * 64 + thread_x * 4 + b_n2, n - 1)"
    assert f"__ldg(&A[{rows} + min(k0 * 16 + thread_x, k - 1)]);" in asking and columns in asking
    assert "v_a = k0 * 16 + thread_x < k ? v_a : 0.0f;" in asking and "if (" not in asking, "no branch for each load"
    whole, asking = stores.split("    } else {\n")
    assert "if (" not in whole and asking.count("if (") == 1 and "st_n2 < n) {" in asking
    with kw.Device("h200", strict=True) as device:
        for sizes in BORDERS:
            run(entry, entry.computation(**sizes), kernel.at(sizes), tmp_path, device, sizes)


def test_of_loops_in_each_other_the_innermost_stands_twice(tmp_path: Path) -> None:
    entry, tuned = example("row_sum"), {"m": 16, "n": 256}
    backbone = entry.computation(**at_launch(tuned)).backbone()
    kernel = generate(backbone, shared_row_sum(backbone, outer="LOOP"))
    assert kernel.source.count("for (int m0 = 0; m0 < (m + 7) / 8; m0++) {") == 1 and kernel.source.count("X[") == 2
    assert "for (; n0 < (m0 < m / 8 ? n / 128 : 0); n0++) {" in kernel.source and kernel.grid == (1, 1, 1)
    with kw.Device("h200", strict=True) as device:
        for sizes in (tuned, {"m": 5, "n": 1}, {"m": 17, "n": 300}, {"m": 8, "n": 15}):
            run(entry, entry.computation(**sizes), kernel.at(sizes), tmp_path, device, sizes)


def test_multiples_need_no_conditions_and_allow_vectors(tmp_path: Path) -> None:
    entry, tuned = example("matmul"), {"m": 64, "n": 64, "k": 32}
    sizes = {"m": size_at_launch("m", 64, 64), "n": size_at_launch("n", 64, 64), "k": size_at_launch("k", 32, 16)}
    backbone = entry.computation(**sizes).backbone()
    kernel = generate(backbone, tiled_matmul(backbone))
    assert "if (" not in kernel.source and " ? " not in kernel.source and "(const float4 *)&B[" in kernel.source
    assert kernel.sizes == (LaunchSize("m", 64), LaunchSize("n", 64), LaunchSize("k", 16))
    with kw.Device("h200", strict=True) as device:
        for other in ({"m": 128, "n": 64, "k": 48}, tuned):
            run(entry, entry.computation(**other), kernel.at(other), tmp_path, device, other)
    with pytest.raises(Misuse, match="n = 96, and kernel matmul is made for multiples of 64"):
        kernel.at({"m": 64, "n": 96, "k": 16})
    with pytest.raises(Misuse, match="a grid of 274877906944 blocks"):
        kernel.at({"m": 1 << 25, "n": 1 << 25, "k": 16})
    anything = entry.computation(**at_launch(tuned)).backbone()
    with pytest.raises(Misuse, match="b cannot be a vector of 4 along n2"):
        generate(anything, tiled_matmul(anything))


def test_some_sizes_at_launch_and_others_known(tmp_path: Path) -> None:
    entry = example("matmul")
    backbone = entry.computation(m=size_at_launch("m", 64), n=64, k=32).backbone()
    kernel = generate(backbone, naive_matmul(backbone))
    assert "int m) {" in kernel.source and "m < m" not in kernel.source.replace("m2 < m)", "")
    assert "blockIdx.x % 2;" in kernel.source and "< k" not in kernel.source
    with kw.Device("h200", strict=True) as device:
        run(entry, entry.computation(m=19, n=64, k=32), kernel.at({"m": 19}), tmp_path, device, {"m": 19})


def test_a_shared_reduction_and_a_maximum_at_launch(tmp_path: Path) -> None:
    entry = example("row_sum")
    backbone = entry.computation(m=size_at_launch("m", 16), n=size_at_launch("n", 256)).backbone()
    kernel = generate(backbone, shared_row_sum(backbone, threads=64))
    with kw.Device("h200", strict=True) as device:
        for sizes in ({"m": 16, "n": 256}, {"m": 5, "n": 1}, {"m": 1, "n": 777}):
            run(entry, entry.computation(**sizes), kernel.at(sizes), tmp_path, device, sizes)


def test_a_vector_of_multiples(tmp_path: Path) -> None:
    entry = example("axpy")
    backbone = entry.computation(n=size_at_launch("n", 1024, 4)).backbone()
    kernel = generate(backbone, vector_axpy(backbone, 64))
    assert "X[min(n0 * 256 + thread_x * 4, n - 4)]);" in kernel.source and kernel.grid_text == "((n + 255) / 256)"
    assert "if (n0 * 256 + thread_x * 4 < n) {" in kernel.source
    with kw.Device("h200", strict=True) as device:
        for n in (4, 1020, 2052):
            run(entry, entry.computation(n=n), kernel.at({"n": n}), tmp_path, device, {"n": n})


def own(n: int, kind: str) -> Computation:
    c = Computation("own")
    i, j = c.loop("i", n, (4,)), c.loop("j", 8, (4,))
    x = c.input("X", (n + 1,) if kind != "short" else (40,))
    y = c.output("Y", (n, 8), (8, 1) if kind != "overlap" else (n, 1))
    c.store("st", y[i, j], c.load("x", x[i + 1]) * c.load("z", c.input("Z", (8,))[j]))
    return c


def test_what_holds_at_the_tuned_sizes_alone_is_refused() -> None:
    assert own(32, "short").backbone() and own(32, "overlap").backbone()
    with pytest.raises(Misuse, match="dimension 0 of array X has 40 elements; its index is 1 to n"):
        own(size_at_launch("n", 32), "short")
    with pytest.raises(Misuse, match="writes some elements of Y twice: its strides overlap at i"):
        own(size_at_launch("n", 32), "overlap")
    assert own(size_at_launch("n", 32, 8), "overlap").backbone()  # rows of 8 or more
    with pytest.raises(Misuse, match="loop i of own has n - 1 iterations"):
        Computation("own").loop("i", size_at_launch("n", 32) - 1)
    with pytest.raises(Misuse, match=r"has no elements: its shape is \(n - 1,\)"):
        Computation("own").input("X", (size_at_launch("n", 32) - 1,))


def test_a_size_that_has_the_name_of_something_else_is_refused() -> None:
    for name in ("float", "X", "n0", "v_x"):
        c = Computation("own")
        i = c.loop("n", size_at_launch(name, 32), (4,))
        c.store("st", c.output("Y", (c.loops["n"].extent,))[i], c.load("x", c.input("X", (c.loops["n"].extent,))[i]))
        with pytest.raises(Misuse, match=name):
            c.backbone()
