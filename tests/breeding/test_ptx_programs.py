"""Programs as PTX compute what the interpreter says: what the assembler gets is run, from the kernel's parameters on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from kernelwright.breeding.back_end_table import back_end
from kernelwright.breeding.choice import sample
from kernelwright.breeding.program_results import answers_to
from kernelwright.breeding.surrounding_code import inputs, ptx, ptx_frame
from kernelwright.farm.backends.assembling import header
from kernelwright.farm.backends.bundle import bundle
from kernelwright.farm.backends.outlined_operations import with_calls
from kernelwright.grammar import Problem, load_problem
from kernelwright.grammar.c.interpret import interpret
from kernelwright.grammar.c.parse import parse
from kernelwright.stories.breed import problem_path
from tests.breeding.ptx_machine import Machine, signed

FUNCTIONS = {
    f"kw_{name}_{kind}": function
    for name, function in {"sin": np.sin, "tanh": np.tanh, "exp": np.exp, "log": np.log}.items()
    for kind in ("f32", "f64")
}
"""libdevice's, whose own PTX is not run here: that code runs in the tests of the ``llvm`` back end."""


def launched(problem: Problem, bodies: Sequence[str]) -> tuple[list[list[Any]], list[list[int]]]:
    """Of each program and case: what the assembled text leaves, and its fault."""
    rewritten, functions = with_calls(bodies)
    made = bundle(ptx_frame(problem), rewritten, header=header("sm_90") + functions)
    machine = Machine(made.text, FUNCTIONS)
    found, faults = [], []
    for kernel in dict.fromkeys(name for name, _ in made.places):
        members = sum(name == kernel for name, _ in made.places)
        memory = {name: list(problem.cases[name].ravel()) for name, _, _ in inputs(problem)}
        if problem.answer_type == "int":
            memory = {name: [int(each) for each in values] for name, values in memory.items()}
        size = members * problem.count
        buffers: dict[str, list[Any]] = {"answers": [None] * size, "faults": [None] * size, **memory}
        threads = min(48, problem.count)
        grid = (-(-problem.count // threads), members + 1)  # a block too many leaves nothing
        machine.launch(kernel, grid, threads, list(buffers), buffers)
        for each in range(members):
            found.append(buffers["answers"][each * problem.count : (each + 1) * problem.count])
            faults.append(buffers["faults"][each * problem.count : (each + 1) * problem.count])
    return found, faults


def answers(problem: Problem, body: str) -> tuple[list[int], list[int]]:
    (found,), (faults,) = launched(problem, [body])
    return [signed(each) for each in found], faults


def oracle(problem: Problem, text: str) -> list[int]:
    assert problem.head is not None
    statements, scope = problem.head
    numbers = {name: given for name, given in problem.cases.items() if given.ndim == 1}
    arrays = {name: given for name, given in problem.cases.items() if given.ndim == 2}
    variables = interpret(statements, numbers, arrays, problem.count)
    variables = interpret(parse(problem.code(text), scope)[0], variables, arrays, problem.count)
    return [int(each) for each in np.broadcast_to(variables[problem.answer_name], (problem.count,))]


@pytest.mark.parametrize(("name", "count"), [("search", 90), ("multiplier5", 5)])
def test_random_programs_of_the_paper(name: str, count: int) -> None:
    problem = load_problem(problem_path(name))
    texts = [text for text in dict.fromkeys(sample(problem, count, 3)) if len(text) < 2500]
    plain = [ptx(problem, text) for text in texts]
    bodies, functions = with_calls(plain)
    assert ("kw_fetch_4_80" in functions) == (name == "search")
    assert [each.count("\n") for each in bodies] == [each.count("\n") for each in plain]
    found, faults = launched(problem, plain)
    for text, given, marks in zip(texts, found, faults, strict=True):
        assert [signed(each) for each in given] == oracle(problem, text) and not any(marks), text


def test_random_formulas_of_the_paper() -> None:
    problem = load_problem(problem_path("keijzer6"))
    texts = list(dict.fromkeys(sample(problem, 120, 3)))
    found, faults = launched(problem, [ptx(problem, text) for text in texts])
    assert len(texts) > 60 and not np.any(faults)
    expected = answers_to(back_end("interpreted").runner(problem), texts)
    for text, given, wanted in zip(texts, found, expected, strict=True):
        assert isinstance(wanted, np.ndarray)
        np.testing.assert_allclose(np.array(given, np.float32), wanted, rtol=1e-5, err_msg=text)


TRICKY = [
    "x = 3; y = x; x = y + n; r = x - y;",
    "x = a[1 + n % 3]; y = a[1 + n % 3]; n1 = n; r = x * y;",
    "x = a[1 + n % 3]; x = x + 1; y = a[1 + n % 3]; r = x * 50 + y;",
    "x = n; y = x % 4; for (i = 0; i < 3; i++) { y = y * 3 + x % 4; x = x + 1; } r = y;",
    "x = n % 7; if (n > 2) { x = 5; y = n % 7; } r = n % 7 + x - y;",
    "x = n % 7; for (i = 0; i < n; i++) { x = x + i % 5; i = i + x % 2; } r = x + i % 5;",
    "for (i = 0; i < 9; i++) { x = x + n % 4; if (x > 3) { x = x - n % 4; y = y + 1; } else { y = y - x % 3; } } r = x * 100 + y;",
    "b = n > 3; if (b) { b = n > 9; x = 1; } if (b) { x = x + 2; } r = x;",
    "r = n > 2 ? n % 3 : n % 4; r = r * 10 + n % 3 - n % 4;",
    "i = -3; while (i < 4) { i = i + 1; x = x + a[i & 3]; } r = x;",
    "x = n; if (x < 4) { x = x + 1; if (x < 3) { x = x + 10; } y = x; } r = x * 50 + y;",
]


@pytest.mark.parametrize("text", TRICKY)
def test_what_is_remembered_and_predicated_is_still_right(text: str) -> None:
    rng = random.Random(1)
    problem = Problem(
        grammar="<s> ::= r = n;",
        cases={
            "n": np.arange(16, dtype=np.int32),
            "a": np.array([[rng.randrange(-9, 9) for _ in range(4)] for _ in range(16)], np.int32),
        },
        answer="int r",
        before="int x = 0; int y = 0; int i = 0; int n1 = 0; bool b = false;",
        fitness=lambda r: 0.0,
    )
    assert answers(problem, ptx(problem, text)) == (oracle(problem, text), [0] * 16)


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("for (i = 0; i < 9; i++) { x = x + 1; }", False),
        ("for (i = 0; i < 9; i++) { i = i - 1; }", True),
        ("for (i = 0; i < x; i++) { x = x + 1; }", True),
        ("for (i = n; i < 9; i++) { x = 1; }", True),
        ("for (i = 0; i < 900000; i++) { x = 1; }", True),
        ("for (i = 0; i < 9; x++) { x = 1; }", True),
    ],
)
def test_only_loops_that_evidently_end_are_not_counted(text: str, counted: bool) -> None:
    problem = Problem(
        grammar="<s> ::= r = n;",
        cases={"n": np.arange(4, dtype=np.int32)},
        answer="int r",
        before="int x = 0; int i = 0;",
        fitness=lambda r: 0.0,
    )
    assert ("mov.b32 %fault, 3;" in ptx(problem, text)) == counted
