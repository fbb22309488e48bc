"""A bred formula as a person would write it: simplified by SymPy (the extra ``breed``), and held against the program.

    found = simplified(problem, text)      found.formula: "1/(x**(-4) + 1) + ...", or found.why there is none

A program is a formula when it is one assignment to the answer, of a real or whole number, without bits, divisions of whole numbers
and conditions. Protected operators stay functions where what they protect from could happen. SymPy works on exact numbers,
in a process of its own, for ``LIMIT_S`` at most; what it found by then counts. A formula is only shown when it agrees with
the program's own answers on all cases.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.breeding.back_end_table import back_end
from kernelwright.breeding.program_results import allow_deep_calls, answers_to
from kernelwright.breeding.run import BreedRun
from kernelwright.cache import Cache, content_key
from kernelwright.errors import CompileError, Misuse
from kernelwright.evaluate.outcome import Rejected
from kernelwright.grammar import Problem
from kernelwright.grammar.c.parse import parse
from kernelwright.grammar.c.tree import REAL, Assign, Expression
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.long_steps import announced

SCRIPT = Path(__file__).with_name("sympy_process.py")
LIMIT_S = 20.0
KIND = "formula"
"""In the cache."""
TOLERANCE = 1e-4
"""Of an answer, and a hundredth of that of the largest: programs compute in single precision, formulas in double."""
SIGNS = frozenset({"+", "-", "*", "negate", "min", "max", "abs", "pdiv"})
"""Operations that are the same for whole numbers, besides the functions of real ones."""
BITS = frozenset({"&", "|", "^", "<<", ">>", "%", "complement", "not", "&&", "||", "<", "<=", ">", ">=", "==", "!="})


@dataclass(frozen=True)
class Simplified:
    """``formula``: what the answer is, as Python writes it; empty where there is none, for ``why``."""

    formula: str = ""
    why: str = ""


class _Beyond(Exception):
    """The program is more than a formula."""


def simplified(problem: Problem, text: str, limit_s: float = LIMIT_S) -> Simplified:
    """The program with this derived text."""
    allow_deep_calls()
    try:
        tree = _formula(problem, text)
    except (_Beyond, CompileError) as error:
        return Simplified(why=str(error) if isinstance(error, _Beyond) else "it is more than our part of C")
    if importlib.util.find_spec("sympy") is None:
        return Simplified(why="SymPy is not installed: pip install 'kernelwright[breed]'")
    found = _asked(tree, limit_s)
    if not found:
        return Simplified(why=f"SymPy has found nothing within {limit_s:g} s")
    answers = _answers(problem, text)
    fitting = [each for each in found if answers is not None and agrees(problem, each[1], answers)]
    if not fitting:
        return Simplified(why="what SymPy makes of it differs from the program")
    return Simplified(min(fitting, key=lambda each: (each[0], len(each[1])))[1])


def simplified_best(run: BreedRun) -> Simplified:
    """The best program of a run; nothing where there is none."""
    best = run.best
    if best is None:
        return Simplified()
    try:
        return simplified(run.problem, best.text)
    except Misuse as error:  # its problem is gone
        return Simplified(why=error.message)


# -- the program as a tree ---------------------------------------------------------------------------------------------


def _formula(problem: Problem, text: str) -> Any:
    """As ``sympy_process.py`` reads it."""
    if problem.head is None:
        raise _Beyond("the code around it is more than our part of C")
    statements, _ = parse(problem.code(text), problem.head[1])
    if len(statements) != 1 or not isinstance(statements[0], Assign) or statements[0].name != problem.answer_name:
        raise _Beyond("it is more than one formula")
    numbers = {name for name, given in problem.cases.items() if given.ndim == 1}
    return _nested(statements[0].value, numbers)


def _nested(of: Expression, numbers: set[str]) -> Any:
    op, kind, arguments = of
    if op == "constant" and kind != "bool":
        value = arguments[0]
        if kind in REAL:
            return str(np.float32(value) if kind == "float" else np.float64(value))
        return str(value - (1 << 32) if kind == "int" and value > 0x7FFFFFFF else value)
    if op == "variable":
        if arguments[0] not in numbers:
            raise _Beyond(f"it reads {arguments[0]}, which is no input")
        return arguments[0]
    if op == "convert" and (kind in REAL or arguments[0].type not in REAL):
        return _nested(arguments[0], numbers)
    if op == "convert":
        raise _Beyond("it cuts real numbers off to whole ones")
    if (
        op in BITS
        or (kind not in REAL and (op not in SIGNS or op == "pdiv"))
        or op in ("constant", "element", "select")
    ):
        raise _Beyond("it is no formula of sums, products, quotients and functions")
    return [op, *(_nested(each, numbers) for each in arguments)]


# -- SymPy -------------------------------------------------------------------------------------------------------------


def _asked(tree: Any, limit_s: float) -> list[tuple[int, str]]:
    """Formulas with the number of their operations, as many as were found in time; from the cache where they have been."""
    asked, cache = json.dumps(tree), Cache()
    key = content_key([asked, SCRIPT.read_bytes(), importlib.metadata.version("sympy"), str(limit_s)])
    kept = cache.get(KIND, key)
    if kept is None:
        with announced("simplifying the formula"):
            said, ended = _said(asked, limit_s)
        kept = said.encode()
        if ended:  # what a busy machine was too slow for is asked again
            cache.put(KIND, key, kept)
    pairs = (line.split(" ", 1) for line in kept.decode().splitlines(keepends=True) if line.endswith("\n"))
    return [(int(count), formula.strip()) for count, formula in pairs]


def _said(asked: str, limit_s: float) -> tuple[str, bool]:
    """What the process printed, and whether it came to its end in time."""
    process = subprocess.Popen(
        [sys.executable, "-P", str(SCRIPT)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        return process.communicate(asked, timeout=limit_s)[0], True
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0], False
    finally:
        process.kill()


# -- held against the program ------------------------------------------------------------------------------------------


def _answers(problem: Problem, text: str) -> NDArray[Any] | None:
    with closing(back_end("interpreted").runner(problem)) as runner:
        (answers,) = answers_to(runner, [text])
    return None if isinstance(answers, Rejected) else answers


def agrees(problem: Problem, formula: str, answers: NDArray[Any]) -> bool:
    """Whether the formula gives the answers on all cases, as far as single precision goes; no number where they are none."""
    given = {name: column.astype(np.float64) for name, column in problem.cases.items() if column.ndim == 1}
    try:
        with np.errstate(all="ignore"):
            found = eval(formula, {"__builtins__": {}, **MEANINGS}, given)
            values = np.broadcast_to(np.asarray(found, np.float64), answers.shape)
    except (NameError, TypeError, ValueError, ArithmeticError, SyntaxError, MemoryError):
        return False
    wanted = answers.astype(np.float64)
    finite = np.abs(wanted[np.isfinite(wanted)])
    slack = TOLERANCE / 100 * float(finite.max()) if finite.size else 0.0
    return bool(np.allclose(values, wanted, rtol=TOLERANCE, atol=slack, equal_nan=True))


def _of_all(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def of_all(first: Any, *rest: Any) -> Any:
        for each in rest:
            first = function(first, each)
        return first

    return of_all


MEANINGS: Mapping[str, Any] = {
    "pdiv": lambda a, b: np.where(np.equal(b, 0), 1.0, np.divide(a, b)),
    "Min": _of_all(np.fmin),
    "Max": _of_all(np.fmax),
    "Abs": np.abs,
    "ceiling": np.ceil,
    "E": np.e,
    "pi": np.pi,
    **{
        name: getattr(np, name)
        for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "floor", "sign")
    },
}
"""SymPy's names of functions, in NumPy."""
