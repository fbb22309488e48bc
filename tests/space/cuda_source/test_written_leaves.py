"""Kernels from decisions that are written by hand: what the text contains, and that it computes what NumPy does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import kernelwright as kw
from kernelwright.errors import Misuse
from kernelwright.space.cuda_source import generate
from kernelwright.space.library import example
from tests.space.execution import run
from tests.space.written_leaf import Nest, WrittenLeaf, dims, naive_matmul, tiled_matmul, vector_axpy


@pytest.fixture(scope="module")
def device() -> Iterator[kw.Device]:
    with kw.Device("h200") as found:
        yield found


@pytest.mark.parametrize("cache", ["L1", "L2", "NONE"])
def test_axpy_moves_vectors(cache: str, tmp_path: Path, device: kw.Device) -> None:
    axpy = example("axpy")
    computation = axpy.computation(n=1 << 12)
    backbone = computation.backbone()
    kernel = generate(backbone, vector_axpy(backbone, 128, cache))
    assert kernel.grid == (8, 1, 1) and kernel.block == (128, 1, 1) and kernel.barriers == 0
    assert kernel.source.count("float4 vector") == 2 and "make_float4" in kernel.source
    assert ("__ldcg" in kernel.source) == (cache == "L2") and ("__stcs" in kernel.source) == (cache == "NONE")
    run(axpy, computation, kernel, tmp_path, device)


@pytest.mark.parametrize("name", ["matmul", "matmul_strided", "matmul_at", "matmul_bt"])
def test_naive_matmul(name: str, tmp_path: Path, device: kw.Device) -> None:
    entry = example(name)
    computation = entry.computation(m=32, n=64, k=16)
    backbone = computation.backbone()
    kernel = generate(backbone, naive_matmul(backbone))
    assert kernel.shared_bytes == 0 and kernel.barriers == 0 and kernel.threads == 128
    run(entry, computation, kernel, tmp_path, device)


def test_tiled_matmul_has_two_barriers_and_is_faster(tmp_path: Path, device: kw.Device) -> None:
    entry = example("matmul")
    computation = entry.computation(m=128, n=128, k=128)
    backbone = computation.backbone()
    kernel = generate(backbone, tiled_matmul(backbone))
    assert kernel.barriers == kernel.source.count("__syncthreads") == 2
    assert kernel.registers == 1 + 4 + 16 + 4 + 4
    assert kernel.shared_bytes == 4 * (16 * (64 + 4) + 16 * 64)  # the transposed tile of A is padded, that of B is not
    tiled = run(entry, computation, kernel, tmp_path, device)
    naive = run(entry, computation, generate(backbone, naive_matmul(backbone)), tmp_path, device)
    assert tiled.time_us < 0.6 * naive.time_us


def test_a_store_is_left_to_one_of_the_threads_that_share_it(tmp_path: Path, device: kw.Device) -> None:
    entry = example("row_sum")
    computation = entry.computation(m=64, n=32)
    backbone = computation.backbone()
    shared = Nest("THREAD", dims("x x_to_total_put", "m1"), [
        Nest("UNROLL", dims("x x_to_total_put", "m2"), [
            Nest("THREAD", dims("x x_to_total_put", "n1"), [
                Nest("UNROLL", dims("x x_to_total_put", "n2"), ["x", "x_to_total_put"])], 0)])], 1)  # fmt: skip
    total = Nest("THREAD", dims("x_to_total_get total", "m1"), [
        Nest("UNROLL", dims("x_to_total_get total", "m2"), [
            Nest("UNROLL", dims("x_to_total_get total", "n1"), [
                Nest("UNROLL", dims("x_to_total_get total", "n2"), ["x_to_total_get", "total"])])])], 1)  # fmt: skip
    begin = Nest("THREAD", dims("total_init", "m1"), [Nest("UNROLL", dims("total_init", "m2"), ["total_init"])], 1)
    end = Nest("THREAD", dims("st", "m1"), [Nest("UNROLL", dims("st", "m2"), ["st"])], 1)
    body: list[Nest | str] = [begin, Nest("LOOP", dims("x total", "n0"), [shared, total]), end]
    body = [Nest("BLOCK", dims("x total_init total st", "m0"), body)]
    sizes, layouts = {"m1": 4, "m2": 2, "n1": 8, "n2": 2}, {"x_to_total": ["m1", "m2", "n1", "n2"]}
    leaf = WrittenLeaf(backbone, body, sizes, layouts=layouts)
    kernel = generate(backbone, leaf)
    assert "if (thread_x == 0)" in kernel.source
    run(entry, computation, kernel, tmp_path, device)


def change(leaf: WrittenLeaf, choice: str, name: str, value: str | int) -> WrittenLeaf:
    """The leaf with another answer to one question."""
    right = leaf.value

    def wrong(asked: str, *objects: object) -> str | int:
        return value if asked == choice and str(objects[0]) == name else right(asked, *objects)  # type: ignore[arg-type]

    leaf.value = wrong  # type: ignore[method-assign, assignment]
    return leaf


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda leaf: change(leaf, "dim_kind", "a.m0", "LOOP"), "a.m0 and st.m0 are one loop of several kinds: BLOCK, LOOP"),
        (lambda leaf: change(leaf, "size", "a.m2", 2), "a.m0 and st.m0 are one loop of several sizes"),
        (lambda leaf: change(leaf, "size", "a.k1", 8), "a.k1 and a_to_mad_put.k1 are one axis of threads of several sizes"),
        (lambda leaf: change(leaf, "cache", "st", "READ_ONLY"), "st cannot use the cache decision READ_ONLY: a store knows"),
        (lambda leaf: change(leaf, "size", "st.n2", 3), "the tiles of n around st do not divide 128"),
    ],
)  # fmt: skip
def test_contradictory_decisions_are_refused(spoil: Callable[[WrittenLeaf], WrittenLeaf], sentence: str) -> None:
    backbone = example("matmul").computation(m=128, n=128, k=128).backbone()
    with pytest.raises(Misuse) as raised:
        generate(backbone, spoil(tiled_matmul(backbone)))
    assert sentence in raised.value.message


def test_shared_memory_is_limited() -> None:
    backbone = example("matmul").computation(m=128, n=128, k=128).backbone()
    leaf = tiled_matmul(backbone)
    assert generate(backbone, leaf, shared_limit=8192).shared_bytes == 8192  # without padding
    with pytest.raises(Misuse, match="8192 bytes of shared memory, of 8191"):
        generate(backbone, leaf, shared_limit=8191)


def test_a_loop_of_one_iteration_is_not_in_the_text(tmp_path: Path, device: kw.Device) -> None:
    entry = example("axpy")
    computation = entry.computation(n=1)
    backbone = computation.backbone()
    body: list[Nest | str] = [Nest("LOOP", dims("x y mad st", "n0"), ["x", "y", "mad", "st"])]
    kernel = generate(backbone, WrittenLeaf(backbone, body, {}))
    assert "for (" not in kernel.source and kernel.grid == kernel.block == (1, 1, 1)
    run(entry, computation, kernel, tmp_path, device)
