"""Needleman-Wunsch: the oracle against trying all alignments, the alignment against its score, and the input data."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kernelwright.suite.nw import workload
from kernelwright.suite.nw.workload import GAP, RESIDUES

Sequence = NDArray[np.uint8]


def write(folder: Path, first: str, second: str, penalty: int) -> tuple[str, ...]:
    for name, letters in (("first", first), ("second", second)):
        np.array([RESIDUES.index(letter) for letter in letters], dtype=np.uint8).tofile(folder / name)
    substitution().tofile(folder / "substitution")
    return ("first", "second", "substitution", str(penalty), "scores", "alignment")


def substitution() -> NDArray[np.int32]:
    return np.array(workload.BLOSUM62.split(), dtype=np.int32).reshape(24, 24)


def best_of_all_alignments(first: str, second: str, penalty: int) -> int:
    pairs = substitution()

    @cache
    def best(i: int, j: int) -> int:
        """Of the rests of the sequences, from i and j on."""
        options = []
        if i < len(first) and j < len(second):
            options.append(int(pairs[RESIDUES.index(first[i]), RESIDUES.index(second[j])]) + best(i + 1, j + 1))
        if i < len(first):
            options.append(best(i + 1, j) - penalty)
        if j < len(second):
            options.append(best(i, j + 1) - penalty)
        return max(options, default=0)

    return best(0, 0)


def score_of(alignment: Sequence, penalty: int) -> int:
    pairs = substitution()
    return sum(-penalty if GAP in (a, b) else int(pairs[a, b]) for a, b in alignment.T.tolist())


def letters(row: Sequence) -> str:
    return "".join("-" if residue == GAP else RESIDUES[residue] for residue in row)


@pytest.mark.parametrize(
    ("first", "second", "penalty", "score", "aligned"),
    [
        ("A", "A", 5, 4, ("A", "A")),
        ("HEAE", "HAE", 4, 8 - 4 + 4 + 5, ("HEAE", "H-AE")),
        ("W", "A", 1, -2, ("-W", "A-")),  # Two gaps cost less than the pair; seen from the end, up comes first.
    ],
)
def test_known_alignments(
    tmp_path: Path, first: str, second: str, penalty: int, score: int, aligned: tuple[str, str]
) -> None:
    want = workload.oracle(tmp_path, write(tmp_path, first, second, penalty))
    alignment = want["alignment"].reshape(2, -1)
    assert want["scores"][-1] == best_of_all_alignments(first, second, penalty)
    assert (want["scores"][-1], letters(alignment[0]), letters(alignment[1])) == (score, *aligned)


@pytest.mark.parametrize("seed", range(6))
def test_the_oracle_agrees_with_the_best_of_all_alignments(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = ("".join(rng.choice(list(RESIDUES), size=int(rng.integers(1, 40)))) for _ in range(2))
    penalty = int(rng.integers(0, 12))
    want = workload.oracle(tmp_path, write(tmp_path, first, second, penalty))
    alignment = want["alignment"].reshape(2, -1)
    assert want["scores"][-1] == best_of_all_alignments(first, second, penalty) == score_of(alignment, penalty)
    assert letters(alignment[0]).replace("-", "") == first
    assert letters(alignment[1]).replace("-", "") == second


def test_the_substitution_matrix_is_sound() -> None:
    pairs = substitution()
    assert (pairs == pairs.T).all()
    # BLOSUM62's diagonal, and the sum of its 210 entries for amino acids.
    assert np.diag(pairs)[:20].tolist() == [4, 5, 6, 6, 9, 5, 5, 6, 8, 4, 4, 5, 5, 6, 7, 4, 5, 11, 7, 4]
    assert pairs[:20, :20][np.triu_indices(20)].sum() == -155
    assert pairs[RESIDUES.index("W"), RESIDUES.index("Y")] == 2


def test_sequences_are_related_and_seldom_whole_tiles_or_equally_long(tmp_path: Path) -> None:
    lengths = []
    gaps = 0
    for seed in range(12):
        argv = workload.generate(tmp_path, "tiny", seed)
        want = workload.oracle(tmp_path, argv)
        first, second = want["alignment"].reshape(2, -1)
        assert (first == second).mean() > 0.3
        gaps += int((first == GAP).any() and (second == GAP).any())
        lengths.append((int((first != GAP).sum()), int((second != GAP).sum())))
    assert gaps > 2
    assert len(set(lengths)) > 8
    assert any(a > b for a, b in lengths) and any(a < b for a, b in lengths)
    assert any(a % 16 for a, _ in lengths)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\x01\x18", "error: residue 1 of first is 24, above 23\n"), (b"", "error: first holds 0 residues")],
)
def test_a_sequence_that_cannot_be_aligned_is_refused(
    host_program: Callable[[str], Path], tmp_path: Path, content: bytes, message: str
) -> None:
    argv = write(tmp_path, "A", "A", 1)
    (tmp_path / "first").write_bytes(content)
    done = subprocess.run([str(host_program("nw")), *argv], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith(message)
