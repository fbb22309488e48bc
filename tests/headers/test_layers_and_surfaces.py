"""Layered textures, cube maps and surfaces, run on this machine, against NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kernelwright.cuda.clang import find_clang
from kernelwright.cuda.frontend import SourceOptions, device_pass
from tests.nvidia_extra import needs_nvidias_headers

from .conftest import CudaCompiler
from .jit import Program
from .test_textures import CLAMP, LINEAR, POINT, Texture

ZERO, CLAMPED = 0, 1
_SOURCE = """
#define FETCH(name, T, call) extern "C" __device__ void name(unsigned long long t, const float *at, T *out, long n) \\
  { for (long i = 0; i < n; i++, at += 4) out[i] = call; }
FETCH(line, float, tex1DLayered<float>(t, at[0], (int)at[3]))
FETCH(plane, float, tex2DLayered<float>(t, at[0], at[1], (int)at[3]))
FETCH(numbers, int, tex2DLayered<int>(t, at[0], at[1], (int)at[3]))
FETCH(cube, float, texCubemap<float>(t, at[0], at[1], at[2]))
FETCH(cubes, float, texCubemapLayered<float>(t, at[0], at[1], at[2], (int)at[3]))
#define SURFACE(name, dims, at, ...) \\
  extern "C" __device__ void read_##name(unsigned long long s, const int *at, short2 *out, long n, int mode) \\
    { for (long i = 0; i < n; i++, at += 3) out[i] = surf##dims##read<short2>(s, __VA_ARGS__, (cudaSurfaceBoundaryMode)mode); } \\
  extern "C" __device__ void write_##name(unsigned long long s, const int *at, short2 *out, long n, int mode) \\
    { for (long i = 0; i < n; i++, at += 3) surf##dims##write(out[i], s, __VA_ARGS__, (cudaSurfaceBoundaryMode)mode); }
SURFACE(line, 1D, at, at[0] * 4)
SURFACE(plane, 2D, at, at[0] * 4, at[1])
SURFACE(volume, 3D, at, at[0] * 4, at[1], at[2])
SURFACE(lines, 1DLayered, at, at[0] * 4, at[2])
SURFACE(planes, 2DLayered, at, at[0] * 4, at[1], at[2])
"""


@pytest.fixture(scope="module", params=["own", "nvidia"])
def program(
    compile_cuda: CudaCompiler, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Program:
    """The same functions of our headers, and of NVIDIA's above what stands in front of their texture unit."""
    if request.param == "nvidia":
        needs_nvidias_headers()
        file = tmp_path_factory.mktemp("nvidia") / "fetches.cu"
        # What our runtime has no objects for is called for by name only, and nothing here does.
        file.write_text(
            _SOURCE + 'extern "C" __device__ void __kw_mipmapped_gathered_or_sparse_texture() { __builtin_trap(); }'
        )
        return Program(device_pass(file, SourceOptions(), find_clang(headers="nvidia")).text)
    compiled = compile_cuda(_SOURCE)
    assert compiled.ok, compiled.errors
    return Program(compiled.ir)


def fetched(program: Program, name: str, texture: Texture, at: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    out = np.zeros(len(at), np.int32 if name == "numbers" else np.float32)
    program.call(name, texture.descriptor().ctypes.data, np.ascontiguousarray(at, np.float32), out, len(at))
    return out


@pytest.mark.parametrize("filter_", [POINT, LINEAR])
@pytest.mark.parametrize("dimensions", [1, 2])
def test_layers_are_not_mixed(dimensions: int, filter_: int, program: Program) -> None:
    rng = np.random.default_rng(dimensions)
    texels = rng.random((5, 4 if dimensions == 2 else 1, 8, 1)).astype(np.float32)
    texture = Texture(texels, CLAMP, filter_)
    at = np.zeros((200, 4), np.float32)
    at[:, 0], at[:, 1] = (rng.integers(-1024, 6 * 1024, (2, 200)) | 1) / 512.0
    at[:, 3] = rng.integers(-2, 8, 200)
    found = fetched(program, ("line", "plane")[dimensions - 1], texture, at)
    for place, value in zip(at, found, strict=True):
        layer = min(max(int(place[3]), 0), 4)
        one = Texture(texels[layer : layer + 1], CLAMP, filter_)
        wanted = one.sample(one.as_floats(), list(map(float, place[:dimensions])), 0.0)
        assert math.isclose(value, float(wanted[0]), abs_tol=3e-6)


def test_numbers_of_a_layer(program: Program) -> None:
    texels = np.arange(3 * 2 * 4, dtype=np.int32).reshape(3, 2, 4, 1)
    at = np.array([(x + 0.5, y + 0.5, 0, z) for z in range(3) for y in range(2) for x in range(4)])
    assert fetched(program, "numbers", Texture(texels), at).tolist() == list(range(24))


# The CUDA programming guide's table: the face, and which coordinates of the direction are s and t on it.
FACES = {
    0: lambda v: (-v[2], -v[1], v[0]), 1: lambda v: (v[2], -v[1], -v[0]), 2: lambda v: (v[0], v[2], v[1]),
    3: lambda v: (v[0], -v[2], -v[1]), 4: lambda v: (v[0], -v[1], v[2]), 5: lambda v: (-v[0], -v[1], -v[2]),
}  # fmt: skip


@pytest.mark.parametrize("normalized", [False, True])
def test_directions_meet_faces(normalized: bool, program: Program) -> None:
    rng = np.random.default_rng(4)
    texels = rng.random((12, 8, 8, 1)).astype(np.float32)
    texture = Texture(texels, CLAMP, POINT, normalized)
    at = np.ones((300, 4), np.float32)
    at[:, :3] = rng.normal(size=(300, 3))
    for name, cube in (("cube", 0), ("cubes", 1)):
        for place, value in zip(at, fetched(program, name, texture, at), strict=True):
            v = place[:3].astype(np.float64)
            face = 2 * int(np.argmax(np.abs(v))) + (v[np.argmax(np.abs(v))] < 0)
            s, t, m = FACES[face](v)
            x, y = (min(int((c / m + 1) / 2 * 8), 7) for c in (s, t))
            assert value == texels[cube * 6 + face, y, x, 0]


@pytest.mark.parametrize("name", ["line", "plane", "volume", "lines", "planes"])
def test_surfaces(name: str, program: Program) -> None:
    rng = np.random.default_rng(5)
    shape = (4 if name not in ("line", "plane") else 1, 3 if name in ("plane", "volume", "planes") else 1, 6)
    texels = rng.integers(-1000, 1000, (*shape, 2)).astype(np.int16)
    texture = Texture(texels)
    at = np.stack([rng.integers(-1, n + 1, 200) if n > 1 else np.zeros(200, int) for n in shape[::-1]], 1).astype(
        np.int32
    )
    inside = np.all((at >= 0) & (at < shape[::-1]), axis=1)
    place = tuple(np.clip(at, 0, np.array(shape[::-1]) - 1).T[::-1])
    out, before = np.zeros((200, 2), np.int16), texels.copy()
    for mode in (ZERO, CLAMPED):
        program.call(f"read_{name}", texture.descriptor().ctypes.data, at, out, 200, mode)
        assert np.array_equal(out, np.where((inside | (mode == CLAMPED))[:, None], before[place], 0))
        assert np.array_equal(texels, before)
    out = rng.integers(-1000, 1000, (200, 2)).astype(np.int16)
    for mode in (ZERO, CLAMPED):
        wanted = texels.copy()
        for n in range(200):
            if inside[n] or mode == CLAMPED:
                wanted[tuple(axis[n] for axis in place)] = out[n]
        program.call(f"write_{name}", texture.descriptor().ctypes.data, at, out, 200, mode)
        assert np.array_equal(texels, wanted)


def test_what_a_surface_cannot_hold(compile_cuda: CudaCompiler) -> None:
    compiled = compile_cuda("__global__ void k(cudaSurfaceObject_t s) { surf1Dwrite(make_float3(1, 2, 3), s, 0); }")
    assert not compiled.ok and "1, 2, 4, 8 or 16 bytes" in compiled.errors
