"""The data sets that a suite program is evolved on: a size that fills a GPU, and another seed and shape.

btree           data without regularities that its kernels do not know of
btree@regular   data with those of the data that paper 000 evolved on, where they differ
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from kernelwright.errors import Misuse
from kernelwright.suite import load
from kernelwright.suite.program import Size, SuiteProgram

DATA_SETS: tuple[tuple[Size, int], ...] = (("small", 1), ("tiny", 2))
"""Size and seed of each; times come from the first."""
HELD_OUT: tuple[tuple[Size, int], ...] = (("small", 3), ("tiny", 4), ("medium", 5), ("minute", 6))
"""Those that only the proof uses: other values at the sizes that are searched on, where launch-time checks hold, and other sizes."""


REGULAR = "@regular"


def program_and_data(name: str) -> SuiteProgram:
    """The program called ``name``, or ``name@regular``: the same with its regular data. Raises ``Misuse``."""
    title, at, data = name.partition("@")
    program = load(title)
    if not at:
        return program
    if at + data != REGULAR:
        raise Misuse(f"there is no kind of data called {data!r}", hint=f"suite:{title}, or suite:{title}{REGULAR}")
    if program.regular is None:
        raise Misuse(
            f"{program.name} has no other data: that of the published evaluation is like its own",
            hint=f"suite:{program.name}",
        )
    return replace(program, generate=program.regular)


@contextmanager
def data_set(program: SuiteProgram, size: Size, seed: int) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """A folder with the inputs, and the program's arguments in it; the folder goes at the end."""
    with TemporaryDirectory(prefix=f"{program.name}-") as folder:
        yield Path(folder), program.generate(Path(folder), size, seed)
