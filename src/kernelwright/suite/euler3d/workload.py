"""Unstructured-grid Euler solver: inputs, outputs and reference."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.suite.program import Size, SuiteProgram, Tolerance

WALL, FAR_FIELD = -1, -2
GAMMA, COURANT = 1.4, 0.5

# Cubes along x, y and z, each cut into six tetrahedra; time steps. The published runs take 2,000 steps.
SHAPE: dict[Size, tuple[int, int, int, int]] = {
    "minute": (1, 2, 1, 2),
    "tiny": (2, 2, 1, 1),
    "small": (16, 12, 8, 20),
    "medium": (15, 13, 9, 22),
    "large": (26, 25, 25, 100),
}


def tetrahedra(shape: tuple[int, int, int], rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """A box over a floor with a bump, in tetrahedra: (points, 3) coordinates and (cells, 4) point numbers.

    Kuhn's subdivision: in each cube one tetrahedron per order of the axes, walked from the low corner to the high.
    Points inside are shifted at random, and cells are renumbered within a short distance, as mesh generators leave them.
    """
    nx, ny, nz = shape
    grid = np.stack(np.meshgrid(np.arange(nx + 1), np.arange(ny + 1), np.arange(nz + 1), indexing="ij"), axis=-1)
    points = grid.reshape(-1, 3).astype(np.float64)
    inside = ((points > 0) & (points < np.array(shape))).all(axis=1)
    points[inside] += 0.15 * (2.0 * rng.random((int(inside.sum()), 3)) - 1.0)
    bump = 0.4 * np.exp(-(((points[:, 0] - nx / 2) / (nx / 6)) ** 2) - ((points[:, 1] - ny / 2) / (ny / 6)) ** 2)
    points[:, 2] += bump * (1.0 - points[:, 2] / nz)

    corner = np.stack(np.meshgrid(np.arange(nx), np.arange(ny), np.arange(nz), indexing="ij"), axis=-1).reshape(-1, 3)
    stride = np.array([(ny + 1) * (nz + 1), nz + 1, 1])
    cells = []
    for order in permutations(range(3)):
        path = np.cumsum([0, *stride[list(order)]])
        cells.append((corner @ stride)[:, None] + path)
    unordered = np.stack(cells, axis=1).reshape(-1, 4)
    place = np.arange(len(unordered)) + 64.0 * rng.random(len(unordered))
    return points, unordered[np.argsort(place, kind="stable")]


def faces(points: NDArray[Any], cells: NDArray[Any], floor: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """(4, cells) neighbours and (4, 3, cells) outward area normals; faces between ``floor`` points are walls."""
    triples = np.stack([np.delete(cells, i, axis=1) for i in range(4)])  # face i lies opposite corner i
    a, b, c = (points[triples[:, :, i]] for i in range(3))
    normals = 0.5 * np.cross(b - a, c - a)
    inward = np.einsum("fcd,fcd->fc", normals, points[cells.T] - a) > 0
    normals[inward] *= -1.0

    neighbours = np.full(triples.shape[:2], FAR_FIELD, dtype=np.int32)
    neighbours[floor[triples].all(axis=2)] = WALL
    key = np.sort(triples, axis=2).reshape(-1, 3)
    order = np.lexsort(key.T)
    twin = np.flatnonzero((key[order[1:]] == key[order[:-1]]).all(axis=1))
    left, right = order[twin], order[twin + 1]
    flat = neighbours.reshape(-1)
    flat[left], flat[right] = right % len(cells), left % len(cells)
    return neighbours, normals.transpose(0, 2, 1)


def generate(folder: Path, size: Size, seed: int) -> tuple[str, ...]:
    """Flow over a bump on the floor of a box, at a Mach number between 0.6 and 0.9.

    It starts disturbed everywhere, by waves across the box and from cell to cell, so that every cell has work from the
    first step on.
    """
    rng = np.random.default_rng(seed)
    *shape, steps = SHAPE[size]
    points, cells = tetrahedra((shape[0], shape[1], shape[2]), rng)
    on_floor = np.arange(len(points)) % (shape[2] + 1) == 0
    neighbours, normals = faces(points, cells, on_floor)
    neighbours.tofile(folder / "neighbours.bin")
    normals.astype(np.float32).tofile(folder / "normals.bin")
    mach = f"{0.6 + 0.3 * rng.random():.3f}"
    wave = np.sin(points[cells].mean(axis=1) @ (3.0 / np.array(shape)[:, None] * rng.uniform(1.0, 2.0, (3, 5)))).T
    start = np.array([1.0, float(mach), 0.0, 0.0, 1.0 / GAMMA])[:, None] + 0.1 * wave
    start += 0.02 * (2.0 * rng.random(start.shape) - 1.0)
    start.astype(np.float32).tofile(folder / "start.bin")
    return ("neighbours.bin", "normals.bin", "start.bin", mach, str(steps), "state.bin")


def read(folder: Path) -> dict[str, NDArray[Any]]:
    """``state``: float32 (5, cells): density, momentum x, y, z, energy."""
    return {"state": np.fromfile(folder / "state.bin", dtype=np.float32).reshape(5, -1)}


def far_field(mach: float) -> NDArray[Any]:
    """The five conserved variables of the undisturbed flow."""
    return np.array([1.0, mach, 0.0, 0.0, 1.0 / (GAMMA * (GAMMA - 1.0)) + 0.5 * mach * mach])


def pressure_of(state: NDArray[Any]) -> NDArray[Any]:
    """Pressure by element, from five rows of conserved variables."""
    pressure: NDArray[Any] = (GAMMA - 1.0) * (state[4] - 0.5 * (state[1:4] ** 2).sum(axis=0) / state[0])
    return pressure


def flux_and_speed(state: NDArray[Any], normal: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """For (5, ...) states and (3, ...) normals: the Euler flux (5, ...) and the fastest wave's speed times the area."""
    pressure = pressure_of(state)
    through = (state[1:4] * normal).sum(axis=0) / state[0]
    flux = state * through
    flux[1:4] += pressure * normal
    flux[4] += pressure * through
    area = np.sqrt((normal**2).sum(axis=0))
    return flux, np.abs(through) + np.sqrt(GAMMA * pressure / state[0]) * area


def oracle(folder: Path, argv: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """The same scheme in double precision, a face of every cell at a time."""
    neighbours = np.fromfile(folder / argv[0], dtype=np.int32).reshape(4, -1)
    cells = neighbours.shape[1]
    normals = np.fromfile(folder / argv[1], dtype=np.float32).reshape(4, 3, cells).astype(np.float64)
    density, *velocity, pressure = np.fromfile(folder / argv[2], dtype=np.float32).reshape(5, cells).astype(np.float64)
    momentum = density * np.array(velocity)
    energy = pressure / (GAMMA - 1.0) + 0.5 * density * (np.array(velocity) ** 2).sum(axis=0)
    state = np.stack([density, *momentum, energy])
    far = far_field(float(argv[3]))[:, None]
    for _ in range(int(argv[4])):
        before = state
        step = COURANT / (0.5 * sum(flux_and_speed(state, normal)[1] for normal in normals))
        for stage in range(3):
            outflow = np.zeros_like(state)
            for neighbour, normal in zip(neighbours, normals, strict=True):
                there = np.where(neighbour >= 0, state[:, np.maximum(neighbour, 0)], far)
                here_flux, here_speed = flux_and_speed(state, normal)
                there_flux, there_speed = flux_and_speed(there, normal)
                open_face = 0.5 * (here_flux + there_flux - np.maximum(here_speed, there_speed) * (there - state))
                wall = np.zeros_like(state)
                wall[1:4] = pressure_of(state) * normal
                outflow += np.where(neighbour == WALL, wall, open_face)
            state = before - step / (3 - stage) * outflow
    return {"state": state}


PROGRAM = SuiteProgram(
    name="euler3d",
    title="Euler solver on an unstructured grid",
    summary="Compressible flow over tetrahedra: a thread per cell, Rusanov fluxes, three Runge-Kutta stages per step.",
    sources=("euler3d.cu",),
    flags=(),
    generate=generate,
    outputs=("state.bin",),
    read=read,
    oracle=oracle,
    tolerance={
        "state": Tolerance("float32 fluxes of quantities near 1, damped by the scheme's dissipation", absolute=1e-5)
    },
)
