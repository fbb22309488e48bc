"""Global alignment of two protein sequences: inputs, outputs and reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.suite.program import Size, SuiteProgram, Tolerance

LENGTH: dict[Size, int] = {"minute": 32, "tiny": 48, "small": 512, "medium": 592, "large": 2048}
GAP = 255

RESIDUES = "ARNDCQEGHILKMFPSTWYVBZX*"
BLOSUM62 = """
     4 -1 -2 -2  0 -1 -1  0 -2 -1 -1 -1 -1 -2 -1  1  0 -3 -2  0 -2 -1  0 -4
    -1  5  0 -2 -3  1  0 -2  0 -3 -2  2 -1 -3 -2 -1 -1 -3 -2 -3 -1  0 -1 -4
    -2  0  6  1 -3  0  0  0  1 -3 -3  0 -2 -3 -2  1  0 -4 -2 -3  3  0 -1 -4
    -2 -2  1  6 -3  0  2 -1 -1 -3 -4 -1 -3 -3 -1  0 -1 -4 -3 -3  4  1 -1 -4
     0 -3 -3 -3  9 -3 -4 -3 -3 -1 -1 -3 -1 -2 -3 -1 -1 -2 -2 -1 -3 -3 -2 -4
    -1  1  0  0 -3  5  2 -2  0 -3 -2  1  0 -3 -1  0 -1 -2 -1 -2  0  3 -1 -4
    -1  0  0  2 -4  2  5 -2  0 -3 -3  1 -2 -3 -1  0 -1 -3 -2 -2  1  4 -1 -4
     0 -2  0 -1 -3 -2 -2  6 -2 -4 -4 -2 -3 -3 -2  0 -2 -2 -3 -3 -1 -2 -1 -4
    -2  0  1 -1 -3  0  0 -2  8 -3 -3 -1 -2 -1 -2 -1 -2 -2  2 -3  0  0 -1 -4
    -1 -3 -3 -3 -1 -3 -3 -4 -3  4  2 -3  1  0 -3 -2 -1 -3 -1  3 -3 -3 -1 -4
    -1 -2 -3 -4 -1 -2 -3 -4 -3  2  4 -2  2  0 -3 -2 -1 -2 -1  1 -4 -3 -1 -4
    -1  2  0 -1 -3  1  1 -2 -1 -3 -2  5 -1 -3 -1  0 -1 -3 -2 -2  0  1 -1 -4
    -1 -1 -2 -3 -1  0 -2 -3 -2  1  2 -1  5  0 -2 -1 -1 -1 -1  1 -3 -1 -1 -4
    -2 -3 -3 -3 -2 -3 -3 -3 -1  0  0 -3  0  6 -4 -2 -2  1  3 -1 -3 -3 -1 -4
    -1 -2 -2 -1 -3 -1 -1 -2 -2 -3 -3 -1 -2 -4  7 -1 -1 -4 -3 -2 -2 -1 -2 -4
     1 -1  1  0 -1  0  0  0 -1 -2 -2  0 -1 -2 -1  4  1 -3 -2 -2  0  0  0 -4
     0 -1  0 -1 -1 -1 -1 -2 -2 -1 -1 -1 -1 -2 -1  1  5 -2 -2  0 -1 -1  0 -4
    -3 -3 -4 -4 -2 -2 -3 -2 -2 -3 -2 -3 -1  1 -4 -3 -2 11  2 -3 -4 -3 -2 -4
    -2 -2 -2 -3 -2 -1 -2 -3  2 -1 -1 -2 -1  3 -3 -2 -2  2  7 -1 -3 -2 -1 -4
     0 -3 -3 -3 -1 -2 -2 -3 -3  3  1 -2  1 -1 -2 -2  0 -3 -1  4 -3 -2 -1 -4
    -2 -1  3  4 -3  0  1 -1  0 -3 -4  0 -3 -3 -2  0 -1 -4 -3 -3  4  1 -1 -4
    -1  0  0  1 -3  3  4 -2  0 -3 -3  1 -1 -3 -1  0 -1 -3 -2 -2  1  4 -1 -4
     0 -1 -1 -1 -2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -2  0  0 -2 -1 -1 -1 -1 -1 -4
    -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4  1
"""
"""Henikoff and Henikoff, "Amino acid substitution matrices from protein blocks", PNAS 89, 1992, as NCBI gives it; rows
and columns in the order of ``RESIDUES``."""


def generate(folder: Path, size: Size, seed: int) -> tuple[str, ...]:
    """A random sequence and a distant relative of it: mutated, with stretches left out and others put in.

    Apart from ``large`` the lengths vary with the seed; they are seldom whole tiles, and seldom equal.
    """
    rng = np.random.default_rng(seed)
    longest = LENGTH[size]
    lengths = (longest, longest) if size == "large" else tuple(int(n) for n in longest - rng.integers(0, 24, 2))
    first = rng.integers(20, size=lengths[0])
    pieces: list[NDArray[np.int64]] = []
    place = 0
    while place < len(first):
        step = int(rng.integers(4, 40))
        piece = first[place : place + step].copy()
        mutated = rng.random(len(piece)) < 0.4
        piece[mutated] = rng.integers(20, size=int(mutated.sum()))
        pieces += [piece, rng.integers(20, size=int(rng.integers(0, 6)))]
        place += step + int(rng.integers(0, 6))
    pieces.append(rng.integers(20, size=lengths[1]))  # For a second sequence that came out too short.
    second = np.concatenate(pieces)[: lengths[1]]
    first.astype(np.uint8).tofile(folder / "first.bin")
    second.astype(np.uint8).tofile(folder / "second.bin")
    _blosum62().tofile(folder / "substitution.bin")
    penalty = 10 if size == "large" else int(rng.integers(4, 12))
    return ("first.bin", "second.bin", "substitution.bin", str(penalty), "scores.bin", "alignment.bin")


def read(folder: Path) -> dict[str, NDArray[Any]]:
    """``scores``: int32, a row and a column longer than the sequences, row-major. ``alignment``: uint8, the residues
    of the first aligned sequence, then those of the second, 255 for a gap."""
    return {
        "scores": np.fromfile(folder / "scores.bin", dtype=np.int32),
        "alignment": np.fromfile(folder / "alignment.bin", dtype=np.uint8),
    }


def oracle(folder: Path, argv: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """The same recurrence, a whole anti-diagonal at a time."""
    first = np.fromfile(folder / argv[0], dtype=np.uint8)
    second = np.fromfile(folder / argv[1], dtype=np.uint8)
    substitution = np.fromfile(folder / argv[2], dtype=np.int32).reshape(len(RESIDUES), -1)
    penalty = int(argv[3])
    similarity = substitution[first[:, None], second[None, :]]
    rows, cols = similarity.shape
    scores = np.zeros((rows + 1, cols + 1), dtype=np.int32)
    scores[:, 0] = -penalty * np.arange(rows + 1)
    scores[0, :] = -penalty * np.arange(cols + 1)
    for diagonal in range(2, rows + cols + 1):
        i = np.arange(max(1, diagonal - cols), min(rows, diagonal - 1) + 1)
        j = diagonal - i
        gap = np.maximum(scores[i - 1, j], scores[i, j - 1]) - penalty
        scores[i, j] = np.maximum(scores[i - 1, j - 1] + similarity[i - 1, j - 1], gap)
    return {"scores": scores.ravel(), "alignment": _trace_back(scores, similarity, first, second, penalty)}


def _trace_back(
    scores: NDArray[np.int32],
    similarity: NDArray[np.int32],
    first: NDArray[np.uint8],
    second: NDArray[np.uint8],
    penalty: int,
) -> NDArray[np.uint8]:
    """Of equal moves the diagonal one is taken, then the one that leaves a gap in the second sequence."""
    i, j = len(first), len(second)
    columns: list[tuple[int, int]] = []
    while i > 0 or j > 0:
        if i > 0 and j > 0 and scores[i, j] == scores[i - 1, j - 1] + similarity[i - 1, j - 1]:
            i, j = i - 1, j - 1
            columns.append((int(first[i]), int(second[j])))
        elif i > 0 and scores[i, j] == scores[i - 1, j] - penalty:
            i -= 1
            columns.append((int(first[i]), GAP))
        else:
            j -= 1
            columns.append((GAP, int(second[j])))
    return np.array(columns[::-1], dtype=np.uint8).T.ravel()


def _blosum62() -> NDArray[np.int32]:
    return np.array(BLOSUM62.split(), dtype=np.int32).reshape(len(RESIDUES), len(RESIDUES))


PROGRAM = SuiteProgram(
    name="nw",
    title="Needleman-Wunsch",
    summary="Global alignment of two sequences: a wavefront of 16x16 tiles, a kernel for each half of the matrix.",
    sources=("nw.cu",),
    flags=(),
    generate=generate,
    outputs=("scores.bin", "alignment.bin"),
    read=read,
    oracle=oracle,
    tolerance={
        "scores": Tolerance("scores are integers"),
        "alignment": Tolerance("follows from the scores"),
    },
)
