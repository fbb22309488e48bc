"""The data sets that a suite program is evolved on: a size that fills a GPU, and another seed and shape."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from kernelwright.suite.program import Size, SuiteProgram

DATA_SETS: tuple[tuple[Size, int], ...] = (("small", 1), ("tiny", 2))
"""Size and seed of each; times come from the first."""
HELD_OUT: tuple[tuple[Size, int], ...] = (("small", 3), ("tiny", 4))
"""Those that only the proof uses."""


@contextmanager
def data_set(program: SuiteProgram, size: Size, seed: int) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """A folder with the inputs, and the program's arguments in it; the folder goes at the end."""
    with TemporaryDirectory(prefix=f"{program.name}-") as folder:
        yield Path(folder), program.generate(Path(folder), size, seed)
