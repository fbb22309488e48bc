"""Temporaries in global memory: which the space offers and why not more, what the text does, and what it comes to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kernelwright as kw
from kernelwright.exploration.expert import expert
from kernelwright.exploration.host_program import host_program
from kernelwright.exploration.kernel_space import KernelSpace
from kernelwright.exploration.naive import naive_decisions
from kernelwright.exploration.subject import Subject
from kernelwright.space.computation.declaration import Computation
from kernelwright.space.computation.expressions import exp
from kernelwright.space.computation.family import Family
from kernelwright.space.computation.sizes import size_at_launch
from kernelwright.space.cuda_source import generate
from kernelwright.space.engine.solver import Solver
from kernelwright.space.gpu.leaf import Decided
from kernelwright.space.gpu.sets import DECISION_ORDER, exists, mem_space
from kernelwright.space.gpu.space import gpu_space
from kernelwright.space.library import example
from kernelwright.space.partial import Partial
from tests.space.execution import run
from tests.space.solutions import leaves, solutions
from tests.space.written_leaf import kept_softmax


def _shares(n: int, tiles: tuple[int, ...] = ()) -> Computation:
    """Without tiles: only what the tiles leave, the smallest space that has a temporary in global memory."""
    c = Computation("shares")
    i = c.loop("n", n, tiles)
    x, y = c.input("X", (n,)), c.output("Y", (n,))
    e = c.compute("e", exp(c.load("x", x[i], through_memory=False)), through_memory=True)
    c.store("st", y[i], e / c.sum("total", e, over=i))
    return c


SHARES = Family("shares", {"n": 5}, _shares, lambda a, s: {"Y": np.exp(a["X"]) / np.exp(a["X"]).sum()}, {})


def test_leaves_are_the_solutions_and_their_kernels_are_right(tmp_path: Path) -> None:
    computation = SHARES.computation(n=5)
    backbone = computation.backbone()
    ground = gpu_space(backbone)
    solver = Solver(ground.constraints)
    assert leaves(solver) == solutions(ground.constraints)
    texts = {}
    start = Partial.root(ground, seed=1)
    for _ in range(40):
        leaf = start.completed(DECISION_ORDER)
        kernel = generate(backbone, Decided(ground, leaf.state))
        assert [each.of_a_block({}) for each in kernel.scratch] in ([5], [5, 5])
        texts[kernel.source] = kernel
    assert len(texts) > 5
    with kw.Device("h200", strict=True) as device:
        for kernel in list(texts.values())[:6]:
            run(SHARES, computation, kernel, tmp_path, device)


def test_what_rests_keep_lies_in_global_memory() -> None:
    plan = expert("softmax_kept", {"m": 64, "n": 1024}, device="h200")
    assert plan.left("mem_space", "e_to_st_value") == ["GLOBAL"]
    assert "rests_apart_need_global_memory" in plan.why("mem_space(e_to_st_value) = SHARED")
    assert plan.left("mem_space", "x_max_to_largest") == ["SHARED"]
    assert "loads_are_staged_in_shared_memory" in plan.why("mem_space(x_max_to_largest) = GLOBAL")
    plan.decide("order(e.m0, st_value.m0) = BEFORE")
    assert plan.left("dim_kind", "e.m0") == ["LOOP"], "a loop of blocks is around both: blocks exchange nothing"
    assert "blocks" in plan.why("dim_kind(e.m0) = BLOCK")


def test_a_tile_lies_in_either() -> None:
    backbone = _shares(64, (8,)).backbone()
    root = Partial.root(gpu_space(backbone))
    temporary = backbone.temporary("e_to_total")
    there = root.decide(exists(temporary).YES)
    assert there.values("mem_space", temporary) == ["SHARED", "GLOBAL"]
    kept = there.decide(mem_space(temporary).SHARED)
    assert kept.values("order", backbone.dim("e.n0"), backbone.dim("total.n0")) == ["MERGED"]


def test_a_row_waits_for_its_sum(tmp_path: Path) -> None:
    entry = example("softmax_kept")
    computation = entry.computation(m=10, n=300)
    backbone = computation.backbone()
    kernel = generate(backbone, kept_softmax(backbone))
    assert "float *__restrict__ Y, float *e_to_st_value) {" in kernel.source, "other threads write it: not restricted"
    assert "e_to_st_value += (long)blockIdx.x * 1280;  // of this block" in kernel.source
    assert "e_to_st_value[x_n0 * 128 + thread_y * 32 + thread_x] = v_e;" in kernel.source
    assert kernel.source.count("expf(") == 1 and kernel.shared_bytes == 0
    written, read = (kernel.source.index(text) for text in ("thread_x] = v_e;", "v_e_to_st_value_get = "))
    assert "__syncthreads();" in kernel.source[written:read] and kernel.barriers == 1
    assert kernel.grid == (3, 1, 1) and kernel.scratch_elements({}) == {"e_to_st_value": 3 * 10 * 128}
    with kw.Device("h200", strict=True) as device:
        run(entry, computation, kernel, tmp_path, device)


def test_its_room_is_known_at_launch(tmp_path: Path) -> None:
    entry = example("softmax_kept")
    tuned = {"m": size_at_launch("m", 16), "n": size_at_launch("n", 128)}
    kernel = generate(entry.computation(**tuned).backbone(), kept_softmax(entry.computation(**tuned).backbone()))
    assert "const int e_to_st_value_n0 = (n + 31) / 32;" in kernel.source
    assert "e_to_st_value += (long)blockIdx.x * 128 * e_to_st_value_n0;  // of this block" in kernel.source
    assert kernel.scratch[0].text == "128 * ((n + 31) / 32)"
    with kw.Device("h200", strict=True) as device:
        for sizes in ({"m": 1, "n": 1}, {"m": 7, "n": 321}, {"m": 16, "n": 128}):
            other = kernel.at(sizes)
            assert other.scratch_elements(sizes) == {"e_to_st_value": -(-sizes["m"] // 4) * -(-sizes["n"] // 32) * 128}
            run(entry, entry.computation(**sizes), other, tmp_path, device, sizes)


@pytest.mark.parametrize("dynamic", [[], ["m", "n"]])
def test_a_program_brings_the_room(dynamic: list[str], tmp_path: Path) -> None:
    subject = Subject.of("softmax_kept", (40, 600), "h200", dynamic)
    space = KernelSpace(subject)
    kernel = space.kernel(naive_decisions(space))
    assert len(kernel.scratch) >= 1
    path = tmp_path / "program.cu"
    path.write_text(host_program(subject, kernel.source, kernel))
    sizes = ["33", "70"] if dynamic else []
    command = [sys.executable, "-m", "kernelwright", "run", str(path), "--device", "h200", "--", *sizes]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = int(sizes[0]) if sizes else 40
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split("sum ")[1].split(",")[0]) == pytest.approx(rows, rel=1e-3), "each row adds up to one"
