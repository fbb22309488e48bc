"""Heart-wall tracking: inputs, outputs and reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.lazy_dataclasses import dataclass
from kernelwright.suite.program import Size, SuiteProgram, Tolerance

BLEND, MOTION_SCALE = 0.2, 2.0


@dataclass(frozen=True)
class Shape:
    frames: int
    rows: int
    cols: int
    template_radius: int
    search_radius: int
    inner_points: int
    outer_points: int


SHAPES: dict[Size, Shape] = {
    "minute": Shape(2, 36, 42, 3, 2, 1, 2),
    "tiny": Shape(3, 40, 44, 3, 2, 1, 1),
    "small": Shape(6, 200, 180, 8, 5, 10, 14),
    "medium": Shape(5, 212, 190, 8, 5, 9, 13),
    "large": Shape(104, 590, 609, 12, 8, 20, 31),  # 51 points in 104 frames, as in the published evaluations
}


def sample(texture: NDArray[Any], row: NDArray[Any], col: NDArray[Any]) -> NDArray[Any]:
    """Bilinear interpolation; positions outside take the nearest inside."""
    row = np.clip(row, 0, texture.shape[0] - 1.001)
    col = np.clip(col, 0, texture.shape[1] - 1.001)
    r, c = row.astype(np.intp), col.astype(np.intp)
    fr, fc = row - r, col - c
    top = texture[r, c] * (1 - fc) + texture[r, c + 1] * fc
    bottom = texture[r + 1, c] * (1 - fc) + texture[r + 1, c + 1] * fc
    result: NDArray[Any] = top * (1 - fr) + bottom * fr
    return result


def generate(folder: Path, size: Size, seed: int) -> tuple[str, ...]:
    """A bright ring of speckled muscle that contracts and widens over the sequence, with a little noise per frame.

    The speckle belongs to the tissue and moves with it, which is what makes tracking possible. Points start on the
    inner and on the outer wall.
    """
    rng = np.random.default_rng(seed)
    shape = SHAPES[size]
    grain = np.pad(rng.random((shape.rows, shape.cols)), 1, mode="edge")
    speckle = np.lib.stride_tricks.sliding_window_view(grain, (3, 3)).mean(axis=(2, 3))
    rows, cols = np.mgrid[: shape.rows, : shape.cols].astype(np.float64)
    middle = np.array([shape.rows, shape.cols]) / 2.0 + rng.uniform(-1, 1, size=2)
    inner, outer = 0.22 * shape.rows, 0.36 * shape.rows
    distance = np.hypot(rows - middle[0], cols - middle[1])
    wall = np.exp(-(((distance - (inner + outer) / 2) / (outer - inner)) ** 2) * 2.0)
    tissue = (0.25 + 0.75 * wall) * (0.1 + 1.5 * (speckle - speckle.min()) / np.ptp(speckle)) * 120.0

    # The fastest motion, at the outer wall in the middle of a beat, is a little more than half of the search radius.
    beat = max(shape.frames, 8)
    amplitude = 0.6 * shape.search_radius * beat / (2.0 * np.pi * outer)
    images = np.empty((shape.frames, shape.rows, shape.cols), dtype=np.uint8)
    for frame in range(shape.frames):
        stretch = 1.0 + min(amplitude, 0.25) * np.sin(2.0 * np.pi * frame / beat)
        moved = sample(tissue, middle[0] + (rows - middle[0]) / stretch, middle[1] + (cols - middle[1]) / stretch)
        images[frame] = np.clip(moved + rng.normal(0.0, 2.0, size=moved.shape), 0, 255).astype(np.uint8)
    images.tofile(folder / "images.bin")

    turn = np.concatenate([np.arange(n) / n for n in (shape.inner_points, shape.outer_points)]) * 2.0 * np.pi
    radius = np.repeat([inner, outer], [shape.inner_points, shape.outer_points])
    points = np.stack([middle[0] + radius * np.sin(turn), middle[1] + radius * np.cos(turn)], axis=1)
    points.astype(np.int32).tofile(folder / "points.bin")
    numbers = (shape.frames, shape.rows, shape.cols, shape.template_radius, shape.search_radius)
    return (*(str(n) for n in numbers), "images.bin", "points.bin", "tracks.bin", "scores.bin")


def read(folder: Path) -> dict[str, NDArray[Any]]:
    """``tracks``: int32, (row, column) pairs, point after point, frame after frame; ``scores``: float32."""
    return {
        "tracks": np.fromfile(folder / "tracks.bin", dtype=np.int32).reshape(-1, 2),
        "scores": np.fromfile(folder / "scores.bin", dtype=np.float32),
    }


def oracle(folder: Path, argv: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """Normalised cross-correlation by its definition, in double precision, all displacements of a point at a time."""
    frames, rows, cols, template_radius, search_radius = (int(a) for a in argv[:5])
    images = np.fromfile(folder / argv[5], dtype=np.uint8).reshape(frames, rows, cols)
    position = np.fromfile(folder / argv[6], dtype=np.int32).reshape(-1, 2)
    size, reach = 2 * template_radius + 1, template_radius + search_radius
    away = np.arange(-search_radius, search_radius + 1)
    weight = np.exp(-(away[:, None] ** 2 + away**2) / (MOTION_SCALE * search_radius) ** 2)

    def patch(frame: int, centre: NDArray[Any], radius: int) -> NDArray[Any]:
        span = np.arange(-radius, radius + 1)
        r, c = np.clip(centre[0] + span, 0, rows - 1), np.clip(centre[1] + span, 0, cols - 1)
        pixels: NDArray[Any] = images[frame][np.ix_(r, c)].astype(np.float64)
        return pixels

    templates = [patch(0, centre, template_radius) for centre in position]
    tracks, scores = [position], []
    for frame in range(1, frames):
        moved = position.copy()
        for i, centre in enumerate(position):
            patches = np.lib.stride_tricks.sliding_window_view(patch(frame, centre, reach), (size, size))
            there = patches - patches.mean(axis=(2, 3), keepdims=True)
            here = templates[i] - templates[i].mean()
            energy = (here**2).sum() * (there**2).sum(axis=(2, 3))
            flat = energy <= 0.0
            match = np.where(flat, 0.0, weight * np.tensordot(there, here) / np.sqrt(np.where(flat, 1.0, energy)))
            top, left = (int(n) for n in np.unravel_index(np.argmax(match), match.shape))
            scores.append(match[top, left])
            templates[i] = (1.0 - BLEND) * templates[i] + BLEND * patches[top, left]
            moved[i] = np.clip(centre + np.array([top, left]) - search_radius, 0, [rows - 1, cols - 1])
        position = moved
        tracks.append(position)
    return {"tracks": np.concatenate(tracks), "scores": np.array(scores)}


PROGRAM = SuiteProgram(
    name="heartwall",
    title="Heart-wall tracking",
    summary="Templates tracked through an ultrasound sequence by normalised cross-correlation, a block per point.",
    sources=("heartwall.cu",),
    flags=(),
    generate=generate,
    outputs=("tracks.bin", "scores.bin"),
    read=read,
    oracle=oracle,
    tolerance={
        "tracks": Tolerance("the best match leads by 1e-6 or more; double sums over float32 templates err by 1e-8"),
        "scores": Tolerance("float32 templates, and scores near 1 rounded to float32", absolute=2e-6),
    },
)
