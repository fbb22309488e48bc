"""Heart-wall tracking: the oracle against the definition, and against the motion the images were made with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kernelwright.suite.heartwall import workload
from kernelwright.suite.program import Size


def correlation(a: list[float], b: list[float]) -> float:
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    product = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True))
    energy = sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b)
    return float(product / energy**0.5) if energy > 0 else 0.0


def test_the_oracle_agrees_with_the_definition(tmp_path: Path) -> None:
    """Frame by frame, displacement by displacement, with points in the corners too."""
    frames, rows, cols, radius, search = 3, 12, 10, 2, 2
    images = np.random.default_rng(0).integers(0, 256, (frames, rows, cols), dtype=np.uint8)
    images.tofile(tmp_path / "i")
    starts = [(0, 0), (5, 5), (11, 9)]
    np.array(starts, dtype=np.int32).tofile(tmp_path / "p")
    want = workload.oracle(tmp_path, (*map(str, (frames, rows, cols, radius, search)), "i", "p", "t", "s"))

    def pixels(frame: int, window: tuple[int, int], r: int, c: int) -> list[float]:
        """The patch at (r, c) of the search window around ``window``, whose own pixels stop at the image's edge."""
        span = range(-radius, radius + 1)
        row = [min(max(window[0] + r + i, 0), rows - 1) for i in span]
        col = [min(max(window[1] + c + i, 0), cols - 1) for i in span]
        return [float(images[frame, a, b]) for a in row for b in col]

    for point, start in enumerate(starts):
        at, template = start, pixels(0, start, 0, 0)
        for frame in range(1, frames):
            best, score = (0, 0), -2.0
            for r in range(-search, search + 1):
                for c in range(-search, search + 1):
                    weight = np.exp(-(r * r + c * c) / (2.0 * search) ** 2)
                    match = weight * correlation(template, pixels(frame, at, r, c))
                    if match > score:
                        best, score = (r, c), match
            found = pixels(frame, at, *best)
            template = [0.8 * old + 0.2 * new for old, new in zip(template, found, strict=True)]
            at = min(max(at[0] + best[0], 0), rows - 1), min(max(at[1] + best[1], 0), cols - 1)
            assert tuple(want["tracks"].reshape(frames, -1, 2)[frame, point]) == at
            assert want["scores"].reshape(frames - 1, -1)[frame - 1, point] == pytest.approx(score, abs=1e-12)


def test_a_flat_image_matches_nothing(tmp_path: Path) -> None:
    np.full((2, 9, 9), 7, dtype=np.uint8).tofile(tmp_path / "i")
    np.array([4, 4], dtype=np.int32).tofile(tmp_path / "p")
    want = workload.oracle(tmp_path, ("2", "9", "9", "1", "1", "i", "p", "t", "s"))
    assert want["scores"].tolist() == [0.0]
    assert want["tracks"].tolist() == [[4, 4], [3, 3]]


@pytest.mark.parametrize("size", ["tiny", "small"])
@pytest.mark.parametrize("seed", [1, 2])
def test_tracks_follow_the_tissue(tmp_path: Path, size: Size, seed: int) -> None:
    argv = workload.generate(tmp_path, size, seed)
    frames, rows, cols, _, search = (int(a) for a in argv[:5])
    want = workload.oracle(tmp_path, argv)
    tracks = want["tracks"].reshape(frames, -1, 2)
    assert want["scores"].min() > 0.7
    middle = np.array([rows, cols]) / 2.0
    moved = tracks[-1] - tracks[0]
    assert np.abs(moved).max() >= (1 if size == "tiny" else 3)
    assert np.abs(np.diff(tracks, axis=0)).max() <= search
    # Tissue moves straight away from the middle, by the same factor everywhere.
    away = tracks[0] - middle
    factor = (moved * away).sum() / (away * away).sum()
    assert np.abs(moved - factor * away).max() <= 2.0
