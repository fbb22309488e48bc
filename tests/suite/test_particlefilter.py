"""Particle filter: the oracle against a filter particle by particle, its random numbers, and whether it tracks."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from kernelwright.suite.particlefilter import workload


class Xorshift:
    def __init__(self, seed: int) -> None:
        for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
            seed = (seed ^ seed >> shift) * factor % 2**32
        self.state = seed or 1

    def uniform(self) -> float:
        self.state = (self.state ^ self.state << 13) % 2**32
        self.state ^= self.state >> 17
        self.state = (self.state ^ self.state << 5) % 2**32
        return (self.state - 0.5) / 2**32

    def normal(self) -> float:
        return math.sqrt(-2 * math.log(self.uniform())) * math.cos(2 * math.pi * self.uniform())


def particle_by_particle(folder: Path, argv: tuple[str, ...]) -> tuple[list[float], list[float], list[float]]:
    frames, height, width, radius, count, seed = (int(a) for a in argv[1:7])
    video = np.fromfile(folder / argv[0], dtype=np.uint8).reshape(frames, height, width).tolist()
    random = [Xorshift((seed + 1 + i) % 2**32) for i in range(count)]
    offsets = Xorshift(seed)
    x, y = [float(width // 2)] * count, [float(height // 2)] * count
    track = [x[0], y[0]]
    square = [(dx, dy) for dy in range(-radius, radius + 1) for dx in range(-radius, radius + 1)]
    disk = [(dx, dy) for dx, dy in square if math.hypot(dx, dy) <= radius]
    for frame in video[1:]:
        logarithms = []
        for i in range(count):
            x[i] += 1 + 5 * random[i].normal()
            y[i] += -2 + 2 * random[i].normal()
            ratio = 0.0
            for dx, dy in disk:
                col, row = math.floor(x[i] + 0.5) + dx, math.floor(y[i] + 0.5) + dy
                pixel = frame[row][col] if 0 <= row < height and 0 <= col < width else 100
                ratio += ((pixel - 100) ** 2 - (pixel - 228) ** 2) / 50
            logarithms.append(ratio / len(disk))
        best = max(logarithms)
        weights = [math.exp(value - best) for value in logarithms]
        whole = math.fsum(weights)
        track += [math.fsum(map(float.__mul__, weights, x)) / whole, math.fsum(map(float.__mul__, weights, y)) / whole]
        # Walks along the weights once, as a roulette wheel with `count` evenly spaced pointers.
        pointer, passed, chosen, offset = 0, weights[0] / whole, [], offsets.uniform()
        for i in range(count):
            while passed < (i + offset) / count and pointer < count - 1:
                pointer += 1
                passed += weights[pointer] / whole
            chosen.append(pointer)
        x, y = [x[k] for k in chosen], [y[k] for k in chosen]
    return track, x, y


@pytest.mark.parametrize("seed", range(4))
def test_the_oracle_agrees_with_a_filter_particle_by_particle(tmp_path: Path, seed: int) -> None:
    argv = workload.generate(tmp_path, "tiny", seed)
    track, x, y = particle_by_particle(tmp_path, argv)
    want = workload.oracle(tmp_path, argv)
    assert want["track"] == pytest.approx(track, abs=1e-11)
    assert want["positions"] == pytest.approx(x + y, abs=1e-11)


def test_random_numbers_are_marsaglias_and_normal_ones_are_normal() -> None:
    random = workload.Random(np.array([1], dtype=np.uint32))
    numbers = [float((random.uniform() * 2**32 + 0.5).item()) for _ in range(4)]
    assert numbers == [270369, 67634689, 2647435461, 307599695]
    many = workload.Random(np.random.default_rng(0).integers(1, 2**32, 100_000, dtype=np.uint32)).normal()
    assert abs(many.mean()) < 0.02
    assert abs(many.std() - 1) < 0.02
    assert np.isfinite(many).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_filter_follows_the_disk(tmp_path: Path, seed: int) -> None:
    argv = workload.generate(tmp_path, "small", seed)
    frames, height, width, radius, particles = (int(a) for a in argv[1:6])
    video = np.fromfile(tmp_path / argv[0], dtype=np.uint8).reshape(frames, height, width)
    want = workload.oracle(tmp_path, argv)
    for frame, (x, y) in zip(video, want["track"].reshape(-1, 2), strict=True):
        row, col = np.nonzero(frame > 164)
        assert math.hypot(col.mean() - x, row.mean() - y) < radius / 2
    assert 2 < len(np.unique(want["positions"][:particles])) < particles


def test_particles_fill_more_than_one_block_and_not_the_last(tmp_path: Path) -> None:
    counts = {int(workload.generate(tmp_path, "tiny", seed)[5]) for seed in range(8)}
    assert len(counts) > 3
    assert all(count > 128 and count % 128 for count in counts)
