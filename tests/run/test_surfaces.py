"""Programs with surfaces and layered textures, through the runtime."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.nvidia_extra import needs_nvidias_headers

from .conftest import kw

PROGRAM = r"""
#include <stdio.h>
__global__ void write(cudaSurfaceObject_t s, int layers)
{
    for (int z = 0; z < layers; z++) surf2DLayeredwrite((float)(threadIdx.x + 10 * threadIdx.y + 100 * z), s, threadIdx.x * 4, threadIdx.y, z);
}
__global__ void read(cudaTextureObject_t t, float *out)
{
    out[threadIdx.x] = tex2DLayered<float>(t, 1.0f + threadIdx.x, 2.5f, threadIdx.x);
}
__global__ void outside(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, 4096, 0); }
int main(int count, char **)
{
    cudaArray_t array, plain, cube;
    float *out, h[3];
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMalloc3DArray(&array, &format, make_cudaExtent(8, 4, 3), cudaArrayLayered | cudaArraySurfaceLoadStore);
    cudaMallocArray(&plain, &format, 8, 4);
    cudaResourceDesc resource = {}, given;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    cudaSurfaceObject_t surface, none = 0;
    cudaTextureObject_t texture;
    printf("%d", cudaCreateSurfaceObject(&surface, &resource));
    printf(" %d", cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    printf(" %d %d", cudaGetSurfaceObjectResourceDesc(&given, surface), given.res.array.array == array);
    cudaMalloc(&out, sizeof h);
    write<<<1, dim3(8, 4)>>>(surface, 3);
    read<<<1, 3>>>(texture, out);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    printf(" %g %g %g\n", h[0], h[1], h[2]);
    resource.res.array.array = plain;
    printf("%d", cudaCreateSurfaceObject(&none, &resource));
    printf(" %d %d", cudaDestroySurfaceObject(texture), cudaDestroyTextureObject(surface));
    printf(" %d", cudaMalloc3DArray(&cube, &format, make_cudaExtent(8, 4, 6), cudaArrayCubemap));
    printf(" %d", cudaMalloc3DArray(&cube, &format, make_cudaExtent(8, 8, 5), cudaArrayCubemap));
    printf(" %d", cudaMalloc3DArray(&cube, &format, make_cudaExtent(8, 8, 12), cudaArrayCubemap));
    printf(" %d", cudaMalloc3DArray(&cube, &format, make_cudaExtent(8, 8, 12), cudaArrayCubemap | cudaArrayLayered));
    if (count > 1) {
        outside<<<1, 1>>>(surface);
        printf(" %s", cudaGetErrorName(cudaDeviceSynchronize()));
    } else
        printf(" %d %d", cudaDestroySurfaceObject(surface), cudaDestroySurfaceObject(0));
    puts("");
}
"""


@pytest.mark.parametrize("headers", ["own", "nvidia"])
def test_surfaces_and_layers(headers: str, tmp_path: Path) -> None:
    if headers == "nvidia":
        needs_nvidias_headers()
    (tmp_path / "app.cu").write_text(PROGRAM)
    ran = kw("run", "--headers", headers, "app.cu", cwd=tmp_path)
    assert ran.code == 0 and "app.cu:" not in ran.err
    # Between texels 0 and 1 of row 2, then the next ones of the next layers.
    assert ran.lines == ["0 0 0 1 20.5 121.5 222.5", "1 1 1 1 1 1 0 0 0"]
    checked = kw("check", "app.cu", cwd=tmp_path)
    assert "race" not in checked.err


def test_a_write_outside_ends_the_kernel(tmp_path: Path) -> None:
    (tmp_path / "app.cu").write_text(PROGRAM)
    ran = kw("run", "app.cu", "--", "outside", cwd=tmp_path)
    assert ran.lines[1].endswith("cudaErrorLaunchFailure") and "app.cu:11" in ran.err
