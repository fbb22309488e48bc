"""Despeckling of an ultrasound image: inputs, outputs and reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.suite.program import Size, SuiteProgram, Tolerance

# rows, columns, iterations
SHAPE: dict[Size, tuple[int, int, int]] = {
    "minute": (18, 21, 3),
    "tiny": (20, 23, 2),
    "small": (256, 232, 8),
    "medium": (280, 243, 9),
    "large": (2048, 2048, 2),
}


def generate(folder: Path, size: Size, seed: int) -> tuple[str, ...]:
    """Tissue with some organs, brighter or darker, under multiplicative speckle; the upper left corner is uniform.

    Apart from ``large`` the shape varies with the seed and is seldom a number of whole tiles.
    """
    rng = np.random.default_rng(seed)
    rows, cols, iterations = SHAPE[size]
    if size != "large":
        rows -= int(rng.integers(0, 5))
        cols -= int(rng.integers(0, 5))
    height, width = min(128, rows // 3), min(128, cols // 3)
    y, x = np.mgrid[0:rows, 0:cols] / np.array([rows, cols])[:, None, None]
    reflection = np.full((rows, cols), 1.4)
    for _ in range(5):
        down, right = rng.uniform(0.55, 0.9), rng.uniform(0.1, 0.9)
        tall, wide = rng.uniform(0.05, 0.2, 2)
        reflection[((y - down) / tall) ** 2 + ((x - right) / wide) ** 2 < 1.0] *= rng.uniform(0.75, 1.4)
    speckle = rng.normal(1.0, 0.08, (rows, cols))
    grey = np.clip(np.round(255.0 * np.log(np.maximum(reflection * speckle, 1.0))), 0, 255)
    grey.astype(np.uint8).tofile(folder / "image.bin")
    region = ("0", str(height - 1), "0", str(width - 1))
    return ("image.bin", str(rows), str(cols), *region, "0.5", str(iterations), "result.bin")


def read(folder: Path) -> dict[str, NDArray[Any]]:
    """``grey``: float32, grey values of all pixels in row-major order, 0 black and 255 white."""
    return {"grey": np.fromfile(folder / "result.bin", dtype=np.float32)}


def oracle(folder: Path, argv: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """The equations of the paper in double precision, the whole image at a time."""
    rows, cols, top, bottom, left, right = (int(a) for a in argv[1:7])
    step, iterations = float(argv[7]), int(argv[8])
    image = np.exp(np.fromfile(folder / argv[0], dtype=np.uint8).reshape(rows, cols) / 255.0)
    for _ in range(iterations):
        region = image[top : bottom + 1, left : right + 1]
        noise = region.var() / region.mean() ** 2  # q0 squared
        padded = np.pad(image, 1, mode="edge")
        north, south = padded[:-2, 1:-1] - image, padded[2:, 1:-1] - image
        west, east = padded[1:-1, :-2] - image, padded[1:-1, 2:] - image
        gradient = (north**2 + south**2 + west**2 + east**2) / image**2
        laplacian = (north + south + west + east) / image
        variation = (gradient / 2 - (laplacian / 4) ** 2) / (1 + laplacian / 4) ** 2  # q squared
        coefficient = np.clip(1 / (1 + (variation - noise) / (noise * (1 + noise))), 0, 1)
        below = np.vstack([coefficient[1:], coefficient[-1:]])
        beside = np.hstack([coefficient[:, 1:], coefficient[:, -1:]])
        image = image + step / 4 * (below * south + coefficient * north + beside * east + coefficient * west)
    return {"grey": 255.0 * np.log(image).ravel()}


PROGRAM = SuiteProgram(
    name="srad",
    title="SRAD",
    summary="Speckle-reducing diffusion of an image: a reduction, then two 16x16-tiled stencils per iteration.",
    sources=("srad.cu",),
    flags=(),
    generate=generate,
    outputs=("result.bin",),
    read=read,
    oracle=oracle,
    tolerance={
        "grey": Tolerance("float32 iterations; one grey level is 1, the last place of a pixel 3e-5", absolute=1e-3)
    },
)
