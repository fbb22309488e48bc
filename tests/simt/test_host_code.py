"""Machine code is made once for a text, whichever block shapes or modules it is the text of."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernelwright.codegen.simt.launching import host_code as host_code_module
from kernelwright.codegen.simt.launching.compiled_kernel import compile_host
from kernelwright.codegen.simt.launching.host_code import HostCode, host_code
from kernelwright.codegen.simt.lower import HostKernel, lower
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.ir import Module
from kernelwright.lru import LruCache

Compile = Callable[[str], Module]

SOURCE = """extern "C" __global__ void k(float* a, int n) {
    int i = 256 * blockIdx.x + threadIdx.x;
    if (i < n) a[i] = a[i] * 2.0f + 1.0f;
}"""


@pytest.fixture
def codes(monkeypatch: pytest.MonkeyPatch) -> LruCache[tuple[str, int], HostCode]:
    kept: LruCache[tuple[str, int], HostCode] = LruCache(2)
    monkeypatch.setattr(host_code_module, "_codes", lambda: kept)
    return kept


def lowered(module: Module, threads: int, level: int | None = None) -> HostKernel:
    return lower(module, "k", SimtOptions(block=(threads, 1, 1), level=level))


def test_shapes_whose_text_is_the_same_run_the_same_code(
    cuda: Compile, codes: LruCache[tuple[str, int], HostCode]
) -> None:
    module = cuda(SOURCE)
    one, other, odd = (lowered(module, threads) for threads in (64, 128, 33))
    assert one.text == other.text != odd.text
    addresses = [host_code(kernel.name, kernel.text, 0).address for kernel in (one, other, odd)]
    assert addresses[0] == addresses[1] != addresses[2]
    assert len(codes) == 2
    # Each level has its own, and a kernel made of known code is as patient as the first.
    assert host_code(one.name, one.text, 1).address not in addresses
    assert compile_host(one)._patience == compile_host(other)._patience > 0


def test_variants_are_not_kept(cuda: Compile, codes: LruCache[tuple[str, int], HostCode]) -> None:
    kernel = lowered(cuda(SOURCE), 64, level=0)
    compile_host(kernel)
    assert not len(codes)
