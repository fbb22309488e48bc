"""Tracking of a disk through a noisy video: inputs, outputs and reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.suite.program import Size, SuiteProgram, Tolerance

# frames, height, width, radius, particles
SHAPE: dict[Size, tuple[int, int, int, int, int]] = {
    "minute": (3, 30, 34, 2, 110),
    "tiny": (3, 32, 40, 2, 150),
    "small": (10, 128, 128, 5, 1000),
    "medium": (10, 140, 132, 5, 1200),
    "large": (10, 128, 128, 5, 40_000),
}
BACKGROUND, OBJECT, NOISE = 100, 228, 5.0
DRIFT, SPREAD = (1.0, -2.0), (5.0, 2.0)  # of x and y, pixels per frame


def generate(folder: Path, size: Size, seed: int) -> tuple[str, ...]:
    """A bright disk that drifts from the middle of the first frame to the upper right, both it and the rest noisy.

    Apart from ``large`` the number of particles varies with the seed.
    """
    rng = np.random.default_rng(seed)
    frames, height, width, radius, particles = SHAPE[size]
    if size != "large":
        particles -= int(rng.integers(0, 20))
    row, col = np.mgrid[0:height, 0:width]
    video = np.empty((frames, height, width))
    x, y = width // 2, height // 2
    for k in range(frames):
        video[k] = np.where((col - x) ** 2 + (row - y) ** 2 <= radius**2, OBJECT, BACKGROUND)
        x += int(rng.integers(0, 4))
        y -= int(rng.integers(1, 4))
    video += rng.normal(0.0, NOISE, video.shape)
    np.clip(np.round(video), 0, 255).astype(np.uint8).tofile(folder / "video.bin")
    shape = (str(frames), str(height), str(width), str(radius), str(particles))
    return ("video.bin", *shape, str(int(rng.integers(1 << 31))), "track.bin", "positions.bin")


def read(folder: Path) -> dict[str, NDArray[Any]]:
    """``track``: float64 pixels, x and y of the object in each frame. ``positions``: float64 pixels, the x, then the y,
    of all particles after the last frame."""
    return {
        "track": np.fromfile(folder / "track.bin", dtype=np.float64),
        "positions": np.fromfile(folder / "positions.bin", dtype=np.float64),
    }


def oracle(folder: Path, argv: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """The same filter with the same random numbers; sums in extended precision, so that the program's own rounding
    alone decides how far the two are apart."""
    frames, height, width, radius, particles, seed = (int(a) for a in argv[1:7])
    video = np.fromfile(folder / argv[0], dtype=np.uint8).reshape(frames, height, width).astype(np.int64)
    reach = np.arange(-radius, radius + 1)
    disk_x, disk_y = np.meshgrid(reach, reach)
    inside = disk_x**2 + disk_y**2 <= radius**2
    disk_x, disk_y = disk_x[inside], disk_y[inside]

    random = Random(_mix(np.uint32(seed) + np.arange(1, particles + 1, dtype=np.uint32)))
    offsets = Random(_mix(np.array([seed], dtype=np.uint32)))
    x = np.full(particles, float(width // 2))
    y = np.full(particles, float(height // 2))
    track = [(float(width // 2), float(height // 2))]
    for frame in video[1:]:
        x = x + DRIFT[0] + SPREAD[0] * random.normal()
        y = y + DRIFT[1] + SPREAD[1] * random.normal()
        col = np.floor(x + 0.5).astype(np.int64)[:, None] + disk_x
        row = np.floor(y + 0.5).astype(np.int64)[:, None] + disk_y
        seen = (row >= 0) & (row < height) & (col >= 0) & (col < width)
        pixel = np.where(seen, frame[np.clip(row, 0, height - 1), np.clip(col, 0, width - 1)], BACKGROUND)
        ratio = ((pixel - BACKGROUND) ** 2 - (pixel - OBJECT) ** 2).sum(axis=1)
        score = ratio / (2.0 * NOISE * NOISE * len(disk_x))
        weight = np.exp(score - score.max()).astype(np.longdouble)
        weight /= weight.sum()
        track.append((float((weight * x).sum()), float((weight * y).sum())))
        place = (np.arange(particles) + offsets.uniform()) / particles
        chosen = np.minimum(np.searchsorted(np.cumsum(weight), place), particles - 1)
        x, y = x[chosen], y[chosen]
    return {"track": np.array(track).ravel(), "positions": np.concatenate([x, y])}


class Random:
    """The program's random numbers: one xorshift generator (13, 17, 5) per element of ``state``."""

    def __init__(self, state: NDArray[np.uint32]) -> None:
        self.state = state

    def uniform(self) -> NDArray[np.float64]:
        """The next number of each generator, about 0 to 1, as the program draws it: shape of ``state``."""
        state = self.state
        state = state ^ (state << np.uint32(13))
        state = state ^ (state >> np.uint32(17))
        self.state = state ^ (state << np.uint32(5))
        return (self.state.astype(np.float64) - 0.5) / 2.0**32

    def normal(self) -> NDArray[np.float64]:
        """One normally distributed number per generator (Box-Muller): shape of ``state``."""
        radius = np.sqrt(-2.0 * np.log(self.uniform()))
        return radius * np.cos(2.0 * np.pi * self.uniform())


def _mix(seed: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The finaliser of MurmurHash3."""
    seed = seed ^ (seed >> np.uint32(16))
    seed = seed * np.uint32(0x85EBCA6B)
    seed = seed ^ (seed >> np.uint32(13))
    seed = seed * np.uint32(0xC2B2AE35)
    seed = seed ^ (seed >> np.uint32(16))
    return np.where(seed == 0, np.uint32(1), seed)


PROGRAM = SuiteProgram(
    name="particlefilter",
    title="Particle filter",
    summary="Tracking of a disk in a video: likelihoods, weights, reductions, a prefix sum and systematic resampling.",
    sources=("particlefilter.cu",),
    flags=(),
    generate=generate,
    outputs=("track.bin", "positions.bin"),
    read=read,
    oracle=oracle,
    tolerance={
        "track": Tolerance("float64 sums in another order, exp and cos of another library", absolute=1e-9),
        "positions": Tolerance("float64 log and cos of another library", absolute=1e-9),
    },
)
