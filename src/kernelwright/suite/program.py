"""What a suite program is, and the one way its results are judged.

A program is CUDA source beside a Python module: the module writes its inputs, knows its command line, reads its
outputs and holds a NumPy reference for them. Nothing here compiles or runs a kernel: the caller that has an executable hands
it to :func:`run_and_verify`.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]

Size = Literal["minute", "tiny", "small", "medium", "large"]
"""``tiny``: about 100,000 thread-instructions, for slow executors. ``small``: milliseconds on a GPU. ``large``: as in
the published evaluations (paper 000, Table 1). ``minute`` and ``medium``: like the first two, of other sizes in every way, for data
that is held out."""

SIZES: tuple[Size, ...] = get_args(Size)


@dataclass(frozen=True)
class Tolerance:
    """How far one output may lie from its reference, per element: ``absolute + relative * |reference|``.

    ``reason`` says where the slack comes from; it is printed with a mismatch. Both bounds zero means equal bit values.
    """

    reason: str
    absolute: float = 0.0
    relative: float = 0.0

    @property
    def is_exact(self) -> bool:
        """Whether values must be equal bit by bit."""
        return self.absolute == 0.0 and self.relative == 0.0

    def __str__(self) -> str:
        if self.is_exact:
            return f"exact: {self.reason}"
        return f"within {self.absolute:g} + {self.relative:g} of the reference: {self.reason}"


@dataclass(frozen=True)
class LargerData:
    """Data that no search sees: the last check of a proof, and what comes of a winner there, in the whole program, is said."""

    generate: Callable[[Path, int], tuple[str, ...]]
    """(folder, seed): writes the input files, returns the arguments. A pure function of the seed."""
    what: str
    """In words: ``3,000 deformed digits``."""
    error: str
    """The output that holds the program's own error: one float64, the share that it gets wrong."""


@dataclass(frozen=True)
class SuiteProgram:
    """One program of the suite: sources, input generator, outputs and their NumPy reference.

    All paths in an argument list are relative to the working folder, which holds the inputs before a run and the
    outputs after it. ``generate`` is a pure function of size and seed.
    """

    name: str
    title: str
    summary: str
    sources: tuple[str, ...]
    """File names beside the module; each ``.cu``, ``.cpp`` or ``.c`` is one translation unit."""
    flags: tuple[str, ...]
    """Extra ``-D`` and ``-I`` for every translation unit."""
    generate: Callable[[Path, Size, int], tuple[str, ...]]
    """(folder, size, seed): writes the input files, returns the arguments (without the program's own name)."""
    outputs: tuple[str, ...]
    """Files the program writes in its working folder."""
    read: Callable[[Path], Arrays]
    """(folder): the outputs as named arrays. Raises OSError or ValueError when a file is missing or malformed."""
    oracle: Callable[[Path, tuple[str, ...]], Arrays]
    """(folder, arguments): the expected outputs, computed from the input files alone."""
    tolerance: Mapping[str, Tolerance]
    """One entry per output array."""
    regular: Callable[[Path, Size, int], tuple[str, ...]] | None = None
    """As ``generate``, with the regularities of the data that paper 000 evolved on, where they are others than those of
    ``generate``: what holds for such data only, evolution takes for a rule."""
    larger: LargerData | None = None
    """A second, larger data set, to which what a search finds is transferred; None where there is none."""

    @property
    def folder(self) -> Path:
        """Where the sources lie."""
        return Path(__file__).parent / self.name

    @property
    def source_paths(self) -> tuple[Path, ...]:
        """Paths of its sources in the package, in the order in which they are compiled."""
        return tuple(self.folder / source for source in self.sources)


def verify(program: SuiteProgram, folder: Path, argv: tuple[str, ...]) -> list[str]:
    """Compares the outputs in ``folder`` with the oracle; returns one sentence per mismatch, none when all is well.
    Raises ``Misuse`` for an oracle whose outputs are not those with tolerances."""
    missing = [name for name in program.outputs if not (folder / name).is_file()]
    if missing:
        return [f"{program.name} wrote no {name}." for name in missing]
    try:
        got = program.read(folder)
    except (OSError, ValueError) as error:
        return [f"the outputs of {program.name} cannot be read: {error}."]
    want = program.oracle(folder, argv)
    if set(want) != set(program.tolerance):
        raise Misuse(f"{program.name}: the oracle gives {sorted(want)}, tolerances are for {sorted(program.tolerance)}")
    return [sentence for key in want for sentence in _compare(key, got.get(key), want[key], program.tolerance[key])]


def run_and_verify(
    program: SuiteProgram,
    executable: Path,
    size: Size,
    *,
    seed: int = 1,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    timeout_s: float = 120.0,
) -> list[str]:
    """Generates inputs, runs ``executable``, verifies; returns mismatches in sentences, none when all is well.

    ``folder`` is the working folder (a temporary one when None); ``environment`` is added to the process's own. A
    program that fails, writes nothing or outlives ``timeout_s`` is a mismatch, not an exception.
    Raises ``Misuse`` for a size that there is not.
    """
    if size not in SIZES:
        raise Misuse(f"no size {size!r}", hint=f"use one of {', '.join(SIZES)}")
    if folder is None:
        with tempfile.TemporaryDirectory(prefix=f"{program.name}-") as temporary:
            return run_and_verify(
                program,
                executable,
                size,
                seed=seed,
                folder=Path(temporary),
                environment=environment,
                timeout_s=timeout_s,
            )
    argv = program.generate(folder, size, seed)
    for output in program.outputs:  # A stale file would be verified in place of this run's.
        (folder / output).unlink(missing_ok=True)
    command = [str(executable.resolve()), *argv]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
        )
    except subprocess.TimeoutExpired:
        return [f"{program.name} was still running after {timeout_s:g} s: {shlex.join(command)}."]
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-2000:] or "it said nothing"
        return [f"{program.name} ended with exit code {done.returncode} ({shlex.join(command)}): {said}"]
    return verify(program, folder, argv)


def _compare(key: str, got: NDArray[Any] | None, want: NDArray[Any], tolerance: Tolerance) -> list[str]:
    import numpy as np

    if got is None:
        return [f"{key}: not among the outputs."]
    if got.shape != want.shape:
        return [f"{key}: has shape {got.shape}, the reference {want.shape}."]
    if tolerance.is_exact:
        right = got == want
        distance = np.abs(got.astype(np.float64) - want.astype(np.float64))
    else:
        reference = want.astype(np.float64)
        with np.errstate(invalid="ignore"):
            distance = np.abs(got.astype(np.float64) - reference)
            # A NaN fails this comparison, so that it counts as wrong.
            right = distance <= tolerance.absolute + tolerance.relative * np.abs(reference)
    if right.all():
        return []
    wrong = np.argwhere(~right)
    at = tuple(int(i) for i in wrong[np.argmax(np.nan_to_num(distance[~right], nan=np.inf))])
    place = ", ".join(str(i) for i in at)
    return [
        f"{key}: {len(wrong)} of {want.size} elements differ ({tolerance}); "
        f"worst {key}[{place}] = {got[at]}, expected {want[at]}."
    ]
