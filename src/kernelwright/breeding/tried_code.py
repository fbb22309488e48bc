"""The code around programs, compiled once before a run begins: a mistake there would reject every program, each with its own words.

Only where it is CUDA C beyond our part of C; the rest is parsed when the problem is made.
"""

from __future__ import annotations

from kernelwright.breeding.surrounding_code import cuda_frame
from kernelwright.errors import CompileError, Misuse, Place
from kernelwright.farm.backends.backend import Refused
from kernelwright.farm.backends.bundle import bundle
from kernelwright.farm.backends.own_compiler import OwnCompiler
from kernelwright.grammar import Problem

PARTS = ("functions", "before", "after")
NOTHING = ";"
"""In the place of a program."""


def check_surrounding_code(problem: Problem) -> None:
    """Raises ``Misuse`` with the part of the problem, the line and the column of what does not compile."""
    if problem.head is not None:
        return
    frame = cuda_frame(problem)
    try:
        OwnCompiler().compile([NOTHING], frame)
    except Refused as refused:
        error = next(iter(refused.individuals.values()), None)
        made = bundle(frame, [NOTHING])
        begin = made.starts[0] - 1  # places count from where the program stands
        raise _said(problem, made.text, begin, refused.message, error) from None


def _said(problem: Problem, text: str, begin: int, message: str, error: CompileError | None) -> Misuse:
    place = error.place if error else None
    for name in PARTS:
        code = str(getattr(problem, name))
        if not code.strip() or place is None:
            continue
        first = text.count("\n", 0, text.index(code)) + 1
        line = begin + place.line - first
        lines = code.splitlines()
        if 0 <= line < len(lines):
            where = Place(f"`{name}` of the problem", line + 1, place.column, lines[line])
            return Misuse(message, place=where, hint="correct it; kw breed --explain shows the whole kernel")
    return Misuse(
        f"the code around programs does not compile: {message}", hint="kw breed --explain shows the whole kernel"
    )
