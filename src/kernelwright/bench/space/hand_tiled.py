"""A matrix product tiled by hand, as a programmer would: the kernel that explorations of matmul are held against."""

from __future__ import annotations

from kernelwright.errors import Misuse
from kernelwright.space.cuda_source import GeneratedKernel

TILE, DEPTH, THREADS = 64, 16, 16
"""A block makes 64 x 64 elements of C, in steps of 16 along k; each of its 16 x 16 threads 4 x 4."""
SOURCE = """
extern "C" __global__ void __launch_bounds__(256)
tiled(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
    __shared__ __align__(16) float a[16][64 + 4], b[16][64];
    const int x = threadIdx.x, y = threadIdx.y, thread = y * 16 + x;
    const int row = blockIdx.x / (N / 64) * 64, column = blockIdx.x % (N / 64) * 64;
    float sum[4][4] = {};
    for (int k = 0; k < K; k += 16) {
        const float4 v = *(const float4 *)&A[(row + thread / 4) * K + k + thread % 4 * 4];
        a[thread % 4 * 4 + 0][thread / 4] = v.x;
        a[thread % 4 * 4 + 1][thread / 4] = v.y;
        a[thread % 4 * 4 + 2][thread / 4] = v.z;
        a[thread % 4 * 4 + 3][thread / 4] = v.w;
        *(float4 *)&b[thread / 16][thread % 16 * 4] = *(const float4 *)&B[(k + thread / 16) * N + column + thread % 16 * 4];
        __syncthreads();
        #pragma unroll
        for (int p = 0; p < 16; p++) {
            const float4 left = *(const float4 *)&a[p][y * 4], right = *(const float4 *)&b[p][x * 4];
            const float l[4] = {left.x, left.y, left.z, left.w}, r[4] = {right.x, right.y, right.z, right.w};
            #pragma unroll
            for (int i = 0; i < 4; i++)
                #pragma unroll
                for (int j = 0; j < 4; j++)
                    sum[i][j] += l[i] * r[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        *(float4 *)&C[(row + y * 4 + i) * N + column + x * 4] = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}
"""


def hand_tiled(m: int, n: int, k: int) -> GeneratedKernel:
    """For row-major matrices. Raises ``Misuse`` for sizes that its tiles do not divide."""
    if m % TILE or n % TILE or k % DEPTH:
        raise Misuse(f"the hand-tiled kernel takes multiples of {TILE}, {TILE} and {DEPTH}, not {m}, {n}, {k}")
    source = f"#define N {n}\n#define K {k}\n{SOURCE}#undef N\n#undef K\n"
    shared = 4 * DEPTH * (TILE + 4 + TILE)
    blocks = (m // TILE) * (n // TILE)
    return GeneratedKernel("tiled", source, (blocks, 1, 1), (THREADS, THREADS, 1), shared, 2, 24, ("A", "B", "C"), ())
