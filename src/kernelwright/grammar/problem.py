"""A problem: a language, cases, and what a program's answers are worth. A Python file that defines ``problem`` is complete.

    from kernelwright.grammar import Problem

    problem = Problem(
        grammar="<e> ::= <e> + <e> | <e> * <e> | x | 1.0f",
        cases={"x": numpy.linspace(-1, 1, 20, dtype=numpy.float32)},
        answer="float y",
        individual="y = {};",
        fitness=lambda y: float(abs(y - target).max()),
    )

The kernel around a program, in CUDA C: each case is a thread, finds its inputs in variables of their names, and leaves its
answer.

    x = ...;              inputs of the case
    float y = 0;          the answer
    functions             device functions that programs call, outside of the kernel
    before                variables that programs use
    individual            a derivation of the grammar in the place of {}
    after                 what makes the answer of them
"""

from __future__ import annotations

import math
import runpy
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernelwright.cache import content_key
from kernelwright.errors import CompileError, KernelwrightError, Misuse
from kernelwright.grammar.bnf import Grammar
from kernelwright.grammar.c.parse import parse
from kernelwright.grammar.c.tree import Array, Scope, Statement, Type
from kernelwright.lazy_dataclasses import dataclass

Fitness = Callable[[NDArray[Any]], float]
"""(answers) -> what they are worth; one answer for each case."""

NAMED_TYPES: Mapping[str, Type] = {"int32": "int", "uint32": "unsigned", "float32": "float", "float64": "double"}


@dataclass(frozen=True, eq=False)
class Problem:
    """What programs are bred for. Raises ``Misuse`` when it contradicts itself.

    ``grammar``: a ``Grammar``, its text, or the path of a file with it. ``cases``: inputs by name, one row for each case:
    numbers, or rows of numbers, which programs index. ``fitness`` is made small, or large with ``goal="most"``; whatever is no
    finite number counts as none. ``perfect``: the fitness that nothing exceeds, where there is one.
    """

    grammar: Grammar | Path | str
    cases: Mapping[str, NDArray[Any]]
    answer: str
    fitness: Fitness
    individual: str = "{}"
    functions: str = ""
    """CUDA C at file level. Only back ends for any grammar take a problem that has some."""
    before: str = ""
    after: str = ""
    goal: Literal["least", "most"] = "least"
    perfect: float | None = None
    start: str = ""
    name: str = "problem"
    held_out: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """Inputs, as ``cases``, that no program is chosen by: at the end the best one is asked what it is worth on them."""
    held_out_fitness: Fitness | None = None
    """Of the answers to these."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What breeding settings suit it: population, generations, target, ..."""

    def __post_init__(self) -> None:
        if self.goal not in ("least", "most"):
            raise Misuse(f"the goal {self.goal!r} is neither least nor most", hint="least makes fitness small")
        if self.individual.count("{}") != 1:
            raise Misuse("`individual` has not one {} for the program", hint='as individual="y = {};"')
        words = self.answer.split()
        if len(words) != 2 or words[0] not in ("int", "unsigned", "float", "double") or not words[1].isidentifier():
            raise Misuse(f"the answer {self.answer!r} is no type and name", hint='as answer="float y"')
        if not callable(self.fitness):
            raise Misuse("`fitness` is no function", hint="a function of the answers, an array, that returns a number")
        object.__setattr__(self, "grammar", _grammar(self.grammar, self.start))
        object.__setattr__(self, "cases", _inputs(self.cases))
        if bool(self.held_out) != callable(self.held_out_fitness):
            raise Misuse(
                "`held_out` and `held_out_fitness` go together, and one of them is missing",
                hint="the inputs that no program is chosen by, and a function of the answers to them",
            )
        if self.held_out:
            object.__setattr__(self, "held_out", _inputs(self.held_out))
            if [*map(_shape, self.held_out.items())] != [*map(_shape, self.cases.items())]:
                raise Misuse("the inputs held out are not those of the cases", hint="the same names, types and widths")
        _ = self.head

    @property
    def language(self) -> Grammar:
        """The grammar, read where it was given as text or path."""
        assert isinstance(self.grammar, Grammar)
        return self.grammar

    @property
    def count(self) -> int:
        """How many cases there are."""
        return len(next(iter(self.cases.values())))

    @property
    def on_held_out(self) -> Problem | None:
        """The same over the inputs held out; None where there are none."""
        if self.held_out_fitness is None:
            return None
        fitness = self.held_out_fitness
        return replace(self, cases=self.held_out, fitness=fitness, held_out={}, held_out_fitness=None)

    @property
    def answer_type(self) -> Type:
        """``int``, ``unsigned``, ``float`` or ``double``: the first word of ``answer``."""
        return self.answer.split()[0]  # type: ignore[return-value]

    @property
    def answer_name(self) -> str:
        """The variable that programs leave their answer in: the second word of ``answer``."""
        return self.answer.split()[1]

    @cached_property
    def scope(self) -> Scope:
        """What a program finds before ``before``."""
        variables = {n: NAMED_TYPES[a.dtype.name] for n, a in self.cases.items() if a.ndim == 1}
        arrays = {n: Array(NAMED_TYPES[a.dtype.name], a.shape[1]) for n, a in self.cases.items() if a.ndim == 2}
        return Scope(variables, arrays, frozenset(variables))

    @cached_property
    def ranges(self) -> Mapping[str, tuple[int, int]]:
        """The least and the greatest of each input that is one whole number."""
        return {
            name: (int(given.min()), int(given.max()))
            for name, given in self.cases.items()
            if given.ndim == 1 and given.dtype == np.int32
        }

    @cached_property
    def head(self) -> tuple[tuple[Statement, ...], Scope] | None:
        """What comes before every program, and what is in scope then; None where that is more than our part of C."""
        if self.functions:
            return None
        try:
            return parse(f"{self.answer} = 0; {self.before}", self.scope)
        except CompileError:
            return None

    def code(self, text: str) -> str:
        """The statements of a program with this derived text: itself, and what makes the answer of it."""
        return (
            f"{self.individual.replace('{}', text)}\n{self.after}"
            if self.after
            else self.individual.replace("{}", text)
        )

    def worth(self, answers: NDArray[Any]) -> float | None:
        """The fitness; None where it is no finite number. Raises what the fitness function raises."""
        found = self.fitness(answers)
        try:
            value = float(found)
        except (TypeError, ValueError) as error:
            raise Misuse(
                f"the fitness function returned {type(found).__name__} {found!r:.40}, which is no number",
                hint="return float(...)",
            ) from error
        return value if math.isfinite(value) else None

    def better(self, a: float, b: float) -> bool:
        """Whether a fitness of ``a`` is better than one of ``b``."""
        return better(self.goal, a, b)

    @cached_property
    def fingerprint(self) -> str:
        """Equal for the same problem, as far as can be seen: all but the fitness function."""
        parts: list[str | bytes] = [str(self.language), self.language.start, self.answer, self.individual]
        parts += [self.before, self.after, self.goal, *([self.functions] if self.functions else [])]
        for name, given in self.cases.items():
            parts += [name, given.dtype.str, str(given.shape), given.tobytes()]
        return content_key(parts)


def better(goal: str, a: float, b: float) -> bool:
    """Whether a fitness of ``a`` is better than one of ``b``, where it is made ``least`` or ``most``."""
    return a > b if goal == "most" else a < b


def load_problem(path: Path) -> Problem:
    """The ``problem`` of a Python file. Raises ``Misuse`` when it is missing, fails, or defines none."""
    if not path.is_file():
        raise Misuse(f"{path} does not exist", hint="give the path of a Python file that defines `problem`")
    try:
        found = runpy.run_path(str(path)).get("problem")
    except KernelwrightError:
        raise
    except (Exception, SystemExit) as error:
        raise Misuse(f"{path} fails: {type(error).__name__}: {error}", hint=f"python {path} shows where") from error
    if not isinstance(found, Problem):
        raise Misuse(f"{path} defines no `problem`", hint="end it with: problem = Problem(grammar=..., cases=..., ...)")
    return found


def _grammar(given: Grammar | Path | str, start: str) -> Grammar:
    if isinstance(given, Grammar):
        return given
    if isinstance(given, Path) or "::=" not in given:
        path = Path(given)
        try:
            return Grammar.parse(path.read_text(), start, str(path))
        except OSError as error:
            raise Misuse(
                f"the grammar {path} cannot be read: {error.strerror}", hint="give its text, or the path of its file"
            ) from error
    return Grammar.parse(given, start)


def _inputs(given: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    found = {name: _input(name, each) for name, each in given.items()}
    counts = {len(each) for each in found.values()}
    if len(counts) != 1 or not min(counts):
        raise Misuse(
            "the inputs have " + (f"{' and '.join(map(str, sorted(counts)))} cases" if counts else "no cases"),
            hint="give every input one row for each case",
        )
    return found


def _shape(given: tuple[str, NDArray[Any]]) -> tuple[str, str, tuple[int, ...]]:
    """All of an input but its rows."""
    name, array = given
    return name, array.dtype.name, array.shape[1:]


def _input(name: str, given: Any) -> NDArray[Any]:
    array = np.ascontiguousarray(given)
    if array.dtype == np.int64 and (array == array.astype(np.int32)).all():
        array = array.astype(np.int32)  # what NumPy makes of Python's numbers
    if array.dtype.name not in NAMED_TYPES:
        raise Misuse(
            f"the input {name} is {array.dtype}, which programs cannot have", hint=f"one of {', '.join(NAMED_TYPES)}"
        )
    if array.ndim not in (1, 2) or not name.isidentifier():
        raise Misuse(
            f"the input {name!r} is no row of numbers with a name", hint="one number, or one row, for each case"
        )
    return array
