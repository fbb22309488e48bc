"""Thermal simulation of a chip: inputs, outputs and reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.suite.program import Size, SuiteProgram, Tolerance

# rows, cols, time steps, time steps per launch
SHAPE: dict[Size, tuple[int, int, int, int]] = {
    "minute": (7, 11, 4, 2),
    "tiny": (9, 14, 3, 2),
    "small": (512, 384, 20, 2),
    "medium": (570, 401, 18, 2),
    "large": (1024, 1024, 60, 2),
}


def generate(folder: Path, size: Size, seed: int) -> tuple[str, ...]:
    """Some hot blocks on a cooler chip, and cell-to-cell differences of some kelvin.

    The differences matter: they level out within a few steps, so that a run which skipped the simulation would be
    wrong by a thousand times the tolerance.
    """
    return _generate(folder, SHAPE[size], seed)


def regular(folder: Path, size: Size, seed: int) -> tuple[str, ...]:
    """The same on a square chip: as the data that the paper's evolution ran on. What holds along x then holds along y."""
    rows, cols, *steps = SHAPE[size]
    side = max(rows, cols)
    return _generate(folder, (side, side, *steps), seed)


def _generate(folder: Path, shape_and_steps: tuple[int, ...], seed: int) -> tuple[str, ...]:
    rng = np.random.default_rng(seed)
    rows, cols, steps, per_launch = shape_and_steps
    temperature = 325.0 + 8.0 * rng.random((rows, cols))
    power = 0.2 * rng.random((rows, cols))
    for _ in range(6):
        top, left = int(rng.integers(rows)), int(rng.integers(cols))
        block = slice(top, top + max(1, rows // 5)), slice(left, left + max(1, cols // 5))
        power[block] += rng.random()
        temperature[block] += 10.0 * rng.random()
    # 150 W for the whole chip.
    power *= 150.0 / power.sum()
    temperature.astype(np.float32).tofile(folder / "temperatures.bin")
    power.astype(np.float32).tofile(folder / "powers.bin")
    shape = (str(rows), str(cols), str(steps), str(per_launch))
    return (*shape, "temperatures.bin", "powers.bin", "result.bin")


def read(folder: Path) -> dict[str, NDArray[Any]]:
    """``temperature``: float32, kelvin, one per cell in row-major order."""
    return {"temperature": np.fromfile(folder / "result.bin", dtype=np.float32)}


def oracle(folder: Path, argv: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """The same explicit Euler steps in double precision, the whole grid at a time."""
    rows, cols, steps = (int(a) for a in argv[:3])
    shape = rows, cols
    now = np.fromfile(folder / argv[4], dtype=np.float32).reshape(shape).astype(np.float64)
    power = np.fromfile(folder / argv[5], dtype=np.float32).reshape(shape).astype(np.float64)
    thickness, conductivity, sink = 0.0005, 100.0, 318.15  # the heat capacity cancels in the time step
    dx, dy = 0.016 / cols, 0.016 / rows
    to_next_column = conductivity * thickness * dy / dx
    to_next_row = conductivity * thickness * dx / dy
    to_sink = conductivity * dx * dy / thickness
    rate = 0.5 / (2.0 * to_next_row + 2.0 * to_next_column + to_sink)  # kelvin per watt and step
    for _ in range(steps):
        padded = np.pad(now, 1, mode="edge")
        vertical = padded[:-2, 1:-1] + padded[2:, 1:-1] - 2.0 * now
        horizontal = padded[1:-1, :-2] + padded[1:-1, 2:] - 2.0 * now
        now = now + rate * (power + vertical * to_next_row + horizontal * to_next_column + (sink - now) * to_sink)
    return {"temperature": now.ravel()}


PROGRAM = SuiteProgram(
    name="hotspot",
    title="HotSpot",
    summary="Thermal simulation of a chip: explicit Euler steps in overlapping tiles, several steps per launch.",
    sources=("hotspot.cu",),
    flags=(),
    generate=generate,
    outputs=("result.bin",),
    read=read,
    oracle=oracle,
    tolerance={
        "temperature": Tolerance(
            "float32 steps round kelvins near 330, whose last place is 3e-5; the levelling does not amplify it",
            absolute=5e-4,
        )
    },
    regular=regular,
)
