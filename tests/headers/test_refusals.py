"""What the headers do not have is refused with a sentence that says what to do."""

from __future__ import annotations

import pytest

from .conftest import CudaCompiler

_GRID = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n__global__ void k() {{ {} }}"

REFUSED = {
    "thrust": (
        "#include <thrust/merge.h>",
        "this part of thrust is among NVIDIA's headers: compile with --headers nvidia",
    ),
    "thrust, deeper": ("#include <thrust/iterator/discard_iterator.h>", "thrust is among NVIDIA's headers"),
    "cub": (
        "#include <cub/device/device_radix_sort.cuh>",
        "this part of cub is among NVIDIA's headers: compile with --headers nvidia",
    ),
    "cub, deeper": ("#include <cub/block/block_radix_sort.cuh>", "cub is among NVIDIA's headers"),
    "a crooked warp of cub": (
        "#include <cub/cub.cuh>\n__global__ void k() { cub::WarpReduce<int, 12>::TempStorage s; }",
        "a logical warp of our cub has a power of two of threads: compile with --headers nvidia",
    ),
    "a wide tile": (
        _GRID.format("cg::tiled_partition<64>(cg::this_thread_block()).sync();"),
        "use thread_block, or tiles of 32",
    ),
    "a crooked tile": (_GRID.format("cg::tiled_partition<12>(cg::this_thread_block()).sync();"), "is a power of two"),
    "a matrix of a shape that is none": (
        "#include <mma.h>\nusing namespace nvcuda::wmma;\n"
        "__global__ void k() { fragment<accumulator, 16, 16, 4, float> f; fill_fragment(f, 0.0f); }",
        "wmma has no fragment of this type in this shape",
    ),
    "a shuffle of a string": (
        "#include <string>\n" + _GRID.format("cg::tiled_partition<4>(cg::this_thread_block()).shfl(std::string(), 0);"),
        "only trivially copyable types can be shuffled",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_with_the_next_step(what: str, compile_cuda: CudaCompiler) -> None:
    text, sentence = REFUSED[what]
    compiled = compile_cuda(text)
    assert not compiled.ok
    assert sentence in compiled.errors


@pytest.mark.parametrize(
    "text",
    [
        "__global__ void k(double *p) { __reduce_add_sync(1, *p); }",  # no such overload
        "__global__ void k(char *p) { atomicAdd(p, (char)1); }",
        "int main() { return __popc(3); }",  # a device function in host code
        "__global__ void k(float *p) { *p = __shfl_sync(1, make_float4(1, 2, 3, 4), 0).x; }",
        "__device__ float2 f(cudaTextureObject_t t) { return tex2D<float3>(t, 0, 0); }",  # no texel has three channels
    ],
)
def test_what_nvcc_refuses_we_refuse(text: str, compile_cuda: CudaCompiler) -> None:
    sides = [compile_cuda(text), compile_cuda(text, side="host")]
    assert not all(c.ok for c in sides)
