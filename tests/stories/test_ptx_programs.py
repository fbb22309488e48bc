"""Programs as PTX compute what the interpreter says: the text that the assembler gets, run instruction by instruction."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kernelwright.farm.backends.outlined import with_calls
from kernelwright.grammar import Problem, load_problem
from kernelwright.grammar.c.interpret import interpret
from kernelwright.grammar.c.parse import parse
from kernelwright.stories.breed import problem_path
from kernelwright.stories.breeding.choice import sample
from kernelwright.stories.breeding.frames import ptx, ptx_frame


def _signed(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def _remainder(a: int, b: int) -> int:
    return a - b * (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)


_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
}  # fmt: skip
_DO: dict[str, Callable[..., Any]] = {
    "mov": lambda a: a, "add": lambda a, b: _signed(a + b), "sub": lambda a, b: _signed(a - b), "rem": _remainder,
    "mul": lambda a, b: _signed(a * b), "and": lambda a, b: a & b, "or": lambda a, b: a | b, "not": lambda a: ~a,
    "xor": lambda a, b: a ^ b, "shl": lambda a, b: _signed(a << b), "shr": lambda a, b: a >> b,
    "selp": lambda a, b, p: a if p else b, "neg": lambda a: _signed(-a),
}  # fmt: skip


def run(lines: list[str], registers: dict[str, Any], memory: dict[str, list[int]]) -> None:
    """One thread. An address is (array, bytes from its row's start)."""
    labels = {line[:-1]: n for n, line in enumerate(lines) if line.endswith(":")}
    at, steps = 0, 0

    def get(word: str) -> Any:
        return registers[word] if word.startswith("%") else int(word)

    while at < len(lines):
        line, at, steps = lines[at].strip(), at + 1, steps + 1
        assert steps < 1_000_000
        guard = re.match(r"@(!?)(%\w+) ", line)
        if guard:
            line = line[guard.end() :]
            if bool(registers[guard[2]]) == bool(guard[1]):
                continue
        if not line or line.startswith(".reg") or line.endswith(":"):
            continue
        operation, _, rest = line.rstrip(";").partition(" ")
        words = [word.strip() for word in rest.split(",")]
        name, *kinds = operation.split(".")
        if name == "bra":
            at = labels[words[0]]
        elif name == "call":
            result, function, *given = re.findall(r"[%\w-]+", rest)
            if function == "kw_rem_s32":
                registers[result] = _remainder(get(given[0]), get(given[1]))
            else:
                size, ahead = map(int, function.removeprefix("kw_fetch_").split("_"))
                array, begin = registers[given[2]]
                place = begin + size * _remainder(get(given[0]), get(given[1])) + ahead
                registers[result] = memory[array][place // 4]
        elif name == "setp":
            a, b = (get(word) & 0xFFFFFFFF if kinds[1] == "u32" else get(word) for word in words[1:])
            registers[words[0]] = _COMPARE[kinds[0]](a, b)
        elif name == "mad":
            array, begin = registers[words[3]]
            registers[words[0]] = array, begin + get(words[1]) * get(words[2])
        elif name == "ld":
            base, _, ahead = words[1].strip("[]").partition("+")
            array, begin = registers[base]
            registers[words[0]] = memory[array][(begin + int(ahead or 0)) // 4]
        else:
            registers[words[0]] = _DO[name](*map(get, words[1:]))


def answers(problem: Problem, body: str) -> tuple[list[int], list[int]]:
    """Of each case: what the program leaves, and its fault."""
    frame = ptx_frame(problem)
    before, after = (
        [line for line in part.splitlines() if re.search(prefix, line)]
        for part, prefix in ((frame.before, r"%h\w+\b.*;$"), (frame.after, r"%e\w+\b.*;$"))
    )
    target = re.search(r"st\.global\.\w+ \[%place\], (%\w+);", frame.after)
    assert target
    found, faults = [], []
    for case in range(problem.count):
        memory = {f"%a_{n}": a[case].tolist() for n, a in problem.cases.items() if a.ndim == 2}
        registers: dict[str, Any] = {f"%i_{n}": int(a[case]) for n, a in problem.cases.items() if a.ndim == 1}
        registers |= {name: (name, 0) for name in memory} | {"%fault": 0}
        own = [line for line in [*before, *body.splitlines(), *after] if "st.global" not in line]
        run(own, registers, memory)
        found.append(_signed(registers[target[1]]))
        faults.append(registers["%fault"])
    return found, faults


def oracle(problem: Problem, text: str) -> list[int]:
    assert problem.head is not None
    statements, scope = problem.head
    numbers = {name: given for name, given in problem.cases.items() if given.ndim == 1}
    arrays = {name: given for name, given in problem.cases.items() if given.ndim == 2}
    variables = interpret(statements, numbers, arrays, problem.count)
    variables = interpret(parse(problem.code(text), scope)[0], variables, arrays, problem.count)
    return [int(each) for each in np.broadcast_to(variables[problem.answer_name], (problem.count,))]


@pytest.mark.parametrize(("name", "count"), [("search", 60), ("multiplier5", 6)])
def test_random_programs_of_the_paper(name: str, count: int) -> None:
    problem = load_problem(problem_path(name))
    texts = [text for text in dict.fromkeys(sample(problem, count, 3)) if len(text) < 2500]
    plain = [ptx(problem, text) for text in texts]
    bodies, functions = with_calls(plain)
    assert ("kw_fetch_4_80" in functions) == (name == "search")
    assert [each.count("\n") for each in bodies] == [each.count("\n") for each in plain]
    for text, body in zip(texts, bodies, strict=True):
        assert answers(problem, body) == (oracle(problem, text), [0] * problem.count), text


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
