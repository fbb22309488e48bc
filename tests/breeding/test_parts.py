"""Formulas computed part by part: the same answers as those of the interpreter, to the bit, and nothing that is not for it."""

from __future__ import annotations

import numpy as np
import pytest

from kernelwright.breeding.choice import sample
from kernelwright.breeding.interpreter import Interpreter
from kernelwright.breeding.program_results import allow_deep_calls
from kernelwright.evaluate.outcome import Rejected
from kernelwright.grammar import Problem, load_problem
from kernelwright.grammar.c import parts as parts_module
from kernelwright.grammar.c.interpret import OPERATIONS
from kernelwright.grammar.c.parse import NESTING
from kernelwright.grammar.problems import NAMES, path_of

ALL_PARTS_OF = {"keijzer6", "pagie1", "vladislavleva4", "multiplexer6"}


def problem_of(answer: str = "float y", individual: str = "y = {};", **more: object) -> Problem:
    cases = {
        "x": np.linspace(-2, 2, 9, dtype=np.float32),
        "d": np.linspace(-1, 3, 9),
        "i": np.arange(-4, 5, dtype=np.int32),
        "u": np.arange(9, dtype=np.uint32),
        "row": np.arange(18, dtype=np.float32).reshape(9, 2),
    }
    given = {"grammar": "<e> ::= x", "cases": cases, "answer": answer, "individual": individual, "fitness": np.sum}
    return Problem(**{**given, **more})  # type: ignore[arg-type]


def both(problem: Problem, texts: list[str]) -> int:
    """Compares with an interpreter that does every operation; how many programs were computed part by part."""
    ours, plain = Interpreter(problem), Interpreter(problem, dict(OPERATIONS))
    assert ours._parts is not None and plain._parts is None
    by_parts = 0
    for text in [*texts, *texts]:
        found, wanted = ours._answer(text), plain._answer(text)
        by_parts += ours._parts.answer(problem.code(text)) is not None
        if isinstance(wanted, Rejected) or isinstance(found, Rejected):
            assert found == wanted
        else:
            assert (found.dtype, found.shape, found.tobytes()) == (wanted.dtype, wanted.shape, wanted.tobytes()), text
            assert not found.flags.writeable
    return by_parts // 2


@pytest.mark.parametrize("name", NAMES)
def test_random_programs_of_the_problems(name: str) -> None:
    allow_deep_calls()
    problem = load_problem(path_of(name))
    texts = sample(problem, 60, seed=2)
    by_parts = both(problem, texts)
    assert by_parts == len(texts) if name in ALL_PARTS_OF else by_parts < len(texts)


FORMULAS = [
    "x", "1", "2.5f", "(x)", "((x))", "-x", "-(-x)", "(-(x + 1))", "(x + d)", "(i * 3) - u", "~(i & u) | (i ^ 5)", "(1 + 2147483648)",
    "(-2147483648) + (0x7f)", "16777217 + x", "(i) + (16777217) + 1.5f", "010 * x", "pdiv(x, i)", "pdiv((x - x), (x - x))",
    "plog(x) * psqrt((d))", "max(i, u) - min((i), 3)", "sinf(x) + sin(x) + fmaxf(x, (d - 1))", "abs(i - 3)", "x / (x + 0.5f)", "y + x",
    "powf(x, 2.0f) * 1.e3f + .5", "(x + 1)*(x + 1)",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["float", "double", "int", "unsigned"])
def test_formulas_of_all_types(kind: str) -> None:
    assert both(problem_of(f"{kind} y"), FORMULAS) == len(FORMULAS)


NOT_FOR_IT = [
    "i / 2", "(i % 3)", "(x > 1)", "x > 1 ? x : d", "(x && i)", "(x || i)", "row[1]", "(row[i])", "(float)i", "!x", "z", "sinf(z)",
    "sinf(x, x)", "x x", "(x", "x)", "()", "x * 1e-3", "sinf()", "x(1)", "2(x)", "i & x", "1e", "x = 1", "x; y = 2", "true", "i / 0", "(i << 2)", "",
]  # fmt: skip


def test_everything_else_is_left_to_the_interpreter() -> None:
    assert both(problem_of(), NOT_FOR_IT) == 0
    assert both(problem_of(after="y = y + 1;"), ["x"]) == 0
    assert both(problem_of(individual="float t = {}; y = t;"), ["(x + 1)"]) == 0
    named = problem_of(cases={"_0": np.ones(3, np.float32), "x": np.ones(3, np.float32)})
    assert both(named, ["(x + _0)", "_0"]) == 0


def test_nesting_is_refused_as_ever() -> None:
    deep, deeper = "(" * NESTING + "x" + ")" * NESTING, "(" * (NESTING + 1) + "x" + ")" * (NESTING + 1)
    assert both(problem_of(), [deep, deeper, f"-{deep}", "(- " * NESTING + "x" + ")" * NESTING]) == 1


def test_what_is_forgotten_is_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_module, "MOST_PARTS", 2)
    texts = [f"((x + {n}) * (d - {n}))" for n in range(20)]
    assert both(problem_of(), texts) == len(texts)
    monkeypatch.setattr(parts_module, "MOST_CASES", 8)
    assert both(problem_of(), texts) == 0


def test_a_part_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, asked = problem_of(), []
    monkeypatch.setitem(OPERATIONS, "+", lambda a, b: asked.append(1) or np.add(a, b))  # type: ignore[arg-type, func-returns-value]
    ours = Interpreter(problem)
    for text in ("(x + d)", "((x + d) * (x + d))", "sinf((x + d))"):
        ours._answer(text)
    assert len(asked) == 1
