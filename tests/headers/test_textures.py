"""Texture fetches, run on this machine, against the rules of the CUDA programming guide ("Texture Fetching") in Python."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from .conftest import CudaCompiler
from .jit import Program

WRAP, CLAMP, MIRROR, BORDER = range(4)
POINT, LINEAR = range(2)
SIGNED, UNSIGNED, FLOAT = range(3)

# The layout of kwTextureDescriptor; test_layout_is_the_headers compares it with the header itself.
DESCRIPTOR = np.dtype(
    [("data", "u8"), ("row_bytes", "u8"), ("slice_bytes", "u8"), ("width", "u4"), ("height", "u4"), ("depth", "u4"),
     ("channels", "i4"), ("channel_bits", "i4"), ("channel_kind", "i4"), ("address_mode", "i4", 3), ("filter_mode", "i4"),
     ("read_mode", "i4"), ("normalized_coords", "i4"), ("border", "f4", 4)],
    align=True,
)  # fmt: skip

_SOURCE = """
#define FETCH(name, T, dimensions, call) extern "C" __device__ void name(unsigned long long t, const float *at, T *out, long n) \\
  { for (long i = 0; i < n; i++, at += 3) out[i] = call; }
#define FETCHES(T) \\
  FETCH(line_##T, T, 1, tex1D<T>(t, at[0])) FETCH(plane_##T, T, 2, tex2D<T>(t, at[0], at[1])) \\
  FETCH(volume_##T, T, 3, tex3D<T>(t, at[0], at[1], at[2])) FETCH(linear_##T, T, 1, tex1Dfetch<T>(t, (int)at[0]))
typedef unsigned char byte;
FETCHES(float) FETCHES(float2) FETCHES(float4) FETCHES(int) FETCHES(uchar4) FETCHES(byte)
"""


@pytest.fixture(scope="module")
def program(compile_cuda: CudaCompiler) -> Program:
    compiled = compile_cuda(_SOURCE)
    assert compiled.ok, compiled.errors
    return Program(compiled.ir)


def test_layout_is_the_headers(compile_cuda: CudaCompiler) -> None:
    fields = DESCRIPTOR.fields
    assert fields
    checks = [
        f'static_assert(__builtin_offsetof(kwTextureDescriptor, {f}) == {o[1]}, "{f}");' for f, o in fields.items()
    ]
    checks.append(f'static_assert(sizeof(kwTextureDescriptor) == {DESCRIPTOR.itemsize}, "size");')
    for side in ("device", "host"):
        compiled = compile_cuda("\n".join(checks), side=side)
        assert compiled.ok, compiled.errors


@dataclass(frozen=True)
class Texture:
    """``texels[z, y, x, channel]``, and how to read it."""

    texels: np.ndarray[Any, Any]
    address: int = CLAMP
    filter: int = POINT
    normalized: bool = False
    border: tuple[float, float, float, float] = (0.25, 0.5, 0.75, 1.0)

    def descriptor(self) -> np.ndarray[Any, Any]:
        depth, height, width, channels = self.texels.shape
        d = np.zeros(1, DESCRIPTOR)
        kind = {"f": FLOAT, "u": UNSIGNED, "i": SIGNED}[self.texels.dtype.kind]
        d["data"], d["row_bytes"], d["slice_bytes"] = (
            self.texels.ctypes.data,
            self.texels.strides[1],
            self.texels.strides[0],
        )
        d["width"], d["height"], d["depth"] = width, height, depth
        d["channels"], d["channel_bits"], d["channel_kind"] = channels, 8 * self.texels.itemsize, kind
        d["address_mode"], d["filter_mode"], d["normalized_coords"] = self.address, self.filter, self.normalized
        d["border"] = self.border
        return d

    def as_floats(self) -> np.ndarray[Any, Any]:
        t = self.texels
        if t.dtype.kind == "f":
            return t.astype(np.float64)
        return np.maximum(t / float(np.iinfo(t.dtype).max), -1.0)

    def _index(self, i: int, n: int) -> int | None:
        mode = self.address
        if mode in (WRAP, MIRROR) and not self.normalized:
            mode = CLAMP
        if mode == BORDER:
            return i if 0 <= i < n else None
        if mode == CLAMP:
            return min(max(i, 0), n - 1)
        if mode == WRAP:
            return i % n
        return i % (2 * n) if i % (2 * n) < n else 2 * n - 1 - i % (2 * n)

    def _texel(self, values: np.ndarray[Any, Any], at: list[int], outside: Any) -> Any:
        shape = values.shape[:3][::-1]
        place = [self._index(i, n) for i, n in zip(at, shape, strict=False)] + [0] * (3 - len(at))
        if None in place:
            return outside
        x, y, z = place
        return values[z, y, x]

    def sample(self, values: np.ndarray[Any, Any], at: list[float], outside: Any) -> Any:
        """The value at texel coordinates ``at`` (x, y, z; normalised where the texture says so)."""
        sizes = values.shape[:3][::-1]
        at = [x * n if self.normalized else x for x, n in zip(at, sizes, strict=False)]
        if self.filter == POINT:
            return self._texel(values, [math.floor(x) for x in at], outside)
        result: Any = 0.0
        lows = [math.floor(x - 0.5) for x in at]
        weights = [round((x - 0.5 - low) * 256) / 256 for x, low in zip(at, lows, strict=True)]
        for corner in itertools.product((0, 1), repeat=len(at)):
            share = math.prod(w if c else 1 - w for c, w in zip(corner, weights, strict=True))
            texel = self._texel(values, [low + c for low, c in zip(lows, corner, strict=True)], outside)
            result = result + share * np.asarray(texel, np.float64)
        return result


def _places(rng: np.random.Generator, sizes: tuple[int, ...], normalized: bool) -> np.ndarray[Any, Any]:
    """Coordinates within and well outside; multiples of 1/512 texel, so that weights have no doubtful rounding."""
    at = np.zeros((200, 3), np.float32)
    for d, n in enumerate(sizes):
        texels = rng.integers(-2 * n * 512, 3 * n * 512, 200) | 1
        at[:, d] = texels / 512.0 / (n if normalized else 1)
    return at


FORMATS = {"float": ("f4", 1), "float2": ("f4", 2), "float4": ("f4", 4)}


@pytest.mark.parametrize("filter_", [POINT, LINEAR])
@pytest.mark.parametrize("address", [WRAP, CLAMP, MIRROR, BORDER])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_floats(dimensions: int, normalized: bool, address: int, filter_: int, program: Program) -> None:
    rng = np.random.default_rng(dimensions * 8 + address)
    sizes = (8, 4, 2)[:dimensions]  # powers of two: a normalised coordinate times the size is exact
    shape = (*reversed(sizes + (1,) * (3 - dimensions)),)
    for name, (kind, channels) in FORMATS.items():
        texture = Texture(rng.random((*shape, channels)).astype(kind), address, filter_, normalized)
        at = _places(rng, sizes, normalized)
        out = np.zeros((len(at), channels), np.float32)
        program.call(
            f"{('line', 'plane', 'volume')[dimensions - 1]}_{name}", texture.descriptor().ctypes.data, at, out, len(at)
        )
        values = texture.as_floats()
        wanted = [
            texture.sample(values, list(map(float, a[:dimensions])), np.array(texture.border[:channels])) for a in at
        ]
        np.testing.assert_allclose(out, np.array(wanted), rtol=0, atol=3e-6 if filter_ == LINEAR else 0)


@pytest.mark.parametrize("kind", ["u1", "u2", "i1", "i2", "f2"])
def test_integers_and_halves_become_floats(kind: str, program: Program) -> None:
    rng = np.random.default_rng(2)
    numbers = np.arange(-128, 128) if kind[0] != "u" else np.arange(256)
    texels = (rng.random((1, 16, 16, 1)).astype(kind) if kind == "f2"
              else (numbers * (257 if kind[1] == "2" else 1)).clip(np.iinfo(kind).min, np.iinfo(kind).max)
              .reshape(1, 16, 16, 1).astype(kind))  # fmt: skip
    texture = Texture(texels)
    at = np.array([(x + 0.5, y + 0.5, 0) for y in range(16) for x in range(16)], np.float32)
    out = np.zeros(256, np.float32)
    program.call("plane_float", texture.descriptor().ctypes.data, at, out, 256)
    np.testing.assert_allclose(out, texture.as_floats().reshape(-1), rtol=1e-7)


@pytest.mark.parametrize(("name", "kind", "channels"), [("int", "i4", 1), ("uchar4", "u1", 4), ("byte", "u1", 1)])
def test_integers_stay_integers(name: str, kind: str, channels: int, program: Program) -> None:
    rng = np.random.default_rng(3)
    info = np.iinfo(kind)
    texels = rng.integers(info.min, info.max, (1, 4, 8, channels), endpoint=True).astype(kind)
    for address in (CLAMP, BORDER):
        texture = Texture(texels, address, border=(0, 0, 0, 0))
        at = _places(rng, (8, 4), False)
        out = np.zeros((len(at), channels), kind)
        program.call(f"plane_{name}", texture.descriptor().ctypes.data, at, out, len(at))
        wanted = [texture.sample(texels, list(map(float, a[:2])), np.zeros(channels, kind)) for a in at]
        assert np.array_equal(out, np.array(wanted))


def test_rows_may_be_padded(program: Program) -> None:
    padded = np.arange(64, dtype=np.float32).reshape(1, 8, 8, 1)
    texture = Texture(padded[:, :, :5])
    at = np.array([(x + 0.5, y + 0.5, 0) for y in range(8) for x in range(5)], np.float32)
    out = np.zeros(40, np.float32)
    program.call("plane_float", texture.descriptor().ctypes.data, at, out, 40)
    assert out.tolist() == padded[0, :, :5, 0].reshape(-1).tolist()


def test_linear_memory_is_zero_outside(program: Program) -> None:
    texture = Texture(np.arange(1, 7, dtype=np.float32).reshape(1, 1, 6, 1), border=(9, 9, 9, 9))
    at = np.array([(i, 0, 0) for i in (-1, 0, 5, 6, 1 << 24)], np.float32)
    out = np.full(5, -1, np.float32)
    program.call("linear_float", texture.descriptor().ctypes.data, at, out, 5)
    assert out.tolist() == [0, 1, 6, 0, 0]


@pytest.mark.parametrize("filter_", [POINT, LINEAR])
def test_wild_coordinates_stay_inside(filter_: int, program: Program) -> None:
    texture = Texture(np.full((1, 4, 4, 1), 7, np.float32), CLAMP, filter_)
    at = np.array([(v, w, 0) for v in (1e30, -1e30, np.inf, -np.inf, 3e9) for w in (0, 1e30, -np.inf)], np.float32)
    out = np.zeros(len(at), np.float32)
    program.call("plane_float", texture.descriptor().ctypes.data, at, out, len(at))
    # Between two equal texels a weight that is not a number gives no number; memory is never left either way.
    assert set(out[~np.isnan(out)].tolist()) <= {7.0}
    assert filter_ == LINEAR or not np.isnan(out).any()


def test_references_are_addresses_in_device_memory(compile_cuda: CudaCompiler) -> None:
    text = """
    texture<float, 2, cudaReadModeElementType> plane;
    __global__ void k(float *out) { *out = tex2D(plane, 1.0f, 2.0f); }
    int main() { cudaBindTexture2D(nullptr, plane, nullptr, 4, 4, 16); k<<<1, 1>>>(nullptr); }
    """
    device, host = (
        compile_cuda(text),
        compile_cuda(text, "-Xclang", "-fcuda-include-gpubinary", "-Xclang", "/dev/null", side="host"),
    )
    assert device.ok and host.ok, device.errors + host.errors
    assert "@plane = dso_local addrspace(1) externally_initialized global i64 undef, align 8" in device.ir
    assert "call void @__cudaRegisterTexture(ptr %0, ptr @plane," in host.ir
